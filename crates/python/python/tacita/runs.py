"""Run folders: what `tacita train` writes, and all that may be published of a run."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .bracket import Bracket
from .errors import RunError
from .ledger import Ledger

if TYPE_CHECKING:
    from .predictions import Predictions

__all__ = ["Run"]

#: What of a folder is kept with a fitted estimator: all but the states from which a run resumes.
KEPT = (
    "config.toml",
    "facts.json",
    "ledger.jsonl",
    "metrics.jsonl",
    "model.safetensors",
    "registry.json",
    "report.html",
    "report.json",
    "run.json",
)


class Run:
    """A run: its guarantee, how well it does, and its report.

    It holds what the folder holds and no record, so it may be pickled and published if the run was private.

    >>> import tacita
    >>> run = tacita.Run.open("runs/digits-1")  # doctest: +SKIP
    >>> print(run.epsilon)  # doctest: +SKIP
    ≤ 8 (proved; the truth lies between 7.9993 and 8)
    """

    def __init__(self, folder: Path | None, files: Mapping[str, bytes]) -> None:
        self._folder = folder
        self._files = dict(files)

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Run:
        """Reads the folder of a run."""
        path = Path(folder)
        found = {name: (path / name).read_bytes() for name in KEPT if (path / name).is_file()}
        if "run.json" not in found:
            raise RunError(f"{path} is not the folder of a run: it has no run.json")
        return cls(path, found)

    @property
    def folder(self) -> Path | None:
        """The folder; none if it was not kept."""
        return self._folder

    @property
    def is_finished(self) -> bool:
        """Whether all steps were made. A run that stopped in order has a model too, and may be resumed."""
        return "report.json" in self._files and self.report["stopped_early"] is None

    @property
    def private(self) -> bool:
        """Whether the guarantee holds. It does not with a fixed seed."""
        return bool(self._json("report.json")["private"])

    @property
    def epsilon(self) -> Bracket:
        """ε of everything the run was committed to release, proved; infinite if it is not private.

        For a run of a search it is that of the whole search.
        """
        guarantee = self._json("report.json")["guarantee"]
        if guarantee is None:
            return Bracket(0.0, float("inf"))
        upper = guarantee["epsilon_upper"]
        return Bracket(guarantee["epsilon_lower"] or 0.0, float("inf") if upper is None else upper)

    @property
    def delta(self) -> float:
        """δ of the guarantee."""
        return float(self.facts["delta"])

    @property
    def ledger(self) -> Ledger:
        """Everything the run was committed to release, whether it stopped early or not."""
        return Ledger.from_json(json.dumps(self.facts["plan"]))

    @property
    def accuracy(self) -> float | None:
        """Accuracy on test records: exact on public ones, noisy on private ones; none without a score."""
        evaluation = self.facts.get("evaluation")
        return None if evaluation is None else float(evaluation["accuracy"])

    @property
    def utility(self) -> dict[str, Any] | None:
        """Every figure of how well the model does (``utility`` of ``facts.json``); none without a score."""
        return self.facts.get("utility")

    @property
    def facts(self) -> dict[str, Any]:
        """What the run says of itself: ``facts.json``."""
        return self._json("facts.json")

    @property
    def record(self) -> dict[str, Any]:
        """How records are prepared, and every setting: ``run.json``."""
        return self._json("run.json")

    @property
    def report(self) -> dict[str, Any]:
        """The privacy report: ``report.json``."""
        return self._json("report.json")

    def report_html(self) -> str:
        """The privacy report as a page of its own, to read, print and sign."""
        return self._bytes("report.html").decode()

    def predict(self, data: Any, **options: Any) -> Predictions:
        """What the model says of new records: :func:`tacita.predict` with this run."""
        from .training import predict

        return predict(self, data, **options)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes the files of the run into a new folder, of which :meth:`open` makes a run again."""
        path = Path(folder)
        path.mkdir(parents=True)
        self._write(path)

    def _write(self, folder: Path) -> None:
        for name, content in self._files.items():
            (folder / name).write_bytes(content)

    @contextmanager
    def _in_folder(self) -> Iterator[Path]:
        """A folder that the program can read. It holds nothing that may not be published."""
        if self._folder is not None and self._folder.is_dir():
            yield self._folder
            return
        with tempfile.TemporaryDirectory(prefix="tacita-") as folder:
            self._write(Path(folder))
            yield Path(folder)

    def _without_folder(self) -> Run:
        return Run(None, self._files)

    def _bytes(self, name: str) -> bytes:
        try:
            return self._files[name]
        except KeyError:
            raise RunError(
                f"the run has no {name}: it is not finished; resume it by tacita.resume({str(self._folder)!r})"
            ) from None

    def _json(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._bytes(name))
        return found

    def __repr__(self) -> str:
        if "report.json" not in self._files:
            return f"<Run {self._folder}: not finished>"
        where = "" if self._folder is None else f" {self._folder}"
        if not self.private:
            return f"<Run{where}: NOT PRIVATE>"
        return f"<Run{where}: ε {self.epsilon} at δ = {self.delta:g}>"

    def _repr_html_(self) -> str:
        import html

        return f"<code>{html.escape(repr(self))}</code>"
