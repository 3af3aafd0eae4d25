"""The scripts of `examples/python` run as they are; those that need a library say so where it is missing."""

import os
import subprocess
import sys
from importlib.util import find_spec

import pytest
from conftest import ROOT

SCRIPTS = sorted((ROOT / "examples" / "python").glob("*.py"))
FOLDER = ROOT / "crates" / "cli" / "tests" / "earlier" / "folders" / "digits"

#: Other libraries and what else a script needs.
NEEDS = {
    "certify_opacus_run.py": ["opacus"],
    "opacus_schedule.py": ["opacus"],
    "private_classifier.py": ["sklearn", "pandas"],
}
ARGUMENTS = {"read_run_folder.py": [str(FOLDER)]}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_scripts_run(script, tmp_path):
    missing = [name for name in NEEDS.get(script.name, []) if find_spec(name) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed; .ci/python or .ci/python-peers runs it")
    words = [sys.executable, "-W", "ignore", str(script), *ARGUMENTS.get(script.name, [])]
    # In a folder of its own, so that a script finds nothing by chance.
    made = subprocess.run(
        words,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    assert made.returncode == 0, made.stderr
    assert made.stdout
