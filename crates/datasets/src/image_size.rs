//! The size of images.

use serde::{Deserialize, Serialize};

/// The size of every image of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageSize {
    /// 1 for grey, 3 for colour.
    pub channels: usize,
    /// Rows of pixels.
    pub height: usize,
    /// Columns of pixels.
    pub width: usize,
}

impl ImageSize {
    /// Values of one image.
    pub fn values(self) -> usize {
        self.channels * self.height * self.width
    }
}
