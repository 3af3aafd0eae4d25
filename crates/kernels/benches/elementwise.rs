//! Milliseconds per call of the elementwise, row and recurrent kernels.
//!
//! `RAYON_NUM_THREADS=1 cargo bench -p tacita-kernels --bench elementwise [-- part of a name]`
use std::hint::black_box;
use std::time::Instant;
use tacita_kernels::exact::{Grid, Vectors, add_rows, add_scattered};
use tacita_kernels::{activation, lstm, normalise, rows, softmax, update};

fn time<T>(name: &str, elements: usize, mut call: impl FnMut() -> T) {
    time_with(name, elements, || (), |()| call());
}

/// Times `call` on what `prepare` makes, which is not timed.
fn time_with<P, T>(
    name: &str,
    elements: usize,
    mut prepare: impl FnMut() -> P,
    mut call: impl FnMut(P) -> T,
) {
    let asked = std::env::args().nth(1).unwrap_or_default();
    if asked != "--bench" && !name.contains(&asked) {
        return;
    }
    let mut best = f64::INFINITY;
    for _ in 0..30 {
        let prepared = prepare();
        let start = Instant::now();
        let result = black_box(call(prepared));
        best = best.min(start.elapsed().as_secs_f64());
        drop(result);
    }
    let rate = elements as f64 / best * 1e-9;
    println!("{name:<44} {:>9.4} ms {rate:>8.3} G/s", best * 1e3);
}

fn values(count: usize, scale: f32) -> Vec<f32> {
    let mut state = 1_u64;
    (0..count)
        .map(|_| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            ((state >> 40) as f32 / 8_388_608.0 - 1.0) * scale
        })
        .collect()
}

fn activations() {
    for count in [32 << 10, 4 << 20] {
        let (x, g) = (values(count, 5.0), values(count, 1.0));
        let kind = if count < 1 << 20 { "32k" } else { "4M" };
        time(&format!("tanh {kind}"), count, || activation::tanh(&x));
        time(&format!("tanh_gradient {kind}"), count, || {
            activation::tanh_gradient(&x, &g)
        });
        time(&format!("sigmoid {kind}"), count, || {
            activation::sigmoid(&x)
        });
        time(&format!("exp {kind}"), count, || activation::exp(&x));
        time(&format!("gelu {kind}"), count, || activation::gelu(&x));
        time(&format!("gelu_gradient {kind}"), count, || {
            activation::gelu_gradient(&x, &g)
        });
    }
}

fn over_rows() {
    for (count, width) in [(512, 10), (4096, 128), (256 * 8, 2048)] {
        let size = count * width;
        let (x, g) = (values(size, 5.0), values(size, 1.0));
        time(&format!("softmax {count} x {width}"), size, || {
            softmax::softmax(&x, width)
        });
        let y = softmax::softmax(&x, width);
        time(&format!("softmax_gradient {count} x {width}"), size, || {
            softmax::softmax_gradient(&y, &g, width)
        });
        time(&format!("log_softmax {count} x {width}"), size, || {
            softmax::log_softmax(&x, width)
        });
        time(&format!("normalise {count} x {width}"), size, || {
            normalise::normalise(&x, width, 1e-5)
        });
        let (normal, inverse) = normalise::normalise(&x, width, 1e-5);
        time(
            &format!("normalise_gradient {count} x {width}"),
            size,
            || normalise::normalise_gradient(&normal, &inverse, &g, width),
        );
    }
}

fn recurrent() {
    let shape = lstm::Shape {
        batch: 256,
        steps: 15,
        hidden: 128,
    };
    let lstm::Shape {
        batch,
        steps,
        hidden: h,
    } = shape;
    let input = values(batch * steps * 4 * h, 1.0);
    let weights = values(h * 4 * h, 0.1);
    let first = vec![0.0; batch * h];
    let gradient = values(batch * steps * h, 1.0);
    let cells = batch * steps * h;
    let forward = |input: Vec<f32>| lstm::scan(input, &weights, &first, &first, shape);
    time_with("lstm scan 256 x 15 x 128", cells, || input.clone(), forward);
    let scan = forward(input.clone());
    time_with(
        "lstm scan_gradient 256 x 15 x 128",
        cells,
        || scan.gates.clone(),
        |gates| lstm::scan_gradient(gates, &scan.cell, &weights, &first, &gradient, None, shape),
    );
}

fn embedding() {
    let (batch, positions, table, width) = (512, 256, 10_000, 16);
    let index: Vec<i64> = values(batch * positions, 0.5)
        .iter()
        .map(|v| ((v + 0.5) * table as f32) as i64 % table as i64)
        .collect();
    let weights = values(table * width, 1.0);
    let gradient = values(batch * positions * width, 1.0);
    let shared = values(batch * width, 1.0);
    let factors = values(batch, 1.0);
    let size = gradient.len();
    time("gather 512 x 256 x 16", size, || {
        rows::gather(&weights, width, &index)
    });
    time("scatter_add", size, || {
        rows::scatter_add(table, width, &index, &gradient)
    });
    time("per_sample_squares", size, || {
        rows::per_sample_squares(&index, &gradient, batch, positions, width)
    });
    let grid = Grid::for_bound(1.0).unwrap_or_else(|| unreachable!("1 is a bound"));
    let mut sum = vec![0; table * width];
    time("add_scattered", size, || {
        let each = Vectors::EachPosition(&gradient);
        add_scattered(&mut sum, width, &index, each, &factors, grid);
    });
    time("add_scattered, shared", size, || {
        let each = Vectors::EachSample(&shared);
        add_scattered(&mut sum, width, &index, each, &factors, grid);
    });
    time("per_sample_squares_shared", size, || {
        rows::per_sample_squares_shared(&index, &shared, batch, positions, width)
    });
    time("weighted_scatter_add_shared", size, || {
        rows::weighted_scatter_add_shared(table, width, &index, &shared, &factors)
    });
}

fn flat() {
    let (batch, width) = (256, 100_000);
    let all = values(batch * width, 1.0);
    let factors = values(batch, 1.0);
    let grid = Grid::for_bound(1.0).unwrap_or_else(|| unreachable!("1 is a bound"));
    let mut sum = vec![0; width];
    time("add_rows 256 x 100k", batch * width, || {
        add_rows(&mut sum, &all, &factors, grid);
    });
    time("row_squares 256 x 100k", batch * width, || {
        update::row_squares(&all, width)
    });
}

fn main() {
    activations();
    over_rows();
    recurrent();
    embedding();
    flat();
}
