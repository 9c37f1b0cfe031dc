"""steps - times a loop of steps as a user would: synchronise, run, synchronise."""
import sys
import time

FIXED = "--fixed" in sys.argv


def timed(step, steps, warmup, wait):
    """Calls step(i) and prints the mean time of a step; wait() returns when the device is done."""
    for i in range(warmup):
        step(i)
    wait()
    begin = time.perf_counter()
    for i in range(steps):
        step(warmup + i)
    wait()
    print("step_ms %.4f" % ((time.perf_counter() - begin) / steps * 1000), flush=True)
# SPDX-License-Identifier: Apache-2.0
