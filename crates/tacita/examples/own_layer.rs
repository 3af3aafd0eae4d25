//! A layer of your own: a learned scale, whose per-sample gradient you state in one line.
//!
//! Run it with `cargo run --release --workspace --example own_layer`.

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor, TensorData};
use tacita::gradient::{Contribution, Target};
use tacita::optim::OptimizerRule;
use tacita::{Budget, Plan, PrivateModel, Records, Trainer, tape, testkit};

/// y = x ⊙ s.
#[derive(Module, Debug)]
struct Scale {
    scale: Param<Tensor<1>>,
}

impl Scale {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        if !tape::is_recording() {
            return x * self.scale.val().unsqueeze();
        }
        // Inside a private pass the weight is untracked, the output is a probe, and a rule describes how
        // the output's gradient becomes the parameter's, sample by sample.
        let y = x.clone() * self.scale.val().inner().unsqueeze();
        let (y, probe) = tape::probe(y, None);
        let (x, target) = (x.inner(), Target::of(&self.scale));
        tape::on_backward(probe, move |output_gradient: Tensor<2>| {
            vec![Contribution::direct(x * output_gradient, [target])]
        });
        y
    }
}

/// Scales should become 1, 2 and 3.
impl PrivateModel<Tensor<2>> for Scale {
    fn losses(&self, batch: Tensor<2>) -> Tensor<1> {
        let wanted = Tensor::<1>::from_floats([1.0, 2.0, 3.0], &batch.device()).unsqueeze();
        let error = self.forward(batch.clone()) - batch * wanted;
        error.square().sum_dim(1).squeeze_dim(1)
    }
}

struct Waves;

impl Records for Waves {
    type Batch = Tensor<2>;

    fn count(&self) -> usize {
        1000
    }

    fn batch(&self, indices: &[usize], device: &Device) -> Tensor<2> {
        let seeds: Vec<u64> = indices.iter().map(|index| *index as u64).collect();
        self.synthetic(&seeds, device)
    }

    fn synthetic(&self, seeds: &[u64], device: &Device) -> Tensor<2> {
        let row = |seed: &u64| [1.0, 2.0, 3.0].map(|k| (*seed as f32 * k).cos());
        let values: Vec<f32> = seeds.iter().flat_map(row).collect();
        Tensor::from_data(TensorData::new(values, [seeds.len(), 3]), device)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::default();
    let model = Scale {
        scale: Param::from_tensor(Tensor::ones([3], &device.clone().autodiff())),
    };
    // Forget the rule and the session refuses to start; get it wrong and this panics.
    testkit::assert_matches_per_sample_loop(&model, 4, |model, samples| {
        model.losses(Waves.batch(&samples.collect::<Vec<_>>(), &device))
    });
    let plan = Plan::new(Budget::new(4.0, 1e-5))
        .public_record_count(1000)
        .expected_batch(200)
        .epochs(20.0)
        .calibrate()?;
    let trained = Trainer::new(plan, OptimizerRule::Sgd, 0.1).fit(model, &Waves, &device)?;
    let scales = trained.model.scale.val().into_data();
    println!("scales {:?}", scales.iter::<f32>().collect::<Vec<_>>());
    println!("{}", trained.report);
    Ok(())
}
