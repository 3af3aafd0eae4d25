//! Convolutions by the kernels there are, in TF32 and in bf16.

use super::products::{bind, element, primitive};
use super::{attempt, random};
use burn::tensor::{DType, Device, Tensor};
use burn_cubecl::kernel::cast;
use cubek::convolution::{
    AcceleratedTileKind, ConvAlgorithm, ConvolutionArgs, ConvolutionInputs, Strategy, launch_ref,
};
use cubek::matmul::definition::{MatmulElems, MatmulGlobalElems};

/// 3 × 3 with stride 1, of `[batch, side, side, channels]`.
pub fn all(device: &Device) {
    use ConvAlgorithm::{SimpleAsyncTma, SimpleSyncCyclic, SimpleSyncStrided};
    for (batch, side, channels, wider) in [(256, 32, 64, 128), (256, 8, 256, 512)] {
        let image = |channels| -> Tensor<4> { random([batch, side, side, channels], device) };
        let (input, output) = (primitive(image(channels)), primitive(image(wider)));
        let weight = primitive::<4>(random([wider, 3, 3, channels], device));
        for precision in [DType::F32, DType::BF16] {
            let input = cast(input.clone(), precision);
            let weight = cast(weight.clone(), precision);
            for algorithm in [SimpleSyncCyclic, SimpleSyncStrided, SimpleAsyncTma] {
                for tile_kind in [AcceleratedTileKind::Cmma, AcceleratedTileKind::Mma] {
                    let strategy = Strategy::Inferred {
                        algorithm,
                        tile_kind,
                    };
                    let run = || {
                        let inputs = ConvolutionInputs::Forward {
                            input: bind(&input),
                            weight: bind(&weight),
                            bias: None,
                            out: output.clone().binding(),
                        };
                        let arguments = ConvolutionArgs {
                            stride: [1, 1],
                            padding: [1, 1],
                            dilation: [1, 1],
                        };
                        let elements = MatmulElems::from_globals(&MatmulGlobalElems {
                            lhs: element(&input),
                            rhs: element(&weight),
                            out: element(&output),
                        });
                        let client = input.client.clone();
                        let result =
                            launch_ref::<2>(&strategy, &client, inputs, arguments, elements);
                        assert!(result.is_ok(), "refused");
                    };
                    let name = format!(
                        "{channels} to {wider}, {side} x {side}: {algorithm} {tile_kind:?} {precision:?}"
                    );
                    attempt(&name, device, run);
                }
            }
        }
    }
}
