"""Loads a trained model of linear layers in PyTorch, prepares the rows of a table, and predicts.

    pip install torch safetensors
    python load_in_pytorch.py runs/patients-1 new.csv

prints a line of JSON for each row, as `tacita predict runs/patients-1 --input new.csv --json` does.
"""

import csv
import json
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file

BETWEEN = {"logistic": None, "mlp": torch.nn.Tanh, "bag-of-words": lambda: torch.nn.LeakyReLU(0.01)}


def load(folder: Path) -> tuple[torch.nn.Sequential, dict]:
    """The model of a run folder, and what the folder says of it."""
    run = json.loads((folder / "run.json").read_text())
    if run["model"] not in BETWEEN:
        sys.exit(f"{run['model']} is not made of linear layers only")
    parameters = load_file(folder / "model.safetensors")
    layers = []
    for index in range(sum(name.endswith(".weight") for name in parameters)):
        weight = parameters[f"layers.{index}.weight"]  # [inputs, outputs]; PyTorch keeps the transpose
        layer = torch.nn.Linear(*weight.shape)
        layer.weight.data = weight.T.contiguous()
        layer.bias.data = parameters[f"layers.{index}.bias"]
        if layers:
            layers.append(BETWEEN[run["model"]]())
        layers.append(layer)
    return torch.nn.Sequential(*layers), run


def prepared(row: dict[str, str], columns: list[dict]) -> list[float]:
    """A row of a table as the model takes it."""
    numbers = []
    for column in columns:
        value, encoding = row[column["name"]].strip(), column["encoding"]
        if encoding["kind"] == "numeric":
            low, high = encoding["min"], encoding["max"]
            numbers.append((min(max(float(value), low), high) - low) / (high - low))
        elif encoding["kind"] == "categorical":
            numbers += [float(value == category) for category in encoding["categories"]]
        else:
            sys.exit(f"column {column['name']} is {encoding['kind']}, which this script does not prepare")
    return numbers


def main() -> None:
    model, run = load(Path(sys.argv[1]))
    preparation = run["preparation"]
    with open(sys.argv[2], newline="") as file:
        rows = [prepared(row, preparation["input"]["columns"]) for row in csv.DictReader(file)]
    with torch.no_grad():
        probabilities = model(torch.tensor(rows)).softmax(1)
    for index, row in enumerate(probabilities.tolist()):
        named = dict(zip(preparation["classes"], row))
        print(json.dumps({"input": f"line {index + 2}", "class": max(named, key=named.get), "probability": named}))


if __name__ == "__main__":
    main()
