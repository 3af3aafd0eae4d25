"""Builds the wheel: maturin's, with the program `tacita` in it.

The program links Burn, which takes some ten minutes to compile, so the extension module does not
link it again: cargo builds the program once, in the repository's own workspace, and the wheel
carries it as a script.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import maturin
from maturin import (  # noqa: F401 (the hooks of PEP 517 that need nothing else)
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)

ROOT = Path(__file__).resolve().parents[3]
NAME = "tacita.exe" if os.name == "nt" else "tacita"
#: What `[tool.maturin] data` names: files below `scripts` are installed beside Python's own commands.
SCRIPTS = ROOT / "target" / "python" / "tacita.data" / "scripts"


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    # Maturin refuses a folder that is not there, even where it needs nothing in it.
    SCRIPTS.mkdir(parents=True, exist_ok=True)
    return maturin.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    _program()
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    _program()
    return maturin.build_editable(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    raise RuntimeError(
        "the package is built from a clone of the repository, which has the program's source: pip install ."
    )


def _program():
    """Puts the program where maturin looks for scripts: the one that ``TACITA_PROGRAM`` names, or a new one."""
    named = os.environ.get("TACITA_PROGRAM")
    source = Path(named) if named else _built()
    shutil.rmtree(SCRIPTS, ignore_errors=True)
    SCRIPTS.mkdir(parents=True)
    shutil.copy2(source, SCRIPTS / NAME)


def _built():
    # What the README's commands build, so that nothing is compiled twice.
    words = ["cargo", "build", "--release", "--locked"]
    if shutil.which("cargo") is None:
        raise RuntimeError("cargo is missing; install Rust 1.95 or newer from https://rustup.rs")
    print("building the program:", " ".join(words), file=sys.stderr, flush=True)
    made = subprocess.run(words, cwd=ROOT, stdout=sys.stderr)
    if made.returncode != 0:
        raise RuntimeError(f"{' '.join(words)} ended with status {made.returncode}")
    target = Path(os.environ.get("CARGO_TARGET_DIR") or "target")
    return ROOT / target / "release" / NAME
