"""Real runs of Opacus by a plan."""

import subprocess
import sys
from importlib.util import find_spec

import pytest
import tacita
from conftest import ROOT

pytestmark = pytest.mark.skipif(find_spec("opacus") is None, reason="opacus is not installed")


def test_a_step_that_was_not_set_is_named():
    import torch
    from opacus import PrivacyEngine

    records = torch.utils.data.TensorDataset(torch.randn(100, 4), torch.randint(0, 2, (100,)))
    model = torch.nn.Linear(4, 2)
    engine = PrivacyEngine(accountant="rdp")
    model, optimizer, loader = engine.make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        data_loader=torch.utils.data.DataLoader(records, batch_size=10),
        noise_multiplier=0.5,
        max_grad_norm=1.0,
    )
    steps = len(loader)
    plan = tacita.plan(
        epsilon=2, delta=1e-5, rate=1 / steps, steps=steps, growing_mu=1.5, threshold=1
    )
    for step, (features, labels) in enumerate(loader):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(features), labels).backward()
        if step != 4:
            plan.apply(optimizer, step)
        else:
            optimizer.noise_multiplier = 0.5
        optimizer.step()
    check = plan.check(engine, loader=loader)
    assert check.steps == steps and not check.covered
    assert check.deviations == ["step 4: noise multiplier 0.5 is less than planned"]


@pytest.mark.parametrize("name", ["opacus_schedule.py", "certify_opacus_run.py"])
def test_examples_with_opacus_run(name):
    words = [sys.executable, "-W", "ignore", str(ROOT / "examples" / "python" / name)]
    made = subprocess.run(words, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
