//! Scores as log-odds, and the public bins in which private ones are counted.

/// Where bins meet: log-odds, evenly spaced near 0, so that small shares are told apart from very small ones, and
/// wider beyond, where a model is too sure of itself. One edge is 0, where the answer of two classes changes.
pub const EDGES: [f64; 17] = [
    -12.0, -8.5, -6.5, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.5, 8.5, 12.0,
];
/// How many bins there are.
pub const BINS: usize = EDGES.len() + 1;

/// The bin of a score.
pub fn bin(log_odds: f64) -> usize {
    EDGES.partition_point(|edge| *edge <= log_odds)
}

/// What stands for all scores of a bin: its middle; beyond the last edges, a little further out.
pub fn middle(bin: usize) -> f64 {
    const BEYOND: f64 = 3.0;
    let last = EDGES.len() - 1;
    match bin {
        0 => EDGES[0] - BEYOND,
        within if within <= last => 0.5 * (EDGES[within - 1] + EDGES[within]),
        _ => EDGES[last] + BEYOND,
    }
}

/// The probability of log-odds.
pub fn probability(log_odds: f64) -> f64 {
    if log_odds >= 0.0 {
        1.0 / (1.0 + (-log_odds).exp())
    } else {
        let odds = log_odds.exp();
        odds / (1.0 + odds)
    }
}

/// −ln of the probability of log-odds, without the rounding of a probability near 1 or 0.
pub fn surprise(log_odds: f64) -> f64 {
    (-log_odds).max(0.0) + (-log_odds.abs()).exp().ln_1p()
}

/// Log-odds of each class against all others, from the values a model gives them. Values that are no finite numbers
/// say nothing: all classes are then equally likely.
pub fn against_others(values: &[f32]) -> Vec<f64> {
    let finite = values.iter().all(|value| value.is_finite());
    let values: Vec<f64> = match finite {
        true => values.iter().map(|value| f64::from(*value)).collect(),
        false => vec![0.0; values.len()],
    };
    (0..values.len())
        .map(|class| {
            let others = || {
                let all = values.iter().enumerate();
                all.filter(move |(other, _)| *other != class)
                    .map(|(_, value)| *value)
            };
            let most = others().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = others().map(|value| (value - most).exp()).sum();
            values[class] - (most + sum.ln())
        })
        .collect()
}

/// The class a model answers, the first of equals; the first if values are no finite numbers.
pub fn answer(values: &[f32]) -> usize {
    if !values.iter().all(|value| value.is_finite()) {
        return 0;
    }
    let mut best = 0;
    for (class, value) in values.iter().enumerate() {
        if *value > values[best] {
            best = class;
        }
    }
    best
}
