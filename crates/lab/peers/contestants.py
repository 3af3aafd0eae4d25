"""Who is compared, and how each is started."""

from dataclasses import dataclass
from pathlib import Path

WORKER = str(Path(__file__).parent / "worker.py")


@dataclass(frozen=True)
class Mode:
    title: str
    framework: str
    private: bool


# In the order of the tables.
PEERS = {
    "torch": Mode("PyTorch plain", "torch", False),
    "opacus-hooks": Mode("Opacus", "torch", True),
    "opacus-ghost": Mode("Opacus ghost", "torch", True),
    "fastdp": Mode("FastDP", "torch", True),
    "jax": Mode("JAX plain", "jax", False),
    "jax-privacy": Mode("JAX Privacy", "jax", True),
}
OURS = {
    "tacita-plain": Mode("Tacita plain", "tacita", False),
    "tacita-private": Mode("Tacita private", "tacita", True),
}
ALL = PEERS | OURS
EPOCH_PEERS = ["torch", "opacus-hooks", "opacus-ghost"]


def peer_step(options, pythons, mode, workload, threads):
    command = [pythons[PEERS[mode].framework], WORKER, "step", "--mode", mode]
    command += ["--workload", workload, "--threads", str(threads)]
    command += ["--seconds", str(options.seconds)]
    if mode == "fastdp":
        command += ["--fastdp-source", options.fastdp_source]
    return command


def tacita_step(options, workload, threads):
    command = [options.tacita, "bench", "step", "--json", "--workload", workload]
    return command + ["--threads", str(threads), "--seconds", str(options.seconds)]


def peer_epoch(options, pythons, mode, threads):
    command = [pythons[PEERS[mode].framework], WORKER, "epoch", "--mode", mode]
    command += ["--threads", str(threads)]
    return command + (["--quick"] if options.quick else [])


def tacita_epoch(options, threads):
    command = [options.tacita, "bench", "epoch", "--json", "--threads", str(threads)]
    return command + (["--quick"] if options.quick else [])
