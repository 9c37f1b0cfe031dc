#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""breakdown_steps.py: the mean of the complete steps of a breakdown on stdin, in whole us."""
import json
import sys

KEYS = ("span", "kernel", "memcpy", "memset", "runtime", "dataloader", "cpu_op", "other")
steps = [step for step in json.load(sys.stdin)["steps"] if step["complete"]]
print(*(round(sum(step[key + "_ns"] for step in steps) / len(steps) / 1000) for key in KEYS))
