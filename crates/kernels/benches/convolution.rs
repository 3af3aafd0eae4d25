//! Milliseconds and GFLOP/s of convolution and pooling, for the shapes of the example models.
//!
//! `RAYON_NUM_THREADS=1 cargo bench -p tacita-kernels --bench convolution [-- part-of-a-name]`

use std::hint::black_box;
use std::time::{Duration, Instant};
use tacita_kernels::convolution::{self, Geometry};
use tacita_kernels::pooling::{self, Window};

/// The quickest of several runs, in milliseconds.
fn quickest<T>(mut run: impl FnMut() -> T) -> f64 {
    let begin = Instant::now();
    let mut best = f64::INFINITY;
    let mut runs = 0;
    while runs < 5 || (begin.elapsed() < Duration::from_millis(300) && runs < 100) {
        let start = Instant::now();
        black_box(run());
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
        runs += 1;
    }
    best
}

fn values(count: usize) -> Vec<f32> {
    let mut state = 7u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / 8_388_608.0 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

fn square(
    batch: usize,
    channels: [usize; 2],
    size: usize,
    kernel: usize,
    stride: usize,
    padding: usize,
) -> Geometry {
    let output = (size + 2 * padding - kernel) / stride + 1;
    Geometry {
        batch,
        channels_in: channels[0],
        input: [size; 2],
        channels_out: channels[1],
        output: [output; 2],
        kernel: [kernel; 2],
        stride: [stride; 2],
        padding: [(padding, padding); 2],
        dilation: [1; 2],
        groups: 1,
    }
}

fn convolutions(wanted: &str) {
    let shapes = [
        ("cnn 1-16 k8 s2 p3 28x28", square(256, [1, 16], 28, 8, 2, 3)),
        ("cnn 16-32 k4 s2 13x13", square(256, [16, 32], 13, 4, 2, 0)),
        ("resnet 3-64 k3 p1 32x32", square(64, [3, 64], 32, 3, 1, 1)),
        (
            "resnet 64-128 k3 p1 32x32",
            square(64, [64, 128], 32, 3, 1, 1),
        ),
        (
            "resnet 256-512 k3 p1 8x8",
            square(64, [256, 512], 8, 3, 1, 1),
        ),
        (
            "resnet 512-512 k3 p1 4x4",
            square(64, [512, 512], 4, 3, 1, 1),
        ),
        ("auto 1-8 k3 p1 28x28", square(128, [1, 8], 28, 3, 1, 1)),
        ("auto 8-16 k3 p1 28x28", square(128, [8, 16], 28, 3, 1, 1)),
        ("auto 16-32 k3 p1 28x28", square(128, [16, 32], 28, 3, 1, 1)),
        ("auto 32-64 k3 p1 28x28", square(128, [32, 64], 28, 3, 1, 1)),
        ("auto 64-32 k3 p1 28x28", square(128, [64, 32], 28, 3, 1, 1)),
        ("auto 32-16 k3 p1 28x28", square(128, [32, 16], 28, 3, 1, 1)),
        ("auto 16-8 k3 p1 28x28", square(128, [16, 8], 28, 3, 1, 1)),
        ("auto 8-1 k3 p1 28x28", square(128, [8, 1], 28, 3, 1, 1)),
    ];
    println!(
        "{:28} {:>16} {:>16} {:>16} {:>16} {:>16} {:>16}",
        "ms (GFLOP/s)",
        "forward",
        "input gradient",
        "weight gradient",
        "per sample",
        "norms",
        "gram norms"
    );
    for (name, geometry) in shapes.into_iter().filter(|(name, _)| name.contains(wanted)) {
        let x = values(geometry.batch * geometry.sample_in());
        let weight = values(geometry.weights());
        let dy = values(geometry.batch * geometry.sample_out());
        let bias = values(geometry.channels_out);
        let operations = 2.0 * (dy.len() * geometry.patch()) as f64;
        print!("{name:28}");
        let report = |ms: f64| print!(" {ms:8.2} ({:5.1})", operations / ms / 1e6);
        report(quickest(|| {
            convolution::forward(&geometry, &x, &weight, Some(&bias))
        }));
        report(quickest(|| {
            convolution::input_gradient(&geometry, &weight, &dy, None)
        }));
        report(quickest(|| {
            convolution::weight_gradient(&geometry, &x, &dy)
        }));
        // A gigabyte of gradients measures the machine's memory, not the kernel.
        if geometry.batch * geometry.weights() < 1 << 26 {
            report(quickest(|| {
                convolution::per_sample_weight_gradients(&geometry, &x, &dy, 1)
            }));
        } else {
            print!("{:17}", "");
        }
        report(quickest(|| {
            convolution::per_sample_norms(&geometry, &x, &dy, 1)
        }));
        report(quickest(|| convolution::gram_norms(&geometry, &x, &dy)));
        println!();
    }
}

fn poolings(wanted: &str) {
    println!("{:28} {:>10} {:>10}", "ms", "max", "backward");
    for (name, planes, size, kernel, stride) in [
        ("pool 2 s1 256x16x14x14", 256 * 16, 14, 2, 1),
        ("pool 2 s1 256x32x5x5", 256 * 32, 5, 2, 1),
        ("pool 2 s2 128x16x28x28", 128 * 16, 28, 2, 2),
        ("pool 4 s4 64x512x4x4", 64 * 512, 4, 4, 4),
    ] {
        if !name.contains(wanted) {
            continue;
        }
        let output = (size - kernel) / stride + 1;
        let window = Window {
            planes,
            input: [size; 2],
            output: [output; 2],
            kernel: [kernel; 2],
            stride: [stride; 2],
            padding: [(0, 0); 2],
            dilation: [1; 2],
        };
        let x = values(planes * size * size);
        let dy = values(planes * output * output);
        let winners = pooling::maximum_forward(&window, &x).winners;
        println!(
            "{name:28} {:10.2} {:10.2}",
            quickest(|| pooling::maximum_forward(&window, &x)),
            quickest(|| pooling::maximum_backward(&window, &dy, &winners)),
        );
    }
}

fn main() {
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with('-'))
        .collect();
    let wanted = wanted.first().map_or("", String::as_str);
    convolutions(wanted);
    poolings(wanted);
}
