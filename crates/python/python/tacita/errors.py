"""Exceptions. Each but :class:`Stopped` is a :class:`TacitaError` and also the built-in exception it is a case of.

>>> import tacita
>>> try:
...     tacita.epsilon(noise=1.1, rate=512, steps=1000, delta=1e-5)
... except ValueError as error:
...     print(error)
rate must be in (0, 1], got 512; did you pass the batch size?
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .runs import Run

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "BudgetError",
    "HistoryError",
    "InternalError",
    "LedgerError",
    "ProgramError",
    "RunError",
    "RunWarning",
    "Stopped",
    "TacitaError",
    "UnsupportedError",
]


class TacitaError(Exception):
    """The base of every exception of this package."""


class ArgumentError(TacitaError, ValueError):
    """An argument is outside its range, or arguments contradict each other. The message names it."""


class ArgumentTypeError(TacitaError, TypeError):
    """An argument has the wrong type. The message names it."""


class UnsupportedError(TacitaError, ValueError):
    """There is no proof for a kind of round, or for a relation; the message says what to do instead."""


class BudgetError(TacitaError, ValueError):
    """No noise keeps the budget, or finding it takes more work than is allowed."""


class LedgerError(TacitaError, ValueError):
    """A ledger cannot be read, or has no rounds."""


class HistoryError(TacitaError, ValueError):
    """The history of another library cannot be read, or has an event that is not known, which is named."""


class InternalError(TacitaError, RuntimeError):
    """A defect of this package. Please report it."""


class RunError(TacitaError, ValueError):
    """A run, a search or a prediction was refused or ended early. The message says whether anything was spent."""


class ProgramError(TacitaError, RuntimeError):
    """The program `tacita`, which the package runs, is not there, cannot be run, or was ended by the system."""


class Stopped(KeyboardInterrupt):
    """Ctrl-C stopped a run in order. What its ledger holds is spent, and the run can be resumed.

    Like every ``KeyboardInterrupt`` it is no ``Exception``, so that nothing mistakes it for a failure.
    """

    def __init__(self, message: str, run: Run | None = None) -> None:
        super().__init__(message)
        #: The run as far as it came; none if it had not begun, or if its folder was not kept.
        self.run = run


class RunWarning(UserWarning):
    """Something to think about before a run, told by names, types and declared numbers, never by records."""
