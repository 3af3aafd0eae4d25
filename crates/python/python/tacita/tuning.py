"""What choosing among runs costs."""

from __future__ import annotations

from collections.abc import Sequence

from . import _tacita
from ._arguments import choice, number, positive, probability
from .bracket import Bracket
from .errors import ArgumentError
from .ledger import Ledger, _core

__all__ = ["tuning_cost"]

_SHAPES = {"geometric": 1.0, "logarithmic": 0.0}


def tuning_cost(
    run: Ledger | Sequence[Ledger],
    *,
    mean: float,
    delta: float,
    distribution: str = "logarithmic",
    shape: float | None = None,
) -> Bracket:
    """ε of publishing the best of a random, secret number of runs (Papernot & Steinke 2022, arXiv:2110.03620).

    The number of runs is drawn before the search and kept secret, the settings of every run are drawn afresh, and only
    the best run is published. If every run is published, the cost is that of
    :meth:`Ledger.compose` of all of them instead.

    Args:
        run: What one run releases, or the ledgers of all settings that may be drawn.
        mean: Expected number of runs.
        delta: δ.
        distribution: ``"logarithmic"``, ``"geometric"``, ``"poisson"``, or ``"negative-binomial"`` with ``shape`` η.
        shape: η > −1 of the truncated negative binomial distribution.

    >>> import tacita
    >>> run = tacita.Ledger()
    >>> run.add(noise=1.5, rate=0.01, steps=1000)
    >>> one, best = run.epsilon(1e-5), tacita.tuning_cost(run, mean=10, delta=1e-5)
    >>> float(one) < float(best) < 3 * float(one)
    True
    """
    known = ("logarithmic", "geometric", "poisson", "negative-binomial")
    choice("distribution", distribution, known)
    if (shape is not None) != (distribution == "negative-binomial"):
        raise ArgumentError('shape goes with distribution="negative-binomial"')
    runs = [run] if isinstance(run, Ledger) else list(run)
    eta = _SHAPES.get(distribution, 0.0) if shape is None else number("shape", shape)
    kind = "poisson" if distribution == "poisson" else "negative-binomial"
    ends = _tacita.best_of(
        [_core(each) for each in runs],
        kind,
        positive("mean", mean),
        eta,
        probability("delta", delta),
    )
    return Bracket(*ends)
