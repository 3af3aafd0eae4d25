"""Virtual environments of the peers, and what a process of theirs is started with."""

import subprocess
import sys
import venv
from pathlib import Path

# Versions by major (before 1.0, by minor): a newer one may be faster, but not another library.
PACKAGES = {
    "torch": ["torch==2.*", "opacus==1.*", "numpy==2.*"],
    "jax": ["jax[cpu]==0.10.*", "jax-privacy==2.*", "optax==0.2.*"],
}
# FastDP imports it.
FASTDP_PACKAGES = ["transformers==4.*"]


def python_of(framework, home, given, with_fastdp=False):
    """The interpreter of a framework: the given one, or one in a new environment under `home`."""
    if given:
        return given
    folder = Path(home) / framework
    python = folder / "bin" / "python"
    packages = PACKAGES[framework] + (FASTDP_PACKAGES if with_fastdp else [])
    wanted = "\n".join(packages)
    installed = folder / "installed.txt"
    if installed.exists() and installed.read_text() == wanted:
        return str(python)
    print(f"Installing {', '.join(packages)} in {folder}", file=sys.stderr)
    venv.create(folder, with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    installed.write_text(wanted)
    return str(python)
