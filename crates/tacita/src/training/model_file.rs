//! Models as safetensors: every trainable parameter under its path, with its shape.

use crate::sensitivity::parameters::Parameters;
use crate::training::checkpoint::{CheckpointError, replace_file};
use crate::training::parameter_values;
use burn::module::Module;
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use std::path::Path;

/// Writes the trainable parameters of a model to a new file, or in place of an old one.
///
/// ```
/// use burn::tensor::Device;
/// use tacita::{layers::LinearConfig, load_model, save_model};
///
/// let device = Device::default().autodiff();
/// let path = std::env::temp_dir().join(format!("tacita-doc-{}.safetensors", std::process::id()));
/// let model = LinearConfig::new(4, 2).init(&device);
/// save_model(&model, &path)?;
/// let other = load_model(LinearConfig::new(4, 2).init(&device), &path)?;
/// assert_eq!(model.weight.val().to_data(), other.weight.val().to_data());
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn save_model<M: Module>(model: &M, path: &Path) -> Result<(), CheckpointError> {
    let damaged = |why: String| CheckpointError::Damaged {
        path: path.into(),
        why,
    };
    let parameters = Parameters::of(model).map_err(|error| damaged(error.to_string()))?;
    let bytes: Vec<Vec<u8>> = (parameter_values::values(model).iter())
        .map(|values| {
            values
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect()
        })
        .collect();
    let views = parameters
        .list()
        .iter()
        .zip(&bytes)
        .map(|(parameter, bytes)| {
            let view = TensorView::new(Dtype::F32, parameter.shape.clone(), bytes);
            view.map(|view| (parameter.path.as_str(), view))
        });
    let views = views.collect::<Result<Vec<_>, _>>();
    let file = views.and_then(|views| serialize(views, None));
    let file = file.map_err(|error| damaged(error.to_string()))?;
    replace_file(path, &file).map_err(|source| CheckpointError::File {
        what: "write",
        path: path.into(),
        source,
    })
}

/// The model with the parameters of a file.
pub fn load_model<M: Module>(model: M, path: &Path) -> Result<M, CheckpointError> {
    let damaged = |why: String| CheckpointError::Damaged {
        path: path.into(),
        why,
    };
    let bytes = std::fs::read(path).map_err(|source| CheckpointError::File {
        what: "read",
        path: path.into(),
        source,
    })?;
    let file = SafeTensors::deserialize(&bytes).map_err(|error| damaged(error.to_string()))?;
    let parameters = Parameters::of(&model).map_err(|error| damaged(error.to_string()))?;
    let mut values = Vec::with_capacity(parameters.list().len());
    for parameter in parameters.list() {
        let missing = |_| damaged(format!("it lacks parameter `{}`", parameter.path));
        let tensor = file.tensor(&parameter.path).map_err(missing)?;
        if tensor.dtype() != Dtype::F32 || tensor.shape() != parameter.shape {
            return Err(damaged(format!(
                "parameter `{}` is {:?} {:?}, not F32 {:?}",
                parameter.path,
                tensor.dtype(),
                tensor.shape(),
                parameter.shape
            )));
        }
        values.push(numbers(&tensor));
    }
    parameter_values::with_values(model, &values).ok_or(CheckpointError::OtherRun)
}

/// The values of a tensor of 32-bit numbers.
pub(crate) fn numbers(tensor: &TensorView) -> Vec<f32> {
    let (numbers, _) = tensor.data().as_chunks::<4>();
    let numbers = numbers.iter().map(|number| f32::from_le_bytes(*number));
    numbers.collect()
}
