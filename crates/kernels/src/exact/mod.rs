//! Sums over records that one record moves by exactly its own contribution.
//!
//! A running total in floating point rounds at every addition, and what is rounded away depends on all
//! that was added before: one record can move a sum of many others by far more than its own length
//! (Casacuberta et al. 2022, arXiv:2207.10635). Here every record's contribution is rounded to a public
//! [`Grid`] *by itself*, and what is added are integers.
//!
//! | file | idea |
//! |---|---|
//! | `grid` | the multiples of a power of two, and how a float is rounded to one |
//! | `sum` | integers that cannot overflow |
//! | `rows` | per-sample gradients that have been formed |
//! | `product` | weighted sums of outer products, record by record |
//! | `panels`, `tile` | the loops under `product` |
//! | `scatter` | embedding rows |

mod grid;
mod panels;
mod product;
mod rows;
mod scatter;
mod sum;
mod tile;

pub use grid::Grid;
pub use product::{FEW_POSITIONS, Factor, Outer, Parts, add_outer};
pub use rows::add_rows;
pub use scatter::{Vectors, add_scattered};
pub use sum::Sum;
