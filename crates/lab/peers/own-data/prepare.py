"""Writes the sets as plain files (CSV, JSON lines and what is declared), so that `contest.py` needs no package of data.

    python3 prepare.py FOLDER [NAME ...]
"""

import json
import sys
from pathlib import Path

from make import load
from sets import TABLES, TEXTS

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or [*TABLES, *TEXTS]:
        data = load(name)
        declared = {"label": data.label, "classes": data.classes, "bounds": data.bounds, "categories": data.categories}
        (folder / f"{name}.json").write_text(json.dumps(declared))
        rows = folder / f"{name}.csv.gz"
        data.frame.to_csv(rows, index=False)
        print(name, len(data.frame), flush=True)
