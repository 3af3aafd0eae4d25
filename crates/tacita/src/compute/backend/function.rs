//! Functions of each value that have kernels of their own.

/// A function of each value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Function {
    Relu,
    Tanh,
    Sigmoid,
    Gelu,
}
