//! How well scores rank records that have a property before those that do not.

/// Records of one score: how many have the property and how many do not. Noisy numbers may be negative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// The score.
    pub log_odds: f64,
    /// Records with the property.
    pub positive: f64,
    /// Records without it.
    pub negative: f64,
}

/// Adds up records of equal score and sorts them, the highest score first.
pub fn ranked(mut records: Vec<Scored>) -> Vec<Scored> {
    records.sort_by(|a, b| b.log_odds.total_cmp(&a.log_odds));
    let mut merged: Vec<Scored> = Vec::new();
    for record in records {
        match merged.last_mut() {
            Some(last) if last.log_odds == record.log_odds => {
                last.positive += record.positive;
                last.negative += record.negative;
            }
            _ => merged.push(record),
        }
    }
    merged
}

/// All with the property, and all without.
pub fn totals(ranked: &[Scored]) -> (f64, f64) {
    let positive = ranked.iter().map(|at| at.positive).sum();
    (positive, ranked.iter().map(|at| at.negative).sum())
}

/// The area under the ROC curve: the share of pairs, one with the property and one without, of which the first has
/// the higher score; equal scores count one half (Mann and Whitney).
pub fn roc_area(ranked: &[Scored]) -> f64 {
    let (positives, negatives) = totals(ranked);
    let (mut above, mut pairs) = (0.0, 0.0);
    for at in ranked {
        pairs += at.negative * (above + 0.5 * at.positive);
        above += at.positive;
    }
    pairs / (positives * negatives)
}

/// The area under the precision–recall curve as average precision: the mean of the precision at each record with the
/// property, without interpolation.
pub fn average_precision(ranked: &[Scored]) -> f64 {
    let (positives, _) = totals(ranked);
    let (mut true_positives, mut answered, mut area) = (0.0_f64, 0.0_f64, 0.0);
    for at in ranked {
        true_positives += at.positive;
        answered += at.positive + at.negative;
        // Noisy numbers: nothing is answered yet as far as one can tell.
        if answered > 0.0 {
            area += at.positive * (true_positives / answered).clamp(0.0, 1.0);
        }
    }
    area / positives
}

/// (false-positive rate, true-positive rate) from no answer to all.
pub fn roc(ranked: &[Scored]) -> Vec<(f64, f64)> {
    let (positives, negatives) = totals(ranked);
    let mut at = (0.0, 0.0);
    let mut curve = vec![at];
    for score in ranked {
        at.0 += score.negative;
        at.1 += score.positive;
        curve.push((at.0 / negatives, at.1 / positives));
    }
    growing(curve)
}

/// (recall, precision) as more records are answered with yes.
pub fn precision_recall(ranked: &[Scored]) -> Vec<(f64, f64)> {
    let (positives, _) = totals(ranked);
    let (mut true_positives, mut answered) = (0.0_f64, 0.0_f64);
    let mut curve: Vec<(f64, f64)> = Vec::new();
    for score in ranked {
        true_positives += score.positive;
        answered += score.positive + score.negative;
        if answered > 0.0 {
            let precision = (true_positives / answered).clamp(0.0, 1.0);
            if curve.is_empty() {
                curve.push((0.0, precision));
            }
            curve.push((true_positives / positives, precision));
        }
    }
    let mut furthest = 0.0_f64;
    for point in &mut curve {
        furthest = furthest.max(point.0.clamp(0.0, 1.0));
        point.0 = furthest;
    }
    curve
}

/// A curve that never falls back and stays in the unit square, as every true one does.
fn growing(mut curve: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let mut furthest = (0.0_f64, 0.0_f64);
    for point in &mut curve {
        furthest.0 = furthest.0.max(point.0.clamp(0.0, 1.0));
        furthest.1 = furthest.1.max(point.1.clamp(0.0, 1.0));
        *point = furthest;
    }
    curve
}

/// A curve with few enough points to draw.
pub fn thinned(curve: Vec<(f64, f64)>, most: usize) -> Vec<(f64, f64)> {
    if curve.len() <= most {
        return curve;
    }
    let last = curve.len() - 1;
    (0..most).map(|k| curve[k * last / (most - 1)]).collect()
}

/// The mean of several curves over the same axis, at `points` places between 0 and 1.
pub fn mean_curve(curves: &[Vec<(f64, f64)>], points: usize) -> Vec<(f64, f64)> {
    let curves: Vec<&Vec<(f64, f64)>> = curves.iter().filter(|curve| !curve.is_empty()).collect();
    if curves.is_empty() {
        return Vec::new();
    }
    (0..=points)
        .map(|k| {
            let x = k as f64 / points as f64;
            let sum: f64 = curves.iter().map(|curve| value_at(curve, x)).sum();
            (x, sum / curves.len() as f64)
        })
        .collect()
}

/// The value of a curve at a place; the last one where it rises straight up.
fn value_at(curve: &[(f64, f64)], x: f64) -> f64 {
    let after = curve.partition_point(|point| point.0 <= x);
    match (
        after.checked_sub(1).map(|before| curve[before]),
        curve.get(after),
    ) {
        (Some((x0, y0)), Some(&(x1, y1))) => y0 + (y1 - y0) * (x - x0) / (x1 - x0),
        (Some((_, y)), None) => y,
        (None, first) => first.map_or(0.0, |point| point.1),
    }
}
