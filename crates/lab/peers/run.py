#!/usr/bin/env python3
"""Runs Tacita and its peers in turn; writes crates/lab/results/peers.json and tables into docs/src/lab/speed-details.md.

  python3 crates/lab/peers/run.py step                       every workload, one and two threads
  python3 crates/lab/peers/run.py step --workloads cnn,mlp   some of them; others keep their results
  python3 crates/lab/peers/run.py epoch                      one private epoch of MNIST
  python3 crates/lab/peers/run.py page                       the tables again, nothing measured
"""

import argparse
import datetime
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
from pathlib import Path

import contestants
import environments
import table
from process import Failure, run
from workloads import WORKLOADS

ROOT = Path(__file__).resolve().parents[3]


def main():
    options = arguments()
    if options.what != "page":
        if not Path(options.tacita).exists():
            sys.exit(f"{options.tacita} is missing; build it: cargo build --release --workspace")
        measure = {"step": measure_steps, "epoch": measure_epochs}[options.what]
        measure(options)
    results = read_results(options.results)
    print(table.tables(results))
    if options.page:
        table.write_page(Path(options.page), results)


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["step", "epoch", "page"])
    parser.add_argument("--workloads", default=",".join(WORKLOADS), help="names, with commas")
    parser.add_argument("--without", default="", help="contestants to leave out, with commas")
    parser.add_argument("--threads", default="1,2", help="numbers, with commas")
    parser.add_argument("--passes", type=int, default=3, help="processes of each contestant")
    parser.add_argument("--seconds", type=float, default=3.0, help="timed steps of a process")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds of a process")
    parser.add_argument("--memory-gib", type=float, default=14.0, help="limit of a process")
    parser.add_argument("--quick", action="store_true", help="an epoch of 1,000 synthetic images")
    parser.add_argument("--tacita", default=str(ROOT / "target/release/tacita-lab"))
    parser.add_argument("--home", default=str(ROOT / "target/peers"), help="for environments")
    parser.add_argument("--torch-python", help="an interpreter that has PyTorch and Opacus")
    parser.add_argument("--jax-python", help="an interpreter that has JAX and JAX Privacy")
    parser.add_argument("--fastdp-source", help="folder that holds FastDP's package fastDP")
    parser.add_argument("--results", default=str(ROOT / "crates/lab/results/peers.json"))
    parser.add_argument("--page", default=str(ROOT / "docs/src/lab/speed-details.md"), help="empty for none")
    options = parser.parse_args()
    options.workloads = options.workloads.split(",")
    options.threads = [int(number) for number in options.threads.split(",")]
    unknown = set(options.workloads) - set(WORKLOADS)
    if unknown:
        parser.error(f"unknown workloads {sorted(unknown)}; known are {', '.join(WORKLOADS)}")
    return options


def interpreters(options):
    with_fastdp = options.fastdp_source is not None
    python = environments.python_of
    torch = python("torch", options.home, options.torch_python, with_fastdp)
    if options.what == "epoch":
        return {"torch": torch}
    return {"torch": torch, "jax": python("jax", options.home, options.jax_python)}


def measure_steps(options):
    pythons = interpreters(options)
    modes = [mode for mode in contestants.PEERS if mode != "fastdp" or options.fastdp_source]
    modes = [mode for mode in modes if mode not in options.without.split(",")]
    for threads in options.threads:
        for workload in options.workloads:
            commands = {
                mode: contestants.peer_step(options, pythons, mode, workload, threads)
                for mode in modes
            }
            commands["tacita"] = contestants.tacita_step(options, workload, threads)
            measured = in_turn(options, commands, threads, step_figures)
            measured["command"] += f" --workloads {workload} --seconds {options.seconds:g}"
            measured |= {"workload": workload, "batch": WORKLOADS[workload].batch}
            keep(options, "step", measured, ("workload", "threads"))


def measure_epochs(options):
    pythons = interpreters(options)
    for threads in options.threads:
        commands = {
            mode: contestants.peer_epoch(options, pythons, mode, threads)
            for mode in contestants.EPOCH_PEERS
        }
        commands["tacita"] = contestants.tacita_epoch(options, threads)
        measured = in_turn(options, commands, threads, epoch_figures)
        keep(options, "epoch", measured, ("threads",))


def in_turn(options, commands, threads, figures_of):
    """Starts every contestant once, then every one again, so that a busy minute hits all alike."""
    passes = {}
    failures, versions, others = {}, {}, []
    for number in range(1, options.passes + 1):
        for name, command in commands.items():
            if name in failures:
                continue
            say(f"threads {threads}, pass {number} of {options.passes}: {shlex.join(command)}")
            try:
                printed, busy = run(command, threads, options.timeout, options.memory_gib)
            except Failure as failure:
                failures[name] = f"{failure} (pass {number})"
                say(f"  {failures[name]}")
                continue
            others.append(busy)
            versions |= printed.pop("versions", {})
            for contestant, figures in figures_of(name, printed).items():
                passes.setdefault(contestant, []).append(figures)
                say(f"  {contestant}: {figures}")
    results = {name: summary(figures) for name, figures in passes.items()}
    for name, failure in failures.items():
        for contestant in ["tacita-plain", "tacita-private"] if name == "tacita" else [name]:
            results[contestant] = {"failure": failure}
    return {
        "threads": threads,
        "passes": options.passes,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="minutes"),
        "commit": commit(),
        # What measures this again, without the places where things lie on this machine.
        "command": f"python3 crates/lab/peers/run.py {options.what} --threads {threads} "
        f"--passes {options.passes} --timeout {options.timeout:g}"
        + (" --quick" if options.quick else ""),
        "machine": machine(),
        "versions": versions,
        "cores_used_by_others": max(others, default=0.0),
        "results": results,
    }


def step_figures(name, printed):
    """Figures of each contestant in what one process printed."""
    if name != "tacita":
        return {name: {key: printed[key] for key in ("cpu_ms", "wall_ms", "peak_mib", "steps")}}
    return {
        f"tacita-{kind}": {
            "cpu_ms": printed[kind]["cpu_ms"]["median"],
            "wall_ms": printed[kind]["wall_ms"]["median"],
            "peak_mib": printed[kind]["peak_mib"],
            "steps": printed["steps"],
        }
        for kind in ("plain", "private")
    }


def epoch_figures(name, printed):
    waited = printed["waited_for_data_s"]
    figures = {key: printed[key] for key in ("cpu_s", "wall_s", "peak_mib", "steps", "data")}
    if name == "tacita":
        return {"tacita-private": figures | {"waited_s": waited["all"]}}
    return {name: figures | {"waited_s": waited}}


def summary(passes):
    """Median and range over passes of each figure; words and counts as they are."""
    summed = {}
    for key, first in passes[0].items():
        if isinstance(first, float):
            values = [figures[key] for figures in passes]
            summed[key] = {
                "value": statistics.median(values),
                "spread": [min(values), max(values)],
                "passes": values,
            }
        else:
            summed[key] = first
    return summed


def keep(options, section, measured, keys):
    """Replaces an earlier measurement of the same thing, and writes the file at once."""
    results = read_results(options.results)
    same = [measured[key] for key in keys]
    others = [old for old in results[section] if [old[key] for key in keys] != same]
    results[section] = [*others, measured]
    path = Path(options.results)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + "\n")


def read_results(path):
    empty = {"step": [], "epoch": []}
    return empty | json.loads(Path(path).read_text()) if Path(path).exists() else empty


def commit():
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    found = subprocess.run(command, capture_output=True, text=True)
    return found.stdout.strip() or "unknown"


def machine():
    with open("/proc/cpuinfo") as text:
        models = [line.split(":")[1].strip() for line in text if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": models[0] if models else platform.machine(),
        "cores": os.cpu_count(),
        "memory_gib": round(memory),
        "system": platform.system(),
    }


def say(words):
    print(words, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
