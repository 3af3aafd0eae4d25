//! What is written is read by a decoder of its own here, and computed by the plainest loops, against the model itself.
#![allow(clippy::unwrap_used)]

use super::of_model;
use crate::device::host;
use crate::models::{ModelName, ModelSpec};
use crate::run::{RunFolder, workbench};
use std::collections::BTreeMap;
use tacita_datasets::{ImageSize, Images, RecordSet, RowLayout, Rows, Shape, Target};

/// A field of a message: its number, and a whole number or bytes.
enum Field<'a> {
    Int(u64, u64),
    Float(u64, f32),
    Bytes(u64, &'a [u8]),
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let (first, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            break;
        }
    }
    value
}

fn fields(mut bytes: &[u8]) -> Vec<Field<'_>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let field = key >> 3;
        fields.push(match key & 7 {
            0 => Field::Int(field, varint(&mut bytes)),
            2 => {
                let length = varint(&mut bytes) as usize;
                let (value, rest) = bytes.split_at(length);
                bytes = rest;
                Field::Bytes(field, value)
            }
            5 => {
                let (value, rest) = bytes.split_at(4);
                bytes = rest;
                Field::Float(field, f32::from_le_bytes(value.try_into().unwrap()))
            }
            other => panic!("wire type {other}"),
        });
    }
    fields
}

fn all(message: &[u8], number: u64) -> Vec<&[u8]> {
    let bytes = fields(message).into_iter().filter_map(|field| match field {
        Field::Bytes(field, value) if field == number => Some(value),
        _ => None,
    });
    bytes.collect()
}

fn texts(message: &[u8], number: u64) -> Vec<String> {
    let texts = all(message, number).into_iter();
    texts
        .map(|text| String::from_utf8(text.to_vec()).unwrap())
        .collect()
}

fn ints(message: &[u8], number: u64) -> Vec<u64> {
    let ints = fields(message).into_iter().filter_map(|field| match field {
        Field::Int(field, value) if field == number => Some(value),
        _ => None,
    });
    ints.collect()
}

#[derive(Clone)]
struct Tensor {
    sizes: Vec<usize>,
    values: Vec<f64>,
}

struct Node {
    operator: String,
    inputs: Vec<String>,
    output: String,
    ints: BTreeMap<String, Vec<usize>>,
    floats: BTreeMap<String, f64>,
}

fn node(message: &[u8]) -> Node {
    let (mut whole, mut floats) = (BTreeMap::new(), BTreeMap::new());
    for attribute in all(message, 5) {
        let name = texts(attribute, 1)[0].clone();
        let one = ints(attribute, 3);
        let several = ints(attribute, 8);
        let values = one.into_iter().chain(several);
        whole.insert(name.clone(), values.map(|value| value as usize).collect());
        for field in fields(attribute) {
            if let Field::Float(2, value) = field {
                floats.insert(name.clone(), f64::from(value));
            }
        }
    }
    Node {
        operator: texts(message, 4)[0].clone(),
        inputs: texts(message, 1),
        output: texts(message, 2)[0].clone(),
        ints: whole,
        floats,
    }
}

/// Output position by position, over every input it sees.
fn windows(
    input: &Tensor,
    kernel: usize,
    stride: usize,
    zeros: usize,
    mut visit: impl FnMut(usize, usize, [usize; 2], &mut dyn FnMut(usize, [usize; 2]) -> f64) -> f64,
    channels: usize,
) -> Tensor {
    let [n, _, height, width]: [usize; 4] = input.sizes.clone().try_into().unwrap();
    let out = |size: usize| (size + 2 * zeros - kernel) / stride + 1;
    let (high, wide) = (out(height), out(width));
    let mut values = Vec::new();
    for image in 0..n {
        for channel in 0..channels {
            for y in 0..high {
                for x in 0..wide {
                    let mut at = |from: usize, [dy, dx]: [usize; 2]| {
                        let row = (y * stride + dy).checked_sub(zeros);
                        let column = (x * stride + dx).checked_sub(zeros);
                        match (row, column) {
                            (Some(row), Some(column)) if row < height && column < width => {
                                let place = (image * input.sizes[1] + from) * height + row;
                                input.values[place * width + column]
                            }
                            _ => 0.0,
                        }
                    };
                    values.push(visit(image, channel, [y, x], &mut at));
                }
            }
        }
    }
    Tensor {
        sizes: vec![n, channels, high, wide],
        values,
    }
}

fn map(input: &Tensor, f: impl Fn(f64) -> f64) -> Tensor {
    Tensor {
        sizes: input.sizes.clone(),
        values: input.values.iter().map(|value| f(*value)).collect(),
    }
}

fn computed(node: &Node, inputs: &[Tensor]) -> Tensor {
    let input = &inputs[0];
    match node.operator.as_str() {
        "Identity" => input.clone(),
        "Relu" => map(input, |x| x.max(0.0)),
        "Tanh" => map(input, f64::tanh),
        "LeakyRelu" => map(
            input,
            |x| if x < 0.0 { node.floats["alpha"] * x } else { x },
        ),
        "Sub" => map(input, |x| x - inputs[1].values[0]),
        "Div" => map(input, |x| x / inputs[1].values[0]),
        "Flatten" => Tensor {
            sizes: vec![input.sizes[0], input.sizes[1..].iter().product()],
            values: input.values.clone(),
        },
        "Gemm" => {
            let [rows, inner] = [input.sizes[0], input.sizes[1]];
            let columns = inputs[1].sizes[1];
            assert_eq!(inputs[1].sizes[0], inner);
            let value = |row: usize, column: usize| {
                let products = (0..inner).map(|k| {
                    input.values[row * inner + k] * inputs[1].values[k * columns + column]
                });
                products.sum::<f64>() + inputs[2].values[column]
            };
            let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
            Tensor {
                sizes: vec![rows, columns],
                values: places.map(|(row, column)| value(row, column)).collect(),
            }
        }
        "Conv" => {
            let (weight, bias) = (&inputs[1], &inputs[2]);
            let [out, from, kernel, _]: [usize; 4] = weight.sizes.clone().try_into().unwrap();
            assert_eq!(node.ints["kernel_shape"], [kernel, kernel]);
            let visit = |_, channel: usize, _, at: &mut dyn FnMut(usize, [usize; 2]) -> f64| {
                let mut sum = bias.values[channel];
                for source in 0..from {
                    for dy in 0..kernel {
                        for dx in 0..kernel {
                            let place = ((channel * from + source) * kernel + dy) * kernel + dx;
                            sum += weight.values[place] * at(source, [dy, dx]);
                        }
                    }
                }
                sum
            };
            windows(
                input,
                kernel,
                node.ints["strides"][0],
                node.ints["pads"][0],
                visit,
                out,
            )
        }
        "MaxPool" => {
            let kernel = node.ints["kernel_shape"][0];
            let visit = |_, channel: usize, _, at: &mut dyn FnMut(usize, [usize; 2]) -> f64| {
                let places = (0..kernel * kernel).map(|place| [place / kernel, place % kernel]);
                places.fold(f64::NEG_INFINITY, |most, place| {
                    most.max(at(channel, place))
                })
            };
            windows(
                input,
                kernel,
                node.ints["strides"][0],
                0,
                visit,
                input.sizes[1],
            )
        }
        "Softmax" => {
            let classes = input.sizes[1];
            let rows = input.values.chunks(classes).flat_map(|row| {
                let sum: f64 = row.iter().map(|x| x.exp()).sum();
                row.iter().map(move |x| x.exp() / sum)
            });
            Tensor {
                sizes: input.sizes.clone(),
                values: rows.collect(),
            }
        }
        other => panic!("{other}"),
    }
}

/// Probabilities that the file gives for an input.
fn run(file: &[u8], input: Tensor) -> Vec<f64> {
    let graph = all(file, 7)[0];
    assert_eq!(texts(all(graph, 11)[0], 1), ["input"]);
    let outputs: Vec<String> = all(graph, 12)
        .iter()
        .map(|output| texts(output, 1)[0].clone())
        .collect();
    assert_eq!(outputs, ["scores", "probabilities"]);
    let mut values = BTreeMap::from([("input".to_string(), input)]);
    for tensor in all(graph, 5) {
        let bytes = all(tensor, 9)[0];
        let (numbers, _) = bytes.as_chunks::<4>();
        let values_of = numbers
            .iter()
            .map(|number| f64::from(f32::from_le_bytes(*number)));
        let tensor_of = Tensor {
            sizes: ints(tensor, 1)
                .into_iter()
                .map(|size| size as usize)
                .collect(),
            values: values_of.collect(),
        };
        assert_eq!(
            tensor_of.sizes.iter().product::<usize>(),
            tensor_of.values.len()
        );
        values.insert(texts(tensor, 8)[0].clone(), tensor_of);
    }
    for message in all(graph, 1) {
        let node = node(message);
        let inputs: Vec<Tensor> = node
            .inputs
            .iter()
            .map(|name| values[name].clone())
            .collect();
        values.insert(node.output.clone(), computed(&node, &inputs));
    }
    values["probabilities"].values.clone()
}

#[test]
fn an_exported_model_gives_the_probabilities_of_the_model() {
    let image = |channels, width| {
        Shape::Images(ImageSize {
            channels,
            height: width,
            width,
        })
    };
    let cases = [
        (ModelName::Logistic, Shape::Rows { width: 7 }),
        (ModelName::Mlp, Shape::Rows { width: 7 }),
        (ModelName::BagOfWords, Shape::Rows { width: 12 }),
        (ModelName::Logistic, image(1, 8)),
        (ModelName::Mlp, image(3, 6)),
        (ModelName::Cnn, image(1, 8)),
        (ModelName::Cnn, image(3, 20)),
        (ModelName::ReluCnn, image(1, 28)),
        (ModelName::ExampleCnn, image(1, 28)),
        (ModelName::OnlineCnn, image(1, 28)),
    ];
    for (index, (name, shape)) in cases.into_iter().enumerate() {
        let spec = ModelSpec {
            name,
            shape,
            classes: 3,
            hidden: None,
            seed: Some(index as u64),
        };
        let folder =
            std::env::temp_dir().join(format!("tacita-onnx-{}-{index}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let bench = workbench(spec, &host()).unwrap();
        bench.save(&RunFolder::at(&folder)).unwrap();
        let parameters = std::fs::read(RunFolder::at(&folder).model()).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        let file = of_model(spec, &parameters).unwrap().file();

        let (records, input) = inputs(shape);
        let classes = Target::Classes(vec![String::new(); 3]);
        let rows = bench.answers(&records, &classes).unwrap();
        let expected: Vec<f64> = rows.into_iter().flatten().collect();
        let given = run(&file, input);
        assert_eq!(given.len(), expected.len());
        for (a, b) in given.iter().zip(&expected) {
            assert!((a - b).abs() < 1e-5, "{name:?}: {a} and {b}");
        }
    }
}

/// Two records of a shape, and what the model sees of them.
fn inputs(shape: Shape) -> (RecordSet, Tensor) {
    match shape {
        Shape::Images(size) => {
            let pixels: Vec<u8> = (0..2 * size.values())
                .map(|i| (i * 37 % 256) as u8)
                .collect();
            let values = pixels
                .iter()
                .map(|pixel| f64::from(*pixel) / 255.0)
                .collect();
            let images = Images::new(size, 255, 3, pixels, vec![0, 0]).unwrap();
            let sizes = vec![2, size.channels, size.height, size.width];
            (RecordSet::Images(images), Tensor { sizes, values })
        }
        Shape::Rows { width } => {
            let cells: Vec<f32> = (0..2 * width).map(|i| (i * 7 % 11) as f32 / 11.0).collect();
            let values = cells.iter().map(|cell| f64::from(*cell)).collect();
            let rows = Rows::new(RowLayout::Numbers(width), 3, cells, vec![0, 0]).unwrap();
            let sizes = vec![2, width];
            (RecordSet::Rows(rows), Tensor { sizes, values })
        }
        Shape::Tokens { .. } => unreachable!(),
    }
}

#[test]
fn a_model_of_tokens_is_refused_with_what_can_be_done() {
    let shape = Shape::Tokens {
        length: 4,
        vocabulary: 10,
    };
    let spec = ModelSpec {
        name: ModelName::EmbeddingMlp,
        shape,
        classes: 2,
        hidden: None,
        seed: None,
    };
    let empty = safetensors::tensor::serialize(
        Vec::<(String, safetensors::tensor::TensorView<'_>)>::new(),
        None,
    )
    .unwrap();
    let message = of_model(spec, &empty).unwrap_err().to_string();
    assert!(
        message.contains("embedding-mlp") && message.contains("model.safetensors"),
        "{message}"
    );
}
