"""Opacus trained by a schedule that was certified as a whole: growing μ and a decaying threshold.

Needs opacus (and so torch). The noise falls and the threshold falls with it, as in dynamic DP-SGD (Du et al. 2021); ε is
that of the whole schedule, proved before the first step, and the history is checked against it at the end.
"""

import tacita
import torch
from opacus import PrivacyEngine

torch.manual_seed(1)  # the data of this example; Opacus draws noise and batches from elsewhere
records = torch.utils.data.TensorDataset(torch.randn(1_000, 8), torch.randint(0, 2, (1_000,)))
model = torch.nn.Linear(8, 2)
engine = PrivacyEngine(accountant="prv")
model, optimizer, loader = engine.make_private(
    module=model,
    optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
    data_loader=torch.utils.data.DataLoader(records, batch_size=50),
    noise_multiplier=1.0,  # replaced in every step
    max_grad_norm=1.0,
)

epochs = 3
plan = tacita.plan(
    epsilon=3,
    delta=1e-5,
    rate=1 / len(loader),  # what Opacus samples with
    steps=epochs * len(loader),
    growing_mu=2,
    threshold=1.0,
    threshold_decay=2,
)
print(plan)

step = 0
for _ in range(epochs):
    for features, labels in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(features), labels).backward()
        plan.apply(optimizer, step)
        optimizer.step()
        step += 1

# The accountant kept the noise of each step; a step with less than planned would be named.
check = plan.check(engine, loader=loader)
print(check)
assert check.covered

# What else the history tells: Opacus divides by a number that it computes from the data.
print(tacita.certify(engine, delta=1e-5, loader=loader, optimizer=optimizer))
