//! The two ways in which files hold a matrix.

/// How a file lays out the matrix of a linear layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// `[output, input]`, as PyTorch's `Linear`.
    OutputFirst,
    /// `[input, output]`, as GPT-2's `Conv1D`.
    InputFirst,
}
