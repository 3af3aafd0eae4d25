"""Prepares the rows of a CSV file as the model of a run takes them, by what `run.json` says. Python alone is needed.

    python prepare_rows.py runs/patients-1 new.csv

prints a line of JSON for each row: the numbers that go into the first layer, or into the `input` of an ONNX file.
"""

import csv
import json
import math
import sys
from datetime import datetime, timezone
from pathlib import Path

USUALLY_MISSING = ["", "NA", "N/A", "#N/A", "NaN", "null", "?"]
YES = ["true", "yes", "1", "1.0", "t", "y", "on"]
NO = ["false", "no", "0", "0.0", "f", "n", "off"]


def number(text, written):
    """A number, written with a decimal comma, thousands or a currency if that is declared."""
    if not written:
        return float(text)
    decimal = written.get("decimal", ".")
    taken_out = written.get("thousands", "") + written.get("strip", "")
    kept = "".join(letter for letter in text if not letter.isspace() and letter not in taken_out)
    return float(kept.replace(decimal, "."))


def moment(text, declared):
    """Seconds since the beginning of 1970, without regard to time zones."""
    time = datetime.strptime(text, declared) if declared else datetime.fromisoformat(text.removesuffix("Z"))
    return time.replace(tzinfo=timezone.utc).timestamp()


def on_circles(seconds, cycles):
    """Two numbers for each cycle."""
    time = datetime.fromtimestamp(math.floor(seconds), timezone.utc)
    shares = {
        "hour": (time.hour * 3600 + time.minute * 60 + time.second) / 86400,
        "weekday": time.weekday() / 7,
        "month": (time.month - 1) / 12,
    }
    turns = [2 * math.pi * shares[cycle] for cycle in cycles]
    return [(1 + part) / 2 for turn in turns for part in (math.sin(turn), math.cos(turn))]


def column_of(text, column, missing):
    """The numbers of one column. A value that cannot be used is an error."""
    encoding, kind = column["encoding"], column["encoding"]["kind"]
    rule = column.get("missing", {"rule": "drop"})
    listed = encoding.get("categories", encoding.get("order", []))
    is_missing = text.lower() in missing and text not in listed
    if is_missing and rule["rule"] == "drop":
        raise ValueError(f"column {column['name']} is missing")
    # What a missing value is replaced by: as it is read, so a date in seconds and a category by its place.
    read = rule.get("value") if is_missing else None
    if kind == "categorical":
        places = len(listed) + bool(encoding.get("other")) + (rule["rule"] == "category")
        if not is_missing and text in listed:
            read = listed.index(text)
        elif not is_missing and encoding.get("other"):
            read = len(listed)
        elif read is None:
            read = places - 1 if is_missing else None
        if read is None:
            raise ValueError(f"column {column['name']} holds another category")
        return [float(place == read) for place in range(places)]
    if kind == "numeric":
        low, high = encoding["min"], encoding["max"]
        read = read if is_missing else number(text, column.get("format"))
    elif kind == "date":
        low, high = encoding["min"], encoding["max"]
        read = read if is_missing else moment(text, encoding.get("format"))
    elif kind == "boolean":
        low, high = 0, 1
        read = read if is_missing else float((NO + YES).index(text.lower()) >= len(NO))
    elif kind == "ordinal":
        low, high = 0, len(listed) - 1
        read = read if is_missing else listed.index(text)
    else:
        raise ValueError(f"column {column['name']} is {kind}, which this script does not prepare")
    numbers = [0.5 if read is None else (min(max(read, low), high) - low) / (high - low)]
    cycles = encoding.get("cycles", [])
    numbers += [0.5] * 2 * len(cycles) if read is None else on_circles(read, cycles)
    if rule["rule"] == "indicator":
        numbers.append(float(is_missing))
    return numbers


def row_of(row, table):
    """A row of a table as the model takes it."""
    missing = [text.lower() for text in table.get("missing_values", USUALLY_MISSING)]
    numbers = []
    for column in table["columns"]:
        numbers += column_of(row[column["name"]].strip(), column, missing)
    standard = table.get("standard")
    if standard:
        # Centred and scaled by what was released of the training records, then brought to length 4.
        numbers = [(x - mean) * scale for x, mean, scale in zip(numbers, standard["mean"], standard["scale"])]
        length = math.hypot(*numbers)
        numbers = [4 * x / length for x in numbers] if length > 0 else numbers
    return numbers


def rows(path, table):
    """All rows of a CSV file."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        return [row_of(row, table) for row in csv.DictReader(file)]


if __name__ == "__main__":
    run = json.loads((Path(sys.argv[1]) / "run.json").read_text())
    for numbers in rows(sys.argv[2], run["preparation"]["input"]):
        print(json.dumps(numbers))
