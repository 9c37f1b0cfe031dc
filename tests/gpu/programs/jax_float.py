# SPDX-License-Identifier: Apache-2.0
"""jax_float.py - gradient descent with a moving average of the weights, in JAX."""
import jax
import jax.numpy as jnp

from steps import FIXED, timed

EVERY = 50 if FIXED else 1
key = jax.random.PRNGKey(0)
params = [jax.random.normal(k, (1024, 1024)) * 0.03 for k in jax.random.split(key, 6)]
batches = [jax.random.normal(k, (2048, 1024)) for k in jax.random.split(key, 4)]
state = {"params": params, "average": params, "losses": []}


def error(params, x):
    for w in params:
        x = jnp.tanh(x @ w)
    return jnp.mean((x - 0.1) ** 2)


gradient = jax.jit(jax.value_and_grad(error))


@jax.jit
def descend(params, grads):
    return jax.tree.map(lambda p, g: p - 0.05 * g, params, grads)


@jax.jit
def follow(average, params):
    return jax.tree.map(lambda a, p: 0.99 * a + 0.01 * p, average, params)


def step(i):
    loss, grads = gradient(state["params"], batches[i % len(batches)])
    state["params"] = descend(state["params"], grads)
    state["average"] = follow(state["average"], state["params"])
    if i % EVERY == 0:
        state["losses"].append(float(loss))


timed(step, steps=1000, warmup=60, wait=lambda: jax.block_until_ready(state["average"]))
