"""Every error names the argument, and is one of the documented exceptions."""

import numpy as np
import pytest
import tacita

PLAN = {"noise": 1.0, "rate": 0.01, "steps": 100, "delta": 1e-5}


def without(*names):
    return {name: value for name, value in PLAN.items() if name not in names}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"noise": 0.0}, "noise must be a finite number above 0, got 0"),
        ({"noise": -1.0}, "noise must be a finite number above 0, got -1"),
        ({"noise": float("inf")}, "noise must be a finite number above 0, got inf"),
        ({"noise": float("nan")}, "noise must be a number, got NaN"),
        ({"rate": 512}, r"rate must be in \(0, 1\], got 512; did you pass the batch size"),
        ({"rate": 0}, r"rate must be in \(0, 1\], got 0"),
        ({"steps": 0}, "steps must be a whole number of at least 1 and at most 1000000000, got 0"),
        (
            {"steps": 1.5},
            "steps must be a whole number of at least 1 and at most 1000000000, got 1.5",
        ),
        ({"steps": 1e300}, "steps must be a whole number"),
        ({"delta": 0}, r"delta must be in \(0, 1\), got 0"),
        ({"delta": 1}, r"delta must be in \(0, 1\), got 1"),
        ({"records_per_unit": 0}, "records_per_unit must be a whole number of at least 1"),
        ({"records": 10}, "give either rate, or records and batch"),
        ({"epochs": 10}, "give either steps or epochs"),
        ({"accountant": "gdp"}, 'accountant must be one of "pld"'),
        ({"noise": [1.0, -2.0]}, r"noise must be .* got -2 \(at index 1\)"),
        ({"noise": [1.0, 2.0], "rate": [0.1, 0.2, 0.3]}, r"noise \(2,\), rate \(3,\)"),
    ],
)
def test_values_out_of_range_are_named(change, message):
    with pytest.raises(tacita.ArgumentError, match=message) as caught:
        tacita.epsilon(**{**PLAN, **change})
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"noise": "1.0"}, "noise must be a number, got str"),
        ({"delta": None}, "delta must be a number, got NoneType"),
        ({"rate": {}}, "rate must be a number, got dict"),
        ({"steps": True}, "steps must be a number, got bool"),
        ({"noise": np.array([1.0, "a"], dtype=object)}, "noise must hold numbers"),
        ({"noise": ["1.0"]}, "noise must hold numbers"),
        ({"noise": [1.0 + 2.0j]}, "noise must hold numbers"),
    ],
)
def test_values_of_a_wrong_type_are_named(change, message):
    with pytest.raises(tacita.ArgumentTypeError, match=message) as caught:
        tacita.epsilon(**{**PLAN, **change})
    assert isinstance(caught.value, TypeError)


def test_what_is_missing_is_named():
    with pytest.raises(tacita.ArgumentError, match="the sampling is missing"):
        tacita.epsilon(**without("rate"))
    with pytest.raises(tacita.ArgumentError, match="the length is missing"):
        tacita.epsilon(**without("steps"))
    with pytest.raises(tacita.ArgumentError, match="batch must be above 0 and at most records"):
        tacita.epsilon(**without("rate"), records=100, batch=101)


def test_calls_of_other_functions_name_their_arguments():
    with pytest.raises(
        tacita.ArgumentError, match="epsilon must be a finite number above 0, got -1"
    ):
        tacita.calibrate(epsilon=-1, delta=1e-5, rate=0.01, steps=10)
    with pytest.raises(tacita.ArgumentTypeError, match="spent must be a Ledger, got dict"):
        tacita.calibrate(epsilon=1, delta=1e-5, rate=0.01, steps=10, spent={})
    with pytest.raises(tacita.ArgumentError, match="growing_mu must be a finite number above 0"):
        tacita.calibrate(epsilon=1, delta=1e-5, rate=0.01, steps=10, growing_mu=0)
    with pytest.raises(tacita.ArgumentError, match="shape has a noise for each step"):
        tacita.calibrate(epsilon=1, delta=1e-5, rate=0.01, steps=10, shape=[1.0])
    with pytest.raises(tacita.ArgumentError, match=r"shape\[1\] must be a finite number above 0"):
        tacita.calibrate(epsilon=1, delta=1e-5, rate=0.01, shape=[1.0, 0.0])
    with pytest.raises(tacita.ArgumentError, match="either side_noise or side_increase"):
        tacita.calibrate(epsilon=1, delta=1e-5, rate=0.1, steps=1, side_noise=1, side_increase=1)
    with pytest.raises(tacita.ArgumentTypeError, match="a Ledger was expected, got int"):
        tacita.tuning_cost([1], mean=10, delta=1e-5)
    run = tacita.Ledger()
    run.add(noise=2.0, rate=0.01)
    with pytest.raises(tacita.ArgumentError, match="expected number of runs"):
        tacita.tuning_cost(run, mean=0.5, delta=1e-5)
    with pytest.raises(tacita.ArgumentError, match="mu must be"):
        tacita.epsilon_of_mu(0, 1e-5)


def test_budgets_that_cannot_be_kept_say_so():
    with pytest.raises(tacita.BudgetError, match="leaves nothing of the budget"):
        tacita.calibrate(epsilon=0.1, delta=1e-5, rate=0.5, steps=100, side_noise=1.0)
    assert tacita.most_steps(noise=0.3, epsilon=0.1, delta=1e-5, rate=0.5) == 0


def test_rounds_without_a_proof_are_refused_by_name():
    ledger = tacita.Ledger("replace-one")
    ledger.add(noise=1.0, sampling="fixed-size", records=100, batch=10)
    with pytest.raises(tacita.UnsupportedError, match="fixed-size"):
        ledger.epsilon(1e-5)
    with pytest.raises(tacita.LedgerError, match="no rounds"):
        tacita.Ledger().epsilon(1e-5)


def test_every_exception_is_a_tacita_error():
    others = {"RunWarning": Warning, "Stopped": KeyboardInterrupt}
    for name in tacita.errors.__all__:
        assert issubclass(getattr(tacita, name), others.get(name, tacita.TacitaError))
