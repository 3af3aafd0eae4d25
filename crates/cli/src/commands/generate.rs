//! `tacita generate`: text from a decoder, with an adapter or without.

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use tacita_pretrained::TextTokenizer;
use tacita_pretrained::decoder::{Decoder, DecoderSource};
use tacita_pretrained::generate::{Generation, Way, generate};
use tacita_pretrained::read_peft;
use tacita_pretrained::scores::{Sample, bleu, cider, nist, rouge_l};

/// Arguments of `tacita generate`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The model is a folder as the Hugging Face hub lays it out, or a Llama in a GGUF file. A trained adapter is public, so \
what it generates costs no privacy. References must be public: a score on private texts would be a release.

Examples:
  tacita generate SmolLM2.gguf --prompt \"The river Thames\"
  tacita generate MODEL --adapter runs/adapter --input prompts.jsonl --beams 4 --output texts.jsonl
  tacita generate MODEL --input test.jsonl --field mr --references refs --output texts.jsonl")]
pub struct Args {
    /// Folder of a model, or a GGUF file
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Folder of a low-rank adapter, as PEFT lays it out
    #[arg(long, value_name = "DIR")]
    adapter: Option<PathBuf>,
    /// What to continue
    #[arg(
        long,
        value_name = "TEXT",
        conflicts_with = "input",
        required_unless_present = "input"
    )]
    prompt: Option<String>,
    /// JSON lines with what to continue
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Field of the prompt in --input
    #[arg(long, value_name = "FIELD", default_value = "prompt")]
    field: String,
    /// Field with a list of public references in --input: prints BLEU, NIST, ROUGE-L and CIDEr
    #[arg(long, value_name = "FIELD", requires = "input")]
    references: Option<String>,
    /// Tokens to generate at most
    #[arg(long, value_name = "N", default_value_t = 64)]
    length: usize,
    /// End at this text too, which must be one token; may be repeated
    #[arg(long, value_name = "TOKEN")]
    stop: Vec<String>,
    /// Follow so many texts and take the likeliest
    #[arg(long, value_name = "N", conflicts_with = "top_p")]
    beams: Option<usize>,
    /// Beams are compared by log probability over length to this power
    #[arg(long, value_name = "POWER", default_value_t = 1.0, requires = "beams")]
    length_penalty: f64,
    /// Choose by chance among the likeliest tokens that have this share together
    #[arg(long, value_name = "SHARE")]
    top_p: Option<f64>,
    /// Below 1 sharper, above 1 flatter
    #[arg(long, value_name = "T", default_value_t = 1.0, requires = "top_p")]
    temperature: f64,
    /// JSON lines to write, the input with a field `generated`; it must not exist
    #[arg(long, value_name = "FILE", requires = "input")]
    output: Option<PathBuf>,
}

/// Runs `tacita generate`.
pub fn run(args: &Args) -> Result<()> {
    let device = crate::device::host();
    let source = DecoderSource::open(&args.model)
        .with_context(|| format!("cannot read the model {}", args.model.display()))?;
    let (mut decoder, tokenizer, mut stop) = source.load(&device)?;
    if let Some(folder) = &args.adapter {
        read_peft(&mut decoder, folder, &device)?;
    }
    for token in &args.stop {
        let id = tokenizer.id(token);
        stop.push(id.with_context(|| format!("--stop {token:?} is no token of this model"))?);
    }
    let writer = Writer {
        decoder,
        tokenizer,
        generation: Generation {
            way: way(args),
            length: args.length,
            stop,
        },
    };
    match (&args.prompt, &args.input) {
        (Some(prompt), _) => println!("{}", writer.after(prompt)?),
        (None, Some(input)) => many(args, &writer, &std::fs::read_to_string(input)?)?,
        (None, None) => bail!("give a --prompt, or prompts with --input"),
    }
    Ok(())
}

fn way(args: &Args) -> Way {
    match (args.beams, args.top_p) {
        (Some(count), _) => Way::Beams {
            count,
            length_penalty: args.length_penalty,
        },
        (None, Some(share)) => Way::TopP {
            share,
            temperature: args.temperature,
        },
        (None, None) => Way::Greedy,
    }
}

/// A model that writes.
struct Writer {
    decoder: Decoder,
    tokenizer: TextTokenizer,
    generation: Generation,
}

impl Writer {
    /// The text after a prompt.
    fn after(&self, prompt: &str) -> Result<String> {
        let tokens = self.tokenizer.encode(prompt, true)?;
        let mut text = generate(&self.decoder, &tokens, &self.generation)?;
        if text
            .last()
            .is_some_and(|last| self.generation.stop.contains(last))
        {
            text.pop();
        }
        Ok(self.tokenizer.decode(&text)?)
    }
}

/// Writes on from every line of the input.
fn many(args: &Args, writer: &Writer, input: &str) -> Result<()> {
    let mut output: Box<dyn Write> = match &args.output {
        Some(path) => {
            let file = File::create_new(path);
            Box::new(BufWriter::new(
                file.with_context(|| format!("cannot create {}", path.display()))?,
            ))
        }
        None => Box::new(std::io::stdout()),
    };
    let mut samples = Vec::new();
    for (number, line) in input.lines().enumerate() {
        let place = || format!("line {} of the input", number + 1);
        let mut object: Value = serde_json::from_str(line).with_context(place)?;
        let prompt = object[&args.field].as_str();
        let prompt = prompt.with_context(|| format!("{} has no text `{}`", place(), args.field))?;
        let text = writer.after(prompt).with_context(place)?;
        if let Some(field) = &args.references {
            samples.push(Sample::new(
                text.trim(),
                references(&object[field]).with_context(place)?,
            ));
        }
        object["generated"] = json!(text);
        writeln!(output, "{object}")?;
    }
    output.flush()?;
    if args.references.is_some() {
        eprintln!(
            "{} texts: BLEU {:.2}, NIST {:.3}, ROUGE-L {:.2}, CIDEr {:.3} (exact: references must be public)",
            samples.len(),
            bleu(&samples),
            nist(&samples),
            rouge_l(&samples),
            cider(&samples)
        );
    }
    Ok(())
}

/// One reference, or several.
fn references(value: &Value) -> Result<Vec<String>> {
    let texts: Option<Vec<String>> = match value {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Array(texts) => (texts.iter())
            .map(|text| text.as_str().map(str::to_owned))
            .collect(),
        _ => None,
    };
    let texts = texts.context("references must be a text or a list of texts")?;
    ensure!(!texts.is_empty(), "there is no reference");
    Ok(texts)
}
