"""Check-pointing need not stop the GPU: copy to pinned memory, on a stream of its own.

    python3 power.py              every 10th step: copy the vector to the host, save it, read the residual
    python3 power.py --overlap    the same, but the copy runs beside the next steps and is saved one check later

Power iteration with CuPy. cp.asnumpy() and float() wait until the GPU has caught up; meanwhile nothing new is launched,
and while the file is written the GPU has nothing to do.
"""
import argparse
import os
import tempfile
import time

import cupy as cp
import numpy as np
from cupyx import empty_pinned
from cupyx.profiler import time_range

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--overlap", action="store_true", help="copy beside the computation")
parser.add_argument("--steps", type=int, default=100)
parser.add_argument("--warmup", type=int, default=20)
parser.add_argument("--every", type=int, default=10, help="steps between check-points")
parser.add_argument("--n", type=int, default=20480)
args = parser.parse_args()


class Blocking:
    """Copies and saves at once."""

    def check(self, path, x, residual):
        host = cp.asnumpy(x)
        np.save(path, host)
        self.residual = float(residual)

    def finish(self):
        pass


class Overlapped:
    """Starts the copy now, and saves what the last check has copied."""

    def __init__(self, n):
        self.stream = cp.cuda.Stream(non_blocking=True)
        self.host = empty_pinned(n, dtype=np.float64)
        self.host_residual = empty_pinned(1, dtype=np.float64)
        self.path = self.kept = None

    def check(self, path, x, residual):
        self.finish()
        self.stream.wait_event(cp.cuda.get_current_stream().record())
        cp.asnumpy(x, stream=self.stream, out=self.host, blocking=False)
        cp.asnumpy(residual.reshape(1), stream=self.stream, out=self.host_residual, blocking=False)
        self.path = path
        self.kept = x, residual  # or the memory pool would hand them out again while they are copied

    def finish(self):
        if self.path:
            self.stream.synchronize()
            np.save(self.path, self.host)
            self.residual = float(self.host_residual[0])
            self.path = self.kept = None


def iterate(matrix, steps, checks, path):
    x = cp.ones(len(matrix))
    for step in range(steps):
        with time_range(f"step_{step}"):
            y = matrix @ x
            value = (x @ y) / (x @ x)
            residual = cp.linalg.norm(y - value * x) / cp.abs(value)
            x = y / cp.linalg.norm(y)
        if step % args.every == 0:
            with time_range("check"):
                checks.check(path, x, residual)
    checks.finish()
    cp.cuda.Device().synchronize()


cp.random.seed(0)
matrix = cp.random.rand(args.n, args.n)
checks = Overlapped(args.n) if args.overlap else Blocking()
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "x.npy")
    iterate(matrix, args.warmup, checks, path)
    start = time.perf_counter()
    iterate(matrix, args.steps, checks, path)
    elapsed = time.perf_counter() - start

name = "overlap" if args.overlap else "blocking"
print(f"power {name}: {1e3 * elapsed / args.steps:.3f} ms/step ({args.steps} steps)")
# SPDX-License-Identifier: Apache-2.0
