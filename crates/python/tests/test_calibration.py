"""Calibration keeps the budget, and hardly wastes any."""

import numpy as np
import pytest
import tacita

BUDGET = {"epsilon": 1.5, "delta": 1e-5}
PLAN = {"rate": 0.01, "steps": 400}


@pytest.mark.parametrize(
    "extra",
    [
        {},
        {"growing_mu": 2.0},
        {"growing_mu": 0.5},
        {"side_noise": 15.0},
        {"side_increase": 0.01},
        {"records_per_unit": 3},
        {"accountant": "rdp"},
    ],
    ids=str,
)
def test_the_budget_is_kept_and_used(extra):
    found = tacita.calibrate(**BUDGET, **PLAN, **extra)
    assert found.epsilon.upper <= 1.5
    assert found.epsilon.upper >= 1.5 * (1 - 1e-4)
    accountant = extra.get("accountant", "pld")
    assert found.ledger.epsilon(1e-5, accountant) == found.epsilon
    assert found.ledger.steps == len(found.noises()) == 400


def test_growing_mu_is_the_schedule_of_its_paper():
    found = tacita.calibrate(**BUDGET, **PLAN, growing_mu=2.0)
    steps = np.arange(1, 401)
    assert found.noises() == pytest.approx(found.noise * 2.0 ** (-steps / 400), rel=1e-14)


def test_any_shape_is_scaled():
    shape = 1.0 + np.cos(np.arange(50)) / 2
    found = tacita.calibrate(**BUDGET, rate=0.05, shape=shape)
    assert found.noises() == pytest.approx(found.noise * shape, rel=1e-14)
    assert found.epsilon.upper <= 1.5


def test_a_side_query_paid_by_an_increase_leaves_the_joint_noise():
    plain = tacita.calibrate(**BUDGET, **PLAN)
    found = tacita.calibrate(**BUDGET, **PLAN, side_increase=0.01)
    joint = (found.noise**-2 + found.side_noise**-2) ** -0.5
    assert joint == pytest.approx(plain.noise, rel=1e-4)
    assert found.noise == pytest.approx(1.01 * joint, rel=1e-12)


def test_what_was_spent_counts():
    spent = tacita.Ledger()
    spent.add(noise=1.5, side_noise=9.0, rate=0.02, steps=100)
    alone = tacita.calibrate(**BUDGET, **PLAN)
    after = tacita.calibrate(**BUDGET, **PLAN, spent=spent)
    assert after.noise > alone.noise
    assert after.ledger.steps == 500
    assert len(after.noises()) == 400
    assert set(after.noises()) == {after.noise}
    left = tacita.most_steps(noise=2.0, rate=0.01, **BUDGET, spent=spent)
    assert left < tacita.most_steps(noise=2.0, rate=0.01, **BUDGET)


def test_a_table_is_what_its_elements_are():
    epsilons = np.array([[0.5], [2.0]])
    table = tacita.calibrate(epsilon=epsilons, delta=1e-5, rate=[0.01, 0.02], steps=100)
    assert table.noise.shape == (2, 2)
    for row in range(2):
        for column, rate in enumerate([0.01, 0.02]):
            epsilon = float(epsilons[row, 0])
            alone = tacita.calibrate(epsilon=epsilon, delta=1e-5, rate=rate, steps=100)
            assert table.noise[row, column] == alone.noise == float(alone)
            assert table.epsilon[row, column] == alone.epsilon
    assert (np.asarray(table) == table.noise).all()


def test_most_steps_is_the_most():
    steps = tacita.most_steps(noise=1.2, rate=0.01, **BUDGET)
    cost = [
        tacita.epsilon(noise=1.2, rate=0.01, steps=n, delta=1e-5).upper for n in (steps, steps + 1)
    ]
    assert cost[0] <= 1.5 < cost[1]
