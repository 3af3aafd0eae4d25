//! Certifies the privacy of runs of other libraries.
//!
//! Other libraries keep a history of what a run released: noise multipliers, sampling rates, counts of steps. This
//! crate reads such a history ([`read`], [`read_file`]), proves ε from both sides, sets it beside the ε that was
//! reported ([`certify`]), and lists what does not match and what a history cannot show ([`Finding`]). An event that it
//! does not know is refused by name, never guessed.
//!
//! ```
//! use tacita_certify::{Claims, Verdict, certify, read};
//!
//! // The state of an Opacus accountant, as JSON, and the ε that it reported.
//! let history = read(r#"{"history": [[1.0, 0.0085, 1172]], "mechanism": "gdp"}"#)?;
//! let claims = Claims { epsilon: Some(1.476), delta: Some(1e-5), ..Claims::default() };
//! let certificate = certify(&history, &claims)?;
//! assert_eq!(certificate.verdict, Verdict::False);
//! println!("{certificate}");
//! # Ok::<(), tacita_certify::HistoryError>(())
//! ```
//!
//! # Forms
//!
//! | form | example |
//! |---|---|
//! | Opacus accountant, its state | `{"history": [[1.0, 0.01, 500]], "mechanism": "rdp"}` |
//! | `dp_accounting` event, as its named tuple | `{"class_name": "PoissonSampledDpEvent", "sampling_probability": 0.01, "event": {…}}` |
//! | Flower accountant, its state | `{"schema_version": 1, "config": {…}, "compositions": […]}` |
//! | list of steps | `[[1.0, 0.01, 500]]` or `[{"noise": 1.0, "rate": 0.01, "steps": 500}]` |
//! | ledger of this project | `{"neighbours": "add-or-remove-one", "rounds": […]}` |
//! | any of these with what else is known | `{"tacita_history": 1, "events": …, "reported": {"epsilon": 2.0, "delta": 1e-5}, "batches": "shuffled"}` |
//! | safetensors file | the JSON text in its metadata, under `privacy_history` |

mod certificate;
mod file;
mod finding;
mod forms;
mod history;
mod shuffled;

pub use certificate::{Certificate, Claims, Verdict, certify};
pub use file::{METADATA_KEY, read_file};
pub use finding::{Finding, Kind, Weight};
pub use forms::read;
pub use history::{Batches, Divisor, Events, History, HistoryError};

/// Keeps the example of the README running.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
