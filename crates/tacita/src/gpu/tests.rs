//! The card against the CPU. Without a card these tests say so and pass.

use super::noise::{Draw, add_normals};
use super::rows::CardRows;
use crate::keys::Keys;
use crate::noise::{NoiseHardening, NoiseStream};
use burn::tensor::{Device, Int, Tensor, TensorData};

fn card() -> Option<Device> {
    let present = std::path::Path::new("/proc/driver/nvidia/version").exists();
    if !present {
        eprintln!("skipped: this machine has no NVIDIA card");
    }
    present.then(|| Device::cuda(0))
}

fn values(tensor: Tensor<1>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

/// Noise on the values 0, 1, 2, … in one tensor after another.
fn noisy(device: &Device, hardening: NoiseHardening, lengths: &[usize]) -> Vec<Vec<f32>> {
    let mut stream = NoiseStream::new(&Keys::fixed_seed(5), 3, 1, hardening);
    let mut add = |(tensor, length): (usize, &usize)| {
        let start: Vec<f32> = (0..*length).map(|index| index as f32 / 64.0).collect();
        let start = Tensor::from_data(TensorData::new(start, [*length]), device);
        values(
            stream
                .add_normals_to_tensor(tensor as u32, 0.7, start, 0.125)
                .unwrap(),
        )
    };
    lengths.iter().enumerate().map(&mut add).collect()
}

#[test]
fn the_card_draws_the_noise_of_the_cpu() {
    let Some(card) = card() else { return };
    for hardening in [NoiseHardening::Grid, NoiseHardening::GridAndSumOfFour] {
        let lengths = [1, 63, 512, 513, 100_003];
        let (ours, cpus) = (
            noisy(&card, hardening, &lengths),
            noisy(&Device::flex(), hardening, &lengths),
        );
        for (ours, cpus) in ours.iter().flatten().zip(cpus.iter().flatten()) {
            // Both lie on the same grid, so they are equal but where a last rounding tips the scale:
            // then they are one spacing apart. At about 1e5 values of 1e-13 each, none is expected.
            assert_eq!(ours, cpus);
        }
    }
}

#[test]
fn the_card_extends_rare_tails_as_the_cpu_does() {
    let Some(card) = card() else { return };
    // As in the CPU's test: this group has a number below 2^32 in row 4 of lane 15.
    let stream = crate::chacha::Subkey::derive(&Keys::fixed_seed(11).noise, [0; 4]);
    let group = 22_337_088;
    let expected = crate::noise::normals_of_group(&stream, group);
    let draw = Draw {
        subkey: stream.words(),
        tensor: 0,
        parts: 1,
        scale: 1.0,
        // So large a grid number that nothing is rounded away but the last bits of f32.
        rounder: 0.0,
        factor: 1.0,
        first_group: group as u32,
    };
    let zeros = Tensor::zeros([expected.len()], &card);
    let drawn = values(add_normals(zeros, &draw).unwrap());
    for (drawn, expected) in drawn.into_iter().zip(expected) {
        assert!(
            (f64::from(drawn) - expected).abs() <= 1e-6,
            "{drawn} {expected}"
        );
    }
}

#[test]
fn rows_on_the_card_are_those_of_the_host() {
    let Some(card) = card() else { return };
    let (batch, positions, width, table) = (5, 7, 33, 4);
    let rows: Vec<i64> = (0..batch * positions)
        .map(|i| (i * i % table) as i64)
        .collect();
    let right: Vec<f32> = (0..batch * positions * width)
        .map(|i| ((i * 37 % 101) as f32 - 50.0) / 50.0)
        .collect();
    let factors: Vec<f32> = (0..batch).map(|i| 0.5 + i as f32).collect();
    let card_rows = CardRows::new(
        &Tensor::<2, Int>::from_data(TensorData::new(rows.clone(), [batch, positions]), &card),
        &Tensor::<3>::from_data(
            TensorData::new(right.clone(), [batch, positions, width]),
            &card,
        ),
    )
    .unwrap();
    let mut gradients = vec![0f64; batch * table * width];
    for (place, row) in rows.iter().enumerate() {
        let sample = place / positions;
        for column in 0..width {
            gradients[(sample * table + *row as usize) * width + column] +=
                f64::from(right[place * width + column]);
        }
    }
    let squares = values(card_rows.squares().sum_dim(1).reshape([batch]));
    let sums = values(card_rows.weighted_sum(
        Tensor::from_data(TensorData::new(factors.clone(), [batch]), &card),
        table,
    ));
    for (sample, square) in squares.into_iter().enumerate() {
        let gradient = &gradients[sample * table * width..(sample + 1) * table * width];
        let expected: f64 = gradient.iter().map(|g| g * g).sum();
        assert!((f64::from(square) / expected - 1.0).abs() < 1e-5);
    }
    for (entry, sum) in sums.into_iter().enumerate() {
        let expected: f64 = (0..batch)
            .map(|sample| f64::from(factors[sample]) * gradients[sample * table * width + entry])
            .sum();
        assert!((f64::from(sum) - expected).abs() < 1e-4, "{sum} {expected}");
    }
}
