"""The least noise that keeps a budget, or what fits into it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _tacita
from ._arguments import choice, is_array, numbers, positive, probability, rate_of, steps_of, whole
from .accounting import ACCOUNTANTS, swept
from .bracket import Bracket, BracketArray, up
from .errors import ArgumentError, ArgumentTypeError
from .ledger import Ledger

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ._arguments import Numbers

__all__ = ["Calibration", "CalibrationArray", "calibrate", "most_steps"]


class Calibration:
    """Noise that keeps a budget; ``float(calibration)`` is the noise multiplier.

    The multiplier is rounded up to eight digits, and ``epsilon`` is that of the rounded one.
    """

    __slots__ = ("_epsilon", "_ledger", "_noise", "_side_noise", "_spent_steps")

    def __init__(
        self,
        noise: float,
        side_noise: float | None,
        epsilon: Bracket,
        ledger: Ledger,
        spent_steps: int,
    ) -> None:
        self._noise = noise
        self._side_noise = side_noise
        self._epsilon = epsilon
        self._ledger = ledger
        self._spent_steps = spent_steps

    @property
    def noise(self) -> float:
        """The noise multiplier of constant noise; 1/μ₀ of growing μ; what a shape is multiplied by."""
        return self._noise

    @property
    def side_noise(self) -> float | None:
        """The noise multiplier of the side query, in the same proportion to the noise in every step."""
        return self._side_noise

    @property
    def epsilon(self) -> Bracket:
        """What the accountant proves of it."""
        return self._epsilon

    @property
    def ledger(self) -> Ledger:
        """The rounds, after those that were spent before."""
        return self._ledger

    def noises(self) -> npt.NDArray[np.float64]:
        """The noise multiplier of each step.

        >>> import tacita
        >>> found = tacita.calibrate(epsilon=1, delta=1e-5, rate=0.01, steps=4, growing_mu=2)
        >>> noises = found.noises()
        >>> round(float(noises[0] / noises[-1]), 3)  # from 2^(-1/4) to 2^(-1)
        1.682
        """
        return query_noises(self._ledger, self._spent_steps, 0)

    def __float__(self) -> float:
        return self._noise

    def __repr__(self) -> str:
        side = "" if self._side_noise is None else f", side_noise={self._side_noise!r}"
        return f"Calibration(noise={self._noise!r}{side}, epsilon={self._epsilon!r})"

    def __str__(self) -> str:
        side = "" if self._side_noise is None else f", side query {up(self._side_noise)}"
        return f"noise multiplier {up(self._noise)}{side}: ε {self._epsilon}"


class CalibrationArray:
    """Calibrations of a sweep.

    >>> import tacita
    >>> table = tacita.calibrate(epsilon=[1.0, 2.0, 4.0], delta=1e-5, rate=0.01, steps=1000)
    >>> bool((table.epsilon.upper <= [1.0, 2.0, 4.0]).all())
    True
    """

    __slots__ = ("_epsilon", "_noise")

    def __init__(self, noise: npt.NDArray[np.float64], epsilon: BracketArray) -> None:
        self._noise = noise
        self._epsilon = epsilon

    @property
    def noise(self) -> npt.NDArray[np.float64]:
        """Noise multipliers."""
        return self._noise

    @property
    def epsilon(self) -> BracketArray:
        """What the accountant proves of each."""
        return self._epsilon

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        import numpy as np

        return np.array(self._noise, dtype=dtype, copy=True if copy is None else copy)

    def __repr__(self) -> str:
        return f"CalibrationArray(noise={self._noise!r}, epsilon={self._epsilon!r})"


def calibrate(
    *,
    epsilon: Numbers,
    delta: Numbers,
    rate: Numbers | None = None,
    steps: Numbers | None = None,
    records: Numbers | None = None,
    batch: Numbers | None = None,
    epochs: Numbers | None = None,
    growing_mu: Numbers | None = None,
    shape: Numbers | None = None,
    side_noise: Numbers | None = None,
    side_increase: Numbers | None = None,
    spent: Ledger | None = None,
    records_per_unit: int | None = None,
    accountant: str = "pld",
) -> Calibration | CalibrationArray:
    """The least noise whose proved ε is within the budget.

    If any argument but ``shape`` is an array, all are broadcast and the result is a :class:`CalibrationArray`.

    Args:
        epsilon: The budget's ε.
        delta: The budget's δ.
        rate, steps, records, batch, epochs: The plan, as for :func:`epsilon`.
        growing_mu: Let μ = 1/noise grow by this factor ρ over the run: the multiplier of step t of T is
            ``noise · ρ^(−t/T)``.
        shape: Relative noise multipliers, one for each step, in place of ``steps``.
        side_noise: Noise multiplier of a side query that every step asks too, say a count of clipped records.
        side_increase: Pay for a side query by raising the gradient's noise by this share, say 0.01.
        spent: Rounds made before, which count against the budget.
        records_per_unit: As for :func:`epsilon`; with ``spent``, that of ``spent``.
        accountant: ``"pld"``, ``"rdp"``, ``"tcdp"`` or ``"zcdp"``.

    >>> import tacita
    >>> found = tacita.calibrate(epsilon=3, delta=1e-5, records=60_000, batch=512, epochs=20)
    >>> found.epsilon.upper <= 3
    True
    >>> print(found)
    noise multiplier 0.89175: ε ≤ 3 (proved; the truth lies between 2.9997 and 3)
    """
    choice("accountant", accountant, ACCOUNTANTS)
    if spent is not None and not isinstance(spent, Ledger):
        raise ArgumentTypeError(f"spent must be a Ledger, got {type(spent).__name__}")
    arguments = {
        "epsilon": epsilon,
        "delta": delta,
        "rate": rate,
        "steps": steps,
        "records": records,
        "batch": batch,
        "epochs": epochs,
        "growing_mu": growing_mu,
        "side_noise": side_noise,
        "side_increase": side_increase,
        "records_per_unit": records_per_unit,
    }
    table = None if shape is None else numbers("shape", shape)

    def one(**given: Any) -> Calibration:
        return _calibrated(table, spent, accountant, **given)

    if not any(is_array(value) for value in arguments.values()):
        return one(**arguments)
    import numpy as np

    found, sizes = swept(one, arguments)

    def column(value: Any) -> npt.NDArray[np.float64]:
        return np.array([value(each) for each in found], dtype=np.float64).reshape(sizes)

    ends = BracketArray(column(lambda c: c.epsilon.lower), column(lambda c: c.epsilon.upper))
    return CalibrationArray(column(lambda c: c.noise), ends)


def most_steps(
    *,
    noise: float,
    epsilon: float,
    delta: float,
    rate: float | None = None,
    records: float | None = None,
    batch: float | None = None,
    side_noise: float | None = None,
    spent: Ledger | None = None,
    records_per_unit: int | None = None,
    accountant: str = "pld",
) -> int:
    """The most steps of this noise whose proved ε is within the budget, after those of ``spent``; 0 if none.

    >>> import tacita
    >>> steps = tacita.most_steps(noise=1.1, epsilon=3, delta=1e-5, rate=0.01)
    >>> float(tacita.epsilon(noise=1.1, rate=0.01, steps=steps, delta=1e-5)) <= 3
    True
    """
    choice("accountant", accountant, ACCOUNTANTS)
    before = _before(spent, records_per_unit)
    queries = [positive("noise", noise)]
    if side_noise is not None:
        queries.append(positive("side_noise", side_noise))
    return _tacita.most_steps(
        before._core,
        rate_of(rate, records, batch),
        queries,
        positive("epsilon", epsilon),
        probability("delta", delta),
        accountant,
    )


def query_noises(ledger: Ledger, after: int, query: int) -> npt.NDArray[np.float64]:
    """The noise multiplier of one query in each step that follows the first ``after``."""
    import numpy as np

    parts = []
    for each in ledger.rounds:
        left = max(0, each.times - after)
        after = max(0, after - each.times)
        if left:
            parts.append(np.full(left, each.noise[query]))
    return np.concatenate(parts)


def _before(spent: Ledger | None, records_per_unit: object) -> Ledger:
    """The ledger that the plan follows."""
    if spent is None:
        unit = 1 if records_per_unit is None else whole("records_per_unit", records_per_unit)
        return Ledger(records_per_unit=unit)
    if records_per_unit is not None:
        raise ArgumentError("records_per_unit is that of spent; do not give both")
    return spent


def _calibrated(
    table: list[float] | None,
    spent: Ledger | None,
    accountant: str,
    *,
    epsilon: object,
    delta: object,
    rate: object,
    steps: object,
    records: object,
    batch: object,
    epochs: object,
    growing_mu: object,
    side_noise: object,
    side_increase: object,
    records_per_unit: object,
) -> Calibration:
    budget = positive("epsilon", epsilon), probability("delta", delta)
    rate_given = rate_of(rate, records, batch)
    before = _before(spent, records_per_unit)
    if side_noise is not None and side_increase is not None:
        raise ArgumentError("give either side_noise or side_increase, not both")
    side = None if side_noise is None else positive("side_noise", side_noise)
    increase = None if side_increase is None else positive("side_increase", side_increase)
    growth = None if growing_mu is None else positive("growing_mu", growing_mu)
    if table is None:
        count = steps_of(steps, epochs, rate, records, batch)
    elif growth is not None or steps is not None or epochs is not None:
        raise ArgumentError(
            "shape has a noise for each step; give it without steps, epochs and growing_mu"
        )
    else:
        count = len(table)
    scale, ends, core = _tacita.smallest_noise(
        before._core, rate_given, count, *budget, accountant, growth, table, side, increase
    )
    noise = scale
    if increase is not None:
        # ν_g = (1 + share) ν and ν_q = (ν⁻² − ν_g⁻²)^(−1/2).
        noise = scale * (1.0 + increase)
        side = noise / (increase * (2.0 + increase)) ** 0.5
    return Calibration(noise, side, Bracket(*ends), Ledger._of(core), before.steps)
