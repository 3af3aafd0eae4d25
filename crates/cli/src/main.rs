//! The command `tacita`; all of it is in the library.

use std::process::ExitCode;

/// Steps allocate and free large tensors; this allocator keeps the pages.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    tacita_cli::main()
}
