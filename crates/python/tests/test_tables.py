"""Tables of other libraries are the same bytes."""

import datetime
import json

import numpy as np
import pytest
import tacita
from tacita._columns import text_of
from tacita._tables import table_of

COLUMNS = {
    "count": [1, None, 3],
    "share": [0.1, 2.0, None],
    "word": ["a,b", None, 'say "so"'],
    "yes": [True, False, None],
    "day": [datetime.date(2024, 1, 31), None, datetime.date(2024, 2, 1)],
}
CSV = 'count,share,word,yes,day\n1,0.1,"a,b",true,2024-01-31\n,2,,false,\n3,,"say ""so""",,2024-02-01\n'


def of_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(COLUMNS)
    return frame.astype({"count": "Int64"})


def of_polars():
    return pytest.importorskip("polars").DataFrame(COLUMNS)


def of_arrow():
    return pytest.importorskip("pyarrow").table(COLUMNS)


def of_arrow_batch():
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.table(COLUMNS).to_batches()[0]


@pytest.mark.parametrize("make", [lambda: COLUMNS, of_pandas, of_polars, of_arrow, of_arrow_batch])
def test_every_library_gives_the_same_table(make):
    assert table_of("data", make()).csv().decode() == CSV


def test_arrays_have_columns_by_their_place_and_keep_every_digit():
    array = np.array([[1.0, 0.1], [np.nan, 1e300]])
    text = table_of("data", array).csv().decode().splitlines()
    assert text[0] == "x0,x1" and text[1] == "1,0.1" and float(text[2].split(",")[1]) == 1e300
    numbers = np.random.default_rng(1).normal(size=200) * 10.0 ** np.arange(-100, 100)
    lines = table_of("data", numbers.reshape(-1, 1)).csv().decode().splitlines()[1:]
    assert [float(line) for line in lines] == numbers.tolist()


def test_a_value_is_the_same_text_in_a_cell_and_in_a_declaration():
    for value, text in [(1.0, "1"), (np.int8(1), "1"), (True, "true"), (np.bool_(False), "false")]:
        assert text_of(value) == text
    for missing in [None, float("nan"), np.datetime64("NaT"), np.float32("nan")]:
        assert text_of(missing) == ""


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (np.zeros(3), "two dimensions"),
        (np.zeros((2, 2), dtype=complex), "Complex data not supported"),
        ([[1, 2], [3]], "different lengths"),
        ({"a": [1], "b": [1, 2]}, "different lengths"),
        (5, "table"),
    ],
)
def test_what_is_no_table_is_named(data, words):
    with pytest.raises(tacita.TacitaError, match=words):
        table_of("data", data)


def test_two_columns_of_one_name_are_refused():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(tacita.ArgumentError, match="two columns named 'a'"):
        table_of("data", pandas.DataFrame([[1, 2]], columns=["a", "a"]))


def lines_of(data):
    return table_of("data", data).csv().decode().splitlines()[1:]


@pytest.mark.parametrize("odd", ["twelve", None, 2.5, 2**70, (1, 2), {}])
def test_one_odd_cell_changes_how_no_other_is_read(odd):
    """As an array of NumPy it would: 1.0 became "1.0" and True became "True" beside a text."""
    for cells in [[1, 2, 3], [1.0, 2.0, 0.5], [True, False, True], [2**53 + 1, 1, 1]]:
        alone = lines_of({"a": cells})
        assert lines_of({"a": [*cells, odd]})[:3] == alone
        assert lines_of([[cell] for cell in [*cells, odd]])[:3] == alone


def columns_of_every_library():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    arrow = pytest.importorskip("pyarrow")
    days = [datetime.datetime(2024, 1, 31), None]
    spans = [datetime.timedelta(seconds=5), None]
    return {
        "numbers": [
            np.array([1, 2]),
            pandas.array([1, None], dtype="Int64"),
            polars.Series([1.5, None]),
            polars.Series([1, None], dtype=polars.UInt8),
            arrow.array([1, None]),
            arrow.array([1, None], type=arrow.decimal128(9, 2)),
        ],
        "booleans": [
            np.array([True, False]),
            pandas.array([True, None], dtype="boolean"),
            polars.Series([True, None]),
            arrow.array([True, None]),
        ],
        "dates": [
            np.array(days, dtype="M8[s]"),
            pandas.Series(days).dt.tz_localize("Europe/Berlin"),
            polars.Series(days),
            polars.Series([datetime.date(2024, 1, 31)]),
            arrow.array(days),
        ],
        "times or durations": [
            np.array(spans, dtype="m8[s]"),
            pandas.Series(spans),
            polars.Series(spans),
            arrow.array(spans),
        ],
        "texts": [
            np.array(["a", "b"]),
            pandas.array(["a", None], dtype="string"),
            polars.Series(["a", None]),
            arrow.array(["a", None]),
        ],
        "categories": [
            pandas.Categorical(["a", None]),
            polars.Series(["a", None], dtype=polars.Categorical),
            polars.Series(["a", None], dtype=polars.Enum(["a"])),
            arrow.array(["a", None]).dictionary_encode(),
        ],
        "lists": [polars.Series([[1], [2]]), arrow.array([[1], None])],
        "values": [np.array([1, "a"], dtype=object), [1, 2]],
    }


def test_types_of_every_library_say_what_a_column_holds():
    pandas = pytest.importorskip("pandas")
    for held, columns in columns_of_every_library().items():
        for column in columns:
            if isinstance(column, pandas.api.extensions.ExtensionArray):
                column = pandas.Series(column)
            assert table_of("data", {"a": column}).holds("a") == held, column


def test_lazy_frames_are_collected_and_a_series_is_no_table():
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    assert table_of("data", polars.DataFrame(COLUMNS).lazy()).csv().decode() == CSV
    for series in [pandas.Series([1.0]), polars.Series([1.0])]:
        with pytest.raises(tacita.ArgumentError, match="data must have two dimensions"):
            table_of("data", series)


def test_names_of_columns_are_texts_that_say_something():
    assert table_of("data", {" age ": [1], 7: [2], ("a", "b"): [3]}).names == [
        "age",
        "7",
        "('a', 'b')",
    ]
    for name in [None, "", " "]:
        with pytest.raises(tacita.ArgumentError, match="column 0 of the table has no name"):
            table_of("data", {name: [1]})


def test_json_lines_hold_what_csv_holds():
    lines = table_of("data", COLUMNS).json_lines().decode().splitlines()
    assert json.loads(lines[0]) == {
        "count": "1", "share": "0.1", "word": "a,b", "yes": "true", "day": "2024-01-31",
    }  # fmt: skip
    assert json.loads(lines[2])["word"] == 'say "so"' and json.loads(lines[1])["word"] == ""
