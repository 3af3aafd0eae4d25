//! Decoders that assert where they should return an error.

use anyhow::{Result, bail};
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Decodes something, a panic being an error. It is not printed, because that would tell that a record is there.
pub fn guarded<T>(what: &str, decode: impl FnOnce() -> Result<T>) -> Result<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                usual(panic);
            }
        }));
    });
    let before = QUIET.replace(true);
    let decoded = panic::catch_unwind(AssertUnwindSafe(decode));
    QUIET.set(before);
    match decoded {
        Ok(decoded) => decoded,
        Err(_) => bail!("{what}"),
    }
}
