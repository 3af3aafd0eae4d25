//! Windows of the input laid out as columns of a matrix, and back.

use super::Geometry;
use pulp::Arch;

/// Writes one sample's windows into a matrix whose rows begin `row_stride` values apart.
pub(super) fn gather(geometry: &Geometry, x: &[f32], columns: &mut [f32], row_stride: usize) {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for_each_row(geometry, row_stride, |plane, row, down, along| {
                let image = &x[plane..][..geometry.input[0] * geometry.input[1]];
                let (height, width) = (geometry.output[0], geometry.output[1]);
                let row = &mut columns[row..][..height * width];
                row[..down.first * width].fill(0.0);
                row[down.end * width..].fill(0.0);
                let inside = &mut row[down.first * width..down.end * width];
                let mut from = down.start * geometry.input[1] + along.start;
                for line in inside.chunks_exact_mut(width) {
                    for value in &mut line[..along.first] {
                        *value = 0.0;
                    }
                    for value in &mut line[along.end..] {
                        *value = 0.0;
                    }
                    let line = &mut line[along.first..along.end];
                    if !line.is_empty() {
                        read_line(line, &image[from..], geometry.stride[1]);
                    }
                    from += geometry.stride[0] * geometry.input[1];
                }
            });
        },
    );
}

/// Adds each window of a matrix (rows `row_stride` apart) to where it came from.
pub(super) fn scatter(geometry: &Geometry, columns: &[f32], row_stride: usize, x: &mut [f32]) {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for_each_row(geometry, row_stride, |plane, row, down, along| {
                let image = &mut x[plane..][..geometry.input[0] * geometry.input[1]];
                let (height, width) = (geometry.output[0], geometry.output[1]);
                let row = &columns[row..][..height * width];
                if along.first == along.end {
                    return;
                }
                let mut to = down.start * geometry.input[1] + along.start;
                for line in row[down.first * width..down.end * width].chunks_exact(width) {
                    let line = &line[along.first..along.end];
                    add_line(&mut image[to..], line, geometry.stride[1]);
                    to += geometry.stride[0] * geometry.input[1];
                }
            });
        },
    );
}

/// Calls `visit(plane's start, row's start, rows inside, columns inside)` for each row of the matrix.
#[inline(always)]
fn for_each_row(
    geometry: &Geometry,
    row_stride: usize,
    mut visit: impl FnMut(usize, usize, super::geometry::Span, super::geometry::Span),
) {
    let mut row = 0;
    for channel in 0..geometry.channels_in {
        let plane = channel * geometry.input[0] * geometry.input[1];
        for offset_down in 0..geometry.kernel[0] {
            let down = geometry.span(0, offset_down);
            for offset_along in 0..geometry.kernel[1] {
                visit(plane, row, down, geometry.span(1, offset_along));
                row += row_stride;
            }
        }
    }
}

/// `line[i] = from[i · stride]`.
#[inline(always)]
fn read_line(line: &mut [f32], from: &[f32], stride: usize) {
    match stride {
        1 => line.copy_from_slice(&from[..line.len()]),
        2 => {
            for (value, pair) in line.iter_mut().zip(from.chunks(2)) {
                *value = pair[0];
            }
        }
        _ => {
            for (value, &from) in line.iter_mut().zip(from.iter().step_by(stride)) {
                *value = from;
            }
        }
    }
}

/// `to[i · stride] += line[i]`.
#[inline(always)]
fn add_line(to: &mut [f32], line: &[f32], stride: usize) {
    match stride {
        1 => {
            for (to, &value) in to.iter_mut().zip(line) {
                *to += value;
            }
        }
        _ => {
            for (to, &value) in to.iter_mut().step_by(stride).zip(line) {
                *to += value;
            }
        }
    }
}
