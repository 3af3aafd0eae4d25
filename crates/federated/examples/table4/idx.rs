//! MNIST's own files, packed or not.

use flate2::read::GzDecoder;
use std::error::Error;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Width and height of an image.
pub const SIDE: usize = 28;
pub const PIXELS: usize = SIDE * SIDE;

/// Images with values in [0, 1], and their digits.
pub struct Images {
    pub pixels: Vec<u8>,
    pub labels: Vec<u8>,
}

impl Images {
    pub fn count(&self) -> usize {
        self.labels.len()
    }

    pub fn image(&self, index: usize) -> [f32; PIXELS] {
        let from = &self.pixels[index * PIXELS..][..PIXELS];
        std::array::from_fn(|at| f32::from(from[at]) / 255.0)
    }
}

/// Reads `train` or `t10k` from a folder.
pub fn read(folder: &Path, name: &str) -> Result<Images, Box<dyn Error>> {
    let bytes = |end: &str| -> Result<Vec<u8>, Box<dyn Error>> {
        let path = folder.join(format!("{name}-{end}"));
        let mut bytes = Vec::new();
        if path.exists() {
            File::open(&path)?.read_to_end(&mut bytes)?;
        } else {
            let packed = folder.join(format!("{name}-{end}.gz"));
            let file =
                File::open(&packed).map_err(|error| format!("{}: {error}", packed.display()))?;
            GzDecoder::new(file).read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    };
    let (pixels, labels) = (bytes("images-idx3-ubyte")?, bytes("labels-idx1-ubyte")?);
    let images = Images {
        pixels: pixels.get(16..).ok_or("no images")?.to_vec(),
        labels: labels.get(8..).ok_or("no labels")?.to_vec(),
    };
    if images.pixels.len() != images.count() * PIXELS || images.labels.iter().any(|d| *d > 9) {
        return Err(format!("{name} is not MNIST").into());
    }
    Ok(images)
}
