//! Products of matrices by every kernel there is, in TF32 and in bf16.

use super::{attempt, random};
use burn::backend::Cuda;
use burn::backend::cubecl::dtype_to_storage_type;
use burn::backend::tensor::FloatTensor;
use burn::cubecl::ir::ElemType;
use burn::tensor::{DType, Device, Tensor};
use burn_cubecl::kernel::cast;
use burn_cubecl::kernel::matmul::utils::init_matmul_output;
use cubek::matmul::definition::{MatmulElems, MatmulGlobalElems};
use cubek::matmul::launch::launch_ref;
use cubek::matmul::multi_level::Strategy as Kernel;
use cubek::matmul::multi_level::components::tile::TileMatmulKind;
use cubek::matmul::multi_level::routines::batch::simple::SimpleArgs;
use cubek::matmul::routine::BlueprintStrategy::Inferred;
use cubek::matmul::strategy::Strategy;
use cubek::std::InputBinding;

fn kernels() -> Vec<(&'static str, Strategy)> {
    let args = |tile_matmul, multi_rows| SimpleArgs {
        multi_rows,
        tile_matmul,
    };
    use Kernel::{SimpleCyclicCmma, SimpleCyclicMma, SimpleTmaCmma, SimpleTmaMma};
    use TileMatmulKind::{Cmma, Mma};
    [
        ("cyclic cmma", SimpleCyclicCmma(Inferred(args(Cmma, false)))),
        ("cyclic mma", SimpleCyclicMma(Inferred(args(Mma, false)))),
        (
            "cyclic mma rows",
            SimpleCyclicMma(Inferred(args(Mma, true))),
        ),
        ("tma mma", SimpleTmaMma(Inferred(args(Mma, false)))),
        ("tma mma rows", SimpleTmaMma(Inferred(args(Mma, true)))),
        ("tma cmma rows", SimpleTmaCmma(Inferred(args(Cmma, true)))),
    ]
    .into_iter()
    .map(|(name, kernel)| (name, Strategy::from(kernel)))
    .collect()
}

pub fn element(tensor: &FloatTensor<Cuda>) -> ElemType {
    dtype_to_storage_type(tensor.dtype)
}

pub fn bind(tensor: &FloatTensor<Cuda>) -> InputBinding {
    InputBinding::new(tensor.clone().binding(), element(tensor))
}

fn multiply(left: &FloatTensor<Cuda>, right: &FloatTensor<Cuda>, strategy: &Strategy) {
    let output = init_matmul_output(left, right, DType::F32);
    let bind =
        |tensor: &FloatTensor<Cuda>| InputBinding::new(tensor.clone().binding(), element(tensor));
    let mut elements = MatmulElems::from_globals(&MatmulGlobalElems {
        lhs: element(left),
        rhs: element(right),
        out: element(&output),
    });
    let result = launch_ref(
        strategy,
        &left.client.clone(),
        bind(left),
        bind(right),
        output.binding(),
        &mut elements,
    );
    assert!(result.is_ok(), "refused");
}

pub fn primitive<const D: usize>(tensor: Tensor<D>) -> FloatTensor<Cuda> {
    (tensor.try_into_primitive::<Cuda>()).unwrap_or_else(|_| panic!("not on a GPU"))
}

/// C = AB, A Bᵀ and AᵀB of one layer, `[batch, m, k]` by `[batch, k, n]`.
pub fn all(device: &Device) {
    for (batch, m, k, n) in [
        (1, 512, 784, 1000),
        (1, 2048, 256, 1024),
        (64, 512, 128, 512),
        (512, 128, 64, 128),
        (1, 4096, 784, 1000),
        (1, 8192, 512, 512),
        (1, 8192, 512, 2048),
    ] {
        let left: Tensor<3> = random([batch, m, k], device);
        let right: Tensor<3> = random([batch, k, n], device);
        let transposed: Tensor<3> = random([batch, n, k], device);
        let tall: Tensor<3> = random([batch, k, m], device);
        for (layout, left, right) in [
            ("A B", left.clone(), right.clone()),
            ("A Bt", left, transposed.swap_dims(1, 2)),
            ("At B", tall.swap_dims(1, 2), right),
        ] {
            if layout != "A B" && m != 8192 {
                continue;
            }
            let (left, right) = (primitive(left), primitive(right));
            for (name, strategy) in kernels() {
                for precision in [DType::F32, DType::BF16] {
                    let to = |tensor: &FloatTensor<Cuda>| cast(tensor.clone(), precision);
                    let (left, right) = (to(&left), to(&right));
                    let name = format!("{batch} x {m} x {k} x {n} {layout} {name} {precision:?}");
                    attempt(&name, device, || multiply(&left, &right, &strategy));
                }
            }
        }
    }
}
