#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a kernel of a CUDA graph to the Python line that captured it. The mock libcupti plays the driver: a program
# captures nodes, instantiates its graph and launches it.
source "$(dirname "$0")/common.bash"
cd "$work" || exit 1
need_mock
python=$(python3 -c 'import sys; sys.version_info >= (3, 10) and print(sys.executable)' 2>/dev/null)
[ -n "$python" ] || { echo "SKIP: no Python 3.10 or later"; exit 77; }

cat >capture.py <<'EOF'
import ctypes, os, time
getenv = ctypes.CDLL(None).getenv
getenv.restype = ctypes.c_char_p
ctypes.CDLL(getenv(b"CUDA_INJECTION64_PATH").decode()).InitializeInjection()
mock = ctypes.CDLL(os.environ["HEADWAY_CUPTI"])
mock.mock_call.argtypes = [ctypes.c_uint, ctypes.c_uint, ctypes.c_long, ctypes.c_uint]
mock.mock_graph_kernel.argtypes = [ctypes.c_uint, ctypes.c_char_p, ctypes.c_long, ctypes.c_long,
                                   ctypes.c_uint, ctypes.c_uint]
launch = mock.mock_number(2, b"cudaGraphLaunch_v10000")
malloc = mock.mock_number(2, b"cudaMalloc_v3020")
for i in range(20): # the first stacks prove how Python keeps its frames
    mock.mock_call(2, malloc, 0, 0)
def attention():
    mock.mock_node(1, 0)
def mlp():
    mock.mock_node(1, 1)
    mock.mock_node_after(1, 1, 0)
def forward():
    attention()
    mlp()
def instantiate():
    mock.mock_instantiate(1, 2, 2)
def replay():
    call = mock.mock_call(2, launch, 0, 0)
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    mock.mock_graph_kernel(call, b"softmax", now, 40000, 2, 0)
    mock.mock_graph_kernel(call, b"gemm", now + 50000, 40000, 2, 1)
    time.sleep(0.001)
forward()
instantiate()
for step in range(20):
    replay()
EOF

run profile -o nodes --cuda-graph-trace=node "$python" capture.py
expect_status 0 "capture.py: $(cat err)"
run path --format json nodes.hwy
expect_status 0 "path: $(cat err)"
for place in softmax:14 gemm:16; do
	python3 - "${place%:*}" "${place#*:}" out <<'EOF' || fail "the place of ${place%:*}: $(cat out)"
import json, sys
name, line, path = sys.argv[1:]
found = [l["place"] for l in json.load(open(path))["contributors"] if l["name"] == name]
sys.exit(not any(p.startswith(f"capture.py:{line} ") for p in found))
EOF
done
# The tables of nsys have nodes, too: exported and read again, a kernel still leads to its capture.
run export -t sqlite -o nodes.sqlite nodes.hwy
expect_status 0 "export: $(cat err)"
count=$(sqlite3 nodes.sqlite 'SELECT count(*) FROM CUDA_GRAPH_NODE_EVENTS JOIN CUPTI_ACTIVITY_KIND_KERNEL
	USING (graphNodeId) WHERE originalGraphNodeId IS NULL')
[ "$count" = 40 ] || fail "nodes of 40 kernels in the export, not $count"
run profile -o none --cuda-graph-trace=node --cudabacktrace=none "$python" capture.py
expect_status 0 "capture.py without stacks: $(cat err)"
run path --format json none.hwy
grep -q 'capture\.py' out && fail "--cudabacktrace=none has a line of the capture: $(cat out)"
run profile -o graph "$python" capture.py
expect_status 0 "capture.py, graphs as a whole: $(cat err)"
finish
