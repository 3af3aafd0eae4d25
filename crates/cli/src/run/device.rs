//! Devices by name: `cpu`, `cuda`, `cuda:1`, `wgpu`.

use anyhow::{Context, Result, bail};
use burn::tensor::Device;
use tacita::ops::Precision;

/// The device of a name.
pub fn device(name: &str) -> Result<Device> {
    let (kind, number) = match name.split_once(':') {
        Some((kind, number)) => {
            let number = number.parse::<usize>();
            (
                kind,
                number.with_context(|| {
                    format!("--device {name}: the number of a card follows the colon")
                })?,
            )
        }
        None => (name, 0),
    };
    match kind {
        "cpu" if number == 0 => Ok(Device::flex()),
        "cuda" => cuda(number),
        "wgpu" if number == 0 => wgpu(),
        _ => bail!("--device {name} is unknown; use cpu, cuda, cuda:1 (and so on) or wgpu"),
    }
}

/// Where models are made, whatever they run on.
pub fn host() -> Device {
    Device::flex()
}

/// The precision of a name, on the device of a name.
pub fn precision(name: &str, device: &str) -> Result<Precision> {
    match name {
        "single" => Ok(Precision::Single),
        "mixed" if device.starts_with("cuda") => Ok(Precision::Mixed),
        "mixed" => bail!(
            "--precision mixed needs a CUDA card, and the device is {device}; add --device cuda, or leave \
             --precision out"
        ),
        _ => bail!("--precision {name} is unknown; use single or mixed"),
    }
}

#[cfg(feature = "cuda")]
fn cuda(number: usize) -> Result<Device> {
    // The driver is loaded at the first use; without one that panics deep inside, so look first.
    let present = std::path::Path::new("/proc/driver/nvidia/version").exists()
        || cfg!(not(target_os = "linux"));
    if !present {
        bail!("--device cuda: this machine has no NVIDIA driver; install it, or use --device cpu");
    }
    super::full_card::end_in_words();
    if let Some(cache) = crate::datasets::cache_folder() {
        tacita::keep_kernels(&cache.join("kernels"));
    }
    Ok(Device::cuda(number))
}

#[cfg(not(feature = "cuda"))]
fn cuda(_: usize) -> Result<Device> {
    bail!("--device cuda: this program was built without CUDA; build it with --features cuda")
}

#[cfg(feature = "wgpu")]
fn wgpu() -> Result<Device> {
    Ok(Device::wgpu(burn::tensor::DeviceKind::DefaultDevice))
}

#[cfg(not(feature = "wgpu"))]
fn wgpu() -> Result<Device> {
    bail!("--device wgpu: this program was built without wgpu; build it with --features wgpu")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn unknown_devices_are_named() {
        for name in ["gpu", "cuda:x", "cpu:1"] {
            let message = format!("{:#}", device(name).unwrap_err());
            assert!(message.contains(name), "{message}");
        }
        assert!(device("cpu").is_ok());
    }

    #[test]
    fn mixed_precision_is_for_cards() {
        assert_eq!(precision("mixed", "cuda:1").unwrap(), Precision::Mixed);
        assert_eq!(precision("single", "cpu").unwrap(), Precision::Single);
        for (name, device) in [("mixed", "cpu"), ("half", "cuda")] {
            let message = format!("{:#}", precision(name, device).unwrap_err());
            assert!(message.contains(name), "{message}");
        }
    }
}
