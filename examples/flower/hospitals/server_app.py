"""The server: one certified plan, made or resumed."""

from __future__ import annotations

import logging

from flwr.app import ArrayRecord, Context, MetricRecord
from flwr.serverapp import Grid, ServerApp
from hospitals.task import accuracy, new_model

import tacita.federation
import tacita.flower

app = ServerApp()
logging.getLogger("tacita").setLevel(logging.INFO)


@app.main()
def main(grid: Grid, context: Context) -> None:
    config = context.run_config
    hospitals, per_hospital = int(config["hospitals"]), int(config["patients-per-hospital"])
    plan = tacita.federation.Plan(
        clients=hospitals * per_hospital,
        cohort=float(config["cohort"]),
        rounds=int(config["rounds"]),
        epsilon=float(config["epsilon"]),
        delta=float(config["delta"]),
    )
    strategy = tacita.flower.Strategy(
        plan,
        new_model(),
        learning_rate=float(config["learning-rate"]),
        folder=str(config["folder"]) or None,
        clients_per_node=per_hospital,
    )

    def evaluate(number: int, arrays: ArrayRecord) -> MetricRecord:
        # On public records: nothing of the hospitals' patients is looked at.
        share = accuracy(arrays.to_numpy_ndarrays())
        print(f"round {number}: accuracy {share:.3f} on public records", flush=True)
        return MetricRecord({"accuracy": share})

    strategy.start(grid, timeout=float(config["timeout"]), evaluate_fn=evaluate)
    for figure in strategy.figures():
        print(figure, flush=True)
