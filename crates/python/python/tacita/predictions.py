"""What a model says of new records."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Predictions"]


class Predictions:
    """Answers in the order of the records. A record that cannot be used has no answer and a problem."""

    def __init__(self, answers: list[dict[str, Any]], names: list[str]) -> None:
        self._answers = answers
        self._names = names

    @classmethod
    def _of_lines(cls, lines: bytes, names: list[str]) -> Predictions:
        return cls([json.loads(line) for line in lines.splitlines()], names)

    def __len__(self) -> int:
        return len(self._answers)

    @property
    def names(self) -> list[str]:
        """The classes or labels, or the name of the predicted number."""
        return list(self._names)

    @property
    def inputs(self) -> list[str]:
        """The line of each record, or the file of each image."""
        return [answer["input"] for answer in self._answers]

    @property
    def values(self) -> list[Any]:
        """The likeliest class, the list of likely labels, or the number of each record; ``None`` without an answer."""
        found = []
        for answer in self._answers:
            key = next((key for key in ("class", "labels") if key in answer), None)
            found.append(answer[key] if key else answer[self._names[0]])
        return found

    @property
    def probabilities(self) -> npt.NDArray[np.float64]:
        """A row for each record, a column for each of :attr:`names`; NaN without an answer."""
        import numpy as np

        table = np.full((len(self), len(self._names)), np.nan)
        for row, answer in enumerate(self._answers):
            shares = answer.get("probability")
            if shares is not None:
                table[row] = [shares[name] for name in self._names]
        return table

    @property
    def problems(self) -> dict[int, str]:
        """Why records cannot be used, by their place, which begins at 0. No value of a record is quoted."""
        return {
            place: answer["problem"]
            for place, answer in enumerate(self._answers)
            if "problem" in answer
        }

    def __repr__(self) -> str:
        unused = len(self.problems)
        return f"<Predictions: {len(self)} records" + (f", {unused} unusable>" if unused else ">")
