"""frames_cupy.py - filters the frames of a camera in the frequency domain and returns each to the host."""
import cupy as cp
import cupyx
import numpy as np

from steps import FIXED, timed

rng = np.random.default_rng(0)
frames = [rng.random((2048, 2048), dtype=np.float32) for _ in range(4)]
mask = cp.asarray(rng.random((2048, 1025), dtype=np.float32))
results = [np.empty((2048, 2048), np.float32) for _ in range(4)]
if FIXED:
    def pinned(array):
        copy = cupyx.empty_pinned(array.shape, array.dtype)
        copy[...] = array
        return copy
    frames, results = [pinned(f) for f in frames], [pinned(r) for r in results]


def step(i):
    frame = cp.empty((2048, 2048), cp.float32)
    frame.set(frames[i % 4])
    filtered = cp.fft.irfft2(cp.fft.rfft2(frame) * mask)
    filtered.get(out=results[i % 4])


timed(step, steps=60, warmup=8, wait=cp.cuda.Device().synchronize)
# SPDX-License-Identifier: Apache-2.0
