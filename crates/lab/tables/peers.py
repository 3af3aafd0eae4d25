"""Peers on the sets: scikit-learn without privacy, diffprivlib, Opacus. JSON lines on stdout.

python peers.py --half tuning --seeds 0,1,2 --epsilon 0.5,1,3,8 --peers sk-logistic,sk-boosting,diffprivlib,opacus-logistic,opacus-mlp [--sets a,b] >> peers.jsonl

Inputs of every private peer are scaled by the declared bounds to [-1, 1], categories one-hot: what a user can do without
looking at the records. scikit-learn without privacy standardises by the records.
Opacus: Poisson sampling, max_grad_norm 1.0, noise certified for the same epsilon by `tacita calibrate`; recipes below.
diffprivlib: pure epsilon; data_norm is the greatest norm that the declaration allows, sqrt(columns).
"""
import argparse, json, logging, sys, time, warnings, os
logging.disable(logging.WARNING)
os.environ.setdefault("OMP_NUM_THREADS", "1")
import numpy as np
import load
from common import metrics, multiplier, softmax

warnings.filterwarnings("ignore")

RECIPES = {  # optimiser, rate, epochs, batch (at most a quarter of the records)
    # the best of nine recipes each by mean accuracy and log loss on the tuning half (grid_opacus.jsonl, grid2.jsonl)
    "opacus-logistic": ("sgd", 2.0, 20, 256),
    "opacus-mlp": ("sgd", 0.5, 20, 256),
    "opacus-adam-mlp": ("adam", 0.01, 20, 256),
}


def table_data(name, fold):
    train, test, layout, target, classes = load.table(name, fold)
    y, z = load.labels(train, target, classes), load.labels(test, target, classes)
    return (load.encode(train, layout), y), (load.encode(test, layout), z), len(classes), len(layout)


def text_data(name, fold, buckets):
    from sklearn.feature_extraction.text import HashingVectorizer
    train, test, classes = load.texts(name, fold)
    v = HashingVectorizer(n_features=buckets, ngram_range=(1, 2), alternate_sign=False, norm="l2", token_pattern=r"(?u)\w+")
    place = {c: i for i, c in enumerate(classes)}
    f = lambda rows: (v.transform([t for t, _ in rows]), np.array([place[c] for _, c in rows]))
    return f(train), f(test), len(classes)


def full(prob, classes_seen, k):
    out = np.full((len(prob), k), 1e-12)
    out[:, classes_seen] = prob
    return out


def sk(peer, X, y, Z, k, seed):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.linear_model import LogisticRegression
    from sklearn.ensemble import HistGradientBoostingClassifier
    if peer == "sk-logistic":
        m = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    else:
        m = HistGradientBoostingClassifier(random_state=seed)
    m.fit(X, y)
    return full(m.predict_proba(Z), m.classes_.astype(int), k)


def dpl(X, y, Z, k, norm, epsilon, seed):
    from diffprivlib.models import LogisticRegression
    m = LogisticRegression(epsilon=epsilon, data_norm=norm, max_iter=1000, random_state=seed)
    m.fit(X, y)
    if len(m.classes_) == 1:
        return full(np.ones((Z.shape[0], 1)), m.classes_.astype(int), k)
    return full(m.predict_proba(Z), m.classes_.astype(int), k)


def opacus(peer, X, y, Z, k, epsilon, delta, seed, recipe=None):
    sys.path.append(os.path.join(load.HERE, "torch-site"))
    import torch
    from torch import nn
    from opacus import PrivacyEngine
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    optimiser, rate, epochs, batch = recipe or RECIPES[peer]
    n, d = X.shape
    batch = max(1, min(batch, n // 4))
    steps = int(np.ceil(epochs * n / batch))
    q = 1 / (n // batch)  # Opacus draws with 1/len(loader)
    sigma = multiplier(epsilon, delta, q, steps)
    if peer.endswith("logistic"):
        net = nn.Linear(d, k)
    else:
        net = nn.Sequential(nn.Linear(d, 64), nn.ReLU(), nn.Linear(64, k))
    make = {"sgd": lambda p: torch.optim.SGD(p, lr=rate), "momentum": lambda p: torch.optim.SGD(p, lr=rate, momentum=0.9), "adam": lambda p: torch.optim.Adam(p, lr=rate)}[optimiser]
    data = torch.utils.data.TensorDataset(torch.tensor(X, dtype=torch.float32), torch.tensor(y))
    loader = torch.utils.data.DataLoader(data, batch_size=batch, drop_last=True)
    opt = make(net.parameters())
    net, opt, loader = PrivacyEngine(accountant="rdp").make_private(module=net, optimizer=opt, data_loader=loader, noise_multiplier=sigma, max_grad_norm=1.0)
    loss, done = nn.CrossEntropyLoss(), 0
    assert abs(loader.sample_rate - q) < 1e-12
    while done < steps:
        for a, b in loader:
            if done == steps:
                break
            opt.zero_grad()
            if len(a):
                loss(net(a), b).backward()
                opt.step()
            done += 1
    with torch.no_grad():
        return torch.softmax(net(torch.tensor(Z, dtype=torch.float32)).double(), 1).numpy()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--half", default="tuning"); p.add_argument("--kind", default="tables")
    p.add_argument("--seeds", default="0,1,2"); p.add_argument("--epsilon", default="0.5,1,3,8")
    p.add_argument("--peers", default="sk-logistic,sk-boosting,diffprivlib,opacus-logistic,opacus-mlp")
    p.add_argument("--sets", default=""); p.add_argument("--done", default="")
    a = p.parse_args()
    done = set()
    if a.done and os.path.exists(a.done):
        done = {(r["set"], r["peer"], r["epsilon"], r["seed"]) for r in map(json.loads, open(a.done))}
    for name in a.sets.split(",") if a.sets else load.names(a.kind, a.half):
        for seed in map(int, a.seeds.split(",")):
            data = None
            for peer in a.peers.split(","):
                for eps in [None] if peer.startswith("sk-") else map(float, a.epsilon.split(",")):
                    if (name, peer, eps, seed) in done:
                        continue
                    if data is None:
                        data = table_data(name, seed % 4) if a.kind == "tables" else (*text_data(name, seed % 4, 4096), 1)
                    (X, y), (Z, z), k, cols = data
                    if a.kind == "texts" and not peer.startswith("sk-") and not isinstance(X, np.ndarray):
                        X, Z = X.toarray().astype(np.float32), Z.toarray().astype(np.float32)
                        data = (X, y), (Z, z), k, cols
                    start = time.time()
                    delta = load.default_delta(len(y))
                    if peer.startswith("sk-"):
                        prob = sk(peer, X, y, Z, k, seed) if a.kind == "tables" else sk_text(name, seed, k)
                    elif peer == "diffprivlib":
                        prob = dpl(X, y, Z, k, float(np.sqrt(cols)), eps, seed)
                    else:
                        prob = opacus(peer, X, y, Z, k, eps, delta, seed)
                    r = dict(set=name, peer=peer, epsilon=eps, seed=seed, n=len(y), **metrics(prob, z), seconds=round(time.time() - start, 1))
                    print(json.dumps(r), flush=True)


def sk_text(name, seed, k):
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    train, test, classes = load.texts(name, seed % 4)
    v = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), min_df=2, token_pattern=r"(?u)\w+") if name not in ("names", "chinese-reviews") else TfidfVectorizer(sublinear_tf=True, analyzer="char", ngram_range=(1, 3), min_df=2)
    place = {c: i for i, c in enumerate(classes)}
    m = LogisticRegression(C=10, max_iter=1000).fit(v.fit_transform([t for t, _ in train]), [place[c] for _, c in train])
    return full(m.predict_proba(v.transform([t for t, _ in test])), m.classes_.astype(int), k)


if __name__ == "__main__":
    main()
