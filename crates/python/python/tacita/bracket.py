"""Values with both ends proved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

from . import _tacita

__all__ = ["Bracket", "BracketArray"]


class Bracket:
    """A value that lies between two proved ends.

    The guarantee is the upper end, and so is ``float(bracket)``. An accountant that proves only an upper bound gives 0
    for the lower end. Text is rounded outwards: what is printed is proved too.

    >>> from tacita import Bracket
    >>> epsilon = Bracket(1.66211, 1.66222)
    >>> float(epsilon)
    1.66222
    >>> print(epsilon)
    ≤ 1.6623 (proved; the truth lies between 1.6621 and 1.6623)
    >>> f"{epsilon:.3g}"
    '1.67'
    """

    __slots__ = ("_lower", "_upper")

    def __init__(self, lower: float, upper: float) -> None:
        if not 0.0 <= lower <= upper:
            from .errors import ArgumentError

            raise ArgumentError(f"a bracket needs 0 <= lower <= upper, got {lower!r} and {upper!r}")
        self._lower = float(lower)
        self._upper = float(upper)

    @property
    def lower(self) -> float:
        """The proved lower end; 0 where only an upper bound is proved."""
        return self._lower

    @property
    def upper(self) -> float:
        """The proved upper end: the guarantee."""
        return self._upper

    def __float__(self) -> float:
        return self._upper

    def __iter__(self) -> Iterator[float]:
        return iter((self._lower, self._upper))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Bracket):
            return NotImplemented
        return (self._lower, self._upper) == (other._lower, other._upper)

    def __hash__(self) -> int:
        return hash((self._lower, self._upper))

    def __repr__(self) -> str:
        return f"Bracket(lower={self._lower!r}, upper={self._upper!r})"

    def __str__(self) -> str:
        upper = up(self._upper)
        if self._lower == 0.0:
            return f"≤ {upper} (proved)"
        return f"≤ {upper} (proved; the truth lies between {down(self._lower)} and {upper})"

    def __format__(self, spec: str) -> str:
        """The upper end, rounded up to the digits asked for: ``.4g`` or ``.3f``."""
        return str(self) if spec == "" else _formatted(self._upper, spec)

    def __getnewargs__(self) -> tuple[float, float]:
        return (self._lower, self._upper)

    def __reduce__(self) -> tuple[type[Bracket], tuple[float, float]]:
        return (Bracket, (self._lower, self._upper))


class BracketArray:
    """Brackets of a sweep: two NumPy arrays of one shape.

    ``numpy.asarray(brackets)`` is the array of upper ends, which are the guarantees; in a shorter floating-point type they
    are rounded up.

    >>> import tacita
    >>> sweep = tacita.epsilon(noise=[1.0, 2.0], rate=0.01, steps=1000, delta=1e-5)
    >>> sweep.shape
    (2,)
    >>> bool(sweep.upper[0] > sweep.upper[1])
    True
    """

    __slots__ = ("_lower", "_upper")

    def __init__(self, lower: npt.NDArray[np.float64], upper: npt.NDArray[np.float64]) -> None:
        self._lower = lower
        self._upper = upper

    @property
    def lower(self) -> npt.NDArray[np.float64]:
        """Proved lower ends."""
        return self._lower

    @property
    def upper(self) -> npt.NDArray[np.float64]:
        """Proved upper ends: the guarantees."""
        return self._upper

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of both arrays."""
        return self._upper.shape

    def __len__(self) -> int:
        return len(self._upper)

    def __getitem__(self, index: Any) -> Bracket | BracketArray:
        lower, upper = self._lower[index], self._upper[index]
        if getattr(upper, "ndim", 0) == 0:
            return Bracket(float(lower), float(upper))
        return BracketArray(lower, upper)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        import numpy as np

        upper = np.array(self._upper, dtype=dtype, copy=True if copy is None else copy)
        below = upper < self._upper
        if not below.any():
            return upper
        if upper.dtype.kind == "f":
            return np.where(below, np.nextafter(upper, upper.dtype.type(np.inf)), upper)
        from .errors import ArgumentError

        raise ArgumentError(
            f"dtype: {upper.dtype} would round proved upper ends down; take a floating-point type"
        )

    def __repr__(self) -> str:
        return f"BracketArray(lower={self._lower!r}, upper={self._upper!r})"


def up(value: float, digits: int = 5) -> str:
    """A number in this many significant digits, never below it."""
    return _tacita.rounded(value, digits, True)


def down(value: float, digits: int = 5) -> str:
    """A number in this many significant digits, never above it."""
    return _tacita.rounded(value, digits, False)


def _formatted(value: float, spec: str) -> str:
    import decimal
    import re

    wanted = re.fullmatch(r"\.(\d+)([fg]?)", spec)
    if wanted is None:
        raise ValueError(f"a bracket is formatted with .Nf or .Ng, got {spec!r}")
    digits = int(wanted[1])
    if wanted[2] != "f":
        return up(value, max(digits, 1))
    if abs(value) == float("inf"):
        return f"{value:f}"
    quantum = decimal.Decimal(1).scaleb(-digits)
    context = decimal.Context(prec=400)
    exact = decimal.Decimal(value)
    return f"{exact.quantize(quantum, rounding=decimal.ROUND_CEILING, context=context):f}"
