"""Tables of other libraries are the same bytes."""

import datetime

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
