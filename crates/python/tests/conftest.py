"""What several tests share."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "crates" / "accounting" / "tests" / "data"


def stored(name):
    """Reference figures that the Rust tests read too."""
    return json.loads((DATA / name).read_text())


@pytest.fixture(scope="session")
def command():
    """Runs the Rust program `tacita`, built by cargo, and returns the JSON that it prints."""
    program = os.environ.get("TACITA_PROGRAM") or ROOT / "target" / "release" / "tacita"
    if not shutil.which(str(program)):
        pytest.skip(f"{program} is not built: cargo build --release, or set TACITA_PROGRAM")

    def run(*arguments):
        words = [str(program), *(str(word) for word in arguments), "--json"]
        return json.loads(subprocess.run(words, check=True, capture_output=True).stdout)

    return run
