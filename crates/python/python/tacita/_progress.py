"""What a run tells of itself while it lasts: on one line that is drawn anew in terminals and notebooks, else line by line."""

from __future__ import annotations

import sys

_WIDTH = 30


class Progress:
    """Writes to standard error, as it is when the run begins."""

    def __init__(self) -> None:
        self._out = sys.stderr
        # Notebooks draw a line anew after a carriage return too, but are no terminals.
        in_notebook = type(self._out).__module__.partition(".")[0] == "ipykernel"
        self._draws = in_notebook or self._out.isatty()
        self._drawn = 0

    def line(self, text: str) -> None:
        """A line that stays."""
        self.end()
        print(text, file=self._out, flush=True)

    def step(self, made: int, steps: int, text: str) -> None:
        """How far the run is."""
        if not self._draws:
            self.line(text)
            return
        full = _WIDTH * made // steps
        shown = f"  {'█' * full}{'░' * (_WIDTH - full)} {text.strip()}"
        # What is left of a longer line is wiped by spaces, which notebooks understand too.
        print("\r" + shown.ljust(self._drawn), end="", file=self._out, flush=True)
        self._drawn = len(shown)

    def end(self) -> None:
        """Nothing is drawn over from here on."""
        if self._drawn:
            print(file=self._out, flush=True)
            self._drawn = 0
