//! A plain and a private step of a pre-trained encoder on synthetic tokens, in turn: what privacy costs in time.
//!
//! ```sh
//! cargo run --release -p tacita-pretrained --example ratio -- minilm full 64 32 5     # folder, choice, batch, tokens, rounds
//! ```

use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::{Device, Int, Tensor, TensorData};
use std::path::Path;
use std::time::Instant;
use tacita::optim::{Optimizer, OptimizerRule};
use tacita::{Clipping, Keys, Plan, PrivateModel, Records, Session, SessionOptions};
use tacita_pretrained::encoder::Classifier;
use tacita_pretrained::{Adapt, EncoderFolder, Weights};

/// A loss of the shape of a classifier's.
#[derive(Module, Debug)]
struct Model {
    network: Classifier,
}

impl PrivateModel<Tensor<2, Int>> for Model {
    fn losses(&self, tokens: Tensor<2, Int>) -> Tensor<1> {
        let values = tacita::ops::log_softmax(self.network.forward(tokens));
        let batch = values.dims()[0];
        values.slice([0..batch, 0..1]).reshape([batch]).neg()
    }
}

/// Tokens at random.
struct Texts {
    count: usize,
    length: usize,
    vocabulary: usize,
}

impl Records for Texts {
    type Batch = Tensor<2, Int>;

    fn count(&self) -> usize {
        self.count
    }

    fn batch(&self, indices: &[usize], device: &Device) -> Self::Batch {
        let seeds: Vec<u64> = indices.iter().map(|index| *index as u64).collect();
        self.synthetic(&seeds, device)
    }

    fn synthetic(&self, seeds: &[u64], device: &Device) -> Self::Batch {
        let token = |seed: u64, at: usize| {
            let mixed = (seed + 1)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .rotate_left(at as u32 * 7 + 13);
            (1000 + mixed as usize % (self.vocabulary - 1000)) as i32
        };
        let tokens = seeds
            .iter()
            .flat_map(|seed| (0..self.length).map(|at| token(*seed, at)));
        let shape = [seeds.len(), self.length];
        Tensor::from_data(TensorData::new(tokens.collect::<Vec<_>>(), shape), device)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, adapt, batch, length, rounds] = &arguments[..] else {
        return Err("give a folder, what is trained, a batch, tokens and rounds".into());
    };
    let (count, rounds): (usize, usize) = (batch.parse()?, rounds.parse()?);
    let folder = EncoderFolder::open(Path::new(folder))?;
    let device = Device::default();
    let mut weights = Weights::read(&folder.path)?;
    let mut network = folder.classifier(&mut weights, 2, &device.clone().autodiff())?;
    adapt
        .parse::<Adapt>()?
        .apply(&mut network, &device.clone().autodiff())?;
    let records = Texts {
        count,
        length: length.parse()?,
        vocabulary: folder.sizes.vocabulary,
    };
    let (mut plain, mut private) = (
        Model {
            network: network.clone(),
        },
        Model { network },
    );
    let plan = Plan::with_noise(100.0, 1e-5)
        .public_record_count(count as u64)
        .expected_batch(count as u64)
        .steps(rounds as u64 + 1)
        .clipping(Clipping::auto());
    let keys = Keys::fixed_seed(1);
    let options = SessionOptions::default();
    let mut session =
        Session::open_in_memory(plan.calibrate()?, keys, &private, &records, options)?;
    let pass = session.micro_batch().min(count);
    let indices: Vec<usize> = (0..count).collect();
    let mut optimizers = [(); 2].map(|()| Optimizer::from(OptimizerRule::adam()));
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..=rounds {
        let start = Instant::now();
        // As many records at a time as the private step takes, and the same optimiser. Where there are several passes
        // the last one's gradient moves the model: only the time counts.
        let mut gradients = None;
        for part in indices.chunks(pass) {
            let losses = plain.losses(records.batch(part, &device));
            gradients = Some((losses.sum() / count as f64).backward());
        }
        if let Some(gradients) = gradients {
            let gradients = GradientsParams::from_grads(gradients, &plain);
            plain = optimizers[0].step_without_privacy(1e-4, plain, gradients);
        }
        times[0].push(start.elapsed().as_secs_f64());
        let start = Instant::now();
        let round = session.open_round()?;
        let bounded = round.clip(&private, &records, &device)?;
        let noisy = round.release(bounded)?;
        private = optimizers[1].step(1e-4, private, &noisy);
        times[1].push(start.elapsed().as_secs_f64());
    }
    let [plain, private] = times.map(|times| {
        let mut times = times[1..].to_vec();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    println!(
        "{adapt}, {count} texts of {length} tokens, {pass} a pass: plain {:.0} ms, private {:.0} ms, ratio {:.2}",
        1e3 * plain,
        1e3 * private,
        private / plain
    );
    Ok(())
}
