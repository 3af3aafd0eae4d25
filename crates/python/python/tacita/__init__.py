"""Certified differential-privacy accounting.

>>> import tacita
>>> eps = tacita.epsilon(noise=1.1, rate=256 / 60_000, steps=4_700, delta=1e-5)
>>> print(f"ε ≤ {eps:.4g}")
ε ≤ 1.321
>>> found = tacita.calibrate(epsilon=3, delta=1e-5, records=60_000, batch=512, epochs=20)
>>> float(found.epsilon) <= 3
True

Training is `train`, `resume`, `predict`, `tune` and `check_data` over run folders, and :class:`PrivateClassifier` and
:class:`PrivateRegressor` with the interface of scikit-learn.

Every ε and δ is a proved bracket (:class:`Bracket`), floating point included; ``float()`` is its upper end, the
guarantee. Every exception is a :class:`TacitaError`.
"""

from typing import TYPE_CHECKING, Any

from ._tacita import VERSION as __version__
from .accounting import delta, delta_of_mu, epsilon, epsilon_of_mu, mu_of_budget
from .bracket import Bracket, BracketArray
from .calibration import Calibration, CalibrationArray, calibrate, most_steps
from .certificates import Certificate, Finding, certify
from .errors import (
    ArgumentError,
    ArgumentTypeError,
    BudgetError,
    HistoryError,
    InternalError,
    LedgerError,
    ProgramError,
    RunError,
    RunWarning,
    Stopped,
    TacitaError,
    UnsupportedError,
)
from .exporting import export_history
from .ledger import GdpMu, Ledger, Round
from .planning import Plan, PlanCheck, PlannedStep, plan
from .tuning import tuning_cost

if TYPE_CHECKING:
    from .estimators import PrivateClassifier, PrivateRegressor
    from .predictions import Predictions
    from .runs import Run
    from .searches import Search
    from .training import check_data, predict, resume, train, tune

#: Loaded when they are first used, so that an import stays quick and needs no scikit-learn.
_LATER = {
    "PrivateClassifier": "estimators",
    "PrivateRegressor": "estimators",
    "Predictions": "predictions",
    "Run": "runs",
    "Search": "searches",
    "check_data": "training",
    "predict": "training",
    "resume": "training",
    "train": "training",
    "tune": "training",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'tacita' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"tacita.{_LATER[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "Bracket",
    "BracketArray",
    "BudgetError",
    "Calibration",
    "CalibrationArray",
    "Certificate",
    "Finding",
    "GdpMu",
    "HistoryError",
    "InternalError",
    "Ledger",
    "LedgerError",
    "Plan",
    "PlanCheck",
    "PlannedStep",
    "Predictions",
    "PrivateClassifier",
    "PrivateRegressor",
    "ProgramError",
    "Round",
    "Run",
    "RunError",
    "RunWarning",
    "Search",
    "Stopped",
    "TacitaError",
    "UnsupportedError",
    "__version__",
    "calibrate",
    "certify",
    "check_data",
    "delta",
    "delta_of_mu",
    "epsilon",
    "epsilon_of_mu",
    "export_history",
    "most_steps",
    "mu_of_budget",
    "plan",
    "predict",
    "resume",
    "train",
    "tune",
    "tuning_cost",
]
