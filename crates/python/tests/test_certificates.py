"""Certificates of histories that other libraries made, without these libraries."""

import json
import math
import types

import numpy as np
import pytest
import tacita
from conftest import ROOT

STORED = json.loads((ROOT / "crates" / "certify" / "tests" / "data" / "peers.json").read_text())
CASES = STORED["cases"]
HISTORY = [(1.0, 512 / 60_000, 1172)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_stored_histories_are_certified_from_files(case, tmp_path):
    path = tmp_path / "history.json"
    path.write_text(json.dumps(case["history"]))
    if "refused" in case:
        with pytest.raises(tacita.HistoryError, match=case["refused"]):
            tacita.certify(path)
        return
    certificate = tacita.certify(str(path))
    assert certificate.verdict == case["verdict"]
    assert set(case["found"]) <= {finding.kind for finding in certificate.findings}
    assert certificate.reported == case["history"]["reported"].get("epsilon")


def test_a_false_figure_lies_below_the_bracket_of_its_ledger():
    certificate = tacita.certify(HISTORY, delta=1e-5, reported=1.48)
    assert certificate.verdict == "false"
    assert certificate.bracket == certificate.ledger.epsilon(1e-5)
    assert certificate.bracket == tacita.epsilon(
        noise=1.0, rate=512 / 60_000, steps=1172, delta=1e-5
    )
    worst = certificate.findings[0]
    assert (worst.kind, worst.weight) == ("epsilon-too-small", "wrong")
    assert "1.48" in worst.text
    assert certificate.delta == 1e-5


def test_certificates_are_shown_in_terminals_and_notebooks():
    certificate = tacita.certify(HISTORY, delta=1e-5, reported=1.48)
    assert "FALSE" in str(certificate)
    assert repr(certificate).startswith("<Certificate: false, ε in [1.6621, 1.6623] at δ = 1e-05")
    page = certificate._repr_html_()
    assert "<table>" in page
    assert page.count("<tr>") == len(certificate.findings)
    assert json.loads(certificate.to_json())["verdict"] == "false"


class Accountant:
    """What an Opacus accountant has."""

    def __init__(self, history, epsilon=None):
        self.history = history
        self.epsilon = epsilon

    def mechanism(self):
        return "gdp"

    def get_epsilon(self, delta):
        if self.epsilon is None:
            raise RuntimeError("it did not converge")
        return self.epsilon


def test_an_accountant_is_asked_what_it_reports():
    certificate = tacita.certify(Accountant(HISTORY, 1.4817), delta=1e-5)
    assert certificate.reported == 1.4817
    assert certificate.source == "Opacus accountant (gdp)"
    assert "limit-theorem" in {finding.kind for finding in certificate.findings}
    with pytest.warns(UserWarning, match="did not converge"):
        failed = tacita.certify(Accountant(HISTORY), delta=1e-5)
    assert failed.verdict == "not-compared"
    infinite = tacita.certify(Accountant(HISTORY, math.inf), delta=1e-5)
    assert infinite.verdict == "not-compared"
    given = tacita.certify(Accountant(HISTORY, 1.4817), delta=1e-5, reported=1.7)
    assert given.reported == 1.7


def test_numpy_numbers_and_mappings_are_read():
    numbers = [(np.float64(1.0), np.float32(0.5), np.int64(3))]
    assert tacita.certify(numbers, delta=1e-5).ledger.steps == 3
    named = [{"noise": 1.0, "rate": 0.5, "steps": 3}]
    assert tacita.certify(named, delta=1e-5).bracket == tacita.certify(numbers, delta=1e-5).bracket
    state = {"history": HISTORY, "mechanism": "rdp"}
    checkpoint = {"privacy_accountant_state_dict": state, "module_state_dict": {}}
    assert tacita.certify(checkpoint, delta=1e-5).source == "Opacus accountant (rdp)"


def test_a_ledger_is_a_history_too():
    ledger = tacita.Ledger(records_per_unit=2)
    ledger.add(noise=2.0, side_noise=9.0, rate=0.1, steps=10)
    certificate = tacita.certify(ledger, delta=1e-5)
    assert certificate.ledger == ledger
    assert certificate.bracket == ledger.epsilon(1e-5)


class DpEvent:
    """What events of dp_accounting derive from."""


class GaussianDpEvent(DpEvent):
    def __init__(self, noise_multiplier):
        self.noise_multiplier = noise_multiplier


class OurOwnDpEvent(DpEvent):
    pass


def test_events_are_known_by_name_and_unknown_ones_refused_by_name():
    certificate = tacita.certify(GaussianDpEvent(5.0), delta=1e-5)
    assert certificate.ledger.rounds == [tacita.Round("full", (), (5.0,), 1)]
    with pytest.raises(tacita.HistoryError, match="OurOwnDpEvent"):
        tacita.certify(OurOwnDpEvent(), delta=1e-5)
    with pytest.raises(tacita.HistoryError, match=r"GaussianDpEvent\.noise_multiplier is inf"):
        tacita.certify(GaussianDpEvent(math.inf), delta=1e-5)


class Loader:
    """What a PyTorch loader has."""

    def __init__(self, sampler, records=100, batches=10):
        self.batch_sampler = types.SimpleNamespace(sampler=type(sampler, (), {})())
        self.dataset = range(records)
        self.batches = batches

    def __len__(self):
        return self.batches


@pytest.mark.parametrize(
    ("sampler", "kind"),
    [
        ("UniformWithReplacementSampler", None),
        ("RandomSampler", "batches-shuffled"),
        ("MysterySampler", "batches-unknown"),
    ],
)
def test_the_loader_tells_how_batches_were_drawn(sampler, kind):
    certificate = tacita.certify(HISTORY, delta=1e-5, loader=Loader(sampler))
    kinds = {finding.kind for finding in certificate.findings if "batches" in finding.kind}
    assert kinds == ({kind} if kind else set())


@pytest.mark.parametrize(
    ("optimizer", "kind"),
    [
        ({"loss_reduction": "sum", "expected_batch_size": None}, None),
        ({"loss_reduction": "mean", "expected_batch_size": 10}, "divisor-from-data"),
        ({"loss_reduction": "mean", "expected_batch_size": 16}, None),
        ({"loss_reduction": "mean", "expected_batch_size": None}, "divisor-unknown"),
    ],
)
def test_the_optimiser_tells_what_gradients_were_divided_by(optimizer, kind):
    optimizer = types.SimpleNamespace(**optimizer)
    loader = Loader("RandomSampler")
    certificate = tacita.certify(HISTORY, delta=1e-5, loader=loader, optimizer=optimizer)
    kinds = {finding.kind for finding in certificate.findings if "divisor" in finding.kind}
    assert kinds == ({kind} if kind else set())


def test_an_exported_history_is_the_history(tmp_path):
    options = {"delta": 1e-5, "batches": "shuffled", "divisor": "from-data"}
    accountant = Accountant(HISTORY, 1.4817)
    path = tmp_path / "history.json"
    path.write_text(tacita.export_history(accountant, **options))
    assert tacita.certify(path).to_json() == tacita.certify(accountant, **options).to_json()
    # What is said now takes precedence.
    assert tacita.certify(path, reported=9.0, batches="poisson", delta=1e-6).reported == 9.0


def test_metadata_of_safetensors_hold_it_too(tmp_path):
    text = tacita.export_history(HISTORY, delta=1e-5, reported=2.0)
    header = json.dumps({"__metadata__": {"privacy_history": text}}).encode()
    path = tmp_path / "model.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    assert tacita.certify(path).verdict == "loose"


def test_what_cannot_be_certified_says_why(tmp_path):
    with pytest.raises(
        tacita.HistoryError, match="no history is known in an object of the class int"
    ):
        tacita.certify(3, delta=1e-5)
    with pytest.raises(tacita.ArgumentError, match="history has none"):
        tacita.certify(HISTORY)
    with pytest.raises(tacita.LedgerError, match="no rounds"):
        tacita.certify([], delta=1e-5)
    with pytest.raises(tacita.ArgumentError, match="batches must be one of"):
        tacita.certify(HISTORY, delta=1e-5, batches="random")
    with pytest.raises(tacita.ArgumentError, match="steps goes with DpParams"):
        tacita.certify(HISTORY, delta=1e-5, steps=3)
    with pytest.raises(tacita.HistoryError, match="entry 0"):
        tacita.certify([(1.0, 0.1)], delta=1e-5)
    pickle = tmp_path / "checkpoint.pt"
    pickle.write_bytes(b"PK\x03\x04 and the rest of it")
    with pytest.raises(tacita.HistoryError, match="export_history"):
        tacita.certify(pickle)
    with pytest.raises(tacita.ArgumentError, match="loader goes with an object"):
        tacita.certify(pickle, loader=3)
