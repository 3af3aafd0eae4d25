//! Rows as JSON lines, an object each.

use super::json_lines::{Line, Lines, object};
use super::rows::{Hint, RawTable, Rows, Sink};
use crate::bad_record::BadRecord;
use crate::preparation::Value;
use anyhow::Result;
use serde_json::{Map, Value as Json};
use std::io::Read;

/// The rows of a file by the fields that are wanted; what else an object holds does not count. One of them may hold a
/// list, which becomes one text with this mark between its items.
pub(super) fn parse(
    file: Box<dyn Read>,
    fields: &[String],
    list: Option<(String, char)>,
) -> RawTable {
    RawTable {
        header: fields.to_vec(),
        hints: vec![Hint::Nothing; fields.len()],
        rows: Box::new(JsonRows {
            lines: Lines::new(file),
            fields: fields.to_vec(),
            list,
        }),
    }
}

struct JsonRows {
    lines: Lines,
    fields: Vec<String>,
    list: Option<(String, char)>,
}

impl Rows for JsonRows {
    fn each(mut self: Box<Self>, needed: &[bool], sink: &mut Sink<'_>) -> Result<()> {
        while let Some(Line { number, bytes }) = self.lines.next()? {
            let object = bytes.and_then(object);
            let object = match object.and_then(|object| self.joined(object)) {
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

impl JsonRows {
    /// The object with its list as one text.
    fn joined(&self, mut object: Map<String, Json>) -> Result<Map<String, Json>> {
        let Some((field, mark)) = &self.list else {
            return Ok(object);
        };
        if let Some(Json::Array(items)) = object.get(field) {
            let items = items.iter().map(|item| match item.as_str() {
                Some(text) if !text.contains(*mark) => Ok(text),
                _ => Err(BadRecord::new(format!(
                    "`{field}` lists something that is not one of the declared labels"
                ))),
            });
            let items = items.collect::<Result<Vec<&str>, _>>()?;
            let text = Json::String(items.join(&mark.to_string()));
            object.insert(field.clone(), text);
        }
        Ok(object)
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
