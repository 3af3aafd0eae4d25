//! One column of a Parquet file: some thousand decoded values, as those of a table.

use crate::preparation::Value;
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type as Physical};
use parquet::column::reader::ColumnReader;
use parquet::data_type::{Decimal, Int96};
use parquet::errors::Result;
use parquet::record::Field;
use parquet::schema::types::ColumnDescriptor;

const SECONDS_OF_DAY: f64 = 86_400.0;

/// A column and its present batch.
pub(super) struct Column {
    name: String,
    reader: ColumnReader,
    meaning: Meaning,
    /// Whether a value may be missing; then the level of one that is there is 1.
    is_optional: bool,
    levels: Vec<i16>,
    values: Values,
    /// Where the value of each row is, if there is one.
    places: Vec<Option<usize>>,
}

/// What the values of a column mean.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Meaning {
    /// What they are.
    Itself,
    /// Whole numbers without a sign.
    Unsigned,
    /// Dates and times: so many seconds a unit.
    Moment(f64),
    /// Decimal numbers of so many digits and decimals.
    Decimal(i32, i32),
    /// Numbers in half precision.
    Half,
    /// Identifiers in 16 bytes.
    Uuid,
}

/// The decoded values of a batch, packed.
enum Values {
    Numbers(Vec<f64>),
    Singles(Vec<f32>),
    Integers(Vec<i64>),
    Unsigned(Vec<u64>),
    /// Raw and in seconds.
    Moments(Vec<(i64, f64)>),
    Texts(Vec<String>),
    Bytes(Vec<parquet::data_type::ByteArray>),
    Booleans(Vec<bool>),
}

impl Column {
    pub(super) fn new(reader: ColumnReader, descriptor: &ColumnDescriptor) -> Self {
        Self {
            name: descriptor.name().to_string(),
            reader,
            meaning: meaning(descriptor),
            is_optional: descriptor.max_def_level() > 0,
            levels: Vec::new(),
            values: Values::Booleans(Vec::new()),
            places: Vec::new(),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Decodes the next rows; how many there were.
    pub(super) fn read(&mut self, rows: usize) -> Result<usize> {
        macro_rules! decoded {
            ($reader:ident) => {{
                let mut values = Vec::with_capacity(rows);
                self.levels.clear();
                let levels = self.is_optional.then_some(&mut self.levels);
                let (read, _, _) = $reader.read_records(rows, levels, None, &mut values)?;
                (read, values)
            }};
        }
        let meaning = self.meaning;
        let read;
        self.values = match &mut self.reader {
            ColumnReader::BoolColumnReader(reader) => {
                let (count, values) = decoded!(reader);
                read = count;
                Values::Booleans(values)
            }
            ColumnReader::Int32ColumnReader(reader) => {
                let (count, values) = decoded!(reader);
                read = count;
                match meaning {
                    Meaning::Decimal(precision, scale) => Values::Texts(
                        (values.into_iter())
                            .map(|value| text(Decimal::from_i32(value, precision, scale)))
                            .collect(),
                    ),
                    Meaning::Unsigned => Values::Integers(
                        values
                            .into_iter()
                            .map(|value| i64::from(value as u32))
                            .collect(),
                    ),
                    _ => whole(values.into_iter().map(i64::from), meaning),
                }
            }
            ColumnReader::Int64ColumnReader(reader) => {
                let (count, values) = decoded!(reader);
                read = count;
                match meaning {
                    Meaning::Decimal(precision, scale) => Values::Texts(
                        (values.into_iter())
                            .map(|value| text(Decimal::from_i64(value, precision, scale)))
                            .collect(),
                    ),
                    Meaning::Unsigned => {
                        Values::Unsigned(values.into_iter().map(|value| value as u64).collect())
                    }
                    _ => whole(values.into_iter(), meaning),
                }
            }
            ColumnReader::Int96ColumnReader(reader) => {
                let (count, values) = decoded!(reader);
                read = count;
                let millis = |value: Int96| {
                    let millis = value.to_millis();
                    (millis, millis as f64 / 1e3)
                };
                Values::Moments(values.into_iter().map(millis).collect())
            }
            ColumnReader::FloatColumnReader(reader) => {
                let (count, values) = decoded!(reader);
                read = count;
                Values::Singles(values)
            }
            ColumnReader::DoubleColumnReader(reader) => {
                let (count, values) = decoded!(reader);
                read = count;
                Values::Numbers(values)
            }
            ColumnReader::ByteArrayColumnReader(reader) => {
                let (count, values) = decoded!(reader);
                read = count;
                bytes(values, meaning)
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                let (count, values) = decoded!(reader);
                read = count;
                bytes(values.into_iter().map(Into::into).collect(), meaning)
            }
        };
        self.place(read);
        Ok(read)
    }

    fn place(&mut self, rows: usize) {
        self.places.clear();
        if !self.is_optional {
            self.places.extend((0..rows).map(Some));
            return;
        }
        let mut next = 0;
        self.places.extend(self.levels.iter().map(|level| {
            (*level > 0).then(|| {
                next += 1;
                next - 1
            })
        }));
    }

    /// The value of a row of the batch.
    pub(super) fn value(&self, row: usize) -> std::result::Result<Value<'_>, &'static str> {
        let Some(at) = self.places.get(row).copied().flatten() else {
            return Ok(Value::None);
        };
        let value = match &self.values {
            Values::Numbers(values) => values.get(at).map(|value| Value::Number(*value)),
            Values::Singles(values) => values.get(at).map(|value| Value::Single(*value)),
            Values::Integers(values) => values.get(at).map(|value| Value::Integer(*value)),
            // Each by itself: how a value is read must not depend on others of its batch.
            Values::Unsigned(values) => (values.get(at))
                .map(|value| i64::try_from(*value).map_or(Value::Unsigned(*value), Value::Integer)),
            Values::Moments(values) => {
                (values.get(at)).map(|&(raw, seconds)| Value::Moment { raw, seconds })
            }
            Values::Texts(values) => values.get(at).map(|value| Value::Text(value)),
            Values::Booleans(values) => {
                (values.get(at)).map(|value| Value::Text(if *value { "true" } else { "false" }))
            }
            Values::Bytes(values) => values.get(at).map(|value| {
                let bytes = value.data();
                std::str::from_utf8(bytes)
                    .map_or(Value::Bytes(bytes), |text| Value::Text(text.trim()))
            }),
        };
        value.ok_or("cannot be read")
    }
}

fn whole(values: impl Iterator<Item = i64>, meaning: Meaning) -> Values {
    match meaning {
        Meaning::Moment(unit) => {
            Values::Moments(values.map(|raw| (raw, raw as f64 * unit)).collect())
        }
        _ => Values::Integers(values.collect()),
    }
}

fn bytes(values: Vec<parquet::data_type::ByteArray>, meaning: Meaning) -> Values {
    match meaning {
        Meaning::Decimal(precision, scale) => Values::Texts(
            (values.into_iter())
                .map(|value| text(Decimal::from_bytes(value, precision, scale)))
                .collect(),
        ),
        Meaning::Half => Values::Singles(values.iter().map(|value| half(value.data())).collect()),
        Meaning::Uuid => Values::Texts(values.iter().map(|value| uuid(value.data())).collect()),
        _ => Values::Bytes(values),
    }
}

fn text(decimal: Decimal) -> String {
    Field::Decimal(decimal).to_string()
}

fn half(bytes: &[u8]) -> f32 {
    match bytes {
        [low, high] => half::f16::from_le_bytes([*low, *high]).to_f32(),
        _ => f32::NAN,
    }
}

fn uuid(bytes: &[u8]) -> String {
    let hex = crate::hex::hex(bytes);
    match bytes.len() {
        16 => [
            &hex[..8],
            &hex[8..12],
            &hex[12..16],
            &hex[16..20],
            &hex[20..],
        ]
        .join("-"),
        _ => hex,
    }
}

fn meaning(column: &ColumnDescriptor) -> Meaning {
    let decimal = || Meaning::Decimal(column.type_precision(), column.type_scale());
    match column.logical_type_ref() {
        Some(LogicalType::Date) => return Meaning::Moment(SECONDS_OF_DAY),
        Some(LogicalType::Timestamp(timestamp)) => {
            return Meaning::Moment(seconds(&timestamp.unit));
        }
        Some(LogicalType::Decimal { .. }) => return decimal(),
        Some(LogicalType::Float16) => return Meaning::Half,
        Some(LogicalType::Uuid) => return Meaning::Uuid,
        _ => {}
    }
    match column.converted_type() {
        ConvertedType::DATE => Meaning::Moment(SECONDS_OF_DAY),
        ConvertedType::TIMESTAMP_MILLIS => Meaning::Moment(1e-3),
        ConvertedType::TIMESTAMP_MICROS => Meaning::Moment(1e-6),
        ConvertedType::DECIMAL => decimal(),
        ConvertedType::UINT_8
        | ConvertedType::UINT_16
        | ConvertedType::UINT_32
        | ConvertedType::UINT_64 => Meaning::Unsigned,
        _ if column.physical_type() == Physical::INT96 => Meaning::Moment(1e-3),
        _ => Meaning::Itself,
    }
}

/// Seconds of a unit of time.
fn seconds(unit: &TimeUnit) -> f64 {
    match unit {
        TimeUnit::MILLIS => 1e-3,
        TimeUnit::MICROS => 1e-6,
        TimeUnit::NANOS => 1e-9,
    }
}
