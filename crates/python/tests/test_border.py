"""The border to Rust: threads, panics, imports."""

import subprocess
import sys
import threading
import time

import pytest
import tacita
from tacita import _tacita


def slow_ledger():
    ledger = tacita.Ledger(records_per_unit=5)
    ledger.add(noise=[2.0 + 1e-4 * step for step in range(3000)], rate=0.02)
    return ledger


def test_other_threads_run_during_work():
    ledger = slow_ledger()
    started, ticks = threading.Event(), []

    def work():
        started.set()
        ledger.epsilon(1e-5)
        ticks.append("done")

    worker = threading.Thread(target=work)
    worker.start()
    started.wait()
    while worker.is_alive():
        ticks.append("tick")
        time.sleep(0.001)
    worker.join()
    # If the interpreter were held, this thread would hardly have run before the work was done.
    assert ticks.count("tick") > 10


def test_a_panic_is_an_exception_of_ours():
    with pytest.raises(tacita.InternalError, match="on purpose") as caught:
        _tacita.panic_for_tests()
    assert isinstance(caught.value, tacita.TacitaError)
    assert isinstance(caught.value, RuntimeError)
    # And the module still works.
    assert float(tacita.epsilon(noise=2.0, rate=0.1, steps=10, delta=1e-5)) > 0


def python(code):
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_the_import_brings_no_heavy_package():
    loaded = python("import sys, tacita; print(' '.join(sys.modules))").split()
    assert not {"numpy", "pandas", "sklearn", "torch", "json"} & set(loaded)


def test_one_figure_needs_no_numpy():
    code = "import sys, tacita; tacita.epsilon(noise=1, rate=.1, steps=9, delta=1e-5)"
    assert python(code + "; print('numpy' in sys.modules)") == "False"


def test_the_import_takes_less_than_a_tenth_of_a_second():
    code = """
import time
start = time.process_time()
import tacita
print(time.process_time() - start)
"""
    # The least of several: other programs run on the machine too.
    assert min(float(python(code)) for _ in range(5)) < 0.1


def test_numbers_that_overflow_are_exceptions_too():
    with pytest.raises((OverflowError, tacita.TacitaError)):
        _tacita.Ledger("add-or-remove-one", 2**40)
    with pytest.raises(tacita.ArgumentError):
        _tacita.Ledger("replace-two", 1)
    with pytest.raises(tacita.ArgumentError):
        _tacita.Ledger("replace-one", 1).push("raffle", [], [[1.0]], 1)
