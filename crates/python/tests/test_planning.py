"""Plans for other libraries' optimisers, and whether a run followed them."""

import math
import types

import numpy as np
import pytest
import tacita

SIZE = {"epsilon": 2.0, "delta": 1e-5, "rate": 0.02, "steps": 50}


def history(plan, noises=None):
    return [(float(noise), plan.rate, 1) for noise in (plan.noises if noises is None else noises)]


def test_a_plan_is_the_calibrated_schedule():
    plan = tacita.plan(growing_mu=3, threshold=2.0, threshold_decay=4, **SIZE)
    found = tacita.calibrate(growing_mu=3, **SIZE)
    assert plan.noises.tolist() == found.noises().tolist()
    assert plan.ledger == found.ledger
    assert (plan.epsilon, plan.delta, plan.rate, len(plan)) == (found.epsilon, 1e-5, 0.02, 50)
    assert float(plan.epsilon) <= 2
    assert plan[-1] == plan[49] == list(plan)[-1]
    assert math.isclose(plan[49].threshold, 0.5)
    assert plan[49].noise_std == plan[49].noise * plan[49].threshold
    assert plan.side_noises is None
    with pytest.raises(IndexError, match="not covered"):
        plan[50]


def test_optimal_noise_follows_the_thresholds():
    thresholds = np.linspace(4.0, 1.0, 50)
    plan = tacita.plan(threshold=thresholds, optimal=True, **SIZE)
    deviations = np.array([step.noise_std for step in plan])
    assert np.allclose(deviations / np.sqrt(thresholds), deviations[0] / 2.0)
    assert float(plan.epsilon) <= 2


def test_side_queries_and_spent_rounds_are_part_of_the_plan():
    spent = tacita.Ledger()
    spent.add(noise=20.0, sampling="full")
    plan = tacita.plan(side_increase=0.01, spent=spent, **SIZE)
    assert len(plan) == 50 and plan.ledger.steps == 51
    assert np.allclose(plan.side_noises / plan.noises, 1 / math.sqrt(0.01 * 2.01))
    unknown = plan.check(history(plan))
    assert not unknown.covered and "give side_noise" in unknown.unknown[0]
    assert plan.check(history(plan), side_noise=plan.side_noises).covered
    less = plan.check(history(plan), side_noise=0.9 * plan.side_noises[0])
    assert less.deviations == ["steps 0 to 49: the side query has less noise than planned"]


def test_a_run_that_follows_the_plan_is_covered_and_one_with_less_noise_is_not():
    plan = tacita.plan(growing_mu=2, **SIZE)
    kept = plan.check(history(plan))
    assert kept and kept.epsilon == plan.epsilon and kept.certificate.bracket.upper <= 2
    # Fewer steps, more noise, a lower rate: all of them only protect more.
    for noise, rate, steps in [(1.5, 1.0, 50), (1.0, 0.5, 50), (1.0, 1.0, 20)]:
        made = [(noise * one, rate * plan.rate, 1) for one in plan.noises[:steps]]
        assert plan.check(made).covered
    noises = plan.noises
    noises[7:9] = np.nextafter(noises[7:9], 0)
    short = plan.check(history(plan, noises))
    assert not short and short.epsilon is None
    assert "steps 7 to 8" in short.deviations[0] and "NOT COVERED" in str(short)
    # The order matters: noise that falls early is another run.
    assert not plan.check(history(plan, plan.noises[::-1])).covered


def test_other_rates_lengths_and_samplers_are_named():
    plan = tacita.plan(**SIZE)
    noise = float(plan.noises[0])
    assert "past the plan's end" in plan.check([(noise, 0.02, 51)]).deviations[0]
    assert "above the planned" in plan.check([(noise, 0.021, 50)]).deviations[0]
    fixed = tacita.Ledger("replace-one")
    fixed.add(noise=noise, sampling="fixed-size", records=5000, batch=100, steps=50)
    assert "replace-one" in plan.check(fixed).deviations[0]
    nothing = plan.check([(0.0, 0.02, 50)])
    assert not nothing and "private" in nothing.deviations[0]

    class RandomSampler:
        pass

    loader = types.SimpleNamespace(sampler=RandomSampler(), batch_sampler=None)
    shuffled = plan.check([(noise, 0.02, 50)], loader=loader)
    assert any("shuffled" in line for line in shuffled.deviations)


def test_optimisers_of_opacus_are_set_and_others_refused():
    plan = tacita.plan(threshold=1.0, growing_mu=2, **SIZE)
    optimizer = types.SimpleNamespace(noise_multiplier=9.0, max_grad_norm=9.0)
    assert plan.apply(optimizer, 3) == plan[3]
    assert (optimizer.noise_multiplier, optimizer.max_grad_norm) == plan[3][:2]
    with pytest.raises(tacita.ArgumentTypeError, match="noise_multiplier"):
        plan.apply(object(), 0)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"epsilon": -1.0}, "epsilon"),
        ({"threshold": 0.0}, "threshold"),
        ({"threshold": [1.0, 2.0]}, "2 numbers for 50 steps"),
        ({"threshold_decay": 2.0}, "needs threshold"),
        ({"threshold": [1.0] * 50, "threshold_decay": 2.0}, "threshold_decay"),
        ({"optimal": True}, "give threshold"),
        ({"optimal": True, "threshold": 1.0, "growing_mu": 2.0}, "no other schedule"),
        ({"epsilon": [1.0, 2.0]}, "one run"),
        ({"threshold": "high"}, "threshold"),
        ({"threshold": np.array([None] * 50)}, "threshold"),
    ],
)
def test_bad_arguments_are_named(arguments, said):
    with pytest.raises((tacita.ArgumentError, tacita.ArgumentTypeError), match=said):
        tacita.plan(**{**SIZE, **arguments})


def test_the_trade_off_function_lies_below_the_exact_one():
    ledger = tacita.Ledger()
    ledger.add(noise=2.0, sampling="full", steps=4)
    # 1-GDP: f(α) = Φ(Φ⁻¹(1 − α) − 1), by the error function.
    for alpha, exact in [(0.01, 0.907637), (0.05, 0.740488), (0.25, 0.372397)]:
        bound = float(ledger.trade_off([alpha])[0])
        assert exact - 3e-3 < bound <= exact + 1e-6
    assert ledger.trade_off([0.0])[0] > 0.999 and ledger.trade_off([1.0])[0] == 0.0
    with pytest.raises(tacita.ArgumentError, match=r"false_alarms\[1\]"):
        ledger.trade_off([0.1, 1.1])
