"""A thousand clients in Flower's simulation engine (pip install "flwr[simulation]"): each node is one client.

    python simulate.py [--clients 1000] [--rounds 20]
"""

import argparse

from flwr.app import MetricRecord
from flwr.serverapp import ServerApp
from flwr.simulation import run_simulation
from hospitals.task import accuracy, gradient, new_model, patients

import tacita.flower
from tacita.federation import Plan

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--clients", type=int, default=1_000)
parser.add_argument("--rounds", type=int, default=20)
args = parser.parse_args()

server_app = ServerApp()


@server_app.main()
def main(grid, context):
    plan = Plan(
        clients=args.clients, cohort=args.clients / 10, rounds=args.rounds, epsilon=2, delta=1 / args.clients**1.5
    )
    strategy = tacita.flower.Strategy(plan, new_model(), learning_rate=2.0)

    def evaluate(number, arrays):
        share = accuracy(arrays.to_numpy_ndarrays())
        print(f"round {number}: accuracy {share:.3f} on public records", flush=True)
        return MetricRecord({"accuracy": share})

    strategy.start(grid, timeout=300.0, evaluate_fn=evaluate)
    for figure in strategy.figures():
        print(figure, flush=True)


def update(model, context):
    features, ill = patients(int(context.node_config["partition-id"]), 1)
    return gradient(model, features[0], float(ill[0]))


if __name__ == "__main__":
    run_simulation(
        server_app,
        tacita.flower.client_app(update),
        num_supernodes=args.clients,
        backend_config={"client_resources": {"num_cpus": 1, "num_gpus": 0.0}},
    )
