//! An ONNX graph that is one path from input to output. Numbers of fields are those of `onnx.proto` (ONNX 1.12, version 8 of
//! its intermediate representation, operators of version 17).

use super::protobuf::Message;

const IR_VERSION: i64 = 8;
const OPERATORS: i64 = 17;
/// `TensorProto.DataType.FLOAT`.
const FLOAT: i64 = 1;
/// `AttributeProto.AttributeType`.
const ATTRIBUTE_FLOAT: i64 = 1;
const ATTRIBUTE_INT: i64 = 2;
const ATTRIBUTE_INTS: i64 = 7;

/// A value of an attribute of a node.
pub enum Attribute<'a> {
    /// A number.
    Float(f32),
    /// A whole number.
    Int(i64),
    /// Whole numbers.
    Ints(&'a [i64]),
}

/// A graph that is being written.
#[derive(Debug, Clone)]
pub struct Graph {
    graph: Message,
    metadata: Vec<(String, String)>,
    nodes: usize,
    /// Name of what the last node gives.
    last: String,
}

impl Graph {
    /// A graph whose input has these sizes after that of the batch.
    pub fn new(name: &str, sizes: &[usize]) -> Self {
        let mut graph = Message::default();
        graph.text(2, name);
        graph.message(11, &value("input", sizes));
        Self {
            graph,
            metadata: Vec::new(),
            nodes: 0,
            last: "input".into(),
        }
    }

    /// Parameters under their name in the model file.
    pub fn tensor(&mut self, name: &str, sizes: &[usize], values: &[f32]) {
        let mut tensor = Message::default();
        for &size in sizes {
            tensor.int(1, size as i64);
        }
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        tensor.int(2, FLOAT).text(8, name).bytes(9, &bytes);
        self.graph.message(5, &tensor);
    }

    /// The next node on the path; `parameters` are its other inputs.
    pub fn node(
        &mut self,
        operator: &str,
        parameters: &[&str],
        attributes: &[(&str, Attribute<'_>)],
    ) {
        self.nodes += 1;
        let output = format!("{}_{}", operator.to_lowercase(), self.nodes);
        self.node_named(operator, parameters, attributes, &output);
    }

    /// The same, giving an output of the graph with these sizes after that of the batch.
    pub fn output(
        &mut self,
        operator: &str,
        parameters: &[&str],
        attributes: &[(&str, Attribute<'_>)],
        name: &str,
        sizes: &[usize],
    ) {
        self.node_named(operator, parameters, attributes, name);
        self.graph.message(12, &value(name, sizes));
    }

    fn node_named(
        &mut self,
        operator: &str,
        parameters: &[&str],
        attributes: &[(&str, Attribute<'_>)],
        output: &str,
    ) {
        let mut node = Message::default();
        node.text(1, &self.last);
        for parameter in parameters {
            node.text(1, parameter);
        }
        node.text(2, output).text(3, output).text(4, operator);
        for (name, value) in attributes {
            node.message(5, &attribute(name, value));
        }
        self.graph.message(1, &node);
        self.last = output.into();
    }

    /// Something to know of the model.
    pub fn metadata(&mut self, key: &str, value: &str) {
        self.metadata.push((key.into(), value.into()));
    }

    /// The file.
    pub fn file(self) -> Vec<u8> {
        let mut operators = Message::default();
        operators.text(1, "").int(2, OPERATORS);
        let mut model = Message::default();
        model
            .int(1, IR_VERSION)
            .text(2, "tacita")
            .text(3, env!("CARGO_PKG_VERSION"))
            .message(7, &self.graph)
            .message(8, &operators);
        for (key, value) in &self.metadata {
            let mut entry = Message::default();
            entry.text(1, key).text(2, value);
            model.message(14, &entry);
        }
        model.into_bytes()
    }
}

fn attribute(name: &str, value: &Attribute<'_>) -> Message {
    let mut message = Message::default();
    message.text(1, name);
    match value {
        Attribute::Float(value) => message.float(2, *value).int(20, ATTRIBUTE_FLOAT),
        Attribute::Int(value) => message.int(3, *value).int(20, ATTRIBUTE_INT),
        Attribute::Ints(values) => {
            for value in *values {
                message.int(8, *value);
            }
            message.int(20, ATTRIBUTE_INTS)
        }
    };
    message
}

/// An input or output of numbers: `[batch, sizes…]`.
fn value(name: &str, sizes: &[usize]) -> Message {
    let mut shape = Message::default();
    let mut batch = Message::default();
    batch.text(2, "batch");
    shape.message(1, &batch);
    for &size in sizes {
        let mut dimension = Message::default();
        dimension.int(1, size as i64);
        shape.message(1, &dimension);
    }
    let mut tensor = Message::default();
    tensor.int(1, FLOAT).message(2, &shape);
    let mut kind = Message::default();
    kind.message(1, &tensor);
    let mut message = Message::default();
    message.text(1, name).message(2, &kind);
    message
}
