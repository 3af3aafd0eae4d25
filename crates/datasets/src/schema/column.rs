//! What is declared of one column, and the column that follows from it.

use crate::distinct::distinct;
use crate::preparation::{
    Basis, Column, Cycle, Encoding, Missing, MissingValues, NumberFormat, Value, is_format, seconds,
};
use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

/// Values of a hashed column when the number is not declared.
pub(crate) const BUCKETS: usize = 32;
/// Values of a categorical or hashed column at most.
const MOST_BUCKETS: usize = 4096;

/// A column of a table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ColumnSchema {
    /// May be left out where the other keys tell it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<ColumnKind>,
    /// Lower bound of a number or a date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<Declared>,
    /// Upper bound of a number or a date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<Declared>,
    /// All values of a category.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub categories: Option<Vec<String>>,
    /// Whether any other value is a category of its own.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub other: bool,
    /// How many values are told apart where categories are not declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buckets: Option<usize>,
    /// All values of an ordinal column, from the lowest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Vec<String>>,
    /// What becomes of a record whose value is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<MissingRule>,
    /// What a missing value is replaced by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fill: Option<Declared>,
    /// How a date is written, if not in ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// What else of a date is used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cycles: Vec<Cycle>,
    /// What comes before the decimals of a number, if not a point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decimal: Option<char>,
    /// What sets the thousands of a number apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thousands: Option<char>,
    /// Characters to take out of a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strip: Option<String>,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnKind {
    /// Numbers.
    Numeric,
    /// Texts that stand for categories.
    Categorical,
    /// Texts that stand for categories in an order.
    Ordinal,
    /// Yes or no.
    Boolean,
    /// Dates, with or without a time.
    Date,
    /// Something not to be used.
    Ignored,
}

/// What becomes of a record whose value is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingRule {
    /// It is left out.
    Drop,
    /// The value is replaced, and one more number says so.
    Indicator,
    /// The value is a category of its own.
    Category,
}

/// A declared value: a number, or a text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "a number, a text, or a date in quotes such as \"2024-01-31\", was expected"
)]
pub enum Declared {
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// Yes or no.
    Boolean(bool),
}

impl Declared {
    fn value(&self) -> Value<'_> {
        match self {
            Self::Number(number) => Value::Number(*number),
            Self::Text(text) => Value::Text(text),
            Self::Boolean(yes) => Value::Text(if *yes { "true" } else { "false" }),
        }
    }

    fn number(&self, key: &str) -> Result<f64> {
        match self {
            Self::Number(number) => Ok(*number),
            _ => bail!("`{key}` must be a number; for a date say kind = \"date\" too"),
        }
    }

    fn moment(&self, key: &str, format: Option<&str>) -> Result<f64> {
        let text = match self {
            Self::Text(text) => Some(text),
            _ => None,
        };
        // Bounds may be in ISO 8601 whatever the format of the file.
        let moment = text.and_then(|text| seconds(text, None).or_else(|| seconds(text, format)));
        moment.with_context(|| format!("`{key}` must be a date in quotes, such as \"2024-01-31\""))
    }
}

impl ColumnSchema {
    /// The column, or nothing if it is ignored.
    pub(super) fn column(&self, name: &str, estimate: bool) -> Result<Option<Column>> {
        let kind = self.kind()?;
        self.check_keys(kind)?;
        let encoding = match kind {
            ColumnKind::Ignored => return Ok(None),
            ColumnKind::Numeric => self.numeric(estimate)?,
            ColumnKind::Date => self.date()?,
            ColumnKind::Ordinal => Encoding::Ordinal {
                order: values(self.order.as_deref().unwrap_or_default(), "order")?,
            },
            ColumnKind::Boolean => Encoding::Boolean,
            ColumnKind::Categorical => self.categorical()?,
        };
        let mut column = Column {
            format: NumberFormat {
                decimal: self.decimal,
                thousands: self.thousands,
                strip: self.strip.clone().unwrap_or_default(),
            },
            ..Column::new(name, encoding)
        };
        column.missing = self.missing(&column)?;
        Ok(Some(column))
    }

    /// What the column holds, as is said or follows from the other keys.
    pub(super) fn kind(&self) -> Result<ColumnKind> {
        Ok(match self.kind {
            Some(kind) => kind,
            None if self.order.is_some() => ColumnKind::Ordinal,
            None if self.categories.is_some() || self.buckets.is_some() => ColumnKind::Categorical,
            None if self.min.is_some() || self.max.is_some() => ColumnKind::Numeric,
            None => bail!("declare `min` and `max`, `categories`, `buckets`, or a `kind`"),
        })
    }

    /// Refuses keys that are for columns of another kind.
    fn check_keys(&self, kind: ColumnKind) -> Result<()> {
        use ColumnKind::{Boolean, Categorical, Date, Numeric, Ordinal};
        let bounded = self.min.is_some() || self.max.is_some();
        let categorical = self.categories.is_some() || self.buckets.is_some();
        ensure!(
            !(bounded && !matches!(kind, Numeric | Date) || categorical && kind != Categorical),
            "`min` and `max` are for numeric columns and dates, `categories` and `buckets` for categorical ones"
        );
        let keys: [(&str, bool, &[ColumnKind]); 9] = [
            ("other", self.other, &[Categorical]),
            ("order", self.order.is_some(), &[Ordinal]),
            ("format", self.format.is_some(), &[Date]),
            ("cycles", !self.cycles.is_empty(), &[Date]),
            ("decimal", self.decimal.is_some(), &[Numeric]),
            ("thousands", self.thousands.is_some(), &[Numeric]),
            ("strip", self.strip.is_some(), &[Numeric]),
            (
                "fill",
                self.fill.is_some(),
                &[Numeric, Date, Ordinal, Boolean, Categorical],
            ),
            (
                "missing",
                self.missing.is_some(),
                &[Numeric, Date, Ordinal, Boolean, Categorical],
            ),
        ];
        for (key, given, kinds) in keys {
            ensure!(
                !given || kinds.contains(&kind),
                "`{key}` is not for columns of kind \"{}\"",
                format!("{kind:?}").to_lowercase()
            );
        }
        ensure!(
            self.decimal.is_none() || self.decimal != self.thousands,
            "`decimal` and `thousands` must differ"
        );
        ensure!(
            kind != Numeric
                || self.thousands != Some('.')
                || self.decimal.is_some_and(|mark| mark != '.'),
            "`thousands` is a point, so say which mark `decimal` is"
        );
        Ok(())
    }

    fn numeric(&self, estimate: bool) -> Result<Encoding> {
        match (&self.min, &self.max) {
            (Some(min), Some(max)) => {
                let (min, max) = (min.number("min")?, max.number("max")?);
                ensure!(
                    min < max && (max - min).is_finite(),
                    "`min` must be below `max`, got {min} and {max}"
                );
                Ok(Encoding::Numeric {
                    min,
                    max,
                    basis: Basis::Declared,
                })
            }
            (None, None) if estimate => Ok(Encoding::Pending),
            (None, None) => bail!(
                "no bounds are declared: add `min` and `max`, or have them estimated privately with \
                 --estimate-bounds, which costs budget"
            ),
            _ => bail!("declare both `min` and `max`, or neither"),
        }
    }

    fn date(&self) -> Result<Encoding> {
        let format = self.format.as_deref();
        if let Some(format) = format {
            ensure!(
                is_format(format),
                "no date can be read by the format {format:?}; say for example \"%d.%m.%Y\" or \"%m/%d/%Y %H:%M\""
            );
        }
        let (Some(min), Some(max)) = (&self.min, &self.max) else {
            bail!("declare the range of the date by `min` and `max`, such as min = \"2015-01-01\"");
        };
        let (from, to) = (min.moment("min", format)?, max.moment("max", format)?);
        ensure!(
            from < to,
            "`min` must be before `max`, got {} and {}",
            min.value().shown(),
            max.value().shown()
        );
        let repeated = |cycle: &Cycle| self.cycles.iter().filter(|other| *other == cycle).count();
        ensure!(
            self.cycles.iter().all(|cycle| repeated(cycle) == 1),
            "`cycles` names one twice"
        );
        Ok(Encoding::Date {
            min: from,
            max: to,
            format: self.format.clone(),
            cycles: self.cycles.clone(),
        })
    }

    fn categorical(&self) -> Result<Encoding> {
        ensure!(
            self.categories.is_some() || !self.other,
            "`other` goes with a list of `categories`; hashed columns take any value"
        );
        match (&self.categories, self.buckets) {
            (Some(_), Some(_)) => bail!("declare `categories` or `buckets`, not both"),
            (Some(categories), None) => Ok(Encoding::Categorical {
                categories: values(categories, "category")?,
                other: self.other,
            }),
            (None, buckets) => {
                let buckets = buckets.unwrap_or(BUCKETS);
                ensure!(
                    (2..=MOST_BUCKETS).contains(&buckets),
                    "`buckets` must be between 2 and {MOST_BUCKETS}, got {buckets}"
                );
                Ok(Encoding::Hashed { buckets })
            }
        }
    }

    /// What becomes of missing values of the column.
    fn missing(&self, column: &Column) -> Result<Option<Missing>> {
        let categories = matches!(
            column.encoding,
            Encoding::Categorical { .. } | Encoding::Hashed { .. }
        );
        let fill = match &self.fill {
            Some(fill) => Some(filled(fill, column)?),
            None => None,
        };
        Ok(match (self.missing, fill) {
            (None, None) => None,
            (None, Some(value)) => Some(Missing::Fill { value }),
            (Some(MissingRule::Indicator), _) if categories => bail!(
                "missing = \"indicator\" is for numbers; of a categorical column say missing = \"category\""
            ),
            (Some(MissingRule::Indicator), value) => Some(Missing::Indicator { value }),
            (Some(MissingRule::Category), _) if !categories => bail!(
                "missing = \"category\" is for categorical columns; of this one say missing = \"indicator\""
            ),
            (Some(_), Some(_)) => bail!(
                "`fill` goes alone or with missing = \"indicator\", because nothing is left to be filled"
            ),
            (Some(MissingRule::Category), None) => Some(Missing::Category),
            (Some(MissingRule::Drop), None) => Some(Missing::Drop),
        })
    }
}

/// What would be read of the declared value.
fn filled(fill: &Declared, column: &Column) -> Result<f64> {
    if let (Encoding::Date { format, .. }, Declared::Text(_)) = (&column.encoding, fill) {
        return fill.moment("fill", format.as_deref());
    }
    let plain = Column::new(&column.name, column.encoding.clone());
    // Nothing declared stands for a missing value.
    let read = plain.read(fill.value(), &MissingValues::from(Vec::new()));
    let read = read.with_context(|| {
        let value = fill.value();
        format!("`fill` = {:?} is no value of the column", value.shown())
    })?;
    read.context("`fill` must be a value")
}

/// A declared list of values.
fn values(list: &[String], what: &str) -> Result<Vec<String>> {
    distinct(list, what)?;
    let words = if what == "order" {
        "values in `order`"
    } else {
        "categories"
    };
    ensure!(
        (2..=MOST_BUCKETS).contains(&list.len()),
        "between 2 and {MOST_BUCKETS} {words} can be used, got {}",
        list.len()
    );
    Ok(list.to_vec())
}
