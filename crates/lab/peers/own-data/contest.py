"""Runs the contestants on prepared sets and writes a line of JSON for each result.

    python3 contest.py SETS PROGRAM OUT judged/tables/10 judged/texts/10 --processes 16
"""

import argparse
import csv
import gzip
import hashlib
import json
import os
import time
from multiprocessing import Pool
from pathlib import Path

for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"]:
    os.environ[variable] = "1"

import numpy as np

import contestants
from sets import TABLES, TEST_SHARE, TEXTS, half

# Hashed words for Opacus and diffprivlib, which read no texts; characters where words say nothing.
WORDS_OF_PEERS = 4096


class Data:
    """A prepared set."""

    def __init__(self, folder, name):
        self.name = name
        declared = json.loads((folder / f"{name}.json").read_text())
        self.label, self.classes = declared["label"], declared["classes"]
        self.bounds, self.categories = declared["bounds"], declared["categories"]
        self.is_text = name in TEXTS
        csv.field_size_limit(1 << 27)
        with gzip.open(folder / f"{name}.csv.gz", "rt", newline="") as file:
            rows = list(csv.reader(file))
        self.header, self.rows = rows[0], rows[1:]
        place = self.header.index(self.label)
        numbers = {each: at for at, each in enumerate(self.classes)}
        self.y = np.array([numbers[row[place].strip()] for row in self.rows])

    def split(self, seed):
        """Numbers of the training and of the test records, as in `make.py`."""
        digest = hashlib.sha256(f"{self.name}/{seed}".encode()).digest()
        order = np.random.RandomState(int.from_bytes(digest[:4], "big")).permutation(len(self.rows))
        test = round(TEST_SHARE * len(order))
        return order[test:], order[:test]

    def encoded(self):
        """Numbers in [-1, 1] and categories one-hot, for peers; and the bounds of each, and the norm of a row."""
        if self.is_text:
            from sklearn.feature_extraction.text import HashingVectorizer

            kind = {"chinese-reviews": ("char", (1, 2)), "surnames": ("char_wb", (1, 3)), "pets": ("char_wb", (1, 3))}
            analyzer, grams = kind.get(self.name, ("word", (1, 1)))
            hashed = HashingVectorizer(n_features=WORDS_OF_PEERS, analyzer=analyzer, ngram_range=grams)
            text = self.header.index("text")
            x = hashed.transform([row[text] for row in self.rows]).toarray().astype(np.float32)
            return x, (-1.0, 1.0), 1.0
        parts, low = [], []
        for at, column in enumerate(self.header):
            if column == self.label:
                continue
            values = [row[at].strip() for row in self.rows]
            if column in self.bounds:
                least, most = self.bounds[column]
                parts.append(2 * (np.array(values, float)[:, None] - least) / (most - least) - 1)
                low.append(-1.0)
            else:
                places = {each: at for at, each in enumerate(self.categories[column])}
                parts.append(np.eye(len(places))[[places[value] for value in values]])
                low += [0.0] * len(places)
        norm = np.sqrt(len(self.header) - 1)
        return np.hstack(parts).astype(np.float32), (np.array(low), np.ones(len(low))), norm

    def write_table(self, places, path):
        with open(path, "w", newline="") as file:
            csv.writer(file).writerows([self.header, *(self.rows[place] for place in places)])

    def write_lines(self, places, path):
        text, label = self.header.index("text"), self.header.index("label")
        with open(path, "w") as file:
            for place in places:
                row = self.rows[place]
                file.write(json.dumps({"text": row[text], "label": row[label]}) + "\n")

    def schema(self, records):
        quote = lambda text: json.dumps(text, ensure_ascii=False)
        listed = lambda values: "[" + ", ".join(map(quote, values)) + "]"
        lines = [f"records = {records}", "[label]", f"column = {quote(self.label)}", f"classes = {listed(self.classes)}"]
        for column, (least, most) in self.bounds.items():
            lines += [f"[columns.{quote(column)}]", f"min = {least!r}", f"max = {most!r}"]
        for column, values in self.categories.items():
            lines += [f"[columns.{quote(column)}]", f"categories = {listed(values)}"]
        return "\n".join(lines) + "\n"


def scores(probabilities, y, classes):
    """Accuracy, area under the curve, log loss."""
    from sklearn.metrics import log_loss, roc_auc_score

    chosen = probabilities.argmax(1)
    clipped = np.clip(probabilities, 1e-7, 1 - 1e-7)
    clipped /= clipped.sum(1, keepdims=True)
    areas = []
    for each in range(classes) if classes > 2 else [1]:
        if 0 < (y == each).sum() < len(y):
            areas.append(roc_auc_score(y == each, clipped[:, each]))
    return {
        "accuracy": float((chosen == y).mean()),
        "auc": float(np.mean(areas)) if areas else None,
        "log_loss": float(log_loss(y, clipped, labels=range(classes))),
    }


KEPT = {}


def task(arguments):
    """All contestants on a set, a seed and an ε."""
    folder, program, name, seed, epsilon, first, asked = arguments
    if name not in KEPT:
        KEPT.clear()
        data = Data(Path(folder), name)
        KEPT[name] = data, data.encoded()
    data, (x, bounds, norm) = KEPT[name]
    train, test = data.split(seed)
    y, y_test, classes = data.y[train], data.y[test], len(data.classes)
    rows = (x[train], y, x[test], classes)
    contest = {
        "Tacita": lambda: contestants.tacita(program, data, train, test, epsilon),
        "diffprivlib GaussianNB": lambda: contestants.diffprivlib_bayes(*rows, epsilon, bounds),
    }
    noise = []

    def opacus(hidden, rate):
        if not noise:
            noise.append(contestants.opacus_noise(program, len(train), epsilon))
        return contestants.opacus(*rows, noise[0], hidden, rate, seed)

    for model, hidden in [("logistic", 0), ("mlp", 64)]:
        for rate in contestants.RATES:
            contest[f"Opacus {model}, rate {rate}"] = lambda hidden=hidden, rate=rate: opacus(hidden, rate)
    if not data.is_text or classes <= 4:
        contest["diffprivlib logistic"] = lambda: contestants.diffprivlib_logistic(*rows, epsilon, norm)
    if first:
        contest["scikit-learn logistic, no privacy"] = lambda: contestants.sklearn_logistic(*rows)
        if not data.is_text:
            contest["scikit-learn boosting, no privacy"] = lambda: contestants.sklearn_boosting(*rows)
    majority = float(np.bincount(y_test, minlength=classes).max() / len(y_test))
    found = []
    for contestant, predict in contest.items():
        if asked and contestant not in asked:
            continue
        start = time.time()
        line = {"set": name, "seed": seed, "epsilon": epsilon, "contestant": contestant, "records": len(train)}
        line["majority"] = majority
        try:
            line |= scores(predict(), y_test, classes)
        except Exception as error:
            line["error"] = f"{type(error).__name__}: {error}"[:300]
        line["seconds"] = round(time.time() - start, 2)
        found.append(line)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sets")
    parser.add_argument("program")
    parser.add_argument("out")
    parser.add_argument("phases", nargs="+", help="such as judged/tables/10: half, kind, seeds; 0-4 for a range of seeds")
    parser.add_argument("--only", help="contestants, separated by semicolons")
    parser.add_argument("--epsilons", default="0.5,1,3,8")
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no task after so long")
    args = parser.parse_args()
    epsilons = [float(each) for each in args.epsilons.split(",")]
    asked = args.only.split(";") if args.only else None
    tasks = []
    for phase in args.phases:
        which, kind, seeds = phase.split("/")
        first, last = seeds.split("-") if "-" in seeds else (0, int(seeds) - 1)
        names = [name for name in {"tables": TABLES, "texts": TEXTS}[kind] if half(name) == which]
        for seed in range(int(first), int(last) + 1):
            for name in names:
                for epsilon in epsilons:
                    tasks.append((args.sets, args.program, name, seed, epsilon, epsilon == epsilons[0], asked))
    begun = time.time()
    with Pool(args.processes) as pool, open(args.out, "a") as out:
        for lines in pool.imap_unordered(task, tasks):
            for line in lines:
                out.write(json.dumps(line) + "\n")
            out.flush()
            if time.time() - begun > args.seconds:
                pool.terminate()
                break


if __name__ == "__main__":
    main()
