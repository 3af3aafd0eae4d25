//! Data of your own: rows by position, and synthetic rows for the start-up checks.
//!
//! Run it with `cargo run --release --workspace --example own_data`.

use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use tacita::layers::{Linear, LinearConfig};
use tacita::optim::OptimizerRule;
use tacita::{Budget, Plan, PrivateModel, Records, Trainer};

/// Readings of a sensor: hour of the day and temperature, and the power that was drawn.
struct Readings(Vec<[f32; 3]>);

impl Readings {
    fn tensor(rows: impl Iterator<Item = [f32; 3]>, device: &Device) -> Tensor<2> {
        let values: Vec<f32> = rows.flatten().collect();
        let count = values.len() / 3;
        Tensor::from_data(TensorData::new(values, [count, 3]), device)
    }
}

impl Records for Readings {
    type Batch = Tensor<2>;

    fn count(&self) -> usize {
        self.0.len()
    }

    fn batch(&self, indices: &[usize], device: &Device) -> Tensor<2> {
        Self::tensor(indices.iter().map(|index| self.0[*index]), device)
    }

    fn synthetic(&self, seeds: &[u64], device: &Device) -> Tensor<2> {
        // Made of the seed alone: the checks at the start must not read a record.
        let row = |seed: &u64| [1.0, 2.0, 3.0].map(|k| ((*seed as f32 + 1.0) * k).sin());
        Self::tensor(seeds.iter().map(row), device)
    }
}

/// Power as a linear function of hour and temperature.
#[derive(Module, Debug)]
struct Model {
    linear: Linear,
}

impl PrivateModel<Tensor<2>> for Model {
    fn losses(&self, batch: Tensor<2>) -> Tensor<1> {
        let (inputs, power) = (batch.clone().narrow(1, 0, 2), batch.narrow(1, 2, 1));
        let error = self.linear.forward(inputs) - power;
        error.square().squeeze_dim(1)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let readings = (0..2000).map(|i| {
        let (hour, temperature) = ((i % 24) as f32 / 24.0, ((i * 7) % 30) as f32 / 30.0);
        [hour, temperature, 0.3 + 0.5 * hour - 0.2 * temperature]
    });
    let device = Device::default();
    let plan = Plan::new(Budget::new(2.0, 1e-5))
        .public_record_count(2000)
        .expected_batch(200)
        .epochs(10.0)
        .calibrate()?;
    let model = Model {
        linear: LinearConfig::new(2, 1).init(&device.clone().autodiff()),
    };
    let trained = Trainer::new(plan, OptimizerRule::heavy_ball(0.9), 0.05)
        .average(0.9)
        .fit(model, &Readings(readings.collect()), &device)?;
    let weights = trained.model.linear.weight.val().into_data();
    println!("weights {:?}", weights.iter::<f32>().collect::<Vec<_>>());
    println!("{}", trained.report);
    Ok(())
}
