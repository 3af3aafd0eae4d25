"""One training step with PyTorch: plain, with Opacus, or with FastDP."""

import contextlib
import io
import sys
import warnings

import torch
from torch import nn

import models_torch
from workloads import (
    CLIPPING_THRESHOLD,
    LEARNING_RATES,
    NOISE_MULTIPLIER,
    WORKLOADS,
    check_parameters,
)

# Opacus warns about its secure mode and about hooks at every start.
warnings.filterwarnings("ignore")


class MeanSquaredError(nn.Module):
    """The mean over values, then over records; Opacus changes `reduction` for ghost clipping."""

    reduction = "mean"

    def forward(self, output, target):
        losses = ((output - target) ** 2).flatten(1).mean(1)
        return losses if self.reduction == "none" else losses.mean()


def lstm_layer(mode):
    if mode.startswith("opacus"):
        from opacus.layers import DPLSTM

        return DPLSTM
    return nn.LSTM


def smallest_step():
    """PyTorch imports a good part of itself at the first optimiser and the first step."""
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.zeros(1, 1)).sum().backward()
    optimizer.step()


def make_step(name, mode, batch, fastdp_source, device="cpu"):
    """A function that makes one step on the batch, given as NumPy arrays."""
    torch.manual_seed(0)
    workload = WORKLOADS[name]
    inputs, targets = (torch.from_numpy(values).to(device) for values in batch)
    model = models_torch.build(name, lstm_layer(mode)).train().to(device)
    check_parameters(name, sum(values.numel() for values in model.parameters()))
    rule = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[workload.optimizer]
    optimizer = rule(model.parameters(), lr=LEARNING_RATES[workload.optimizer])
    loss = MeanSquaredError() if name == "autoencoder" else nn.CrossEntropyLoss()
    if mode.startswith("opacus"):
        model, optimizer, loss = with_opacus(mode, model, optimizer, loss, inputs, targets)
    elif mode == "fastdp":
        attach_fastdp(fastdp_source, model, optimizer, len(inputs))

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss(model(inputs), targets).backward()
        optimizer.step()

    if mode == "fastdp":
        return refusing_untrained_layers(step)
    return step


def with_opacus(mode, model, optimizer, loss, inputs, targets):
    from opacus import PrivacyEngine

    records = torch.utils.data.TensorDataset(inputs, targets)
    settings = {
        "module": model,
        "optimizer": optimizer,
        "data_loader": torch.utils.data.DataLoader(records, batch_size=len(inputs)),
        "noise_multiplier": NOISE_MULTIPLIER,
        "max_grad_norm": CLIPPING_THRESHOLD,
        # Every record takes part in every step, as in `tacita-lab bench step`.
        "poisson_sampling": False,
        "grad_sample_mode": mode.removeprefix("opacus-"),
    }
    if mode == "opacus-ghost":
        model, optimizer, loss, _ = PrivacyEngine().make_private(criterion=loss, **settings)
    else:
        model, optimizer, _ = PrivacyEngine().make_private(**settings)
    return model, optimizer, loss


def attach_fastdp(source, model, optimizer, batch):
    sys.path.insert(0, source)
    import fastDP

    with contextlib.redirect_stdout(io.StringIO()):
        engine = fastDP.PrivacyEngine(
            model,
            batch_size=batch,
            sample_size=50_000,
            epochs=1,
            noise_multiplier=NOISE_MULTIPLIER,
            max_grad_norm=CLIPPING_THRESHOLD,
            clipping_fn="Abadi",
            clipping_mode="MixOpt",
            clipping_style="all-layer",
        )
        engine.attach(optimizer)


def refusing_untrained_layers(step):
    """FastDP only prints that it leaves a layer untrained; such a step is no training step."""

    def checked():
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            step()
        if "not supported" in printed.getvalue():
            raise RuntimeError(f"leaves layers untrained: {printed.getvalue().strip()}")

    return checked
