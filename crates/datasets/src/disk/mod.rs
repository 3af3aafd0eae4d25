//! Records on a disk, for data larger than memory.
//!
//! | file | what it holds |
//! |---|---|
//! | `keep.rs` | where what is read is kept: in memory or in an index |
//! | `index.rs` | an index: made once, found again, made again if the data changed |
//! | `shard.rs` | the files it was made of, and whether they are still the same |
//! | `form.rs` | how a record lies in a file |
//! | `writer.rs`, `file.rs` | the file while it is written, and while it is read by position |
//! | `records.rs` | records of a file, read ahead of the step that needs them |

mod file;
mod form;
mod index;
mod keep;
mod records;
mod shard;
mod writer;

pub(crate) use form::Unit;
pub use keep::OnDisk;
pub(crate) use keep::{Asked, Keep, Kept, Part};
pub(crate) use records::DiskRecords;
