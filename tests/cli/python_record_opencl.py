#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python_record_opencl.py FOLDER [first] - records OpenCL twice in a program that began with it before the first recording, or inside of
one that did not want it."""
import contextlib
import os
import sys

import headway

folder = sys.argv[1]
headway.prepare()

import numpy
import pyopencl

os.environ["PYOPENCL_NO_CACHE"] = "1"
SOURCE = "__kernel void grow(__global float *a) { int i = get_global_id(0); for (int k = 0; k < 200; k++) a[i] = a[i] * 1.001f + k; }"
# The loader looks for layers once: what a recording of Python alone leaves out, later ones may want.
with headway.record(f"{folder}/first.hwy", trace="python", quiet=True) if "first" in sys.argv else contextlib.nullcontext():
    context = pyopencl.Context(pyopencl.get_platforms()[0].get_devices())
queue = pyopencl.CommandQueue(context)
program = pyopencl.Program(context, SOURCE).build()
memory = pyopencl.Buffer(context, pyopencl.mem_flags.READ_WRITE, 4 * 65536)
host = numpy.zeros(65536, numpy.float32)


def steps(count):
    for i in range(count):
        with headway.range(f"step_{i}"):
            pyopencl.enqueue_copy(queue, memory, host, is_blocking=False)
            program.grow(queue, host.shape, None, memory)
            queue.finish()  # this line waits


steps(3)
for count in (12, 8):
    with headway.record(f"{folder}/opencl{count}.hwy", quiet=True) as run:
        steps(count)
    steps(2)
    recording = run.recording
    assert recording.kinds["kernel"] == count and recording.kinds["copy"] == count, recording.kinds
    assert set(recording.columns("kernel")["name"]) == {"grow"}
    assert run.notes == ([] if os.path.exists("/proc/driver/nvidia/version") else ["CUDA is not recorded: there is no NVIDIA driver here"]), run.notes
    with open(__file__, encoding="utf-8") as source:
        line = next(number for number, text in enumerate(source, 1) if "# this line waits" in text)
    places = {str(place) for finding in recording.findings + recording.acquitted for place in finding.places}
    assert any(place.endswith(f"python_record_opencl.py:{line}") for place in places), places
