"""One epoch of MNIST with PyTorch, plain or with Opacus, beside `tacita-lab bench epoch`."""

import gzip
import os
import time
from pathlib import Path

import numpy
import torch
from torch import nn

import models_torch
from workloads import CLIPPING_THRESHOLD, NOISE_MULTIPLIER

# Of `tacita train --data mnist`.
LEARNING_RATE, MOMENTUM = 0.5, 0.9


def epoch(mode, batch, quick):
    """Trains for one epoch and tells how long it took; evaluation is left out."""
    torch.manual_seed(0)
    images, labels, origin = records(quick)
    model = models_torch.cnn(activation=nn.Tanh).train()
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE, momentum=MOMENTUM)
    loss = nn.CrossEntropyLoss()
    data = torch.utils.data.TensorDataset(images, labels)
    loader = torch.utils.data.DataLoader(data, batch_size=batch, shuffle=True)
    if mode != "torch":
        model, optimizer, loss, loader = private(mode, model, optimizer, loss, loader)
    waited, steps = 0.0, 0
    wall_start, cpu_start = time.perf_counter(), time.process_time()
    asked = wall_start
    for inputs, targets in loader:
        waited += time.perf_counter() - asked
        optimizer.zero_grad(set_to_none=True)
        loss(model(inputs), targets).backward()
        optimizer.step()
        steps += 1
        asked = time.perf_counter()
    return {
        "data": origin,
        "records": len(labels),
        "steps": steps,
        "wall_s": time.perf_counter() - wall_start,
        "cpu_s": time.process_time() - cpu_start,
        "waited_for_data_s": waited,
    }


def private(mode, model, optimizer, loss, loader):
    """As Opacus' own guide does it, with Poisson sampling."""
    from opacus import PrivacyEngine

    settings = {
        "module": model,
        "optimizer": optimizer,
        "data_loader": loader,
        "noise_multiplier": NOISE_MULTIPLIER,
        "max_grad_norm": CLIPPING_THRESHOLD,
        "poisson_sampling": True,
        "grad_sample_mode": mode.removeprefix("opacus-"),
    }
    if mode == "opacus-ghost":
        model, optimizer, loss, loader = PrivacyEngine().make_private(criterion=loss, **settings)
    else:
        model, optimizer, loader = PrivacyEngine().make_private(**settings)
    return model, optimizer, loss, loader


def records(quick):
    """MNIST's training images from TACITA_DATA, else synthetic ones, as tensors; and which."""
    folder = Path(os.environ.get("TACITA_DATA", "")) / "mnist"
    images, labels = folder / "train-images-idx3-ubyte", folder / "train-labels-idx1-ubyte"
    pixels = None if quick else read(images, header=16)
    if pixels is None:
        random = numpy.random.default_rng(0)
        count, origin = (1_000 if quick else 60_000), "synthetic"
        pixels = random.integers(0, 256, count * 784, dtype="uint8")
        classes = random.integers(0, 10, count, dtype="uint8")
    else:
        classes, origin = read(labels, header=8), "mnist"
    pixels = pixels.reshape(-1, 1, 28, 28).astype("float32") / 255
    return torch.from_numpy(pixels), torch.from_numpy(classes.astype("int64")), origin


def read(path, header):
    """The bytes after the header of an IDX file, compressed or not; None if there is none."""
    packed = path.with_name(path.name + ".gz")
    if packed.exists():
        return numpy.frombuffer(gzip.decompress(packed.read_bytes()), "uint8", offset=header)
    if path.exists():
        return numpy.frombuffer(path.read_bytes(), "uint8", offset=header)
    return None
