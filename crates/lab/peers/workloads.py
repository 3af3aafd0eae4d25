"""The workloads of `tacita-lab bench step`: sizes, optimisers and synthetic data of the same shapes."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Images:
    """Square images with one of ten classes, or to be reconstructed."""

    channels: int
    width: int
    reconstructed: bool = False


@dataclass(frozen=True)
class Rows:
    """Rows of numbers with one of ten classes."""

    width: int


@dataclass(frozen=True)
class Tokens:
    """Sequences of tokens with a class."""

    length: int
    vocabulary: int
    classes: int


@dataclass(frozen=True)
class Workload:
    batch: int
    optimizer: str
    data: Images | Rows | Tokens
    parameters: int


WORKLOADS = {
    "cnn": Workload(256, "sgd", Images(1, 28), 26_010),
    "mlp": Workload(512, "sgd", Rows(784), 269_322),
    "embedding-mlp": Workload(512, "adam", Tokens(256, 10_000, 2), 160_306),
    "lstm": Workload(256, "sgd", Tokens(15, 128, 18), 109_842),
    "autoencoder": Workload(128, "sgd", Images(1, 28, reconstructed=True), 48_705),
    "transformer": Workload(32, "adam", Tokens(128, 10_000, 2), 5_752_834),
    "resnet9": Workload(64, "sgd", Images(3, 32), 6_575_370),
    "vgg11": Workload(32, "sgd", Images(3, 64), 34_435_466),
}

LEARNING_RATES = {"sgd": 0.05, "adam": 1e-3}
# The cost of a step does not depend on these.
CLIPPING_THRESHOLD = 1.0
NOISE_MULTIPLIER = 1.0


def check_parameters(name, count):
    """Refuses a model of another size than Tacita's, whose own test holds the same numbers."""
    wanted = WORKLOADS[name].parameters
    if count != wanted:
        raise RuntimeError(f"{name} should have {wanted} parameters, not {count}")


def synthetic_batch(name, batch):
    """Inputs and targets of one batch, as NumPy arrays; images are channels first."""
    import numpy

    random = numpy.random.default_rng(0)
    match WORKLOADS[name].data:
        case Tokens(length, vocabulary, classes):
            inputs = random.integers(1, vocabulary, (batch, length))
            return inputs, random.integers(0, classes, batch)
        case Rows(width):
            inputs = random.standard_normal((batch, width), dtype="float32")
        case Images(channels, width, reconstructed):
            shape = (batch, channels, width, width)
            inputs = random.standard_normal(shape, dtype="float32")
            if reconstructed:
                return inputs, inputs
    return inputs, random.integers(0, 10, batch)
