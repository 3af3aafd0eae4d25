//! What a model is to predict, as declared, and how it is read from a record.

use crate::bad_record::BadRecord;
use crate::nearest::known;
use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

/// What is predicted of a record.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// One of some classes.
    Classes(Vec<String>),
    /// A number within declared bounds.
    Number(NumberTarget),
    /// Any of some labels, each by itself.
    Labels {
        /// Their public names.
        names: Vec<String>,
        /// What separates them in one field; none if each has a column of its own.
        separator: Option<char>,
    },
}

/// A number to predict.
#[derive(Debug, Clone, PartialEq)]
pub struct NumberTarget {
    /// The column.
    pub name: String,
    /// Numbers below are taken for it; becomes 0.
    pub min: f64,
    /// Numbers above are taken for it; becomes 1.
    pub max: f64,
    /// What is minimised.
    pub loss: NumberLoss,
}

/// The loss of a predicted number, in units of the declared range.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NumberLoss {
    /// Half the squared error.
    #[default]
    Squared,
    /// The same up to a tenth of the range, linear beyond (Huber 1964): single far-off records matter less.
    Huber,
}

/// The kind of a target; public.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// One of some classes.
    #[default]
    Class,
    /// A number.
    Number,
    /// Any of some labels.
    Labels,
}

/// What is true of a record.
#[derive(Debug, Clone, PartialEq)]
pub enum Truth {
    /// The number of its class.
    Class(u16),
    /// Its number, scaled to [0, 1].
    Number(f32),
    /// Which labels it has, 1 or 0 each.
    Labels(Vec<u8>),
}

impl Truth {
    /// What tells it from others, for the choice of test records.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Class(class) => class.to_le_bytes().to_vec(),
            Self::Number(number) => number.to_le_bytes().to_vec(),
            Self::Labels(set) => set.clone(),
        }
    }
}

impl NumberTarget {
    /// From the unit of the column to [0, 1].
    pub fn scaled(&self, number: f64) -> f32 {
        ((number.clamp(self.min, self.max) - self.min) / (self.max - self.min)) as f32
    }

    /// From [0, 1] to the unit of the column.
    pub fn unscaled(&self, scaled: f64) -> f64 {
        self.min + scaled * (self.max - self.min)
    }
}

impl Target {
    /// The kind.
    pub fn kind(&self) -> TargetKind {
        match self {
            Self::Classes(_) => TargetKind::Class,
            Self::Number(_) => TargetKind::Number,
            Self::Labels { .. } => TargetKind::Labels,
        }
    }

    /// Public names of what a model has an output for: classes, labels, or the number's column.
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Classes(names) | Self::Labels { names, .. } => names.clone(),
            Self::Number(number) => vec![number.name.clone()],
        }
    }

    /// What is true of a record, from its fields. Errors quote nothing of it.
    pub(crate) fn read(&self, values: &[&str], fields: &[String]) -> Result<Truth> {
        let (value, field) = match (values, fields) {
            ([value, ..], [field, ..]) => (value.trim(), field.as_str()),
            _ => bail!("nothing to predict is declared"),
        };
        Ok(match self {
            Self::Classes(classes) => Truth::Class(class_number(value, field, classes)?),
            Self::Number(number) => Truth::Number(number.scaled(finite(value, field)?)),
            Self::Labels {
                separator: None, ..
            } => {
                let pairs = values.iter().zip(fields);
                let set = pairs.map(|(value, field)| yes_or_no(value.trim(), field));
                Truth::Labels(set.collect::<Result<_>>()?)
            }
            Self::Labels {
                names,
                separator: Some(separator),
            } => {
                let listed = value.split(*separator).map(str::trim);
                self::listed(listed.filter(|name| !name.is_empty()), field, names)?
            }
        })
    }
}

/// Which of some names are listed.
pub(crate) fn listed<'a>(
    listed: impl Iterator<Item = &'a str>,
    field: &str,
    names: &[String],
) -> Result<Truth> {
    let mut set = vec![0; names.len()];
    for name in listed {
        let place = names.iter().position(|known| known == name);
        let place = place.ok_or_else(|| {
            BadRecord::new(format!(
                "`{field}` lists something that is not one of the declared labels"
            ))
            .value(name)
            .hint(known(name, names))
        })?;
        set[place] = 1;
    }
    Ok(Truth::Labels(set))
}

fn yes_or_no(value: &str, field: &str) -> Result<u8> {
    match value.to_ascii_lowercase().as_str() {
        "1" | "1.0" | "true" | "yes" => Ok(1),
        "0" | "0.0" | "false" | "no" => Ok(0),
        _ => Err(BadRecord::new(format!(
            "the label in `{field}` is neither yes nor no (1 or 0, true or false)"
        ))
        .value(value)
        .into()),
    }
}

fn finite(value: &str, field: &str) -> Result<f64> {
    let bad = |what: &str| BadRecord::new(format!("the number in `{field}` {what}"));
    if value.is_empty() {
        return Err(bad("is empty").into());
    }
    let number: f64 = value
        .parse()
        .map_err(|_| bad("is not a number").value(value))?;
    match number.is_finite() {
        true => Ok(number),
        false => Err(bad("is not finite").value(value).into()),
    }
}

/// The number of a class.
pub(crate) fn class_number(value: &str, column: &str, classes: &[String]) -> Result<u16> {
    let value = value.trim();
    if value.is_empty() {
        return Err(BadRecord::new(format!("the class in `{column}` is empty")).into());
    }
    let number = classes.iter().position(|class| class == value);
    let number = number.ok_or_else(|| {
        BadRecord::new(format!(
            "the class in `{column}` is not one of the declared classes"
        ))
        .value(value)
        .hint(known(value, classes))
    })?;
    Ok(u16::try_from(number)?)
}

/// How much records count, as declared.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Weighting {
    /// Of each class, relative to the largest.
    pub classes: Vec<f32>,
    /// The column with a weight for each record, and its declared maximum.
    pub column: Option<(String, f64)>,
}

impl Weighting {
    /// Whether every record counts alike.
    pub fn is_even(&self) -> bool {
        self.classes.is_empty() && self.column.is_none()
    }

    /// How much a record counts, between 0 and 1.
    pub(crate) fn of(&self, truth: &Truth, weight: Option<&str>) -> Result<f32> {
        let of_class = match truth {
            Truth::Class(class) => self
                .classes
                .get(usize::from(*class))
                .copied()
                .unwrap_or(1.0),
            _ => 1.0,
        };
        let (Some((column, most)), Some(value)) = (&self.column, weight) else {
            return Ok(of_class);
        };
        let weight = finite(value.trim(), column)?;
        if weight < 0.0 {
            let problem = format!("the weight in `{column}` is negative");
            return Err(BadRecord::new(problem).value(value).into());
        }
        Ok(of_class * (weight.min(*most) / most) as f32)
    }
}
