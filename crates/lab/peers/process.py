"""Runs one contestant in a fresh process, on so many cores, for so long and no longer."""

import json
import os
import resource
import signal
import subprocess
import time


class Failure(Exception):
    """Why a contestant gave no result, in words for the table."""


def run(command, threads, timeout, memory_gib):
    """The JSON that a command prints, and how many cores other processes used meanwhile."""
    environment = dict(os.environ)
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
        environment[variable] = str(threads)
    cores = sorted(os.sched_getaffinity(0))[:threads]
    if len(cores) < threads:
        raise SystemExit(f"{threads} threads need as many cores, but there are {len(cores)}")
    memory = int(memory_gib * 2**30)

    def restrict():
        # Every thread pool sees no more cores than it may use, whatever it reads.
        os.sched_setaffinity(0, cores)
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))

    busy, own, begun = busy_seconds(), children_seconds(), time.monotonic()
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        preexec_fn=restrict,
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise Failure(f"no result in {timeout:.0f} s") from None
    wall = time.monotonic() - begun
    others = (busy_seconds() - busy - (children_seconds() - own)) / wall
    if process.returncode != 0:
        raise Failure(reason(process.returncode, errors))
    return json.loads(output.strip().splitlines()[-1]), max(0.0, others)


def reason(status, errors):
    """The last line of what a failed process said."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    last = lines[-1][:160] if lines else "no message"
    if status < 0:
        return f"killed by signal {-status}: {last}"
    return last


def busy_seconds():
    """Processor time of everything on the machine."""
    with open("/proc/stat") as stat:
        user, nice, system, _, _, irq, softirq = map(int, stat.readline().split()[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
