"""Folders of private searches for settings."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from .bracket import Bracket
from .errors import RunError
from .runs import Run

__all__ = ["Search"]


class Search:
    """A finished search: its guarantee, which covers all its runs, and the best of them."""

    def __init__(self, folder: Path, report: dict[str, Any], html: str) -> None:
        self._folder = folder
        self._report = report
        self._html = html

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Search:
        """Reads the folder of a search."""
        path = Path(folder)
        try:
            return cls(
                path,
                json.loads((path / "report.json").read_text()),
                (path / "report.html").read_text(),
            )
        except FileNotFoundError:
            raise RunError(f"{path} is not the folder of a finished search") from None

    @property
    def folder(self) -> Path:
        """The folder of the search."""
        return self._folder

    @property
    def private(self) -> bool:
        """Whether the guarantee holds."""
        return bool(self._report["private"])

    @property
    def epsilon(self) -> Bracket:
        """ε of everything the search publishes together, proved; infinite if it is not private."""
        if not self.private:
            return Bracket(0.0, float("inf"))
        return Bracket(self._report.get("epsilon_lower") or 0.0, self._report["epsilon_upper"])

    @property
    def delta(self) -> float:
        """δ of the guarantee."""
        return float(self._report["delta"])

    @property
    def report(self) -> dict[str, Any]:
        """The report of the whole search: ``report.json``."""
        return self._report

    @property
    def winner(self) -> Run | None:
        """The best run; none if no run was made, as may happen in a random search."""
        winner = self._report.get("winner")
        return None if winner is None else Run.open(self._folder / winner["folder"])

    def report_html(self) -> str:
        """The report of the whole search as a page."""
        return self._html

    def __repr__(self) -> str:
        if not self.private:
            return f"<Search {self._folder}: NOT PRIVATE>"
        return f"<Search {self._folder}: ε {self.epsilon} at δ = {self.delta:g}>"
