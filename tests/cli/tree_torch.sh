#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a kernel to the module of a real PyTorch: forward, backward, in a CUDA graph. PyTorch runs on the CPU; functions of
# autograd launch kernels of the mock libcupti, which plays the driver.
source "$(dirname "$0")/common.bash"
cd "$work" || exit 1
need_mock
need_torch

cat >model.py <<'EOF'
import ctypes, os, time
import torch
from torch import nn
getenv = ctypes.CDLL(None).getenv
getenv.restype = ctypes.c_char_p
ctypes.CDLL(getenv(b"CUDA_INJECTION64_PATH").decode()).InitializeInjection()
mock = ctypes.CDLL(os.environ["HEADWAY_CUPTI"])
mock.mock_call.argtypes = [ctypes.c_uint, ctypes.c_uint, ctypes.c_long, ctypes.c_uint]
mock.mock_kernel.argtypes = [ctypes.c_uint, ctypes.c_char_p, ctypes.c_long, ctypes.c_long]
mock.mock_graph_kernel.argtypes = [ctypes.c_uint, ctypes.c_char_p, ctypes.c_long, ctypes.c_long,
                                   ctypes.c_uint, ctypes.c_uint]
launch = mock.mock_number(2, b"cudaLaunchKernel_v7000")
launch_graph = mock.mock_number(2, b"cudaGraphLaunch_v10000")
def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)
def kernel(name, ns):
    mock.mock_kernel(mock.mock_call(2, launch, 0, 0), name, now(), ns)
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        kernel(b"scale", 1000)
        return x * 2
    @staticmethod
    def backward(ctx, gradient):
        kernel(b"scale_back", 2000)
        return gradient * 2
class Capture(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        mock.mock_node(1, 0)
        return x * 3
class Block(nn.Module):
    def forward(self, x):
        return Scale.apply(x)
class Head(nn.Module):
    def forward(self, x):
        return Capture.apply(x)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(3))
        self.head = Head()
    def forward(self, x, capture=False):
        for block in self.blocks:
            x = block(x)
        return self.head(x) if capture else x
net = Net()
net(torch.ones(4), capture=True)
mock.mock_instantiate(1, 1, 2)
for step in range(20):
    x = torch.ones(4, requires_grad=True)
    net(x).sum().backward()
    mock.mock_graph_kernel(mock.mock_call(2, launch_graph, 0, 0), b"captured", now(), 4000, 2, 0)
    with torch.autograd.profiler.record_function("update"):
        kernel(b"update", 500)
    kernel(b"bare", 100)
EOF
run profile -t cuda,pytorch --cuda-graph-trace=node -o model "$python" model.py
expect_status 0 "model.py"

run tree --format folded --each-layer model.hwy
for stack in 'Net;blocks;0;Scale;scale 21000' 'Net;blocks;2;ScaleBackward;scale_back 40000' \
	'Net;head;Capture;captured 80000' 'update;update 10000' 'outside of operators;bare 2000'; do
	grep -qxF -- "$stack" out || fail "no '$stack': $(cat out)"
done
[ "$(wc -l <out)" = 9 ] || fail "not nine leaves: $(cat out)"
run tree model.hwy
grep -qE 'blocks\.\* ×3  Block' out || fail "the blocks are not merged: $(cat out)"
run tree --by line --format folded model.hwy
grep -qE '^model\.py:[0-9]+ Block\.forward(\(\))?;ScaleBackward;scale_back 120000$' out || fail "the backward pass has no line: $(cat out)"
run stats -r module_sum --format csv model.hwy
grep -qE '^[0-9.]+,61000,61000,.*,Net\.blocks\.0,Block$' out || fail "module_sum: $(cat out)"
finish
