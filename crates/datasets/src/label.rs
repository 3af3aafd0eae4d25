//! What is declared of the target: its column, its classes or bounds, and how much records count.

use crate::distinct::distinct;
use crate::nearest::shown;
use crate::target::{NumberLoss, NumberTarget, Target, TargetKind, Weighting};
use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

/// The column to predict.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct LabelSchema {
    /// Its name.
    pub column: Option<String>,
    /// Its values.
    pub classes: Vec<String>,
    /// What is predicted; may be left out where the other keys tell it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<TargetKind>,
    /// Lower bound of a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Upper bound of a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// What is minimised for a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<NumberLoss>,
    /// Columns of labels, of which a record may have any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// What separates labels that one field lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub separator: Option<char>,
    /// How much records of each class count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_weights: Option<Vec<f64>>,
    /// A column that says how much each record counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<String>,
    /// The largest weight there may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight_max: Option<f64>,
}

impl LabelSchema {
    /// What is predicted.
    pub fn kind(&self) -> TargetKind {
        let number = self.min.is_some() || self.max.is_some() || self.loss.is_some();
        let labels = !self.columns.is_empty() || self.separator.is_some();
        match self.kind {
            Some(kind) => kind,
            None if number => TargetKind::Number,
            None if labels => TargetKind::Labels,
            None => TargetKind::Class,
        }
    }

    /// What is to be predicted.
    pub fn target(&self) -> Result<Target> {
        self.check_combination()?;
        Ok(match self.kind() {
            TargetKind::Class => {
                check_classes(&self.classes)?;
                Target::Classes(self.classes.clone())
            }
            TargetKind::Number => {
                let (Some(min), Some(max)) = (self.min, self.max) else {
                    bail!(
                        "the bounds of the number to predict are not declared, and are not read from private records: \
                         add `min` and `max` under [label] in the schema"
                    );
                };
                ensure!(
                    min < max && (max - min).is_finite(),
                    "`min` must be below `max` under [label], got {min} and {max}"
                );
                let name = self.column.clone();
                Target::Number(NumberTarget {
                    name: name.context(
                        "which column holds the number must be said: --label COLUMN, or `column` under [label]",
                    )?,
                    min,
                    max,
                    loss: self.loss.unwrap_or_default(),
                })
            }
            TargetKind::Labels if !self.columns.is_empty() => {
                distinct(&self.columns, "column")?;
                Target::Labels {
                    names: self.columns.clone(),
                    separator: None,
                }
            }
            TargetKind::Labels => {
                ensure!(
                    !self.classes.is_empty(),
                    "the labels are not declared: `columns` under [label] names a column for each, or `classes` names \
                     those that one field may list"
                );
                distinct(&self.classes, "label")?;
                Target::Labels {
                    names: self.classes.clone(),
                    separator: Some(self.separator.unwrap_or('|')),
                }
            }
        })
    }

    /// How much records count.
    pub fn weighting(&self) -> Result<Weighting> {
        let target = self.target()?;
        let mut classes = Vec::new();
        if let Some(declared) = &self.class_weights {
            let Target::Classes(names) = target else {
                bail!(
                    "`class-weights` go with classes; a weight for each record is `weight` with `weight-max`"
                );
            };
            ensure!(
                declared.len() == names.len(),
                "`class-weights` has {} weights for {} classes",
                declared.len(),
                names.len()
            );
            let most = declared.iter().copied().fold(0.0, f64::max);
            ensure!(
                declared
                    .iter()
                    .all(|weight| *weight > 0.0 && weight.is_finite()),
                "`class-weights` must be finite numbers above 0"
            );
            classes = declared
                .iter()
                .map(|weight| (weight / most) as f32)
                .collect();
        }
        let column = match (&self.weight, self.weight_max) {
            (None, None) => None,
            (Some(column), Some(most)) => {
                ensure!(
                    most > 0.0 && most.is_finite(),
                    "`weight-max` must be a finite number above 0, got {most}"
                );
                Some((column.clone(), most))
            }
            _ => bail!(
                "a weight for each record takes `weight`, its column, and `weight-max`, the largest weight there may \
                 be: the largest there is, is private"
            ),
        };
        Ok(Weighting { classes, column })
    }

    /// The columns (or fields, as `what` calls them) that the target is read from.
    pub(crate) fn fields(&self, what: &str) -> Result<Vec<String>> {
        if !self.columns.is_empty() {
            return Ok(self.columns.clone());
        }
        let column = self.column.clone().with_context(|| {
            let flag = what.to_uppercase();
            format!(
                "which {what} holds the class must be said: --label {flag}, or `column` under [label] in \
                 the schema"
            )
        });
        Ok(vec![column?])
    }

    /// Keys that do not go together.
    fn check_combination(&self) -> Result<()> {
        let kind = self.kind();
        let number = self.min.is_some() || self.max.is_some() || self.loss.is_some();
        ensure!(
            !number || kind == TargetKind::Number,
            "`min`, `max` and `loss` under [label] are for `kind = \"number\"`"
        );
        ensure!(
            self.classes.is_empty() || kind != TargetKind::Number,
            "a number to predict has no `classes`; leave them out, or `min` and `max`"
        );
        let labels = !self.columns.is_empty() || self.separator.is_some();
        ensure!(
            !labels || kind == TargetKind::Labels,
            "`columns` and `separator` under [label] are for `kind = \"labels\"`"
        );
        ensure!(
            self.columns.is_empty() || self.column.is_none() && self.classes.is_empty(),
            "`columns` under [label] names a column for each label; leave `column` and `classes` out"
        );
        Ok(())
    }

    /// Whether a column says what to predict or how much a record counts, so that it is no input.
    pub(super) fn uses(&self, name: &str) -> bool {
        let named = [&self.column, &self.weight];
        named.iter().any(|used| used.as_deref() == Some(name))
            || self.columns.iter().any(|used| used == name)
    }
}

/// Classes must be two at least, and distinct.
pub(super) fn check_classes(classes: &[String]) -> Result<()> {
    ensure!(
        !classes.is_empty(),
        "the classes are not declared. Which classes there are is not read from private records; say \
         --classes a,b, or `classes = [\"a\", \"b\"]` under [label] in the schema"
    );
    ensure!(
        classes.len() >= 2,
        "only one class is declared, {}; a classifier needs two at least",
        shown(&classes[0])
    );
    distinct(classes, "class")
}
