"""Writes the histories of `cases.py`, and what certificates must say of them, as JSON."""

import importlib.metadata
import json
import os
import sys

import cases
import tacita

os.environ.setdefault("KERAS_BACKEND", "jax")


def main():
    names = ["opacus", "dp-accounting", "jax-privacy", "flwr"]
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)
    stored = []
    for library, (make, _) in cases.LIBRARIES.items():
        for one in make():
            entry = {"library": library, "name": one["name"]}
            entry["history"] = json.loads(tacita.export_history(one["run"], **one["options"]))
            for key in ("verdict", "found", "refused"):
                if key in one:
                    entry[key] = one[key]
            stored.append(entry)
    lines = ",\n".join(json.dumps(entry) for entry in stored)
    about = f"Made by crates/python/tests/peers/export.py with {versions}."
    sys.stdout.write('{"provenance": ' + json.dumps(about) + ',\n"cases": [\n' + lines + "\n]}\n")


main()
