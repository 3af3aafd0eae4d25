"""Speed of accounting from Python, beside dp-accounting and prv-accountant, on one core.

    OMP_NUM_THREADS=1 taskset -c 0 python crates/python/benches/peers.py [--write]

Times are processor milliseconds a call, medians over repetitions; `--write` keeps them in `peers.json` beside this file.
Needs numpy, dp-accounting and prv-accountant; a library that is missing is left out.
"""

import argparse
import contextlib
import datetime
import importlib.metadata
import json
import platform
import statistics
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import tacita

RATE, NOISE, STEPS, DELTA = 0.01, 1.0, 10_000, 1e-5
#: Budgets and sizes of the table of 1,000 calibrations.
EPSILONS = np.linspace(0.5, 10.0, 20)[:, None]
EPOCHS = np.linspace(1.0, 50.0, 50)[None, :]
SIZE = {"records": 60_000, "batch": 512, "delta": DELTA}


def median_ms(work, repetitions):
    times = []
    for _ in range(repetitions):
        start = time.process_time()
        work()
        times.append(1e3 * (time.process_time() - start))
    return round(statistics.median(times), 3)


def import_ms():
    """`import tacita` in fresh interpreters."""
    program = "import time; start = time.process_time(); import tacita; print(time.process_time() - start)"
    return median_of(
        1e3
        * float(
            subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout
        )
        for _ in range(9)
    )


def median_of(values):
    return round(statistics.median(list(values)), 1)


def of_tacita(found):
    found["tacita: epsilon of 10,000 uniform steps"] = median_ms(
        lambda: tacita.epsilon(noise=NOISE, rate=RATE, steps=STEPS, delta=DELTA), 25
    )
    start = time.process_time()
    table = tacita.calibrate(epsilon=EPSILONS, epochs=EPOCHS, **SIZE)
    found["tacita: 1,000 calibrations"] = round(1e3 * (time.process_time() - start))
    assert table.noise.shape == (20, 50) and (table.epsilon.upper <= EPSILONS).all()
    found["tacita: import"] = import_ms()


def of_dp_accounting(found):
    import dp_accounting
    from dp_accounting import pld, rdp

    def event(noise, rate=RATE, steps=STEPS):
        sampled = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(noise))
        return dp_accounting.SelfComposedDpEvent(sampled, steps)

    for name, make in [("pld", pld.PLDAccountant), ("rdp", rdp.RdpAccountant)]:
        found[f"dp-accounting {name}: epsilon of 10,000 uniform steps"] = median_ms(
            lambda make=make: make().compose(event(NOISE)).get_epsilon(DELTA), 5
        )
    # Ten of the thousand: all of them would take minutes.
    some = [(e, k) for e in EPSILONS.ravel()[[1, 5, 9, 13, 17]] for k in EPOCHS.ravel()[[9, 39]]]
    rate = SIZE["batch"] / SIZE["records"]

    def calibrations():
        for epsilon, epochs in some:
            steps = int(np.ceil(epochs / rate))
            dp_accounting.calibrate_dp_mechanism(
                pld.PLDAccountant,
                lambda noise, steps=steps: event(noise, rate, steps),
                epsilon,
                DELTA,
                tol=1e-4,
            )

    found["dp-accounting pld: 1,000 calibrations, from 10"] = round(
        100 * median_ms(calibrations, 1)
    )


def of_prv_accountant(found):
    from prv_accountant.dpsgd import DPSGDAccountant

    def epsilon():
        accountant = DPSGDAccountant(
            noise_multiplier=NOISE,
            sampling_probability=RATE,
            eps_error=0.01,
            delta_error=1e-10,
            max_steps=STEPS,
        )
        return accountant.compute_epsilon(delta=DELTA, num_steps=STEPS)

    found["prv-accountant: epsilon of 10,000 uniform steps"] = median_ms(epsilon, 3)


def processor():
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


PEERS = {"dp_accounting": of_dp_accounting, "prv_accountant": of_prv_accountant}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="keep the figures in peers.json")
    options = parser.parse_args()
    found = {}
    of_tacita(found)
    for module, measure in PEERS.items():
        if find_spec(module) is None:
            print(f"{module} is not installed")
        else:
            measure(found)
    for name, milliseconds in found.items():
        print(f"{milliseconds:>12} ms  {name}")
    if options.write:
        versions = {}
        for name in ["numpy", "dp-accounting", "prv-accountant"]:
            with contextlib.suppress(importlib.metadata.PackageNotFoundError):
                versions[name] = importlib.metadata.version(name)
        about = {
            "date": datetime.date.today().isoformat(),
            "processor": processor(),
            "tacita": tacita.__version__,
            "python": platform.python_version(),
            **versions,
        }
        path = Path(__file__).with_name("peers.json")
        path.write_text(json.dumps({"about": about, "milliseconds": found}, indent=1) + "\n")


main()
