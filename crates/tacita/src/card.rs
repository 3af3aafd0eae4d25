//! Whether tensors lie on a card.

use burn::backend::DispatchDevice;
use burn::tensor::Device;

/// Everything but our CPU backend: memory of its own, and perhaps tensor cores.
pub(crate) fn is_card(device: &Device) -> bool {
    match device.clone().without_autodiff().as_dispatch() {
        #[cfg(feature = "cpu")]
        DispatchDevice::Flex(_) => false,
        _ => true,
    }
}
