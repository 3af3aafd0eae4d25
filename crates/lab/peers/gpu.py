#!/usr/bin/env python3
"""Runs Tacita and its peers in turn on a CUDA GPU; writes crates/lab/results/gpu.json and prints a table.

  python3 crates/lab/peers/gpu.py                             every workload and batch
  python3 crates/lab/peers/gpu.py --workloads mlp:512 --passes 1  one of them
  python3 crates/lab/peers/gpu.py --page docs/src/lab/speed-gpu.md only the page, from the results

Needs a `tacita-lab` built with `--features cuda`, and an interpreter that has PyTorch and Opacus.
Each contestant is a process of its own (Tacita makes plain and private steps in turn in one); its
memory is what its allocator has set aside on the GPU.
"""

import argparse
import datetime
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]

BATCHES = {
    "mlp": [512, 4096],
    "cnn": [256, 1024, 4096],
    "lstm": [256, 2048],
    "transformer": [32, 256],
    "resnet9": [64, 512],
}
PEERS = {
    "torch": "PyTorch plain",
    "torch-tf32": "PyTorch plain, TF32",
    "opacus-hooks": "Opacus",
    "opacus-ghost": "Opacus ghost",
    "fastdp": "FastDP",
}
PRIVATE = ["opacus-hooks", "opacus-ghost", "fastdp"]
WARM_UP = 5


def main():
    options = arguments()
    if options.worker:
        print(json.dumps(peer(options)))
        return
    path = Path(options.results)
    if not options.page:
        measure(options, path)
    results = json.loads(path.read_text())
    print(table(results))
    if options.page:
        write_page(Path(options.page), results)


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    usual = ",".join(f"{name}:{batch}" for name, batches in BATCHES.items() for batch in batches)
    parser.add_argument("--workloads", default=usual, help="name:batch, with commas")
    parser.add_argument("--modes", default=",".join(PEERS))
    parser.add_argument("--passes", type=int, default=2)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--timeout", type=float, default=90.0)
    parser.add_argument("--tacita", default=str(ROOT / "target/release/tacita-lab"))
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--fastdp-source", help="folder that holds FastDP's package fastDP")
    parser.add_argument("--results", default=str(ROOT / "crates/lab/results/gpu.json"))
    parser.add_argument("--page", help="write the table between the marks of this page")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--mode", help=argparse.SUPPRESS)
    parser.add_argument("--batch", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


def peer(options):
    """Wall milliseconds of a peer's step, in this process."""
    import torch

    from step_torch import make_step
    from workloads import synthetic_batch

    # Tacita's products round to TF32, so private peers may too; plain PyTorch is shown both ways.
    tf32 = options.mode != "torch"
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32
    batch = synthetic_batch(options.worker, options.batch)
    mode = options.mode.removesuffix("-tf32")
    step = make_step(options.worker, mode, batch, options.fastdp_source, "cuda")
    for _ in range(WARM_UP):
        step()
    torch.cuda.synchronize()
    wall = []
    for _ in range(options.steps):
        begun = time.perf_counter()
        step()
        torch.cuda.synchronize()
        wall.append(1e3 * (time.perf_counter() - begun))
    memory = torch.cuda.max_memory_reserved() / 2**20
    return {"wall_ms": statistics.median(wall), "peak_mib": memory}


def measure(options, path):
    modes = [mode for mode in options.modes.split(",") if mode != "fastdp" or options.fastdp_source]
    results = json.loads(path.read_text()) if path.exists() else []
    for setting in options.workloads.split(","):
        workload, batch = setting.split(":")
        batch = int(batch)
        commands = {mode: worker(options, workload, batch, mode) for mode in modes}
        commands["tacita"] = ours(options, workload, batch)
        commands["tacita-mixed"] = commands["tacita"] + ["--precision", "mixed"]
        passes = {}
        for _ in range(options.passes):
            for name, command in commands.items():
                for contestant, figures in figures_of(name, run(command, options.timeout)):
                    passes.setdefault(contestant, []).append(figures)
                    print(workload, batch, contestant, figures, file=sys.stderr, flush=True)
        results = [r for r in results if (r["workload"], r["batch"]) != (workload, batch)]
        results.append(
            {
                "workload": workload,
                "batch": batch,
                "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="minutes"),
                "gpu": gpu(),
                "passes": passes,
            }
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(results, indent=1) + "\n")


def worker(options, workload, batch, mode):
    command = [options.python, str(HERE / "gpu.py"), "--worker", workload, "--mode", mode]
    command += ["--batch", str(batch), "--steps", str(options.steps)]
    if mode == "fastdp":
        command += ["--fastdp-source", options.fastdp_source]
    return command


def ours(options, workload, batch):
    command = [options.tacita, "bench", "step", "--json", "--workload", workload]
    command += ["--device", "cuda", "--batch", str(batch), "--steps", str(options.steps)]
    return command


def figures_of(name, printed):
    """Figures of each contestant in what one process printed; Tacita's has two, in turn."""
    if not name.startswith("tacita") or "failure" in printed:
        return [(name, printed)]
    memory = {"peak_mib": printed["private_on_gpu_mib"]}
    plain, private = ({"wall_ms": printed[kind]["wall_ms"]["median"]} for kind in ("plain", "private"))
    if name == "tacita-mixed":
        return [("tacita-mixed", private | memory)]
    return [("tacita-plain", plain), ("tacita-private", private | memory)]


def run(command, timeout):
    """What a process prints."""
    try:
        process = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return {"failure": f"no result in {timeout:.0f} s"}
    if process.returncode != 0:
        lines = [line for line in process.stderr.splitlines() if line.strip()]
        return {"failure": lines[-1][:200] if lines else f"status {process.returncode}"}
    return json.loads(process.stdout.strip().splitlines()[-1])


def gpu():
    return query("name")


def query(field):
    command = ["nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader,nounits"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0].strip()


def best(passes, name, figure="wall_ms"):
    values = [figures[figure] for figures in passes.get(name, []) if figure in figures]
    return min(values) if values else None


def cell(value, digits=2):
    return "–" if value is None else f"{value:.{digits}f}"


def table(results):
    """Milliseconds of a step, the ratios of the claims, and the memory of private steps."""
    names = [*PEERS, "tacita-plain", "tacita-private", "tacita-mixed"]
    titles = [*PEERS.values(), "Tacita plain", "Tacita private", "private, mixed"]
    lines = ["| workload | batch | " + " | ".join(titles) + " | private / plain | / best peer | MiB, ours / best peer |"]
    lines.append("|---|" + "---:|" * (len(titles) + 4))
    for result in results:
        passes = result["passes"]
        times = {name: best(passes, name) for name in names}
        peers = [times[name] for name in PRIVATE if times.get(name)]
        private, plain = times["tacita-private"], times["tacita-plain"]
        memory = [best(passes, name, "peak_mib") for name in PRIVATE]
        memory = [value for value in memory if value]
        lines.append(
            f"| {result['workload']} | {result['batch']} | "
            + " | ".join(cell(times[name]) for name in names)
            + f" | {cell(private / plain) if private and plain else '–'}"
            + f" | {cell(private / min(peers)) if private and peers else '–'}"
            + f" | {cell(best(passes, 'tacita-private', 'peak_mib'), 0)} / {cell(min(memory, default=None), 0)} |"
        )
    return "\n".join(lines)


def write_page(page, results):
    begin, end = "<!-- gpu: begin -->", "<!-- gpu: end -->"
    text = page.read_text()
    before, rest = text.split(begin)
    _, after = rest.split(end)
    page.write_text(f"{before}{begin}\n{table(results)}\n{end}{after}")


if __name__ == "__main__":
    main()
