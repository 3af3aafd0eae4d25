//! The other way to a guarantee for people: draw records, bound how many anyone has, and account for them as a group.

use super::planned_run::PlannedRun;
use tacita::{NoiseSchedule, TAIL_SHARE};
use tacita_accounting::calibrate::{Budget, QueryNoise, Shape, smallest_noise};
use tacita_accounting::{Ledger, Neighbours, Pld, Sampling};

/// What drawing records would take at the same budget.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OtherWay {
    /// Its noise multiplier: noise over the longest gradient of one record.
    pub noise_multiplier: f64,
    /// Its noise on the mean gradient over that of drawing people, if everyone has as many records as are allowed. Less
    /// than 1 where drawing records is better.
    pub noise_ratio: f64,
}

impl PlannedRun {
    /// The noise of a run that draws records at the rate at which this one draws people, with a unit of as many records
    /// as a person may have (`Ledger::with_records_per_unit`). None for runs whose unit is a record, without a budget,
    /// or of more than a constant noise, and where no bound is found.
    pub fn other_way(&self) -> Option<OtherWay> {
        let plan = &self.plan;
        let most = plan.records_per_unit()?;
        let simple = *plan.noise_schedule() == NoiseSchedule::Constant
            && plan.noise_multipliers(0).len() == 1
            && plan.statistics() + plan.scores() == 0;
        let epsilon = self.settings.epsilon.filter(|_| simple)?;
        let budget = Budget::new(epsilon, plan.delta() * (1.0 - TAIL_SHARE)).ok()?;
        let unit = Ledger::new(Neighbours::AddOrRemoveOne);
        let unit = unit.with_records_per_unit(u32::try_from(most).ok()?).ok()?;
        let sampling = Sampling::Poisson { rate: plan.rate() };
        let shape = Shape::after(&unit).then(sampling, QueryNoise::Scaled(1.0), plan.steps());
        let found = smallest_noise(&shape, budget, &Pld::default()).ok()?;
        // As many people in a step on average bring so many times as many records.
        let own = plan.noise_multipliers(0)[0];
        Some(OtherWay {
            noise_multiplier: found.noise_multiplier,
            noise_ratio: found.noise_multiplier / (most as f64 * own),
        })
    }
}
