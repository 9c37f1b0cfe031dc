#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A part of the torture: every act by itself, and some seeds. `make torture SEEDS=2000` runs longer.
# The GPU's part is only built.
source "$(dirname "$0")/common.bash"
: "${TORTURE:?the torture program}"
type python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }
[ -z "${HEADWAY_SANITIZED:-}" ] || { echo "SKIP: what runs in the program is not sanitized"; exit 77; }
here=$(cd "$(dirname "$0")/.." && pwd)

"$here/torture/run" --each-act --seeds 8 --most 5 >"$work/out" 2>&1 || fail "$(cat "$work/out")"
tail -n 1 "$work/out"
"$here/gpu/torture" --build >"$work/out" 2>&1 || fail "tests/gpu/torture --build: $(head -5 "$work/out")"
finish
