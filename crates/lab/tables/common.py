"""Metrics and noise, shared by peers and prototypes."""
import json, os, subprocess
import numpy as np
from scipy.stats import norm, rankdata
from scipy.optimize import brentq

HERE = os.path.dirname(os.path.abspath(__file__))
TACITA = os.environ.get("TACITA", "tacita")
CACHE = os.path.join(HERE, "noise-cache.json")
_cache = json.load(open(CACHE)) if os.path.exists(CACHE) else {}


def multiplier(epsilon, delta, rate, steps):
    """The least certified noise multiplier of `steps` rounds with Poisson sampling at `rate`."""
    key = f"{epsilon} {delta} {rate} {steps}"
    if key not in _cache:
        out = subprocess.run([TACITA, "calibrate", "--epsilon", str(epsilon), "--delta", repr(delta), "--rate", repr(float(rate)), "--steps", str(int(steps)), "--json"], capture_output=True, text=True, check=True).stdout
        _cache[key] = json.loads(out)["noise_multiplier"]
        json.dump(_cache, open(CACHE + f".{os.getpid()}", "w"))
        os.replace(CACHE + f".{os.getpid()}", CACHE)
    return _cache[key]


def gaussian_mu(epsilon, delta):
    """mu of Gaussian DP with (epsilon, delta): for rounds with all records, 1/mu² = 1 / sum of 1/multiplier²."""
    f = lambda mu: norm.cdf(-epsilon / mu + mu / 2) - np.exp(epsilon) * norm.cdf(-epsilon / mu - mu / 2) - delta
    return brentq(f, 1e-4, 60)


def auc_binary(score, positive):
    r = rankdata(score)
    p = positive.sum(); q = len(positive) - p
    return (r[positive].sum() - p * (p + 1) / 2) / (p * q)


def metrics(prob, y):
    """prob: (n, classes)"""
    prob = np.nan_to_num(np.asarray(prob, float), nan=1.0 / prob.shape[1])
    prob = np.clip(prob, 1e-12, 1); prob /= prob.sum(1, keepdims=True)
    n, k = prob.shape
    said = prob.argmax(1)
    here = [c for c in range(k) if 0 < (y == c).sum() < n]
    recall = [np.mean(said[y == c] == c) for c in range(k) if (y == c).any()]
    auc = auc_binary(prob[:, 1], y == 1) if k == 2 else np.mean([auc_binary(prob[:, c], y == c) for c in here])
    onehot = np.eye(k)[y]
    conf, hit = prob.max(1), said == y
    bins = np.minimum((conf * 15).astype(int), 14)
    ece = sum(abs(hit[bins == b].sum() - conf[bins == b].sum()) for b in range(15)) / n
    return dict(accuracy=float(hit.mean()), balanced=float(np.mean(recall)), auc=float(auc), logloss=float(-np.log(prob[np.arange(n), y]).mean()),
                brier=float(((prob - onehot) ** 2).sum(1).mean()), ece=float(ece), majority=float(np.bincount(y, minlength=k).max() / n), one_class=int(len(set(said)) == 1))


def softmax(z):
    z = z - z.max(1, keepdims=True)
    e = np.exp(z)
    return e / e.sum(1, keepdims=True)
