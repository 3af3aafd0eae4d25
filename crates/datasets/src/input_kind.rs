//! What the choice of defaults may know of an input.

/// What rows are made of, as far as the choice of defaults goes; public.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InputKind {
    /// The columns of a table.
    Table,
    /// Counts of a text, in rows of one length.
    Counts,
    /// Anything else.
    #[default]
    Other,
}
