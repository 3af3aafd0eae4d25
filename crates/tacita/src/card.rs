//! Graphics cards: whether tensors lie on one, and where its kernels are kept.

use burn::backend::DispatchDevice;
use burn::tensor::Device;

/// Keeps kernels that a card compiles in `folder`, so that the next process need not compile them again.
/// To be called before the first use of a card; later it changes nothing and gives `false`.
///
/// A kernel holds no values, but which kernels there are may depend on the sizes of batches, which are
/// private: the folder is for this machine, not for publication.
#[cfg(feature = "cuda")]
pub fn keep_kernels(folder: &std::path::Path) -> bool {
    use burn::cubecl::config::{CubeClRuntimeConfig, RuntimeConfig, cache::CacheConfig};
    use burn::cubecl::records::RecordLevel;
    let mut config = CubeClRuntimeConfig::from_current_dir().override_from_env();
    config.compilation.cache = true;
    config.environment.path = CacheConfig::Directory(folder.into());
    // No diary of when which kernel was compiled.
    config.environment.records.level = RecordLevel::Off;
    CubeClRuntimeConfig::try_set(config)
}

/// Everything but our CPU backend: memory of its own, and perhaps tensor cores.
pub(crate) fn is_card(device: &Device) -> bool {
    match device.clone().without_autodiff().as_dispatch() {
        #[cfg(feature = "cpu")]
        DispatchDevice::Flex(_) => false,
        _ => true,
    }
}
