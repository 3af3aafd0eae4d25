"""One column of a table: what its type says that it holds, and its cells as the program reads them.

A cell is read by itself. If lists became arrays of NumPy, one text among numbers would change how all others are written,
and so which records can be used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .errors import ArgumentError, ArgumentTypeError

#: Kinds of NumPy's types that a cell may have: numbers, booleans, texts, dates, and Python's objects.
_KINDS = "iufbOUSMmT"

#: What a type holds, by NumPy's kinds. Whatever else there is are values of any kind.
_HELD = {
    "i": "numbers",
    "u": "numbers",
    "f": "numbers",
    "b": "booleans",
    "M": "dates",
    "m": "times or durations",
}


class Pandas:
    """A column of pandas."""

    def __init__(self, column: Any) -> None:
        self.dtype = column.dtype
        self.is_category = hasattr(column, "cat")
        # A column of categories has their type; missing cells are NaN, NaT, None or NA.
        self.cells = column.to_numpy()

    def __len__(self) -> int:
        return len(self.cells)


class Arrow:
    """A column of Arrow."""

    def __init__(self, column: Any) -> None:
        self.type = column.type
        self._column = column

    def __len__(self) -> int:
        return len(self._column)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._column.to_pylist())


def column_of(name: str, data: Any) -> Any:
    """A column from whatever holds cells in order."""
    if isinstance(data, (list, tuple, range)):
        return list(data)
    if hasattr(data, "iloc") and hasattr(data, "to_numpy"):
        return Pandas(data)
    if hasattr(data, "to_pylist") and hasattr(data, "type"):
        return Arrow(data)
    if hasattr(data, "to_list") and hasattr(data, "to_arrow"):
        return data  # of polars
    array = array_of(f"the column {name!r}", data)
    if array.ndim != 1:
        raise ArgumentError(f"the column {name!r} must have one dimension, got {array.ndim}")
    return array


def array_of(name: str, data: Any) -> Any:
    """An array of NumPy whose cells can be written."""
    import numpy as np

    try:
        array = np.ma.filled(data, np.nan) if np.ma.isMaskedArray(data) else np.asarray(data)
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"{name} cannot be read as an array") from None
    if array.dtype.kind not in _KINDS:
        what = "Complex data" if array.dtype.kind == "c" else f"data of type {array.dtype}"
        raise ArgumentTypeError(f"{what} not supported in {name}")
    return array


def objects_of(cells: Sequence[Any]) -> Any:
    """An array of the cells as they are."""
    import numpy as np

    array = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):
        array[place] = cell
    return array


def held_by(column: Any) -> str:
    """What the type of a column says that it holds."""
    if isinstance(column, Arrow):
        return _held_by_arrow(column.type)
    if isinstance(column, Pandas) and column.is_category:
        return "categories"
    dtype = getattr(column, "dtype", None)
    if hasattr(dtype, "is_temporal"):
        return _held_by_polars(dtype)
    if dtype is not None and (dtype.kind in "US" or str(dtype).startswith(("str", "string"))):
        return "texts"
    return _HELD.get(getattr(dtype, "kind", "O"), "values")


def _held_by_polars(dtype: Any) -> str:
    if dtype.is_numeric():
        return "numbers"
    if dtype.is_temporal():
        return "dates" if str(dtype).startswith("Date") else "times or durations"
    if dtype.is_nested():
        return "lists"
    name = str(dtype).partition("(")[0]
    named = {"Boolean": "booleans", "String": "texts", "Categorical": "categories"}
    return {**named, "Enum": "categories"}.get(name, "values")


def _held_by_arrow(kind: Any) -> str:
    from pyarrow import types

    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "numbers"
    if types.is_boolean(kind):
        return "booleans"
    if types.is_date(kind) or types.is_timestamp(kind):
        return "dates"
    if types.is_time(kind) or types.is_duration(kind):
        return "times or durations"
    if types.is_dictionary(kind):
        return "categories"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "texts"
    return "lists" if types.is_nested(kind) else "values"


def cells_of(column: Any) -> Any:
    """The cells of a column as the texts and numbers that the CSV writer takes."""
    column = column.cells if isinstance(column, Pandas) else column
    kind = getattr(getattr(column, "dtype", None), "kind", "O")
    if kind == "M":
        import numpy as np

        return ["" if text == "NaT" else text for text in np.datetime_as_string(column).tolist()]
    if kind in "iu":
        return column.tolist()
    if kind == "f":
        return [_plain(cell) for cell in column.tolist()]
    return map(text_of, column)


def _plain(number: float) -> float | str:
    if number.is_integer():
        return int(number)
    return number if number == number else ""


def name_of(value: object) -> str:
    """The name of a column as the program reads it, which takes off spaces at its ends."""
    return text_of(value).strip()


def text_of(value: object) -> str:
    """A value as the program reads it; empty if it is missing. The same for a cell and for a declared category."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    try:
        if value is None or value != value:  # NaN and NaT
            return ""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, float) and value.is_integer():
            return str(int(value))
        if isinstance(value, bytes):
            return value.decode("utf-8", "surrogateescape")
        isoformat: Callable[[], str] | None = getattr(value, "isoformat", None)
        return isoformat() if isoformat else str(value)
    except Exception:
        # Such as pandas.NA, which refuses to be compared: whatever a cell is, it stops nothing.
        return ""
