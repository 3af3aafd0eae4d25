"""The estimators: scikit-learn's own checks, what must be declared, and what a record can change."""

import pickle

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")

import tacita  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import FunctionTransformer  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402
from tacita import PrivateClassifier, PrivateRegressor  # noqa: E402

X = np.random.default_rng(7).uniform(0, 10, size=(400, 2))
Y = (X[:, 0] > 5).astype(int)
DECLARED = {"epsilon": 3, "records": 400, "classes": [0, 1], "bounds": (0, 10)}

#: Checks of scikit-learn that do not pass, with the reason.
EXPECTED: dict[str, str] = {}


@pytest.fixture(scope="module")
def fitted():
    return PrivateClassifier(**DECLARED).fit(X, Y)


@pytest.mark.parametrize("kind", [PrivateClassifier, PrivateRegressor])
def test_checks_of_scikit_learn(kind):
    # Few steps, because a fit is a process of its own.
    estimator = kind(declare_from_data=True, steps=3)
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = {one["check_name"]: one["exception"] for one in results if one["status"] == "failed"}
    assert failed.keys() == EXPECTED.keys(), failed


def test_a_fit_keeps_its_budget_and_learns(fitted):
    assert 2.9 < float(fitted.epsilon_) <= 3 and fitted.private_
    assert fitted.delta_ == 0.00025 and fitted.ledger_.steps > 0
    assert fitted.score(X, Y) > 0.9
    assert fitted.predict_proba(X).shape == (400, 2)
    assert "ε ≤" in fitted.report_html()


def test_what_is_pickled_or_saved_holds_no_record_and_predicts_the_same(fitted, tmp_path):
    shares = fitted.predict_proba(X[:5])
    stored = pickle.dumps(fitted)
    for record in X[:20]:
        assert record.tobytes() not in stored and repr(float(record[0])).encode() not in stored
    assert (pickle.loads(stored).predict_proba(X[:5]) == shares).all()
    fitted.save(tmp_path / "model")
    loaded = PrivateClassifier.load(tmp_path / "model")
    assert (loaded.predict_proba(X[:5]) == shares).all() and loaded.epsilon_ == fitted.epsilon_
    assert loaded.get_params() == {**fitted.get_params(), "bounds": [0, 10]}
    with pytest.raises(tacita.RunError, match="PrivateClassifier"):
        PrivateRegressor.load(tmp_path / "model")


def test_clones_and_pipelines():
    model = make_pipeline(FunctionTransformer(lambda a: a / 10), PrivateClassifier(**DECLARED))
    model.set_params(privateclassifier__bounds=(0, 1))
    assert clone(model).fit(X, Y).score(X, Y) > 0.9


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"epsilon": -1}, "epsilon"),
        ({"delta": 2}, "delta"),
        ({"records": None}, "records is missing"),
        ({"records": 0}, "records"),
        ({"classes": None}, "classes is missing"),
        ({"classes": [1, 1]}, "classes"),
        ({"classes": "01"}, "classes"),
        ({"bounds": None}, "columns 'x0', 'x1' of X are not declared"),
        ({"bounds": {"x0": (0, 1)}}, "column 'x1' of X is not declared"),
        ({"bounds": {"x0": (0, 1), 7: (0, 1)}}, "'7', which X does not have"),
        ({"bounds": ([0, 0, 0], [1, 1, 1])}, "bounds"),
        ({"bounds": (5, 1)}, "min below max"),
        ({"bounds": (0, "many")}, "numbers"),
        ({"categories": {0: "abc"}}, "categories"),
        ({"missing": "keep"}, "missing"),
        ({"schema": 3}, "schema"),
        ({"settings": {"nonsense": 1}}, "nonsense"),
    ],
)
def test_mistakes_of_a_call_name_the_argument(change, words):
    with pytest.raises(
        (tacita.ArgumentError, tacita.ArgumentTypeError, tacita.RunError), match=words
    ):
        PrivateClassifier(**{**DECLARED, **change}).fit(X, Y)


def test_numbers_to_predict_need_bounds():
    with pytest.raises(tacita.ArgumentError, match="target_bounds is missing"):
        PrivateRegressor(records=400, bounds=(0, 10)).fit(X, X[:, 0])
    model = PrivateRegressor(
        epsilon=8, records=400, bounds=(0, 10), target_bounds=(0, 10), steps=40
    )
    assert model.fit(X, X[:, 0]).predict(X).std() > 0


def test_lengths_must_agree():
    with pytest.raises(tacita.ArgumentError, match="X has 400 records and y has 399"):
        PrivateClassifier(**DECLARED).fit(X, Y[:-1])


@pytest.mark.parametrize("what", ["nan", "infinite", "class", "one class", "many", "object"])
def test_no_single_record_stops_a_fit(what):
    table, target = X.astype(object), Y.astype(object)
    if what == "nan":
        table[0, 0] = np.nan
    elif what == "infinite":
        table[0, 0] = np.inf
    elif what == "class":
        target[0] = "neither"
    elif what == "one class":
        target[:] = 1
    elif what == "many":
        table, target = np.tile(table, (3, 1)), np.tile(target, 3)
    else:
        table[0, 1] = {"no": "number"}
    model = PrivateClassifier(**DECLARED, steps=2).fit(table, target)
    assert model.private_ and list(model.classes_) == [0, 1]


def test_rows_to_predict_that_cannot_be_used_are_named_and_marking_answers_them(fitted):
    new = np.array([[1.0, 5.0], [np.nan, 5.0]])
    with pytest.raises(ValueError, match="1 of 2 rows of X cannot be used: row 1"):
        fitted.predict(new)
    marked = PrivateClassifier(**DECLARED, missing="mark", steps=2).fit(X, Y)
    assert marked.predict(new).shape == (2,)


def test_frames_with_categories_dates_and_missing_values():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "age": [30.0, 60.0, None, 40.0] * 50,
            "ward": pandas.Categorical(["north", "south", "north", None] * 50),
            "town": ["a", "b", "c", "d"] * 50,
            "day": pandas.date_range("2024-01-01", periods=200),
        }
    )
    model = PrivateClassifier(
        records=200,
        classes=["well", "ill"],
        bounds={"age": (0, 120)},
        categories={"ward": ["north", "south"], "town": 16},
        schema={"columns": {"day": {"kind": "date", "min": "2024-01-01", "max": "2025-01-01"}}},
        missing="mark",
    )
    outcome = pandas.Series(["well", "ill"] * 100, name="outcome")
    model.fit(frame, outcome)
    assert list(model.classes_) == ["ill", "well"]
    assert list(model.feature_names_in_) == list(frame.columns)
    assert set(model.predict(frame)) <= {"well", "ill"}
    with pytest.raises(tacita.ArgumentTypeError, match="'day' of X holds dates"):
        model.set_params(schema=None, bounds={"age": (0, 120), "day": (0, 1)}).fit(frame, outcome)


def test_bounds_are_estimated_within_the_budget():
    rng = np.random.default_rng(3)
    table = rng.uniform(-4, 4, size=(5000, 1))
    model = PrivateClassifier(epsilon=4, records=5000, classes=[0, 1], estimate_bounds=True)
    model.fit(table, (table[:, 0] > 0).astype(int))
    assert float(model.epsilon_) <= 4
    assert "histogram" in model.run_.record


def test_declarations_from_the_data_are_marked_not_private():
    model = PrivateClassifier(declare_from_data=True, steps=3).fit(X, Y)
    assert not model.private_ and model.epsilon_.upper == float("inf")
    assert "NOT PRIVATE" in model.report_html() and "NOT PRIVATE" in repr(model.run_)


def test_a_folder_is_kept_if_it_is_asked_for(tmp_path):
    model = PrivateClassifier(**DECLARED, steps=2, folder=tmp_path / "run").fit(X, Y)
    assert tacita.Run.open(tmp_path / "run").epsilon == model.epsilon_
    with pytest.raises(tacita.RunError, match="exists already"):
        model.fit(X, Y)


def test_one_odd_class_in_a_list_leaves_out_one_record():
    """As an array of NumPy, all classes would become texts beside one, and no record would be left."""
    classes = [bool(y) for y in Y]
    model = PrivateClassifier(**{**DECLARED, "classes": [False, True]})
    model.fit(X.tolist(), [*classes[:-1], "perhaps"])
    assert model.score(X, Y == 1) > 0.9


def test_a_class_is_the_same_as_a_number_and_as_a_text():
    model = PrivateClassifier(**{**DECLARED, "classes": ["0", "1"]}).fit(X, Y)
    assert model.score(X, Y.astype(str)) > 0.9


def test_booleans_are_numbers():
    model = PrivateClassifier(**{**DECLARED, "bounds": (0, 1)}).fit(X > 5, Y)
    assert model.score(X > 5, Y) > 0.9


def test_a_column_of_a_wrong_type_is_an_error_and_one_of_texts_a_warning():
    pandas = pytest.importorskip("pandas")
    column = pandas.Series(["1"] * 400)
    for wrong, words in [
        (pandas.Series(pandas.date_range("2024-01-01", periods=400)), "'a' of X holds dates"),
        (pandas.Series(pandas.to_timedelta(range(400), unit="s")), "times or durations"),
        (column.astype("category"), "'a' of X holds categories"),
    ]:
        with pytest.raises(tacita.ArgumentTypeError, match=words):
            PrivateClassifier(**DECLARED).fit(pandas.DataFrame({"a": wrong}), Y)
    # One cell that is no number may have made texts of them all, so it must not decide whether the fit succeeds.
    with pytest.warns(tacita.RunWarning, match="'a' of X has a type of texts"):
        table = pandas.DataFrame({"a": column.astype("string")})
        assert PrivateClassifier(**DECLARED, steps=2).fit(table, Y).private_


def test_what_scikit_learn_refuses_is_an_exception_of_ours():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(tacita.ArgumentTypeError, match="string names"):
        PrivateClassifier(**DECLARED).fit(pandas.DataFrame({0: X[:, 0], "b": X[:, 1]}), Y)
    with pytest.raises(tacita.ArgumentError, match="1d array"):
        PrivateClassifier(**DECLARED).fit(X, np.c_[Y, Y])
    with pytest.raises(tacita.ArgumentError, match="0 feature"):
        PrivateClassifier(**DECLARED).fit(X[:, :0], Y)
