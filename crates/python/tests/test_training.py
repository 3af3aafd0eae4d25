"""Runs, from settings to predictions, as child processes that end in order."""

import os
import pickle
import signal
import subprocess
import sys
import warnings

import numpy as np
import pytest
import tacita

#: A table of 400 records whose class is whether x is above a half.
TABLE = {
    "x": np.linspace(0, 1, 400),
    "place": ["north", "south"] * 200,
    "y": ["no"] * 200 + ["yes"] * 200,
}
SCHEMA = {
    "label": {"column": "y", "classes": ["no", "yes"]},
    "columns": {"x": {"min": 0, "max": 1}, "place": {"categories": ["north", "south"]}},
}


def trained(out, data=TABLE, **keywords):
    asked = {"schema": SCHEMA, "records": 400, "epsilon": 3, **keywords}
    return tacita.train(data=data, label="y", out=out, **asked)


def test_a_run_says_what_its_folder_says_and_the_ledger_proves_it(tmp_path):
    run = trained(tmp_path / "run", test_share=0.2, score_noise=5.0)
    assert run.private and run.is_finished and run.folder == tmp_path / "run"
    assert 2.9 < float(run.epsilon) <= 3
    # Proved again from the ledger. A part of δ is kept for the tail of the noise.
    again = run.ledger.epsilon(run.delta - run.facts["delta_reserved"])
    assert float(again) == pytest.approx(float(run.epsilon), rel=1e-9)
    assert run.accuracy is not None and "accuracy" in run.utility
    assert "ε ≤" in run.report_html()
    opened = tacita.Run.open(tmp_path / "run")
    assert opened.epsilon == run.epsilon == pickle.loads(pickle.dumps(run)).epsilon
    run.save(tmp_path / "copy")
    copy = tacita.Run.open(tmp_path / "copy")
    new = {"place": ["south", "north"], "x": [0.05, 0.95]}
    assert copy.predict(new).values == tacita.predict(run, new).values == ["no", "yes"]


def test_settings_come_from_a_file_a_mapping_and_keywords(tmp_path):
    file = tmp_path / "run.toml"
    file.write_text("data = 'digits'\nmodel = 'logistic'\nepsilon = 8.0\nsteps = 50\n")
    run = tacita.train(file, steps=5, out=tmp_path / "a", learning_rate=np.float64(0.25))
    assert run.record["settings"]["steps"] == 5
    assert run.record["settings"]["learning-rate"] == 0.25
    mapping = {"data": "digits", "model": "logistic", "epsilon": 8, "steps": 50}
    assert tacita.train(mapping, steps=5, out=tmp_path / "b").epsilon.upper <= 8


def test_a_table_reaches_no_disk_and_leaves_no_path(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    table = {**TABLE, "note": ["a-remark-nobody-declared"] * 400}
    schema = {**SCHEMA, "columns": {**SCHEMA["columns"], "note": {"kind": "ignored"}}}
    trained(tmp_path / "run", data=table, schema=schema)
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or b"a-remark" not in path.read_bytes(), path
        assert path.is_dir() or b"/proc/" not in path.read_bytes(), path
    assert not (tmp_path / "run.operator.json").exists()


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"epsilon": -1}, "epsilon"),
        ({"nonsense": 1}, "nonsense"),
        ({"label": "z"}, "'z'"),
        ({"schema": {"columns": {"x": {"min": 0, "max": 1}}}, "classes": ["no", "yes"]}, "place"),
        ({"schema": 3}, "schema"),
        ({"classes": "yes"}, "classes"),
        ({"csv": "a.csv"}, "csv"),
        ({"model": "cnn"}, "cnn"),
        ({"records": None}, "records"),
    ],
)
def test_what_is_wrong_with_a_call_is_an_exception_that_names_it(tmp_path, keywords, words):
    asked = {"label": "y", "schema": SCHEMA, "records": 400, "epsilon": 3, **keywords}
    with pytest.raises((tacita.TacitaError, TypeError), match=words) as caught:
        tacita.train(data=TABLE, out=tmp_path / "run", **asked)
    assert "--" not in str(caught.value) and "/proc/" not in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_single_records_stop_nothing(tmp_path):
    """A record that cannot be used, and any number of records, end like any other data."""
    bad = {
        "x": [None, float("nan"), float("inf"), "twelve", 0.5, 0.5, 0.5, "\udc80"],
        "place": ["north", "north", "north", "north", "west", None, "north", b"\xff"],
        "y": ["no", "no", "no", "no", "no", "no", "perhaps", None],
    }
    for number, data in enumerate(
        [
            bad,
            {name: cells[:1] for name, cells in TABLE.items()},
            {name: [] for name in TABLE},
            {name: list(cells) * 5 for name, cells in TABLE.items()},
        ]
    ):
        assert trained(tmp_path / str(number), data=data, steps=3).private


def test_predictions_keep_the_order_and_name_rows_that_cannot_be_used(tmp_path):
    run = trained(tmp_path / "run")
    found = run.predict({"x": [0.05, None, 0.95], "place": ["north", "a\nb", "south"]})
    assert len(found) == 3 and found.names == ["no", "yes"]
    assert found.values == ["no", None, "yes"]
    assert list(found.problems) == [1]
    shares = found.probabilities
    assert np.isnan(shares[1]).all() and shares[[0, 2]].sum(axis=1) == pytest.approx(1)
    assert len(run.predict({"x": [], "place": []})) == 0
    file = tmp_path / "new.csv"
    file.write_text("x,place\n0.05,north\n")
    assert tacita.predict(tmp_path / "run", file).values == ["no"]


@pytest.fixture
def ctrl_c():
    """Shells start programs in the background with Ctrl-C ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_stops_a_run_in_order_and_it_is_resumed(tmp_path):
    def stop(step, steps, epsilon):
        assert 0 < step <= steps == 2000 and epsilon >= 0
        if step == 200:
            os.kill(os.getpid(), signal.SIGINT)

    asked = {"model": "mlp", "steps": 2000, "batch": 100}
    with pytest.raises(tacita.Stopped) as stopped:
        trained(tmp_path / "run", progress=stop, **asked)
    assert not isinstance(stopped.value, Exception)
    partial = stopped.value.run
    assert partial.folder == tmp_path / "run" and not partial.is_finished
    with pytest.raises(tacita.RunError, match="data"):
        tacita.resume(partial)
    run = tacita.resume(partial, data=TABLE)
    assert run.is_finished and float(run.epsilon) <= 3


def test_an_exception_of_the_callers_progress_stops_the_run_in_order_and_comes_back(tmp_path):
    def refuse(step, steps, epsilon):
        raise ZeroDivisionError("enough")

    with pytest.raises(ZeroDivisionError, match="enough"):
        trained(tmp_path / "run", progress=refuse, model="mlp", steps=2000, batch=100)
    assert not tacita.Run.open(tmp_path / "run").is_finished


def test_texts_of_a_table_are_learned_from_and_answered(tmp_path):
    texts = ["what a lovely film", "a dreadful bore"] * 150
    asked = {"text": "review", "label": "stars", "classes": [1, 5], "records": 300, "epsilon": 8}
    table = {"review": texts, "stars": [5, 1] * 150}
    run = tacita.train(data=table, out=tmp_path / "run", steps=30, **asked)
    assert run.predict({"review": ["lovely film", "dreadful"]}).values == ["5", "1"]
    with pytest.raises(tacita.ArgumentError, match="no column 'body', which text names"):
        tacita.train(data=table, **{**asked, "text": "body"})


def test_a_search_is_one_budget(tmp_path):
    space = {
        "mode": "grid",
        "choose-by": "noisy-count",
        "settings": {"label": "y", "records": 400, "epsilon": 3, "test_share": 0.2, "steps": 3},
        "grid": {"learning-rate": [0.1, 1.0]},
    }
    space["settings"]["score-noise"] = 10.0
    search = tacita.tune(space, tmp_path / "search", data=TABLE, schema=SCHEMA)
    assert search.private and float(search.epsilon) <= 3 and search.winner.is_finished
    # Its own would not pay for the choice.
    assert float(search.winner.epsilon) == float(search.epsilon)
    assert tacita.Search.open(tmp_path / "search").delta == search.delta
    assert "<html" in search.report_html()


def test_checks_say_that_they_are_not_private():
    data = {**TABLE, "x": [None, *TABLE["x"][1:]]}
    text = tacita.check_data(data=data, label="y", schema=SCHEMA, records=400, most=3)
    assert text.startswith("NOT PRIVATE") and "data, line 2: column `x`" in text


def test_a_name_like_an_identifier_is_warned_of(tmp_path):
    data = {"id": range(100), "y": ["no", "yes"] * 50}
    schema = {"columns": {"id": {"min": 0, "max": 100}}}
    with pytest.warns(tacita.RunWarning, match="identifier"):
        tacita.train(
            data=data, label="y", classes=["no", "yes"], schema=schema, records=100, steps=2,
            out=tmp_path / "run",
        )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trained(tmp_path / "other", steps=2)


def test_a_seed_marks_everything_not_private(tmp_path):
    run = trained(tmp_path / "run", seed=1, steps=2)
    assert not run.private and run.epsilon.upper == float("inf")
    assert "NOT PRIVATE" in repr(run)


def test_the_program_is_installed_and_one_that_is_missing_is_an_exception(tmp_path, monkeypatch):
    from tacita._program import program

    monkeypatch.delenv("TACITA_PROGRAM", raising=False)
    made = subprocess.run([program(), "--version"], capture_output=True, text=True, check=True)
    assert made.stdout == f"tacita {tacita.__version__}\n"
    monkeypatch.setenv("TACITA_PROGRAM", str(tmp_path / "none"))
    with pytest.raises(tacita.ProgramError, match="cannot run"):
        tacita.check_data(data="digits")


def test_an_import_loads_nothing_that_training_needs():
    code = "import sys, tacita; print([m for m in ('numpy', 'sklearn', 'subprocess') if m in sys.modules])"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert made.stdout == "[]\n"
