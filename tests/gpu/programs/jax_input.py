"""jax_input.py - trains a small convolutional network in JAX on crops that NumPy cuts."""
import jax
import jax.numpy as jnp
import numpy as np

from steps import FIXED, timed

rng = np.random.default_rng(0)
pictures = rng.integers(0, 256, (512, 96, 96, 3), dtype=np.uint8)
labels = rng.integers(0, 10, 512)
key = jax.random.PRNGKey(0)
params = {"conv": jax.random.normal(key, (5, 5, 3, 64)) * 0.1, "conv2": jax.random.normal(key, (3, 3, 64, 128)) * 0.05,
          "out": jax.random.normal(key, (128, 10)) * 0.1}


def batches(size=256):
    while True:
        rows = rng.integers(0, len(pictures), size)
        top, left = rng.integers(0, 32, (2, size))
        crops = np.stack([pictures[r, t:t + 64, l:l + 64] for r, t, l in zip(rows, top, left)]).astype(np.float32)
        crops = (crops - crops.mean((1, 2), keepdims=True)) / (crops.std((1, 2), keepdims=True) + 1e-3)
        yield crops, labels[rows]


def kept(source, n=8):
    ready = [jax.device_put(next(source)) for _ in range(n)]
    while True:
        yield from ready


def loss(params, x, y):
    x = jax.nn.relu(jax.lax.conv_general_dilated(x, params["conv"], (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
    x = jax.nn.relu(jax.lax.conv_general_dilated(x, params["conv2"], (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
    return -jnp.mean(jax.nn.log_softmax(x.mean((1, 2)) @ params["out"])[jnp.arange(len(y)), y])


@jax.jit
def update(params, x, y):
    grads = jax.grad(loss)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


source = kept(batches()) if FIXED else batches()
state = {"params": params}


def step(i):
    x, y = next(source)
    state["params"] = update(state["params"], x, y)


timed(step, steps=30, warmup=6, wait=lambda: jax.block_until_ready(state["params"]))
# SPDX-License-Identifier: Apache-2.0
