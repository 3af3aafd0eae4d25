//! Rows as JSON lines, an object each.

use super::json_lines::{Line, Lines, object};
use super::rows::{Hint, RawTable, Rows, Sink};
use crate::bad_record::BadRecord;
use crate::preparation::Value;
use anyhow::Result;
use serde_json::Value as Json;
use std::io::Read;

/// The rows of a file by the fields that are wanted; what else an object holds does not count.
pub(super) fn parse(file: Box<dyn Read>, fields: &[String]) -> RawTable {
    RawTable {
        header: fields.to_vec(),
        hints: vec![Hint::Nothing; fields.len()],
        rows: Box::new(JsonRows {
            lines: Lines::new(file),
            fields: fields.to_vec(),
        }),
    }
}

struct JsonRows {
    lines: Lines,
    fields: Vec<String>,
}

impl Rows for JsonRows {
    fn each(mut self: Box<Self>, needed: &[bool], sink: &mut Sink<'_>) -> Result<()> {
        while let Some(Line { number, bytes }) = self.lines.next()? {
            let object = match bytes.and_then(object) {
                Ok(object) => object,
                Err(error) => {
                    sink(number, Err(error))?;
                    continue;
                }
            };
            let row: Result<Vec<Value<'_>>> = (self.fields.iter().zip(needed))
                .map(|(field, needed)| match object.get(field) {
                    Some(value) if *needed => self::value(field, value),
                    // A field that is not there is a value that is missing.
                    _ => Ok(Value::None),
                })
                .collect();
            match row {
                Ok(row) => sink(number, Ok(&row))?,
                Err(error) => sink(number, Err(error))?,
            }
        }
        Ok(())
    }
}

/// The value of a field.
fn value<'a>(field: &str, value: &'a Json) -> Result<Value<'a>> {
    Ok(match value {
        Json::Null => Value::None,
        Json::Bool(value) => Value::Text(if *value { "true" } else { "false" }),
        Json::String(text) => Value::Text(text.trim()),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Value::Integer(whole),
            (None, Some(number)) => Value::Number(number),
            (None, None) => Value::None,
        },
        Json::Array(_) | Json::Object(_) => {
            let problem = format!("the field `{field}` holds a list or an object, not a value");
            return Err(BadRecord::new(problem).into());
        }
    })
}
