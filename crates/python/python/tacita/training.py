"""Private training: `tacita train`, `resume`, `predict`, `tune` and `check` from Python."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ._memory import is_memory
from ._program import SOME_UNUSABLE, Finished, as_keywords, call
from ._settings import Files, as_file, document, document_of, kebab, put_data, settings_of
from ._tables import table_of
from .errors import ArgumentError, Stopped
from .predictions import Predictions
from .runs import Run
from .searches import Search

__all__ = ["check_data", "predict", "resume", "train", "tune"]

#: Called with the steps made, all steps, and an estimate of ε so far.
Progress = Callable[[int, int, float], object]

_Path = str | os.PathLike[str]


def train(
    settings: _Path | Mapping[str, object] | None = None,
    *,
    data: Any = None,
    test: Any = None,
    schema: _Path | Mapping[str, object] | None = None,
    out: _Path | None = None,
    verbose: bool = False,
    progress: Progress | None = None,
    **keywords: Any,
) -> Run:
    """Trains a model with a certified guarantee and writes a run folder.

    Everything ``tacita train`` can set is a keyword: ``epsilon``, ``label``, ``classes``, ``records``, ``model``,
    ``clipping``, ``test_share`` and so on; tables, texts and images by path are ``csv``, ``parquet``, ``jsonl`` (with
    ``text``) and ``images``. With ``text``, which names its column, a table of ``data`` is one of texts.

    Args:
        settings: A settings file, or its content as a mapping. Keywords take precedence.
        data: The name of a public data set, or a table: a pandas or polars frame, an Arrow table, an array or a mapping
            of columns. A table reaches the training process through memory; nothing is written to a disk.
        test: A file or folder of test records, or a table of them.
        schema: What is declared public about the data: a file, or its content as a mapping.
        out: The folder to make, by default the first free one of ``runs/NAME-1``, ``runs/NAME-2``, …
        verbose: Show the plan and the progress.
        progress: Called ten times with the steps made, all steps, and about the ε so far. If it raises an exception, the
            run stops in order and the exception is raised here.

    Raises:
        RunError: The run was refused, or ended early. The message says whether anything was spent.
        Stopped: Ctrl-C stopped it in order; ``resume`` it.

    >>> import tacita, tempfile
    >>> folder = tempfile.mkdtemp() + "/run"
    >>> run = tacita.train(data="digits", model="logistic", epsilon=8, steps=5, out=folder)
    >>> float(run.epsilon) <= 8
    True
    """
    asked = settings_of(settings, keywords)
    with Files() as files:
        put_data(asked, data, test, schema, files)
        words = ["train", files.add("settings", document(asked)), "--json"]
        if out is not None:
            words += ["--out", os.fspath(out)]
        return _trained(call(words, files=files.all, progress=progress, verbose=verbose))


def resume(
    folder: _Path | Run,
    *,
    data: Any = None,
    test: Any = None,
    verbose: bool = False,
    progress: Progress | None = None,
    **paths: Any,
) -> Run:
    """Resumes a run that stopped or died: what its ledger holds is spent, and nothing is spent twice.

    Args:
        folder: The folder of the run.
        data: The same records again, if they were a table, or their path if they have moved.
        test: The same for test records.
        paths: ``data_dir``, ``start`` and ``account``, if they have moved.

    >>> import tacita
    >>> tacita.resume("runs/patients-1", data=frame)  # doctest: +SKIP
    """
    words = ["resume", os.fspath(_folder(folder)), "--json"]
    with Files() as files:
        for name, value in (("data", data), ("test", test)):
            if value is None:
                continue
            if not isinstance(value, (str, os.PathLike)):
                value = as_file(name, value, Run.open(_folder(folder)).record["settings"], files)
            words += [f"--{name}", os.fspath(value)]
        for name, value in paths.items():
            if name not in ("data_dir", "start", "account"):
                raise ArgumentError(
                    f"resume has no argument {name}; it has data_dir, start and account"
                )
            words += ["--" + name.replace("_", "-"), os.fspath(value)]
        return _trained(call(words, files=files.all, progress=progress, verbose=verbose))


def predict(
    run: _Path | Run,
    data: Any,
    *,
    text: str | None = None,
    show_values: bool = False,
) -> Predictions:
    """What the model of a finished run says of new records.

    Args:
        run: A run, or its folder.
        data: A table with the columns that the model learned from, or a file or folder of tables, texts or images.
        text: The field or column of the text, if the input has several.
        show_values: Quote what is wrong with a record that cannot be used.

    >>> import tacita, tempfile
    >>> run = tacita.train(data={"x": [0.1, 0.9] * 50, "y": ["no", "yes"] * 50}, label="y", classes=["no", "yes"],
    ...                    schema={"columns": {"x": {"min": 0, "max": 1}}}, records=100, epsilon=3,
    ...                    out=tempfile.mkdtemp() + "/run")
    >>> tacita.predict(run, {"x": [0.1, 0.9]}).values
    ['no', 'yes']
    """
    opened = run if isinstance(run, Run) else Run.open(run)
    with Files() as files, opened._in_folder() as folder:
        words = ["predict", "--json"]
        if isinstance(data, (str, os.PathLike)):
            words += ["--input", os.fspath(data)]
        else:
            table = table_of("data", data)
            if len(table) == 0:
                return Predictions([], _outputs(opened))
            words += ["--input", files.add("data", table.csv()), "--input-format", "csv"]
            text = text or opened.record["settings"].get("text")
        if text is not None:
            words += ["--text", text]
        if show_values:
            words.append("--show-values")
        made = call([*words, str(folder)], files=files.all, accepted=(0, SOME_UNUSABLE))
        if made.interrupted:
            raise KeyboardInterrupt
    return Predictions._of_lines(made.output, _outputs(opened))


def tune(
    space: _Path | Mapping[str, Any],
    out: _Path,
    *,
    data: Any = None,
    test: Any = None,
    schema: _Path | Mapping[str, object] | None = None,
    verbose: bool = False,
) -> Search:
    """Searches for settings privately: one budget covers the whole search.

    Args:
        space: A search space: a file, or its content as a mapping (``mode``, ``choose-by``, ``settings``, ``grid`` or
            ``random``, and ``runs``).
        out: The folder of the search. An unfinished search in it is resumed.
        data: A table in place of the data of ``[settings]``.
        test: A table of test records, or their path.
        schema: What is declared public about the data: a file, or its content as a mapping.

    >>> import tacita
    >>> tacita.tune({"mode": "grid", "choose-by": "noisy-count",
    ...              "settings": {"label": "outcome", "epsilon": 3.0, "records": 5000},
    ...              "grid": {"learning-rate": [0.1, 1.0]}}, "searches/patients", data=frame)  # doctest: +SKIP
    """
    whole = document_of("space", space)
    shared = kebab(whole.get("settings", {}))
    with Files() as files:
        put_data(shared, data, test, schema, files)
        path = files.add("space", document({**whole, "settings": shared}))
        words = ["tune", path, "--out", os.fspath(out), "--json"]
        made = call(words, files=files.all, verbose=verbose)
    if made.interrupted:
        raise Stopped(
            f"the search stopped in order; tacita.tune with the same arguments and out={os.fspath(out)!r} resumes it"
        )
    return Search.open(out)


def check_data(
    settings: _Path | Mapping[str, object] | None = None,
    *,
    data: Any = None,
    test: Any = None,
    schema: _Path | Mapping[str, object] | None = None,
    show_values: bool = False,
    most: int = 20,
    **keywords: Any,
) -> str:
    """Lists the records that cannot be used, and counts those of each class. **NOT PRIVATE**: what it returns depends on
    single records, and is for the screen of somebody who may see them.

    It takes the arguments of :func:`train`, and ``show_values`` and ``most`` of ``tacita check``. Of a table in memory,
    line 2 is the first record.

    >>> import tacita
    >>> print(tacita.check_data(data={"x": [0.1, None], "y": ["no", "maybe"]}, label="y", classes=["no", "yes"],
    ...                         schema={"columns": {"x": {"min": 0, "max": 1}}}, records=100))  # doctest: +ELLIPSIS
    NOT PRIVATE: ...
    1 cannot be used and would be left out:
      data, line 3: column `x` is empty
    ...
    """
    asked = settings_of(settings, keywords)
    with Files() as files:
        put_data(asked, data, test, schema, files)
        words = ["check", files.add("settings", document(asked)), "--most", str(most)]
        made = call([*words, *(["--show-values"] * show_values)], files=files.all)
    if made.interrupted:
        raise KeyboardInterrupt
    return as_keywords(made.output.decode())


def _trained(made: Finished) -> Run:
    summary = json.loads(made.output) if made.output else None
    run = None
    if summary is not None:
        folder = Path(summary["folder"])
        _forget_memory(folder)
        run = Run.open(folder)
    if made.interrupted:
        if run is None:
            raise Stopped("the run was ended; what its ledger holds, if it has one, stays spent")
        raise Stopped(
            f"the run stopped in order; tacita.resume({str(run.folder)!r}) resumes it", run
        )
    assert run is not None
    return run


def _forget_memory(folder: Path) -> None:
    """Takes the paths of tables in memory, which lead nowhere any more, out of the operator's file."""
    file = folder.with_name(folder.name + ".operator.json")
    if not file.is_file():
        return
    known = json.loads(file.read_text())
    kept = {key: value for key, value in known.items() if not is_memory(value)}
    if kept == known:
        return
    if kept.keys() <= {"warning"}:
        file.unlink()
    else:
        file.write_text(json.dumps(kept, indent=2) + "\n")


def _folder(run: _Path | Run) -> Path:
    if not isinstance(run, Run):
        return Path(run)
    if run.folder is None:
        raise ArgumentError("the folder of this run was not kept")
    return run.folder


def _outputs(run: Run) -> list[str]:
    found: list[str] = run.record["preparation"]["classes"]
    return found
