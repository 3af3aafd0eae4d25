"""Exceptions. Each is a :class:`TacitaError` and also the built-in exception it is a case of.

>>> import tacita
>>> try:
...     tacita.epsilon(noise=1.1, rate=512, steps=1000, delta=1e-5)
... except ValueError as error:
...     print(error)
rate must be in (0, 1], got 512; did you pass the batch size?
"""

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "BudgetError",
    "HistoryError",
    "InternalError",
    "LedgerError",
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
