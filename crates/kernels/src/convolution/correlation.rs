//! One sample's weight gradient, transposed, from shifts of its padded image.
//!
//! The gradient at `(m, k)` is the sum over positions of the output gradient of channel `m` times the
//! image shifted by `k`. With channels along the vectors nothing is laid out and nothing is summed across
//! a vector; only the small output gradient is transposed.

use super::Geometry;
use super::phases::Phases;
use super::tile::{Correlation, LANES, Write};
use crate::exact::Grid;
use pulp::Arch;

/// Channels per group from which vectors of channels are worth filling.
const CHANNELS: usize = 8;

/// The scratch of one worker.
pub(super) struct Correlator {
    geometry: Geometry,
    phases: Phases,
    image: Vec<f32>,
    output: Vec<f32>,
    channels: usize,
    pitch: usize,
}

impl Correlator {
    pub fn suits(geometry: &Geometry) -> bool {
        geometry.channels_out / geometry.groups >= CHANNELS
    }

    pub fn new(geometry: &Geometry) -> Self {
        let phases = Phases::new(geometry);
        let channels = geometry.channels_out / geometry.groups;
        let pitch = channels.next_multiple_of(LANES);
        Self {
            geometry: *geometry,
            image: phases.image(),
            output: vec![0.0; geometry.groups * geometry.positions() * pitch],
            phases,
            channels,
            pitch,
        }
    }

    /// Values of a transposed gradient, `[groups, patch, padded channels]`.
    pub fn transposed(&self) -> usize {
        self.geometry.groups * self.geometry.patch() * self.pitch
    }

    /// Makes `sample` the current one, its output gradient times `factor`.
    pub fn load(&mut self, x: &[f32], output_gradient: &[f32], sample: usize, factor: f32) {
        let (size_in, size_out) = (self.geometry.sample_in(), self.geometry.sample_out());
        let positions = self.geometry.positions();
        self.phases
            .fill(&x[sample * size_in..][..size_in], &mut self.image);
        let dy = &output_gradient[sample * size_out..][..size_out];
        let dy = dy.chunks_exact(self.channels * positions);
        for (dy, output) in dy.zip(self.output.chunks_exact_mut(positions * self.pitch)) {
            transpose(
                dy,
                [self.channels, positions],
                positions,
                output,
                self.pitch,
                factor,
            );
        }
    }

    /// The current sample's transposed gradient, written over `into`.
    pub fn gradient(&self, into: &mut [f32]) {
        for (group, into) in into.chunks_exact_mut(self.group_size()).enumerate() {
            self.rows(group, 0..self.geometry.patch(), Write::Replace(into));
        }
    }

    /// Adds the current sample's transposed gradient.
    pub fn add_gradient(&self, into: &mut [f32]) {
        for (group, into) in into.chunks_exact_mut(self.group_size()).enumerate() {
            self.rows(group, 0..self.geometry.patch(), Write::Add(into));
        }
    }

    /// The transposed gradient of a sample, the sum over some images, each output gradient times `factor`;
    /// written over `into`.
    pub fn gradient_of(
        &mut self,
        x: &[f32],
        output_gradient: &[f32],
        images: std::ops::Range<usize>,
        factor: f32,
        into: &mut [f32],
    ) {
        let first = images.start;
        for image in images {
            self.load(x, output_gradient, image, factor);
            match image == first {
                true => self.gradient(into),
                false => self.add_gradient(into),
            }
        }
    }

    /// Adds the steps of the current sample's transposed gradient.
    pub fn add_steps(&self, into: &mut [u32], grid: Grid) {
        for (group, into) in into.chunks_exact_mut(self.group_size()).enumerate() {
            self.rows(group, 0..self.geometry.patch(), Write::Steps(into, grid));
        }
    }

    fn group_size(&self) -> usize {
        self.geometry.patch() * self.pitch
    }

    /// Calls `visit` with a few rows at a time of the current sample's transposed gradient, whose
    /// padding is zero (or, as its neighbours, not a number).
    pub fn for_each_part(&self, mut visit: impl FnMut(&[f32])) {
        let mut part = vec![0.0; 8 * self.pitch];
        let patch = self.geometry.patch();
        for group in 0..self.geometry.groups {
            for first in (0..patch).step_by(8) {
                let end = patch.min(first + 8);
                let part = &mut part[..(end - first) * self.pitch];
                self.rows(group, first..end, Write::Replace(part));
                visit(part);
            }
        }
    }

    fn rows(&self, group: usize, rows: std::ops::Range<usize>, into: Write<'_>) {
        let right = self.geometry.positions() * self.pitch;
        Arch::new().dispatch(Correlation {
            image: &self.image[group * self.phases.group..],
            offsets: &self.phases.offsets[rows],
            lines: self.geometry.output[0],
            places: self.geometry.output[1],
            line_pitch: self.phases.width,
            right: &self.output[group * right..][..right],
            pitch: self.pitch,
            into,
        });
    }

    /// A transposed gradient in the weight's own shape.
    pub fn upright(&self, transposed: &[f32], weight: &mut [f32]) {
        let patch = self.geometry.patch();
        let groups = transposed.chunks_exact(patch * self.pitch);
        for (from, into) in groups.zip(weight.chunks_exact_mut(self.channels * patch)) {
            transpose(from, [patch, self.channels], self.pitch, into, patch, 1.0);
        }
    }

    /// Adds transposed steps in the weight's own shape.
    pub fn add_upright(&self, transposed: &[u32], weight: &mut [u32]) {
        let patch = self.geometry.patch();
        let groups = transposed.chunks_exact(self.group_size());
        for (from, into) in groups.zip(weight.chunks_exact_mut(self.channels * patch)) {
            for (channel, into) in into.chunks_exact_mut(patch).enumerate() {
                for (into, from) in into.iter_mut().zip(from.chunks_exact(self.pitch)) {
                    *into = into.wrapping_add(from[channel]);
                }
            }
        }
    }
}

/// `into[column][row] = factor · from[row][column]`, sixteen rows at a time.
fn transpose(
    from: &[f32],
    [rows, columns]: [usize; 2],
    from_pitch: usize,
    into: &mut [f32],
    into_pitch: usize,
    factor: f32,
) {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            let mut first = 0;
            while first + LANES <= rows {
                let lines: [&[f32]; LANES] =
                    std::array::from_fn(|row| &from[(first + row) * from_pitch..][..columns]);
                for (column, into) in into.chunks_mut(into_pitch).enumerate().take(columns) {
                    let into = &mut into[first..first + LANES];
                    for row in 0..LANES {
                        into[row] = factor * lines[row][column];
                    }
                }
                first += LANES;
            }
            for row in first..rows {
                let line = &from[row * from_pitch..][..columns];
                for (into, &value) in into.chunks_mut(into_pitch).zip(line) {
                    into[row] = factor * value;
                }
            }
        },
    );
}
