//! Times of norms and weighted sums of outer products, in the shapes of a transformer's linear layers.
//! `cargo bench -p tacita-kernels --bench outer`
use std::hint::black_box;
use std::time::Instant;
use tacita_kernels::exact::{Factor, Grid, Outer, Parts, Sum, add_outer};
use tacita_kernels::outer::{formed_norms, gram_norms, grams};
use tacita_kernels::product::{Destination, Matrix, Workers, multiply};

/// The least time of some calls, in milliseconds.
fn least<R>(mut call: impl FnMut() -> R) -> f64 {
    (0..5)
        .map(|_| {
            let start = Instant::now();
            black_box(call());
            start.elapsed().as_secs_f64() * 1e3
        })
        .fold(f64::INFINITY, f64::min)
}

/// The weighted sum on the grid beside the plain product of the same factors, in turn.
fn exact_beside_plain(batch: usize, positions: usize, d: usize, p: usize) {
    let rows = batch * positions;
    let spread = |count: usize, scale: f32| -> Vec<f32> {
        (0..count)
            .map(|at| ((at * 7919 % 1000) as f32 / 500.0 - 1.0) * scale)
            .collect()
    };
    let (left, right) = (
        spread(rows * d, 1.0),
        spread(rows * p, 0.002 / positions as f32),
    );
    let factors = vec![0.5; batch];
    let grid = Grid::for_bound(1.0).unwrap_or_else(|| unreachable!("1 is a bound"));
    let mut ratios: Vec<(f64, f64)> = (0..9)
        .map(|_| {
            let plain = least(|| {
                let mut into = vec![0.0; d * p];
                let left = Matrix::new(&left, rows, d).transposed();
                let right = Matrix::new(&right, rows, p);
                multiply(
                    &mut into,
                    p,
                    Destination::Replace,
                    left,
                    right,
                    Workers::All,
                );
                into
            });
            let exact = least(|| {
                Sum::of_records(grid, d * p, batch, |some, steps| {
                    let outer = Outer {
                        left: Factor::ByPosition {
                            values: &left[some.start * positions * d..some.end * positions * d],
                            width: d,
                        },
                        right: Factor::ByPosition {
                            values: &right[some.start * positions * p..some.end * positions * p],
                            width: p,
                        },
                        positions,
                        factors: &factors[some],
                    };
                    add_outer(steps, outer, grid, Parts::Whole, Workers::All);
                })
            });
            (exact / plain, exact)
        })
        .collect();
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    let work = (rows * d * p) as f64 / 1e6;
    println!(
        "{batch:4} × {positions:4} positions, {d:5} × {p:5}: exact ÷ plain {:.3} ({:.3}–{:.3}), {:7.3} ms, {:5.1} GFMA/s",
        ratios[4].0,
        ratios[0].0,
        ratios[8].0,
        ratios[4].1,
        work / ratios[4].1
    );
}

fn main() {
    for (batch, positions, d, p) in [
        (256, 1, 784, 128),
        (256, 1, 784, 10),
        (256, 1, 1024, 1024),
        (64, 16, 512, 4608),
        (64, 4, 512, 4608),
        (64, 64, 256, 1152),
        (256, 28, 128, 512),
        (32, 128, 256, 1024),
    ] {
        exact_beside_plain(batch, positions, d, p);
    }
    let (batch, positions) = (32, 128);
    let rows = batch * positions;
    for (d, p) in [(256, 256), (256, 1024), (1024, 256)] {
        let (left, right) = (vec![0.1; rows * d], vec![0.2; rows * p]);
        let norms = least(|| {
            let (left, right) = (
                grams(&left, batch, positions),
                grams(&right, batch, positions),
            );
            gram_norms(&left, &right)
        });
        let formed = least(|| formed_norms(&left, &right, positions, [d, p]));
        let mut into = vec![0.0; d * p];
        let plain = least(|| {
            let left = Matrix::new(&left, rows, d).transposed();
            let right = Matrix::new(&right, rows, p);
            multiply(
                &mut into,
                p,
                Destination::Replace,
                left,
                right,
                Workers::All,
            );
        });
        println!(
            "{d:5} × {p:5}  Gram norms {norms:6.2} ms  formed norms {formed:6.2} ms  product alone {plain:6.2} ms"
        );
    }
}
