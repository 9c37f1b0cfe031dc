#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python_record_cuda.py MOCK FOLDER before|inside - a program that is recorded twice.

It begins with CUDA before it is recorded, or inside the first recording. MOCK is the folder with the mock libcuda and
libcupti (tests/mock). The program loads both itself, as PyTorch does.
"""
import ctypes
import os
import sys

import headway

mock, folder, when = sys.argv[1:]
cuda = ctypes.CDLL(f"{mock}/driver/libcuda.so.1")
cupti = ctypes.CDLL(f"{mock}/libcupti.so.13")
RUNTIME = 2


class Launched(ctypes.Structure):
    _fields_ = [("symbol", ctypes.c_char_p), ("grid", ctypes.c_uint32 * 3), ("block", ctypes.c_uint32 * 3),
                ("shared", ctypes.c_uint32), ("ns", ctypes.c_int64)]


KERNELS = [Launched(name, (ctypes.c_uint32 * 3)(4 + i, 1, 1), (ctypes.c_uint32 * 3)(64, 1, 1), 0, 5000)
           for i, name in enumerate((b"first_kernel", b"second_kernel"))]
cupti.mock_call.argtypes = [ctypes.c_uint32, ctypes.c_uint32, ctypes.c_int64, ctypes.c_uint32]
WAIT = cupti.mock_number(RUNTIME, b"cudaStreamSynchronize_v3020")
assert WAIT


def step():
    for kernel in KERNELS:
        cupti.mock_launch(ctypes.byref(kernel))
    cupti.mock_call(RUNTIME, WAIT, 300_000, 0)  # this line waits


def run_steps(first, count):
    for i in range(first, first + count):
        with headway.range(f"step_{i}"):
            step()


def check(run, first, count):
    recording = run.recording
    kernels = recording.columns("kernel")
    assert list(kernels["name"]).count("first_kernel") == count, list(kernels["name"])
    assert list(kernels["name"]).count("second_kernel") == count
    ours = [row for row, name in enumerate(kernels["name"]) if name.endswith("_kernel")]
    assert len({kernels["shape"][row] for row in ours} - {None}) == 2, "each kernel has its shape"
    assert all(kernels["call"].has(row) for row in ours), "every kernel knows its launch"
    assert [span.name for span in recording.spans("range") if not span.name.startswith("gc ")] == [f"step_{i}" for i in range(first, first + count)]
    calls = set(recording.columns("api")["name"])
    assert {"cudaLaunchKernel_v7000", "cudaStreamSynchronize_v3020"} <= calls, calls
    devices = [device["name"] for device in recording.sql("select name from devices")]
    assert devices == [DEVICE], devices
    places = {str(place) for finding in recording.findings + recording.acquitted for place in finding.places}
    assert any(place.endswith(f"python_record_cuda.py:{LINE}") for place in places), places
    assert "CUDA is not recorded" not in run.said, run.said


with open(__file__, encoding="utf-8") as source:
    LINE = next(number for number, line in enumerate(source, 1) if "# this line" in line)

DEVICE = "A device that was there before" if when == "before" else "NVIDIA H200"
if when == "before":
    assert cuda.cuInit(0) == 0
before = dict(os.environ)
with headway.record(f"{folder}/first.hwy", quiet=True) as first_run:
    if when == "inside":
        assert cuda.cuInit(0) == 0  # the driver loads the collector; the mock then plays a recording of its own
    run_steps(0, 12)
run_steps(100, 3)  # between the recordings
with headway.record(f"{folder}/second.hwy", quiet=True) as second_run:
    run_steps(20, 8)
assert dict(os.environ) == before
check(first_run, 0, 12)
check(second_run, 20, 8)
assert headway.open(first_run.path).kinds["kernel"] == (24 if when == "before" else 24 + 137)
assert second_run.recording.kinds["kernel"] == 16, "nothing of the first recording, or of what lies between"
print("recorded twice")
