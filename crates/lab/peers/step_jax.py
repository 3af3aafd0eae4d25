"""One training step with JAX: plain, or with JAX Privacy."""

import jax
import jax.numpy as jnp
import optax

import models_jax
from workloads import (
    CLIPPING_THRESHOLD,
    LEARNING_RATES,
    NOISE_MULTIPLIER,
    WORKLOADS,
    Images,
    check_parameters,
)


def smallest_step():
    """The first compilation loads the compiler."""
    jax.block_until_ready(jax.jit(jax.grad(jnp.sin))(1.0))


def make_step(name, mode, batch):
    """A function that makes one step on the batch, given as NumPy arrays."""
    workload = WORKLOADS[name]
    inputs, targets = (as_jax(values, workload.data) for values in batch)
    parameters, forward = models_jax.build(name)
    check_parameters(name, sum(values.size for values in jax.tree.leaves(parameters)))
    rule = {"sgd": optax.sgd, "adam": optax.adam}[workload.optimizer]
    optimizer = rule(LEARNING_RATES[workload.optimizer])

    def loss(parameters, inputs, targets):
        outputs = forward(parameters, inputs)
        if name == "autoencoder":
            return jnp.mean((outputs - targets) ** 2)
        return optax.softmax_cross_entropy_with_integer_labels(outputs, targets).mean()

    gradient, noise_state = gradient_function(mode, loss, parameters, len(inputs))

    def update(parameters, optimizer_state, noise_state, inputs, targets):
        gradients, noise_state = gradient(parameters, noise_state, inputs, targets)
        updates, optimizer_state = optimizer.update(gradients, optimizer_state, parameters)
        return optax.apply_updates(parameters, updates), optimizer_state, noise_state

    compiled = jax.jit(update, donate_argnums=(0, 1, 2))
    state = [parameters, optimizer.init(parameters), noise_state]

    def step():
        state[:] = compiled(*state, inputs, targets)
        jax.block_until_ready(state)

    return step


def gradient_function(mode, loss, parameters, batch):
    """Gradients from (parameters, state of the noise, inputs, targets), and the first state."""
    if mode == "jax":
        plain = jax.grad(loss)
        return lambda p, state, inputs, targets: (plain(p, inputs, targets), state), jnp.zeros(())

    import jax_privacy

    clipped = jax_privacy.clipped_grad(
        loss,
        l2_clip_norm=CLIPPING_THRESHOLD,
        batch_argnums=(1, 2),
        normalize_by=float(batch),
    )
    noise = jax_privacy.noise_addition.gaussian_privatizer(
        stddev=NOISE_MULTIPLIER * CLIPPING_THRESHOLD / batch, prng_key=jax.random.key(1)
    )

    def private(parameters, state, inputs, targets):
        return noise.update(clipped(parameters, inputs, targets), state)

    return private, noise.init(parameters)


def as_jax(values, data):
    """Channels last and 32 bits, as JAX likes best."""
    if isinstance(data, Images) and values.ndim == 4:
        values = values.transpose(0, 2, 3, 1).copy()
    if values.dtype.kind == "i":
        values = values.astype("int32")
    return jnp.asarray(values)
