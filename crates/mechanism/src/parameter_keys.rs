//! A key for each parameter of a model, for its initial weights: from the operating system or, inside [`during`], by
//! the parameter's number.

use crate::chacha::{Key, Subkey};
use crate::fresh_key::fresh_key;
use std::cell::RefCell;

/// A source of keys for parameters.
struct Source {
    key: Key,
    parameters: u32,
}

thread_local! {
    static SOURCE: RefCell<Option<Source>> = const { RefCell::new(None) };
}

/// Runs `make` with keys of parameters that depend on `key` alone.
pub(crate) fn during<M>(key: &Key, make: impl FnOnce() -> M) -> M {
    /// Restores the outer source, after a panic too.
    struct Restore(Option<Source>);
    impl Drop for Restore {
        fn drop(&mut self) {
            SOURCE.replace(self.0.take());
        }
    }
    let source = Source {
        key: Subkey::derive(key, [0; 4]).into_key(),
        parameters: 0,
    };
    let _restore = Restore(SOURCE.replace(Some(source)));
    make()
}

/// The key of a new parameter.
pub fn next_key() -> Subkey {
    SOURCE.with_borrow_mut(|source| match source {
        Some(source) => {
            source.parameters += 1;
            Subkey::derive(&source.key, [source.parameters, 0, 0, 0])
        }
        None => Subkey::derive(&fresh_key(), [0; 4]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Keys;

    #[test]
    fn keys_end_with_their_closure() {
        let keys = Keys::fixed_seed(1);
        let panics = || keys.initial_weights(|| panic!("a model may panic"));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
        assert!(SOURCE.with_borrow(Option::is_none));
    }
}
