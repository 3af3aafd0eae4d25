"""What is declared of columns by arguments, as a schema. Nothing here looks at a cell, but for `read_from`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from ._columns import name_of, text_of
from ._tables import Table
from .errors import ArgumentError, ArgumentTypeError, RunWarning

#: What becomes of missing values, by the argument `missing`: of numbers, and of categories.
_MISSING = {"drop": ("drop", "drop"), "mark": ("indicator", "category")}


def columns(
    table: Table,
    *,
    bounds: Any,
    categories: Any,
    declared: Mapping[str, Any],
    estimate_bounds: bool,
) -> dict[str, dict[str, Any]]:
    """The columns of a schema: each is declared, or the error names those that are not."""
    found = {name_of(name): dict(column) for name, column in declared.items()}
    _check_names("schema", found, table)
    for name, values in _by_name("categories", categories, table).items():
        _new("categories", name, found)
        found[name] = _category(name, values)
    for name, pair in _bounds(bounds, table, found).items():
        _new("bounds", name, found)
        low, high = _pair(f"bounds of {name}", pair)
        found[name] = _number(name, table, {"min": low, "max": high})
    rest = [name for name in table.names if name not in found]
    if rest and not estimate_bounds:
        raise ArgumentError(_undeclared(rest))
    for name in rest:
        found[name] = _number(name, table, {"kind": "numeric"})
    return found


def mark_missing(columns: Mapping[str, dict[str, Any]], missing: str) -> None:
    """Adds the rule for missing values to columns that are declared without one."""
    if missing not in _MISSING:
        raise ArgumentError(f'missing must be "drop" or "mark", got {missing!r}')
    of_number, of_category = _MISSING[missing]
    for column in columns.values():
        if column.get("kind") == "ignored" or {"missing", "fill"} & column.keys():
            continue
        listed = {"categories", "buckets"} & column.keys()
        rule = of_category if listed or column.get("kind") == "categorical" else of_number
        if rule != "drop":
            column["missing"] = rule


def read_from(table: Table, declared: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Bounds and categories read from the records themselves: NOT PRIVATE."""
    import numpy as np

    found = {name_of(name): dict(column) for name, column in declared.items()}
    for name in table.names:
        if name in found:
            continue
        held = table.holds(name)
        if held == "booleans":
            found[name] = {"kind": "boolean"}
        elif held == "numbers":
            cells = np.array([_float(cell) for cell in table.cells(name)])
            cells = cells[np.isfinite(cells)]
            low, high = (float(cells.min()), float(cells.max())) if cells.size else (0.0, 1.0)
            found[name] = {"min": low, "max": high if high > low else low + 1.0}
        else:
            values = sorted({str(cell).strip() for cell in table.cells(name)} - {""})
            few = 2 <= len(values) <= 4096
            found[name] = {"categories": values, "other": True} if few else {"buckets": 32}
    return found


def _undeclared(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:20])) + (", …" if len(names) > 20 else "")
    what = f"the column {shown} of X is" if len(names) == 1 else f"the columns {shown} of X are"
    return (
        f"{what} not declared, and what a column holds is not learned from private records. "
        "Give bounds={name: (min, max)} for numbers, categories={name: [...]} (or a number of buckets) for categories, "
        "schema= for everything else, or estimate_bounds=True to have the bounds of numbers estimated within the budget. "
        "Nothing was spent"
    )


def _float(cell: Any) -> float:
    try:
        return float(cell)
    except ValueError:
        return float("nan")


def _bounds(bounds: Any, table: Table, found: Mapping[str, Any]) -> dict[str, Any]:
    """A pair for each column: given by name, one for all, or two arrays."""
    if bounds is None or isinstance(bounds, Mapping):
        return _by_name("bounds", bounds, table)
    low, high = _two("bounds", bounds)
    if all(isinstance(end, str) or not hasattr(end, "__len__") for end in (low, high)):
        return {name: (low, high) for name in table.names if name not in found}
    if not (hasattr(low, "__len__") and hasattr(high, "__len__")) or not (
        len(low) == len(high) == len(table.names)
    ):
        raise ArgumentError(
            f"bounds must be (min, max) for all columns, two arrays of one number for each of {len(table.names)} columns, "
            "or a mapping of names to pairs"
        )
    return dict(zip(table.names, zip(low, high, strict=True), strict=True))


def _by_name(argument: str, given: Any, table: Table) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ArgumentTypeError(
            f"{argument} must be a mapping of columns, got {type(given).__name__}"
        )
    found = {}
    for name, value in given.items():
        # A column of an array is also known by its place.
        is_place = isinstance(name, int) and not isinstance(name, bool)
        place = is_place and name_of(name) not in table.names and 0 <= name < len(table.names)
        found[table.names[name] if place else name_of(name)] = value
    _check_names(argument, found, table)
    return found


def _check_names(argument: str, names: Mapping[str, Any], table: Table) -> None:
    unknown = [name for name in names if name not in table.names]
    if unknown:
        shown = ", ".join(map(repr, unknown))
        raise ArgumentError(
            f"{argument} declares {shown}, which X does not have. Nothing was spent"
        )


def _new(argument: str, name: str, found: Mapping[str, Any]) -> None:
    if name in found:
        raise ArgumentError(f"{argument} declares the column {name!r} a second time")


def _category(name: str, values: Any) -> dict[str, Any]:
    if isinstance(values, int) and not isinstance(values, bool):
        return {"buckets": values}
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise ArgumentTypeError(
            f"categories of {name} must be a list of values or a number of buckets, got {type(values).__name__}"
        )
    return {"categories": [text_of(value) for value in values]}


#: What to do about columns that hold something else than numbers.
_INSTEAD = {
    "dates": "declare it in schema= with kind='date', min and max",
    "times or durations": "turn it into numbers, such as seconds",
    "lists": "give each element a column of its own",
    "categories": "declare it in categories=, or convert it to numbers",
}


def _number(name: str, table: Table, declared: dict[str, Any]) -> dict[str, Any]:
    """The declaration of a column of numbers. A column of booleans is one of two numbers."""
    held = table.holds(name)
    if held in _INSTEAD:
        raise ArgumentTypeError(
            f"the column {name!r} of X holds {held}, not numbers; {_INSTEAD[held]}. Nothing was spent"
        )
    if held == "texts":
        # No error: where a file is read, one cell that is no number can make texts of a whole column.
        warnings.warn(
            f"the column {name!r} of X has a type of texts and is declared to hold numbers; records whose cell is no "
            "number are left out. If it holds categories, declare it in categories=",
            RunWarning,
            stacklevel=2,
        )
    return {"kind": "boolean"} if held == "booleans" else declared


def _two(argument: str, pair: Any) -> tuple[Any, Any]:
    if isinstance(pair, (str, bytes)) or not hasattr(pair, "__len__") or len(pair) != 2:
        raise ArgumentTypeError(f"{argument} must be a pair (min, max), got {pair!r}")
    return pair[0], pair[1]


def _pair(argument: str, pair: Any) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in _two(argument, pair))
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"{argument} must be a pair of numbers, got {pair!r}") from None
    if not low < high or abs(low) == float("inf") or abs(high) == float("inf"):
        raise ArgumentError(f"{argument} must be finite numbers, min below max, got {pair!r}")
    return low, high


def target_bounds(pair: Any) -> tuple[float, float]:
    """The bounds of a number to predict."""
    if pair is None:
        raise ArgumentError(
            "target_bounds is missing: declare the bounds (min, max) of the number to predict, which are not learned from "
            "private records. Nothing was spent"
        )
    return _pair("target_bounds", pair)
