"""Flower's own differential privacy beside Tacita's strategy, on one task, with Flower's classes and messages.

    python crates/lab/peers/flower.py [--seeds 5]

2,000 synthetic clients of one record each (examples/flower), a cohort of 200, 40 rounds, threshold 0.5, the same learning
rate. Three federations:

- Tacita's strategy at a certified ε of 2.
- Flower's ``DifferentialPrivacyServerSideFixedClipping`` with its accountant, whose only mode is without amplification, with
  the least noise for which that accountant says 2.
- The same with the noise of the first row: what Flower would have claimed for it.

NOT PRIVATE: Tacita's runs take fixed seeds, and Flower draws from Python's and NumPy's generators in any case.
"""

import argparse
import logging
import random
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples" / "flower"))

from flwr.app import ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import (
    GaussianPrivacyEvent,
    NeighboringRelation,
    PrivacyConfig,
    RdpAccountant,
    SamplingMethod,
)
from flwr.serverapp.strategy import DifferentialPrivacyServerSideFixedClipping, FedAvg
from flwr.supercore.task_identity import TaskIdentity
from hospitals.task import accuracy, gradient, new_model, patients

import tacita.flower
from tacita.federation import Plan

CLIENTS, COHORT, ROUNDS, DELTA, EPSILON, THRESHOLD, RATE = 2_000, 200, 40, 1e-4, 2.0, 0.5, 2.0
TaskIdentity.task_id = TaskIdentity.run_id = TaskIdentity.node_id = 1
FEATURES, ILL = patients(0, CLIENTS)


class Grid:
    """All nodes in one process."""

    def __init__(self, app):
        self.app = app

    def get_node_ids(self):
        return range(1, CLIENTS + 1)

    def send_and_receive(self, messages, *, timeout=None):
        replies = []
        for message in messages:
            node = message.metadata.dst_node_id
            context = Context(run_id=1, node_id=node, node_config={}, state=RecordDict(), run_config={})
            reply = self.app(message, context)
            replies.append(reply)
        return replies


def of_client(model, node):
    return gradient(model, FEATURES[node - 1], float(ILL[node - 1]))


def tacita_run(seed):
    plan = Plan(
        clients=CLIENTS, cohort=COHORT, rounds=ROUNDS, epsilon=EPSILON, delta=DELTA, clipping="abadi", threshold=THRESHOLD
    )
    app = tacita.flower.client_app(lambda model, context: of_client(model, context.node_id))
    strategy = tacita.flower.Strategy(plan, new_model(), learning_rate=RATE, seed=seed)
    strategy.start(Grid(app))
    return accuracy(strategy.server.model()), plan


def flower_run(seed, noise):
    random.seed(seed)
    np.random.seed(seed)
    app = ClientApp()

    @app.train()
    def train(message, context):
        model = message.content["arrays"].to_numpy_ndarrays()
        # The learning rate is applied by the clients here: FedAvg has none. So their updates and the threshold scale with it.
        moved = [value - RATE * slope for value, slope in zip(model, of_client(model, context.node_id), strict=True)]
        content = {"arrays": ArrayRecord(moved), "metrics": MetricRecord({"num-examples": 1})}
        return Message(RecordDict(content), reply_to=message)

    config = PrivacyConfig(DELTA, CLIENTS, NeighboringRelation.ADD_OR_REMOVE_ONE, SamplingMethod.NO_AMPLIFICATION)
    accountant = RdpAccountant(config)
    inner = FedAvg(fraction_train=COHORT / CLIENTS, fraction_evaluate=0.0, min_train_nodes=COHORT)
    strategy = DifferentialPrivacyServerSideFixedClipping(
        inner, noise, THRESHOLD * RATE, COHORT, accountant=accountant
    )
    grid, arrays = Grid(app), ArrayRecord(new_model())
    for number in range(1, ROUNDS + 1):
        messages = strategy.configure_train(number, arrays, ConfigRecord(), grid)
        arrays, _ = strategy.aggregate_train(number, grid.send_and_receive(messages))
    return accuracy(arrays.to_numpy_ndarrays()), strategy.privacy_spent().epsilon


def claimed(noise):
    """ε of Flower's accountant."""
    config = PrivacyConfig(DELTA, CLIENTS, NeighboringRelation.ADD_OR_REMOVE_ONE, SamplingMethod.NO_AMPLIFICATION)
    accountant = RdpAccountant(config)
    accountant.compose(GaussianPrivacyEvent(noise, COHORT, CLIENTS), ROUNDS)
    return accountant.get_epsilon(DELTA)


def least_noise():
    low, high = 0.1, 100.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if claimed(middle) > EPSILON else (low, middle)
    return high


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=5)
    seeds = range(parser.parse_args().seeds)
    logging.disable(logging.INFO)
    ours = [tacita_run(seed) for seed in seeds]
    plan = ours[0][1]
    rows = [("Tacita", plan.noise_multiplier, [share for share, _ in ours], plan.figures()[0].text)]
    for name, noise in [
        ("Flower, its own ε of 2", least_noise()),
        ("Flower, Tacita's noise", plan.noise_multiplier),
    ]:
        runs = [flower_run(seed, noise) for seed in seeds]
        rows.append((name, noise, [share for share, _ in runs], f"Flower says ε = {runs[0][1]:.3f}"))
    for name, noise, shares, text in rows:
        print(f"{name:<24} noise {noise:7.4f}  accuracy {100 * np.mean(shares):.1f} ± {100 * np.std(shares):.1f} %  {text}")


if __name__ == "__main__":
    main()
