//! Membership inference on a finished model without canaries.
//!
//! Nobody tossed a coin to decide who is a member, so members and outsiders may differ for other reasons than
//! membership: other years, other writers. What an attack finds is then an indication; it is not compared with what is
//! proved. And since the members are private and no noise is added, the figures are NOT PRIVATE.

use super::scores::{losses, scores};
use crate::run::{Locations, RunFolder, prepared_as_before, workbench};
use crate::{device, tune};
use anyhow::{Context, Result, bail};
use serde::Serialize;
use std::path::Path;
use tacita_audit::roc::{Found, Scores, mu_of_area};

/// Rates of false alarms that are shown.
const FALSE_ALARMS: [f64; 3] = [0.001, 0.01, 0.1];

/// What attacks on a model found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Indication {
    /// For everyone who opens the file.
    pub warning: &'static str,
    /// Members that were looked at.
    pub members: usize,
    /// Public records that are no members.
    pub outsiders: usize,
    /// One for each score.
    pub attacks: Vec<AttackOn>,
}

/// What one attack found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AttackOn {
    /// The score: `loss` or `likelihood`.
    pub score: &'static str,
    /// The chance that a member is ranked before an outsider.
    pub area: f64,
    /// Roughly the μ of a Gaussian with this area; an estimate.
    pub mu_estimate: f64,
    /// What is found at low rates of false alarms.
    pub at: Vec<Point>,
    /// The whole curve.
    pub curve: Vec<Point>,
}

/// A point of the curve, with a 95 % band for chance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Point {
    /// Share of the outsiders that are named.
    pub false_alarms: f64,
    /// Share of the members that are named.
    pub found: f64,
    /// From here …
    pub found_from: f64,
    /// … to here.
    pub found_to: f64,
}

impl From<Found> for Point {
    fn from(found: Found) -> Self {
        Self {
            false_alarms: found.false_alarms,
            found: found.found,
            found_from: found.lower,
            found_to: found.upper,
        }
    }
}

const WARNING: &str = "NOT PRIVATE: computed from the private records without noise, for the screen of whoever may see them; \
                       never publish it. An indication: nobody tossed coins for membership, so members and outsiders may differ \
                       for other reasons, and nothing here is compared with what is proved";

/// Attacks the model of a finished run. `given` says where its data lie now.
pub fn indicate(path: &Path, given: Locations) -> Result<Indication> {
    tune::refuse_secret(path)?;
    let (folder, record) = RunFolder::open(path)?;
    if !folder.model().exists() {
        bail!(
            "{} does not exist: the run has not finished; resume it by: tacita resume {}",
            folder.model().display(),
            path.display()
        );
    }
    let mut settings = given.for_run(&record, path)?;
    settings.standardise.get_or_insert(0.0);
    let data = prepared_as_before(settings.open(true)?, &record)?;
    let outsiders = data.test.filter(|test| test.declared_public);
    let outsiders = outsiders.context(
        "an attack compares the members with public records that were not trained on, and the run has none: it was trained \
         without --public-test. Nothing was looked at",
    )?;
    let mut bench = workbench(record.model_spec(), &device::host())?;
    bench.load(&folder.model())?;
    let mut attacks = Vec::new();
    for (score, of) in [
        ("loss", losses as super::scores::Score),
        ("likelihood", scores),
    ] {
        let (members, others) = (
            of(&*bench, &data.training)?,
            of(&*bench, &outsiders.records)?,
        );
        let roc = Scores::new(&members, &others)
            .context("the model gives no scores, or there are no records of one kind")?;
        attacks.push(AttackOn {
            score,
            area: roc.area(),
            mu_estimate: mu_of_area(roc.area()),
            at: FALSE_ALARMS.map(|rate| roc.at(rate).into()).to_vec(),
            curve: roc.curve().into_iter().map(Point::from).collect(),
        });
    }
    Ok(Indication {
        warning: WARNING,
        members: data.training.count(),
        outsiders: outsiders.records.count(),
        attacks,
    })
}
