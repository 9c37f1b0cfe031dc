"""solver_cupy.py - Jacobi iteration in CuPy until the residual is small."""
import cupy

from steps import FIXED, timed

N = 2048
cupy.random.seed(0)
a = cupy.random.random((N, N)) + N * cupy.eye(N)
b = cupy.random.random(N)
diagonal = cupy.diag(a).copy()
rest = a - cupy.diag(diagonal)
state = {"x": cupy.zeros(N), "done": False}


def step(i):
    x = state["x"]
    new = (b - rest @ x) / diagonal
    state["x"] = new
    residual = cupy.linalg.norm(new - x)
    if FIXED and i % 50:
        return
    if float(residual) < 1e-12:
        state["done"] = True


timed(step, steps=400, warmup=50, wait=cupy.cuda.Device().synchronize)
# SPDX-License-Identifier: Apache-2.0
