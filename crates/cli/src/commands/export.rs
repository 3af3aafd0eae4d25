//! `tacita export`: a trained model in the format of other programs.

use crate::files::write_whole;
use crate::onnx;
use crate::run::RunFolder;
use anyhow::{Context, Result, ensure};
use std::path::PathBuf;

/// Arguments of `tacita export`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The ONNX file takes prepared input (`input`) and gives `scores` and `probabilities` of the classes. Its metadata say how raw \
input was prepared. A fine-tuned language model is written for `transformers` (--merged) or `peft` (--adapter) instead. \
Exporting is post-processing of the model: it costs no privacy.

Examples:
  tacita export runs/patients-1 --onnx patients.onnx
  tacita export runs/notes-1 --adapter notes-adapter/")]
pub struct Args {
    /// Folder of a finished run
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// ONNX file to write
    #[arg(long, value_name = "FILE", required_unless_present_any = ["merged", "adapter"])]
    onnx: Option<PathBuf>,
    /// Folder to write the whole fine-tuned model to, as the Hugging Face hub lays it out
    #[arg(long, value_name = "DIR")]
    merged: Option<PathBuf>,
    /// Folder to write to what was trained alone: low-rank adapters as PEFT lays them out, else the changed tensors
    #[arg(long, value_name = "DIR")]
    adapter: Option<PathBuf>,
    /// Folder of the pre-trained model, if it has moved
    #[arg(long, value_name = "DIR")]
    pretrained: Option<PathBuf>,
}

/// Runs `tacita export`.
pub fn run(args: &Args) -> Result<()> {
    crate::tune::refuse_secret(&args.folder)?;
    if let Some(file) = &args.onnx {
        write_whole(file, &onnx::of_run(&args.folder)?)?;
        println!("Written to {}", file.display());
    }
    if args.merged.is_some() || args.adapter.is_some() {
        fine_tuned(args)?;
    }
    Ok(())
}

/// Writes a fine-tuned language model.
fn fine_tuned(args: &Args) -> Result<()> {
    let (folder, record) = RunFolder::open(&args.folder)?;
    let file = folder.model();
    ensure!(
        file.exists(),
        "{} does not exist: the run has not finished; resume it by: tacita resume {}",
        file.display(),
        args.folder.display()
    );
    let base = record.pretrained(args.pretrained.as_deref(), &args.folder)?;
    let base = base.context("--merged and --adapter are for runs with --pretrained")?;
    for out in args.merged.iter().chain(&args.adapter) {
        ensure!(
            !out.exists(),
            "{} exists already; give another folder",
            out.display()
        );
    }
    let classes = &record.preparation.classes;
    let pinned = record.settings.pretrained_sha256.as_deref();
    let model = base.trained(classes.len(), pinned, &file)?;
    if let Some(out) = &args.merged {
        base.save_merged(&model, classes, out)?;
        println!("Written to {}", out.display());
    }
    if let Some(out) = &args.adapter {
        base.save_trained(&model, out)?;
        println!("Written to {}", out.display());
    }
    Ok(())
}
