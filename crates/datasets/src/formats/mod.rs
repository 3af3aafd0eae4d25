//! File formats of public data sets. Each reader takes bytes, so that it can be tested on any.

pub mod cifar;
pub mod compressed;
pub mod guarded;
pub mod idx;
pub mod mosaic;
pub mod picture;

#[cfg(test)]
mod tests;
