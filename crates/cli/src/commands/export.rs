//! `tacita export`: a trained model in the format of other programs.

use crate::files::write_whole;
use crate::onnx;
use anyhow::Result;
use std::path::PathBuf;

/// Arguments of `tacita export`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The file takes prepared input (`input`) and gives `scores` and `probabilities` of the classes. Its metadata say how raw \
input was prepared. Exporting is post-processing of the model: it costs no privacy.

Examples:
  tacita export runs/patients-1 --onnx patients.onnx")]
pub struct Args {
    /// Folder of a finished run
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// ONNX file to write
    #[arg(long, value_name = "FILE")]
    onnx: PathBuf,
}

/// Runs `tacita export`.
pub fn run(args: &Args) -> Result<()> {
    crate::tune::refuse_secret(&args.folder)?;
    write_whole(&args.onnx, &onnx::of_run(&args.folder)?)?;
    println!("Written to {}", args.onnx.display());
    Ok(())
}
