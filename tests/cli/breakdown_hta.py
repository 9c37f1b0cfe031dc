#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""breakdown_hta.py GOT HTA-OUTPUT NAME: idle split and queue of every stream are those HTA printed.

HTA goes through doubles and rounds to 0.01 us, so times may differ by that.
"""
import json
import sys

with open(sys.argv[1]) as file:
    got = json.load(file)
with open(sys.argv[2]) as file:
    hta = json.load(file)[sys.argv[3]]["last_step_included_ns"]
bad = []
streams = {str(stream["stream"]): stream for stream in got["streams"]}
for row in hta["idle"]:
    stream = streams[str(row["stream"])]
    ours = stream[row["idle_category"] + "_ns"] / 1000
    if abs(ours - row["idle_time"]) > 0.011:
        bad.append(f"stream {row['stream']} {row['idle_category']}: {ours}, HTA {row['idle_time']}")
for key, row in hta["queue_length"].items():
    queue = streams[key.strip("()").split(",")[1].strip()]["queue"]
    # Where two changes share a moment HTA takes them in any order: the mean is not exact.
    for field, tolerance in (("count", 0), ("min", 0), ("max", 0), ("mean", 0.02), ("75%", 1)):
        if abs(queue[field] - row[field]) > tolerance:
            bad.append(f"queue {key} {field}: {queue[field]}, HTA {row[field]}")
print("\n".join(bad))
sys.exit(bool(bad))
