//! Images brought to another size by Lanczos's filter (three lobes), widened when shrinking so that
//! no pixel is skipped: first along rows, then along columns.

use std::f32::consts::PI;

/// Lobes on either side.
const LOBES: f32 = 3.0;

fn lanczos(x: f32) -> f32 {
    if x == 0.0 {
        1.0
    } else if x.abs() < LOBES {
        LOBES * (PI * x).sin() * (PI * x / LOBES).sin() / (PI * x).powi(2)
    } else {
        0.0
    }
}

/// Where the pixels of one line of a new size come from: a start, and weights that add up to 1.
fn sources(from: usize, to: usize) -> Vec<(usize, Vec<f32>)> {
    let ratio = from as f32 / to as f32;
    let widening = ratio.max(1.0);
    (0..to)
        .map(|at| {
            let centre = (at as f32 + 0.5) * ratio;
            let start = (centre - LOBES * widening).floor().max(0.0) as usize;
            let end = ((centre + LOBES * widening).ceil() as usize).min(from);
            let weights: Vec<f32> = (start..end)
                .map(|source| lanczos((source as f32 + 0.5 - centre) / widening))
                .collect();
            let sum: f32 = weights.iter().sum();
            (start, weights.iter().map(|weight| weight / sum).collect())
        })
        .collect()
}

/// One plane of `width` × `height` values in another size.
pub(super) fn resize(plane: &[u8], (width, height): (usize, usize), to: (usize, usize)) -> Vec<u8> {
    if (width, height) == to {
        return plane.to_vec();
    }
    let along = sources(width, to.0);
    let mut narrow = Vec::with_capacity(to.0 * height);
    for line in plane.chunks_exact(width) {
        narrow.extend(along.iter().map(|(start, weights)| {
            let values = line[*start..].iter().zip(weights);
            values
                .map(|(&value, weight)| f32::from(value) * weight)
                .sum::<f32>()
        }));
    }
    let mut resized = Vec::with_capacity(to.0 * to.1);
    for (start, weights) in sources(height, to.1) {
        let mut line = vec![0.0; to.0];
        for (source, weight) in narrow.chunks_exact(to.0).skip(start).zip(&weights) {
            for (sum, value) in line.iter_mut().zip(source) {
                *sum += value * weight;
            }
        }
        // The filter overshoots at edges; the conversion holds on to 0 and 255.
        resized.extend(line.iter().map(|value| value.round() as u8));
    }
    resized
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_add_up_to_one() {
        for (from, to) in [(1, 1), (1, 9), (9, 1), (224, 64), (5, 7), (3000, 3)] {
            for (start, weights) in sources(from, to) {
                assert!(
                    (weights.iter().sum::<f32>() - 1.0).abs() < 1e-4,
                    "{from} {to}"
                );
                assert!(start + weights.len() <= from);
            }
        }
    }

    /// A ramp keeps its slope away from the ends, because the filter is symmetric.
    #[test]
    fn a_ramp_stays_a_ramp() {
        let ramp: Vec<u8> = (0..8).flat_map(|_| (0..64).map(|x| 4 * x)).collect();
        let half = resize(&ramp, (64, 8), (32, 4));
        for line in half.chunks_exact(32) {
            for (at, &value) in line.iter().enumerate().skip(4).take(24) {
                let expected = 4.0 * (2.0 * at as f32 + 0.5);
                assert!(
                    (f32::from(value) - expected).abs() <= 1.5,
                    "{at} {value} {expected}"
                );
            }
        }
        assert_eq!(resize(&ramp, (64, 8), (64, 8)), ramp);
    }

    #[test]
    fn columns_are_treated_like_rows() {
        let image: Vec<u8> = (0..35u32).map(|at| (at * at % 251) as u8).collect();
        let turned: Vec<u8> = (0..7)
            .flat_map(|x| (0..5).map(move |y| (x, y)))
            .map(|(x, y)| image[7 * y + x])
            .collect();
        let small = resize(&image, (7, 5), (3, 4));
        let small_turned = resize(&turned, (5, 7), (4, 3));
        for (x, y) in (0..3).flat_map(|x| (0..4).map(move |y| (x, y))) {
            let (one, other) = (small[3 * y + x], small_turned[4 * x + y]);
            assert!(one.abs_diff(other) <= 1);
        }
    }
}
