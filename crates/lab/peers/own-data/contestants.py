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


# Opacus: 20 epochs of batches of 512 (a quarter of a small set), Adam at 0.01, threshold 1.
EPOCHS = 20
RATE = 0.01


def opacus_batch(records):
    return min(512, max(1, records // 4))


def opacus_noise(program, records, epsilon):
    """The least noise multiplier that Tacita certifies for the run."""
    command = [program, "calibrate", "--epsilon", str(epsilon), "--delta", str(tacita_delta(records)), "--json"]
    command += ["--records", str(records), "--batch", str(opacus_batch(records)), "--epochs", str(EPOCHS)]
    return json.loads(run(command))["noise_multiplier"]


def opacus(x, y, x_test, classes, noise, hidden, seed):
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
        torch.optim.Adam(model.parameters(), lr=RATE),
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


def without_forests():
    """diffprivlib 0.6.6 imports scikit-learn's trees by names that newer versions lack; only its forests need them."""
    import sys
    import types

    forest = types.ModuleType("diffprivlib.models.forest")
    forest.RandomForestClassifier = forest.DecisionTreeClassifier = None
    sys.modules.setdefault("diffprivlib.models.forest", forest)


def diffprivlib_logistic(x, y, x_test, classes, epsilon, norm):
    without_forests()
    from diffprivlib.models import LogisticRegression

    model = LogisticRegression(epsilon=epsilon, data_norm=norm, max_iter=200).fit(x, y)
    return in_all_classes(model.classes_, model.predict_proba(x_test), classes)


def diffprivlib_bayes(x, y, x_test, classes, epsilon, bounds):
    without_forests()
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
