"""The server's side: a strategy of Flower's message API."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flwr.app import ArrayRecord, ConfigRecord, Message, MessageType, MetricRecord, RecordDict
from flwr.serverapp import Grid
from flwr.serverapp.strategy import Result
from flwr.serverapp.strategy import Strategy as FlowerStrategy

from ..errors import ArgumentError
from ..federation import Figure, Plan, Server
from ._wire import ANSWER, CONFIG, ORDER, PART, PER_NODE, RECORD, SHAPES, SLOTS, log

if TYPE_CHECKING:
    import numpy.typing as npt

    Arrays = Sequence[npt.NDArray[Any]]

#: Clients of a site whose sum one message holds.
_MOST_TOGETHER = 1_023


class Strategy(FlowerStrategy):
    """A strategy of Flower's message API whose every round is one of a certified plan.

    With ``folder`` a run that is there is resumed: rounds that its ledger holds stay spent. Without one the ledger is in
    memory. ``seed`` makes a run repeatable, and NOT PRIVATE. ``enrolled`` may choose the nodes that are clients of the
    federation from those that are connected; it must look at connections and public lists only. ``clients_per_node`` is
    how many clients each node holds at most, as everyone may know it; they are drawn one by one. No round is opened, and
    so none is spent, before ``wait_for`` nodes are connected.
    """

    def __init__(
        self,
        plan: Plan,
        model: Arrays,
        *,
        learning_rate: float,
        folder: str | os.PathLike[str] | None = None,
        enrolled: Callable[[list[int]], list[int]] | None = None,
        clients_per_node: int = 1,
        wait_for: int = 1,
        config: dict[str, Any] | None = None,
        seed: int | None = None,
        **optimiser: Any,
    ) -> None:
        self._enrolled = enrolled or (lambda nodes: nodes)
        self._config = dict(config or {})
        if clients_per_node < 1:
            raise ArgumentError(f"clients_per_node must be at least 1, got {clients_per_node}")
        self._slots = range(clients_per_node)
        self._wait_for = wait_for
        #: Of the open round, for each node and part of what it was asked the clients that it answers for.
        self._asked: dict[int, list[list[int]]] = {}
        where = None if folder is None else Path(folder)
        if where is not None and (where / "run.json").exists():
            self.server = Server.resume(where, [array.shape for array in model], seed=seed)
            if (self.server.noise_multiplier, self.server.rounds) != (
                plan.noise_multiplier,
                plan.rounds,
            ):
                raise ArgumentError(
                    f"{where} holds a run under another plan; resume it with that plan, or choose another folder"
                )
            return
        self.server = Server.create(
            plan, model, learning_rate=learning_rate, folder=where, seed=seed, **optimiser
        )

    def summary(self) -> None:
        """Logs what is promised."""
        if not self.server.is_private:
            log.warning("a fixed seed: NOT PRIVATE")
        log.info("rounds %d of %d are spent", self.server.next_round, self.server.rounds)
        for figure in self.server.figures():
            log.info("the whole run: %s", figure)

    def figures(self) -> list[Figure]:
        """What the rounds that are spent have cost, and against whom."""
        return self.server.figures_so_far()

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Opens a round: the ledger first, then the draw, then a message to each client that was drawn."""
        while len(nodes := self._enrolled(sorted(grid.get_node_ids()))) < self._wait_for:
            log.info("waiting for nodes: %d of %d are connected", len(nodes), self._wait_for)
            time.sleep(1)
        places = {_identity(node, slot): (node, slot) for node in nodes for slot in self._slots}
        by_node: dict[int, list[int]] = {}
        for client in self.server.open_round(places):
            by_node.setdefault(places[client][0], []).append(client)
        shapes = json.dumps([list(shape) for shape in self.server.shapes])
        settings = ConfigRecord({**config, **self._config, "server-round": server_round})
        self._asked = {}
        for node, drawn in by_node.items():
            parts = [
                drawn[first : first + _MOST_TOGETHER]
                for first in range(0, len(drawn), _MOST_TOGETHER)
            ]
            self._asked[node] = parts
            for part, clients in enumerate(parts):
                order = ConfigRecord(
                    {
                        ORDER: self.server.order(clients[0]),
                        SHAPES: shapes,
                        SLOTS: [places[client][1] for client in clients],
                        PART: part,
                        PER_NODE: len(self._slots),
                    }
                )
                yield Message(
                    content=RecordDict({RECORD: order, CONFIG: settings}),
                    message_type=MessageType.TRAIN,
                    dst_node_id=node,
                )

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """Checks and adds what came back, and ends the round. Whoever is missing contributes nothing."""
        for reply in replies:
            if reply.has_error():
                continue
            clients, answer = self._read(reply)
            self.server.receive_from_site(clients, answer)
        for kind, times in self.server.faults().items():
            log.warning("faulty answers, which contributed nothing: %s (%d)", kind, times)
        self.server.close_round()
        return ArrayRecord(self.server.model()), None

    def _read(self, reply: Message) -> tuple[list[int], bytes]:
        """Whom a reply answers for, and its bytes; whatever is wrong with it, the server will find."""
        record = reply.content.config_records.get(RECORD) or {}
        answer, part = record.get(ANSWER), record.get(PART)
        parts = self._asked.get(reply.metadata.src_node_id, [])
        if not isinstance(answer, bytes) or not isinstance(part, int) or not 0 <= part < len(parts):
            return [], b""
        return parts[part], answer

    def configure_evaluate(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Asks nobody: figures of clients on their own records would be releases without noise."""
        return []

    def aggregate_evaluate(
        self, server_round: int, replies: Iterable[Message]
    ) -> MetricRecord | None:
        """Nothing was asked."""
        return None

    def start(
        self,
        grid: Grid,
        initial_arrays: ArrayRecord | None = None,
        num_rounds: int | None = None,
        timeout: float = 600.0,
        train_config: ConfigRecord | None = None,
        evaluate_config: ConfigRecord | None = None,
        evaluate_fn: Callable[[int, ArrayRecord], MetricRecord | None] | None = None,
    ) -> Result:
        """Makes the rounds that are left of the plan, or ``num_rounds`` of them. The model is the server's:
        ``initial_arrays`` is not looked at. ``evaluate_fn`` may use public data."""
        self.summary()
        result = Result()
        left = self.server.rounds - self.server.next_round
        for _ in range(left if num_rounds is None else min(left, num_rounds)):
            number = self.server.next_round + 1
            config = ConfigRecord() if train_config is None else train_config
            messages = list(self.configure_train(number, result.arrays, config, grid))
            replies = grid.send_and_receive(messages, timeout=timeout) if messages else []
            arrays, _ = self.aggregate_train(number, replies)
            assert arrays is not None
            result.arrays = arrays
            if evaluate_fn is not None:
                metrics = evaluate_fn(number, arrays)
                if metrics is not None:
                    result.evaluate_metrics_serverapp[number] = metrics
        for figure in self.figures():
            log.info("so far: %s", figure)
        return result


def _identity(node: int, slot: int) -> int:
    """The identity of a client of a node."""
    name = f"{node}:{slot}".encode()
    return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "little")
