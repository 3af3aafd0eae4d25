//! Fine-tunes a decoder privately on prompts and continuations, by low-rank adapters, which it writes into the
//! folder `adapter` as PEFT lays them out, and generates some text.
//!
//! ```sh
//! cargo run --release -p tacita-pretrained --example causal -- \
//!     SmolLM2-135M-Instruct.Q4_1.gguf train.jsonl public.jsonl [STEPS] [BATCH] [EPSILON] [RATE]
//! ```
//!
//! Each line of both files is `{"prompt": …, "continuation": …}`. The records of `train.jsonl` are private; their
//! number is taken to be public. Those of `public.jsonl` are public: perplexity on them is exact, not a release.

use burn::module::Module;
use burn::tensor::Device;
use serde_json::Value;
use std::error::Error;
use std::path::Path;
use tacita::optim::OptimizerRule;
use tacita::{Budget, Parameters, Plan, Records, Trainer};
use tacita_pretrained::adapter::check_learns;
use tacita_pretrained::decoder::{
    CausalRecords, DecoderSource, Example, Reduction, Shape, surprise,
};
use tacita_pretrained::generate::{Generation, Way, generate};
use tacita_pretrained::save::{PeftTask, save_peft};
use tacita_pretrained::{Adapt, TextTokenizer};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, train, public, numbers @ ..] = &arguments[..] else {
        return Err("MODEL TRAIN PUBLIC [STEPS] [BATCH] [EPSILON] [RATE]".into());
    };
    let number = |place: usize, otherwise: f64| match numbers.get(place) {
        Some(number) => number.parse(),
        None => Ok(otherwise),
    };
    let (steps, batch) = (number(0, 20.0)?, number(1, 32.0)?);
    let (epsilon, rate) = (number(2, 8.0)?, number(3, 1e-3)?);

    let device = Device::default();
    let training = device.clone().autodiff();
    let (mut decoder, tokenizer, ends) = DecoderSource::open(Path::new(model))?.load(&training)?;
    let end = *ends
        .first()
        .ok_or("the model names no token that ends a text")?;
    Adapt::LowRank { rank: 8 }.apply(&mut decoder, &training)?;

    // What is read of a record is public: 64 tokens, one window.
    let shape = Shape {
        window: 64,
        windows: 1,
        reduction: Reduction::Mean,
    };
    let (train, _) = examples(train, &tokenizer, end)?;
    let (public, prompts) = examples(public, &tokenizer, end)?;
    let records = CausalRecords::new(train, shape, decoder.vocabulary())?;
    check_learns(&decoder, records.synthetic(&[1, 2], &training))?;

    let count = records.count();
    let plan = Plan::new(Budget::new(epsilon, 1.0 / (10.0 * count as f64)))
        .public_record_count(count as u64)
        .expected_batch(batch as u64)
        .steps(steps as u64)
        .calibrate()?;
    let trained = Parameters::of(&decoder)?.elements();
    println!(
        "{count} private records, {trained} of {} parameters are trained",
        decoder.num_params()
    );
    let show = |decoder: &_, when: &str| -> Result<(), Box<dyn Error>> {
        let surprise = surprise(decoder, &public, &shape, &device)?;
        let perplexity = surprise.perplexity();
        println!(
            "perplexity on {} public tokens {when}: {perplexity:.3}",
            surprise.tokens
        );
        Ok(())
    };
    show(&decoder, "before")?;
    let trainer = Trainer::new(plan, OptimizerRule::adam(), rate);
    let trained = trainer.fit(decoder, &records, &device)?;
    println!("{}", trained.report);
    show(&trained.model, "after")?;

    let folder = Path::new("adapter");
    std::fs::create_dir_all(folder)?;
    let task = PeftTask {
        task_type: "CAUSAL_LM",
        without_prefix: "",
        base: model,
    };
    save_peft(&trained.model, task, folder)?;

    let generation = Generation {
        way: Way::Greedy,
        length: 40,
        stop: ends,
    };
    for prompt in prompts.iter().take(3) {
        let tokens = generate(
            &trained.model,
            &tokenizer.encode(prompt, true)?,
            &generation,
        )?;
        println!("{prompt}\n  → {}", tokenizer.decode(&tokens)?.trim());
    }
    Ok(())
}

/// The records of a file, and their prompts.
fn examples(
    path: &str,
    tokenizer: &TextTokenizer,
    end: u32,
) -> Result<(Vec<Example>, Vec<String>), Box<dyn Error>> {
    let (mut examples, mut prompts) = (Vec::new(), Vec::new());
    for line in std::fs::read_to_string(path)?.lines() {
        let record: Value = serde_json::from_str(line)?;
        let text = |key: &str| record[key].as_str().unwrap_or_default().to_owned();
        let prompt = text("prompt");
        let tokens = tokenizer.encode(&prompt, true)?;
        let continuation = tokenizer.encode(&text("continuation"), false)?;
        examples.push(Example::continuation(&tokens, &continuation, end));
        prompts.push(prompt);
    }
    Ok((examples, prompts))
}
