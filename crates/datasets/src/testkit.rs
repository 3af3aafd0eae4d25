//! What the tests of data sets share.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder that is removed at the end of a test.
pub struct Folder(PathBuf);

impl Folder {
    /// An empty folder of this process.
    pub fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("tacita-data-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file, with the folders above it.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

/// A PNG file of one colour.
pub fn png(width: u32, height: u32, colour: [u8; 3]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header().unwrap();
    let pixels = colour.repeat((width * height) as usize);
    writer.write_image_data(&pixels).unwrap();
    writer.finish().unwrap();
    file
}

/// A lossless WebP file of colours, row by row.
pub fn webp(width: u32, height: u32, colours: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let encoder = image_webp::WebPEncoder::new(&mut file);
    encoder
        .encode(colours, width, height, image_webp::ColorType::Rgb8)
        .unwrap();
    file
}

/// All causes of an error in a line.
pub fn message<T>(result: anyhow::Result<T>) -> String {
    match result {
        Ok(_) => panic!("an error was expected"),
        Err(error) => format!("{error:#}"),
    }
}
