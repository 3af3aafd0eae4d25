"""The clients' side: apps, and a modifier for apps that are there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from flwr.app import ArrayRecord, ConfigRecord, Context, Message, MessageType, RecordDict
from flwr.clientapp import ClientApp

from ..errors import ArgumentError
from ..federation import Task
from ._wire import ANSWER, ARRAYS, ORDER, PART, PER_NODE, RECORD, SHAPES, SLOTS, log

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Arrays = Sequence[npt.NDArray[Any]]


def _task(message: Message, *, of_site: bool) -> Task:
    record = message.content.config_records.get(RECORD)
    if record is None:
        raise ArgumentError("the message is not from tacita.flower.Strategy")
    if not of_site and record[PER_NODE] != 1:
        raise ArgumentError(
            "the node holds several clients: make its app by tacita.flower.site_app"
        )
    order, shapes = record[ORDER], record[SHAPES]
    assert isinstance(order, bytes) and isinstance(shapes, str)
    return Task(order, [tuple(shape) for shape in json.loads(shapes)])


def _reply(message: Message, answer: bytes) -> Message:
    part = message.content.config_records[RECORD][PART]
    content = RecordDict({RECORD: ConfigRecord({ANSWER: answer, PART: part})})
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
    message.content[ARRAYS] = ArrayRecord(task.model)
    try:
        trained = call_next(message, context)
        records = list(trained.content.array_records.values())
        after = records[0].to_numpy_ndarrays()
        update = [before - moved for before, moved in zip(task.model, after, strict=True)]
        answer = task.answer(update)
    except Exception:
        log.exception("training failed on this client; zeros are sent in its place")
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
            log.exception("training failed on this client; zeros are sent in its place")
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
        slots = message.content.config_records[RECORD][SLOTS]
        assert isinstance(slots, list)

        def updates() -> Iterable[Arrays]:
            for slot in slots:
                try:
                    made = update(task.model, int(slot), context)
                    # A wrong shape is found here, where it costs one client and not the site.
                    task.answer_for([] if made is None else [made])
                except Exception:
                    log.exception("training failed for one client; zeros are sent in its place")
                    made = None
                if made is not None:
                    yield made

        return _reply(message, task.answer_for(updates()))

    return app
