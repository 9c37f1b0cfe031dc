# SPDX-License-Identifier: Apache-2.0
"""Part 13: lessons that no example teaches, each as a small program before and after: the diagnosis of both.

The reports are small, and stay in the folder of the results."""
import shutil

from harness import target
from part10 import at, examine

TITLE = "The diagnosis of small programs, each written for one lesson"

# As in part 10. Where the place is a launch the program runs longer: stacks of launches are sampled.
RUNS = {
    "defaultstream_blocking": (target("defaultstream", "blocking", "300"), ["default-stream"],
                               at("defaultstream", "(note,"), [], []),
    "defaultstream_nonblocking": (target("defaultstream", "nonblocking"), None, None,
                                  ["default-stream", "stream-serial"], []),
    "oneserial_one": (target("oneserial", "one", "150"), ["stream-serial"], at("oneserial", "work<<<"), [], []),
    "oneserial_own": (target("oneserial", "own"), None, None, ["stream-serial", "default-stream"], []),
    # That these kernels have nothing to do with each other is not in the recording: their size is.
    "oneserial_single": (target("oneserial", "single"), ["grid-too-small"], None, ["stream-serial"], []),
    "rebuild_every": (target("rebuild", "every"), ["graph-rebuilt"],
                      at("rebuild", "cudaGraphInstantiate("), [], []),
    "rebuild_once": (target("rebuild", "once"), None, None, ["graph-rebuilt"], []),
    "allocloop_malloc": (target("allocloop", "malloc"), ["alloc-in-loop"],
                         at("allocloop", "cudaMalloc(", "cudaFree("), [], []),
    "allocloop_once": (target("allocloop", "once"), None, None, ["alloc-in-loop"], []),
    "allocloop_async": (target("allocloop", "async"), None, None, ["alloc-in-loop"], []),
    "kinds_few": (target("kinds", "few"), ["grid-too-small"], None, ["stream-serial"], []),
    "kinds_full": (target("kinds", "full"), None, None, ["grid-too-small"], []),
    "kinds_small": (target("kinds", "small", "500"), ["copy-small"], at("kinds", "cudaMemcpyAsync(data"), [], []),
    "kinds_packed": (target("kinds", "packed"), None, None, ["copy-small"], []),
    "kinds_large": (target("kinds", "large"), ["copy-bandwidth"], None, ["copy-small"], []),
    "kinds_resident": (target("kinds", "resident"), None, None, ["copy-bandwidth"], []),
}


def go(part):
    for report in examine(part, RUNS):
        shutil.copy(report, part.out)
