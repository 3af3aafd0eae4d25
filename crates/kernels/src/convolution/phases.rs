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
    lines: Vec<Option<usize>>,
    runs: Vec<Run>,
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
            lines: lines(geometry, height, width),
            runs: runs(geometry, height, width),
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
        let channel = g.stride[0] * g.stride[1] * self.height * self.width;
        let channels = x.chunks_exact(g.input[0] * g.input[1]);
        for (x, image) in channels.zip(image.chunks_exact_mut(channel)) {
            if self.is_plain() {
                image.copy_from_slice(&x[..channel]);
                continue;
            }
            for (line, &start) in x.chunks_exact(g.input[1]).zip(&self.lines) {
                let Some(start) = start else { continue };
                for run in &self.runs {
                    let into = &mut image[start + run.into..][..run.length];
                    let from = &line[run.from..];
                    match g.stride[1] {
                        1 => into.copy_from_slice(&from[..run.length]),
                        2 => take_every::<2>(into, from),
                        stride => {
                            for (into, &value) in into.iter_mut().zip(from.iter().step_by(stride)) {
                                *into = value;
                            }
                        }
                    }
                }
            }
        }
    }

    /// Whether a channel's plane is the channel itself, perhaps less its last lines.
    fn is_plain(&self) -> bool {
        let g = &self.geometry;
        g.stride == [1, 1]
            && g.padding[0].0 == 0
            && g.padding[1].0 == 0
            && self.width == g.input[1]
            && self.height <= g.input[0]
    }
}

/// `into[i] = from[i · STRIDE]`.
#[inline(always)]
fn take_every<const STRIDE: usize>(into: &mut [f32], from: &[f32]) {
    for (into, from) in into.iter_mut().zip(from.chunks(STRIDE)) {
        *into = from[0];
    }
}

/// The values of a line that belong to one phase.
#[derive(Debug)]
struct Run {
    from: usize,
    into: usize,
    length: usize,
}

/// Where each line of a channel begins, if it is read at all.
fn lines(g: &Geometry, height: usize, width: usize) -> Vec<Option<usize>> {
    let start = |line: usize| {
        let padded = line + g.padding[0].0;
        let (place, phase) = (padded / g.stride[0], padded % g.stride[0]);
        (place < height).then(|| (phase * g.stride[1] * height + place) * width)
    };
    (0..g.input[0]).map(start).collect()
}

/// Where the values of a line go, phase by phase.
fn runs(g: &Geometry, height: usize, width: usize) -> Vec<Run> {
    let (stride, before) = (g.stride[1], g.padding[1].0);
    let run = |phase: usize| {
        let from = (phase + stride - before % stride) % stride;
        let place = (from + before) / stride;
        Run {
            from,
            into: phase * height * width + place,
            length: g.input[1]
                .saturating_sub(from)
                .div_ceil(stride)
                .min(width.saturating_sub(place)),
        }
    };
    (0..stride).map(run).filter(|run| run.length > 0).collect()
}
