#!/usr/bin/env python3
"""Puts faults that void the guarantee into a copy of the sources, one at a time, and shows which test finds each.

    python3 crates/lab/mutants/run.py --copy /tmp/mutants [--target DIR] [--only NAME] [--table FILE]

Each mutant of `mutants.toml` is a few replacements of text. The repository itself is not touched, and nothing in it knows of
this script. Before the mutants the same tests run on sources without a fault: they must pass. A mutant that no test
finds is a hole to close, and the status is then 1. It is no part of CI, because every mutant builds the engine anew.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[2]
FAILED = re.compile(r"^test (\S+) \.\.\. FAILED$", re.MULTILINE)


def copied(to: Path) -> None:
    """The sources as they lie there, with the times of files kept so that unchanged ones are not built again."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(listed, cwd=REPOSITORY, check=True, capture_output=True, text=True).stdout
    for file in filter(None, files.splitlines()):
        source, copy = REPOSITORY / file, to / file
        if source.is_file():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy)


def tested(tests: list[str], copy: Path, environment: dict[str, str]) -> tuple[str, list[str]]:
    """How it ended (`passed`, `found` or `not built`), and the tests that failed."""
    found = []
    for arguments in tests:
        whole = [] if "-p " in arguments else ["--workspace"]
        command = ["cargo", "test", "--release", *whole, *shlex.split(arguments)]
        run = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True)
        found += FAILED.findall(run.stdout)
        if run.returncode != 0 and not FAILED.search(run.stdout):
            last = (run.stderr or run.stdout)[-2000:]
            return "not built", [last]
        if found:
            # One test is enough.
            return "found", found
    return "passed", found


def changed(copy: Path, changes: list[dict[str, str]]) -> dict[Path, str]:
    """Applies a mutant, and returns what its files held before."""
    before: dict[Path, str] = {}
    for change in changes:
        path = copy / change["file"]
        text = path.read_text()
        before.setdefault(path, text)
        count = text.count(change["find"])
        if count != 1:
            raise SystemExit(f"{change['file']}: {count} places hold {change['find']!r}; the sources have changed")
        path.write_text(text.replace(change["find"], change["replace"]))
    return before


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--copy", type=Path, required=True, help="folder for the copy of the sources")
    arguments.add_argument("--target", type=Path, help="folder of builds [default: target in the copy]")
    arguments.add_argument("--only", action="append", default=[], help="only mutants whose name contains this")
    arguments.add_argument("--table", type=Path, help="file for the table, as Markdown")
    arguments.add_argument("--unchecked", action="store_true", help="do not run the tests without a fault first")
    given = arguments.parse_args()
    environment = dict(os.environ, CARGO_TARGET_DIR=str(given.target or given.copy / "target"))
    mutants = tomllib.loads((HERE / "mutants.toml").read_text())["mutant"]
    mutants = [m for m in mutants if not given.only or any(part in m["name"] for part in given.only)]
    copied(given.copy)
    if not given.unchecked:
        every = list(dict.fromkeys(test for mutant in mutants for test in mutant["tests"]))
        how, seen = tested(every, given.copy, environment)
        if how != "passed":
            raise SystemExit(f"without a fault the tests do not pass ({how}): {seen}")
    rows = ["| fault | found by |", "|---|---|"]
    holes = 0
    for mutant in mutants:
        before = changed(given.copy, mutant["change"])
        how, seen = tested(mutant["tests"], given.copy, environment)
        for path, text in before.items():
            path.write_text(text)
        holes += how != "found"
        shown = ", ".join(f"`{name}`" for name in dict.fromkeys(seen)) if how == "found" else f"**{how}**"
        rows.append(f"| {mutant['name']} | {shown} |")
        print(rows[-1], flush=True)
        if how == "not built":
            print(seen[0], file=sys.stderr)
    if given.table:
        given.table.write_text("\n".join(rows) + "\n")
    return 1 if holes else 0


if __name__ == "__main__":
    sys.exit(main())
