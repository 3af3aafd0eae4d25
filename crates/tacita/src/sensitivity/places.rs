//! Whether a record has the same bits wherever it stands in a pass and whoever stands beside it: asked of the
//! device itself, on synthetic records, in passes of the size that all passes of the run have.

use crate::compute::backend::{Precision, in_precision};
use crate::mechanism::masks::Masks;
use crate::sensitivity::gradient::{Grid, PerSampleGradients, Performance, Samples, Sum, Weights};
use crate::sensitivity::grouping::Groups;
use crate::sensitivity::parameters::CoverageError;
use crate::sensitivity::pass::{self, Pass, PassError};
use crate::sensitivity::records::{PrivateModel, Records};
use burn::tensor::{Device, Int, Tensor, TensorData};

/// Synthetic records that are looked at. Odd, so that each comes to stand at every place of a tile, whose sizes
/// are powers of two.
const LOOKED_AT: usize = 3;

/// The seeds of other records begin here.
const OTHERS: usize = 1000;

/// Values that are compared at a time.
const COMPARED: usize = 1 << 26;

/// The synthetic records of a sample of several have seeds that are so far apart.
const RECORDS_APART: u64 = 1 << 32;

/// How the passes of a run are made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Made {
    pub samples: usize,
    /// Records of each sample.
    pub records: usize,
    pub performance: Performance,
    pub precision: Precision,
}

/// Refuses a model if the loss, an output gradient, the norm or the contribution of a sample has other bits at
/// another place of a pass, or among other samples.
pub(crate) fn check_places<D: Records, M: PrivateModel<D::Batch>>(
    model: &M,
    records: &D,
    groups: &Groups,
    made: Made,
) -> Result<(), PassError> {
    let device = model.devices().into_iter().next().unwrap_or_default();
    let device = device.without_autodiff();
    let look = |seeds: &[u64], grid: Option<Grid>| {
        let of_records: Vec<u64> = (seeds.iter())
            .flat_map(|seed| (0..made.records as u64).map(move |nth| seed + nth * RECORDS_APART))
            .collect();
        let losses = |model: &M| {
            let batch = records.synthetic(&of_records, &device);
            in_precision(made.precision, || {
                Masks::public(&of_records).during(|| model.losses(batch))
            })
        };
        let samples = Samples {
            records: made.records,
            ..Samples::alone(made.samples)
        };
        let pass = pass::run(model, groups, samples, made.performance, losses)?;
        Ok::<_, PassError>(Seen::of(
            pass,
            &Places::of(seeds),
            groups.shares().len(),
            grid,
        )?)
    };
    let [by_turns, among_others] = arrangements(made.samples);
    let first = look(&by_turns, None)?;
    let second = look(&among_others, Some(first.grid))?;
    for (first, second) in first.bits.iter().zip(&second.bits) {
        for (first, second) in first.iter().zip(second) {
            same(first.1 == second.1, first.0)?;
        }
    }
    Ok(())
}

/// Who stands where, by seeds: those who are looked at all over a pass; then each among others, in another
/// order.
fn arrangements(rows: usize) -> [Vec<u64>; 2] {
    let looked_at = LOOKED_AT.min(rows.max(1));
    let by_turns = |place: usize| place % looked_at;
    let among_others = |place: usize| match place % 2 {
        0 => looked_at - 1 - place / 2 % looked_at,
        _ => OTHERS + place,
    };
    [
        (0..rows).map(|place| by_turns(place) as u64).collect(),
        (0..rows).map(|place| among_others(place) as u64).collect(),
    ]
}

fn same(same: bool, what: &'static str) -> Result<(), CoverageError> {
    match same {
        true => Ok(()),
        false => Err(CoverageError::DependsOnPlace { what }),
    }
}

/// The places of each record that is looked at; none if a pass is too small for it.
struct Places {
    rows: usize,
    of_each: [Vec<usize>; LOOKED_AT],
}

impl Places {
    fn of(seeds: &[u64]) -> Self {
        let of = |one: usize| {
            let places = seeds.iter().enumerate();
            let places = places.filter(|(_, seed)| **seed == one as u64);
            places.map(|(place, _)| place).collect()
        };
        Self {
            rows: seeds.len(),
            of_each: std::array::from_fn(of),
        }
    }

    /// Every place of the records that are looked at, and for each of them the first place of its record.
    fn pairs(&self) -> Vec<(usize, usize)> {
        let each = self.of_each.iter();
        each.flat_map(|places| places.iter().map(|place| (*place, places[0])))
            .collect()
    }

    /// The first place of each record that is looked at.
    fn firsts(&self, device: &Device) -> Tensor<1, Int> {
        let firsts = self.of_each.iter().filter_map(|places| places.first());
        let firsts: Vec<i64> = firsts.map(|place| *place as i64).collect();
        Tensor::from_data(firsts.as_slice(), device)
    }

    /// Factors of 1 at some places and of 0 elsewhere.
    fn factors(&self, some: &[usize], groups: usize, device: &Device) -> Tensor<2> {
        let mut factors = vec![0f32; self.rows * groups];
        for place in some {
            factors[place * groups..(place + 1) * groups].fill(1.0);
        }
        Tensor::from_data(TensorData::new(factors, [self.rows, groups]), device)
    }
}

/// For each record that is looked at, what a pass computed of it, by name and in bits.
struct Seen {
    bits: [Vec<(&'static str, Vec<u64>)>; LOOKED_AT],
    /// On which contributions were compared.
    grid: Grid,
}

impl Seen {
    /// Refuses a pass in which a record is not everywhere what it is at its first place.
    fn of(
        pass: Pass,
        places: &Places,
        groups: usize,
        grid: Option<Grid>,
    ) -> Result<Self, CoverageError> {
        let Pass {
            mut gradients,
            losses,
            ..
        } = pass;
        let norms = gradients.norms();
        // The bound of those that are looked at; others have the factor 0.
        let longest = norms
            .upper()
            .select(0, places.firsts(&norms.upper().device()));
        let longest = || Grid::for_bound(longest.max().into_scalar::<f64>());
        let grid = grid.or_else(longest).unwrap_or(Grid::UNIT);
        let mut seen = Self {
            bits: std::array::from_fn(|_| Vec::new()),
            grid,
        };
        let records = losses.dims()[0] / places.rows.max(1);
        let losses = losses.reshape([places.rows, records]);
        seen.look_at("loss", &losses, places)?;
        seen.look_at("norm", &norms.values(), places)?;
        seen.look_at("bound of the norm", &norms.upper(), places)?;
        for tensor in gradients.tensors() {
            seen.look_at("gradient", &tensor, places)?;
        }
        seen.add_up(gradients, places, &vec![grid; groups])?;
        Ok(seen)
    }

    /// Compares the rows of a tensor.
    fn look_at(
        &mut self,
        what: &'static str,
        tensor: &Tensor<2>,
        places: &Places,
    ) -> Result<(), CoverageError> {
        let select = |places: &[usize]| {
            let places: Vec<i64> = places.iter().map(|place| *place as i64).collect();
            let places: Tensor<1, Int> = Tensor::from_data(places.as_slice(), &tensor.device());
            tensor.clone().select(0, places)
        };
        let at_a_time = (COMPARED / tensor.dims()[1].max(1)).max(1);
        for pairs in places.pairs().chunks(at_a_time) {
            let (there, first): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
            let (there, first) = (select(&there), select(&first));
            // Comparisons with NaN do not hold.
            let neither = there.clone().is_nan().bool_and(first.clone().is_nan());
            let alike = there.equal(first).bool_or(neither).all();
            same(alike.into_data().iter::<bool>().all(|alike| alike), what)?;
        }
        for (seen, places) in self.bits.iter_mut().zip(&places.of_each) {
            if let Some(first) = places.first() {
                let row = select(&[*first]).into_data();
                let bits = row.iter::<f32>().map(|value| u64::from(value.to_bits()));
                seen.push((what, bits.collect()));
            }
        }
        Ok(())
    }

    /// Compares what each record contributes at its first place with what it contributes at all of them.
    fn add_up(
        &mut self,
        gradients: PerSampleGradients,
        places: &Places,
        grids: &[Grid],
    ) -> Result<(), CoverageError> {
        let device = gradients.device().clone();
        let query = |some: &[usize]| Weights {
            factors: places.factors(some, grids.len(), &device),
            grids: grids.to_vec(),
        };
        let everywhere = places.of_each.concat();
        let mut queries = vec![query(&everywhere)];
        let firsts = places.of_each.iter();
        queries.extend(firsts.map(|places| query(&places[..places.len().min(1)])));
        let mut sums = gradients.weighted_sums(&queries).into_iter();
        let sums = sums.by_ref().map(|sums| {
            let values = |sum: Option<Sum>| sum.map_or_else(Vec::new, |sum| all_values(&sum));
            sums.into_iter().flat_map(values).collect::<Vec<f64>>()
        });
        let mut sums = sums.collect::<Vec<_>>().into_iter();
        let everywhere = sums.next().unwrap_or_default();
        let each: Vec<Vec<f64>> = sums.collect();
        let what = "contribution to the sum";
        for (index, sum) in everywhere.iter().enumerate() {
            let terms = each.iter().zip(&places.of_each);
            // Multiples of the grid and few enough: exact in f64.
            let terms = terms.map(|(one, places)| one[index] * places.len() as f64);
            same(*sum == terms.sum::<f64>(), what)?;
        }
        for ((seen, places), one) in self.bits.iter_mut().zip(&places.of_each).zip(each) {
            if !places.is_empty() {
                seen.push((what, one.iter().map(|value| value.to_bits()).collect()));
            }
        }
        Ok(())
    }
}

fn all_values(sum: &Sum) -> Vec<f64> {
    let mut values = vec![0.0; sum.len()];
    sum.read(0, &mut values);
    values
}
