"""Private estimators with the interface of scikit-learn. They need scikit-learn 1.6 or newer.

What depends on the records only reaches them through a certified mechanism: bounds, categories and classes are declared,
or estimated within the budget, and a record that cannot be used follows the declared rule while the fit continues.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from ._columns import text_of
from ._declarations import target_bounds
from ._estimating import PrivateEstimator
from .errors import ArgumentError, ArgumentTypeError

__all__ = ["PrivateClassifier", "PrivateRegressor"]


class PrivateClassifier(ClassifierMixin, PrivateEstimator):  # type: ignore[misc]
    """A classifier that is trained with a certified (ε, δ).

    Every call of ``fit`` is a run with a budget of its own: those on the same records add up. A score on private records
    is a release that is not part of the budget.

    Args:
        epsilon: The budget ε.
        delta: δ, by default 1 / (10 · records), rounded down.
        records: About how many records there are. Public; required.
        classes: The classes. Public; required. A record of another class is left out.
        bounds: Bounds of columns of numbers: (min, max) for all, two arrays, or a mapping of columns to pairs. Values
            beyond are taken for the bound.
        categories: For columns of categories their values, or a number of buckets into which values are hashed.
        schema: Declarations in full, as a file or a mapping.
        estimate_bounds: Columns that are not declared hold numbers, whose bounds are estimated within the budget.
        missing: ``"drop"`` leaves records with missing values out; ``"mark"`` makes "missing" an input of its own.
        model: ``"logistic"``, which is the default, or ``"mlp"``.
        hidden: Width of hidden layers.
        batch, epochs, steps, learning_rate, clipping, optimizer: As for ``tacita train``.
        settings: Any other setting of ``tacita train``, such as ``{"account": "patients"}``.
        folder: Keep the run folder here. A fit that was stopped can then be resumed.
        declare_from_data: Read declarations from the data. NOT PRIVATE, and everything is marked so.
        seed: Repeat a fit exactly. NOT PRIVATE, and everything is marked so.
        verbose: Show plan and progress.

    >>> import numpy as np
    >>> from tacita import PrivateClassifier
    >>> X = np.linspace(0, 10, 400).reshape(-1, 1)
    >>> y = X[:, 0] > 5
    >>> model = PrivateClassifier(epsilon=2, records=400, bounds=(0, 10), classes=[False, True])
    >>> model = model.fit(X, y)
    >>> float(model.epsilon_) <= 2
    True
    >>> model.predict([[0.5], [9.5]])
    array([False,  True])
    """

    def __init__(
        self,
        epsilon: float = 3.0,
        delta: float | None = None,
        *,
        records: int | None = None,
        classes: Any = None,
        bounds: Any = None,
        categories: Mapping[Any, Any] | None = None,
        schema: Any = None,
        estimate_bounds: bool = False,
        missing: str = "drop",
        model: str | None = None,
        hidden: int | None = None,
        batch: int | None = None,
        epochs: float | None = None,
        steps: int | None = None,
        learning_rate: float | None = None,
        clipping: str | None = None,
        optimizer: str | None = None,
        settings: Mapping[str, Any] | None = None,
        folder: Any = None,
        declare_from_data: bool = False,
        seed: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.records = records
        self.classes = classes
        self.bounds = bounds
        self.categories = categories
        self.schema = schema
        self.estimate_bounds = estimate_bounds
        self.missing = missing
        self.model = model
        self.hidden = hidden
        self.batch = batch
        self.epochs = epochs
        self.steps = steps
        self.learning_rate = learning_rate
        self.clipping = clipping
        self.optimizer = optimizer
        self.settings = settings
        self.folder = folder
        self.declare_from_data = declare_from_data
        self.seed = seed
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Noise that hides one record among fifty hides what fifty records have in common too.
        tags.classifier_tags.poor_score = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Trains on a table of records and the class of each."""
        return self._fit(X, y)

    def predict(self, X: Any) -> Any:
        """The likeliest class of each record."""
        shares = self._answers(X).probabilities
        return self.classes_[shares.argmax(axis=1)]

    def predict_proba(self, X: Any) -> Any:
        """The probability of each class, in the order of ``classes_``."""
        return self._answers(X).probabilities

    def _target(self, target: Any, label: str, schema: dict[str, Any]) -> list[Any]:
        of_schema = schema.get("label", {})
        classes = self.classes if self.classes is not None else of_schema.get("classes")
        if classes is None and self.declare_from_data:
            from sklearn.utils.multiclass import check_classification_targets

            check_classification_targets(target)
            classes = np.unique(target)
            if len(classes) < 2:
                raise ArgumentError("y has one class; a classifier needs at least two")
        if classes is None:
            raise ArgumentError(
                "classes is missing: declare the classes of y, which are not learned from private records. Nothing was "
                "spent"
            )
        if isinstance(classes, (str, bytes)) or not hasattr(classes, "__iter__"):
            raise ArgumentTypeError(f"classes must be a list, got {type(classes).__name__}")
        self.classes_ = np.unique(np.asarray(classes))
        texts = [text_of(one).strip() for one in self.classes_.tolist()]
        if len(texts) < 2 or len(set(texts)) < len(texts) or "" in texts:
            raise ArgumentError(f"classes must be at least two different values, got {classes!r}")
        known = dict(zip(self.classes_.tolist(), texts, strict=True))
        schema["label"] = {**of_schema, "column": label, "classes": texts}
        return [_known(value, known, set(texts)) for value in target.tolist()]


def _known(value: Any, known: Mapping[Any, str], texts: set[str]) -> str:
    """The text of a class; empty, by which its record is left out, if it is none. 1 and "1" are the same class."""
    try:
        found = known.get(value)
    except TypeError:
        return ""
    if found is None:
        text = text_of(value).strip()
        return text if text in texts else ""
    return found


class PrivateRegressor(RegressorMixin, PrivateEstimator):  # type: ignore[misc]
    """A model of a number, trained with a certified (ε, δ).

    It takes the arguments of :class:`PrivateClassifier`, without ``classes``.

    Args:
        target_bounds: Bounds (min, max) of the number. Public; required. Numbers beyond are taken for the bound.
        loss: ``"squared"``, or ``"huber"``, to which single far-off records matter less.

    >>> import numpy as np
    >>> from tacita import PrivateRegressor
    >>> X = np.linspace(0, 10, 1000).reshape(-1, 1)
    >>> model = PrivateRegressor(epsilon=5, records=1000, bounds=(0, 10), target_bounds=(0, 20))
    >>> model = model.fit(X, 2 * X[:, 0])
    >>> low, high = model.predict([[1.0], [9.0]])
    >>> bool(low < 10 < high)
    True
    """

    def __init__(
        self,
        epsilon: float = 3.0,
        delta: float | None = None,
        *,
        records: int | None = None,
        target_bounds: Any = None,
        loss: str = "squared",
        bounds: Any = None,
        categories: Mapping[Any, Any] | None = None,
        schema: Any = None,
        estimate_bounds: bool = False,
        missing: str = "drop",
        model: str | None = None,
        hidden: int | None = None,
        batch: int | None = None,
        epochs: float | None = None,
        steps: int | None = None,
        learning_rate: float | None = None,
        clipping: str | None = None,
        optimizer: str | None = None,
        settings: Mapping[str, Any] | None = None,
        folder: Any = None,
        declare_from_data: bool = False,
        seed: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.records = records
        self.target_bounds = target_bounds
        self.loss = loss
        self.bounds = bounds
        self.categories = categories
        self.schema = schema
        self.estimate_bounds = estimate_bounds
        self.missing = missing
        self.model = model
        self.hidden = hidden
        self.batch = batch
        self.epochs = epochs
        self.steps = steps
        self.learning_rate = learning_rate
        self.clipping = clipping
        self.optimizer = optimizer
        self.settings = settings
        self.folder = folder
        self.declare_from_data = declare_from_data
        self.seed = seed
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # As for classifiers: scikit-learn's checks have few records.
        tags.regressor_tags.poor_score = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Trains on a table of records and the number of each."""
        return self._fit(X, y)

    def predict(self, X: Any) -> Any:
        """The number of each record."""
        return np.asarray(self._answers(X).values, dtype=float)

    def _target(self, target: Any, label: str, schema: dict[str, Any]) -> list[Any]:
        of_schema = schema.get("label", {})
        pair = self.target_bounds
        if pair is None and "min" in of_schema and "max" in of_schema:
            pair = (of_schema["min"], of_schema["max"])
        if pair is None and self.declare_from_data:
            numbers = np.asarray(target, dtype=float)
            low, high = float(numbers.min()), float(numbers.max())
            pair = (low, high if high > low else low + 1.0)
        low, high = target_bounds(pair)
        loss = of_schema.get("loss", self.loss)
        schema["label"] = {**of_schema, "column": label, "min": low, "max": high, "loss": loss}
        return list(target.tolist())
