//! Tacita.
