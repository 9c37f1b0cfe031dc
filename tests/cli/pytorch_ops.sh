#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The operators of a recording are those that torch.profiler counts, name by name: part 15 of the GPU tests, on the CPU.
source "$(dirname "$0")/common.bash"
need_torch

PYTHON=$python HEADWAY=$HEADWAY python3 "$(dirname "$0")/pytorch_ops_check.py" "$work" >"$work/out" 2>&1 ||
	fail "operators and torch.profiler: $(grep -E 'FAIL|differs|Error' "$work/out" | head -5)"
finish
