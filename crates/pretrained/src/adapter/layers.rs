//! The layers of a network under their names in the hub's files: what loading, saving, freezing and adapters share.

use super::Projection;
use crate::layout::Layout;
use burn::module::Module;
use tacita::layers::{Embedding, LayerNorm, Linear, RmsNorm};

/// Where in a network a layer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Before the first block.
    Embeddings,
    /// In a block, counted from 0.
    Block(usize),
    /// After the last block: a last normalisation, a pooler.
    End,
    /// The new layers of the task, drawn at random.
    Head,
}

/// A layer with parameters.
#[derive(Debug)]
pub enum Kind<'a> {
    /// A linear layer that takes a low-rank adapter.
    Projection(&'a mut Projection, Layout),
    /// Another linear layer.
    Linear(&'a mut Linear, Layout),
    /// An embedding.
    Embedding(&'a mut Embedding),
    /// A layer normalisation.
    LayerNorm(&'a mut LayerNorm),
    /// A root-mean-square normalisation.
    RmsNorm(&'a mut RmsNorm),
}

/// A layer, what it is called and where it is.
#[derive(Debug)]
pub struct Layer<'a> {
    /// Its name in the hub's files, without `.weight`.
    pub name: String,
    /// Where it is.
    pub place: Place,
    /// The layer.
    pub kind: Kind<'a>,
}

/// A network whose layers can be named.
pub trait Network: Module {
    /// How many blocks it has.
    fn blocks(&self) -> usize;

    /// Every layer with parameters, each once, in the order of the forward pass.
    fn layers(&mut self) -> Vec<Layer<'_>>;
}
