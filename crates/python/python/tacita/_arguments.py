"""Arguments of the public functions: checked once, and named in every message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _tacita
from .errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    #: One number, or an array of them where a function is vectorised.
    Numbers = float | Sequence[float] | npt.NDArray[Any]

#: Of a run; a ledger may hold more.
MOST_STEPS = 10**9


def is_array(value: object) -> bool:
    """Whether a value is a sequence of numbers rather than one number, without importing NumPy."""
    if isinstance(value, (list, tuple, range)):
        return True
    return getattr(value, "ndim", 0) > 0


def number(name: str, value: object) -> float:
    """A finite or infinite number, but never NaN."""
    if isinstance(value, (bool, str, bytes)) or not hasattr(value, "__float__"):
        raise ArgumentTypeError(f"{name} must be a number, got {type(value).__name__}")
    try:
        result = float(value)
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"{name} must be a number, got {type(value).__name__}") from None
    if result != result:
        raise ArgumentError(f"{name} must be a number, got NaN")
    return result


def positive(name: str, value: object) -> float:
    result = number(name, value)
    if not 0.0 < result < float("inf"):
        raise ArgumentError(f"{name} must be a finite number above 0, got {shown(result)}")
    return result


def not_negative(name: str, value: object) -> float:
    result = number(name, value)
    if not 0.0 <= result < float("inf"):
        raise ArgumentError(f"{name} must be a finite number of at least 0, got {shown(result)}")
    return result


def probability(name: str, value: object) -> float:
    """Strictly between 0 and 1."""
    result = number(name, value)
    if not 0.0 < result < 1.0:
        hint = "; a common choice is 1/(10 n) for n records" if name == "delta" else ""
        raise ArgumentError(f"{name} must be in (0, 1), got {shown(result)}{hint}")
    return result


def sampling_rate(name: str, value: object) -> float:
    result = number(name, value)
    if not 0.0 < result <= 1.0:
        raise ArgumentError(
            f"{name} must be in (0, 1], got {shown(result)}; did you pass the batch size?"
        )
    return result


def whole(name: str, value: object, least: int = 1, most: int = 2**53) -> int:
    """A whole number; 3.0 is one."""
    result = number(name, value)
    if not least <= result <= most or result != int(result):
        raise ArgumentError(
            f"{name} must be a whole number of at least {least} and at most {most}, got {shown(result)}"
        )
    return int(result)


def choice(name: str, value: object, known: Sequence[str]) -> str:
    if value not in known:
        names = ", ".join(f'"{one}"' for one in known)
        raise ArgumentError(f"{name} must be one of {names}, got {value!r}")
    return str(value)


def numbers(name: str, value: object) -> list[float]:
    """A list of finite numbers above 0 from any sequence of one dimension."""
    import numpy as np

    try:
        array = np.asarray(value)
    except ValueError:
        raise ArgumentTypeError(f"{name} must be an array of numbers of one dimension") from None
    if array.dtype.kind not in "iuf" or array.ndim != 1:
        raise ArgumentTypeError(
            f"{name} must be an array of numbers of one dimension, got {array.ndim} dimensions of "
            f"{array.dtype}"
        )
    if array.size == 0:
        raise ArgumentError(f"{name} is empty; give one number per step")
    return [positive(f"{name}[{index}]", one) for index, one in enumerate(array.tolist())]


def shown(value: float) -> str:
    """A number as it would be typed."""
    return str(int(value)) if value == int_or_none(value) and abs(value) < 1e15 else repr(value)


def int_or_none(value: float) -> int | None:
    return int(value) if value == value and abs(value) != float("inf") else None


def rate_of(rate: object, records: object, batch: object) -> float:
    """The sampling rate, given as such or as batch over records."""
    if rate is not None:
        if records is not None or batch is not None:
            raise ArgumentError("give either rate, or records and batch, not both")
        return sampling_rate("rate", rate)
    if records is None or batch is None:
        raise ArgumentError("the sampling is missing: give rate, or records and batch")
    records_given = number("records", records)
    if not 1.0 <= records_given < float("inf"):
        raise ArgumentError(
            f"records must be a finite number of at least 1, got {shown(records_given)}"
        )
    batch_given = number("batch", batch)
    if not 0.0 < batch_given <= records_given:
        raise ArgumentError(
            f"batch must be above 0 and at most records ({shown(records_given)}), "
            f"got {shown(batch_given)}"
        )
    return batch_given / records_given


def steps_of(steps: object, epochs: object, rate: object, records: object, batch: object) -> int:
    """The number of steps, given as such or as passes over the records; the sampling is checked before."""
    if steps is not None:
        if epochs is not None:
            raise ArgumentError("give either steps or epochs, not both")
        return whole("steps", steps, most=MOST_STEPS)
    if epochs is None:
        raise ArgumentError("the length is missing: give steps or epochs")
    passes = positive("epochs", epochs)
    if rate is not None:
        return _tacita.steps_of_epochs(1.0, number("rate", rate), passes)
    return _tacita.steps_of_epochs(number("records", records), number("batch", batch), passes)
