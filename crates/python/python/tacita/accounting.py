"""ε and δ of a plan, alone or in a sweep."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import _tacita
from ._arguments import (
    choice,
    is_array,
    not_negative,
    positive,
    probability,
    rate_of,
    steps_of,
    whole,
)
from .bracket import Bracket, BracketArray
from .errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from ._arguments import Numbers

__all__ = ["delta", "delta_of_mu", "epsilon", "epsilon_of_mu", "mu_of_budget"]

#: Accountants that prove what they say, the tightest first.
ACCOUNTANTS = ("pld", "rdp", "tcdp", "zcdp")


def epsilon(
    *,
    noise: Numbers,
    delta: Numbers,
    rate: Numbers | None = None,
    steps: Numbers | None = None,
    records: Numbers | None = None,
    batch: Numbers | None = None,
    epochs: Numbers | None = None,
    records_per_unit: int = 1,
    accountant: str = "pld",
) -> Bracket | BracketArray:
    """ε at ``delta`` of Gaussian noise over Poisson-sampled records, in add-or-remove-one.

    Both ends are proved, floating point included. If any argument is an array, all are broadcast as NumPy does and the
    result is a :class:`BracketArray`. For noise that changes from step to step, side queries or other sampling, build a
    :class:`Ledger`.

    Args:
        noise: Noise multiplier: noise standard deviation over sensitivity.
        delta: δ in (0, 1).
        rate: Probability with which each record takes part in a step, on its own. Or give ``records`` and ``batch``.
        steps: Number of steps. Or give ``epochs``.
        records: Number of records, public knowledge.
        batch: Expected records per step.
        epochs: Passes over the records: epochs/rate steps, rounded up.
        records_per_unit: Protect a person with up to this many records instead of one record.
        accountant: ``"pld"`` (a bracket), or ``"rdp"``, ``"tcdp"``, ``"zcdp"`` (upper bounds, so the lower end is 0).

    >>> import tacita
    >>> eps = tacita.epsilon(noise=1.0, records=60_000, batch=512, epochs=10, delta=1e-5)
    >>> print(eps)
    ≤ 1.6623 (proved; the truth lies between 1.6621 and 1.6623)
    >>> float(eps) == eps.upper
    True
    >>> tacita.epsilon(noise=[1.0, 2.0, 4.0], rate=0.01, steps=1000, delta=1e-5).upper.round(3).tolist()
    [1.828, 0.622, 0.272]
    """
    arguments = {
        "noise": noise,
        "delta": delta,
        "rate": rate,
        "steps": steps,
        "records": records,
        "batch": batch,
        "epochs": epochs,
        "records_per_unit": records_per_unit,
    }
    choice("accountant", accountant, ACCOUNTANTS)
    return bracketed(lambda **one: _epsilon(accountant, **one), arguments)


def delta(
    *,
    noise: Numbers,
    epsilon: Numbers,
    rate: Numbers | None = None,
    steps: Numbers | None = None,
    records: Numbers | None = None,
    batch: Numbers | None = None,
    epochs: Numbers | None = None,
    records_per_unit: int = 1,
    accountant: str = "pld",
) -> Bracket | BracketArray:
    """δ at ``epsilon``; otherwise as :func:`epsilon`.

    For many ε of one plan, :meth:`Ledger.curve` composes only once.

    >>> import tacita
    >>> at_two = tacita.delta(noise=1.0, rate=0.01, steps=1000, epsilon=2.0)
    >>> 2.6e-6 < at_two.lower <= at_two.upper < 2.7e-6
    True
    """
    arguments = {
        "noise": noise,
        "epsilon": epsilon,
        "rate": rate,
        "steps": steps,
        "records": records,
        "batch": batch,
        "epochs": epochs,
        "records_per_unit": records_per_unit,
    }
    choice("accountant", accountant, ACCOUNTANTS)
    return bracketed(lambda **one: _delta(accountant, **one), arguments)


def epsilon_of_mu(mu: float, delta: float) -> float:
    """ε of μ-Gaussian differential privacy at ``delta``, rounded up.

    >>> import tacita
    >>> round(tacita.epsilon_of_mu(1.0, delta=1e-6), 6)
    4.886554
    """
    return _tacita.epsilon_of_mu(positive("mu", mu), probability("delta", delta))


def delta_of_mu(mu: float, epsilon: float) -> float:
    """δ of μ-Gaussian differential privacy at ``epsilon``, rounded up.

    >>> import tacita
    >>> f"{tacita.delta_of_mu(1.0, epsilon=4.886554):.2g}"
    '1e-06'
    """
    return _tacita.delta_of_mu(positive("mu", mu), not_negative("epsilon", epsilon))


def mu_of_budget(epsilon: float, delta: float) -> float:
    """The largest μ whose Gaussian differential privacy keeps (ε, δ).

    >>> import tacita
    >>> round(tacita.mu_of_budget(4.886554117, 1e-6), 6)
    1.0
    """
    return _tacita.mu_of_budget(not_negative("epsilon", epsilon), probability("delta", delta))


def bracketed(
    one: Callable[..., tuple[float, float]], arguments: dict[str, Any]
) -> Bracket | BracketArray:
    """The bracket of a call, or those of every element of a broadcast one."""
    if not any(is_array(value) for value in arguments.values()):
        return Bracket(*one(**arguments))
    import numpy as np

    ends, shape = swept(one, arguments)
    array = np.array(ends, dtype=np.float64).reshape((*shape, 2))
    return BracketArray(array[..., 0].copy(), array[..., 1].copy())


def swept(one: Callable[..., Any], arguments: dict[str, Any]) -> tuple[list[Any], tuple[int, ...]]:
    """What a function returns for every element of the broadcast arguments, and their shape."""
    import numpy as np

    given = {name: np.asarray(value) for name, value in arguments.items() if value is not None}
    for name, array in given.items():
        if array.dtype.kind not in "iuf":
            raise ArgumentTypeError(f"{name} must hold numbers, got an array of {array.dtype}")
    try:
        arrays = dict(zip(given, np.broadcast_arrays(*given.values()), strict=True))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in given.items() if array.ndim)
        raise ArgumentError(f"shapes that do not fit together: {shapes}") from None
    shape = np.broadcast_shapes(*(array.shape for array in given.values()))
    results = []
    for index in np.ndindex(shape):
        values = {name: array[index].item() for name, array in arrays.items()}
        absent = {name: None for name in arguments if name not in values}
        try:
            results.append(one(**values, **absent))
        except ArgumentError as error:
            place = ", ".join(map(str, index))
            raise ArgumentError(f"{error} (at index {place})") from None
    return results, shape


def _ledger(
    noise: object,
    rate: object,
    steps: object,
    records: object,
    batch: object,
    epochs: object,
    records_per_unit: object,
) -> _tacita.Ledger:
    """The ledger of a plan of constant noise."""
    noise_given = positive("noise", noise)
    rate_given = rate_of(rate, records, batch)
    steps_given = steps_of(steps, epochs, rate, records, batch)
    unit = whole("records_per_unit", records_per_unit, most=2**32 - 1)
    ledger = _tacita.Ledger("add-or-remove-one", unit)
    ledger.push("poisson", [rate_given], [[noise_given]], steps_given)
    return ledger


def _epsilon(accountant: str, *, delta: object, **plan: object) -> tuple[float, float]:
    delta_given = probability("delta", delta)
    return _ledger(**plan).epsilon(delta_given, accountant)


def _delta(accountant: str, *, epsilon: object, **plan: object) -> tuple[float, float]:
    epsilon_given = not_negative("epsilon", epsilon)
    return _ledger(**plan).delta(epsilon_given, accountant)
