//! A search over several plans, certified as a whole before its first run.
//!
//! Trying several settings on private records and keeping the best reveals something about all runs. Either every run is
//! counted, and all may be published ([`SearchCertificate::grid`]); or the number of runs is itself random and secret, and only
//! the best is published ([`SearchCertificate::random`]; Papernot and Steinke 2022, arXiv:2110.03620), which costs little more
//! than one run. The proof of the second needs runs that are alike in distribution and a number of runs that nobody learns:
//! [`SearchDraw`] draws both.

mod certificate;
mod draw;
mod error;

pub(in crate::mechanism) use certificate::MOST_NORMALS;
pub use certificate::SearchCertificate;
pub use draw::SearchDraw;
pub use error::SearchError;
