"""Certificates for runs of other libraries."""

from __future__ import annotations

import math
import os
from typing import Any, NamedTuple

from . import _tacita
from ._arguments import choice, number, probability
from .bracket import Bracket
from .errors import ArgumentError
from .exporting import export_history
from .ledger import Ledger

__all__ = ["Certificate", "Finding", "certify"]


class Finding(NamedTuple):
    """One thing that the reader of a certificate must know."""

    #: What it is about, say ``"epsilon-too-small"`` or ``"batches-unknown"``.
    kind: str
    #: ``"wrong"``, ``"caution"`` or ``"unknown"``.
    weight: str
    #: In words.
    text: str


class Certificate:
    """A proved ε beside the reported one, and what does not match or cannot be known; see :func:`certify`."""

    __slots__ = ("_object", "_text")

    def __init__(self, value: dict[str, Any], text: str) -> None:
        self._object = value
        self._text = text

    @property
    def source(self) -> str:
        """Whose history it is."""
        return str(self._object["source"])

    @property
    def delta(self) -> float:
        """δ."""
        return float(self._object["delta"])

    @property
    def bracket(self) -> Bracket:
        """The proved ends of ε; the lower one is 0 where only an upper bound is proved, both are ∞ if nothing is private."""
        epsilon = self._object["epsilon"]
        if epsilon is None:
            return Bracket(math.inf, math.inf)
        return Bracket(epsilon.get("lower", 0.0), epsilon["upper"])

    @property
    def reported(self) -> float | None:
        """The ε that was reported."""
        reported = self._object["reported"]
        return None if reported is None else float(reported)

    @property
    def verdict(self) -> str:
        """What is to be thought of the reported ε.

        ``"false"``: below the proved lower end. ``"unproved"``: below what is proved, and not refuted.
        ``"consistent"``: in the bracket or at most 1 % above it. ``"loose"``: true, and more than 1 % above.
        ``"not-private"``: nothing is private here. ``"not-compared"``: no ε was reported.
        """
        return str(self._object["verdict"])

    @property
    def findings(self) -> list[Finding]:
        """What does not match and what cannot be known, the most serious first."""
        return [Finding(**finding) for finding in self._object["findings"]]

    @property
    def ledger(self) -> Ledger | None:
        """The rounds of which ε was proved; None if nothing is private."""
        import json

        ledger = self._object["ledger"]
        return None if ledger is None else Ledger.from_json(json.dumps(ledger))

    def to_json(self) -> str:
        """The certificate as JSON, as ``tacita certify --json`` prints it."""
        import json

        return json.dumps(self._object, ensure_ascii=False)

    def __str__(self) -> str:
        return self._text.rstrip("\n")

    def __repr__(self) -> str:
        return (
            f"<Certificate: {self.verdict}, ε in [{self.bracket.lower:.5g}, {self.bracket:.5g}] at δ = {self.delta:g}, "
            f"reported {self.reported}>"
        )

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><td><b>{escape(finding.weight)}</b></td><td>{escape(finding.text)}</td></tr>"
            for finding in self.findings
        )
        head = "<br>".join(escape(line.strip()) for line in self._text.splitlines()[:3])
        return f"<p>{head}</p><table>{rows}</table>"


def certify(
    run: object,
    *,
    delta: float | None = None,
    reported: float | None = None,
    batches: str | None = None,
    divisor: str | None = None,
    loader: object = None,
    optimizer: object = None,
    steps: int | None = None,
    records_per_unit: int | None = None,
) -> Certificate:
    """Proves ε of a run that another library made, and sets it beside the ε that was reported.

    Nothing is imported and no pickle is opened. An event that is not known is refused by name, never guessed.

    Args:
        run: An Opacus accountant, its ``history`` or state, ``PrivacyEngine`` or checkpoint (as a dictionary); a
            ``dp_accounting`` event or accountant; a Flower accountant or its state; ``DpParams``, ``DPKerasConfig`` or an
            execution plan of JAX Privacy; a list of (noise, rate, steps); a :class:`Ledger`; or the path of a JSON or
            safetensors file with what :func:`export_history` wrote.
        delta: δ, unless the object has one.
        reported: The ε that was reported. By default the object's own accountant is asked.
        batches: How batches were really drawn: ``"poisson"``, ``"shuffled"`` or ``"unknown"``. By default the
            ``loader`` tells, if it is given.
        divisor: What gradients were divided by: ``"declared"``, ``"from-data"`` or ``"unknown"``. By default the
            ``optimizer`` and the ``loader`` tell, if they are given.
        loader: The PyTorch data loader of the run.
        optimizer: The Opacus optimiser of the run.
        steps: Number of updates, for ``DpParams``, which do not have it.
        records_per_unit: Protect a person with up to this many records instead of one record.

    >>> import tacita
    >>> history = [(1.0, 512 / 60_000, 1172)]
    >>> said = tacita.certify(history, delta=1e-5, reported=1.48)  # what a limit theorem says
    >>> said.verdict
    'false'
    >>> said.bracket.lower > 1.48
    True
    >>> tacita.certify(history, delta=1e-5, reported=1.93).verdict  # Rényi divergences at few orders
    'loose'
    """
    if isinstance(run, (str, os.PathLike)):
        for name, value in [("loader", loader), ("optimizer", optimizer), ("steps", steps)]:
            if value is not None:
                raise ArgumentError(f"{name} goes with an object, not with a file")
        if records_per_unit is not None:
            raise ArgumentError("records_per_unit goes with an object; a file has its own")
        return _certificate(
            _tacita.certify_file(
                os.fspath(run),
                None if reported is None else number("reported", reported),
                None if delta is None else probability("delta", delta),
                batches and choice("batches", batches, ("poisson", "shuffled", "unknown")),
                divisor and choice("divisor", divisor, ("declared", "from-data", "unknown")),
            )
        )
    text = export_history(
        run,
        delta=delta,
        reported=reported,
        batches=batches,
        divisor=divisor,
        loader=loader,
        optimizer=optimizer,
        steps=steps,
        records_per_unit=records_per_unit,
    )
    return _certificate(_tacita.certify(text))


def _certificate(said: tuple[str, str]) -> Certificate:
    import json

    return Certificate(json.loads(said[0]), said[1])
