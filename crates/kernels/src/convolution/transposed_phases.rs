//! The input's gradient as shifts of the padded output gradient, one phase of the stride at a time.
//!
//! Input `i` is read by output `o` at kernel offset `k` where `i + before = o·s + k·d`. With
//! `i + before = r·s + a` only offsets with `k·d = e·s + a` take part, and then `o = r − e`: for the inputs
//! of one phase `a` every kernel offset is a shift of the output gradient.

use super::Geometry;
use super::tile::{LANES, Packed, Shifted};
use pulp::Arch;

/// One axis: places `first..first + count` cover the input in each phase.
#[derive(Debug, Clone, Copy)]
struct Axis {
    first: usize,
    count: usize,
    /// The largest shift `e`.
    furthest: usize,
}

impl Axis {
    fn new(geometry: &Geometry, axis: usize) -> Self {
        let (stride, before) = (geometry.stride[axis], geometry.padding[axis].0);
        let first = before / stride;
        Self {
            first,
            count: (geometry.input[axis] + before).div_ceil(stride) - first,
            furthest: (geometry.kernel[axis] - 1) * geometry.dilation[axis] / stride,
        }
    }

    fn padded(self) -> usize {
        self.count + self.furthest
    }
}

/// The inputs of one phase.
struct Phase {
    /// `(a, b)` of rows and columns.
    at: [usize; 2],
    offsets: Vec<usize>,
    /// Per group: `[channels_in, channels_out · kernel offsets of this phase]`.
    weights: Vec<Packed>,
}

/// What is computed once per call.
pub(super) struct TransposedPhases<'a> {
    geometry: &'a Geometry,
    axes: [Axis; 2],
    phases: Vec<Phase>,
}

impl<'a> TransposedPhases<'a> {
    /// Whether most of a run is input, not padding.
    pub fn suits(geometry: &Geometry) -> bool {
        let along = Axis::new(geometry, 1);
        along.furthest < along.count
    }

    pub fn new(geometry: &'a Geometry, weight: &[f32]) -> Self {
        let axes = [Axis::new(geometry, 0), Axis::new(geometry, 1)];
        let phases = (0..geometry.stride[0])
            .flat_map(|down| (0..geometry.stride[1]).map(move |along| [down, along]))
            .map(|at| phase(geometry, axes, at, weight))
            .filter(|phase| !phase.offsets.is_empty())
            .collect();
        Self {
            geometry,
            axes,
            phases,
        }
    }

    /// Adds the gradient of each sample to `dx`.
    pub fn run(&self, dy: &[f32], dx: &mut [f32]) {
        let geometry = self.geometry;
        let (height, width) = (self.axes[0].padded(), self.axes[1].padded());
        let run = (self.axes[0].count - 1) * width + self.axes[1].count;
        let pitch = run.next_multiple_of(LANES);
        let channels = geometry.channels_in / geometry.groups;
        let plane = geometry.input[0] * geometry.input[1];
        let mut image = vec![0.0; geometry.channels_out * height * width + LANES];
        let group_image = geometry.channels_out / geometry.groups * height * width;
        let mut products = vec![0.0; channels * pitch];
        let samples = dy.chunks_exact(geometry.sample_out());
        for (dy, dx) in samples.zip(dx.chunks_exact_mut(geometry.sample_in())) {
            self.fill(dy, &mut image);
            for (group, dx) in dx.chunks_exact_mut(channels * plane).enumerate() {
                for phase in &self.phases {
                    Arch::new().dispatch(Shifted {
                        left: &phase.weights[group],
                        offsets: &phase.offsets,
                        image: &image[group * group_image..],
                        into: &mut products,
                        pitch,
                    });
                    let channels = dx.chunks_exact_mut(plane);
                    for (dx, products) in channels.zip(products.chunks_exact(pitch)) {
                        self.add(phase.at, products, dx);
                    }
                }
            }
        }
    }

    /// Writes the output gradient between the padding of `image`.
    fn fill(&self, dy: &[f32], image: &mut [f32]) {
        let [down, along] = self.axes;
        let output = self.geometry.output;
        let image = image.chunks_exact_mut(down.padded() * along.padded());
        for (dy, image) in dy.chunks_exact(output[0] * output[1]).zip(image) {
            for (row, line) in dy.chunks_exact(output[1]).enumerate() {
                let Some(row) = (row + down.furthest).checked_sub(down.first) else {
                    continue;
                };
                if row >= down.padded() {
                    break;
                }
                let into = &mut image[row * along.padded()..][..along.padded()];
                let skip = along.first.saturating_sub(along.furthest).min(line.len());
                let place = along.furthest.saturating_sub(along.first);
                let length = (line.len() - skip).min(into.len() - place);
                into[place..][..length].copy_from_slice(&line[skip..][..length]);
            }
        }
    }

    /// Adds one channel's run to the inputs of its phase.
    fn add(&self, at: [usize; 2], products: &[f32], dx: &mut [f32]) {
        let geometry = self.geometry;
        let [down, along] = self.axes;
        // The first place whose input is not before the image.
        let start = |axis: Axis, index: usize| {
            let (place, before) = (
                axis.first * geometry.stride[index] + at[index],
                geometry.padding[index].0,
            );
            match place.checked_sub(before) {
                Some(input) => (0, input),
                None => (1, place + geometry.stride[index] - before),
            }
        };
        let (skip_rows, first_row) = start(down, 0);
        let (skip, first) = start(along, 1);
        let lines = dx.chunks_exact_mut(geometry.input[1]);
        let products = products.chunks(along.padded()).skip(skip_rows);
        for (dx, products) in lines
            .skip(first_row)
            .step_by(geometry.stride[0])
            .zip(products)
        {
            let Some(dx) = dx.get_mut(first..) else {
                return;
            };
            let products = &products[skip..];
            match geometry.stride[1] {
                1 => add_line::<1>(dx, products),
                2 => add_line::<2>(dx, products),
                stride => {
                    for (dx, &value) in dx.iter_mut().step_by(stride).zip(products) {
                        *dx += value;
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn add_line<const STRIDE: usize>(dx: &mut [f32], products: &[f32]) {
    for (dx, &value) in dx.chunks_mut(STRIDE).zip(products) {
        dx[0] += value;
    }
}

fn phase(geometry: &Geometry, axes: [Axis; 2], at: [usize; 2], weight: &[f32]) -> Phase {
    let taken = |axis: usize| -> Vec<usize> {
        (0..geometry.kernel[axis])
            .filter(|k| k * geometry.dilation[axis] % geometry.stride[axis] == at[axis])
            .collect()
    };
    let (rows, columns) = (taken(0), taken(1));
    let width = axes[1].padded();
    let plane = axes[0].padded() * width;
    let (channels_in, channels_out) = (
        geometry.channels_in / geometry.groups,
        geometry.channels_out / geometry.groups,
    );
    let mut offsets = Vec::new();
    let mut taps = Vec::new();
    for channel in 0..channels_out {
        for &row in &rows {
            for &column in &columns {
                let shift = |axis: usize, k: usize| {
                    axes[axis].furthest - k * geometry.dilation[axis] / geometry.stride[axis]
                };
                offsets.push(channel * plane + shift(0, row) * width + shift(1, column));
                taps.push(channel * geometry.patch() + row * geometry.kernel[1] + column);
            }
        }
    }
    let window = geometry.kernel[0] * geometry.kernel[1];
    let weights = weight
        .chunks_exact(channels_out * geometry.patch())
        .map(|weight| {
            Packed::new(channels_in, taps.len(), |channel, tap| {
                weight[taps[tap] + channel * window]
            })
        })
        .collect();
    Phase {
        at,
        offsets,
        weights,
    }
}
