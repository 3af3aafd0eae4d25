//! What the Python package `tacita` calls. The package's own modules, in `python/tacita`, check arguments and
//! hold the documentation; here is what needs Rust.

mod border;
mod calibrate;
mod certify;
mod errors;
mod federated;
mod ledger;
mod numbers;
mod tuning;

/// The extension module `tacita._tacita`, private to the package.
#[pyo3::pymodule]
mod _tacita {
    #[pymodule_export]
    use crate::calibrate::{most_steps, smallest_noise};
    #[pymodule_export]
    use crate::certify::{certify, certify_file};
    #[pymodule_export]
    use crate::errors::panic_for_tests;
    #[pymodule_export]
    use crate::federated::{
        FederatedServer, answer_order, certify_federation, masked_answer, read_order,
    };
    #[pymodule_export]
    use crate::ledger::Ledger;
    #[pymodule_export]
    use crate::numbers::{rounded, steps_of_epochs};
    #[pymodule_export]
    use crate::tuning::{best_of, whole_grid};
    #[pymodule_export]
    use crate::tuning::{delta_of_mu, epsilon_of_mu, mu_of_budget};

    /// The version of the package.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
