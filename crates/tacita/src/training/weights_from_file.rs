//! A model that starts from weights trained before, on public records, instead of random ones.

use crate::sensitivity::parameters::{CoverageError, Parameter, Parameters};
use crate::training::model_file::numbers;
use crate::training::parameter_values;
use burn::module::Module;
use safetensors::SafeTensorError;
use safetensors::tensor::{Dtype, SafeTensors};
use thiserror::Error;

/// A model that starts from other weights.
#[derive(Debug)]
pub struct Started<M> {
    /// The model.
    pub model: M,
    /// Paths of the parameters that were taken.
    pub taken: Vec<String>,
    /// How many numbers those are.
    pub numbers: usize,
    /// Paths of those that stay as they were drawn: the file lacks them, or has them in another shape.
    pub drawn: Vec<String>,
}

/// Why a model cannot start from a file. Nothing was released.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StartError {
    /// Not a file of weights.
    #[error("it is not in the safetensors format ({0}); give the model.safetensors of a run")]
    Format(SafeTensorError),
    /// A model whose trainable parameters cannot be listed.
    #[error(transparent)]
    Model(#[from] CoverageError),
    /// Numbers of another type.
    #[error("its `{path}` holds {dtype:?}; convert it to F32")]
    Type {
        /// Path of the parameter.
        path: String,
        /// Its type.
        dtype: Dtype,
    },
    /// Infinite or undefined weights, with which nothing can be learned.
    #[error("its `{path}` holds numbers that are not finite")]
    NotFinite {
        /// Path of the parameter.
        path: String,
    },
    /// A file of another model, or one with biases only in common.
    #[error(
        "none of its weights ({}) has the name and shape of one of the model's ({})",
        theirs.join(", "),
        ours.join(", ")
    )]
    NothingFits {
        /// A few of the file's.
        theirs: Vec<String>,
        /// A few of the model's.
        ours: Vec<String>,
    },
}

/// The model with every parameter that a file in the safetensors format has under the same path and in the same shape,
/// as [`save_model`](crate::save_model) writes it. The others stay as they are, such as the last layer where there are
/// other classes. A convolution for colour serves grey images: its weights are summed over the colours, which is what
/// a grey image in all of them amounts to.
///
/// # Guarantee
/// None for the records that the weights were learned from: those must be public, or others than the ones to be
/// trained on and paid for elsewhere.
///
/// ```
/// use burn::tensor::Device;
/// use tacita::{layers::LinearConfig, save_model, start_from};
///
/// let device = Device::default().autodiff();
/// let path = std::env::temp_dir().join(format!("tacita-start-{}.safetensors", std::process::id()));
/// let public = LinearConfig::new(4, 2).init(&device);
/// save_model(&public, &path)?;
/// let started = start_from(LinearConfig::new(4, 2).init(&device), &std::fs::read(&path)?)?;
/// assert_eq!(started.model.weight.val().to_data(), public.weight.val().to_data());
/// assert!(started.drawn.is_empty());
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn start_from<M: Module>(model: M, file: &[u8]) -> Result<Started<M>, StartError> {
    let file = SafeTensors::deserialize(file).map_err(StartError::Format)?;
    let parameters = Parameters::of(&model)?;
    let mut values = parameter_values::values(&model);
    let (mut taken, mut drawn) = (Vec::new(), Vec::new());
    let (mut numbers, mut weights) = (0, 0);
    for (parameter, values) in parameters.list().iter().zip(&mut values) {
        let path = parameter.path.clone();
        match fitting(parameter, &file)? {
            Some(theirs) if theirs.iter().any(|value| !value.is_finite()) => {
                return Err(StartError::NotFinite { path });
            }
            Some(theirs) => {
                numbers += theirs.len();
                weights += usize::from(parameter.shape.len() > 1);
                *values = theirs;
                taken.push(path);
            }
            None => drawn.push(path),
        }
    }
    match parameter_values::with_values(model, &values) {
        Some(model) if weights > 0 => Ok(Started {
            model,
            taken,
            numbers,
            drawn,
        }),
        _ => Err(StartError::NothingFits {
            theirs: first(
                file.iter()
                    .map(|(name, tensor)| (name.to_string(), tensor.shape().to_vec())),
            ),
            ours: first(parameters.list().iter().map(|parameter| {
                let Parameter { path, shape, .. } = parameter;
                (path.clone(), shape.clone())
            })),
        }),
    }
}

/// Channels of an image in colour.
const COLOURS: usize = 3;

/// The file's values for a parameter, if it has some that fit.
fn fitting(parameter: &Parameter, file: &SafeTensors) -> Result<Option<Vec<f32>>, StartError> {
    let Ok(tensor) = file.tensor(&parameter.path) else {
        return Ok(None);
    };
    let whole = tensor.shape() == parameter.shape;
    let colours = match (tensor.shape(), parameter.shape.as_slice()) {
        ([out, COLOURS, height, width], [ours, 1, rows, columns]) => {
            (out, height, width) == (ours, rows, columns)
        }
        _ => false,
    };
    if !whole && !colours {
        return Ok(None);
    }
    if tensor.dtype() != Dtype::F32 {
        return Err(StartError::Type {
            path: parameter.path.clone(),
            dtype: tensor.dtype(),
        });
    }
    let numbers = numbers(&tensor);
    Ok(Some(match parameter.shape.as_slice() {
        [_, _, height, width] if !whole => summed(&numbers, height * width),
        _ => numbers,
    }))
}

/// Kernels summed over their colours, which come one after the other.
fn summed(numbers: &[f32], kernel: usize) -> Vec<f32> {
    let outputs = numbers.chunks_exact((COLOURS * kernel).max(1));
    let sums = outputs.flat_map(|output| {
        (0..kernel).map(|at| {
            (0..COLOURS)
                .map(|colour| output[colour * kernel + at])
                .sum()
        })
    });
    sums.collect()
}

/// Enough names and shapes to tell what a file is, fit for a terminal whatever they are.
fn first(parameters: impl Iterator<Item = (String, Vec<usize>)>) -> Vec<String> {
    let mut named: Vec<(String, Vec<usize>)> = parameters.collect();
    named.sort();
    let words = named.into_iter().take(4).map(|(name, shape)| {
        let name: String = name.escape_debug().take(60).collect();
        format!("{name} {shape:?}")
    });
    words.collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::compute::layers::{Conv2d, Conv2dConfig, Linear, LinearConfig};
    use burn::tensor::{Device, Tensor, TensorData};
    use safetensors::tensor::{TensorView, serialize};

    #[derive(Module, Debug)]
    struct Net {
        kernel: Conv2d,
        output: Linear,
    }

    impl Net {
        fn new(colours: usize, classes: usize) -> Self {
            let device = &Device::default().autodiff();
            Self {
                kernel: Conv2dConfig::new([colours, 4], [3, 3]).init(device),
                output: LinearConfig::new(16, classes).init(device),
            }
        }

        fn file(&self, name: &str) -> Vec<u8> {
            let name = format!("tacita-{name}-{}.safetensors", std::process::id());
            let path = std::env::temp_dir().join(name);
            crate::save_model(self, &path).unwrap();
            let bytes = std::fs::read(&path).unwrap();
            std::fs::remove_file(&path).unwrap();
            bytes
        }
    }

    #[test]
    fn a_last_layer_for_other_classes_stays_as_it_was_drawn() {
        let (public, model) = (Net::new(3, 10), Net::new(3, 2));
        let before = model.output.weight.val().to_data();
        let started = start_from(model, &public.file("classes")).unwrap();
        assert_eq!(started.taken, ["kernel.weight", "kernel.bias"]);
        assert_eq!(started.drawn, ["output.weight", "output.bias"]);
        assert_eq!(started.numbers, 4 * 3 * 3 * 3 + 4);
        let kernel = |net: &Net| net.kernel.weight.val().to_data();
        assert_eq!(kernel(&started.model), kernel(&public));
        assert_eq!(started.model.output.weight.val().to_data(), before);
    }

    /// A grey image has the same value in every colour.
    #[test]
    fn grey_images_see_what_the_colours_would_have_given() {
        let public = Net::new(3, 2);
        let started = start_from(Net::new(1, 2), &public.file("grey")).unwrap();
        assert!(started.drawn.is_empty());
        let pixels: Vec<f32> = (0..25).map(|k| (k * 7 % 11) as f32 / 11.0).collect();
        let grey = TensorData::new(pixels, [1, 1, 5, 5]);
        let grey = Tensor::<4>::from_data(grey, &Device::default().autodiff());
        let colour = grey.clone().repeat_dim(1, 3);
        let (ours, theirs) = (
            started.model.kernel.forward(grey),
            public.kernel.forward(colour),
        );
        let difference = (ours - theirs).abs().max().into_scalar::<f32>();
        assert!(difference < 1e-5, "{difference}");
    }

    /// No channels, or the channels of a later layer, are no colours; biases alone are no start.
    #[test]
    fn what_fits_by_chance_is_not_taken() {
        for channels in [0, 64] {
            let bytes = vec![0; 4 * channels * 4 * 3 * 3];
            let shape = vec![4, channels, 3, 3];
            let view = TensorView::new(Dtype::F32, shape, &bytes).unwrap();
            let file = serialize([("kernel.weight", view)], None).unwrap();
            let said = start_from(Net::new(1, 2), &file).unwrap_err().to_string();
            assert!(said.contains(&format!("[4, {channels}, 3, 3]")), "{said}");
        }
        let biases = Net::new(3, 5).file("biases");
        let device = &Device::default().autodiff();
        let model = Net {
            kernel: Conv2dConfig::new([3, 4], [5, 5]).init(device),
            output: LinearConfig::new(16, 2).init(device),
        };
        let said = start_from(model, &biases).unwrap_err().to_string();
        assert!(said.contains("kernel.weight [4, 3, 5, 5]"), "{said}");
    }

    #[test]
    fn unsuited_files_are_refused_by_name() {
        let said = |bytes: &[u8]| start_from(Net::new(3, 2), bytes).unwrap_err().to_string();
        assert!(said(b"no weights at all").contains("safetensors"));
        let (shape, zeros, nan) = (vec![4], [0; 16], f32::NAN.to_le_bytes().repeat(4));
        let tensor = |dtype, shape: &[usize], bytes| TensorView::new(dtype, shape.to_vec(), bytes);
        let file = |name: &str, view: Result<TensorView, _>| {
            serialize([(name, view.unwrap())], None).unwrap()
        };
        let other = said(&file("encoder.0", tensor(Dtype::F32, &shape, &zeros)));
        assert!(
            other.contains("encoder.0") && other.contains("kernel.weight"),
            "{other}"
        );
        let half = said(&file(
            "kernel.bias",
            tensor(Dtype::F16, &shape, &zeros[..8]),
        ));
        assert!(
            half.contains("kernel.bias") && half.contains("F16"),
            "{half}"
        );
        let nan = said(&file("kernel.bias", tensor(Dtype::F32, &shape, &nan)));
        assert!(
            nan.contains("kernel.bias") && nan.contains("finite"),
            "{nan}"
        );
    }
}
