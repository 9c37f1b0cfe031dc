"""jax_eager.py - gradient descent on a small network in JAX."""
import jax
import jax.numpy as jnp

from steps import FIXED, timed

key = jax.random.PRNGKey(0)
layers = [jax.random.normal(k, (512, 512)) * 0.05 for k in jax.random.split(key, 6)]
x, y = jax.random.normal(key, (2048, 512)), jax.random.normal(key, (2048, 512))


def loss(params, x, y):
    for w in params:
        x = jnp.tanh(x @ w)
    return jnp.mean((x - y) ** 2)


def update(params):
    grads = jax.grad(loss)(params, x, y)
    return [w - 0.01 * g for w, g in zip(params, grads)]


if FIXED:
    update = jax.jit(update)
state = {"params": layers}


def step(i):
    state["params"] = update(state["params"])


timed(step, steps=200, warmup=30, wait=lambda: jax.block_until_ready(state["params"]))
# SPDX-License-Identifier: Apache-2.0
