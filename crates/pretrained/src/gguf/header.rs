//! The bytes before the tensors: metadata and the list of tensors.

use super::value::Value;
use super::{Encoding, GgufError, TensorInfo};
use std::collections::BTreeMap;
use std::io::Read;

/// Reads numbers and texts and never asks for more memory than the file has bytes left.
pub(super) struct Header<R> {
    reader: R,
    pub position: u64,
    length: u64,
}

impl<R: Read> Header<R> {
    pub fn new(reader: R, length: u64) -> Self {
        Self {
            reader,
            position: 0,
            length,
        }
    }

    fn left(&self) -> u64 {
        self.length.saturating_sub(self.position)
    }

    /// Refuses `count` things of at least `each` bytes if the file cannot hold them.
    fn check_room(&self, count: u64, each: u64, what: &str) -> Result<(), GgufError> {
        let needed = count.saturating_mul(each);
        if needed > self.left() {
            return Err(GgufError::Truncated {
                what: what.to_owned(),
                needed,
                left: self.left(),
            });
        }
        Ok(())
    }

    fn bytes<const N: usize>(&mut self, what: &str) -> Result<[u8; N], GgufError> {
        self.check_room(N as u64, 1, what)?;
        let mut bytes = [0; N];
        self.reader.read_exact(&mut bytes)?;
        self.position += N as u64;
        Ok(bytes)
    }

    pub fn u32(&mut self, what: &str) -> Result<u32, GgufError> {
        self.bytes(what).map(u32::from_le_bytes)
    }

    pub fn u64(&mut self, what: &str) -> Result<u64, GgufError> {
        self.bytes(what).map(u64::from_le_bytes)
    }

    fn text(&mut self, what: &str) -> Result<String, GgufError> {
        let length = self.u64(what)?;
        self.check_room(length, 1, what)?;
        let mut bytes = vec![0; length as usize];
        self.reader.read_exact(&mut bytes)?;
        self.position += length;
        String::from_utf8(bytes).map_err(|_| GgufError::NotText {
            what: what.to_owned(),
        })
    }

    /// All metadata.
    pub fn metadata(&mut self, count: u64) -> Result<BTreeMap<String, Value>, GgufError> {
        let mut metadata = BTreeMap::new();
        // A key without letters, its type and one byte.
        self.check_room(count, 8 + 4 + 1, "the metadata")?;
        for _ in 0..count {
            let key = self.text("a key of the metadata")?;
            let code = self.u32(&key)?;
            let value = self.value(code, &key)?;
            if metadata.insert(key.clone(), value).is_some() {
                return Err(GgufError::Duplicate { name: key });
            }
        }
        Ok(metadata)
    }

    fn value(&mut self, code: u32, key: &str) -> Result<Value, GgufError> {
        Ok(match code {
            0..=5 | 10 | 11 => Value::Integer(self.integer(code, key)?),
            6 | 12 => Value::Real(self.real(code, key)?),
            7 => Value::Flag(self.bytes::<1>(key)? != [0]),
            8 => Value::Text(self.text(key)?),
            9 => self.list(key)?,
            _ => {
                return Err(GgufError::UnknownType {
                    key: key.to_owned(),
                    code,
                });
            }
        })
    }

    fn list(&mut self, key: &str) -> Result<Value, GgufError> {
        let (code, count) = (self.u32(key)?, self.u64(key)?);
        let each = match code {
            0 | 1 | 7 => 1,
            2 | 3 => 2,
            4..=6 => 4,
            8 | 10..=12 => 8,
            // A list of lists may be legal; nothing that is read here has one.
            _ => {
                return Err(GgufError::UnknownType {
                    key: key.to_owned(),
                    code,
                });
            }
        };
        self.check_room(count, each, key)?;
        Ok(match code {
            6 | 12 => Value::Reals(self.several(count, |header| header.real(code, key))?),
            7 => Value::Flags(self.several(count, |header| Ok(header.bytes::<1>(key)? != [0]))?),
            8 => Value::Texts(self.several(count, |header| header.text(key))?),
            _ => Value::Integers(self.several(count, |header| header.integer(code, key))?),
        })
    }

    fn several<T>(
        &mut self,
        count: u64,
        one: impl Fn(&mut Self) -> Result<T, GgufError>,
    ) -> Result<Vec<T>, GgufError> {
        (0..count).map(|_| one(self)).collect()
    }

    fn integer(&mut self, code: u32, key: &str) -> Result<i64, GgufError> {
        Ok(match code {
            0 => i64::from(u8::from_le_bytes(self.bytes(key)?)),
            1 => i64::from(i8::from_le_bytes(self.bytes(key)?)),
            2 => i64::from(u16::from_le_bytes(self.bytes(key)?)),
            3 => i64::from(i16::from_le_bytes(self.bytes(key)?)),
            4 => i64::from(u32::from_le_bytes(self.bytes(key)?)),
            5 => i64::from(i32::from_le_bytes(self.bytes(key)?)),
            // Nothing that is read here comes near the largest number.
            10 => i64::try_from(self.u64(key)?).unwrap_or(i64::MAX),
            _ => i64::from_le_bytes(self.bytes(key)?),
        })
    }

    fn real(&mut self, code: u32, key: &str) -> Result<f64, GgufError> {
        Ok(match code {
            6 => f64::from(f32::from_le_bytes(self.bytes(key)?)),
            _ => f64::from_le_bytes(self.bytes(key)?),
        })
    }

    /// The list of tensors, each checked by itself. Offsets count from the end of the header.
    pub fn tensors(
        &mut self,
        count: u64,
        alignment: u64,
    ) -> Result<BTreeMap<String, TensorInfo>, GgufError> {
        let mut tensors = BTreeMap::new();
        // A name without letters, no sizes, a type and an offset.
        self.check_room(count, 8 + 4 + 4 + 8, "the list of tensors")?;
        for _ in 0..count {
            let name = self.text("the name of a tensor")?;
            let info = self.tensor(&name, alignment)?;
            if tensors.insert(name.clone(), info).is_some() {
                return Err(GgufError::Duplicate { name });
            }
        }
        Ok(tensors)
    }

    fn tensor(&mut self, name: &str, alignment: u64) -> Result<TensorInfo, GgufError> {
        let dimensions = u64::from(self.u32(name)?);
        self.check_room(dimensions, 8, name)?;
        let shape = self.several(dimensions, |header| header.u64(name))?;
        let (code, offset) = (self.u32(name)?, self.u64(name)?);
        let encoding = Encoding::of_code(code).ok_or_else(|| GgufError::UnknownQuantisation {
            tensor: name.to_owned(),
            code,
            name: Encoding::name_of_other(code),
        })?;
        let wrong = |why| GgufError::Shape {
            tensor: name.to_owned(),
            shape: shape.clone(),
            why,
        };
        if shape.is_empty() || shape.len() > 4 {
            return Err(wrong("a tensor has one to four dimensions"));
        }
        if !shape[0].is_multiple_of(encoding.block_values() as u64) {
            return Err(wrong("a row is no whole number of blocks of its encoding"));
        }
        let elements = shape
            .iter()
            .try_fold(1_u64, |product, size| product.checked_mul(*size));
        let bytes = elements
            .and_then(|elements| {
                (elements / encoding.block_values() as u64)
                    .checked_mul(encoding.block_bytes() as u64)
            })
            .ok_or_else(|| wrong("it has more values than can be counted"))?;
        if !offset.is_multiple_of(alignment) {
            return Err(GgufError::Misaligned {
                tensor: name.to_owned(),
                offset,
                alignment,
            });
        }
        Ok(TensorInfo {
            shape: shape.iter().rev().map(|size| *size as usize).collect(),
            encoding,
            offset,
            bytes,
        })
    }
}
