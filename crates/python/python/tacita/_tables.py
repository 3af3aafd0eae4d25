"""Tables of NumPy, pandas, polars and Arrow, as the program reads them: CSV in memory."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from ._columns import Arrow, Pandas, array_of, cells_of, column_of, held_by, name_of
from .errors import ArgumentError, ArgumentTypeError


class Table:
    """Columns of the same length, by name. Cells are looked at only to be written."""

    def __init__(self, names: Sequence[object], columns: Sequence[Any]) -> None:
        #: The names as texts, in order.
        self.names = [name_of(name) for name in names]
        self._columns = list(columns)
        seen: set[str] = set()
        for place, name in enumerate(self.names):
            if not name:
                raise ArgumentError(f"column {place} of the table has no name; give it one")
            if name in seen:
                raise ArgumentError(f"the table has two columns named {name!r}; rename one")
            seen.add(name)
        lengths = {len(column) for column in self._columns}
        if len(lengths) > 1:
            raise ArgumentError(f"the columns have different lengths: {sorted(lengths)}")
        self._length = lengths.pop() if lengths else 0

    def __len__(self) -> int:
        return self._length

    def cells(self, name: str) -> Any:
        """The cells of a column as they are written."""
        return cells_of(self._columns[self.names.index(name)])

    def holds(self, name: str) -> str:
        """What the type of the column, not its cells, says that it holds: ``"numbers"``, ``"booleans"``, ``"texts"``,
        ``"categories"``, ``"dates"``, ``"times or durations"``, ``"lists"``, or ``"values"`` of any kind."""
        return held_by(self._columns[self.names.index(name)])

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
        writer.writerows(zip(*map(cells_of, self._columns), strict=True))
        # A text that is no Unicode makes its own record a bad one, as in a file.
        return file.getvalue().encode("utf-8", "surrogatepass")

    def json_lines(self) -> bytes:
        """The table as JSON lines, in which texts are read."""
        rows = zip(*map(cells_of, self._columns), strict=True)
        lines = (json.dumps(dict(zip(self.names, row, strict=True))) for row in rows)
        return "".join(line + "\n" for line in lines).encode()


def table_of(name: str, data: Any) -> Table:
    """A table from whatever holds columns. ``name`` is the argument's."""
    if isinstance(data, Table):
        return data
    if type(data).__module__.startswith("scipy.sparse"):
        raise ArgumentTypeError(
            f"{name} is sparse, and sparse input is not supported: use toarray()"
        )
    if type(data).__module__.partition(".")[0] == "datasets":
        data = _of_datasets(name, data)
    if getattr(data, "ndim", 2) == 1 or (hasattr(data, "to_list") and hasattr(data, "to_arrow")):
        raise _not_two(name, 1)
    if isinstance(data, Mapping):
        return Table(list(data), [column_of(str(key), one) for key, one in data.items()])
    if hasattr(data, "iloc") and hasattr(data, "columns"):  # pandas
        columns = [Pandas(data.iloc[:, place]) for place in range(data.shape[1])]
        return Table(list(data.columns), columns)
    if hasattr(data, "collect") and hasattr(data, "collect_schema"):  # a lazy frame of polars
        data = data.collect()
    if hasattr(data, "get_column") and hasattr(data, "collect_schema"):  # polars
        return Table(data.columns, [data.get_column(one) for one in data.columns])
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return _of_arrow(name, data)
    return _of_array(name, data)


def _of_datasets(name: str, data: Any) -> Any:
    """The table under a data set of the library `datasets`."""
    if isinstance(data, Mapping):
        splits = ", ".join(map(repr, data))
        raise ArgumentTypeError(f"{name} is a dictionary of the splits {splits}; give one of them")
    if not hasattr(data, "__len__"):
        raise ArgumentTypeError(
            f"{name} is read piece by piece; give a Dataset, such as Dataset.from_list(list(…))"
        )
    return data.with_format("arrow")[:] if hasattr(data, "column_names") else data


def _of_arrow(name: str, data: Any) -> Table:
    if not hasattr(data, "column_names") or not hasattr(data, "combine_chunks"):
        try:
            import pyarrow
        except ImportError:
            raise ArgumentTypeError(
                f"{name} is an Arrow stream, which needs the library pyarrow; or convert it to NumPy or pandas"
            ) from None
        try:
            data = pyarrow.table(data)
        except (TypeError, ValueError) as error:
            raise ArgumentTypeError(f"{name} is no table of Arrow: {error}") from None
    return Table(data.column_names, [Arrow(column) for column in data.columns])


def _of_array(name: str, data: Any) -> Table:
    if isinstance(data, (list, tuple)):
        return _of_rows(name, data)
    array = array_of(name, data)
    if array.ndim == 0:
        raise ArgumentTypeError(f"{name} must be a table, got {type(data).__name__}")
    if array.ndim != 2:
        raise _not_two(name, array.ndim)
    columns = [array[:, place] for place in range(array.shape[1])]
    return Table(_places(len(columns)), columns)


def _of_rows(name: str, rows: Sequence[Any]) -> Table:
    """A list of records. NumPy would give all cells one type, so that one record changed how all others are read."""
    widths = {len(row) if hasattr(row, "__len__") and not _is_text(row) else None for row in rows}
    if widths in (set(), {None}):
        raise _not_two(name, 1)
    if len(widths) > 1:
        raise ArgumentTypeError(f"{name} is no table: its rows have different lengths")
    cells = [list(row) for row in rows]
    return Table(_places(widths.pop() or 0), list(map(list, zip(*cells, strict=True))))


def _is_text(value: object) -> bool:
    return isinstance(value, (str, bytes))


def _places(count: int) -> list[str]:
    return [f"x{place}" for place in range(count)]


def _not_two(name: str, dimensions: int) -> ArgumentError:
    return ArgumentError(
        f"{name} must have two dimensions, records and columns; got {dimensions}. Reshape your data with "
        "array.reshape(-1, 1) for one column"
    )
