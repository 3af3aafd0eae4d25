"""Thresholds and noise for optimisers of other libraries, step by step, and whether a run followed them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ._arguments import is_array, numbers, positive, steps_of
from .bracket import Bracket, down, up
from .calibration import Calibration, calibrate, query_noises
from .certificates import Certificate, certify
from .errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ._arguments import Numbers
    from .ledger import Ledger

__all__ = ["Plan", "PlanCheck", "PlannedStep", "plan"]

#: Deviations that are listed one by one.
_MOST_LISTED = 5


class PlannedStep(NamedTuple):
    """What one step of a plan must do."""

    #: Noise multiplier of the sum of clipped gradients: noise standard deviation over threshold.
    noise: float
    #: Clipping threshold; None if the plan leaves it open.
    threshold: float | None
    #: Noise multiplier of the side query of the same draw; None if there is none.
    side_noise: float | None

    @property
    def noise_std(self) -> float | None:
        """Noise standard deviation on the sum of clipped gradients."""
        return None if self.threshold is None else self.noise * self.threshold


class Plan:
    """Thresholds and noise of every step, whose ε is proved as a whole; see :func:`plan`."""

    __slots__ = ("_calibration", "_delta", "_noises", "_rate", "_side", "_spent", "_thresholds")

    def __init__(
        self,
        calibration: Calibration,
        delta: float,
        spent: int,
        thresholds: npt.NDArray[np.float64] | None,
    ) -> None:
        ledger = calibration.ledger
        last = ledger.rounds[-1]
        self._calibration = calibration
        self._delta = delta
        self._spent = spent
        self._rate = last.numbers[0]
        self._noises = query_noises(ledger, spent, 0)
        self._side = query_noises(ledger, spent, 1) if len(last.noise) > 1 else None
        self._thresholds = thresholds

    @property
    def epsilon(self) -> Bracket:
        """What is proved of a run that follows the plan."""
        return self._calibration.epsilon

    @property
    def delta(self) -> float:
        """δ."""
        return self._delta

    @property
    def rate(self) -> float:
        """The probability with which each record takes part in a step, on its own."""
        return self._rate

    @property
    def ledger(self) -> Ledger:
        """Every round, after those that were spent before."""
        return self._calibration.ledger

    @property
    def noises(self) -> npt.NDArray[np.float64]:
        """The noise multiplier of each step."""
        return self._noises.copy()

    @property
    def thresholds(self) -> npt.NDArray[np.float64] | None:
        """The clipping threshold of each step; None if the plan leaves them open."""
        return None if self._thresholds is None else self._thresholds.copy()

    @property
    def side_noises(self) -> npt.NDArray[np.float64] | None:
        """The noise multiplier of each step's side query; None if there is none."""
        return None if self._side is None else self._side.copy()

    def __len__(self) -> int:
        return len(self._noises)

    def __getitem__(self, step: int) -> PlannedStep:
        if not -len(self) <= step < len(self):
            raise IndexError(
                f"step {step} is not among the plan's {len(self)}, and what is released after them is not covered"
            )
        threshold = None if self._thresholds is None else float(self._thresholds[step])
        side = None if self._side is None else float(self._side[step])
        return PlannedStep(float(self._noises[step]), threshold, side)

    def __iter__(self) -> Iterator[PlannedStep]:
        return (self[step] for step in range(len(self)))

    def apply(self, optimizer: Any, step: int) -> PlannedStep:
        """Sets noise and threshold of an Opacus optimiser for one step, counted from 0; call it before ``step()``.

        >>> import tacita
        >>> class Optimizer:
        ...     noise_multiplier = 1.0
        ...     max_grad_norm = 1.0
        >>> optimizer = Optimizer()
        >>> plan = tacita.plan(epsilon=2, delta=1e-5, rate=0.01, steps=100, growing_mu=2, threshold=1, threshold_decay=4)
        >>> planned = plan.apply(optimizer, 99)
        >>> optimizer.max_grad_norm, optimizer.noise_multiplier == planned.noise
        (0.25, True)
        """
        planned = self[step]
        wanted = ["noise_multiplier"] + (["max_grad_norm"] if planned.threshold is not None else [])
        for name in wanted:
            if not hasattr(optimizer, name):
                kind = type(optimizer).__name__
                raise ArgumentTypeError(
                    f"optimizer must be an optimiser of Opacus, and {kind} has no {name}"
                )
        optimizer.noise_multiplier = planned.noise
        if planned.threshold is not None:
            optimizer.max_grad_norm = planned.threshold
        return planned

    def check(
        self,
        run: object,
        *,
        side_noise: Numbers | None = None,
        loader: object = None,
        optimizer: object = None,
    ) -> PlanCheck:
        """Whether a run followed the plan, from the history that the other library kept.

        A run is covered if it has no more steps than the plan, and none with less noise or a higher sampling rate:
        then its ε is at most that of the plan. What was shuffled is not covered.

        Args:
            run: Whatever :func:`certify` takes, say the accountant of Opacus.
            side_noise: Noise multipliers with which side queries were really answered, one number or one for each
                step; other libraries do not keep them.
            loader, optimizer: As for :func:`certify`.

        >>> import tacita
        >>> plan = tacita.plan(epsilon=2, delta=1e-5, rate=0.01, steps=3, growing_mu=2)
        >>> history = [(noise, 0.01, 1) for noise in plan.noises]
        >>> plan.check(history).covered
        True
        >>> print(plan.check([(0.1, 0.01, 3)]))
        NOT COVERED by the plan: 3 of 3 steps
          steps 0 to 2: noise multiplier 0.1 is less than planned
        """
        certificate = certify(run, delta=self._delta, loader=loader, optimizer=optimizer)
        return PlanCheck(self, certificate, *_compared(self, certificate, side_noise))

    def __repr__(self) -> str:
        return (
            f"<Plan: {len(self)} steps at rate {up(self._rate)}, noise {down(float(self._noises[0]))} to "
            f"{down(float(self._noises[-1]))}, ε {self.epsilon} at δ = {self._delta:g}>"
        )


class PlanCheck:
    """Whether a run followed a plan; true if the plan's ε holds for it."""

    __slots__ = ("_certificate", "_deviations", "_plan", "_steps", "_unknown")

    def __init__(
        self,
        plan: Plan,
        certificate: Certificate,
        deviations: list[str],
        unknown: list[str],
        steps: int,
    ) -> None:
        self._plan = plan
        self._certificate = certificate
        self._deviations = deviations
        self._unknown = unknown
        self._steps = steps

    @property
    def covered(self) -> bool:
        """Whether the plan's ε holds for what the history shows."""
        return not self._deviations and not self._unknown

    @property
    def deviations(self) -> list[str]:
        """Where the run released more than was planned."""
        return list(self._deviations)

    @property
    def unknown(self) -> list[str]:
        """What the history cannot show and was not given."""
        return list(self._unknown)

    @property
    def steps(self) -> int:
        """Steps in the history."""
        return self._steps

    @property
    def epsilon(self) -> Bracket | None:
        """The plan's ε if the run is covered by it, else None."""
        return self._plan.epsilon if self.covered else None

    @property
    def certificate(self) -> Certificate:
        """What is proved of the history itself, without side queries; see :func:`certify`."""
        return self._certificate

    def __bool__(self) -> bool:
        return self.covered

    def __str__(self) -> str:
        planned = len(self._plan)
        if self.covered:
            epsilon, delta = self._plan.epsilon, self._plan.delta
            return f"covered by the plan, {self._steps} of {planned} steps: ε {epsilon} at δ = {delta:g}"
        lines = [f"NOT COVERED by the plan: {self._steps} of {planned} steps"]
        more = len(self._deviations) - _MOST_LISTED
        lines += [f"  {line}" for line in self._deviations[:_MOST_LISTED]]
        lines += [f"  and {more} more deviations"] if more > 0 else []
        lines += [f"  unknown: {line}" for line in self._unknown]
        return "\n".join(lines)

    def __repr__(self) -> str:
        state = "covered" if self.covered else "NOT COVERED"
        return f"<PlanCheck: {state}, {self._steps} of {len(self._plan)} steps>"


def plan(
    *,
    epsilon: float,
    delta: float,
    rate: float | None = None,
    steps: int | None = None,
    records: float | None = None,
    batch: float | None = None,
    epochs: float | None = None,
    threshold: Numbers | None = None,
    threshold_decay: float | None = None,
    growing_mu: float | None = None,
    shape: Numbers | None = None,
    optimal: bool = False,
    side_noise: float | None = None,
    side_increase: float | None = None,
    spent: Ledger | None = None,
    records_per_unit: int | None = None,
    accountant: str = "pld",
) -> Plan:
    """A schedule of thresholds and noise, calibrated as a whole, to be fed to Opacus' optimiser step by step.

    For Opacus give ``rate=1 / len(loader)``, the rate that its engine really samples with, and ``steps``.

    Args:
        epsilon, delta: The budget of the whole run.
        rate, steps, records, batch, epochs: The size, as for :func:`epsilon`.
        threshold: Clipping threshold: one number, or one for each step. None leaves it to you; the noise multiplier is
            relative to it, so it may also be learned from what was released, as OSO does with its side query.
        threshold_decay: The threshold of step t = 1..T is ``threshold · ρ^(−t/T)`` for this ρ: the sensitivity decay of
            dynamic DP-SGD (Du et al. 2021).
        growing_mu, shape: How the noise multiplier changes, as for :func:`calibrate`.
        optimal: Noise standard deviation in proportion to √threshold: the least noise in all for these thresholds.
        side_noise, side_increase: A side query of each draw, say OSO's count, and who pays for it: as for
            :func:`calibrate`.
        spent, records_per_unit, accountant: As for :func:`calibrate`.

    >>> import tacita
    >>> plan = tacita.plan(epsilon=3, delta=1e-5, rate=1 / 118, steps=1180, growing_mu=2, threshold=1, threshold_decay=2)
    >>> float(plan.epsilon) <= 3
    True
    >>> first, last = plan[0], plan[-1]
    >>> round(first.noise / last.noise, 2), last.threshold
    (2.0, 0.5)
    """
    table = None if shape is None else numbers("shape", shape)
    count = len(table) if table is not None else steps_of(steps, epochs, rate, records, batch)
    thresholds = _thresholds(threshold, threshold_decay, count)
    length: dict[str, Any] = {"steps": count} if table is None else {"shape": table}
    if optimal:
        if thresholds is None or table is not None or growing_mu is not None:
            raise ArgumentError(
                "optimal noise follows thresholds: give threshold, and no other schedule"
            )
        length = {"shape": thresholds**-0.5}
    found = calibrate(
        epsilon=epsilon,
        delta=delta,
        rate=rate,
        records=records,
        batch=batch,
        growing_mu=growing_mu,
        side_noise=side_noise,
        side_increase=side_increase,
        spent=spent,
        records_per_unit=records_per_unit,
        accountant=accountant,
        **length,
    )
    if not isinstance(found, Calibration):
        raise ArgumentTypeError(
            "a plan is one run: give numbers, not arrays, but for shape and threshold"
        )
    return Plan(found, float(delta), 0 if spent is None else spent.steps, thresholds)


def _thresholds(threshold: object, decay: object, steps: int) -> npt.NDArray[np.float64] | None:
    import numpy as np

    if threshold is None:
        if decay is not None:
            raise ArgumentError("threshold_decay needs threshold, from which it starts")
        return None
    if is_array(threshold):
        if decay is not None:
            raise ArgumentError(
                "give threshold_decay with one threshold, not with one for each step"
            )
        table = np.array(numbers("threshold", threshold))
        if len(table) != steps:
            raise ArgumentError(f"threshold has {len(table)} numbers for {steps} steps")
        return table
    initial = positive("threshold", threshold)
    ratio = 1.0 if decay is None else positive("threshold_decay", decay)
    # Steps are counted from 1 (Du et al. 2021, eq. 12).
    return np.array([initial * ratio ** (-t / steps) for t in range(1, steps + 1)])


def _compared(
    plan: Plan, certificate: Certificate, side_noise: Numbers | None
) -> tuple[list[str], list[str], int]:
    """Deviations, what is unknown, and the number of steps made."""
    import numpy as np

    made = certificate.ledger
    if made is None:
        return ["nothing is private: " + certificate.findings[0].text], [], 0
    deviations: list[str] = []
    unknown: list[str] = []
    if made.neighbours != plan.ledger.neighbours:
        deviations.append(
            f"the history is about {made.neighbours}, the plan about {plan.ledger.neighbours}"
        )
    if made.records_per_unit < plan.ledger.records_per_unit:
        deviations.append(
            f"the history is about units of {made.records_per_unit} records, the plan of {plan.ledger.records_per_unit}"
        )
    if any(finding.kind == "batches-shuffled" for finding in certificate.findings):
        deviations.append("batches were shuffled, and the plan is about Poisson sampling")
    others = {each.sampling for each in made.rounds} - {"poisson"}
    if others:
        if not deviations:
            deviations.append(f"records were drawn otherwise: {', '.join(sorted(others))}")
        return deviations, unknown, made.steps
    steps = made.steps
    if steps > len(plan):
        deviations.append(f"steps {len(plan)} to {steps - 1} are past the plan's end")
    shared = min(steps, len(plan))
    kept = made.prefix(shared)
    noises = query_noises(kept, 0, 0)
    rates = np.concatenate([np.full(each.times, each.numbers[0]) for each in kept.rounds])
    planned = plan.noises[:shared]
    for first, last in _runs(noises < planned):
        least = float(noises[first:last].min())
        deviations.append(
            f"{_steps(first, last)}: noise multiplier {down(least)} is less than planned"
        )
    for first, last in _runs(rates > plan.rate):
        most = float(rates[first:last].max())
        deviations.append(
            f"{_steps(first, last)}: sampling rate {up(most)} is above the planned {down(plan.rate)}"
        )
    sides = plan.side_noises
    if any(len(each.noise) > 1 for each in kept.rounds):
        # In the history itself, as in a ledger of ours; read together, whatever the order of the queries.
        return _jointly(plan, kept, deviations), unknown, steps
    if sides is None:
        if side_noise is not None:
            deviations.append("the plan has no side query, and side_noise says that there was one")
    elif side_noise is None:
        unknown.append(
            "with which noise side queries were answered, which the history does not have; give side_noise"
        )
    else:
        given = np.array(
            numbers("side_noise", side_noise)
            if is_array(side_noise)
            else [positive("side_noise", side_noise)] * shared
        )
        if len(given) != steps and is_array(side_noise):
            raise ArgumentError(f"side_noise has {len(given)} numbers for {steps} steps")
        for first, last in _runs(given[:shared] < sides[:shared]):
            deviations.append(f"{_steps(first, last)}: the side query has less noise than planned")
    return deviations, unknown, steps


def _jointly(plan: Plan, kept: Ledger, deviations: list[str]) -> list[str]:
    """Deviations where all queries of a round are in the history."""
    planned = plan.ledger.rounds
    allowed = iter([each.noise for each in planned for _ in range(each.times)][-len(plan) :])
    step = 0
    for each in kept.rounds:
        for _ in range(each.times):
            wanted = next(allowed)
            if len(each.noise) > len(wanted) or any(
                made < least for made, least in zip(each.noise, wanted, strict=False)
            ):
                deviations.append(
                    f"step {step}: the queries of the round have less noise than planned"
                )
            step += 1
    return deviations


def _runs(where: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The first and the one after the last index of each stretch that is true."""
    import numpy as np

    edges = np.flatnonzero(np.diff(np.concatenate([[False], where, [False]]).astype(np.int8)))
    return [(int(first), int(last)) for first, last in edges.reshape(-1, 2)]


def _steps(first: int, last: int) -> str:
    return f"step {first}" if last == first + 1 else f"steps {first} to {last - 1}"
