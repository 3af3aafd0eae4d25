"""The reference vectors: Python's figures are the command line's bit for bit, and hold the reference."""

import pytest
import tacita
from conftest import stored

CASES = stored("vectors.json")["cases"]
CALIBRATIONS = stored("vectors.json")["calibration"]


def ledger_of(case):
    ledger = tacita.Ledger()
    for noise, times in case["noise_and_times"]:
        ledger.add(noise=noise, rate=case["rate"], steps=times)
    return ledger


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_brackets_hold_the_reference(case):
    bracket = ledger_of(case).epsilon(case["delta"])
    # The reference carries no rounding errors of its own, hence 1e-6.
    assert bracket.upper >= case["epsilon_lower"] * (1 - 1e-6)
    assert bracket.lower <= case["epsilon_upper"] * (1 + 1e-6)


@pytest.mark.parametrize("case", CASES[::3], ids=lambda case: case["id"])
@pytest.mark.parametrize("accountant", ["pld", "rdp"])
def test_ledgers_cost_what_the_command_line_says(case, accountant, command, tmp_path):
    ledger = ledger_of(case)
    path = tmp_path / "ledger.json"
    ledger.write(path)
    words = ["account", "--ledger", path, "--delta", repr(case["delta"])]
    said = command(*words, "--epsilon", "1.5", "--accountant", accountant)
    epsilon = ledger.epsilon(case["delta"], accountant)
    assert epsilon.upper == said["epsilon"]["upper"]
    assert epsilon.lower == said["epsilon"].get("lower", 0.0)
    delta = ledger.delta(1.5, accountant)
    assert delta.upper == said["at_epsilon"]["delta"]["upper"]
    assert delta.lower == said["at_epsilon"]["delta"].get("lower", 0.0)


def test_plans_cost_what_the_command_line_says(command):
    for records, batch, epochs, noise in [(60_000, 512, 10, 1.0), (120_000, 512, 3, 0.6)]:
        words = ["--records", records, "--batch", batch, "--epochs", epochs, "--noise", noise]
        said = command("account", *words, "--delta", 1e-5)["epsilon"]
        plan = {"records": records, "batch": batch, "epochs": epochs, "noise": noise}
        bracket = tacita.epsilon(**plan, delta=1e-5)
        assert (bracket.lower, bracket.upper) == (said["lower"], said["upper"])


@pytest.mark.parametrize("case", CALIBRATIONS[::2], ids=lambda case: f"epsilon={case['epsilon']}")
def test_calibrated_noise_is_that_of_the_command_line(case, command):
    plan = {name: case[name] for name in ("epsilon", "delta", "rate", "steps")}
    found = tacita.calibrate(**plan)
    words = [word for name, value in plan.items() for word in (f"--{name}", repr(value))]
    said = command("calibrate", *words)
    assert found.noise == said["noise_multiplier"]
    assert found.epsilon == tacita.Bracket(said["epsilon"]["lower"], said["epsilon"]["upper"])
    assert case["noise_lower"] * (1 - 1e-7) <= found.noise <= case["noise_safe"] * (1 + 1e-4)


def test_schedules_and_side_queries_are_those_of_the_command_line(command):
    plan = {"epsilon": 2.0, "delta": 1e-5, "rate": 0.02, "steps": 300}
    words = [word for name, value in plan.items() for word in (f"--{name}", repr(value))]
    found = tacita.calibrate(**plan, growing_mu=2.5)
    said = command("calibrate", *words, "--growing-mu", "2.5")
    assert (found.noise, found.epsilon.upper) == (
        said["noise_multiplier"],
        said["epsilon"]["upper"],
    )
    found = tacita.calibrate(**plan, side_increase=0.01)
    said = command("calibrate", *words, "--side-query-increase", "0.01")
    assert found.noise == said["noise_multiplier"]
    assert found.side_noise == said["side_query_noise_multiplier"]
    found = tacita.calibrate(**plan, side_noise=20.0)
    said = command("calibrate", *words, "--side-query-noise", "20")
    assert found.noise == said["noise_multiplier"]
    steps = tacita.most_steps(noise=1.1, epsilon=2.0, delta=1e-5, rate=0.02)
    words = ["--epsilon", 2.0, "--delta", 1e-5, "--rate", 0.02, "--noise", 1.1, "--most-steps"]
    assert steps == command("calibrate", *words)["steps"]


def test_tuning_costs_are_those_of_the_vectors():
    theirs = "rdp_eps_repeat_select_papernot_steinke(dp_accounting RepeatAndSelect)"
    for case in stored("peers.json")["tuning"]:
        run = tacita.Ledger()
        run.add(noise=float(case["z"]), rate=float(case["q"]), steps=case["T"])
        shape = case.get("eta_shape")
        if isinstance(shape, (int, float)):
            law = {"distribution": "negative-binomial", "shape": shape}
        else:
            law = {"distribution": "poisson"}
        cost = tacita.tuning_cost(run, mean=case["mean_runs"], delta=float(case["delta"]), **law)
        # They search a fixed list of orders, so they lie a little above.
        assert 0.99 * float(case[theirs]) <= cost.upper <= float(case[theirs]) * (1 + 1e-9)
