//! In which precision a GPU multiplies matrices in the forward and backward pass.

use serde::{Deserialize, Serialize};
use std::cell::Cell;

/// How matrix products and convolutions of the forward and backward pass round their operands on a
/// GPU. Their sums are f32, and so are norms, clipped sums, noise and parameters, either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// As tensor cores take f32: ten bits after the leading one (TF32). The CPU takes all.
    #[default]
    Single,
    /// bf16 on CUDA GPUs: seven bits, at twice the rate. Elsewhere as [`Precision::Single`].
    Mixed,
}

thread_local! {
    static CURRENT: Cell<Precision> = const { Cell::new(Precision::Single) };
}

/// That of products made now by this thread.
pub(crate) fn current() -> Precision {
    CURRENT.get()
}

/// Runs a forward pass whose products, and those of its backward pass, are made in `precision`.
pub fn in_precision<T>(precision: Precision, forward: impl FnOnce() -> T) -> T {
    /// Sets it back, after a panic too.
    struct Before(Precision);
    impl Drop for Before {
        fn drop(&mut self) {
            CURRENT.set(self.0);
        }
    }
    let _before = Before(CURRENT.replace(precision));
    forward()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_precision_ends_with_its_pass() {
        in_precision(Precision::Mixed, || {
            assert_eq!(current(), Precision::Mixed);
            in_precision(Precision::Single, || {
                assert_eq!(current(), Precision::Single)
            });
            assert_eq!(current(), Precision::Mixed);
        });
        assert_eq!(current(), Precision::Single);
        let panics = || in_precision(Precision::Mixed, || panic!("a pass may panic"));
        assert!(std::panic::catch_unwind(panics).is_err());
        assert_eq!(current(), Precision::Single);
    }
}
