"""Private federations on Flower (``pip install flwr``; tried with 1.42).

The server's app::

    @app.main()
    def main(grid, context):
        strategy = tacita.flower.Strategy(plan, model, learning_rate=0.5, folder="runs/federation-1")
        strategy.start(grid)

The clients' app is any app that trains and returns arrays, with the modifier :func:`private_mod`, or one made by
:func:`client_app` from a function. Where a node is a site that holds the records of many clients, as a hospital does
those of its patients, its app is made by :func:`site_app`, and each of them is protected. Flower carries the bytes; what must be right for the guarantee is done by
:mod:`tacita.federation`.

Flower writes into its own log how many nodes it asked. That number is as secret as the data: keep the server's log.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import ArgumentError
from .federation import Figure, Plan, Server, Task

try:
    from flwr.app import (
        ArrayRecord,
        ConfigRecord,
        Context,
        Message,
        MessageType,
        MetricRecord,
        RecordDict,
    )
    from flwr.clientapp import ClientApp
    from flwr.serverapp import Grid
    from flwr.serverapp.strategy import Result
    from flwr.serverapp.strategy import Strategy as FlowerStrategy
except ImportError as error:  # pragma: no cover
    raise ImportError("tacita.flower needs Flower: pip install flwr") from error

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Arrays = Sequence[npt.NDArray[Any]]

__all__ = ["Strategy", "client_app", "private_mod", "site_app"]

_log = logging.getLogger("tacita")

#: The record of a message that holds the bytes.
_RECORD = "tacita"
_ORDER, _SHAPES, _SLOTS, _PART, _ANSWER = "order", "shapes", "slots", "part", "answer"
_PER_NODE = "clients-per-node"
#: Clients of a site whose sum one message holds.
_MOST_TOGETHER = 1_023
#: The keys that Flower's own strategies use.
_ARRAYS, _CONFIG = "arrays", "config"
#: The file in the run's folder that holds the shapes of the model.
_SHAPES_FILE = "shapes.json"


class Strategy(FlowerStrategy):
    """A strategy of Flower's message API whose every round is one of a certified plan.

    With ``folder`` a run that is there is resumed: rounds that its ledger holds stay spent. Without one the ledger is in
    memory. ``seed`` makes a run repeatable, and NOT PRIVATE. ``enrolled`` may choose the nodes that are clients of the
    federation from those that are connected; it must look at connections and public lists only. ``clients_per_node`` is
    how many clients each node holds at most, as everyone may know it; they are drawn one by one.
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
        config: dict[str, Any] | None = None,
        seed: int | None = None,
        **optimiser: Any,
    ) -> None:
        self._enrolled = enrolled or (lambda nodes: nodes)
        self._config = dict(config or {})
        if clients_per_node < 1:
            raise ArgumentError(f"clients_per_node must be at least 1, got {clients_per_node}")
        self._slots = range(clients_per_node)
        #: Of the open round, for each node and part of what it was asked the clients that it answers for.
        self._asked: dict[int, list[list[int]]] = {}
        where = None if folder is None else Path(folder)
        if where is not None and (where / _SHAPES_FILE).exists():
            shapes = json.loads((where / _SHAPES_FILE).read_text())
            self.server = Server.resume(where, [tuple(shape) for shape in shapes], seed=seed)
            return
        self.server = Server.create(
            plan, model, learning_rate=learning_rate, folder=where, seed=seed, **optimiser
        )
        if where is not None:
            text = json.dumps([list(shape) for shape in self.server.shapes])
            (where / _SHAPES_FILE).write_text(text)

    def summary(self) -> None:
        """Logs what is promised."""
        if not self.server.is_private:
            _log.warning("a fixed seed: NOT PRIVATE")
        _log.info("rounds %d of %d are spent", self.server.next_round, self.server.rounds)
        for figure in self.server.figures():
            _log.info("the whole run: %s", figure)

    def figures(self) -> list[Figure]:
        """What the rounds that are spent have cost, and against whom."""
        return self.server.figures_so_far()

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Opens a round: the ledger first, then the draw, then a message to each client that was drawn."""
        nodes = self._enrolled(sorted(grid.get_node_ids()))
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
                        _ORDER: self.server.order(clients[0]),
                        _SHAPES: shapes,
                        _SLOTS: [places[client][1] for client in clients],
                        _PART: part,
                        _PER_NODE: len(self._slots),
                    }
                )
                yield Message(
                    content=RecordDict({_RECORD: order, _CONFIG: settings}),
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
            _log.warning("faulty answers, which contributed nothing: %s (%d)", kind, times)
        self.server.close_round()
        return ArrayRecord(self.server.model()), None

    def _read(self, reply: Message) -> tuple[list[int], bytes]:
        """Whom a reply answers for, and its bytes; whatever is wrong with it, the server will find."""
        record = reply.content.config_records.get(_RECORD) or {}
        answer, part = record.get(_ANSWER), record.get(_PART)
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

    def start(  # type: ignore[override]
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
            _log.info("so far: %s", figure)
        return result


def _identity(node: int, slot: int) -> int:
    """The identity of a client of a node."""
    name = f"{node}:{slot}".encode()
    return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "little")


def _task(message: Message, *, of_site: bool) -> Task:
    record = message.content.config_records.get(_RECORD)
    if record is None:
        raise ArgumentError("the message is not from tacita.flower.Strategy")
    if not of_site and record[_PER_NODE] != 1:
        raise ArgumentError("the node holds several clients: make its app by tacita.flower.site_app")
    order, shapes = record[_ORDER], record[_SHAPES]
    assert isinstance(order, bytes) and isinstance(shapes, str)
    return Task(order, [tuple(shape) for shape in json.loads(shapes)])


def _reply(message: Message, answer: bytes) -> Message:
    part = message.content.config_records[_RECORD][_PART]
    content = RecordDict({_RECORD: ConfigRecord({_ANSWER: answer, _PART: part})})
    return Message(content=content, reply_to=message)


def private_mod(
    message: Message, context: Context, call_next: Callable[[Message, Context], Message]
) -> Message:
    """Makes an ordinary client app private: ``ClientApp(mods=[tacita.flower.private_mod])``.

    The app gets the model under ``"arrays"`` and returns the model that it trained, as for Flower's ``FedAvg``. What leaves
    the client is the difference, clipped once and rounded; metrics do not leave it. An app that fails answers with zeros:
    silence would tell something about its records."""
    if message.metadata.message_type != MessageType.TRAIN:
        return call_next(message, context)
    task = _task(message, of_site=False)
    message.content[_ARRAYS] = ArrayRecord(task.model)
    try:
        trained = call_next(message, context)
        records = list(trained.content.array_records.values())
        after = records[0].to_numpy_ndarrays()
        update = [before - moved for before, moved in zip(task.model, after, strict=True)]
        answer = task.answer(update)
    except Exception:
        _log.exception("training failed on this client; zeros are sent in its place")
        answer = task.zeros()
    return _reply(message, answer)


def client_app(
    update: Callable[[list[npt.NDArray[np.float32]], Context], Arrays],
) -> ClientApp:
    """A client app from one function of the model and the context, which returns what the server is to subtract: a
    gradient, or the model before some local steps less the model after them."""
    app = ClientApp()

    @app.train()
    def train(message: Message, context: Context) -> Message:
        task = _task(message, of_site=False)
        try:
            answer = task.answer(update(task.model, context))
        except Exception:
            _log.exception("training failed on this client; zeros are sent in its place")
            answer = task.zeros()
        return _reply(message, answer)

    return app


def site_app(
    update: Callable[[list[npt.NDArray[np.float32]], int, Context], Arrays | None],
) -> ClientApp:
    """A client app for a site that holds the records of many clients, from a function of the model, the client's number
    at the site (from 0) and the context. It returns what the server is to subtract on behalf of that client, or None
    where there is no such client."""
    app = ClientApp()

    @app.train()
    def train(message: Message, context: Context) -> Message:
        task = _task(message, of_site=True)
        slots = message.content.config_records[_RECORD][_SLOTS]
        assert isinstance(slots, list)

        def updates() -> Iterable[Arrays]:
            for slot in slots:
                try:
                    made = update(task.model, int(slot), context)
                    # A wrong shape is found here, where it costs one client and not the site.
                    task.answer_for([] if made is None else [made])
                except Exception:
                    _log.exception("training failed for one client; zeros are sent in its place")
                    made = None
                if made is not None:
                    yield made

        return _reply(message, task.answer_for(updates()))

    return app
