"""The contestants: each takes training rows and test rows and gives a probability of every class."""

import json
import math
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np

warnings.filterwarnings("ignore")


def tacita(program, data, train, test, epsilon):
    """Tacita's default, through its program: data, schema, ε, and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        command = [program, "train", "--quiet", "--epsilon", str(epsilon), "--out", str(folder / "run")]
        if data.is_text:
            data.write_lines(train, folder / "train.jsonl")
            data.write_lines(test, folder / "test.jsonl")
            classes = ",".join(data.classes)
            command += ["--jsonl", str(folder / "train.jsonl"), "--text", "text", "--label", "label"]
            command += ["--classes", classes, "--records", str(len(train))]
            source = [str(folder / "test.jsonl"), "--text", "text"]
        else:
            data.write_table(train, folder / "train.csv")
            data.write_table(test, folder / "test.csv")
            (folder / "schema.toml").write_text(data.schema(len(train)))
            command += ["--csv", str(folder / "train.csv"), "--schema", str(folder / "schema.toml")]
            source = [str(folder / "test.csv")]
        run(command)
        out = run([program, "predict", str(folder / "run"), "--json", "--input", *source])
        rows = [json.loads(line)["probability"] for line in out.splitlines()]
        return np.array([[row[each] for each in data.classes] for row in rows])


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip()[-400:])
    return done.stdout


def tacita_delta(records):
    """Tacita's default δ: a tenth of 1 / records, rounded down to two digits."""
    tenth = 0.1 / records
    scale = 10 ** (1 - math.floor(math.log10(tenth)))
    return math.floor(tenth * scale) / scale


# Opacus: 20 epochs of batches of 512 (a quarter of a small set), Adam, threshold 1, two rates.
EPOCHS = 20
RATES = [0.01, 0.1]


def opacus_batch(records):
    return min(512, max(1, records // 4))


def opacus_noise(program, records, epsilon):
    """The least noise multiplier that Tacita certifies for the run."""
    command = [program, "calibrate", "--epsilon", str(epsilon), "--delta", str(tacita_delta(records)), "--json"]
    command += ["--records", str(records), "--batch", str(opacus_batch(records)), "--epochs", str(EPOCHS)]
    return json.loads(run(command))["noise_multiplier"]


def opacus(x, y, x_test, classes, noise, hidden, rate, seed):
    """Opacus's per-sample gradients and optimiser, with Poisson sampling."""
    import torch
    from opacus import GradSampleModule
    from opacus.optimizers import DPOptimizer

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    width, records = x.shape[1], len(x)
    if hidden:
        layers = [torch.nn.Linear(width, hidden), torch.nn.Tanh(), torch.nn.Linear(hidden, hidden), torch.nn.Tanh()]
        model = torch.nn.Sequential(*layers, torch.nn.Linear(hidden, classes))
    else:
        model = torch.nn.Sequential(torch.nn.Linear(width, classes))
    model = GradSampleModule(model)
    batch = opacus_batch(records)
    optimizer = DPOptimizer(
        torch.optim.Adam(model.parameters(), lr=rate),
        noise_multiplier=noise,
        max_grad_norm=1.0,
        expected_batch_size=batch,
    )
    x, y = torch.from_numpy(x), torch.from_numpy(y)
    for _ in range(math.ceil(EPOCHS * records / batch)):
        drawn = torch.rand(records) < batch / records
        if not drawn.any():
            continue
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x[drawn]), y[drawn]).backward()
        optimizer.step()
    with torch.no_grad():
        return torch.softmax(model(torch.from_numpy(x_test)), 1).numpy()


def in_all_classes(found, probabilities, classes):
    """Probabilities of the classes that were found, among all."""
    whole = np.full((len(probabilities), classes), 1e-7)
    whole[:, np.asarray(found, int)] = probabilities
    return whole


def diffprivlib():
    """diffprivlib 0.6.6 beside a newer scikit-learn and SciPy, which lack names that only its forests need, an argument
    that only its constructor gives, and one that only prints."""
    import sys
    import types

    forest = types.ModuleType("diffprivlib.models.forest")
    forest.RandomForestClassifier = forest.DecisionTreeClassifier = None
    sys.modules.setdefault("diffprivlib.models.forest", forest)
    from diffprivlib.models import logistic_regression

    search = logistic_regression.optimize.fmin_l_bfgs_b
    if not hasattr(search, "quiet"):

        def quiet(*arguments, iprint=None, **others):
            return search(*arguments, **others)

        quiet.quiet = True
        kept = types.SimpleNamespace(fmin_l_bfgs_b=quiet)
        logistic_regression.optimize = kept
    return logistic_regression


def diffprivlib_logistic(x, y, x_test, classes, epsilon, norm):
    """As `LogisticRegression.fit` does: rows clipped to the norm, one class against the others, ε shared by classes."""
    library = diffprivlib()
    x = x.astype(float) * np.minimum(1, norm / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12))
    found = np.unique(y)
    positive = found[1:] if len(found) == 2 else found
    values = []
    for each in positive:
        weights, _, _ = library._logistic_regression_path(
            x, y, epsilon=epsilon / len(positive), data_norm=norm, pos_class=each, Cs=[1.0], max_iter=100
        )
        values.append(x_test @ weights[0][:-1] + weights[0][-1])
    values = 1 / (1 + np.exp(-np.clip(np.stack(values, 1), -500, 500)))
    if len(found) == 2:
        values = np.hstack([1 - values, values])
    return in_all_classes(found, values / np.maximum(values.sum(1, keepdims=True), 1e-12), classes)


def diffprivlib_bayes(x, y, x_test, classes, epsilon, bounds):
    diffprivlib()
    from diffprivlib.models import GaussianNB

    model = GaussianNB(epsilon=epsilon, bounds=bounds).fit(x, y)
    return in_all_classes(model.classes_, np.nan_to_num(model.predict_proba(x_test), nan=1 / classes), classes)


def sklearn_logistic(x, y, x_test, classes):
    """Without privacy, with columns standardised."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)).fit(x, y)
    return in_all_classes(model.classes_, model.predict_proba(x_test), classes)


def sklearn_boosting(x, y, x_test, classes):
    """Without privacy."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(random_state=0).fit(x, y)
    return in_all_classes(model.classes_, model.predict_proba(x_test), classes)
