"""Certified differential-privacy accounting.

>>> import tacita
>>> eps = tacita.epsilon(noise=1.1, rate=256 / 60_000, steps=4_700, delta=1e-5)
>>> print(f"ε ≤ {eps:.4g}")
ε ≤ 1.321
>>> found = tacita.calibrate(epsilon=3, delta=1e-5, records=60_000, batch=512, epochs=20)
>>> float(found.epsilon) <= 3
True

Every ε and δ is a proved bracket (:class:`Bracket`), floating point included; ``float()`` is its upper end, the
guarantee. Every exception is a :class:`TacitaError`.
"""

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
    TacitaError,
    UnsupportedError,
)
from .exporting import export_history
from .ledger import GdpMu, Ledger, Round
from .planning import Plan, PlanCheck, PlannedStep, plan
from .tuning import tuning_cost

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
    "Round",
    "TacitaError",
    "UnsupportedError",
    "__version__",
    "calibrate",
    "certify",
    "delta",
    "delta_of_mu",
    "epsilon",
    "epsilon_of_mu",
    "export_history",
    "most_steps",
    "mu_of_budget",
    "plan",
    "tuning_cost",
]
