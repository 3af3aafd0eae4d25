//! A model of your own: Tacita's layers in place of Burn's, and one loss per record.
//!
//! Run it with `cargo run --release --workspace --example own_model`.

use burn::module::Module;
use burn::tensor::activation::{log_softmax, tanh};
use burn::tensor::{Device, Int, Tensor, TensorData};
use tacita::layers::{Linear, LinearConfig};
use tacita::optim::{LearningRate, OptimizerRule};
use tacita::{Budget, Clipping, Plan, PrivateModel, Records, Trainer, testkit};

/// Two layers: is a point inside the circle?
#[derive(Module, Debug)]
struct Circle {
    hidden: Linear,
    output: Linear,
}

impl Circle {
    fn forward(&self, points: Tensor<2>) -> Tensor<2> {
        self.output.forward(tanh(self.hidden.forward(points)))
    }
}

impl PrivateModel<(Tensor<2>, Tensor<1, Int>)> for Circle {
    fn losses(&self, (points, inside): (Tensor<2>, Tensor<1, Int>)) -> Tensor<1> {
        let count = points.dims()[0];
        let chances = log_softmax(self.forward(points), 1);
        let picked = chances.gather(1, inside.reshape([count, 1]));
        picked.reshape([count]).neg()
    }
}

struct Points(usize);

impl Points {
    fn point(seed: u64) -> [f32; 2] {
        [1.0, 1.618].map(|k| (seed as f32 * 12.9898 * k).sin())
    }
}

impl Records for Points {
    type Batch = (Tensor<2>, Tensor<1, Int>);

    fn count(&self) -> usize {
        self.0
    }

    fn batch(&self, indices: &[usize], device: &Device) -> Self::Batch {
        let seeds: Vec<u64> = indices.iter().map(|index| *index as u64).collect();
        self.synthetic(&seeds, device)
    }

    fn synthetic(&self, seeds: &[u64], device: &Device) -> Self::Batch {
        let points: Vec<[f32; 2]> = seeds.iter().map(|seed| Self::point(*seed)).collect();
        let inside = points.iter().map(|[x, y]| i32::from(x * x + y * y < 0.8));
        let inside: Vec<i32> = inside.collect();
        let values: Vec<f32> = points.into_iter().flatten().collect();
        let count = seeds.len();
        (
            Tensor::from_data(TensorData::new(values, [count, 2]), device),
            Tensor::from_data(TensorData::new(inside, [count]), device),
        )
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::default();
    let tracked = device.clone().autodiff();
    let model = Circle {
        hidden: LinearConfig::new(2, 16).init(&tracked),
        output: LinearConfig::new(16, 2).init(&tracked),
    };
    let records = Points(4000);

    // Norms and sums of this model equal those of one record at a time through plain autodiff.
    testkit::assert_matches_per_sample_loop(&model, 5, |model, samples| {
        model.losses(records.batch(&samples.collect::<Vec<_>>(), &device))
    });

    let plan = Plan::new(Budget::new(3.0, 1e-5))
        .public_record_count(4000)
        .expected_batch(400)
        .epochs(30.0)
        .clipping(Clipping::auto().per_layer())
        .calibrate()?;
    let rate = LearningRate::Cosine {
        initial: 0.5,
        last: 0.01,
    };
    let trained = Trainer::new(plan, OptimizerRule::nesterov(0.9), rate)
        .on_step(|at, _| {
            if at.step % 100 == 0 {
                println!("step {} of {}", at.step, at.steps);
            }
        })
        .fit(model, &records, &device)?;
    println!("{}", trained.report);
    Ok(())
}
