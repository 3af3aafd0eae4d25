//! A padded image split by stride, so that every offset of the kernel is a shift of it.
//!
//! With stride `s`, output `o` reads input `o·s + k·d − before` at kernel offset `k`. Write `k·d` as
//! `e·s + a`: that is place `o + e` among the inputs of phase `a` (those with `(i + before) mod s = a`).
//! So if each phase is a contiguous plane, one kernel offset reads a contiguous run for all outputs.

use super::Geometry;
use super::tile::LANES;

/// The layout `[channels, phases down, phases along, height, width]` of one sample.
#[derive(Debug)]
pub(crate) struct Phases {
    height: usize,
    /// Values between two lines of a plane.
    pub width: usize,
    /// One group's patch: where each of its values begins.
    pub offsets: Vec<usize>,
    /// Values of one group.
    pub group: usize,
    geometry: Geometry,
}

impl Phases {
    pub fn new(geometry: &Geometry) -> Self {
        let furthest = |axis: usize| {
            (geometry.kernel[axis] - 1) * geometry.dilation[axis] / geometry.stride[axis]
        };
        let height = geometry.output[0] + furthest(0);
        let width = geometry.output[1] + furthest(1);
        let plane = height * width;
        let channel = geometry.stride[0] * geometry.stride[1] * plane;
        let mut offsets = Vec::with_capacity(geometry.patch());
        for channel_in in 0..geometry.channels_in / geometry.groups {
            for down in 0..geometry.kernel[0] {
                for along in 0..geometry.kernel[1] {
                    let (down, along) = (down * geometry.dilation[0], along * geometry.dilation[1]);
                    let phase =
                        down % geometry.stride[0] * geometry.stride[1] + along % geometry.stride[1];
                    offsets.push(
                        channel_in * channel
                            + phase * plane
                            + down / geometry.stride[0] * width
                            + along / geometry.stride[1],
                    );
                }
            }
        }
        Self {
            height,
            width,
            offsets,
            group: geometry.channels_in / geometry.groups * channel,
            geometry: *geometry,
        }
    }

    /// From the first output to the last, as a run in a plane.
    pub fn run(&self) -> usize {
        (self.geometry.output[0] - 1) * self.width + self.geometry.output[1]
    }

    /// Room for one sample (and for vectors that read past its end), all padding.
    pub fn image(&self) -> Vec<f32> {
        vec![0.0; self.geometry.groups * self.group + LANES]
    }

    /// Writes a sample between the padding of `image`.
    pub fn fill(&self, x: &[f32], image: &mut [f32]) {
        let g = &self.geometry;
        let plane = self.height * self.width;
        let channel = g.stride[0] * g.stride[1] * plane;
        for (index, line) in x.chunks_exact(g.input[1]).enumerate() {
            let down = index % g.input[0] + g.padding[0].0;
            if down / g.stride[0] >= self.height {
                continue;
            }
            let start = index / g.input[0] * channel
                + down % g.stride[0] * g.stride[1] * plane
                + down / g.stride[0] * self.width;
            for phase in 0..g.stride[1] {
                // The first input of this phase, and its place.
                let first = (phase + g.stride[1] - g.padding[1].0 % g.stride[1]) % g.stride[1];
                let place = (first + g.padding[1].0) / g.stride[1];
                if first >= line.len() || place >= self.width {
                    continue;
                }
                let into = &mut image[start + phase * plane..][place..self.width];
                if g.stride[1] == 1 {
                    let length = into.len().min(line.len());
                    into[..length].copy_from_slice(&line[..length]);
                } else {
                    for (into, &value) in into
                        .iter_mut()
                        .zip(line[first..].iter().step_by(g.stride[1]))
                    {
                        *into = value;
                    }
                }
            }
        }
    }
}
