"""The program `tacita`, which the wheel carries, as a child process.

Training runs in a process of its own: it holds no lock of Python's, and whatever happens in it, nothing but bytes and an
exit status comes back.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from ._memory import MemoryFile
from ._progress import Progress
from .errors import InternalError, ProgramError, RunError, RunWarning

#: Statuses of the program (docs/src/reference/exit-codes.md).
_BAD_INPUT, SOME_UNUSABLE, STOPPED = 2, 3, 130

#: A line of progress where there is no terminal.
_STEP = re.compile(r"^ {2}step (\d+)/(\d+) {2}ε so far ≈ (\S+)$")

#: How a line of the plan begins that warns of something.
_WARNING = "  warning     "


class Finished(NamedTuple):
    """What a child process left."""

    status: int
    output: bytes
    #: Whether Ctrl-C was passed on to it.
    interrupted: bool


def program() -> Path:
    """The path of the program: the one installed with this package, or that of ``TACITA_PROGRAM``."""
    named = os.environ.get("TACITA_PROGRAM")
    if named:
        return Path(named)
    for path in _places():
        if path.is_file():
            return path
    raise ProgramError(
        "the program `tacita` is not there, which the wheel carries; install the package again, or set TACITA_PROGRAM "
        "to the program that `cargo build --release` makes"
    )


def _places() -> list[Path]:
    import importlib.metadata
    import sysconfig

    name = "tacita.exe" if os.name == "nt" else "tacita"
    try:
        files = importlib.metadata.files("tacita") or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    places = [Path(str(file.locate())) for file in files if file.name == name]
    places.append(Path(sysconfig.get_path("scripts"), name))
    # pip install --target
    places.append(Path(__file__).resolve().parents[1] / "bin" / name)
    return places


def call(
    words: Sequence[str],
    *,
    files: Sequence[MemoryFile] = (),
    progress: Callable[[int, int, float], object] | None = None,
    verbose: bool = False,
    accepted: Sequence[int] = (0,),
) -> Finished:
    """Runs the program, which may read ``files``. Its errors become exceptions; statuses in ``accepted`` are left to the
    caller."""
    path = program()
    try:
        # In a process group of its own, so that Ctrl-C reaches it once and by us: a second one would end it at once.
        child = subprocess.Popen(
            [str(path), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=tuple(one for file in files for one in file.descriptors),
            process_group=0,
        )
    except OSError as error:
        raise ProgramError(f"cannot run {path}: {error.strerror}") from None
    said: list[str] = []
    parts: list[bytes] = []
    failed: list[BaseException] = []
    ends = [
        _begun(lambda: _read(child, parts)),
        _begun(lambda: _listen(child, said, failed, progress, verbose)),
    ]
    interrupted = _wait(child, ends)
    if failed:
        raise failed[0]
    status, output = child.returncode, b"".join(parts)
    for file in files:
        said = [line.replace(file.path, file.name) for line in said]
        output = output.replace(file.path.encode(), file.name.encode())
    for line in said:
        if line.startswith(_WARNING) and not verbose:
            warnings.warn(as_keywords(line.removeprefix(_WARNING)), RunWarning, stacklevel=3)
    # Before the program watches for Ctrl-C it just ends, as it does when it is pressed again.
    if status in accepted or (interrupted and status in (STOPPED, -signal.SIGINT)):
        return Finished(status, output, interrupted)
    raise _failure(status, said)


def _begun(work: Callable[[], object]) -> threading.Event:
    """Does something in a thread. Gives what says that it is done: a ``join`` that Ctrl-C interrupts takes a thread for
    ended that is not (Python 3.11)."""
    done = threading.Event()

    def whole() -> None:
        try:
            work()
        finally:
            done.set()

    threading.Thread(target=whole, daemon=True).start()
    return done


def _wait(child: subprocess.Popen[bytes], ends: Sequence[threading.Event]) -> bool:
    """Waits for the child. Ctrl-C asks it to end in order and waits for that; a second one ends it at once."""
    interrupted = False
    while True:
        try:
            for end in ends:
                # A signal that another thread received is handled when this one wakes.
                while not end.wait(0.2):
                    pass
            child.wait()
            return interrupted
        except KeyboardInterrupt:
            interrupted = True
            child.send_signal(signal.SIGINT)
        except BaseException:
            # Such as an exit in a signal handler: nothing continues unseen.
            child.send_signal(signal.SIGINT)
            raise


def _read(child: subprocess.Popen[bytes], parts: list[bytes]) -> None:
    assert child.stdout is not None
    parts.append(child.stdout.read())
    child.stdout.close()


def _listen(
    child: subprocess.Popen[bytes],
    said: list[str],
    failed: list[BaseException],
    progress: Callable[[int, int, float], object] | None,
    verbose: bool,
) -> None:
    assert child.stderr is not None
    shown = Progress() if verbose else None
    for raw in child.stderr:
        line = raw.decode("utf-8", "replace").rstrip("\n")
        step = _STEP.match(line)
        if not step:
            said.append(line)
            if shown:
                shown.line(line)
            continue
        made, steps = int(step[1]), int(step[2])
        if progress and not failed:
            try:
                progress(made, steps, float(step[3]))
            except BaseException as error:
                # The caller's, who gets it back when the run has stopped in order.
                failed.append(error)
                child.send_signal(signal.SIGINT)
        if shown:
            shown.step(made, steps, line)
    if shown:
        shown.end()
    child.stderr.close()


def _failure(status: int, said: list[str]) -> Exception:
    """The exception for a status: the message of the program, with its flags as keywords."""
    text = "\n".join(said).strip()
    if status == _BAD_INPUT:
        _, mark, message = text.rpartition("error: ")
        return RunError(as_keywords(message if mark else text))
    if status == STOPPED:
        return RunError(
            "the program was asked to stop by a signal; what its ledger holds stays spent"
        )
    if status < 0:
        name = signal.Signals(-status).name if -status in signal.valid_signals() else str(-status)
        return ProgramError(
            f"the program was ended by {name} (by the system, if memory ran out); what its ledger holds stays spent"
        )
    return InternalError(f"the program ended with status {status}, which is a bug: {text}")


def as_keywords(message: str) -> str:
    """A message in which the flags of the program are the keywords of functions."""
    return re.sub(r"--([a-z][a-z0-9-]*)", lambda flag: flag[1].replace("-", "_"), message)
