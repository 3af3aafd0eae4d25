//! Devices by name: `cpu`, `cuda`, `cuda:1`, `wgpu`.

#[cfg(any(feature = "cuda", test))]
mod out_of_memory;

use anyhow::{Result, bail, ensure};
use burn::tensor::Device;
use std::fmt;
use std::str::FromStr;
use tacita::ops::Precision;

/// The name of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeviceName {
    /// The processor.
    #[default]
    Cpu,
    /// An NVIDIA GPU, by its number.
    Cuda(usize),
    /// A GPU by WebGPU.
    Wgpu,
}

impl FromStr for DeviceName {
    type Err = anyhow::Error;

    fn from_str(name: &str) -> Result<Self> {
        match name.split_once(':') {
            None if name == "cpu" => Ok(Self::Cpu),
            None if name == "cuda" => Ok(Self::Cuda(0)),
            None if name == "wgpu" => Ok(Self::Wgpu),
            Some(("cuda", number)) => match number.parse() {
                Ok(number) => Ok(Self::Cuda(number)),
                Err(_) => bail!("device {name}: the number of a GPU follows the colon"),
            },
            _ => bail!("device {name} is unknown; use cpu, cuda, cuda:1 (and so on) or wgpu"),
        }
    }
}

impl fmt::Display for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(0) => f.write_str("cuda"),
            Self::Cuda(number) => write!(f, "cuda:{number}"),
            Self::Wgpu => f.write_str("wgpu"),
        }
    }
}

impl DeviceName {
    /// The device, if this program and this machine have it.
    pub fn open(self) -> Result<Device> {
        match self {
            Self::Cpu => Ok(host()),
            Self::Cuda(number) => cuda(number),
            Self::Wgpu => wgpu(),
        }
    }

    /// Whether it is a GPU.
    pub fn is_gpu(self) -> bool {
        self != Self::Cpu
    }

    /// Refuses a precision that it does not have.
    pub fn check_precision(self, precision: Precision) -> Result<()> {
        ensure!(
            precision == Precision::Single || matches!(self, Self::Cuda(_)),
            "--precision {precision} needs a CUDA GPU, and the device is {self}; add --device cuda, or leave \
             --precision out"
        );
        Ok(())
    }
}

/// Where models are made, whatever they run on.
pub fn host() -> Device {
    Device::flex()
}

#[cfg(feature = "cuda")]
fn cuda(number: usize) -> Result<Device> {
    // The driver is loaded at the first use; without one that panics deep inside, so look first.
    let present = std::path::Path::new("/proc/driver/nvidia/version").exists()
        || cfg!(not(target_os = "linux"));
    if !present {
        bail!("--device cuda: this machine has no NVIDIA driver; install it, or use --device cpu");
    }
    out_of_memory::end_with_a_message();
    if let Some(cache) = tacita_datasets::cache_folder() {
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
            let message = format!("{:#}", name.parse::<DeviceName>().unwrap_err());
            assert!(message.contains(name), "{message}");
        }
        assert!(DeviceName::Cpu.open().is_ok());
    }

    #[test]
    fn devices_come_back_from_their_names() {
        for name in ["cpu", "cuda", "cuda:1", "wgpu"] {
            assert_eq!(name.parse::<DeviceName>().unwrap().to_string(), name);
        }
        assert_eq!("cuda:0".parse::<DeviceName>().unwrap(), DeviceName::Cuda(0));
    }

    #[test]
    fn mixed_precision_is_for_cuda() {
        assert!(
            DeviceName::Cuda(1)
                .check_precision(Precision::Mixed)
                .is_ok()
        );
        assert!(DeviceName::Cpu.check_precision(Precision::Single).is_ok());
        let refused = DeviceName::Cpu.check_precision(Precision::Mixed);
        let message = format!("{:#}", refused.unwrap_err());
        assert!(message.contains("mixed"), "{message}");
    }
}
