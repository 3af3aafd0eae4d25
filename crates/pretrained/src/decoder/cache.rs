//! Keys and values of positions that were seen before.

use burn::tensor::{Int, Tensor};

/// Keys and values of the positions that a network has seen, so that the next token costs one position.
#[derive(Debug, Clone, Default)]
pub struct Cache {
    /// Keys and values of each block, `[rows, positions, heads · width]`.
    blocks: Vec<[Tensor<3>; 2]>,
    pub(super) length: usize,
}

impl Cache {
    /// Positions seen.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Continues with the given rows, each as often as it is named.
    pub fn select(&mut self, rows: Tensor<1, Int>) {
        for block in &mut self.blocks {
            *block = block.clone().map(|tensor| tensor.select(0, rows.clone()));
        }
    }

    /// Puts new keys and values after those of a block, and gives all.
    pub(super) fn extend(&mut self, block: usize, new: [Tensor<3>; 2]) -> [Tensor<3>; 2] {
        match self.blocks.get_mut(block) {
            None => {
                self.blocks.push(new.clone());
                new
            }
            Some(known) => {
                let [keys, values] = known.clone();
                let [new_keys, new_values] = new;
                *known = [
                    Tensor::cat(vec![keys, new_keys], 1),
                    Tensor::cat(vec![values, new_values], 1),
                ];
                known.clone()
            }
        }
    }
}
