"""JAX: training steps of a small network, compiled by XLA. Ways of computing are fixed, so that runs can be compared."""
import os

# XLA times its choices otherwise, and a profiled run would choose others; and it takes most of the memory at once.
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_gpu_deterministic_ops=true --xla_gpu_autotune_level=0"
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import jax.numpy as jnp
import numpy

from shown import show


def network(weights, x):
    for w, b in weights[:-1]:
        x = jax.nn.gelu(x @ w + b)
    w, b = weights[-1]
    return x @ w + b


def loss(weights, x, y):
    return jnp.mean((network(weights, x) - y) ** 2)


@jax.jit
def step(weights, x, y):
    value, slopes = jax.value_and_grad(loss)(weights, x, y)
    return jax.tree.map(lambda weight, slope: weight - 1e-2 * slope, weights, slopes), value


keys = jax.random.split(jax.random.key(0), 5)
sizes = [(256, 512), (512, 512), (512, 64)]
weights = [(jax.random.normal(key, size) * 0.05, jnp.zeros(size[1])) for key, size in zip(keys, sizes)]
x, y = jax.random.normal(keys[3], (128, 256)), jax.random.normal(keys[4], (128, 64))
values = []
for _ in range(6):
    weights, value = step(weights, x, y)
    values.append(value)
show("losses", numpy.asarray(jnp.stack(values)))
for at, (w, b) in enumerate(weights):
    show(f"weights {at}", numpy.asarray(w))
    show(f"bias {at}", numpy.asarray(b))
