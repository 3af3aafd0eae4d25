//! The models that can be exported, layer by layer as their `forward` has them.

use super::graph::{Attribute, Graph};
use crate::models::{CnnConfig, ModelName, ModelSpec};
use anyhow::{Context, Result, bail, ensure};
use burn::nn::activation::ActivationConfig;
use safetensors::tensor::{Dtype, SafeTensors};
use tacita_datasets::Shape;

/// The graph of a model.
pub fn graph(spec: ModelSpec, parameters: &SafeTensors<'_>) -> Result<Graph> {
    let (sizes, is_image) = match spec.shape {
        Shape::Images(size) => (vec![size.channels, size.height, size.width], true),
        Shape::Rows { width } => (vec![width], false),
        Shape::Tokens { .. } => return refused(spec.name),
    };
    let mut model = Builder {
        graph: Graph::new(&spec.name.name(), &sizes),
        parameters,
    };
    match (spec.mlp_activation(), spec.cnn_config()) {
        (Some(activation), _) => {
            if is_image {
                model.flatten();
            }
            model.linear_layers(&activation)?;
        }
        (None, Some(config)) => model.cnn(&config?)?,
        (None, None) => return refused(spec.name),
    }
    model.probabilities(spec.classes)
}

fn refused<T>(name: ModelName) -> Result<T> {
    bail!(
        "--model {} cannot be written as ONNX; logistic, mlp, bag-of-words and the cnn family can. Its parameters are in \
         model.safetensors, which any program reads",
        name.name()
    )
}

struct Builder<'a> {
    graph: Graph,
    parameters: &'a SafeTensors<'a>,
}

impl Builder<'_> {
    fn flatten(&mut self) {
        self.graph
            .node("Flatten", &[], &[("axis", Attribute::Int(1))]);
    }

    /// Takes a parameter of the model file; its sizes.
    fn take(&mut self, name: &str) -> Result<Vec<usize>> {
        let missing = || format!("it lacks the parameter {name:?}");
        let tensor = self.parameters.tensor(name).with_context(missing)?;
        ensure!(
            tensor.dtype() == Dtype::F32,
            "parameter {name:?} is {:?}, not F32",
            tensor.dtype()
        );
        let (numbers, _) = tensor.data().as_chunks::<4>();
        let numbers: Vec<f32> = (numbers.iter())
            .map(|number| f32::from_le_bytes(*number))
            .collect();
        self.graph.tensor(name, tensor.shape(), &numbers);
        Ok(tensor.shape().to_vec())
    }

    /// x · W + b. Weights are `[inputs, outputs]`, so nothing is transposed.
    fn linear(&mut self, layer: &str) -> Result<()> {
        let (weight, bias) = (format!("{layer}.weight"), format!("{layer}.bias"));
        self.take(&weight)?;
        self.take(&bias)?;
        self.graph.node("Gemm", &[&weight, &bias], &[]);
        Ok(())
    }

    fn activation(&mut self, activation: &ActivationConfig) -> Result<()> {
        match activation {
            ActivationConfig::Relu => self.graph.node("Relu", &[], &[]),
            ActivationConfig::Tanh => self.graph.node("Tanh", &[], &[]),
            ActivationConfig::LeakyRelu(leaky) => {
                let slope = Attribute::Float(leaky.negative_slope as f32);
                self.graph.node("LeakyRelu", &[], &[("alpha", slope)]);
            }
            other => bail!("the activation {other:?} cannot be written as ONNX"),
        }
        Ok(())
    }

    /// All layers `layers.0`, `layers.1`, … of the file, with an activation between them.
    fn linear_layers(&mut self, activation: &ActivationConfig) -> Result<()> {
        let is_weight = |name: &str| name.starts_with("layers.") && name.ends_with(".weight");
        let names = self.parameters.names().into_iter();
        let count = names.filter(|name| is_weight(name)).count();
        ensure!(count > 0, "it has no linear layers");
        for index in 0..count {
            if index > 0 {
                self.activation(activation)?;
            }
            self.linear(&format!("layers.{index}"))?;
        }
        Ok(())
    }

    fn cnn(&mut self, config: &CnnConfig) -> Result<()> {
        let [mean, deviation] = config.pixels;
        if config.pixels != [0.0, 1.0] {
            self.graph.tensor("pixel_mean", &[1], &[mean as f32]);
            self.graph
                .tensor("pixel_deviation", &[1], &[deviation as f32]);
            self.graph.node("Sub", &["pixel_mean"], &[]);
            self.graph.node("Div", &["pixel_deviation"], &[]);
        }
        for (index, layer) in config.convolutions.iter().enumerate() {
            let weight = format!("convolutions.{index}.weight");
            let bias = format!("convolutions.{index}.bias");
            self.take(&weight)?;
            self.take(&bias)?;
            let (kernel, stride) = (layer.kernel as i64, layer.stride as i64);
            let zeros = layer.padding as i64;
            self.graph.node(
                "Conv",
                &[&weight, &bias],
                &[
                    ("kernel_shape", Attribute::Ints(&[kernel, kernel])),
                    ("strides", Attribute::Ints(&[stride, stride])),
                    ("pads", Attribute::Ints(&[zeros, zeros, zeros, zeros])),
                ],
            );
            self.activation(&config.activation)?;
            if let Some(stride) = layer.pool_stride {
                let stride = stride as i64;
                self.graph.node(
                    "MaxPool",
                    &[],
                    &[
                        ("kernel_shape", Attribute::Ints(&[2, 2])),
                        ("strides", Attribute::Ints(&[stride, stride])),
                    ],
                );
            }
        }
        self.flatten();
        self.linear("hidden")?;
        self.activation(&config.activation)?;
        self.linear("output")
    }

    fn probabilities(mut self, classes: usize) -> Result<Graph> {
        self.graph
            .output("Identity", &[], &[], "scores", &[classes]);
        let axis = [("axis", Attribute::Int(1))];
        self.graph
            .output("Softmax", &[], &axis, "probabilities", &[classes]);
        Ok(self.graph)
    }
}
