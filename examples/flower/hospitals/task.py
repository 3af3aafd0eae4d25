"""The model and the data: logistic regression on synthetic patients. Replace both by your own."""

from __future__ import annotations

import numpy as np

FEATURES = 12


def new_model() -> list[np.ndarray]:
    """Weights and bias."""
    return [np.zeros(FEATURES, np.float32), np.zeros(1, np.float32)]


def patients(hospital: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Measurements of a hospital's patients, scaled by public bounds, and whether they fell ill. Synthetic: a real hospital
    reads its own records here."""
    rng = np.random.default_rng(1000 + hospital)
    features = rng.uniform(-1, 1, (count, FEATURES)).astype(np.float32)
    risk = features @ np.linspace(-3, 3, FEATURES) + rng.normal(0, 0.5, count)
    return features, (risk > 0).astype(np.float32)


def gradient(model: list[np.ndarray], features: np.ndarray, ill: float) -> list[np.ndarray]:
    """The gradient of one patient's loss."""
    weights, bias = model
    slope = 1 / (1 + np.exp(-(features @ weights + bias[0]))) - ill
    return [slope * features, np.array([slope], np.float32)]


def accuracy(model: list[np.ndarray]) -> float:
    """On public test patients."""
    features, ill = patients(hospital=10_000, count=2_000)
    weights, bias = model
    return float(np.mean((features @ weights + bias[0] > 0) == (ill > 0.5)))
