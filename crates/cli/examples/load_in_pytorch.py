"""Loads a trained model of linear layers in PyTorch, prepares the rows of a table (`prepare_rows.py` beside this file), and
predicts.

    pip install torch safetensors
    python load_in_pytorch.py runs/patients-1 new.csv

prints a line of JSON for each row, as `tacita predict runs/patients-1 --input new.csv --json` does.
"""

import json
import sys
from pathlib import Path

import torch
from prepare_rows import rows
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


def main() -> None:
    model, run = load(Path(sys.argv[1]))
    preparation = run["preparation"]
    with torch.no_grad():
        probabilities = model(torch.tensor(rows(Path(sys.argv[2]), preparation["input"]))).softmax(1)
    for index, row in enumerate(probabilities.tolist()):
        named = dict(zip(preparation["classes"], row))
        print(json.dumps({"input": f"line {index + 2}", "class": max(named, key=named.get), "probability": named}))


if __name__ == "__main__":
    main()
