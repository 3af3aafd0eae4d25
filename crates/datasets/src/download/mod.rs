//! Downloads of public sets: resumed where they stopped, checked, and never half there.

use crate::formats::compressed;
use crate::hex;
use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use sha2::{Digest, Sha256};
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A file of a public set.
#[derive(Debug)]
pub struct Download {
    /// Where it is.
    pub url: &'static str,
    /// What it is called here.
    pub file: &'static str,
    /// What it must be.
    pub checksum: Checksum,
}

/// A SHA-256 in hexadecimal.
#[derive(Debug, Clone, Copy)]
pub enum Checksum {
    /// Of the file as it is sent.
    File(&'static str),
    /// Of the file decompressed, which does not change when somebody compresses it anew.
    Content(&'static str),
}

const ATTEMPTS: usize = 4;

/// Downloads a file into a folder unless it is there.
pub fn fetch(download: &Download, folder: &Path, quiet: bool) -> Result<PathBuf> {
    let file = folder.join(download.file);
    if file.exists() {
        return Ok(file);
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    // The end of the name stays, because it tells how the content is compressed.
    let part = folder.join(format!("part-{}", download.file));
    let bar = bar(download.file, quiet);
    let mut attempt = 1;
    while let Err(error) = resume(download.url, &part, &bar) {
        if attempt == ATTEMPTS || !error.worth_retrying {
            bar.finish_and_clear();
            return Err(error
                .cause
                .context(format!("cannot download {}", download.url)));
        }
        attempt += 1;
        std::thread::sleep(Duration::from_millis(300));
    }
    bar.finish_and_clear();
    if let Err(error) = verify(&part, download.checksum) {
        fs::remove_file(&part).ok();
        return Err(error.context(format!(
            "{} did not send the published file; what it sent was removed",
            download.url
        )));
    }
    fs::rename(&part, &file).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(file)
}

/// Why an attempt failed, and whether another may succeed.
struct Failure {
    cause: anyhow::Error,
    worth_retrying: bool,
}

fn resume(url: &str, part: &Path, bar: &ProgressBar) -> Result<(), Failure> {
    let fatal = |cause: anyhow::Error| Failure {
        cause,
        worth_retrying: false,
    };
    let passing = |cause: anyhow::Error| Failure {
        cause,
        worth_retrying: true,
    };
    let have = fs::metadata(part).map_or(0, |data| data.len());
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_connect(Some(Duration::from_secs(15)))
        .timeout_recv_response(Some(Duration::from_secs(60)))
        .http_status_as_error(false)
        .build()
        .into();
    let mut request = agent.get(url);
    if have > 0 {
        request = request.header("Range", format!("bytes={have}-"));
    }
    let response = request.call().map_err(|error| fatal(error.into()))?;
    let appends = match response.status().as_u16() {
        200 => false,
        206 => true,
        // All is here already, or the file on the server is another one: the checksum decides.
        416 if have > 0 => return Ok(()),
        status => return Err(fatal(anyhow::anyhow!("the server answers {status}"))),
    };
    let start = if appends { have } else { 0 };
    let length = response
        .headers()
        .get("content-length")
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if let Some(length) = length {
        bar.set_length(start + length);
    }
    bar.set_position(start);
    let file = OpenOptions::new()
        .create(true)
        .write(true)
        .append(appends)
        .truncate(!appends)
        .open(part)
        .with_context(|| format!("cannot write {}", part.display()))
        .map_err(fatal)?;
    let received = copy(response.into_body().into_reader(), file, bar, part)?;
    if let Some(length) = length
        && received != length
    {
        return Err(passing(anyhow::anyhow!(
            "the connection ended after {received} of {length} bytes"
        )));
    }
    Ok(())
}

fn copy(
    mut body: impl Read,
    mut file: File,
    bar: &ProgressBar,
    part: &Path,
) -> Result<u64, Failure> {
    let mut buffer = vec![0; 1 << 16];
    let mut received = 0;
    loop {
        let count = body.read(&mut buffer).map_err(|error| Failure {
            cause: anyhow::Error::new(error).context("the connection broke"),
            worth_retrying: true,
        })?;
        if count == 0 {
            return Ok(received);
        }
        file.write_all(&buffer[..count]).map_err(|error| Failure {
            cause: anyhow::Error::new(error).context(format!("cannot write {}", part.display())),
            worth_retrying: false,
        })?;
        received += count as u64;
        bar.inc(count as u64);
    }
}

fn verify(file: &Path, checksum: Checksum) -> Result<()> {
    match checksum {
        Checksum::Content(expected) => compressed::verify(file, expected),
        Checksum::File(expected) => {
            let mut hash = Sha256::new();
            let mut reader = File::open(file)?;
            let mut buffer = vec![0; 1 << 16];
            loop {
                let count = reader.read(&mut buffer)?;
                if count == 0 {
                    break;
                }
                hash.update(&buffer[..count]);
            }
            let found = hex(&hash.finalize());
            if found != expected {
                bail!("the SHA-256 is {found}, not {expected}");
            }
            Ok(())
        }
    }
}

fn bar(name: &'static str, quiet: bool) -> ProgressBar {
    if quiet {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(
        "{msg} {bar:30} {bytes}/{total_bytes} {bytes_per_sec} ({eta})",
    )
    .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(0).with_style(style).with_message(name)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
