"""Times one peer in a process of its own, inside its virtual environment. Prints one line of JSON.

Started by run.py; by hand: python worker.py step --mode opacus-ghost --workload cnn --threads 1
"""

import argparse
import json
import statistics
import sys
import time
from importlib.metadata import version

# Steps made before any is timed: the first compiles or allocates.
WARM_UP = 2
# No fewer timed steps than this, however long they take.
FEWEST = 3


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["step", "epoch"])
    parser.add_argument("--mode", required=True)
    parser.add_argument("--workload")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--most-steps", type=int, default=50)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--fastdp-source")
    arguments = parser.parse_args()
    versions = import_framework(arguments.mode, arguments.threads, arguments.fastdp_source)
    imported = memory_mib("VmRSS")
    forget_peak()
    measured = measure_epoch(arguments) if arguments.what == "epoch" else measure_step(arguments)
    measured["peak_mib"] = memory_mib("VmHWM") - imported
    measured["versions"] = versions
    print(json.dumps(measured))


def import_framework(mode, threads, fastdp_source):
    """Imports all that the mode needs, so that the import counts neither as time nor as memory."""
    if mode.startswith("jax"):
        packages = ["jax", "jaxlib", "optax"]
        import step_jax

        if mode == "jax-privacy":
            packages.append("jax-privacy")
            import jax_privacy  # noqa: F401
        step_jax.smallest_step()
    else:
        packages = ["torch"]
        import torch

        import step_torch

        torch.set_num_threads(threads)
        if mode.startswith("opacus"):
            packages.append("opacus")
            import opacus  # noqa: F401
        if mode == "fastdp":
            sys.path.insert(0, fastdp_source)
            import fastDP  # noqa: F401
        step_torch.smallest_step()
    return {package: version(package) for package in packages}


def measure_step(arguments):
    from workloads import WORKLOADS, synthetic_batch

    name, mode = arguments.workload, arguments.mode
    batch = synthetic_batch(name, WORKLOADS[name].batch)
    if mode.startswith("jax"):
        from step_jax import make_step

        step = make_step(name, mode, batch)
    else:
        from step_torch import make_step

        step = make_step(name, mode, batch, arguments.fastdp_source)
    for _ in range(WARM_UP):
        step()
    wall, cpu = [], []
    begun = time.perf_counter()
    while len(wall) < arguments.most_steps:
        if len(wall) >= FEWEST and time.perf_counter() - begun > arguments.seconds:
            break
        wall_start, cpu_start = time.perf_counter(), time.process_time()
        step()
        wall.append(1e3 * (time.perf_counter() - wall_start))
        cpu.append(1e3 * (time.process_time() - cpu_start))
    return {
        "batch": WORKLOADS[name].batch,
        "steps": len(wall),
        "wall_ms": statistics.median(wall),
        "cpu_ms": statistics.median(cpu),
    }


def measure_epoch(arguments):
    from epoch_torch import epoch

    return epoch(arguments.mode, arguments.batch, arguments.quick)


def memory_mib(field):
    """`VmRSS`, memory held now, or `VmHWM`, its peak."""
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(field + ":"):
                return int(line.split()[1]) / 1024
    raise RuntimeError(f"the system does not tell {field}")


def forget_peak():
    """Lets the peak begin at what is held now: importing may have needed more for a moment."""
    with open("/proc/self/clear_refs", "w") as clear:
        clear.write("5")


if __name__ == "__main__":
    main()
