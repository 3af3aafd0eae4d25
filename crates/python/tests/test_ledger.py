"""Ledgers: built, composed, read and written."""

import copy
import json
import math
import pickle
import threading

import numpy as np
import pytest
import tacita


def uniform(noise=2.0, steps=100):
    ledger = tacita.Ledger()
    ledger.add(noise=noise, rate=0.01, steps=steps)
    return ledger


def test_equal_rounds_are_counted_together():
    ledger = uniform()
    ledger.add(noise=2.0, rate=0.01, steps=50)
    ledger.add(noise=[2.0, 2.0, 1.0], rate=0.01)
    assert ledger.rounds == [
        tacita.Round("poisson", (0.01,), (2.0,), 152),
        tacita.Round("poisson", (0.01,), (1.0,), 1),
    ]
    assert ledger.steps == 153


def test_a_side_query_shares_the_draw():
    joint = tacita.Ledger()
    joint.add(noise=5.0, side_noise=12.0, rate=0.01, steps=100)
    # 1/5² + 1/12² = (13/60)².
    alone = uniform(60 / 13, 100)
    joint, alone = joint.epsilon(1e-5), alone.epsilon(1e-5)
    assert joint.lower <= alone.upper
    assert alone.lower <= joint.upper
    schedule = tacita.Ledger()
    schedule.add(noise=[5.0, 4.0], side_noise=[12.0, 9.0], rate=0.01)
    assert [each.noise for each in schedule.rounds] == [(5.0, 12.0), (4.0, 9.0)]


def test_every_sampling_is_read_back():
    ledger = tacita.Ledger("replace-one", records_per_unit=3)
    ledger.add(noise=1.5, sampling="fixed-size", records=60_000, batch=512, steps=7)
    ledger.add(noise=2.5, sampling="full", steps=2)
    ledger.add(noise=3.5, sampling="partition", batches=240)
    ledger.add(noise=0.1, records=3, batch=1, side_noise=7.0)
    for again in (
        tacita.Ledger.from_json(ledger.to_json()),
        pickle.loads(pickle.dumps(ledger)),
        copy.copy(ledger),
        copy.deepcopy(ledger),
    ):
        assert again == ledger
        assert again.neighbours == "replace-one"
        assert again.records_per_unit == 3
    assert ledger.rounds[0].numbers == (512, 60_000)
    assert json.loads(ledger.to_json())["rounds"][3]["sampling"]["rate"] == 1 / 3


def test_files_are_written_and_read(tmp_path):
    path = tmp_path / "ledger.json"
    uniform().write(path)
    assert tacita.Ledger.read(path) == uniform()
    path.write_text('{"neighbours": "add-or-remove-one", "rounds": [], "surprise": 1}')
    with pytest.raises(tacita.LedgerError, match="surprise"):
        tacita.Ledger.read(path)
    with pytest.raises(FileNotFoundError):
        tacita.Ledger.read(tmp_path / "none.json")


def test_composition_is_the_sum_of_the_parts():
    both = uniform(2.0) + uniform(3.0)
    assert both.steps == 200
    assert tacita.Ledger.compose([uniform(2.0), uniform(3.0)]) == both
    assert both.prefix(100) == uniform(2.0)
    with pytest.raises(tacita.UnsupportedError, match="one relation"):
        uniform() + tacita.Ledger("replace-one")
    with pytest.raises(TypeError):
        uniform() + 1
    # A copy does not follow what it was copied from.
    ledger = uniform()
    before = copy.copy(ledger)
    ledger.add(noise=1.0, rate=0.5)
    assert before == uniform()


def test_units_of_several_records_cost_more_but_less_than_group_privacy_says():
    one = uniform().epsilon(1e-6)
    four = uniform().with_records_per_unit(4)
    assert one.upper < four.epsilon(1e-6).lower
    # Four neighbouring steps of (ε, δ): 4ε at δ(e^4ε − 1)/(e^ε − 1).
    delta = 1e-6 * math.expm1(4 * one.upper) / math.expm1(one.upper)
    assert four.epsilon(delta).upper < 4 * one.lower


def test_what_does_not_belong_to_a_sampling_is_refused():
    ledger = tacita.Ledger()
    for change, message in [
        ({"sampling": "full", "rate": 0.1}, "rate does not belong"),
        ({"sampling": "fixed-size", "records": 10}, "needs records and batch"),
        ({"sampling": "fixed-size", "records": 10, "batch": 11}, "batch must be"),
        ({"sampling": "partition"}, "needs batches"),
        ({"sampling": "shuffled"}, "sampling must be one of"),
        ({"rate": 0.1, "steps": 3, "noise": [1.0, 2.0]}, "2 multipliers for 3 steps"),
        ({"rate": 0.1, "noise": [1.0, 2.0], "side_noise": [1.0, 2.0, 3.0]}, "different lengths"),
        ({"rate": 0.1, "noise": []}, "noise is empty"),
        ({"rate": 0.1, "noise": [1.0, float("nan")]}, r"noise\[1\] must be a number, got NaN"),
    ]:
        with pytest.raises(tacita.ArgumentError, match=message):
            ledger.add(**{"noise": 1.0, **change})
    with pytest.raises(tacita.ArgumentTypeError, match="1 dim|one dimension"):
        ledger.add(noise=np.ones((2, 2)), rate=0.1)
    assert ledger.steps == 0, "nothing was added on the way"


def test_a_failed_addition_adds_nothing():
    ledger = uniform(steps=2**52)
    with pytest.raises(tacita.LedgerError, match="has more than"):
        ledger.add(noise=[1.0, 2.0], side_noise=1.0, rate=0.1)
        ledger.add(noise=1.0, rate=0.1, steps=2**53)
    with pytest.raises(tacita.LedgerError, match="has more than"):
        tacita.Ledger.compose([ledger, ledger, ledger])
    assert ledger.steps == 2**52 + 2


def test_threads_may_read_while_one_appends():
    ledger = uniform()
    failures = []

    def read():
        try:
            for _ in range(20):
                assert ledger.epsilon(1e-5).upper > 0
        except Exception as error:
            failures.append(error)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for _ in range(200):
        ledger.add(noise=2.0, rate=0.01)
    for reader in readers:
        reader.join()
    assert not failures
    assert ledger.steps == 300


def test_long_schedules_are_built_at_once_or_step_by_step():
    noise = np.linspace(3.0, 1.0, 3000)
    at_once, by_step = tacita.Ledger(), tacita.Ledger()
    at_once.add(noise=noise, rate=0.01)
    for one in noise:
        by_step.add(noise=one, rate=0.01)
    assert at_once == by_step
