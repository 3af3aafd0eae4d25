"""What an Opacus run really costs, beside the ε it reports.

Needs opacus (and so torch). The same works for any run made before: only the accountant's history is needed.
"""

import tacita
import torch
from opacus import PrivacyEngine

DELTA = 1e-5

# A short run with Opacus' Gaussian accountant, which estimates by a limit theorem.
records = torch.utils.data.TensorDataset(torch.randn(600, 8), torch.randint(0, 2, (600,)))
model = torch.nn.Linear(8, 2)
engine = PrivacyEngine(accountant="gdp")
model, optimizer, loader = engine.make_private(
    module=model,
    optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
    data_loader=torch.utils.data.DataLoader(records, batch_size=20, shuffle=True),
    noise_multiplier=0.6,
    max_grad_norm=1.0,
)
for _ in range(2):
    for features, labels in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(features), labels).backward()
        optimizer.step()

certificate = tacita.certify(engine, delta=DELTA, loader=loader, optimizer=optimizer)
print(certificate)

# The limit theorem's figure lies below what can be proved, so the run does not have it.
assert certificate.verdict == "false"
assert certificate.reported < certificate.bracket.lower

# To keep beside the model, for `tacita certify history.json`; no pickle is involved.
history = tacita.export_history(engine, delta=DELTA, loader=loader, optimizer=optimizer)
print(history)
