#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A JAX program of an H200: its steps, its start-up, and XLA's ranges by the names that JAX gives them.
source "$(dirname "$0")/common.bash"

recording=$DATA/programs/jax_input.hwy
"$HEADWAY" analyze "$recording" >"$work/text"
grep -q '36 steps (jit(update)), 34 of them steady' "$work/text" || fail "steps: $(head -3 "$work/text")"
tr -s ' \n' '  ' <"$work/text" >"$work/flat"
grep -q 'XLA compiles 8 functions, the longest jit(update) with 1.80 s; 211 processes of compilers (ptxas, nvlink) for 1.23 s\.' "$work/flat" ||
	fail "start-up: $(cat "$work/flat")"
grep -q 'too-many-workers' "$work/text" && fail "compilers are taken for workers"
grep -qE 'XlaModule|XlaPass|Thunk:' "$work/text" && fail "raw names of XLA's ranges"

"$HEADWAY" analyze --format json "$recording" >"$work/json"
python3 - "$work/json" <<'END' || fail "JSON"
import json, sys
summary = json.load(open(sys.argv[1]))["summary"]
compiled = summary["account"]["compiled"]
assert summary["framework"] == "JAX", summary["framework"]
assert compiled["functions"] == 8 and compiled["longest"] == "jit(update)", compiled
assert compiled["processes"] == 211 and compiled["programs"] == "ptxas, nvlink", compiled
assert 0 < compiled["processes_ns"] <= compiled["total_ns"] <= summary["account"]["before_ns"], compiled
END

# A function is asked for as JAX writes it.
"$HEADWAY" analyze --step 'jit(_normal)' "$recording" | grep -q '3 steps (jit(_normal))' || fail "--step 'jit(_normal)'"

# Waits of the tuner are told by the operation that it tunes.
"$HEADWAY" stats -r wait_sum "$recording" | grep -q 'tune cudnn-conv\.\*' || fail "places of waits"

# A kernel belongs to the operation and the function that launched it, and to the line that calls the function.
"$HEADWAY" tree --phase 1 "$recording" >"$work/tree"
grep -q ' 782 .* jit(update)$' "$work/tree" || fail "tree: $(head -8 "$work/tree")"
grep -q 'cudnn-conv-bw-filter\.4$' "$work/tree" || fail "tree has no HLO operations: $(head -12 "$work/tree")"
"$HEADWAY" tree --phase 1 --by line "$recording" | grep -q ' 782 .* jax_input\.py:49 step()$' || fail "tree has no lines"
