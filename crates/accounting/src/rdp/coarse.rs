//! Curves of fewer rounds: for steering a search, and where all rounds are too much work.

use super::curve::{Draw, RdpCurve, Segment};

/// Distinct rounds that steer the search for the best order; all of them give the value there.
const ROUNDS_IN_SEARCH: usize = 512;
/// Draws kept apart as long as there are no more of them.
const DRAWS: usize = 128;
/// Units of work of one evaluation in a search.
const WORK_IN_SEARCH: f64 = 2e7;

/// Multipliers this far apart are not averaged: the least noisy decide, and are not to be hidden.
const FAR: f64 = 1.05;

/// Splits a run, sorted by noise, into runs that do not span further.
fn split(run: &[Segment], far: f64) -> impl Iterator<Item = &[Segment]> {
    let mut left = run;
    std::iter::from_fn(move || {
        let end = far * left.first()?.noise_multiplier;
        let count = left.partition_point(|segment| segment.noise_multiplier <= end);
        let (here, beyond) = left.split_at(count.max(1));
        left = beyond;
        Some(here)
    })
}

impl RdpCurve {
    /// A curve with fewer distinct rounds and never lower: each run of neighbouring multipliers
    /// takes its least one (less noise is never more private).
    pub(crate) fn coarse(&self) -> Self {
        self.coarse_of(ROUNDS_IN_SEARCH)
    }

    /// The same, of about this many rounds.
    pub(crate) fn coarse_of(&self, count: usize) -> Self {
        // Sorted by multiplier, so the first of a run is the least.
        self.merged(count, f64::INFINITY, |run| run[0].noise_multiplier)
    }

    /// A curve with fewer distinct rounds that is close to this one; it steers a search.
    pub(crate) fn rough(&self) -> Self {
        let merged = self.merged(ROUNDS_IN_SEARCH, FAR, |run| {
            let weighed = run.iter().map(|s| s.times * s.noise_multiplier);
            weighed.sum::<f64>() / run.iter().map(|s| s.times).sum::<f64>()
        });
        merged.with_most_work(WORK_IN_SEARCH)
    }

    /// Takes runs of neighbouring multipliers together, about `count` of them and more where they would
    /// span further than `far`.
    fn merged(&self, count: usize, far: f64, noise_multiplier: impl Fn(&[Segment]) -> f64) -> Self {
        let fewer = self.with_few_draws();
        let all = fewer.as_ref().unwrap_or(&self.segments);
        let length = all.len().div_ceil(count.max(1)).max(1);
        let mut segments: Vec<Segment> = Vec::new();
        for alike in all.chunk_by(|a, b| a.draw == b.draw) {
            let runs = alike.chunks(length).flat_map(|run| split(run, far));
            segments.extend(runs.map(|run| Segment {
                draw: run[0].draw,
                noise_multiplier: noise_multiplier(run),
                times: run.iter().map(|segment| segment.times).sum(),
            }));
        }
        self.with_segments(segments)
    }

    /// The rounds with rates rounded up, to the largest of those near, if they are many: more
    /// sampling is never more private.
    fn with_few_draws(&self) -> Option<Vec<Segment>> {
        let draws = self.segments.chunk_by(|a, b| a.draw == b.draw).count();
        if draws <= DRAWS {
            return None;
        }
        let mut segments = self.segments.clone();
        segments.sort_by(|a, b| {
            let key = |segment: &Segment| (segment.draw.class(), segment.draw.rate());
            let (a, b) = (key(a), key(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        for class in segments.chunk_by_mut(|a, b| a.draw.class() == b.draw.class()) {
            let ends = [class.first(), class.last()].map(|s| s.map_or(1.0, |s| s.draw.rate()));
            let ratio = (ends[1] / ends[0]).ln() / DRAWS as f64;
            let level = |draw: Draw| ((draw.rate() / ends[0]).ln() / ratio).floor();
            // Of one level, by increasing rate: the last has the largest.
            for near in class.chunk_by_mut(|a, b| level(a.draw) == level(b.draw)) {
                if let Some(largest) = near.last().map(|segment| segment.draw) {
                    near.iter_mut().for_each(|segment| segment.draw = largest);
                }
            }
        }
        segments.sort_by(Segment::order);
        Some(segments)
    }
}
