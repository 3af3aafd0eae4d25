//! Runs of samples that are treated a few at a time.
//!
//! All runs of a batch are equally long, and so are the tensors in which a sample is treated, wherever it is:
//! a GPU that chooses kernels by shapes takes the same one for everybody. Where runs do not fill the batch, the
//! last one begins among the samples of the one before.

/// A run of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub first: usize,
    pub count: usize,
    /// How many of them, the first ones, were in the run before.
    pub again: usize,
}

/// As few runs of at most `most` samples as cover the batch.
pub(super) fn runs(batch: usize, most: usize) -> impl Iterator<Item = Run> {
    let number = batch.div_ceil(most.max(1));
    let count = batch.div_ceil(number.max(1));
    (0..number).map(move |run| {
        let first = (run * count).min(batch - count);
        Run {
            first,
            count,
            again: run * count - first,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equal_runs_cover_a_batch_once(batch in 0usize..3000, most in 0usize..700) {
            let all: Vec<Run> = runs(batch, most).collect();
            prop_assert_eq!(all.len(), batch.div_ceil(most.max(1)));
            let mut next = 0;
            for run in &all {
                prop_assert!(run.count <= most.max(1) && run.count == all[0].count);
                prop_assert!(run.again < run.count);
                prop_assert_eq!(run.first + run.again, next);
                next = run.first + run.count;
            }
            prop_assert_eq!(next, batch);
        }
    }
}
