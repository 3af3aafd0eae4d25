//! Times single operations on a CUDA GPU: where a step's time goes.
//!
//! `cargo bench --features cuda --bench gpu [products | convolutions]`

mod convolutions;
mod products;

use burn::backend::Cuda;
use burn::tensor::ops::{ConvOptions, PadMode};
use burn::tensor::{Device, Distribution, Shape, Tensor, module};
use burn_cubecl::kernel::conv::{ConvStrategy, conv_data_backward, conv_forward};
use std::time::Instant;

fn time(name: &str, device: &Device, mut run: impl FnMut()) {
    let wait = || {
        device
            .sync()
            .unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    for _ in 0..2 {
        run();
    }
    wait();
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        for _ in 0..5 {
            run();
        }
        wait();
        best = best.min(start.elapsed().as_secs_f64() / 5.0);
    }
    println!("{name:<60} {:>9.3} ms", best * 1e3);
}

fn attempt(name: &str, device: &Device, run: impl FnMut()) {
    let attempt = std::panic::AssertUnwindSafe(|| time(name, device, run));
    if std::panic::catch_unwind(attempt).is_err() {
        println!("{name:<60} refused");
    }
}

fn random<const D: usize>(shape: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::random(shape, Distribution::Uniform(-1.0, 1.0), device)
}

fn convolution(
    name: &str,
    device: &Device,
    input: [usize; 4],
    channels: usize,
    kernel: usize,
    stride: usize,
    padding: usize,
) {
    let options = ConvOptions::new([stride; 2], [padding; 2], [1, 1], 1);
    let x = random(input, device);
    let weight = random([channels, input[1], kernel, kernel], device);
    let y = module::conv2d(x.clone(), weight.clone(), None, options.clone());
    let gradient = random(y.dims(), device);
    let primitive = |tensor: &Tensor<4>| {
        (tensor.clone().try_into_primitive::<Cuda>()).unwrap_or_else(|_| panic!("not on a GPU"))
    };
    for (word, strategy) in [
        ("direct", (|| ConvStrategy::Direct) as fn() -> _),
        ("implicit", || ConvStrategy::ImplicitGemm),
    ] {
        attempt(&format!("{name} forward {word}"), device, || {
            let result = conv_forward::<2>(
                primitive(&x),
                primitive(&weight),
                None,
                options.clone(),
                strategy(),
            );
            assert!(result.is_ok());
        });
        attempt(&format!("{name} input gradient {word}"), device, || {
            let result = conv_data_backward::<2>(
                primitive(&gradient),
                primitive(&weight),
                Shape::new(input),
                options.clone(),
                strategy(),
            );
            assert!(result.is_ok());
        });
    }
    let patches = || {
        let padded = x
            .clone()
            .pad((padding, padding, padding, padding), PadMode::Constant(0.0));
        let windows: Tensor<5> = padded.unfold(2, kernel, stride);
        let windows: Tensor<6> = windows.unfold(3, kernel, stride);
        let [_, _, height, width, _, _] = windows.dims();
        windows
            .permute([0, 2, 3, 1, 4, 5])
            .reshape([input[0] * height * width, input[1] * kernel * kernel])
    };
    time(&format!("{name} patches"), device, || {
        let _ = patches();
    });
    let columns: Tensor<2> = patches();
    let matrix = weight.reshape([channels, input[1] * kernel * kernel]);
    time(&format!("{name} product of patches"), device, || {
        let _ = columns.clone().matmul(matrix.clone().transpose());
    });
    let rows = columns.dims()[0];
    let flat: Tensor<2> = random([rows, channels], device);
    time(
        &format!("{name} weight gradient of patches"),
        device,
        || {
            let _ = flat.clone().transpose().matmul(columns.clone());
        },
    );
    let batch = input[0];
    let left = flat.reshape([batch, rows / batch, channels]);
    let right = columns.reshape([batch, rows / batch, input[1] * kernel * kernel]);
    time(&format!("{name} per-sample gradients"), device, || {
        let _ = left.clone().swap_dims(1, 2).matmul(right.clone());
    });
}

fn main() {
    let device = Device::default();
    println!("{device:?}");
    match std::env::args().nth(1).as_deref() {
        Some("products") => return products::all(&device),
        Some("convolutions") => return convolutions::all(&device),
        _ => {}
    }
    let small: Tensor<1> = random([256], &device);
    time("1000 additions of 256 values", &device, || {
        let mut sum = small.clone();
        for _ in 0..1000 {
            sum = sum + small.clone();
        }
    });
    for (m, k, n) in [
        (8192, 512, 2048),
        (8192, 512, 512),
        (4096, 784, 1000),
        (512, 784, 1000),
    ] {
        let (a, b): (Tensor<2>, Tensor<2>) = (random([m, k], &device), random([k, n], &device));
        time(&format!("product {m} x {k} x {n}"), &device, || {
            let _ = a.clone().matmul(b.clone());
        });
        let c: Tensor<2> = random([m, n], &device);
        time(
            &format!("gradient product {k} x {m} x {n}"),
            &device,
            || {
                let _ = a.clone().transpose().matmul(c.clone());
            },
        );
    }
    let (a, b): (Tensor<3>, Tensor<3>) = (
        random([64, 128, 512], &device),
        random([64, 128, 2048], &device),
    );
    time(
        "per-sample gradients 64 of 512 x 2048, 128 positions",
        &device,
        || {
            let _ = a.clone().swap_dims(1, 2).matmul(b.clone());
        },
    );
    let kept: Tensor<2> = random([64, 512 * 2048], &device);
    let factors: Tensor<2> = random([1, 64], &device);
    time("weighted row sum 64 x 1M by product", &device, || {
        let _ = factors.clone().matmul(kept.clone());
    });
    time("weighted row sum 64 x 1M by sum", &device, || {
        let _ = (kept.clone() * factors.clone().transpose()).sum_dim(0);
    });
    time("squares of 64 x 1M", &device, || {
        let squares = kept.clone() * kept.clone();
        let _ = squares.reshape([64, 1024, 1024]).sum_dim(2).sum_dim(1);
    });
    for (name, input, channels, kernel, stride, padding) in [
        (
            "conv 1->16 8x8/2 28x28 b1024",
            [1024, 1, 28, 28],
            16,
            8,
            2,
            2,
        ),
        (
            "conv 16->32 4x4/2 13x13 b1024",
            [1024, 16, 13, 13],
            32,
            4,
            2,
            0,
        ),
        (
            "conv 64->128 3x3 32x32 b256",
            [256, 64, 32, 32],
            128,
            3,
            1,
            1,
        ),
        ("conv 256->512 3x3 8x8 b256", [256, 256, 8, 8], 512, 3, 1, 1),
    ] {
        convolution(name, &device, input, channels, kernel, stride, padding);
    }
}
