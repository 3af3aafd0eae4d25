//! What is refused or warned of before anything is spent, from public numbers and names alone.

use super::planned_run::PlannedRun;
use super::settings::Settings;
use crate::models::{ModelName, ModelSpec};
use anyhow::{Context, Result, anyhow, bail, ensure};
use tacita_datasets::{Format, Shape, Source, records_for_bounds, shards};

/// How many times as many records as could just be seen in one bin it takes to find bounds of numbers that lie in
/// several: those of a factor of sixteen lie in eight.
const BINS_OF_A_COLUMN: f64 = 8.0;
/// Bytes of training for each parameter at least: the weights, a sum of gradients in 64 bits and its noise in
/// double precision.
const BYTES_OF_A_PARAMETER: f64 = 20.0;

/// Refuses a δ that promises nothing. Public sets are nobody's secret, and papers take 1 / records for them.
pub fn check_delta(settings: &Settings, records: u64) -> Result<()> {
    if settings.own_data().is_none() {
        return Ok(());
    }
    let delta = settings.delta.unwrap_or(f64::NAN);
    ensure!(
        !is_large(delta, records) || settings.allow_large_delta,
        "δ = {delta:e} is not below 1 / {records} records: a program that publishes one whole record at random keeps \
         such a promise. Take a smaller --delta (a tenth of 1 / records is the default), or insist on it with \
         --allow-large-delta. Nothing was spent"
    );
    Ok(())
}

/// Whether a program that publishes a whole record, drawn at random, would keep δ.
pub fn is_large(delta: f64, records: u64) -> bool {
    delta * records as f64 >= 1.0
}

/// Refuses an estimate of bounds that cannot succeed.
pub fn check_estimate(settings: &Settings, records: u64, noise: f64) -> Result<()> {
    if !settings.estimate_bounds {
        return Ok(());
    }
    let columns = settings.options(true)?.schema.unbounded_columns()?;
    ensure!(
        columns > 0,
        "--estimate-bounds has nothing to estimate: no column is declared with kind = \"numeric\" and without bounds. \
         Leave it out, or declare one. Nothing was spent"
    );
    let needed = records_for_bounds(columns, noise);
    ensure!(
        records as f64 > needed,
        "--estimate-bounds cannot succeed: its noise hides the bounds of {columns} {} unless there are more than {} \
         records, and {records} are declared. Declare `min` and `max`. Nothing was spent",
        if columns == 1 { "column" } else { "columns" },
        needed.ceil()
    );
    Ok(())
}

/// What to think about before a run, told by names and numbers that are declared.
pub fn warnings(run: &PlannedRun) -> Vec<String> {
    let mut warnings = Vec::new();
    let Ok(options) = run.settings.options(true) else {
        return warnings;
    };
    for name in options.schema.identifiers() {
        warnings.push(format!(
            "column `{name}` is named like an identifier; unless it is none, say kind = \"ignored\""
        ));
    }
    if run.settings.estimate_bounds
        && let Ok(columns) = options.schema.unbounded_columns()
    {
        let needed =
            BINS_OF_A_COLUMN * records_for_bounds(columns, super::planned_run::BOUNDS_NOISE);
        if (run.facts.records as f64) < needed {
            warnings.push(format!(
                "the noise will perhaps hide the bounds of columns, which are then [-1, 1]: it takes about {} records; \
                 declare `min` and `max` if you can",
                needed.ceil()
            ));
        }
    }
    if is_large(run.plan.delta(), run.facts.records) {
        warnings.push(
            "δ is not below 1 / records, so it allows that a whole record is published".into(),
        );
    }
    warnings
}

/// Refuses sources that are not there, without opening them.
pub fn check_files(settings: &Settings) -> Result<()> {
    let source = settings.source()?;
    let is_folder = matches!(source, Source::Images { .. });
    let format = match source {
        Source::Csv { .. } => Some(Format::Csv),
        Source::Parquet { .. } => Some(Format::Parquet),
        Source::Jsonl { .. } | Source::JsonTable { .. } => Some(Format::Jsonl),
        Source::Images { .. } | Source::Builtin(_) => None,
    };
    for path in settings.own_data().into_iter().chain(&settings.test) {
        let shards = match format {
            Some(format) => {
                shards(path, format).map_err(|error| anyhow!("{error:#}; nothing was spent"))?
            }
            None => vec![path.clone()],
        };
        let [path] = shards.as_slice() else {
            continue;
        };
        match path.metadata() {
            Ok(found) if found.is_dir() == is_folder => {}
            Ok(_) if is_folder => bail!("{} is not a folder; nothing was spent", path.display()),
            Ok(_) => bail!(
                "{} is a folder, not a file; nothing was spent",
                path.display()
            ),
            Err(error) => {
                return Err(error).with_context(|| {
                    let what = if is_folder { "folder" } else { "file" };
                    format!("there is no {what} {}; nothing was spent", path.display())
                });
            }
        }
    }
    Ok(())
}

/// Refuses a model that surely does not fit the memory of this machine, before it is made. `free` is what was left
/// before the records were opened: they take the more of it, the more of them there are.
pub fn check_memory(model: ModelSpec, batch: f64, free: Option<u64>) -> Result<()> {
    // A pre-trained model is as large as its file, which is read in any case.
    let Some(free) = free.filter(|_| model.name != ModelName::Pretrained) else {
        return Ok(());
    };
    let parameters = model.parameters()?;
    let values = match model.shape {
        Shape::Images(size) => size.values(),
        Shape::Tokens { length, .. } => length,
        Shape::Rows { width } => width,
    };
    let needed = BYTES_OF_A_PARAMETER * parameters + 4.0 * batch * values as f64;
    ensure!(
        needed < free as f64,
        "the model would have {parameters:.0} parameters, and training it takes more than {:.1} GiB of memory with a \
         batch of {batch:.0}; {:.1} GiB are free. Take a smaller --hidden, --model or --batch, or fewer categories, \
         buckets or pixels. Nothing was spent",
        needed / GIB,
        free as f64 / GIB
    );
    Ok(())
}

const GIB: f64 = (1u64 << 30) as f64;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_model_larger_than_any_memory_is_refused_without_being_made() {
        let model = |hidden| ModelSpec {
            name: ModelName::Mlp,
            shape: Shape::Rows { width: 10 },
            classes: 2,
            hidden: Some(hidden),
            seed: None,
        };
        let free = Some(16 << 30);
        check_memory(model(64), 512.0, free).unwrap();
        check_memory(model(3_000_000_000), 512.0, None).unwrap();
        let refused = check_memory(model(3_000_000_000), 512.0, free).unwrap_err();
        assert!(refused.to_string().contains("--hidden"), "{refused}");
    }
}
