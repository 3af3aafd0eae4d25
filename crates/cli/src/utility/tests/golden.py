"""Figures of scikit-learn on synthetic answers, for the tests beside it.

    pip install scikit-learn==1.9.1 && python golden.py > golden.json
"""

import json

import numpy as np
import sklearn
from sklearn import metrics


def uniform(seed, count):
    """A linear congruential generator that the tests have too."""
    values = []
    for _ in range(count):
        seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
        values.append((seed >> 40) / 2**24)
    return np.array(values)


def case(classes, count):
    u = uniform(7 * classes, count * (classes + 1)).reshape(count, classes + 1)
    outputs = 4 * (u[:, :classes] - 0.5)
    if classes == 2:
        labels = (u[:, 2] < 0.1).astype(int)
        outputs = np.round(outputs * 8) / 8  # equal scores
        outputs[:, 1] -= 2.25
    else:
        labels = np.minimum((3 * u[:, classes] ** 2).astype(int), 2)
    outputs[np.arange(count), labels] += 1.0
    odds = np.exp(outputs - outputs.max(1, keepdims=True))
    p = odds / odds.sum(1, keepdims=True)
    answers = outputs.argmax(1)
    of_class = np.eye(classes)[labels]
    binary = classes == 2
    average = {} if binary else {"average": "macro"}
    truth, scores = (labels, p[:, 1]) if binary else (of_class, p)
    return {
        "accuracy": metrics.accuracy_score(labels, answers),
        "majority_share": float(np.bincount(labels).max() / count),
        "balanced_accuracy": metrics.balanced_accuracy_score(labels, answers),
        "roc_area": metrics.roc_auc_score(truth, scores),
        "average_precision": metrics.average_precision_score(truth, scores),
        "f1": metrics.f1_score(labels, answers, **average),
        "log_loss": metrics.log_loss(labels, p),
        "brier": metrics.brier_score_loss(labels, scores) if binary else float(((p - of_class) ** 2).sum(1).mean()),
        "recall": metrics.recall_score(labels, answers, average=None).tolist(),
        "confusion": metrics.confusion_matrix(labels, answers).tolist(),
    }


cases = {"scikit-learn": sklearn.__version__, "two": case(2, 400), "three": case(3, 300)}
print(json.dumps(cases, indent=1))
