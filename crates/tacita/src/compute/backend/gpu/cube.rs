//! What the threads of one cube find out together.

#![allow(clippy::assign_op_pattern)]

use super::THREADS;
use burn::cubecl::{self, prelude::*};

/// Σ of one value of each thread, known to all.
#[cube]
pub(super) fn sum_in_cube<F: Float>(value: F) -> F {
    let mut shared = Shared::<[F]>::new_slice(comptime!(THREADS as usize));
    shared[UNIT_POS as usize] = value;
    sync_cube();
    let mut half = comptime!(THREADS / 2).runtime();
    while half > 0 {
        if UNIT_POS < half {
            let other = shared[(UNIT_POS + half) as usize];
            shared[UNIT_POS as usize] = shared[UNIT_POS as usize] + other;
        }
        sync_cube();
        half = half / 2;
    }
    shared[0]
}

/// The largest value of all threads, known to all.
#[cube]
pub(super) fn largest_in_cube(value: f32) -> f32 {
    let mut shared = Shared::<[f32]>::new_slice(comptime!(THREADS as usize));
    shared[UNIT_POS as usize] = value;
    sync_cube();
    let mut half = comptime!(THREADS / 2).runtime();
    while half > 0 {
        if UNIT_POS < half {
            let other = shared[(UNIT_POS + half) as usize];
            shared[UNIT_POS as usize] = f32::max(shared[UNIT_POS as usize], other);
        }
        sync_cube();
        half = half / 2;
    }
    shared[0]
}
