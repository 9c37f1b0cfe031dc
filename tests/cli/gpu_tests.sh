#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The GPU tests themselves: how they count, read reports and compare, on recorded data.
source "$(dirname "$0")/common.bash"
type python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }

HEADWAY=$HEADWAY python3 "$(dirname "$0")/../gpu/run" --dry --out "$work" >"$work/out" 2>&1 ||
	fail "tests/gpu/run --dry: $(grep -v ' ok$' "$work/out" | head -5)"
finish
