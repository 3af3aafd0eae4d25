"""A federation on Flower's messages."""

import numpy as np
import pytest

pytest.importorskip("flwr", reason="Flower is not installed: pip install flwr")

from flwr.app import ArrayRecord, Context, Error, Message, RecordDict  # noqa: E402
from flwr.clientapp import ClientApp  # noqa: E402
from flwr.supercore.task_identity import TaskIdentity  # noqa: E402

import tacita.flower as flower  # noqa: E402
from tacita.federation import Plan  # noqa: E402

NODES = [7, 5, 2**63]

# What Flower's processes know of themselves.
TaskIdentity.task_id = TaskIdentity.run_id = TaskIdentity.node_id = 1


class Grid:
    """Nodes in one process: a client app for each, some of which fail."""

    def __init__(self, app, failing=()):
        self.app, self.failing, self.asked = app, failing, []

    def get_node_ids(self):
        return NODES

    def send_and_receive(self, messages, *, timeout=None):
        replies = []
        for message in messages:
            node = message.metadata.dst_node_id
            self.asked.append(node)
            if node in self.failing:
                replies.append(Message(Error(code=1, reason="gone"), reply_to=message))
                continue
            context = Context(run_id=1, node_id=node, node_config={}, state=RecordDict(), run_config={})
            replies.append(self.app(message, context))
        return replies


def strategy(**more):
    plan = Plan(clients=3, cohort=3, rounds=4, noise=1e-3, delta=1e-4, clipping="abadi", threshold=10.0)
    options = {"learning_rate": 1.0, "seed": 1} | more
    return flower.Strategy(plan, [np.zeros((2, 2)), np.zeros(3)], **options)


def ones(model, context):
    return [np.ones_like(array) for array in model]


def test_a_function_of_the_model_is_a_client():
    made = strategy()
    grid = Grid(flower.client_app(ones))
    result = made.start(grid, num_rounds=1)
    for array in result.arrays.to_numpy_ndarrays():
        np.testing.assert_allclose(array, -1.0, atol=0.05)
    assert sorted(grid.asked) == sorted(NODES)


def test_an_ordinary_app_is_made_private_by_the_mod():
    app = ClientApp(mods=[flower.private_mod])

    @app.train()
    def train(message, context):
        moved = [array - 2 for array in message.content["arrays"].to_numpy_ndarrays()]
        return Message(RecordDict({"arrays": ArrayRecord(moved)}), reply_to=message)

    result = strategy().start(Grid(app), num_rounds=1)
    for array in result.arrays.to_numpy_ndarrays():
        np.testing.assert_allclose(array, -2.0, atol=0.05)


def test_clients_that_fail_or_are_gone_contribute_zeros_to_the_same_divisor():
    def update(model, context):
        if context.node_id == NODES[0]:
            raise RuntimeError("a defect of this client")
        return ones(model, context)

    result = strategy().start(Grid(flower.client_app(update), failing=[NODES[1]]), num_rounds=1)
    for array in result.arrays.to_numpy_ndarrays():
        np.testing.assert_allclose(array, -1 / 3, atol=0.05)


def test_a_site_answers_for_those_of_its_clients_that_were_drawn():
    seen = []

    def update(model, number, context):
        seen.append((context.node_id, number))
        return None if number == 1 else ones(model, context)

    plan = Plan(clients=6, cohort=6, rounds=1, noise=1e-3, delta=1e-4, clipping="abadi", threshold=10.0)
    made = flower.Strategy(
        plan, [np.zeros(3)], learning_rate=1.0, seed=1, clients_per_node=2
    )
    result = made.start(Grid(flower.site_app(update)))
    assert sorted(seen) == sorted((node, number) for node in NODES for number in range(2))
    np.testing.assert_allclose(result.arrays.to_numpy_ndarrays()[0], -0.5, atol=0.05)


def test_an_app_of_one_client_does_not_answer_for_a_site():
    plan = Plan(clients=6, cohort=6, rounds=1, noise=1.0, delta=1e-4)
    made = flower.Strategy(plan, [np.zeros(3)], learning_rate=1.0, seed=1, clients_per_node=2)
    with pytest.raises(ValueError, match="site_app"):
        made.start(Grid(flower.client_app(ones)))


def test_what_clients_forge_is_no_contribution(caplog):
    honest = flower.client_app(ones)

    def forging(message, context):
        reply = honest(message, context)
        record = reply.content["tacita"]
        if context.node_id == NODES[0]:
            record["answer"] = record["answer"][:-3]
        if context.node_id == NODES[1]:
            record["answer"] = record["answer"][:-4] + b"\xff\xff\xff\x7f"
        return reply

    result = strategy().start(Grid(forging), num_rounds=1)
    for array in result.arrays.to_numpy_ndarrays():
        np.testing.assert_allclose(array, -1 / 3, atol=0.05)
    assert "longer than the threshold (1)" in caplog.text
    assert "not a message of this protocol (1)" in caplog.text


def test_a_strategy_resumes_from_its_folder(tmp_path):
    first = strategy(folder=tmp_path / "run", seed=None)
    first.start(Grid(flower.client_app(ones)), num_rounds=2)
    del first
    again = strategy(folder=tmp_path / "run", seed=None)
    assert again.server.next_round == 2
    again.start(Grid(flower.client_app(ones)))
    assert again.server.is_finished
    assert again.figures()[0].adversary == "models"
