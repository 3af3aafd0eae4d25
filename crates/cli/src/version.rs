//! Which program this is.

/// The commit that the program was built from, if that is known.
pub fn commit() -> Option<&'static str> {
    option_env!("TACITA_COMMIT").filter(|commit| !commit.is_empty())
}
