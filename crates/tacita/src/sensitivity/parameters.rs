//! The trainable parameters of a model, and whether the tape covers all of them.

use burn::module::{Module, ModuleVisitor, Param, ParamId};
use burn::tensor::{Gradients, Tensor};
use std::collections::HashSet;
use thiserror::Error;

/// A trainable parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its path in the model, e.g. `encoder.0.linear.weight`.
    pub path: String,
    /// Its identifier in Burn.
    pub id: ParamId,
    /// Its shape.
    pub shape: Vec<usize>,
    /// The type of the layer that holds it, e.g. `Linear`.
    pub layer: String,
}

impl Parameter {
    /// The number of values.
    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// The path of the layer that holds it.
    pub fn layer_path(&self) -> &str {
        self.path.rsplit_once('.').map_or("", |(layer, _)| layer)
    }
}

/// Why a model cannot be trained privately. Nothing was released.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CoverageError {
    /// A parameter whose gradient would escape clipping.
    #[error(
        "parameter `{path}` of a {layer} layer is used outside the private layers, so its gradient \
         would not be clipped; {remedy}"
    )]
    NotPrivate {
        /// Path in the model.
        path: String,
        /// Type of its layer.
        layer: String,
        /// What to do.
        remedy: &'static str,
    },
    /// A parameter the loss does not depend on.
    #[error(
        "parameter `{path}` of a {layer} layer is never used by the loss; remove it, or freeze it \
         with `no_grad()`"
    )]
    Unused {
        /// Path in the model.
        path: String,
        /// Type of its layer.
        layer: String,
    },
    /// One parameter at two places.
    #[error(
        "parameters `{first}` and `{second}` are copies of one parameter; call one layer twice \
         instead of cloning it"
    )]
    Shared {
        /// Path of the first copy.
        first: String,
        /// Path of the second copy.
        second: String,
    },
    /// Nothing to train.
    #[error("the model has no trainable parameter; unfreeze what is to be trained")]
    NothingToTrain,
    /// A layer that lets one sample see another.
    #[error(
        "changing one sample of a batch changed the loss of another by {change:e}: a layer mixes \
         samples (batch normalisation is the usual one; use GroupNorm)"
    )]
    MixesSamples {
        /// The largest change of another sample's loss.
        change: f64,
    },
    /// A loss that draws random numbers behind the session's back.
    #[error(
        "two passes over the same records gave losses that differ by {change:e}: the model draws random \
         numbers that are not the session's, so an added record could change those of all others (the \
         usual cause is burn::nn::Dropout; use tacita::layers::Dropout)"
    )]
    DrawsRandomness {
        /// How far a loss moved.
        change: f64,
    },
    /// A loss that depends on where its sample is in the batch, or on how many there are.
    #[error(
        "the loss of a sample changed by {change:e} with its position in the batch or with the size of \
         the batch, so an added record would change the losses of others; a loss may depend on its own \
         sample only"
    )]
    DependsOnBatch {
        /// How far a loss moved.
        change: f64,
    },
    /// Kernels of a device that treat a sample by its place.
    #[error(
        "the {what} of a sample had other bits at another place of a pass or among other samples, so an \
         added record could change what others contribute; train this model on the CPU"
    )]
    DependsOnPlace {
        /// What was not the same.
        what: &'static str,
    },
    /// Dropout of something that has not one row per sample.
    #[error(
        "a dropout layer got {rows} rows for {batch} samples; dimension 0 of its input must be the \
         sample, so that each has masks of its own"
    )]
    DropoutRows {
        /// Samples in the batch.
        batch: usize,
        /// Rows seen.
        rows: usize,
    },
    /// A loss that is not one number per sample.
    #[error("the loss must be one value per sample: expected {batch} values, got {seen}")]
    NotPerSample {
        /// Samples in the batch.
        batch: usize,
        /// Values seen.
        seen: usize,
    },
}

/// The trainable parameters of a model, in the order in which it visits them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameters {
    list: Vec<Parameter>,
}

impl Parameters {
    /// Lists them. Frozen parameters (`no_grad`, `freeze`) are left out.
    ///
    /// ```
    /// use burn::tensor::Device;
    /// use tacita::{Parameters, layers::LinearConfig};
    ///
    /// let model = LinearConfig::new(4, 2).init(&Device::default().autodiff());
    /// let parameters = Parameters::of(&model)?;
    /// assert_eq!(parameters.list()[0].path, "weight");
    /// # Ok::<(), tacita::CoverageError>(())
    /// ```
    pub fn of<M: Module>(model: &M) -> Result<Self, CoverageError> {
        let mut collect = Collect::default();
        model.visit(&mut collect);
        let list = collect.list;
        for (index, parameter) in list.iter().enumerate() {
            if let Some(first) = list[..index].iter().find(|other| other.id == parameter.id) {
                return Err(CoverageError::Shared {
                    first: first.path.clone(),
                    second: parameter.path.clone(),
                });
            }
        }
        if list.is_empty() {
            return Err(CoverageError::NothingToTrain);
        }
        Ok(Self { list })
    }

    /// The parameters.
    pub fn list(&self) -> &[Parameter] {
        &self.list
    }

    /// The number of values of all of them.
    pub fn elements(&self) -> usize {
        self.list.iter().map(Parameter::elements).sum()
    }

    /// Refuses a pass in which a parameter's gradient escapes the tape.
    ///
    /// Private layers use untracked weights, so a gradient that the graph holds for a parameter
    /// itself comes from a use the tape does not know.
    pub(crate) fn check_no_escape<M: Module>(
        model: &M,
        gradients: &Gradients,
    ) -> Result<(), CoverageError> {
        let mut escape = Escape {
            gradients,
            path: Path::default(),
            found: None,
        };
        model.visit(&mut escape);
        match escape.found {
            Some((path, layer)) => Err(CoverageError::NotPrivate {
                remedy: remedy(&layer),
                path,
                layer,
            }),
            None => Ok(()),
        }
    }

    /// Refuses a pass that does not use every trainable parameter.
    pub(crate) fn check_all_used(&self, used: &HashSet<ParamId>) -> Result<(), CoverageError> {
        match self.list.iter().find(|p| !used.contains(&p.id)) {
            Some(parameter) => Err(CoverageError::Unused {
                path: parameter.path.clone(),
                layer: parameter.layer.clone(),
            }),
            None => Ok(()),
        }
    }
}

fn remedy(layer: &str) -> &'static str {
    if layer.contains("BatchNorm") {
        "batch normalisation mixes samples and has no private form: use tacita::layers::GroupNorm"
    } else {
        "use the layer of the same name from tacita::layers, write a rule for it (tacita::tape), or \
         freeze it with `no_grad()`"
    }
}

/// Names from the root to the parameter being visited.
#[derive(Default)]
struct Path {
    names: Vec<String>,
    containers: Vec<String>,
}

impl Path {
    fn enter(&mut self, name: &str, container: &str) {
        self.names.push(name.to_owned());
        self.containers.push(container.to_owned());
    }

    fn exit(&mut self) {
        self.names.pop();
        self.containers.pop();
    }

    /// The path, and the type that holds the last name.
    fn here(&self) -> (String, String) {
        let container = self.containers.last().map_or("", String::as_str);
        let layer = container.rsplit(':').next().unwrap_or_default();
        (self.names.join("."), layer.to_owned())
    }
}

#[derive(Default)]
struct Collect {
    path: Path,
    list: Vec<Parameter>,
}

impl ModuleVisitor for Collect {
    fn enter_module(&mut self, name: &str, container_type: &str) {
        self.path.enter(name, container_type);
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.exit();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if param.is_require_grad() {
            let (path, layer) = self.path.here();
            self.list.push(Parameter {
                path,
                id: param.id,
                shape: param.lazy_shape().to_vec(),
                layer,
            });
        }
    }
}

struct Escape<'a> {
    gradients: &'a Gradients,
    path: Path,
    found: Option<(String, String)>,
}

impl ModuleVisitor for Escape<'_> {
    fn enter_module(&mut self, name: &str, container_type: &str) {
        self.path.enter(name, container_type);
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.exit();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if self.found.is_none() && param.val().grad(self.gradients).is_some() {
            self.found = Some(self.path.here());
        }
    }
}
