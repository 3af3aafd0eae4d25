"""Means of the results, as a table of data and as the tables of the book.

    python3 table.py RESULTS.jsonl crates/lab/results/own-data.csv docs/src/lab/own-data.md
"""

import collections
import csv
import json
import sys
from pathlib import Path

import numpy as np

from sets import TABLES, half

METRICS = ["accuracy", "auc", "log_loss"]
BEGIN, END = "<!-- tables -->\n", "<!-- end of tables -->\n"


def read(path):
    """Results by set, ε and contestant: a list over seeds."""
    found, errors = collections.defaultdict(list), collections.Counter()
    for line in open(path):
        line = json.loads(line)
        if "error" in line:
            errors[line["contestant"]] += 1
        else:
            found[line["set"], line["epsilon"], line["contestant"]].append(line)
    return found, errors


def mean(lines, metric):
    values = [line[metric] for line in lines if line[metric] is not None]
    return float(np.mean(values)) if values else float("nan")


def over_sets(found, which, kind, epsilon, contestant, metric):
    """The mean over sets of the means over seeds; nothing if a set lacks the contestant."""
    sets = {key[0] for key in found if half(key[0]) == which and (key[0] in TABLES) == (kind == "tables")}
    lines = [found.get((name, epsilon, contestant)) for name in sets]
    if not lines or not all(lines):
        return None
    return float(np.mean([mean(each, metric) for each in lines]))


def epsilons(found):
    return sorted({key[1] for key in found})


def tables(found):
    for kind in ["tables", "texts"]:
        private = ["Tacita", *sorted({key[2] for key in found if key[2].startswith("Opacus")})]
        private += ["diffprivlib logistic", "diffprivlib GaussianNB"]
        open_ones = ["scikit-learn logistic, no privacy", "scikit-learn boosting, no privacy"]
        for which in ["judged", "tuning"]:
            names = {key[0] for key in found if half(key[0]) == which and (key[0] in TABLES) == (kind == "tables")}
            if not names:
                continue
            seeds = [len(found[name, epsilon, "Tacita"]) for name in names for epsilon in epsilons(found)]
            yield f"\n**{kind.capitalize()}, {which} half** ({len(names)} sets, {min(seeds)} to {max(seeds)} seeds). "
            yield "Accuracy in percent · area under the curve · log loss.\n\n"
            yield "| | " + " | ".join(f"ε = {epsilon:g}" for epsilon in epsilons(found)) + " |\n"
            yield "|---" * (1 + len(epsilons(found))) + "|\n"
            for contestant in private + open_ones:
                # Without privacy there is one result, whatever ε.
                at = epsilons(found) if contestant in private else epsilons(found)[:1]
                cells = []
                for epsilon in at:
                    values = [over_sets(found, which, kind, epsilon, contestant, metric) for metric in METRICS]
                    cells.append("–" if None in values else f"{100 * values[0]:.1f} · {values[1]:.3f} · {values[2]:.3f}")
                cells += [""] * (len(epsilons(found)) - len(cells))
                if set(cells) <= {"–", ""}:
                    continue
                name = f"**{contestant}**" if contestant == "Tacita" else contestant
                yield f"| {name} | " + " | ".join(cells) + " |\n"
            shares = np.mean([mean(found[name, epsilons(found)[0], "Tacita"], "majority") for name in names])
            yield f"\nThe majority class has {100 * shares:.1f} %.\n"


def below_majority(found):
    """Judged sets where Tacita is more than two standard errors below the majority, n · ε ≥ 1,000 and ε ≥ 1."""
    for (name, epsilon, contestant), lines in sorted(found.items()):
        if contestant == "Tacita" and half(name) == "judged" and epsilon >= 1 and lines[0]["records"] * epsilon >= 1000:
            gaps = [line["accuracy"] - line["majority"] for line in lines]
            error = np.std(gaps, ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else float("nan")
            if np.mean(gaps) < -2 * error:
                yield name, epsilon, float(np.mean(gaps)), float(error)


def main():
    results, data, page = sys.argv[1:4]
    found, errors = read(results)
    with open(data, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["set", "half", "epsilon", "contestant", "seeds", "records", "majority"] + METRICS)
        for (name, epsilon, contestant), lines in sorted(found.items()):
            row = [name, half(name), epsilon, contestant, len(lines), lines[0]["records"]]
            out.writerow(row + [f"{mean(lines, metric):.4f}" for metric in ["majority", *METRICS]])
    text = Path(page).read_text()
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    Path(page).write_text(before + BEGIN + "".join(tables(found)) + "\n" + END + after)
    print("errors", dict(errors))
    print("below the majority", *below_majority(found), sep="\n  ")


if __name__ == "__main__":
    main()
