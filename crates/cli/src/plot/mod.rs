//! Charts as SVG: files of their own, or parts of a page.

mod chart;
pub mod matrix;
mod prefixes;
mod spending;
mod svg;

pub use chart::{Chart, Mark, Series, Stroke};
pub use prefixes::prefixes;
pub use spending::{over_steps, spent, top};
pub use svg::{inline, legend_items, render};
