"""A hospital: it answers for those of its patients that were drawn."""

from __future__ import annotations

from functools import lru_cache

from flwr.app import Context
from hospitals.task import gradient, patients

import tacita.flower


@lru_cache(maxsize=8)
def records(hospital: int, count: int):
    return patients(hospital, count)


def update(model, patient, context: Context):
    """What one patient adds; none if the hospital has fewer patients than it may have."""
    hospital = int(context.node_config.get("partition-id", 0))
    features, ill = records(hospital, int(context.run_config["patients-per-hospital"]))
    if patient >= len(ill):
        return None
    return gradient(model, features[patient], float(ill[patient]))


app = tacita.flower.site_app(update)
