"""ε and δ: closed forms, order, sweeps."""

import math

import numpy as np
import pytest
import tacita


def gaussian_delta(mu, epsilon):
    """δ of one Gaussian release, in closed form (Balle & Wang 2018)."""

    def phi(x):
        return 0.5 * math.erfc(-x / math.sqrt(2))

    return phi(mu / 2 - epsilon / mu) - math.exp(epsilon) * phi(-mu / 2 - epsilon / mu)


@pytest.mark.parametrize(("noise", "steps"), [(5.0, 10), (50.0, 1000), (1.0, 1)])
def test_full_batches_have_the_closed_form(noise, steps):
    ledger = tacita.Ledger()
    ledger.add(noise=noise, sampling="full", steps=steps)
    mu = math.sqrt(steps) / noise
    epsilons = np.linspace(0.1, 3.0, 7)
    curve = ledger.curve(epsilons)
    truth = np.array([gaussian_delta(mu, epsilon) for epsilon in epsilons])
    assert (curve.lower <= truth * (1 + 1e-9)).all()
    assert (curve.upper >= truth * (1 - 1e-9)).all()
    assert ledger.gdp_mu().is_exact
    assert ledger.gdp_mu().mu == pytest.approx(mu, rel=1e-12)


def test_epsilon_and_delta_invert_each_other():
    plan = {"noise": 1.1, "rate": 0.01, "steps": 700}
    epsilon = tacita.epsilon(**plan, delta=1e-5)
    assert tacita.delta(**plan, epsilon=epsilon.upper).lower <= 1e-5
    assert tacita.delta(**plan, epsilon=epsilon.lower).upper >= 1e-5


def test_more_noise_costs_less_and_more_steps_cost_more():
    noise = tacita.epsilon(noise=np.geomspace(0.6, 6, 8), rate=0.01, steps=500, delta=1e-5)
    assert (np.diff(noise.upper) < 0).all()
    steps = tacita.epsilon(noise=1.0, rate=0.01, steps=[10, 100, 1000], delta=1e-5)
    assert (np.diff(steps.lower) > 0).all()
    rates = tacita.epsilon(noise=1.0, rate=[0.001, 0.01, 0.1], steps=100, delta=1e-5)
    assert (np.diff(rates.lower) > 0).all()
    units = tacita.epsilon(noise=2.0, rate=0.01, steps=100, delta=1e-5, records_per_unit=[1, 2, 4])
    assert (np.diff(units.lower) > 0).all()


def test_bounds_of_other_accountants_lie_above():
    plan = {"noise": 1.0, "rate": 0.01, "steps": 1000, "delta": 1e-5}
    bracket = tacita.epsilon(**plan)
    for name in ("rdp", "tcdp", "zcdp"):
        bound = tacita.epsilon(**plan, accountant=name)
        assert bound.lower == 0.0
        assert bound.upper > bracket.upper


def test_a_sweep_is_what_its_elements_are():
    noise, delta = np.array([[1.0], [2.0]]), np.array([1e-6, 1e-5, 1e-4])
    sweep = tacita.epsilon(noise=noise, rate=0.01, steps=200, delta=delta)
    assert sweep.shape == (2, 3)
    for row, z in enumerate(noise[:, 0]):
        for column, d in enumerate(delta):
            alone = tacita.epsilon(noise=float(z), rate=0.01, steps=200, delta=float(d))
            assert sweep[row, column] == alone
    assert (np.asarray(sweep) == sweep.upper).all()
    assert sweep[0].shape == (3,)
    empty = tacita.epsilon(noise=np.empty((0, 2)), rate=0.01, steps=200, delta=1e-5)
    assert empty.shape == (0, 2)


def test_records_and_epochs_make_the_rate_and_the_steps():
    by_size = tacita.epsilon(noise=1.0, records=60_000, batch=512, epochs=10, delta=1e-5)
    assert by_size == tacita.epsilon(noise=1.0, rate=512 / 60_000, steps=1172, delta=1e-5)
    # 100 epochs of 1/0.01 steps each, though 100/0.01 is not 10000 in binary.
    whole = tacita.epsilon(noise=9.0, records=100, batch=1, epochs=100, delta=1e-5)
    assert whole == tacita.epsilon(noise=9.0, rate=0.01, steps=10_000, delta=1e-5)


def test_numpy_scalars_and_integers_are_numbers():
    plain = tacita.epsilon(noise=2, rate=1, steps=3, delta=1e-5)
    assert plain == tacita.epsilon(
        noise=np.float32(2), rate=np.int64(1), steps=np.uint8(3), delta=np.float64(1e-5)
    )
