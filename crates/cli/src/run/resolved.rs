//! Settings with everything filled in: a source, a model, policies, and a plan to certify.

use super::{ModelName, Settings, choose_model, defaults, policies, precision};
use crate::datasets::{BadRecords, Builtin, Options, Schema, Shape, Source, TestChoice};
use crate::number::up;
use anyhow::{Context, Result, bail, ensure};
use tacita::ops::Precision;
use tacita::optim::{LearningRate, Optimizer, OptimizerRule};
use tacita::{Budget, CheckedPlan, NoiseSchedule, Plan};

/// Above this ε the tail that the noise generator cannot reach voids the guarantee, which would be
/// worth nothing anyway.
const MOST_EPSILON: f64 = 40.0;

/// The noise of a private estimate of column bounds, in records: enough to hide one, little enough
/// to find the bulk of a few thousand.
pub const BOUNDS_NOISE: f64 = 20.0;

/// A run whose every setting is known.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// Settings with defaults filled in.
    pub settings: Settings,
    /// The model.
    pub model: ModelName,
    /// The input of the model.
    pub shape: Shape,
    /// The optimiser.
    pub optimizer: OptimizerRule,
    /// The learning rate.
    pub learning_rate: LearningRate,
    /// In which precision a card multiplies.
    pub precision: Precision,
    /// What will be released, certified.
    pub plan: CheckedPlan,
}

/// What a plan must know of the data, all of it public.
#[derive(Debug, Clone, Copy)]
pub struct PublicFacts {
    /// Records as declared.
    pub records: u64,
    /// Input of the model.
    pub shape: Shape,
    /// Classes as declared.
    pub classes: usize,
    /// Whether bounds of columns are estimated first.
    pub estimates_bounds: bool,
    /// Whether there are private test records to be scored.
    pub private_test: bool,
    /// Whether there are public ones.
    pub public_test: bool,
}

impl Resolved {
    /// Fills in defaults, checks every policy and certifies the plan. With `scale`, the noise is that
    /// of a run that was certified before.
    pub fn new(settings: Settings, facts: PublicFacts, scale: Option<f64>) -> Result<Self> {
        ensure!(
            settings.noise.is_none() || settings.epsilon.is_none(),
            "--noise fixes the noise and --epsilon finds it; give one of them"
        );
        ensure!(
            settings.noise.is_none() || settings.paper_accountant.is_none(),
            "--noise fixes the noise and --paper-accountant finds it; give one of them"
        );
        let (settings, plan) = Self::uncertified(settings, facts, scale)?;
        let rest = Rest::of(&settings, facts, scale.is_some())?;
        let plan = plan.calibrate().context("no plan; nothing was spent")?;
        let epsilon = plan.epsilon().upper_bound().unwrap_or(f64::INFINITY);
        ensure!(
            epsilon <= MOST_EPSILON || settings.seed.is_some(),
            "noise multiplier {} gives ε ≤ {} at δ = {:e}, and above {MOST_EPSILON} nothing is \
             promised; use more noise, a smaller --epsilon, or --seed for an experiment that is not \
             private. Nothing was spent",
            plan.noise_multipliers(0)[0],
            up(epsilon, 3),
            plan.delta()
        );
        if settings.noise.is_none() {
            let multiplier = plan.noise_multipliers(0)[0];
            worth_a_step(&settings, multiplier, plan.steps(), plan.expected_batch())?;
        }
        Ok(Self {
            model: model(&settings, facts),
            shape: facts.shape,
            optimizer: rest.optimizer,
            learning_rate: rest.learning_rate,
            precision: rest.precision,
            plan,
            settings,
        })
    }

    /// Checks settings whose defaults are filled in, but for their noise, which is still to be found: a run
    /// that passes does not stop for its settings.
    pub fn check(settings: &Settings, facts: PublicFacts) -> Result<()> {
        Rest::of(settings, facts, false).map(|_| ())
    }

    /// Settings with defaults filled in and their plan, whose noise is still to be found.
    pub fn uncertified(
        mut settings: Settings,
        facts: PublicFacts,
        scale: Option<f64>,
    ) -> Result<(Settings, Plan)> {
        ensure!(
            settings.steps.is_none() || settings.epochs.is_none(),
            "--steps and --epochs both set the length; give one of them"
        );
        defaults::fill(&mut settings, facts.shape, facts.records);
        let plan = plan(&settings, facts, scale)?;
        Ok((settings, plan))
    }

    /// A new optimiser.
    pub fn new_optimizer(&self) -> Optimizer {
        let weight_decay = self.settings.weight_decay.unwrap_or(0.0);
        Optimizer::from(self.optimizer).with_weight_decay(weight_decay)
    }

    /// Steps between two checkpoints.
    pub fn checkpoint_every(&self) -> u64 {
        let hundredth = self.plan.steps() / 100;
        self.settings.checkpoint_every.unwrap_or(hundredth).max(1)
    }
}

/// The model of settings.
pub fn model(settings: &Settings, facts: PublicFacts) -> ModelName {
    (settings.model).unwrap_or_else(|| choose_model::suited_to(facts.shape))
}

/// What a run needs besides its plan.
struct Rest {
    optimizer: OptimizerRule,
    learning_rate: LearningRate,
    precision: Precision,
}

impl Rest {
    /// Reads it from settings whose defaults are filled in; `again` if the run was certified before.
    fn of(settings: &Settings, facts: PublicFacts, again: bool) -> Result<Self> {
        let optimizer = policies::optimizer(settings.optimizer.as_deref().unwrap_or_default())?;
        let rate = settings.learning_rate.unwrap_or(f64::NAN);
        ensure!(
            rate > 0.0 && rate.is_finite(),
            "--learning-rate must be a finite number above 0, got {rate}"
        );
        let schedule = settings.rate_schedule.as_deref().unwrap_or_default();
        let learning_rate = policies::learning_rate(rate, schedule, optimizer)?;
        if let Some(decay) = settings.average {
            ensure!(
                decay > 0.0 && decay < 1.0,
                "--average must be above 0 and below 1, got {decay}"
            );
        }
        if let Some(decay) = settings.weight_decay {
            ensure!(
                decay >= 0.0 && decay.is_finite(),
                "--weight-decay must be a finite number of at least 0, got {decay}"
            );
        }
        ensure!(
            !facts.private_test || settings.score_noise.is_some() || settings.public_test || again,
            "the test records are private, so an exact accuracy on them would leak; say --public-test if \
             they are public, --score-noise 20 for a noisy accuracy that is part of the budget, or leave \
             the test records out"
        );
        ensure!(
            settings.score_noise.is_none() || facts.private_test,
            "--score-noise is for private test records; give them with --test or --test-share, and without \
             --public-test"
        );
        let precision = precision(
            settings.precision.as_deref().unwrap_or("single"),
            settings.device.as_deref().unwrap_or("cpu"),
        )?;
        for (flag, value) in [
            ("--test-every", settings.test_every),
            ("--checkpoint-every", settings.checkpoint_every),
        ] {
            ensure!(value != Some(0), "{flag} must be at least 1, got 0");
        }
        ensure!(
            settings.test_every.is_none() || facts.public_test,
            "--test-every shows scores on public test records, and there are none; give --test or \
             --test-share with --public-test"
        );
        Ok(Self {
            optimizer,
            learning_rate,
            precision,
        })
    }
}

/// Refuses a budget so small that nothing can be learned: the sum of all steps' gradients is at most
/// steps · batch sensitivities long, and the noise on it in any one direction √steps · multiplier.
pub fn worth_a_step(settings: &Settings, multiplier: f64, steps: u64, batch: f64) -> Result<()> {
    ensure!(
        multiplier < (steps as f64).sqrt() * batch,
        "the budget ε = {} at δ = {:e} is too small for any step: the noise would be {multiplier:.0} times \
         what a record can add, more than {steps} steps of {batch} records can add up to. Raise --epsilon or \
         --batch. Nothing was spent",
        settings.epsilon.unwrap_or(f64::NAN),
        settings.delta.unwrap_or(f64::NAN),
    );
    Ok(())
}

fn plan(settings: &Settings, facts: PublicFacts, scale: Option<f64>) -> Result<Plan> {
    let delta = settings.delta.unwrap_or(f64::NAN);
    let budget = Budget::new(settings.epsilon.unwrap_or(f64::NAN), delta);
    let mut plan = match (&settings.paper_accountant, scale.or(settings.noise)) {
        // Found again in the same way, with the same claim.
        (Some(name), _) => Plan::as_in_paper(budget, policies::paper_accountant(name)?),
        (None, Some(noise)) => Plan::with_noise(noise, delta),
        (None, None) => Plan::new(budget),
    };
    plan = plan
        .public_record_count(facts.records)
        .expected_batch(settings.batch.unwrap_or(0));
    plan = match (settings.steps, settings.epochs) {
        (Some(steps), _) => plan.steps(steps),
        (None, epochs) => plan.epochs(epochs.unwrap_or(f64::NAN)),
    };
    let mut clipping = policies::clipping(settings.clipping.as_deref().unwrap_or("auto"))?;
    if settings.per_layer {
        clipping = clipping.per_layer();
    }
    if let Some(ratio) = settings.threshold_decay {
        ensure!(
            !clipping.threshold.is_learned(),
            "--threshold-decay goes with --clipping abadi:C; a learned threshold finds its own way"
        );
        clipping = clipping.threshold_decay(ratio);
    }
    let schedule = match (settings.growing_mu, &settings.noise_schedule) {
        (Some(_), Some(_)) => bail!("--growing-mu is a noise schedule; leave --noise-schedule out"),
        (Some(ratio), None) => NoiseSchedule::GrowingMu { ratio },
        (None, Some(name)) => policies::noise_schedule(name)?,
        (None, None) => NoiseSchedule::Constant,
    };
    plan = plan.clipping(clipping).noise_schedule(schedule);
    if facts.estimates_bounds {
        plan = plan.statistic(BOUNDS_NOISE);
    }
    if let Some(noise) = settings.score_noise.filter(|_| facts.private_test) {
        // How many are right, and how many there are: both are private.
        plan = plan.score(noise).score(noise);
    }
    Ok(plan)
}

impl Settings {
    /// Where the records come from.
    pub fn source(&self) -> Result<Source> {
        let own = [&self.csv, &self.parquet, &self.jsonl, &self.images];
        let given = own.iter().filter(|path| path.is_some()).count();
        ensure!(
            given + usize::from(self.data.is_some()) <= 1,
            "give one of --data, --csv, --parquet, --jsonl and --images"
        );
        ensure!(
            self.text.is_none() || self.jsonl.is_some(),
            "--text names the field of --jsonl; give the file too"
        );
        if given == 0 {
            let idle = [
                ("--data-name", self.data_name.is_some()),
                ("--label", self.label.is_some()),
                ("--classes", self.classes.is_some()),
                ("--records", self.records.is_some()),
                ("--test", self.test.is_some()),
                ("--test-share", self.test_share.is_some()),
                ("--public-test", self.public_test),
                ("--public-folder-names", self.public_folder_names),
                ("--estimate-bounds", self.estimate_bounds),
            ];
            if let Some((flag, _)) = idle.iter().find(|(_, given)| *given) {
                bail!(
                    "{flag} is for your own data: give --csv, --parquet, --jsonl or --images too; public sets \
                     bring theirs"
                );
            }
        }
        Ok(
            match (&self.csv, &self.parquet, &self.jsonl, &self.images) {
                (Some(file), ..) => Source::Csv { file: file.clone() },
                (_, Some(file), ..) => Source::Parquet { file: file.clone() },
                (_, _, Some(file), _) => Source::Jsonl {
                    file: file.clone(),
                    text: (self.text.clone())
                        .context("say which field holds the text with --text FIELD")?,
                },
                (.., Some(folder)) => Source::Images {
                    folder: folder.clone(),
                },
                _ => Source::Builtin(self.data.unwrap_or(Builtin::Digits)),
            },
        )
    }

    /// With all that a run folder must hold, which needs no other file: the schema of a file among the
    /// settings, and a public name for the user's own data.
    pub fn complete(mut self) -> Result<Self> {
        if let Some(path) = &self.schema {
            ensure!(
                self.declared.is_none(),
                "give the schema as a file or as [declared], not both"
            );
            self.declared = Some(Schema::read(path)?);
            self.schema = None;
        }
        if let Some(declared) = &self.declared {
            declared.check_bad_rows()?;
        }
        self.with_data_name()
    }

    /// With a public name for the user's own data: that of their kind, if none is given.
    pub fn with_data_name(mut self) -> Result<Self> {
        if let (Some(kind), None) = (self.source()?.kind_of_own(), &self.data_name) {
            self.data_name = Some(kind.into());
        }
        let name = self.data_name.as_ref();
        ensure!(
            name.is_none_or(|name| !name.trim().is_empty()),
            "--data-name must not be empty"
        );
        Ok(self)
    }

    /// How records are found and prepared.
    pub fn options(&self, quiet: bool) -> Result<Options> {
        let mut schema = match (&self.schema, &self.declared) {
            (Some(_), Some(_)) => bail!("give the schema as a file or as [declared], not both"),
            (Some(path), None) => Schema::read(path)?,
            (None, declared) => declared.clone().unwrap_or_default(),
        };
        if let Some(label) = &self.label {
            schema.label.column = Some(label.clone());
        }
        if let Some(classes) = &self.classes {
            schema.label.classes.clone_from(classes);
        }
        schema.records = self.records.or(schema.records);
        let public = self.public_test;
        let test = match (&self.test, self.test_share) {
            (Some(_), Some(_)) => bail!("give --test or --test-share, not both"),
            (Some(path), None) => TestChoice::File {
                path: path.clone(),
                public,
            },
            (None, Some(share)) => TestChoice::Share { share, public },
            (None, None) => TestChoice::None,
        };
        Ok(Options {
            data_dir: self.data_dir.clone(),
            offline: self.offline,
            quiet,
            schema,
            test,
            classes_are_public: self.public_folder_names,
            estimate_bounds: self.estimate_bounds,
            features: self.features,
            data_name: self.data_name.clone(),
            bad_records: BadRecords::Drop,
        })
    }
}
