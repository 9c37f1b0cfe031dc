#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""breakdown_compare.py GOT WANTED [KEY]: every value of WANTED (of its entry KEY) is in GOT.

GOT must hold the keys of WANTED and n_graph, devices, streams, steps, and no others; its parts
must add up. Prints what differs; the exit status says whether anything did.
"""
import json
import sys

OWN = {"n_graph", "devices", "streams", "steps"}
bad = []


def same(what, got, wanted):
    if got != wanted:
        bad.append(f"{what}: {got}, not {wanted}")


with open(sys.argv[1]) as file:
    got = json.load(file)
with open(sys.argv[2]) as file:
    wanted = json.load(file)
if len(sys.argv) > 3:
    wanted = wanted[sys.argv[3]]
same("keys", sorted(got), sorted(set(wanted) | OWN))
for key, value in wanted.items():
    same(key, got.get(key), value)
for device in got["devices"]:
    exposed = sum(device[f"exposed_{kind}_ns"] for kind in ("comm", "memcpy", "memset"))
    same("compute and exposed parts", device["compute_ns"] + exposed, device["busy_ns"])
    same("busy and idle", device["busy_ns"] + device["idle_ns"], device["span_ns"])
for stream in got["streams"]:
    waits = stream["host_wait_ns"] + stream["kernel_wait_ns"] + stream["other_ns"]
    same("waits of a stream", waits, stream["idle_ns"])
    same("points of a series", len(stream["queue"]["series"]) <= 512, True)
    same("shortest queue", stream["queue"]["min"] >= 0, True)
PARTS = ("kernel", "memcpy", "memset", "communication", "runtime", "dataloader", "cpu_op", "other")
for step in got["steps"]:
    same("parts of " + step["name"], sum(step[part + "_ns"] for part in PARTS), step["span_ns"])
print("\n".join(bad))
sys.exit(bool(bad))
