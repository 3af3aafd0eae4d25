#!/usr/bin/env python3
"""Puts faults that void the guarantee into a copy of the sources, one at a time, and shows which test finds each.

    python3 crates/lab/mutants/run.py --copy /tmp/mutants [--target DIR] [--only NAME] [--results FILE]

Each mutant of `mutants.toml` is a few replacements of text. The repository itself is not touched, and nothing in it knows of
this script. Before the mutants the same tests run on sources without a fault: they must pass. A mutant that no test
finds is a hole to close, and the status is then 1. It is no part of CI, because every mutant builds the engine anew.
"""

import argparse
import datetime
import json
import os
import platform
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


def output(*command: str) -> str:
    return subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, text=True).stdout


def copied(to: Path) -> None:
    """The sources as they lie there, with the times of files kept so that unchanged ones are not built again."""
    files = output("git", "ls-files", "--cached", "--others", "--exclude-standard")
    for file in filter(None, files.splitlines()):
        source, copy = REPOSITORY / file, to / file
        if source.is_file():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy)


def command(test: str) -> list[str]:
    """A test of `mutants.toml` as a command. Without a crate it runs in the whole workspace, as CI builds it."""
    whole = [] if "-p " in test else ["--workspace"]
    return ["cargo", "test", "--release", *whole, *shlex.split(test)]


class Copy:
    """A copy of the sources and how its tests are run."""

    def __init__(self, folder: Path, target: Path, through: list[str]):
        self.folder, self.through = folder, through
        self.environment = dict(os.environ, CARGO_TARGET_DIR=str(target))

    def tested(self, tests: list[str]) -> tuple[str, str, list[str]]:
        """How it ended (`passed`, `found` or `not built`), the last command, and the tests that failed."""
        words: list[str] = []
        for test in tests:
            words = command(test)
            run = subprocess.run(
                [*self.through, *words],
                cwd=self.folder,
                env=self.environment,
                capture_output=True,
                text=True,
            )
            found = FAILED.findall(run.stdout)
            if found:
                # One test is enough.
                return "found", shlex.join(words), found
            if run.returncode != 0:
                return "not built", shlex.join(words), [(run.stderr or run.stdout)[-2000:]]
        return "passed", shlex.join(words), []

    def changed(self, changes: list[dict[str, str]]) -> dict[Path, str]:
        """Applies a mutant, and returns what its files held before."""
        before: dict[Path, str] = {}
        for change in changes:
            path = self.folder / change["file"]
            text = path.read_text()
            before.setdefault(path, text)
            count = text.count(change["find"])
            if count != 1:
                raise SystemExit(
                    f"{change['file']}: {count} places hold {change['find']!r}; the sources have changed"
                )
            path.write_text(text.replace(change["find"], change["replace"]))
        return before


def machine() -> str:
    model = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return f"{model[1] if model else platform.machine()}, {os.cpu_count()} threads"


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--copy", type=Path, required=True, help="folder for the copy of the sources")
    arguments.add_argument("--target", type=Path, help="folder of builds [default: target in the copy]")
    arguments.add_argument("--only", action="append", default=[], help="only mutants whose name contains this")
    arguments.add_argument("--results", type=Path, help="JSON file; what other mutants gave is kept in it")
    arguments.add_argument("--through", default="", help="run every command by this one, such as 'nice -n 10'")
    arguments.add_argument("--unchecked", action="store_true", help="do not run the tests without a fault first")
    given = arguments.parse_args()
    mutants = tomllib.loads((HERE / "mutants.toml").read_text())["mutant"]
    chosen = [m for m in mutants if not given.only or any(part in m["name"] for part in given.only)]
    copied(given.copy)
    copy = Copy(given.copy, given.target or given.copy / "target", shlex.split(given.through))
    if not given.unchecked:
        every = list(dict.fromkeys(test for mutant in chosen for test in mutant["tests"]))
        how, words, seen = copy.tested(every)
        if how != "passed":
            raise SystemExit(f"without a fault the tests do not pass ({how}): {words}: {seen}")
        print("without a fault all tests pass", flush=True)
    results: dict[str, dict[str, object]] = {}
    if given.results and given.results.exists():
        results = {mutant["name"]: mutant for mutant in json.loads(given.results.read_text())}
    holes = 0
    for mutant in chosen:
        before = copy.changed(mutant["change"])
        how, words, seen = copy.tested(mutant["tests"])
        for path, text in before.items():
            path.write_text(text)
        holes += how != "found"
        found = list(dict.fromkeys(seen)) if how == "found" else []
        print(f"{mutant['name']}: {how} by {', '.join(found)}", flush=True)
        if how == "not built":
            print(seen[0], file=sys.stderr)
        results[mutant["name"]] = {
            "name": mutant["name"],
            "result": how,
            "command": words,
            "failed": found,
            "date": datetime.date.today().isoformat(),
            "machine": machine(),
            "rust": output("rustc", "--version").strip(),
            "commit": output("git", "rev-parse", "--short=12", "HEAD").strip(),
        }
        if given.results:
            ordered = [results[m["name"]] for m in mutants if m["name"] in results]
            given.results.write_text(json.dumps(ordered, indent=2, ensure_ascii=False) + "\n")
    return 1 if holes else 0


if __name__ == "__main__":
    sys.exit(main())
