//! Both ways against the loop over steps in f64.
use super::*;
use crate::testkit::values;
use proptest::prelude::*;

struct Case {
    shape: Shape,
    input: Vec<f32>,
    recurrent: Vec<f32>,
    hidden: Vec<f32>,
    cell: Vec<f32>,
}

impl Case {
    fn new(batch: usize, steps: usize, hidden: usize, seed: u64) -> Self {
        Self {
            shape: Shape {
                batch,
                steps,
                hidden,
            },
            input: values(batch * steps * 4 * hidden, seed),
            recurrent: values(hidden * 4 * hidden, seed ^ 1),
            hidden: values(batch * hidden, seed ^ 2),
            cell: values(batch * hidden, seed ^ 3),
        }
    }

    fn scan(&self) -> Scan {
        scan(
            self.input.clone(),
            &self.recurrent,
            &self.hidden,
            &self.cell,
            self.shape,
        )
    }
}

/// One sample by the obvious loop in f64: every hidden and cell state.
fn by_loop(input: &[f64], recurrent: &[f32], hidden: &[f64], cell: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let h = hidden.len();
    let (mut hidden, mut cell) = (hidden.to_vec(), cell.to_vec());
    let (mut all_hidden, mut all_cell) = (vec![], vec![]);
    for input in input.chunks(4 * h) {
        let gate = |k: usize| {
            input[k]
                + (0..h)
                    .map(|j| hidden[j] * f64::from(recurrent[j * 4 * h + k]))
                    .sum::<f64>()
        };
        let gates: Vec<f64> = (0..4 * h).map(gate).collect();
        let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
        for j in 0..h {
            cell[j] = sigmoid(gates[h + j]) * cell[j] + sigmoid(gates[j]) * gates[2 * h + j].tanh();
            hidden[j] = sigmoid(gates[3 * h + j]) * cell[j].tanh();
        }
        all_hidden.extend_from_slice(&hidden);
        all_cell.extend_from_slice(&cell);
    }
    (all_hidden, all_cell)
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&v| f64::from(v)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_scan_equals_the_loop(batch in 0usize..5, steps in 0usize..6, h in 1usize..20, seed: u64) {
        let case = Case::new(batch, steps, h, seed);
        let seen = case.scan();
        let size = steps * h;
        for sample in 0..batch {
            let (hidden, cell) = by_loop(
                &wide(&case.input[sample * 4 * size..][..4 * size]),
                &case.recurrent,
                &wide(&case.hidden[sample * h..][..h]),
                &wide(&case.cell[sample * h..][..h]),
            );
            for at in 0..size {
                prop_assert!((f64::from(seen.hidden[sample * size + at]) - hidden[at]).abs() <= 2e-5);
                prop_assert!((f64::from(seen.cell[sample * size + at]) - cell[at]).abs() <= 2e-5);
            }
        }
    }

    #[test]
    fn gradients_are_difference_quotients_of_the_loop(
        steps in 1usize..5, h in 1usize..5, with_cell: bool, seed: u64,
    ) {
        let case = Case::new(2, steps, h, seed);
        let weights = values(2 * steps * h, seed ^ 4);
        let last = values(2 * h, seed ^ 5);
        let last = with_cell.then_some(last.as_slice());
        let scan = case.scan();
        let seen = scan_gradient(
            scan.gates, &scan.cell, &case.recurrent, &case.cell, &weights, last, case.shape,
        );
        let size = steps * h;
        for sample in 0..2 {
            let parts = [
                wide(&case.input[sample * 4 * size..][..4 * size]),
                wide(&case.hidden[sample * h..][..h]),
                wide(&case.cell[sample * h..][..h]),
            ];
            let loss = |parts: &[Vec<f64>; 3]| {
                let (hidden, cell) = by_loop(&parts[0], &case.recurrent, &parts[1], &parts[2]);
                let weights = &weights[sample * size..][..size];
                let mut loss: f64 =
                    hidden.iter().zip(weights).map(|(v, w)| v * f64::from(*w)).sum();
                if let Some(last) = last {
                    let last = &last[sample * h..][..h];
                    let cell = &cell[size - h..];
                    loss += cell.iter().zip(last).map(|(v, w)| v * f64::from(*w)).sum::<f64>();
                }
                loss
            };
            let seen = [
                &seen.gates_input[sample * 4 * size..][..4 * size],
                &seen.first_hidden[sample * h..][..h],
                &seen.first_cell[sample * h..][..h],
            ];
            for part in 0..3 {
                for at in 0..parts[part].len() {
                    let moved = |by: f64| {
                        let mut parts = parts.clone();
                        parts[part][at] += by;
                        loss(&parts)
                    };
                    let exact = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                    prop_assert!((f64::from(seen[part][at]) - exact).abs() <= 2e-5);
                }
            }
        }
    }
}

#[test]
fn nan_stays_in_its_sample_both_ways() {
    let mut case = Case::new(3, 4, 5, 7);
    let clean = case.scan();
    let gradient = vec![1.0; 60];
    let back = |case: &Case, scan: &Scan| {
        scan_gradient(
            scan.gates.clone(),
            &scan.cell,
            &case.recurrent,
            &case.cell,
            &gradient,
            None,
            case.shape,
        )
    };
    let clean_back = back(&case, &clean);
    case.input[85] = f32::NAN;
    let seen = case.scan();
    let seen_back = back(&case, &seen);
    assert!(seen.hidden[20..40].iter().any(|v| v.is_nan()));
    assert!(seen_back.gates_input[80..160].iter().any(|v| v.is_nan()));
    for other in [0..20, 40..60] {
        assert_eq!(seen.hidden[other.clone()], clean.hidden[other]);
    }
    for other in [0..80, 160..240] {
        assert_eq!(
            seen_back.gates_input[other.clone()],
            clean_back.gates_input[other]
        );
    }
}

#[test]
fn many_samples_equal_one_at_a_time() {
    let case = Case::new(300, 3, 4, 11);
    let all = case.scan();
    for sample in [0, 149, 150, 255, 256, 299] {
        let one = scan(
            case.input[sample * 48..][..48].to_vec(),
            &case.recurrent,
            &case.hidden[sample * 4..][..4],
            &case.cell[sample * 4..][..4],
            Shape {
                batch: 1,
                ..case.shape
            },
        );
        for (a, b) in one.hidden.iter().zip(&all.hidden[sample * 12..]) {
            assert!((a - b).abs() <= 1e-6);
        }
    }
}
