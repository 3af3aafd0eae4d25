"""Means of the results, as a table of data and as the tables of the book.

    python3 table.py RESULTS.jsonl crates/lab/results/own-data.csv docs/src/lab/own-data.md

What RESULTS.jsonl does not have, keeps the row that the table of data has: peers need not be run again for defaults of
Tacita.
"""

import collections
import csv
import json
import sys
from pathlib import Path

import numpy as np

from sets import TABLES, half

# The peers' seeds; Tacita has more, so that sets below their majority are found.
SEEDS_OF_PEERS = 4
SAME_SEEDS = f"Tacita, seeds 0 to {SEEDS_OF_PEERS - 1}"
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
            key = line["set"], line["epsilon"]
            found[*key, line["contestant"]].append(line)
            if line["contestant"] == "Tacita" and line["set"] in TABLES and line["seed"] < SEEDS_OF_PEERS:
                found[*key, SAME_SEEDS].append(line)
    return found, errors


def kept(path, found):
    """Rows of the table of data for which there are no results: means, and the number of seeds behind them."""
    rows, seeds = {}, {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            key = row["set"], float(row["epsilon"]), row["contestant"]
            if key not in found:
                means = {metric: float(row[metric]) for metric in ["majority", *METRICS]}
                rows[key] = [means | {"records": int(row["records"])}]
                seeds[key] = int(row["seeds"])
    return rows, seeds


def margin_error(lines):
    """The standard error over seeds of accuracy minus the share of the majority; none of a single seed."""
    gaps = [line["accuracy"] - line["majority"] for line in lines]
    return float(np.std(gaps, ddof=1) / np.sqrt(len(gaps))) if len(gaps) > 1 else float("nan")


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


def tables(found, counts):
    for kind in ["tables", "texts"]:
        private = ["Tacita", SAME_SEEDS, *sorted({key[2] for key in found if key[2].startswith("Opacus")})]
        private += ["diffprivlib logistic", "diffprivlib GaussianNB"]
        open_ones = ["scikit-learn logistic, no privacy", "scikit-learn boosting, no privacy"]
        for which in ["judged", "tuning"]:
            names = {key[0] for key in found if half(key[0]) == which and (key[0] in TABLES) == (kind == "tables")}
            if not names:
                continue
            yield f"\n**{kind.capitalize()}, {which} half** ({len(names)} sets). "
            yield "Accuracy in percent · area under the curve · log loss; seeds in brackets.\n\n"
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
                keys = [(name, epsilon, contestant) for name in names for epsilon in at]
                runs = [counts[key] for key in keys if key in counts]
                runs = f"{min(runs)}" if min(runs) == max(runs) else f"{min(runs)} to {max(runs)}"
                name = f"**{contestant}**" if contestant == "Tacita" else contestant
                name = f"{name} ({runs})"
                yield f"| {name} | " + " | ".join(cells) + " |\n"
            shares = np.mean([mean(found[name, epsilons(found)[0], "Tacita"], "majority") for name in names])
            yield f"\nThe majority class has {100 * shares:.1f} %.\n"


def below_majority(found):
    """Judged sets where Tacita is more than two standard errors below the majority, n · ε ≥ 1,000 and ε ≥ 1."""
    for (name, epsilon, contestant), lines in sorted(found.items()):
        if contestant == "Tacita" and half(name) == "judged" and epsilon >= 1 and lines[0]["records"] * epsilon >= 1000:
            gap = mean(lines, "accuracy") - mean(lines, "majority")
            if gap < -2 * margin_error(lines):
                yield name, epsilon, gap, margin_error(lines)


def far_in_log_loss(found):
    """Judged sets where Tacita's log loss is more than 1.3 times that of the best private peer."""
    for (name, epsilon, contestant), lines in sorted(found.items()):
        if contestant == "Tacita" and half(name) == "judged":
            peers = [
                (mean(each, "log_loss"), key[2])
                for key, each in found.items()
                if key[:2] == (name, epsilon) and key[2].startswith(("Opacus", "diffprivlib"))
            ]
            if peers and mean(lines, "log_loss") > 1.3 * min(peers)[0]:
                yield name, epsilon, mean(lines, "log_loss"), *min(peers)


def main():
    results, data, page = sys.argv[1:4]
    found, errors = read(results)
    counts = {key: len(lines) for key, lines in found.items()}
    rows, seeds = kept(data, found)
    found, counts = found | rows, counts | seeds
    with open(data, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        columns = ["set", "half", "epsilon", "contestant", "seeds", "records", "majority", *METRICS, "margin_error"]
        out.writerow(columns)
        for (name, epsilon, contestant), lines in sorted(found.items()):
            key = name, epsilon, contestant
            row = [name, half(name), epsilon, contestant, counts[key], lines[0]["records"]]
            error = "" if counts[key] != len(lines) or len(lines) < 2 else f"{margin_error(lines):.4f}"
            out.writerow(row + [f"{mean(lines, metric):.4f}" for metric in ["majority", *METRICS]] + [error])
    text = Path(page).read_text()
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    Path(page).write_text(before + BEGIN + "".join(tables(found, counts)) + "\n" + END + after)
    print("errors", dict(errors))
    print("below the majority", *below_majority(found), sep="\n  ")
    print("log loss above 1.3 of the best peer", *far_in_log_loss(found), sep="\n  ")


if __name__ == "__main__":
    main()
