"""The history of a run of another library, as JSON.

Objects are told apart by the names of their classes and what they have, so that no other library is imported.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._arguments import choice, number, probability, whole
from .errors import ArgumentError, HistoryError
from .ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["export_history"]

_POISSON_SAMPLERS = {"UniformWithReplacementSampler", "DistributedUniformWithReplacementSampler"}
_SHUFFLING_SAMPLERS = {"RandomSampler", "SequentialSampler", "DistributedSampler"}


def export_history(
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
) -> str:
    """The history of a run as JSON text, to keep beside a model and to give to ``tacita certify FILE``.

    It may also be kept in a model file itself:
    ``safetensors.torch.save_file(tensors, path, metadata={"privacy_history": text})``.

    The arguments are those of :func:`certify`.

    >>> import tacita
    >>> text = tacita.export_history([(1.0, 0.01, 500)], delta=1e-5, reported=1.4)
    >>> print(text)
    {"tacita_history": 1, "events": [[1.0, 0.01, 500]], "reported": {"epsilon": 1.4, "delta": 1e-05}}
    """
    import json

    known: dict[str, Any] = {"tacita_history": 1}
    known.update(_read(run, steps))
    theirs = known.get("reported", {})
    if delta is None and "delta" in theirs:
        delta = theirs["delta"]
    if reported is None:
        reported = theirs.get("epsilon")
    claim: dict[str, float] = {}
    if delta is not None:
        claim["delta"] = probability("delta", delta)
        if reported is None:
            reported = _reported(run, claim["delta"])
    if reported is not None:
        epsilon = number("reported", reported)
        # JSON has no infinity, and an infinite ε claims nothing.
        claim = {"epsilon": epsilon, **claim} if math.isfinite(epsilon) else claim
    known["reported"] = claim
    drawn = batches or _batches_of(loader)
    if drawn is not None:
        known["batches"] = choice("batches", drawn, ("poisson", "shuffled", "unknown"))
    divided = divisor or _divisor_of(optimizer, loader)
    if divided is not None:
        known["divisor"] = choice("divisor", divided, ("declared", "from-data", "unknown"))
    if records_per_unit is not None:
        known["records_per_unit"] = whole("records_per_unit", records_per_unit, most=2**32 - 1)
    return json.dumps(known, allow_nan=False)


def _read(run: Any, steps: int | None) -> dict[str, Any]:
    """The events of a run, and what its object says of the circumstances."""
    names = {cls.__name__ for cls in type(run).__mro__}
    if steps is not None and not names & {"DpParams"}:
        raise ArgumentError("steps goes with DpParams, which do not have their number")
    if isinstance(run, Ledger):
        return {"events": _json_object(run.to_json())}
    if "PrivacyEngine" in names and hasattr(run, "accountant"):
        secure = bool(getattr(run, "secure_mode", False))
        return {**_read(run.accountant, None), "secure_noise": secure}
    if hasattr(run, "history") and callable(getattr(run, "mechanism", None)):
        state = {"history": _triples(run.history), "mechanism": str(run.mechanism())}
        return {"events": state}
    if "DpEvent" in names:
        return {"events": event_object(run)}
    if hasattr(run, "ledger") and hasattr(run, "neighboring_relation"):
        relation = str(run.neighboring_relation.name).lower().replace("_", "-")
        events = event_object(run.ledger)
        return {"events": events, "neighbours": relation, "accountant": type(run).__name__}
    if "DpParams" in names:
        return _dp_params(run, steps)
    if "DPKerasConfig" in names:
        return _keras_config(run)
    if hasattr(run, "dp_event"):
        return {"events": event_object(run.dp_event)}
    if hasattr(run, "compose") and callable(getattr(run, "state_dict", None)):
        return {"events": run.state_dict()}
    if isinstance(run, Mapping):
        return {"events": _state(run)}
    if isinstance(run, Sequence) and not isinstance(run, (str, bytes)):
        return {"events": _triples(run)}
    raise HistoryError(
        f"no history is known in an object of the class {type(run).__name__}; known are Opacus accountants and "
        "engines, dp_accounting events and accountants, Flower accountants, DpParams, DPKerasConfig and execution "
        "plans of JAX Privacy, checkpoints, and lists of (noise, rate, steps)"
    )


def _json_object(text: str) -> Any:
    import json

    return json.loads(text)


def _state(run: Mapping[Any, Any]) -> dict[str, Any]:
    """A checkpoint of Opacus, or the state of an accountant."""
    state = run.get("privacy_accountant_state_dict", run)
    if "history" in state:
        return {"history": _triples(state["history"]), "mechanism": state.get("mechanism")}
    return dict(state)


def _triples(history: Iterable[Any]) -> list[Any]:
    """(noise, rate, steps) of each entry; what is no triple is left as it is and refused by name later."""
    triples: list[Any] = []
    for place, entry in enumerate(history):
        if isinstance(entry, Mapping):
            triples.append({key: _plain(value, f"entry {place}") for key, value in entry.items()})
            continue
        parts = list(entry) if isinstance(entry, Sequence) else [entry]
        triples.append([_plain(value, f"entry {place}") for value in parts])
    return triples


def event_object(event: object) -> dict[str, Any]:
    """An event of ``dp_accounting`` as the JSON of its named tuple."""
    cls = type(event)
    fields = [field.name for field in getattr(cls, "__attrs_attrs__", ())] or list(
        getattr(event, "__dict__", {})
    )
    value: dict[str, Any] = {"class_name": cls.__name__}
    for name in fields:
        value[name] = _field(getattr(event, name), f"{cls.__name__}.{name}")
    return value


def _field(value: object, place: str) -> Any:
    if any(cls.__name__ == "DpEvent" for cls in type(value).__mro__):
        return event_object(value)
    if isinstance(value, (list, tuple)):
        return [_field(one, place) for one in value]
    # The shape of the Poisson distribution; JSON has no infinity.
    if place == "RepeatAndSelectDpEvent.shape" and value == math.inf:
        return None
    return _plain(value, place)


def _plain(value: object, place: str) -> Any:
    """A number, a text or nothing, as JSON has it."""
    if value is None or isinstance(value, (bool, str)):
        return value
    item = getattr(value, "item", None)
    plain = item() if callable(item) else value
    if isinstance(plain, int):
        return plain
    if isinstance(plain, float):
        if not math.isfinite(plain):
            raise HistoryError(f"{place} is {plain}, which is no number of a history")
        return plain
    if callable(getattr(plain, "tolist", None)):
        return plain.tolist()  # type: ignore[union-attr]
    raise HistoryError(f"{place} must be a number, got {type(plain).__name__}")


def _reported(run: Any, delta: float) -> float | None:
    """The ε that the object's own accountant reports."""
    import warnings

    accountant = getattr(run, "accountant", run)
    get_epsilon = getattr(accountant, "get_epsilon", None)
    if not callable(get_epsilon):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return float(get_epsilon(delta))
        except Exception as error:
            reason = f"{type(accountant).__name__}.get_epsilon failed: {error}"
    warnings.warn(f"{reason}; nothing to compare with", stacklevel=4)
    return None


def _batches_of(loader: Any) -> str | None:
    """How a PyTorch loader draws its batches."""
    if loader is None:
        return None
    batch_sampler = getattr(loader, "batch_sampler", None)
    samplers = [
        batch_sampler,
        getattr(batch_sampler, "sampler", None),
        getattr(loader, "sampler", None),
    ]
    names = {cls.__name__ for sampler in samplers for cls in type(sampler).__mro__}
    if names & _POISSON_SAMPLERS:
        return "poisson"
    return "shuffled" if names & _SHUFFLING_SAMPLERS else "unknown"


def _divisor_of(optimizer: Any, loader: Any) -> str | None:
    """What an Opacus optimiser divides by."""
    if optimizer is None:
        return None
    if getattr(optimizer, "loss_reduction", None) == "sum":
        return "declared"
    expected = getattr(optimizer, "expected_batch_size", None)
    if expected is None or loader is None:
        return "unknown"
    # What PrivacyEngine.make_private computes.
    computed = int(len(loader.dataset) * (1 / len(loader)))
    return "from-data" if expected == computed else "declared"


def _dp_params(params: Any, steps: int | None) -> dict[str, Any]:
    """The parameters of a run of JAX Privacy, as the events that its accountant composes."""
    if steps is None:
        raise ArgumentError("DpParams do not have the number of updates; give steps")
    known: dict[str, Any] = {
        "source": "JAX Privacy parameters",
        "reported": {"delta": float(params.delta)},
    }
    if params.examples_per_user is not None:
        known["records_per_unit"] = int(params.examples_per_user)
    fixed = str(params.sampling_method.name) == "FIXED_BATCH_SIZE"
    events = []
    for count, noise, batch in _segments(params, whole("steps", steps)):
        cycle = params.cycle_length or 1
        group = int(params.num_samples) // cycle
        if params.truncated_batch_size is not None:
            event: dict[str, Any] = {"class_name": "TruncatedSubsampledGaussianDpEvent"}
        elif fixed:
            gaussian = {"class_name": "GaussianDpEvent", "noise_multiplier": noise / 2}
            event = {
                "class_name": "SampledWithoutReplacementDpEvent",
                "source_dataset_size": group,
                "sample_size": batch,
                "event": gaussian,
            }
        else:
            gaussian = {"class_name": "GaussianDpEvent", "noise_multiplier": noise}
            event = {
                "class_name": "PoissonSampledDpEvent",
                "sampling_probability": batch / group,
                "event": gaussian,
            }
        times = math.ceil(count / cycle)
        events.append({"class_name": "SelfComposedDpEvent", "event": event, "count": times})
    known["events"] = {"class_name": "ComposedDpEvent", "events": events}
    return known


def _segments(params: Any, steps: int) -> list[tuple[int, float, int]]:
    """(steps, noise multiplier, batch size) of each part of a run whose settings change at given steps."""

    def changes(given: Any) -> list[tuple[int, Any]]:
        if hasattr(given, "__len__"):
            return sorted((int(start), value) for start, value in given)
        return [(0, given)]

    noises, batches = changes(params.noise_multipliers), changes(params.batch_sizes)
    starts = sorted({start for start, _ in noises + batches if start < steps})
    ends = [*starts[1:], steps]
    segments = []
    for start, end in zip(starts, ends, strict=True):
        noise = [value for at, value in noises if at <= start][-1]
        batch = [value for at, value in batches if at <= start][-1]
        segments.append((end - start, float(noise), int(batch)))
    return segments


def _keras_config(config: Any) -> dict[str, Any]:
    """The configuration of JAX Privacy's Keras interface."""
    if config.noise_multiplier is None:
        raise HistoryError(
            "this DPKerasConfig has no noise multiplier yet; see update_with_calibrated_noise_multiplier"
        )
    gaussian = {"class_name": "GaussianDpEvent", "noise_multiplier": float(config.noise_multiplier)}
    event = {
        "class_name": "PoissonSampledDpEvent",
        "sampling_probability": int(config.effective_batch_size) / int(config.train_size),
        "event": gaussian,
    }
    return {
        "source": "JAX Privacy, Keras configuration",
        "events": {
            "class_name": "SelfComposedDpEvent",
            "event": event,
            "count": int(config.train_steps),
        },
        "reported": {"epsilon": float(config.epsilon), "delta": float(config.delta)},
        "batches": "poisson" if config.poisson_sampling_in_fit else "unknown",
        "divisor": "declared",
    }
