//! Messages in the wire format of Protocol Buffers, as far as ONNX needs it.

/// A message that is being written.
#[derive(Debug, Clone, Default)]
pub struct Message(Vec<u8>);

/// Kinds of fields on the wire.
const VARINT: u64 = 0;
const BYTES: u64 = 2;
const FOUR_BYTES: u64 = 5;

impl Message {
    /// A whole number.
    pub fn int(&mut self, field: u64, value: i64) -> &mut Self {
        self.varint(field << 3 | VARINT);
        // Negative ones take ten bytes, as two's complement of 64 bits.
        self.varint(value as u64);
        self
    }

    /// A 32-bit floating-point number.
    pub fn float(&mut self, field: u64, value: f32) -> &mut Self {
        self.varint(field << 3 | FOUR_BYTES);
        self.0.extend(value.to_le_bytes());
        self
    }

    /// Bytes.
    pub fn bytes(&mut self, field: u64, value: &[u8]) -> &mut Self {
        self.varint(field << 3 | BYTES);
        self.varint(value.len() as u64);
        self.0.extend(value);
        self
    }

    /// A text.
    pub fn text(&mut self, field: u64, value: &str) -> &mut Self {
        self.bytes(field, value.as_bytes())
    }

    /// A message within this one.
    pub fn message(&mut self, field: u64, value: &Self) -> &mut Self {
        self.bytes(field, &value.0)
    }

    /// The bytes of the message.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}
