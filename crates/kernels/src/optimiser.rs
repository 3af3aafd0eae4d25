//! Steps of optimisers, each in one pass over the parameters.
use crate::vector::{PIECE, vectorised};
use rayon::prelude::*;

/// What every rule does with the weights: w ← kept · w − rate · update, where the update is that of
/// the gradient g + decay · w.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// The learning rate.
    pub rate: f32,
    /// Weight decay that is added to the gradient.
    pub decay: f32,
    /// What weight decay beside the step leaves of the weights.
    pub kept: f32,
}

/// A rule and its constants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// The update is g.
    Plain,
    /// m ← momentum · m + g; the update is m, or g + momentum · m if it looks `ahead`.
    Momentum {
        /// How much of m stays.
        momentum: f32,
        /// Nesterov's form.
        ahead: bool,
    },
    /// m and v are running means of g and g²; the update is (m / first) / (√(v / second) + ε).
    Adam {
        /// How much of each running mean stays.
        kept: [f32; 2],
        /// What is added of each new value.
        new: [f32; 2],
        /// What the running means are divided by.
        scales: [f32; 2],
        /// ε.
        epsilon: f32,
    },
}

impl Rule {
    /// Vectors of memory, each as long as the weights.
    pub fn memory(self) -> usize {
        match self {
            Self::Plain => 0,
            Self::Momentum { .. } => 1,
            Self::Adam { .. } => 2,
        }
    }
}

/// Moves `weights` by `gradient`, with `memory` as the rule has it.
///
/// # Panics
/// If lengths differ, or there are not as many vectors of memory as the rule needs.
pub fn step(
    rule: Rule,
    constants: Weights,
    weights: &mut [f32],
    gradient: &[f32],
    memory: &mut [Vec<f32>],
) {
    let Weights { rate, decay, kept } = constants;
    let moved = move |w: f32, update: f32| kept.mul_add(w, -(rate * update));
    match (rule, memory) {
        (Rule::Plain, []) => pass(
            weights,
            gradient,
            [&mut [], &mut []],
            #[inline(always)]
            |w, g, memory| (moved(w, decay.mul_add(w, g)), memory),
        ),
        (Rule::Momentum { momentum, ahead }, [first]) => pass(
            weights,
            gradient,
            [first, &mut []],
            #[inline(always)]
            |w, g, [m, _]| {
                let g = decay.mul_add(w, g);
                let m = momentum.mul_add(m, g);
                let update = if ahead { momentum.mul_add(m, g) } else { m };
                (moved(w, update), [m, 0.0])
            },
        ),
        (
            Rule::Adam {
                kept: [kept_1, kept_2],
                new: [new_1, new_2],
                scales: [first, second],
                epsilon,
            },
            [m, v],
        ) => {
            let (first, second) = (1.0 / first, 1.0 / second);
            pass(
                weights,
                gradient,
                [m, v],
                #[inline(always)]
                |w, g, [m, v]| {
                    let g = decay.mul_add(w, g);
                    let m = kept_1.mul_add(m, new_1 * g);
                    let v = kept_2.mul_add(v, new_2 * (g * g));
                    let update = (m * first) / ((v * second).sqrt() + epsilon);
                    (moved(w, update), [m, v])
                },
            );
        }
        (rule, memory) => panic!("{rule:?} with {} vectors of memory", memory.len()),
    }
}

/// One pass over weights, gradient and memory, of which either vector may be empty.
fn pass(
    weights: &mut [f32],
    gradient: &[f32],
    [first, second]: [&mut [f32]; 2],
    function: impl Fn(f32, f32, [f32; 2]) -> (f32, [f32; 2]) + Copy + Sync,
) {
    assert_eq!(weights.len(), gradient.len(), "a gradient per weight");
    for memory in [&first, &second] {
        assert!(
            memory.is_empty() || memory.len() == weights.len(),
            "memory of {} for {} weights",
            memory.len(),
            weights.len()
        );
    }
    let pieces = weights.len().div_ceil(PIECE);
    let none = || std::iter::repeat_with(|| &mut [][..]);
    let pieces_of = |memory| -> Vec<&mut [f32]> {
        let memory: &mut [f32] = memory;
        memory
            .chunks_mut(PIECE)
            .chain(none())
            .take(pieces)
            .collect()
    };
    weights
        .par_chunks_mut(PIECE)
        .zip(gradient.par_chunks(PIECE))
        .zip(pieces_of(first))
        .zip(pieces_of(second))
        .for_each(|(((weights, gradient), first), second)| {
            vectorised(
                #[inline(always)]
                || {
                    let values = weights.iter_mut().zip(gradient);
                    match (&mut *first, &mut *second) {
                        ([], []) => values.for_each(|(w, g)| *w = function(*w, *g, [0.0; 2]).0),
                        (first, []) => {
                            for ((w, g), m) in values.zip(first) {
                                (*w, [*m, _]) = function(*w, *g, [*m, 0.0]);
                            }
                        }
                        (first, second) => {
                            for (((w, g), m), v) in values.zip(first).zip(second) {
                                (*w, [*m, *v]) = function(*w, *g, [*m, *v]);
                            }
                        }
                    }
                },
            );
        });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{close, source};
    use proptest::prelude::*;

    fn by_loop(rule: Rule, constants: Weights, w: f64, g: f64, memory: &mut [f64]) -> f64 {
        let f = f64::from;
        let g = g + f(constants.decay) * w;
        let update = match rule {
            Rule::Plain => g,
            Rule::Momentum { momentum, ahead } => {
                memory[0] = f(momentum) * memory[0] + g;
                if ahead {
                    g + f(momentum) * memory[0]
                } else {
                    memory[0]
                }
            }
            Rule::Adam {
                kept,
                new,
                scales,
                epsilon,
            } => {
                memory[0] = f(kept[0]) * memory[0] + f(new[0]) * g;
                memory[1] = f(kept[1]) * memory[1] + f(new[1]) * g * g;
                memory[0] / f(scales[0]) / ((memory[1] / f(scales[1])).sqrt() + f(epsilon))
            }
        };
        f(constants.kept) * w - f(constants.rate) * update
    }

    proptest! {
        #[test]
        fn a_step_equals_the_loop(
            count in prop_oneof![0usize..200, Just(PIECE + 17)], which in 0usize..4,
            decay in 0f32..0.2, kept in 0.9f32..1.0, seed: u64,
        ) {
            let rule = [
                Rule::Plain,
                Rule::Momentum { momentum: 0.9, ahead: false },
                Rule::Momentum { momentum: 0.9, ahead: true },
                Rule::Adam { kept: [0.9, 0.99], new: [0.1, 0.01], scales: [0.2, 0.3], epsilon: 0.01 },
            ][which];
            let constants = Weights { rate: 0.1, decay, kept };
            let mut values = source(seed);
            let (before, gradient) = (values(count), values(count));
            let old: Vec<Vec<f32>> = (0..rule.memory())
                .map(|_| values(count).into_iter().map(f32::abs).collect()).collect();
            let (mut weights, mut memory) = (before.clone(), old.clone());
            step(rule, constants, &mut weights, &gradient, &mut memory);
            let mut expected = Vec::new();
            let mut expected_memory = vec![Vec::new(); old.len()];
            for at in 0..count {
                let mut memory: Vec<f64> = old.iter().map(|old| f64::from(old[at])).collect();
                let (w, g) = (f64::from(before[at]), f64::from(gradient[at]));
                expected.push(by_loop(rule, constants, w, g, &mut memory));
                expected_memory.iter_mut().zip(memory).for_each(|(all, one)| all.push(one));
            }
            close(&weights, &expected)?;
            for (seen, expected) in memory.iter().zip(&expected_memory) {
                close(seen, expected)?;
            }
        }
    }
}
