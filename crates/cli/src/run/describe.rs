//! What a finished run says of itself, for its report.

use super::canaries;
use super::initial_weights;
use super::metrics::Metric;
use super::open_run::OpenRun;
use super::planned_run::PlannedRun;
use super::run_folder::RunRecord;
use super::score::Scoring;
use crate::report::facts::{
    Data, FORMAT, Facts, KeySource, Model, Origin, Phase, PhaseKind, Preparation, Trace,
    TraceOrigin, Tuning, WhichRun,
};
use crate::run_files::RunFiles;
use tacita::clipping::{ClipRule, Grouping, Threshold};
use tacita::ops::Precision;
use tacita::optim::LearningRate;
use tacita::{Report, TAIL_SHARE};
use tacita_datasets::{Basis, Features, LabelSchema, NumberLoss, Shape, TargetKind};

/// Facts of a run that ended or was stopped.
pub fn facts(open: &OpenRun<'_>, parameters: usize, course: &[Metric], scoring: &Scoring) -> Facts {
    let OpenRun { run, record, .. } = open;
    let plan = &run.plan;
    let threshold = &plan.clipping().threshold;
    Facts {
        tacita_facts: FORMAT,
        name: record.name.clone(),
        data: data(record),
        preparation: preparation(record),
        model: Model {
            name: run.model.name.name(),
            parameters: parameters as u64,
        },
        optimizer: run.optimizer.to_string(),
        learning_rate: trace(
            "learning rate",
            matches!(run.learning_rate, LearningRate::Online { .. }),
            course,
            |metric| metric.learning_rate,
            |step| run.learning_rate.scheduled(step, plan.steps()),
        ),
        clipping: clipping(run),
        thresholds: vec![trace(
            "threshold",
            threshold.is_learned(),
            course,
            |metric| metric.threshold,
            |step| threshold.scheduled(step, plan.steps()),
        )],
        plan: plan.ledger().clone(),
        phases: phases(run),
        delta: plan.delta(),
        delta_reserved: plan.delta() * TAIL_SHARE,
        budget: run.settings.epsilon.filter(|_| plan.claim().is_none()),
        rounds_made: scoring.rounds,
        keys: match run.settings.seed {
            Some(_) => KeySource::FixedSeed,
            None => KeySource::OperatingSystem,
        },
        diagnostics: false,
        tuning: tuning(record),
        evaluation: scoring.evaluation.clone(),
        utility: scoring.utility.clone(),
        released: vec![
            "the trained model (model.safetensors) and every checkpoint before it".into(),
            "the ledger, the settings, the course of thresholds and learning rates, and this report".into(),
        ],
        precision: precision(run.precision()).into(),
        version: record.version.clone(),
        run: which_run(record),
        about: record.settings.about.clone(),
        account: record.account.clone(),
        caveats: caveats(run, record, scoring),
    }
}

/// Which run it was, and how to make such a run again.
fn which_run(record: &RunRecord) -> Option<WhichRun> {
    let settings = &record.settings;
    let own = [
        ("csv", &settings.csv),
        ("parquet", &settings.parquet),
        ("jsonl", &settings.jsonl),
        ("images", &settings.images),
        ("test", &settings.test),
    ];
    let paths = own.into_iter().filter(|(_, path)| path.is_some());
    let paths: String = paths.map(|(flag, _)| format!(" --{flag} FILE")).collect();
    Some(WhichRun {
        id: record.id.clone()?,
        begun: record.begun.clone()?,
        commit: record.commit.clone(),
        command: format!("tacita train {}{paths}", RunFiles::SETTINGS),
    })
}

/// What to know of this run besides what is true of every one.
fn caveats(run: &PlannedRun, record: &RunRecord, scoring: &Scoring) -> Vec<String> {
    let mut caveats = Vec::new();
    if let Some(claim) = run.plan.claim() {
        caveats.push(format!(
            "The noise was found as a paper did, whose accountant would say ε ≈ {}; the guarantee above is the \
             certified figure.",
            claim.epsilon
        ));
    }
    if record.search.is_some() {
        caveats.push(
            "The best of several runs was chosen by its score on these test records, so the score of the best is too good."
                .into(),
        );
    }
    if let Some(count) = record.settings.audit {
        caveats.push(canaries::caveat(count));
    }
    if record.start.is_some() {
        caveats.push(initial_weights::CAVEAT.into());
    }
    if run.settings.device.unwrap_or_default().is_gpu() {
        caveats.push(Report::GPU_CAVEAT.into());
    }
    if scoring.lost {
        caveats.push(
            "The score on private test records was lost when the run died, or was planned by an earlier version that \
             scored otherwise; its cost stays spent."
                .into(),
        );
    }
    caveats
}

fn data(record: &RunRecord) -> Data {
    let one_record = match (record.shape, record.settings.features) {
        (Shape::Images(_), _) | (_, Some(Features::Scattering)) => "one image of the training set",
        (Shape::Tokens { .. }, _) | (_, Some(_)) => "one text of the training set",
        (Shape::Rows { .. }, None) => "one row of the training set",
    };
    Data {
        name: record.about.origin.clone(),
        licence: record.about.licence.clone(),
        record: (record.settings.about.as_ref())
            .and_then(|about| about.record.clone())
            .unwrap_or_else(|| one_record.into()),
        public_record_count: record.public_record_count,
        records_per_person: record.settings.most_records_of_a_person(),
        caveats: record.about.caveats.clone(),
    }
}

fn tuning(record: &RunRecord) -> Tuning {
    match record.search {
        None => Tuning::NotCovered,
        Some(search) => Tuning::PartOfSearch {
            epsilon_upper: search.epsilon_upper,
            delta: search.delta,
        },
    }
}

fn precision(precision: Precision) -> &'static str {
    match precision {
        Precision::Single => "32-bit floating point; norms are rounded up by a proved error bound",
        Precision::Mixed => {
            "products of the forward and backward pass in bf16; everything after them in 32-bit \
             floating point, and norms are rounded up by a proved error bound"
        }
    }
}

/// What happens to the records of a user that do not fit, whichever they are.
const LEFT_OUT: [&str; 2] = [
    "records that cannot be used are left out, each judged by itself; which and how many is private and not said",
    "what the schema does not declare is not learned from",
];

fn preparation(record: &RunRecord) -> Vec<Preparation> {
    let facts = record.preparation.facts().into_iter();
    let prepared = facts.map(|fact| Preparation {
        what: fact.what,
        origin: match fact.basis {
            Basis::PublicConstant => Origin::Public,
            Basis::Declared => Origin::Declared,
            Basis::PrivatelyEstimated => Origin::PrivatelyEstimated,
        },
    });
    let label = &record
        .settings
        .declared
        .as_ref()
        .map(|schema| &schema.label);
    let predicted = label.iter().flat_map(|label| target_facts(label));
    let started = record.start.iter().map(|start| Preparation {
        what: format!(
            "model started from the weights in {} (SHA-256 {}): {}",
            start.file,
            start.sha256,
            start.extent()
        ),
        origin: Origin::Declared,
    });
    let people = record.settings.most_records_of_a_person().map(|most| Preparation {
        what: format!(
            "records with the same identifier are one person's; of whoever has more than {most}, {most} are drawn anew in \
             every step, and a person's gradient is the mean over them; records that name nobody are left out"
        ),
        origin: Origin::Declared,
    });
    let kept = record.settings.kept_of_a_person().map(|most| Preparation {
        what: format!(
            "records with the same identifier are one person's, of which the first {most} are kept; records that name nobody \
             are left out"
        ),
        origin: Origin::Declared,
    });
    let people = people.into_iter().chain(kept);
    let rules = record.settings.own_data().map(|_| LEFT_OUT);
    let rules = rules.into_iter().flatten().map(|what| Preparation {
        what: what.into(),
        origin: Origin::Public,
    });
    let prepared = prepared.chain(predicted).chain(people).chain(rules);
    prepared.chain(started).collect()
}

/// What is declared of a target besides its classes.
fn target_facts(label: &LabelSchema) -> Vec<Preparation> {
    let mut facts = Vec::new();
    if let (Some(min), Some(max)) = (label.min, label.max) {
        let loss = match label.loss.unwrap_or_default() {
            NumberLoss::Squared => "squared error",
            NumberLoss::Huber => "Huber's loss",
        };
        facts.push(format!(
            "the number to predict: clamped to [{min}, {max}] and scaled to [0, 1]; {loss}"
        ));
    }
    if label.kind() == TargetKind::Labels {
        facts.push("each label predicted by itself: binary losses, summed".into());
    }
    if let Some(weights) = &label.class_weights {
        facts.push(format!("records count by their class: {weights:?}"));
    }
    if let (Some(column), Some(most)) = (&label.weight, label.weight_max) {
        facts.push(format!(
            "records count by column {column}, clamped to [0, {most}]"
        ));
    }
    let declared = |what| Preparation {
        what,
        origin: Origin::Declared,
    };
    facts.into_iter().map(declared).collect()
}

/// A learned quantity is what was seen; a scheduled one is computed at its corners.
fn trace(
    name: &str,
    learned: bool,
    metrics: &[Metric],
    seen: impl Fn(&Metric) -> f64,
    scheduled: impl Fn(u64) -> f64,
) -> Trace {
    let (origin, points) = if learned {
        let points = metrics.iter().map(|metric| (metric.step - 1, seen(metric)));
        (TraceOrigin::Learned, points.collect::<Vec<_>>())
    } else {
        let last = metrics.last().map_or(0, |metric| metric.step - 1);
        let steps = (0..=100).map(|k| k * last / 100);
        let points = steps.map(|step| (step, scheduled(step)));
        (TraceOrigin::Schedule, points.collect())
    };
    let mut points = points;
    points.dedup_by_key(|(step, _)| *step);
    // A constant is one point.
    if points.iter().all(|(_, value)| *value == points[0].1) {
        points.truncate(1);
    }
    if points.is_empty() {
        points.push((0, scheduled(0)));
    }
    Trace {
        name: name.into(),
        origin,
        points,
    }
}

fn clipping(run: &PlannedRun) -> String {
    let clipping = run.plan.clipping();
    let rule = match clipping.rule {
        ClipRule::Abadi => "Abadi's rule".to_string(),
        ClipRule::Auto { gamma: 0.0 } => "AUTO-V".to_string(),
        ClipRule::Auto { gamma } => format!("AUTO-S, stability constant {gamma}"),
    };
    let grouping = match clipping.grouping {
        Grouping::Flat => "all parameters together",
        Grouping::PerLayer => "each layer on its own",
        Grouping::Weighted(_) | Grouping::Named(_) => "by groups",
    };
    let threshold = match &clipping.threshold {
        Threshold::Constant { .. } => String::new(),
        Threshold::Decay { ratio, .. } => format!(", threshold falling {ratio} times"),
        Threshold::Table { .. } => ", thresholds listed in advance".into(),
        Threshold::Quantile(policy) => {
            format!(", threshold following the {} quantile", policy.quantile)
        }
        Threshold::Online(_) => ", threshold learned online".into(),
    };
    format!("{rule}, {grouping}{threshold}")
}

fn phases(run: &PlannedRun) -> Vec<Phase> {
    let plan = &run.plan;
    let side = match plan.clipping().threshold {
        Threshold::Quantile(_) => vec!["count of gradients below the threshold".to_string()],
        Threshold::Online(_) => vec!["directions of clipped gradients".to_string()],
        _ => Vec::new(),
    };
    let standardised = u64::from(run.settings.standardises().is_some());
    let gradient = vec!["clipped sum of gradients".to_string()];
    let phase = |kind, what: &str, rounds, queries| Phase {
        kind,
        what: what.into(),
        rounds,
        queries,
    };
    let all = [
        phase(
            PhaseKind::Preparation,
            "bounds of columns",
            plan.statistics() - standardised,
            vec!["histogram of column values".into()],
        ),
        phase(
            PhaseKind::Preparation,
            "means and spreads of columns",
            standardised,
            vec!["sum of first and second moments".into()],
        ),
        phase(
            PhaseKind::Training,
            "training",
            plan.steps(),
            [gradient, side].concat(),
        ),
        phase(
            PhaseKind::Evaluation,
            "figures of merit on private test records",
            plan.scores(),
            vec!["histogram of classes, answers and scores".into()],
        ),
    ];
    all.into_iter().filter(|phase| phase.rounds > 0).collect()
}
