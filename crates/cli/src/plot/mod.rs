//! Charts as SVG files.

mod chart;
mod spending;
mod svg;

pub use spending::spent;
