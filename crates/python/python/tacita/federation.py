"""The two sides of a private federation, without a network: any transport may carry the bytes.

>>> import numpy as np, tacita.federation as federation
>>> plan = federation.Plan(clients=100, cohort=20, rounds=2, epsilon=3, delta=1e-4)
>>> server = federation.Server.create(plan, [np.zeros(3)], learning_rate=0.5)
>>> while not server.is_finished:
...     for client in server.open_round(range(100)):
...         task = federation.Task(server.order(client), shapes=server.shapes)
...         fault = server.receive(client, task.answer([np.ones(3)]))
...     _ = server.close_round()
>>> figure = server.figures()[0]
>>> figure.epsilon <= 3, figure.adversary
(True, 'models')

The server draws clients by Poisson sampling from the operating system's generator, writes a ledger before it asks
anyone, measures what they send in whole numbers, and adds noise that was certified before the first round. The unit of
privacy is one client. No figure goes without its adversary. :mod:`tacita.flower` carries the messages on Flower.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ._tacita import (
    FederatedServer,
    answer_order,
    certify_federation,
    masked_answer,
    read_order,
)
from .errors import ArgumentError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Arrays = Sequence[npt.NDArray[Any]]

__all__ = ["Figure", "Plan", "Released", "Server", "Task"]


class Figure(NamedTuple):
    """A figure and whom it is about."""

    #: ``"models"``: whoever sees the models; ``"models-and-colluding"``; ``"server"``.
    adversary: str
    #: Members of the committee who tell the adversary their shares of the noise.
    colluding: int
    #: A proved upper bound of ε; None if there is no guarantee.
    epsilon: float | None
    #: δ.
    delta: float
    #: The whole statement.
    text: str

    def __str__(self) -> str:
        return self.text


class Released(NamedTuple):
    """What is known of a round that ended."""

    #: The round, from 0.
    round: int
    #: The standard deviation of the noise on each value of the mean.
    noise_std: float


def _figures(parts: list[tuple[str, int, str, float | None, float]]) -> list[Figure]:
    return [
        Figure(kind, members, epsilon, delta, text) for kind, members, text, epsilon, delta in parts
    ]


class Plan:
    """A federation that is certified as a whole before its first round.

    ``clients`` and ``cohort`` (clients per round on average) are declared: the rate is their ratio, and sums are divided
    by ``cohort``, whatever is counted. Give ``epsilon`` or ``noise`` (the noise multiplier). ``clipping`` is ``"auto"``
    or ``"abadi"``, ``threshold_decay`` and ``growing_mu`` are ρ_c and ρ_μ of dynamic DP-SGD. ``committee`` is
    ``(members, absent, colluding)``, where a public committee makes the noise under secure aggregation.
    """

    __slots__ = ("_figures", "_json", "epsilon_bounds", "noise_multiplier")

    #: Lower and upper bound of ε against the readers of the models.
    epsilon_bounds: tuple[float, float]
    #: The noise multiplier of the first round, but for the growth of μ.
    noise_multiplier: float

    def __init__(
        self,
        *,
        clients: int,
        cohort: float,
        rounds: int,
        delta: float,
        epsilon: float | None = None,
        noise: float | None = None,
        clipping: str = "auto",
        gamma: float = 0.01,
        threshold: float = 1.0,
        threshold_decay: float = 1.0,
        growing_mu: float = 1.0,
        committee: tuple[int, int, int] | None = None,
    ) -> None:
        if (epsilon is None) == (noise is None):
            raise ArgumentError("give epsilon or noise, and not both")
        if clipping not in ("auto", "abadi"):
            raise ArgumentError(f'clipping must be "auto" or "abadi", got {clipping!r}')
        scale = {"epsilon": epsilon} if noise is None else {"noise-multiplier": noise}
        plan: dict[str, Any] = {
            "clients": clients,
            "expected-cohort": float(cohort),
            "rounds": rounds,
            "scale": scale,
            "delta": delta,
            "clip": {"rule": "abadi"} if clipping == "abadi" else {"rule": "auto", "gamma": gamma},
            "threshold": threshold,
            "threshold-decay": threshold_decay,
            "growing-mu": growing_mu,
        }
        if committee is not None:
            members, absent, colluding = committee
            plan["noise"] = {
                "by": "committee",
                "members": members,
                "absent": absent,
                "colluding": colluding,
            }
        self._json = json.dumps(plan)
        self.noise_multiplier, self.epsilon_bounds, figures = certify_federation(self._json)
        self._figures = _figures(figures)

    def figures(self) -> list[Figure]:
        """What is promised, and against whom."""
        return list(self._figures)


class Server:
    """The server's side of a run; see :meth:`create` and :meth:`resume`."""

    __slots__ = ("_server", "shapes")

    #: Shapes of the model's arrays, in their order.
    shapes: list[tuple[int, ...]]

    def __init__(self, server: FederatedServer, shapes: Sequence[tuple[int, ...]]) -> None:
        self._server = server
        self.shapes = list(shapes)

    @classmethod
    def create(
        cls,
        plan: Plan,
        model: Arrays,
        *,
        learning_rate: float,
        folder: str | os.PathLike[str] | None = None,
        optimiser: str = "sgd",
        momentum: float = 0.0,
        learning_rate_decay: float = 1.0,
        seed: int | None = None,
    ) -> Server:
        """Begins a run in a new folder, or in memory, where its ledger is lost with the process.

        ``optimiser`` is ``"sgd"``, ``"momentum"``, ``"nesterov"`` or ``"adam"``. With a ``seed`` nothing is private."""
        rule: dict[str, Any] = {"rule": optimiser}
        if optimiser in ("momentum", "nesterov"):
            rule["momentum"] = momentum
        descent = {
            "optimiser": rule,
            "learning-rate": learning_rate,
            "learning-rate-decay": learning_rate_decay,
        }
        server = FederatedServer.create(
            None if folder is None else os.fspath(folder),
            plan._json,
            json.dumps(descent),
            flat(model),
            seed,
        )
        return cls(server, [array.shape for array in model])

    @classmethod
    def resume(
        cls,
        folder: str | os.PathLike[str],
        shapes: Sequence[tuple[int, ...]],
        *,
        seed: int | None = None,
    ) -> Server:
        """Resumes a run that stopped or was killed. Rounds that its ledger holds are spent."""
        return cls(FederatedServer.resume(os.fspath(folder), seed), shapes)

    def open_round(self, enrolled: Iterable[int]) -> list[int]:
        """Writes the ledger, then draws the clients of the next round. Who they are is secret."""
        drawn, _ = self._server.open_round(list(enrolled), [])
        return drawn

    def open_round_with(
        self, enrolled: Iterable[int], committee: Iterable[int]
    ) -> tuple[list[int], list[int]]:
        """The same where a committee makes the noise: those who are drawn, and the committee, all of which is asked."""
        return self._server.open_round(list(enrolled), list(committee))

    def order(self, client: int, *, drawn: bool = True, of_committee: bool = False) -> bytes:
        """What is to be sent to a client that is asked."""
        return self._server.order(client, drawn, of_committee)

    def receive(self, client: int, answer: bytes) -> str | None:
        """Takes an answer; ``client`` is who the transport says has sent it. Returns what is wrong with it, if anything:
        then it contributes nothing."""
        return self._server.receive([client], answer)

    def receive_from_site(self, clients: Sequence[int], answer: bytes) -> str | None:
        """Takes the answer of a site that holds the records of several clients that were drawn, to an order for the first
        of them: at most 1,023. That none of them adds more than the threshold rests on the site."""
        return self._server.receive(list(clients), answer)

    def faults(self) -> dict[str, int]:
        """Faulty answers of the open round, by kind. For the operator: they are not released."""
        return dict(self._server.faults())

    def close_round(self) -> Released:
        """Ends the round: noise, a step of the optimiser, the checkpoint. Who has not answered contributes nothing."""
        return Released(*self._server.close_round())

    def close_round_with(self, total: npt.NDArray[np.int64], present: int) -> Released | None:
        """Ends the round with the sum that secure aggregation decoded, with so many members of the committee. None if
        they are too few: the round is void, and spent."""
        released = self._server.close_round_with(total.astype("<i8").tobytes(), present)
        return None if released is None else Released(*released)

    def abandon_round(self) -> int:
        """Ends a round that connections made impossible. It is void, and spent."""
        return self._server.abandon_round()

    def model(self) -> list[npt.NDArray[np.float32]]:
        """The model: made of released values alone."""
        return shaped(self._server.model(), self.shapes)

    def figures(self) -> list[Figure]:
        """What the whole run promises, and against whom."""
        return _figures(self._server.figures(False))

    def figures_so_far(self) -> list[Figure]:
        """What the rounds that are spent have cost, and against whom."""
        return _figures(self._server.figures(True))

    @property
    def next_round(self) -> int:
        """Rounds that are spent."""
        return self._server.rounds[0]

    @property
    def rounds(self) -> int:
        """Rounds of the plan."""
        return self._server.rounds[1]

    @property
    def is_finished(self) -> bool:
        """Whether every round is spent."""
        return self._server.is_finished

    @property
    def is_complete(self) -> bool:
        """Whether everyone who was drawn has answered: as secret as the draw."""
        return self._server.is_complete

    @property
    def is_private(self) -> bool:
        """Whether keys came from the operating system."""
        return self._server.is_private


class Task:
    """What a client is asked to do in one round."""

    __slots__ = ("_order", "_size", "contribute", "model", "round")

    #: The round, from 0.
    round: int
    #: Whether the client was drawn. If not, it adds its share of the noise and nothing else.
    contribute: bool
    #: The model, as arrays of the given shapes.
    model: list[npt.NDArray[np.float32]]

    def __init__(self, order: bytes, shapes: Sequence[tuple[int, ...]]) -> None:
        self.round, self.contribute, _, model = read_order(order)
        self.model = shaped(model, shapes)
        self._order = order
        self._size = len(model)

    def answer(self, update: Arrays) -> bytes:
        """The answer: the update, clipped and rounded to a public grid. An update is what the server is to subtract: a
        gradient, or the model before some local steps less the model after them. One with a value that is no finite
        number counts as zeros."""
        return answer_order(self._order, [self._checked(update)])

    def answer_for(self, updates: Iterable[Arrays]) -> bytes:
        """The answer of a site for several of its clients that were drawn: each update is clipped by itself."""
        return answer_order(self._order, [self._checked(update) for update in updates])

    def masked_answer(self, update: Arrays) -> npt.NDArray[np.int64]:
        """What secure aggregation, and nobody else, is to get: whole numbers modulo 2^64, with the client's share of the
        noise if it is of the committee."""
        import numpy as np

        return np.frombuffer(masked_answer(self._order, self._checked(update)), dtype="<i8")

    def zeros(self) -> bytes:
        """The answer of a client whose records are of no use. Silence would tell something about them."""
        return answer_order(self._order, [bytes(self._size)])

    def _checked(self, update: Arrays) -> bytes:
        seen = [tuple(array.shape) for array in update]
        wanted = [array.shape for array in self.model]
        if seen != wanted:
            raise ArgumentError(f"the update has shapes {seen}, and the model {wanted}")
        return flat(update)


def flat(arrays: Arrays) -> bytes:
    """The values of some arrays, one after the other, in single precision."""
    import numpy as np

    with np.errstate(over="ignore"):
        return b"".join(np.ascontiguousarray(array, dtype="<f4").tobytes() for array in arrays)


def shaped(values: bytes, shapes: Sequence[tuple[int, ...]]) -> list[npt.NDArray[np.float32]]:
    """The arrays of these shapes whose values lie one after the other."""
    import numpy as np

    whole = np.frombuffer(values, dtype="<f4")
    sizes = [int(np.prod(shape)) for shape in shapes]
    if sum(sizes) != whole.size:
        raise ArgumentError(f"a model of {whole.size} values does not have the shapes {list(shapes)}")
    ends = np.cumsum(sizes)[:-1]
    return [
        part.reshape(shape).copy()
        for part, shape in zip(np.split(whole, ends), shapes, strict=True)
    ]
