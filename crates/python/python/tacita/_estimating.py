"""What the private estimators share: from arguments and a table to a run, and from a run to answers."""

from __future__ import annotations

import json
import os
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from . import _declarations
from ._arguments import positive, whole
from ._columns import name_of, objects_of
from ._settings import declared_of, kebab
from ._tables import Table, table_of
from .bracket import Bracket
from .errors import ArgumentError, ArgumentTypeError, RunError, Stopped, TacitaError
from .ledger import Ledger
from .predictions import Predictions
from .runs import Run
from .training import train

#: Beside the files of the run, in the folder of a saved estimator.
_SAVED = "estimator.json"


class PrivateEstimator(BaseEstimator):  # type: ignore[misc]
    """A model that is fitted by a run of its own."""

    run_: Run

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        # Records with missing values follow the declared rule.
        tags.input_tags.allow_nan = not self.declare_from_data
        tags.non_deterministic = self.seed is None and not self.declare_from_data
        return tags

    # -- fitting ----------------------------------------------------------------------------------

    def _fit(self, X: Any, y: Any) -> Self:
        if y is None:
            raise ArgumentError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        if self.declare_from_data and not isinstance(X, Mapping):
            # As other estimators do, and as no private one may: it refuses by single values.
            table = self._table(self._validated(X, y), reset=True)
        else:
            table = self._table(X, reset=True)
        if not table.names:
            raise ArgumentError("X has 0 feature(s): a minimum of 1 column is required")
        # A list would become an array of one type, so that one record changed how all others are read.
        as_is = isinstance(y, (list, tuple)) and not self.declare_from_data
        cells = objects_of(y) if as_is else y
        with _as_ours():
            target = column_or_1d(cells, warn=True)
        if len(target) != len(table):
            raise ArgumentError(f"X has {len(table)} records and y has {len(target)}")
        schema = self._schema()
        declared = schema.pop("columns", {})
        if self.declare_from_data:
            columns = _declarations.read_from(table, self._given(table, declared, estimate=True))
        else:
            columns = self._given(table, declared, estimate=self.estimate_bounds)
        _declarations.mark_missing(columns, self.missing)
        label = _free_name(getattr(y, "name", None), table)
        cells = self._target(target, label, schema)
        # Names of any kind are texts from here on.
        self._names = table.names
        schema = {**schema, "columns": columns}
        self.run_ = self._train(table.with_column(label, cells), schema, len(table))
        return self

    def _given(
        self, table: Table, declared: Mapping[str, Any], *, estimate: bool
    ) -> dict[str, dict[str, Any]]:
        columns = _declarations.columns(
            table,
            bounds=self.bounds,
            categories=self.categories,
            declared=declared,
            estimate_bounds=estimate,
        )
        if self.declare_from_data:
            # What was not declared is read.
            return {name: one for name, one in columns.items() if one.get("kind") != "numeric"}
        return columns

    def _target(self, target: Any, label: str, schema: dict[str, Any]) -> list[Any]:
        raise NotImplementedError

    def _train(self, table: Table, schema: dict[str, Any], count: int) -> Run:
        positive("epsilon", self.epsilon)
        if self.records is not None:
            whole("records", self.records)
        asked = kebab(self.settings or {})
        for name in ("epsilon", "delta", "model", "hidden", "batch", "epochs", "steps"):
            asked.setdefault(name, getattr(self, name))
        for name in ("learning_rate", "clipping", "optimizer", "seed"):
            asked.setdefault(name.replace("_", "-"), getattr(self, name))
        if asked.get("noise") is not None:
            asked["epsilon"] = None
        records = self.records if self.records is not None else schema.get("records")
        if self.declare_from_data:
            records = count if records is None else records
            # Marks the run NOT PRIVATE in every file of it.
            asked["seed"] = 0 if asked["seed"] is None else asked["seed"]
        if records is None:
            raise ArgumentError(
                "records is missing: declare about how many records there are, which is taken as public and may be "
                "rounded; len(X) publishes the exact number. Nothing was spent"
            )
        schema.pop("records", None)
        numeric = {"kind": "numeric"}
        estimated = any(
            numeric.items() <= c.items() and "min" not in c for c in schema["columns"].values()
        )
        asked.update({"records": records, "label": schema["label"]["column"]})
        asked["estimate-bounds"] = True if estimated else None
        if self.folder is not None:
            return self._run(asked, table, schema, Path(self.folder))
        with tempfile.TemporaryDirectory(prefix="tacita-") as place:
            try:
                return self._run(asked, table, schema, Path(place, "run"))._without_folder()
            except Stopped:
                raise Stopped(
                    "the fit stopped in order; what it released stays spent. With folder= a fit can be resumed by "
                    "tacita.resume"
                ) from None

    def _run(
        self, asked: Mapping[str, object], table: Table, schema: Mapping[str, Any], out: Path
    ) -> Run:
        return train(asked, data=table, schema=schema, out=out, verbose=bool(self.verbose))

    def _schema(self) -> dict[str, Any]:
        if self.schema is None:
            return {}
        if isinstance(self.schema, Mapping):
            return declared_of(self.schema)
        if isinstance(self.schema, (str, os.PathLike)):
            try:
                return declared_of(tomllib.loads(Path(self.schema).read_text(encoding="utf-8")))
            except (OSError, tomllib.TOMLDecodeError) as error:
                raise ArgumentError(f"schema cannot be read: {error}. Nothing was spent") from None
        raise ArgumentTypeError(
            f"schema must be a file or a mapping, got {type(self.schema).__name__}"
        )

    def _validated(self, X: Any, y: Any = None) -> Any:
        if hasattr(X, "columns") or hasattr(X, "column_names"):
            return X  # columns of several types
        with _as_ours():
            if y is None:
                return validate_data(self, X, reset=False)
            return validate_data(self, X, y, y_numeric=isinstance(self, RegressorMixin))[0]

    def _table(self, X: Any, *, reset: bool) -> Table:
        table = table_of("X", X)
        if isinstance(X, (Mapping, list, tuple)):
            if reset:
                self.n_features_in_ = len(table.names)
            elif len(table.names) != self.n_features_in_:
                raise ArgumentError(
                    f"X has {len(table.names)} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                    "features as input"
                )
            return table
        with _as_ours():
            validate_data(self, X, reset=reset, skip_check_array=True)
        return table

    # -- what was fitted --------------------------------------------------------------------------

    def _answers(self, X: Any) -> Predictions:
        check_is_fitted(self)
        if self.declare_from_data and not isinstance(X, Mapping):
            X = self._validated(X)
        table = self._table(X, reset=False).named(self._names)
        found = self.run_.predict(table)
        problems = found.problems
        if problems:
            shown = [f"row {place}: {words}" for place, words in list(problems.items())[:5]]
            raise RunError(
                f"{len(problems)} of {len(found)} rows of X cannot be used: {'; '.join(shown)}. "
                'missing="mark" answers rows with missing values; run_.predict answers all others'
            )
        return found

    @property
    def epsilon_(self) -> Bracket:
        """ε of the fit, proved; infinite if it is NOT PRIVATE."""
        check_is_fitted(self)
        return self.run_.epsilon

    @property
    def delta_(self) -> float:
        """δ of the guarantee."""
        check_is_fitted(self)
        return self.run_.delta

    @property
    def private_(self) -> bool:
        """Whether the guarantee holds: not with ``seed`` or ``declare_from_data``."""
        check_is_fitted(self)
        return self.run_.private

    @property
    def ledger_(self) -> Ledger:
        """Everything the fit was committed to release."""
        check_is_fitted(self)
        return self.run_.ledger

    def report_html(self) -> str:
        """The privacy report of the fit as a page."""
        check_is_fitted(self)
        return self.run_.report_html()

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes the fitted estimator into a new folder: the files of its run, and its arguments."""
        check_is_fitted(self)
        self.run_.save(folder)
        known = {
            "estimator": type(self).__name__,
            "parameters": self.get_params(deep=False),
            "columns": self._names,
            "feature_names": list(getattr(self, "feature_names_in_", [])),
            "classes": getattr(self, "classes_", None),
        }
        Path(folder, _SAVED).write_text(json.dumps(known, default=_plain, indent=2) + "\n")

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """The estimator that :meth:`save` wrote."""
        try:
            known = json.loads(Path(folder, _SAVED).read_text())
        except FileNotFoundError:
            raise RunError(
                f"{os.fspath(folder)} holds no estimator: there is no {_SAVED}"
            ) from None
        if known["estimator"] != cls.__name__:
            raise RunError(
                f"{os.fspath(folder)} holds a {known['estimator']}, not a {cls.__name__}"
            )
        made = cls(**known["parameters"])
        made.run_ = Run.open(folder)._without_folder()
        made._names = known["columns"]
        made.n_features_in_ = len(made._names)
        if known["feature_names"]:
            made.feature_names_in_ = np.asarray(known["feature_names"], dtype=object)
        if known["classes"] is not None:
            made.classes_ = np.asarray(known["classes"])
        return made


@contextmanager
def _as_ours() -> Iterator[None]:
    """Errors of scikit-learn's checks are exceptions of this package, with the same words."""
    try:
        yield
    except TacitaError:
        raise
    except TypeError as error:
        raise ArgumentTypeError(str(error)) from error
    except ValueError as error:
        raise ArgumentError(str(error)) from error


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise ArgumentTypeError(f"an argument of type {type(value).__name__} cannot be saved")


def _free_name(name: object, table: Table) -> str:
    """A name for the column to predict that no other column has."""
    found = name_of(name) or "target"
    while found in table.names:
        found += "_"
    return found
