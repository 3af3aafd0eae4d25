"""Trains a small CNN on MNIST with Opacus on a GPU; prints seconds and accuracy as JSON.

  python3 crates/lab/peers/mnist_opacus.py FOLDER_OF_MNIST [--epsilon 1.2]

The network, the batch, the steps, the threshold, the optimiser and the sampling are those of

  tacita train --data mnist --model cnn --epsilon 1.2 --delta 1e-5 --batch 1024 --epochs 10 \\
      --clipping abadi:0.1 --optimizer momentum --learning-rate 0.5 --device cuda
"""

import argparse
import gzip
import json
import time
import warnings
from pathlib import Path

import numpy
import torch
from torch import nn

warnings.filterwarnings("ignore")


class Images(torch.utils.data.Dataset):
    """Images and labels on the GPU; a batch is taken at once rather than record by record."""

    def __init__(self, images, labels):
        self.images, self.labels = images, labels

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index], self.labels[index]

    def __getitems__(self, indices):
        places = torch.as_tensor(indices, device=self.images.device)
        return [(self.images[places], self.labels[places])]


def read(folder, name):
    with gzip.open(Path(folder) / name) as file:
        values = numpy.frombuffer(file.read(), dtype=numpy.uint8)
    return values


def load(folder, part):
    images = read(folder, f"{part}-images-idx3-ubyte.gz")[16:].reshape(-1, 1, 28, 28)
    labels = read(folder, f"{part}-labels-idx1-ubyte.gz")[8:]
    images = torch.from_numpy(images.astype("float32") / 255.0).cuda()
    return images, torch.from_numpy(labels.astype("int64")).cuda()


def network():
    return nn.Sequential(
        nn.Conv2d(1, 16, 8, stride=2, padding=2), nn.Tanh(), nn.MaxPool2d(2, 1),
        nn.Conv2d(16, 32, 4, stride=2), nn.Tanh(), nn.MaxPool2d(2, 1),
        nn.Flatten(), nn.Linear(512, 32), nn.Tanh(), nn.Linear(32, 10),
    ).cuda()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--epsilon", type=float, default=1.2)
    options = parser.parse_args()
    from opacus import PrivacyEngine

    begun = time.perf_counter()
    torch.manual_seed(0)
    records = Images(*load(options.folder, "train"))
    loader = torch.utils.data.DataLoader(records, batch_size=1024, collate_fn=lambda batch: batch[0])
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
    model, optimizer, loader = PrivacyEngine(accountant="prv").make_private_with_epsilon(
        module=model, optimizer=optimizer, data_loader=loader, target_epsilon=options.epsilon,
        target_delta=1e-5, epochs=10, max_grad_norm=0.1,
    )
    ready = time.perf_counter()
    loss = nn.CrossEntropyLoss()
    steps = 0
    for _ in range(10):
        for images, labels in loader:
            optimizer.zero_grad(set_to_none=True)
            loss(model(images), labels).backward()
            optimizer.step()
            steps += 1
    torch.cuda.synchronize()
    trained = time.perf_counter()
    images, labels = load(options.folder, "t10k")
    with torch.no_grad():
        accuracy = (model(images).argmax(1) == labels).float().mean().item()
    print(json.dumps({
        "accuracy": 100 * accuracy, "steps": steps, "noise_multiplier": optimizer.noise_multiplier,
        "seconds_to_begin": ready - begun, "seconds_to_train": trained - ready,
        "seconds": time.perf_counter() - begun,
    }))


if __name__ == "__main__":
    main()
