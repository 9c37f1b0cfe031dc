#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Recordings of PyTorch programs with operators, made on an H200: the tree has all GPU time, operators and places; kernels of a
# captured graph have the lines that captured them.
source "$(dirname "$0")/common.bash"
type python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }

for name in resnet compiled decode; do
	run tree --format json --each-layer "$DATA/operators/$name.hwy"
	expect_status 0 "$name"
	python3 - "$name" "$work/out" <<'END' || bad=1
import json
import sys

def leaves(node):
    inner = node.get("inner", [])
    own = node["gpu_ns"] - sum(one["gpu_ns"] for one in inner)
    return own + sum(map(leaves, inner)) if own >= 0 else -1

name, tree = sys.argv[1], json.load(open(sys.argv[2]))
total = tree["gpu_ns"]
for what, share, least in (("an operator", tree["with_operator_ns"], 0.99), ("a module or a line", tree["with_module_or_line_ns"], 0.95)):
    if share < least * total:
        sys.exit(f"FAIL: {name}: {100 * share / total:.1f} % has {what}")
if leaves(tree["tree"]) != total or total <= 0:
    sys.exit(f"FAIL: {name}: the leaves have {leaves(tree['tree'])} of {total} ns")
END
done

# The lines of decode.py inside the captured function, none of them graph.replay().
run tree --by line --format json "$DATA/operators/decode.hwy"
python3 - "$work/out" <<'END' || bad=1
import json
import sys

lines = [node["name"] for node in json.load(open(sys.argv[1]))["tree"]["inner"]]
seen = {line.split()[0] for line in lines if line.startswith("decode.py")}
if len(seen) < 8 or not {"decode.py:42", "decode.py:46"} <= seen:
    sys.exit(f"FAIL: captured lines: {sorted(seen)}")
END
exit $bad
