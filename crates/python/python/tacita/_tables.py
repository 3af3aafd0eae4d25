"""Tables of NumPy, pandas, polars and Arrow, as the program reads them: CSV in memory."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .errors import ArgumentError, ArgumentTypeError

#: Kinds of NumPy's types that a cell may have: numbers, booleans, texts, dates, and Python's objects.
_KINDS = "iufbOUSMmT"


class Table:
    """Columns of the same length, by name. Cells are looked at only to be written."""

    def __init__(self, names: Sequence[object], columns: Sequence[Any]) -> None:
        #: The names as texts, in order.
        self.names = [text_of(name) for name in names]
        self._columns = list(columns)
        seen: set[str] = set()
        for name in self.names:
            if name in seen:
                raise ArgumentError(f"the table has two columns named {name!r}; rename one")
            seen.add(name)
        lengths = {len(column) for column in self._columns}
        if len(lengths) > 1:
            raise ArgumentError(f"the columns have different lengths: {sorted(lengths)}")
        self._length = lengths.pop() if lengths else 0

    def __len__(self) -> int:
        return self._length

    def column(self, name: str) -> Any:
        """The cells of a column."""
        return self._columns[self.names.index(name)]

    def is_number(self, name: str) -> bool:
        """Whether the type of the column, not its cells, says that it holds numbers."""
        dtype = getattr(self.column(name), "dtype", None)
        return getattr(dtype, "kind", "O") in "iuf"

    def is_moment(self, name: str) -> bool:
        """Whether the type of the column says that it holds dates, times or durations."""
        dtype = getattr(self.column(name), "dtype", None)
        is_temporal: Callable[[], bool] | None = getattr(dtype, "is_temporal", None)  # polars
        return is_temporal() if is_temporal else getattr(dtype, "kind", "O") in "mM"

    def named(self, names: Sequence[str]) -> Table:
        """The same columns by other names."""
        return Table(names, self._columns)

    def with_column(self, name: str, cells: Sequence[object]) -> Table:
        """With one more column at the end."""
        return Table([*self.names, name], [*self._columns, cells])

    def csv(self) -> bytes:
        """The table as CSV with a header. An empty cell is a missing value."""
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(self.names)
        writer.writerows(zip(*map(_cells, self._columns), strict=True))
        # A text that is no Unicode makes its own record a bad one, as in a file.
        return file.getvalue().encode("utf-8", "surrogatepass")


def table_of(name: str, data: Any) -> Table:
    """A table from whatever holds columns. ``name`` is the argument's."""
    if isinstance(data, Table):
        return data
    if type(data).__module__.startswith("scipy.sparse"):
        raise ArgumentTypeError(
            f"{name} is sparse, and sparse input is not supported: use toarray()"
        )
    if hasattr(data, "with_format") and hasattr(data, "column_names"):
        data = data.with_format("arrow")[:]  # datasets.Dataset
    if isinstance(data, Mapping):
        return Table(list(data), [_array(one) for one in data.values()])
    if hasattr(data, "iloc") and hasattr(data, "columns"):  # pandas
        columns = [data.iloc[:, place] for place in range(data.shape[1])]
        return Table(list(data.columns), [_of_pandas(column) for column in columns])
    if hasattr(data, "get_column") and hasattr(data, "collect_schema"):  # polars
        if not hasattr(data, "height"):
            data = data.collect()
        return Table(data.columns, [data.get_column(one) for one in data.columns])
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return _of_arrow(name, data)
    return _of_array(name, data)


def _of_pandas(column: Any) -> Any:
    # A column of categories has their type; missing cells are NaN, NaT, None or NA.
    return column.to_numpy()


def _of_arrow(name: str, data: Any) -> Table:
    if not hasattr(data, "column_names") or not hasattr(data, "combine_chunks"):
        try:
            import pyarrow
        except ImportError:
            raise ArgumentTypeError(
                f"{name} is an Arrow stream, which needs the library pyarrow; or convert it to NumPy or pandas"
            ) from None
        data = pyarrow.table(data)
    return Table(data.column_names, [_Arrow(column) for column in data.columns])


class _Arrow:
    """A column of Arrow that converts itself when it is written."""

    def __init__(self, column: Any) -> None:
        self._column = column

    def __len__(self) -> int:
        return len(self._column)

    def __iter__(self) -> Any:
        return iter(self._column.to_pylist())


def _of_array(name: str, data: Any) -> Table:
    array = _array(data, name)
    if array.ndim == 0:
        raise ArgumentTypeError(f"{name} must be a table, got {type(data).__name__}")
    if array.ndim != 2:
        raise ArgumentError(
            f"{name} must have two dimensions, records and columns; got {array.ndim}. Reshape your data with "
            "array.reshape(-1, 1) for one column"
        )
    names = [f"x{place}" for place in range(array.shape[1])]
    return Table(names, [array[:, place] for place in range(array.shape[1])])


def _array(data: Any, name: str = "a column") -> Any:
    import numpy as np

    try:
        array = np.ma.filled(data, np.nan) if np.ma.isMaskedArray(data) else np.asarray(data)
    except ValueError:
        raise ArgumentTypeError(f"{name} is no table: its rows have different lengths") from None
    if array.dtype.kind not in _KINDS:
        what = "Complex data" if array.dtype.kind == "c" else f"data of type {array.dtype}"
        raise ArgumentTypeError(f"{what} not supported in {name}")
    return array


def _cells(column: Any) -> Any:
    """The cells of a column as the texts and numbers that the CSV writer takes."""
    kind = getattr(getattr(column, "dtype", None), "kind", "O")
    if kind == "M":
        import numpy as np

        return ["" if text == "NaT" else text for text in np.datetime_as_string(column).tolist()]
    if kind in "iu" and hasattr(column, "tolist"):
        return column.tolist()
    if kind == "f" and hasattr(column, "tolist"):
        return [_plain(cell) for cell in column.tolist()]
    return map(text_of, column)


def _plain(number: float) -> float | str:
    if number.is_integer():
        return int(number)
    return number if number == number else ""


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
