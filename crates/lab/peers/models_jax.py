"""The workloads' models in JAX, as a dictionary of parameters and a function of it."""

import jax
import jax.numpy as jnp

# Channels of VGG-11's convolutions; None is pooling.
VGG11 = [64, None, 128, None, 256, 256, None, 512, 512, None, 512, 512, None]


class Parameters(dict):
    """Newly initialised parameters, layer by layer."""

    def __init__(self):
        super().__init__()
        self._key = jax.random.key(0)

    def _normal(self, shape, scale):
        self._key, key = jax.random.split(self._key)
        return jax.random.normal(key, shape) * scale

    def linear(self, name, inputs, outputs):
        weight = self._normal((inputs, outputs), inputs**-0.5)
        self[name] = {"weight": weight, "bias": jnp.zeros(outputs)}

    def convolution(self, name, kernel, inputs, outputs):
        scale = (kernel * kernel * inputs) ** -0.5
        weight = self._normal((kernel, kernel, inputs, outputs), scale)
        self[name] = {"weight": weight, "bias": jnp.zeros(outputs)}

    def embedding(self, name, tokens, width):
        self[name] = self._normal((tokens, width), 1.0)

    def normalisation(self, name, width):
        self[name] = {"scale": jnp.ones(width), "bias": jnp.zeros(width)}


def linear(layer, inputs):
    return inputs @ layer["weight"] + layer["bias"]


def convolution(layer, images, stride=1, padding=1):
    layout = ("NHWC", "HWIO", "NHWC")
    sides = [(padding, padding)] * 2
    images = jax.lax.conv_general_dilated(
        images, layer["weight"], (stride, stride), sides, dimension_numbers=layout
    )
    return images + layer["bias"]


def transposed_convolution(layer, images):
    layout = ("NHWC", "HWIO", "NHWC")
    images = jax.lax.conv_transpose(
        images, layer["weight"], (1, 1), [(1, 1)] * 2, dimension_numbers=layout
    )
    return images + layer["bias"]


def max_pool(images, width, stride):
    window, strides = (1, width, width, 1), (1, stride, stride, 1)
    return jax.lax.reduce_window(images, -jnp.inf, jax.lax.max, window, strides, "VALID")


def standardised(values, axes):
    mean = values.mean(axes, keepdims=True)
    variance = ((values - mean) ** 2).mean(axes, keepdims=True)
    return (values - mean) * jax.lax.rsqrt(variance + 1e-5)


def layer_norm(layer, states):
    return standardised(states, -1) * layer["scale"] + layer["bias"]


def group_norm(layer, images, groups=32):
    batch, height, width, channels = images.shape
    grouped = images.reshape(batch, height, width, groups, channels // groups)
    normal = standardised(grouped, (1, 2, 4)).reshape(images.shape)
    return normal * layer["scale"] + layer["bias"]


relu = jax.nn.relu


def flatten(images):
    return images.reshape(images.shape[0], -1)


def cnn(parameters):
    parameters.convolution("first", 8, 1, 16)
    parameters.convolution("second", 4, 16, 32)
    parameters.linear("hidden", 512, 32)
    parameters.linear("output", 32, 10)

    def forward(p, images):
        images = max_pool(relu(convolution(p["first"], images, 2, 3)), 2, 1)
        images = max_pool(relu(convolution(p["second"], images, 2, 0)), 2, 1)
        return linear(p["output"], relu(linear(p["hidden"], flatten(images))))

    return forward


def mlp(parameters):
    parameters.linear("first", 784, 256)
    parameters.linear("second", 256, 256)
    parameters.linear("output", 256, 10)

    def forward(p, rows):
        hidden = relu(linear(p["first"], rows))
        return linear(p["output"], relu(linear(p["second"], hidden)))

    return forward


def embedding_mlp(parameters):
    parameters.embedding("embedding", 10_000, 16)
    parameters.linear("hidden", 16, 16)
    parameters.linear("output", 16, 2)

    def forward(p, tokens):
        mean = p["embedding"][tokens].mean(1)
        return linear(p["output"], relu(linear(p["hidden"], mean)))

    return forward


def lstm(parameters):
    parameters.embedding("embedding", 128, 64)
    parameters.linear("from_input", 64, 512)
    parameters.linear("from_state", 128, 512)
    parameters.linear("output", 128, 18)

    def forward(p, tokens):
        inputs = linear(p["from_input"], p["embedding"][tokens])

        def cell(carried, from_input):
            state, memory = carried
            gates = from_input + linear(p["from_state"], state)
            enter, keep, new, leave = jnp.split(gates, 4, -1)
            memory = jax.nn.sigmoid(keep) * memory + jax.nn.sigmoid(enter) * jnp.tanh(new)
            state = jax.nn.sigmoid(leave) * jnp.tanh(memory)
            return (state, memory), None

        zeros = jnp.zeros((tokens.shape[0], 128))
        (state, _), _ = jax.lax.scan(cell, (zeros, zeros), inputs.transpose(1, 0, 2))
        return linear(p["output"], state)

    return forward


def autoencoder(parameters):
    channels = [1, 8, 16, 32, 64]
    for index in range(4):
        parameters.convolution(f"down{index}", 3, channels[index], channels[index + 1])
        parameters.convolution(f"up{index}", 3, channels[4 - index], channels[3 - index])

    def forward(p, images):
        for index in range(4):
            images = relu(convolution(p[f"down{index}"], images))
        for index in range(4):
            images = transposed_convolution(p[f"up{index}"], images)
            if index < 3:
                images = relu(images)
        return images

    return forward


def transformer(parameters, width=256, heads=4, hidden=1024, layers=4):
    parameters.embedding("tokens", 10_000, width)
    parameters.embedding("positions", 128, width)
    for index in range(layers):
        for name in ("query", "key", "value", "joined"):
            parameters.linear(f"{name}{index}", width, width)
        parameters.linear(f"inner{index}", width, hidden)
        parameters.linear(f"outer{index}", hidden, width)
        parameters.normalisation(f"before_attention{index}", width)
        parameters.normalisation(f"before_hidden{index}", width)
    parameters.normalisation("normal", width)
    parameters.linear("output", width, 2)

    def encoder_layer(p, index, states):
        batch, length, _ = states.shape
        normal = layer_norm(p[f"before_attention{index}"], states)
        query, key, value = (
            linear(p[f"{name}{index}"], normal).reshape(batch, length, heads, width // heads)
            for name in ("query", "key", "value")
        )
        scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) / (width // heads) ** 0.5
        attended = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, -1), value)
        attended = attended.reshape(batch, length, width)
        states = states + linear(p[f"joined{index}"], attended)
        inner = linear(p[f"inner{index}"], layer_norm(p[f"before_hidden{index}"], states))
        return states + linear(p[f"outer{index}"], jax.nn.gelu(inner, approximate=False))

    def forward(p, tokens):
        states = p["tokens"][tokens] + p["positions"][: tokens.shape[1]]
        for index in range(layers):
            states = encoder_layer(p, index, states)
        return linear(p["output"], layer_norm(p["normal"], states).mean(1))

    return forward


def resnet9(parameters):
    blocks = {
        "start0": (3, 64),
        "start1": (64, 128),
        "first0": (128, 128),
        "first1": (128, 128),
        "middle0": (128, 256),
        "middle1": (256, 512),
        "second0": (512, 512),
        "second1": (512, 512),
    }
    for name, (inputs, outputs) in blocks.items():
        parameters.convolution(name, 3, inputs, outputs)
        parameters.normalisation(f"{name}_normal", outputs)
    parameters.linear("output", 512, 10)

    def forward(p, images):
        def block(name, images):
            return relu(group_norm(p[f"{name}_normal"], convolution(p[name], images)))

        images = max_pool(block("start1", block("start0", images)), 2, 2)
        images = images + block("first1", block("first0", images))
        images = max_pool(block("middle0", images), 2, 2)
        images = max_pool(block("middle1", images), 2, 2)
        images = images + block("second1", block("second0", images))
        return linear(p["output"], flatten(max_pool(images, 4, 4)))

    return forward


def vgg11(parameters):
    before = 3
    for index, channels in enumerate(VGG11):
        if channels is not None:
            parameters.convolution(f"convolution{index}", 3, before, channels)
            before = channels
    parameters.linear("first", 2048, 4096)
    parameters.linear("second", 4096, 4096)
    parameters.linear("output", 4096, 10)

    def forward(p, images):
        for index, channels in enumerate(VGG11):
            if channels is None:
                images = max_pool(images, 2, 2)
            else:
                images = relu(convolution(p[f"convolution{index}"], images))
        hidden = relu(linear(p["first"], flatten(images)))
        return linear(p["output"], relu(linear(p["second"], hidden)))

    return forward


MODELS = {
    "cnn": cnn,
    "mlp": mlp,
    "embedding-mlp": embedding_mlp,
    "lstm": lstm,
    "autoencoder": autoencoder,
    "transformer": transformer,
    "resnet9": resnet9,
    "vgg11": vgg11,
}


def build(name):
    """The parameters of a workload's model and its function of parameters and inputs."""
    parameters = Parameters()
    forward = MODELS[name](parameters)
    return dict(parameters), forward
