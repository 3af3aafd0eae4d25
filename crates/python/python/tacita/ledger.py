"""What a run releases: the only input of the accountants."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _tacita
from ._arguments import (
    choice,
    is_array,
    not_negative,
    numbers,
    positive,
    probability,
    rate_of,
    whole,
)
from .accounting import ACCOUNTANTS
from .bracket import Bracket, BracketArray, down, up
from .errors import ArgumentError, ArgumentTypeError, LedgerError

if TYPE_CHECKING:
    import os

    import numpy as np
    import numpy.typing as npt

    from ._arguments import Numbers

__all__ = ["GdpMu", "Ledger", "Round"]

#: How the ledger file of a training run begins.
_RUN_LEDGER = '{"tacita_ledger":'


class Round(NamedTuple):
    """Equal rounds in a row: how records were drawn, and the noise of each query of the draw."""

    #: ``"poisson"``, ``"full"``, ``"fixed-size"`` or ``"partition"``.
    sampling: str
    #: The numbers of the sampling: (rate,), (), (batch, records) or (batches,).
    numbers: tuple[float, ...]
    #: Noise multipliers of the queries that share a draw.
    noise: tuple[float, ...]
    #: How many such rounds follow one another.
    times: int


class GdpMu(NamedTuple):
    """μ of a whole ledger in Gaussian differential privacy."""

    #: μ.
    mu: float
    #: True if μ is a theorem for this ledger; otherwise it is the limit theorem's estimate, which guarantees nothing.
    is_exact: bool


class Ledger:
    """Rounds of releases, in order.

    Args:
        neighbours: ``"add-or-remove-one"`` (Poisson and full batches) or ``"replace-one"`` (fixed-size batches).
        records_per_unit: How many records the protected unit, say a person, may own.

    >>> import tacita
    >>> ledger = tacita.Ledger()
    >>> ledger.add(noise=1.1, rate=0.01, steps=500)
    >>> ledger.add(noise=2.2, side_noise=20.0, rate=0.01, steps=500)
    >>> ledger
    <Ledger: 1000 rounds of 2 kinds, add-or-remove-one>
    >>> float(ledger.epsilon(1e-5)) < 1.3
    True
    """

    __slots__ = ("_core",)

    def __init__(self, neighbours: str = "add-or-remove-one", records_per_unit: int = 1) -> None:
        choice("neighbours", neighbours, ("add-or-remove-one", "replace-one"))
        unit = whole("records_per_unit", records_per_unit, most=2**32 - 1)
        self._core = _tacita.Ledger(neighbours, unit)

    @classmethod
    def _of(cls, core: _tacita.Ledger) -> Ledger:
        ledger = cls.__new__(cls)
        ledger._core = core
        return ledger

    # -- building ---------------------------------------------------------------------------------

    def add(
        self,
        *,
        noise: Numbers,
        steps: int | None = None,
        sampling: str = "poisson",
        rate: float | None = None,
        records: float | None = None,
        batch: float | None = None,
        batches: int | None = None,
        side_noise: Numbers | None = None,
    ) -> None:
        """Appends rounds.

        Args:
            noise: Noise multiplier, in the ledger's relation: one number, or one for each step.
            steps: Number of rounds, by default as many as there are noise multipliers.
            sampling: ``"poisson"`` (with ``rate``, or ``records`` and ``batch``), ``"full"``, ``"fixed-size"`` (with
                ``records`` and ``batch``) or ``"partition"`` (with ``batches``; one round is a whole pass).
            side_noise: Noise multiplier of a second query of the same draw; one number, or one for each step.

        >>> import tacita
        >>> falling = tacita.Ledger()
        >>> falling.add(noise=[3.0, 2.0, 1.5], rate=0.01)
        >>> falling.steps
        3
        """
        kind = choice("sampling", sampling, ("poisson", "full", "fixed-size", "partition"))
        drawn = _numbers_of(kind, rate, records, batch, batches)
        columns = [_column("noise", noise)]
        if side_noise is not None:
            columns.append(_column("side_noise", side_noise))
        lengths = {len(column) for column in columns if len(column) > 1}
        if steps is not None:
            count = whole("steps", steps)
            lengths.discard(count)
            if lengths:
                raise ArgumentError(f"noise has {lengths.pop()} multipliers for {count} steps")
        elif len(lengths) > 1:
            raise ArgumentError("noise and side_noise have different lengths")
        else:
            count = lengths.pop() if lengths else 1
        if all(len(column) == 1 for column in columns):
            self._core.push(kind, drawn, [[column[0] for column in columns]], count)
            return
        full = [column if len(column) > 1 else column * count for column in columns]
        self._core.push(kind, drawn, [list(row) for row in zip(*full, strict=True)], 1)

    def __add__(self, other: object) -> Ledger:
        """Both, one after the other: what they cost together if they are about the same records."""
        if not isinstance(other, Ledger):
            return NotImplemented
        return Ledger.compose([self, other])

    @staticmethod
    def compose(ledgers: Iterable[Ledger]) -> Ledger:
        """All rounds of several ledgers, say of all runs of a grid, to be read as one.

        >>> import tacita
        >>> run = tacita.Ledger()
        >>> run.add(noise=2.0, rate=0.01, steps=100)
        >>> tacita.Ledger.compose([run, run, run]).steps
        300
        """
        return Ledger._of(_tacita.whole_grid([_core(ledger) for ledger in ledgers]))

    def prefix(self, steps: int) -> Ledger:
        """The first ``steps`` rounds."""
        return Ledger._of(self._core.prefix(whole("steps", steps, least=0)))

    def with_records_per_unit(self, records: int) -> Ledger:
        """The same rounds, read for units that own up to ``records`` records each.

        >>> import tacita
        >>> run = tacita.Ledger()
        >>> run.add(noise=2.0, rate=0.001, steps=1000)
        >>> float(run.with_records_per_unit(4).epsilon(1e-6)) > float(run.epsilon(1e-6))
        True
        """
        unit = whole("records", records, most=2**32 - 1)
        return Ledger._of(self._core.with_records_per_unit(unit))

    # -- reading and writing ----------------------------------------------------------------------

    @staticmethod
    def from_json(text: str) -> Ledger:
        """Reads a ledger; unknown keys are errors."""
        if not isinstance(text, str):
            raise ArgumentTypeError(f"text must be a string, got {type(text).__name__}")
        return Ledger._of(_tacita.Ledger.from_json(text))

    def to_json(self) -> str:
        """The ledger as one line of JSON, the form that ``tacita account --ledger`` reads.

        >>> import tacita
        >>> ledger = tacita.Ledger()
        >>> ledger.add(noise=4.0, rate=0.25, steps=10)
        >>> tacita.Ledger.from_json(ledger.to_json()) == ledger
        True
        """
        return self._core.to_json()

    @staticmethod
    def read(path: str | os.PathLike[str]) -> Ledger:
        """Reads a ledger file."""
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if text.startswith(_RUN_LEDGER):
            raise LedgerError(f"{path} is the ledger of a training run, not that of a plan")
        try:
            return Ledger.from_json(text)
        except LedgerError as error:
            raise LedgerError(f"{path}: {error}") from None

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes a ledger file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.to_json() + "\n")

    # -- what it says -----------------------------------------------------------------------------

    @property
    def neighbours(self) -> str:
        """How two data sets that must look alike may differ."""
        return self._core.neighbours

    @property
    def records_per_unit(self) -> int:
        """How many records the protected unit may own."""
        return self._core.records_per_unit

    @property
    def steps(self) -> int:
        """How many rounds there are in all."""
        return self._core.steps

    @property
    def rounds(self) -> list[Round]:
        """The rounds in order; equal ones in a row are counted together."""
        return [
            Round(kind, tuple(drawn), tuple(noise), times)
            for kind, drawn, noise, times in self._core.rounds()
        ]

    # -- accounting -------------------------------------------------------------------------------

    def epsilon(self, delta: Numbers, accountant: str = "pld") -> Bracket | BracketArray:
        """ε at δ.

        >>> import tacita
        >>> ledger = tacita.Ledger("replace-one")
        >>> ledger.add(noise=1.0, sampling="fixed-size", records=60_000, batch=512, steps=1172)
        >>> print(ledger.epsilon(1e-5, accountant="rdp"))
        ≤ 2.2509 (proved)
        """
        choice("accountant", accountant, ACCOUNTANTS)
        return _read(
            "delta", delta, lambda one: self._core.epsilon(probability("delta", one), accountant)
        )

    def delta(self, epsilon: Numbers, accountant: str = "pld") -> Bracket | BracketArray:
        """δ at ε. Several ε are read from one composition by :meth:`curve`."""
        choice("accountant", accountant, ACCOUNTANTS)
        return _read(
            "epsilon",
            epsilon,
            lambda one: self._core.delta(not_negative("epsilon", one), accountant),
        )

    def curve(self, epsilons: Numbers) -> BracketArray:
        """The privacy curve: δ at each ε, from one composition.

        >>> import numpy, tacita
        >>> ledger = tacita.Ledger()
        >>> ledger.add(noise=1.0, rate=0.01, steps=500)
        >>> deltas = ledger.curve(numpy.linspace(0.0, 3.0, 4))
        >>> bool((numpy.diff(deltas.upper) < 0).all())
        True
        """
        import numpy as np

        wanted = [
            not_negative(f"epsilons[{i}]", one) for i, one in enumerate(_flat("epsilons", epsilons))
        ]
        ends = np.array(self._core.curve(wanted), dtype=np.float64).reshape((len(wanted), 2))
        return BracketArray(ends[:, 0].copy(), ends[:, 1].copy())

    def trade_off(self, false_alarms: Numbers) -> npt.NDArray[np.float64]:
        """The trade-off function, from below: whoever wrongly names at most this share of outsiders misses at least
        the returned share of the records that took part, whatever the attack.

        Every point (ε, δ) of the proved privacy curve bounds a test (Kairouz, Oh and Viswanath 2015, Theorem 2.1), and
        the best of a grid of 200 is taken.

        >>> import tacita
        >>> ledger = tacita.Ledger()
        >>> ledger.add(noise=5.0, sampling="full", steps=25)  # 1-GDP: the truth at 0.05 is 0.7405
        >>> ledger.trade_off([0.0, 0.05, 1.0]).round(2).tolist()
        [1.0, 0.74, 0.0]
        """
        import numpy as np

        alphas = np.array(
            [_share(i, one) for i, one in enumerate(_flat("false_alarms", false_alarms))]
        )
        # Beyond this ε a point says nothing of a test that is worth making.
        end = max(1.0, self.epsilon(1e-9).upper)
        grid = np.linspace(0.0, min(float(end), 100.0), 200)
        delta, growth = self.curve(grid).upper[:, None], np.exp(grid)[:, None]
        direct = 1.0 - delta - growth * alphas
        reverse = (1.0 - delta - alphas) / growth
        # A handful of roundings, downwards.
        bound = np.maximum(direct, reverse).max(axis=0, initial=0.0) - 1e-12
        missed: npt.NDArray[np.float64] = np.clip(bound, 0.0, 1.0)
        return missed

    def gdp_mu(self) -> GdpMu:
        """μ of Gaussian differential privacy.

        Exact for full batches and partitions. With Poisson sampling it is the limit theorem's **estimate**, which lies
        below the truth in most settings and is never a guarantee.

        >>> import tacita
        >>> ledger = tacita.Ledger()
        >>> ledger.add(noise=5.0, sampling="full", steps=100)
        >>> mu = ledger.gdp_mu()
        >>> round(mu.mu, 9), mu.is_exact
        (2.0, True)
        """
        return GdpMu(*self._core.gdp_mu())

    # -- Python -----------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ledger):
            return NotImplemented
        return self._core.equals(other._core)

    __hash__ = None  # type: ignore[assignment]

    def __copy__(self) -> Ledger:
        return Ledger._of(self._core.copy())

    def __deepcopy__(self, memo: dict[int, Any]) -> Ledger:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return (Ledger.from_json, (self.to_json(),))

    def __repr__(self) -> str:
        unit = "" if self.records_per_unit == 1 else f", units of {self.records_per_unit} records"
        rounds = self.rounds
        if len(rounds) == 1:
            kind = f"{_drawn(rounds[0])}, noise {_noise(rounds[0])}"
            return f"<Ledger: {self.steps} rounds, {kind}, {self.neighbours}{unit}>"
        return f"<Ledger: {self.steps} rounds of {len(rounds)} kinds, {self.neighbours}{unit}>"


def _drawn(round: Round) -> str:
    match round.sampling, round.numbers:
        case "poisson", (rate,):
            return f"Poisson rate {up(rate)}"
        case "fixed-size", (batch, records):
            return f"{batch:.0f} of {records:.0f} records"
        case "partition", (batches,):
            return f"passes over {batches:.0f} batches"
    return "all records"


def _noise(round: Round) -> str:
    return " and ".join(down(one) for one in round.noise)


def _core(ledger: object) -> _tacita.Ledger:
    if not isinstance(ledger, Ledger):
        raise ArgumentTypeError(f"a Ledger was expected, got {type(ledger).__name__}")
    return ledger._core


def _numbers_of(
    kind: str, rate: object, records: object, batch: object, batches: object
) -> list[float]:
    """The numbers that belong to a kind of sampling, and no others."""
    wanted = {
        "poisson": ("rate", "records", "batch"),
        "full": (),
        "fixed-size": ("records", "batch"),
        "partition": ("batches",),
    }[kind]
    given = {"rate": rate, "records": records, "batch": batch, "batches": batches}
    for name, value in given.items():
        if value is not None and name not in wanted:
            raise ArgumentError(f'{name} does not belong to sampling="{kind}"')
    if kind == "poisson":
        return [rate_of(rate, records, batch)]
    if kind == "fixed-size":
        if records is None or batch is None:
            raise ArgumentError("fixed-size sampling needs records and batch")
        of = whole("records", records)
        return [float(whole("batch", batch, most=of)), float(of)]
    if kind == "partition":
        if batches is None:
            raise ArgumentError("partition sampling needs batches")
        return [float(whole("batches", batches))]
    return []


def _column(name: str, value: object) -> list[float]:
    return numbers(name, value) if is_array(value) else [positive(name, value)]


def _flat(name: str, values: object) -> list[Any]:
    import numpy as np

    array = np.asarray(values)
    if array.dtype.kind not in "iuf" or array.ndim > 1:
        raise ArgumentTypeError(f"{name} must be an array of numbers of one dimension")
    return array.reshape(-1).tolist()


def _share(index: int, value: object) -> float:
    share = not_negative(f"false_alarms[{index}]", value)
    if share > 1.0:
        raise ArgumentError(f"false_alarms[{index}] must be at most 1, got {share!r}")
    return share


def _read(name: str, value: object, one: Any) -> Bracket | BracketArray:
    from .accounting import bracketed

    return bracketed(lambda **given: one(given[name]), {name: value})
