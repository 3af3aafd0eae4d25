//! Times of norms and weighted sums of outer products, in the shapes of a transformer's linear layers.
//! `cargo bench -p tacita-kernels --bench outer`
use std::hint::black_box;
use std::time::Instant;
use tacita_kernels::outer::{formed_norms, gram_norms, grams, weighted_sum};
use tacita_kernels::product::{Into, Matrix, Workers, multiply};

/// The least time of some calls, in milliseconds.
fn least<R>(mut call: impl FnMut() -> R) -> f64 {
    (0..15)
        .map(|_| {
            let start = Instant::now();
            black_box(call());
            start.elapsed().as_secs_f64() * 1e3
        })
        .fold(f64::INFINITY, f64::min)
}

fn main() {
    let (batch, positions) = (32, 128);
    let rows = batch * positions;
    let factors = vec![0.5; batch];
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
        let sum = least(|| weighted_sum(&left, &right, &factors, positions, [d, p]));
        let mut into = vec![0.0; d * p];
        let plain = least(|| {
            let left = Matrix::new(&left, rows, d).transposed();
            let right = Matrix::new(&right, rows, p);
            multiply(&mut into, p, Into::Replace, left, right, Workers::All);
        });
        println!(
            "{d:5} × {p:5}  Gram norms {norms:6.2} ms  formed norms {formed:6.2} ms  weighted sum {sum:6.2} ms  product alone {plain:6.2} ms"
        );
    }
}
