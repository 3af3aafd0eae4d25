//! Data sets, one file each.

mod digits;

pub use digits::Digits;
