"""The two sides of a federation, from Python."""

import numpy as np
import pytest

import tacita
from tacita.federation import Plan, Server, Task

SHAPES = [(3, 2), (2,)]


def arrays(value=0.0):
    return [np.full(shape, value) for shape in SHAPES]


def plan(**more):
    return Plan(**{"clients": 40, "cohort": 10, "rounds": 3, "noise": 1.0, "delta": 1e-4} | more)


def begun(**more):
    return Server.create(plan(), arrays(), learning_rate=1.0, **more)


def make_round(server, update):
    for client in server.open_round(range(40)):
        task = Task(server.order(client), server.shapes)
        assert server.receive(client, task.answer(update)) is None
    return server.close_round()


def test_a_federation_learns_and_states_what_it_cost():
    server = begun()
    while not server.is_finished:
        make_round(server, arrays(1.0))
    assert server.is_private
    assert all(array.mean() < 0 for array in server.model())
    models, of_server = server.figures_so_far()
    assert models.adversary == "models"
    assert models.epsilon <= plan().epsilon_bounds[1]
    assert of_server.epsilon is None
    assert str(of_server) == "no guarantee against the server, which knows the draw"


def test_a_budget_is_certified_before_the_first_round():
    found = Plan(clients=1000, cohort=50, rounds=20, epsilon=1, delta=1e-5, growing_mu=1.5)
    lower, upper = found.epsilon_bounds
    assert 0.99 < lower <= upper <= 1
    assert found.figures()[0].epsilon <= 1


def test_a_folder_resumes_and_a_spent_round_stays_spent(tmp_path):
    folder = tmp_path / "run"
    server = begun(folder=folder)
    make_round(server, arrays(1.0))
    model = server.model()
    server.open_round(range(40))
    del server
    again = Server.resume(folder, SHAPES)
    assert again.next_round == 2
    for before, after in zip(model, again.model(), strict=True):
        np.testing.assert_array_equal(before, after)
    with pytest.raises(tacita.ArgumentError, match="resume it"):
        begun(folder=folder)


def test_faults_are_named_and_move_nothing():
    def released(*messages):
        server = begun(seed=5)
        drawn = server.open_round(range(40))
        task = Task(server.order(drawn[0]), server.shapes)
        assert server.receive(drawn[0], task.answer(arrays(0.1))) is None
        seen = [server.receive(client(drawn), bytes_of(server, drawn)) for client, bytes_of in messages]
        server.close_round()
        return server.model(), seen

    def answered(server, client, value):
        return Task(server.order(client), server.shapes).answer(arrays(value))

    alone, _ = released()
    together, seen = released(
        (lambda drawn: drawn[1], lambda server, drawn: b"nonsense"),
        (lambda drawn: drawn[0], lambda server, drawn: answered(server, drawn[0], 9.0)),
        (lambda drawn: drawn[1], lambda server, drawn: answered(server, drawn[0], 9.0)),
        (lambda drawn: 99, lambda server, drawn: answered(server, 99, 9.0)),
    )
    assert seen == [
        "not a message of this protocol",
        "a second message in one round",
        "a message that names another client",
        "a message of a client that was not asked",
    ]
    for before, after in zip(alone, together, strict=True):
        np.testing.assert_array_equal(before, after)


def test_a_site_answers_for_its_clients():
    server = begun(seed=6)
    drawn = server.open_round(range(40))
    task = Task(server.order(drawn[0]), server.shapes)
    answer = task.answer_for([arrays(float("nan")), arrays(0.1)])
    assert server.receive_from_site(drawn[:2], answer) is None
    assert not server.is_complete


def test_an_update_of_another_shape_is_an_error_of_the_client():
    server = begun()
    server.open_round(range(40))
    task = Task(server.order(1), SHAPES)
    with pytest.raises(tacita.ArgumentError, match="shapes"):
        task.answer([np.zeros(8)])


def test_a_committee_makes_the_noise():
    committee_plan = plan(committee=(4, 1, 1), noise=2.0)
    server = Server.create(committee_plan, arrays(), learning_rate=1.0)
    drawn, committee = server.open_round_with(range(40), range(4))
    assert committee == [0, 1, 2, 3]
    total = np.zeros(8, np.int64)
    for client in {*drawn, *committee[:3]}:
        order = server.order(client, drawn=client in drawn, of_committee=client in committee)
        total += Task(order, SHAPES).masked_answer(arrays(0.1))
    assert server.close_round_with(total, 3).round == 0
    server.open_round_with(range(40), range(4))
    assert server.close_round_with(total, 2) is None
    kinds = [(figure.adversary, figure.colluding) for figure in server.figures()]
    assert kinds == [("models", 0), ("server", 0), ("models-and-colluding", 1), ("server", 1)]


@pytest.mark.parametrize(
    "bad",
    [{"noise": None}, {"epsilon": 1.0}, {"clipping": "hard"}, {"clients": 5}, {"delta": 2.0}, {"rounds": 0}],
)
def test_bad_plans_are_refused(bad):
    with pytest.raises(tacita.ArgumentError):
        plan(**bad)
