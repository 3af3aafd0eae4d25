"""The certified accountant beside dp-accounting and prv-accountant, alternating on one machine.

    python3 benches/peers.py            # from crates/accounting; Python >= 3.9, network for PyPI

Makes a virtual environment beside the build output (or at PEERS_VENV), installs the peers, builds
the benchmark and prints a table of medians. Every measurement is a process of its own, pinned to
one thread; the processor time of the accounting call is taken, not of start-up or imports. A
measurement that takes longer than PEERS_LIMIT seconds (240) is given up.
"""
import json
import os
import statistics
import subprocess
import sys
import venv

LIMIT = float(os.environ.get("PEERS_LIMIT", "240"))
ROUNDS = {"uniform-1e4": 5, "calibrate-1-1e-5": 5, "distinct-5000": 1}
RATE = 250 / 60000

PEER = r"""
import json, math, sys, time
tool, case = sys.argv[1:3]
RATE = 250 / 60000
if case == "distinct-5000":
    noises = [4.0 * 2.0 ** (-t / 5000) for t in range(1, 5001)]
if tool in ("dp-accounting pld", "dp-accounting rdp"):
    import dp_accounting as dp
    from dp_accounting import pld, rdp
    def event(z, times):
        return dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(RATE, dp.GaussianDpEvent(z)), times)
    def accountant():
        if tool.endswith("rdp"):
            return rdp.RdpAccountant()
        return pld.PLDAccountant(value_discretization_interval=1e-4)
    def epsilon(events):
        a = accountant()
        for e in events:
            a.compose(e)
        return a.get_epsilon(1e-5)
    start = time.process_time()
    if case == "uniform-1e4":
        figure = epsilon([event(2.0, 10000)])
    elif case == "calibrate-1-1e-5":
        figure = dp.calibrate_dp_mechanism(accountant, lambda z: event(z, 5000), 1.0, 1e-5,
                                           dp.ExplicitBracketInterval(0.5, 10.0), tol=1e-4)
    else:
        figure = epsilon([event(z, 1) for z in noises])
    seconds = time.process_time() - start
else:
    from prv_accountant import PoissonSubsampledGaussianMechanism as Mechanism, PRVAccountant
    def epsilon(mechanisms, counts, guess):
        a = PRVAccountant(prvs=mechanisms, max_self_compositions=counts, eps_error=guess,
                          delta_error=1e-10)
        return a.compute_epsilon(delta=1e-5, num_self_compositions=counts)[2]
    def at(z, times):
        return epsilon([Mechanism(noise_multiplier=z, sampling_probability=RATE)], [times], 1e-2)
    start = time.process_time()
    if case == "uniform-1e4":
        figure = at(2.0, 10000)
    elif case == "calibrate-1-1e-5":
        low, high = 0.5, 10.0
        while high - low > 1e-4:
            middle = (low + high) / 2
            low, high = (low, middle) if at(middle, 5000) <= 1.0 else (middle, high)
        figure = high
    else:
        prvs = [Mechanism(noise_multiplier=z, sampling_probability=RATE) for z in noises]
        figure = epsilon(prvs, [1] * len(prvs), 1e-2)
    seconds = time.process_time() - start
print(json.dumps({"seconds": seconds, "figure": figure}))
"""


def run(command, environment):
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        return {"error": (done.stderr.strip().splitlines() or ["no message"])[-1][:60]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(here, "../../../target"))
    folder = os.environ.get("PEERS_VENV", os.path.join(target, "peers-venv"))
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(python):
        venv.create(folder, with_pip=True)
    tools = []
    for package in ("dp-accounting", "prv-accountant"):
        done = subprocess.run([python, "-m", "pip", "install", "-q", package])
        if done.returncode == 0:
            tools += ["dp-accounting pld", "dp-accounting rdp"] if package.startswith("dp") else [package]
        else:
            print(f"{package} does not install; left out", file=sys.stderr)
    built = subprocess.run(
        ["cargo", "bench", "-p", "tacita-accounting", "--bench", "accountant", "--no-run",
         "--message-format=json"], cwd=here, capture_output=True, text=True, check=True)
    binary = next(m["executable"] for m in map(json.loads, built.stdout.splitlines())
                  if m.get("executable") and m["target"]["name"] == "accountant")
    one = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
    for case, rounds in ROUNDS.items():
        found = {tool: [] for tool in ["tacita", *tools]}
        for _ in range(rounds):
            found["tacita"].append(run([binary, "--json", case], one))
            for tool in tools:
                before = found[tool]
                if before and (before[-1] is None or "error" in before[-1]):
                    continue  # it will not do better the next time
                found[tool].append(run([python, "-c", PEER, tool, case], one))
        ours = statistics.median(m["seconds"] for m in found["tacita"])
        for tool, measured in found.items():
            last = measured[-1]
            if last is None:
                print(f"| {case} | {tool} | > {LIMIT:.0f} s (given up) | > {LIMIT / ours:.0f} | |", flush=True)
            elif "error" in last:
                print(f"| {case} | {tool} | fails: {last['error']} | | |", flush=True)
            else:
                time = statistics.median(m["seconds"] for m in measured)
                print(f"| {case} | {tool} | {1e3 * time:.1f} ms | {time / ours:.1f} | {last['figure']:.6f} |",
                      flush=True)


main()
