//! Sums of records on a grid, as integers.

use super::Grid;
use std::ops::Range;

/// Records whose steps fit 32 bits together: 1,023 · 2²¹ < 2³¹.
const SHORT_RECORDS: usize = (i32::MAX / Grid::MOST_STEPS) as usize;

/// Beyond this many steps an integer is no longer exact in f64. A sum of 2³² records of full length
/// reaches it; what lies beyond is cut off, which brings two sums closer together, never apart.
const EXACT_IN_F64: i64 = 1 << 53;

/// A sum over records, each rounded to the grid first. Exact: it does not depend on the order of the
/// records, on how they were cut into passes, or on the number of threads.
#[derive(Debug, Clone, PartialEq)]
pub struct Sum {
    grid: Grid,
    steps: Steps,
}

#[derive(Debug, Clone, PartialEq)]
enum Steps {
    /// Of so many records, modulo 2³².
    Short(Vec<u32>, usize),
    Long(Vec<i64>),
}

impl Sum {
    /// Records whose steps fit 32 bits together.
    pub const MOST_SHORT_RECORDS: usize = SHORT_RECORDS;

    /// The sum of no records.
    pub fn zeros(grid: Grid, length: usize) -> Self {
        Self {
            grid,
            steps: Steps::Short(vec![0; length], 0),
        }
    }

    /// The sum of `records` records: `add` is given a few of them at a time and adds their steps,
    /// wrapping around; the steps of a whole record must lie within ±[`Grid::MOST_STEPS`].
    pub fn of_records(
        grid: Grid,
        length: usize,
        records: usize,
        mut add: impl FnMut(Range<usize>, &mut [u32]),
    ) -> Self {
        let mut sum: Option<Self> = None;
        for first in (0..records).step_by(SHORT_RECORDS) {
            let some = first..records.min(first + SHORT_RECORDS);
            let count = some.len();
            let mut steps = vec![0; length];
            add(some, &mut steps);
            let steps = Steps::Short(steps, count);
            match &mut sum {
                Some(sum) => sum.add_steps(steps),
                None => sum = Some(Self { grid, steps }),
            }
        }
        sum.unwrap_or_else(|| Self::zeros(grid, length))
    }

    /// The steps of one pass of `records` records, which must be within ±[`Grid::MOST_STEPS`] for each of them.
    /// None if there are too many records for 32 bits.
    pub fn from_steps(grid: Grid, steps: Vec<u32>, records: usize) -> Option<Self> {
        (records <= SHORT_RECORDS).then_some(Self {
            grid,
            steps: Steps::Short(steps, records),
        })
    }

    /// The steps of any number of records, which must be within ±[`Grid::MOST_STEPS`] for each of them.
    pub fn from_long_steps(grid: Grid, steps: Vec<i64>) -> Self {
        Self {
            grid,
            steps: Steps::Long(steps),
        }
    }

    /// Adds the sum over other records.
    ///
    /// # Panics
    /// If it lies on another grid or has another length.
    pub fn add(&mut self, other: Self) {
        assert_eq!(self.grid, other.grid, "grids of two sums");
        self.add_steps(other.steps);
    }

    fn add_steps(&mut self, other: Steps) {
        let mine = std::mem::replace(&mut self.steps, Steps::Long(Vec::new()));
        self.steps = match (mine, other) {
            (Steps::Short(mine, 0), other) if mine.len() == other.len() => other,
            (Steps::Short(mut mine, a), Steps::Short(other, b)) if a + b <= SHORT_RECORDS => {
                assert_eq!(mine.len(), other.len(), "lengths of two sums");
                for (sum, step) in mine.iter_mut().zip(other) {
                    *sum = sum.wrapping_add(step);
                }
                Steps::Short(mine, a + b)
            }
            (mine, other) => {
                let (mut mine, other) = (mine.into_long(), other.into_long());
                assert_eq!(mine.len(), other.len(), "lengths of two sums");
                for (sum, step) in mine.iter_mut().zip(other) {
                    *sum = sum.saturating_add(step);
                }
                Steps::Long(mine)
            }
        };
    }

    /// The grid it lies on.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// How many coordinates it has.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether it has no coordinate.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One coordinate, exactly.
    pub fn value(&self, index: usize) -> f64 {
        match &self.steps {
            Steps::Short(steps, _) => self.grid.value(steps[index]),
            Steps::Long(steps) => long_value(self.grid, steps[index]),
        }
    }

    /// Writes the coordinates from `first` on.
    #[inline(always)]
    pub fn read(&self, first: usize, into: &mut [f64]) {
        match &self.steps {
            Steps::Short(steps, _) => {
                for (into, &steps) in into.iter_mut().zip(&steps[first..]) {
                    *into = self.grid.value(steps);
                }
            }
            Steps::Long(steps) => {
                for (into, &steps) in into.iter_mut().zip(&steps[first..]) {
                    *into = long_value(self.grid, steps);
                }
            }
        }
    }

    /// The steps of each coordinate, whose value is [`Grid::value`], in the memory in which they were added;
    /// the sum itself if 32 bits are too few for them.
    pub fn into_short_steps(self) -> Result<Vec<u32>, Self> {
        match self.steps {
            Steps::Short(steps, _) => Ok(steps),
            steps => Err(Self { steps, ..self }),
        }
    }

    /// The steps of each coordinate, to be added to those of sums that lie elsewhere.
    pub fn into_long_steps(self) -> Vec<i64> {
        self.steps.into_long()
    }

    /// The coordinates of parts that lie side by side in the rows of a matrix of `depth` rows, one sum
    /// for each of the `widths`.
    ///
    /// # Panics
    /// If the widths do not fill the rows.
    pub fn split(&self, depth: usize, widths: &[usize]) -> Vec<Self> {
        let row: usize = widths.iter().sum();
        assert_eq!(row * depth, self.len(), "{depth} rows of {row}");
        let mut first = 0;
        let mut part = |width: usize| {
            let columns = first..first + width;
            first += width;
            Self {
                grid: self.grid,
                steps: match &self.steps {
                    Steps::Short(steps, count) => Steps::Short(cut(steps, row, columns), *count),
                    Steps::Long(steps) => Steps::Long(cut(steps, row, columns)),
                },
            }
        };
        widths.iter().map(|&width| part(width)).collect()
    }
}

/// The value of a number of steps, cut off where f64 is no longer exact.
#[inline(always)]
fn long_value(grid: Grid, steps: i64) -> f64 {
    steps.clamp(-EXACT_IN_F64, EXACT_IN_F64) as f64 * grid.spacing()
}

fn cut<T: Copy>(values: &[T], row: usize, columns: Range<usize>) -> Vec<T> {
    values
        .chunks_exact(row.max(1))
        .flat_map(|row| row[columns.clone()].iter().copied())
        .collect()
}

impl Steps {
    fn len(&self) -> usize {
        match self {
            Self::Short(steps, _) => steps.len(),
            Self::Long(steps) => steps.len(),
        }
    }

    fn into_long(self) -> Vec<i64> {
        match self {
            Self::Short(steps, _) => steps
                .into_iter()
                .map(|steps| i64::from(steps as i32))
                .collect(),
            Self::Long(steps) => steps,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn full(records: usize, steps: i32) -> Sum {
        let grid = Grid::for_bound(1.0).unwrap();
        Sum::of_records(grid, 2, records, |some, sum| {
            for _ in some {
                sum.iter_mut()
                    .for_each(|sum| *sum = sum.wrapping_add(steps as u32));
            }
        })
    }

    #[test]
    fn many_full_records_do_not_overflow() {
        for records in [1, 1_023, 1_024, 5_000] {
            for steps in [Grid::MOST_STEPS, -Grid::MOST_STEPS] {
                let exact = records as f64 * f64::from(steps) / f64::from(Grid::MOST_STEPS);
                assert_eq!(full(records, steps).value(1), exact);
            }
        }
    }

    #[test]
    fn a_sum_does_not_depend_on_how_it_is_cut() {
        let mut whole = full(600, 2_000_000);
        whole.add(full(600, 2_000_000));
        whole.add(full(0, 1));
        let read = |sum: &Sum| {
            let mut values = [0.0; 2];
            sum.read(0, &mut values);
            values
        };
        assert_eq!(read(&whole), read(&full(1_200, 2_000_000)));
        let mut long = Sum::zeros(whole.grid(), 2);
        long.add(Sum::from_long_steps(
            whole.grid(),
            vec![1_199 * 2_000_000; 2],
        ));
        long.add(full(1, 2_000_000));
        assert_eq!(read(&whole), read(&long));
    }

    #[test]
    fn parts_side_by_side_are_taken_apart() {
        let grid = Grid::for_bound(1.0).unwrap();
        let sum = Sum::from_steps(grid, (0..10).collect(), 1).unwrap();
        let parts = sum.split(2, &[2, 3]);
        assert_eq!(
            parts[0],
            Sum::from_steps(grid, vec![0, 1, 5, 6], 1).unwrap()
        );
        assert_eq!(parts[1].len(), 6);
    }
}
