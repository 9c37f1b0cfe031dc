#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Findings name the optimizer and the modules of a real PyTorch. PyTorch runs on the CPU; functions of autograd launch kernels
# of the mock libcupti, which plays the driver.
source "$(dirname "$0")/common.bash"
cd "$work" || exit 1
need_mock
need_torch

cat >train.py <<'EOF'
import ctypes, os, time
import torch
from torch import nn
torch.set_num_threads(1)
getenv = ctypes.CDLL(None).getenv
getenv.restype = ctypes.c_char_p
ctypes.CDLL(getenv(b"CUDA_INJECTION64_PATH").decode()).InitializeInjection()
mock = ctypes.CDLL(os.environ["HEADWAY_CUPTI"])
mock.mock_call.argtypes = [ctypes.c_uint, ctypes.c_uint, ctypes.c_long, ctypes.c_uint]
mock.mock_kernel.argtypes = [ctypes.c_uint, ctypes.c_char_p, ctypes.c_long, ctypes.c_long]
launch = mock.mock_number(2, b"cudaLaunchKernel_v7000")
class Launch(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, name):
        correlation = mock.mock_call(2, launch, 0, 0)
        mock.mock_kernel(correlation, name, time.clock_gettime_ns(time.CLOCK_MONOTONIC), 1000)
        return x * 2
class Block(nn.Module):
    def forward(self, x):
        for _ in range(4):
            x = Launch.apply(x, b"elementwise_kernel")  # the blocks launch here
        return x
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(3))
    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x
class Slow(torch.optim.Optimizer):
    def __init__(self, parameters):
        super().__init__(parameters, {})
    def step(self):
        for parameter in self.param_groups[0]["params"]:
            for _ in range(2):
                Launch.apply(parameter, b"update")  # the optimizer launches here
net, optimizer = Net(), Slow([torch.ones(2) for _ in range(30)])
for step in range(30):
    with torch.autograd.profiler.record_function("ProfilerStep#%d" % step):
        net(torch.ones(4))
        optimizer.step()
EOF
run profile -t cuda,pytorch -o train "$python" train.py
expect_status 0 "train.py"

run analyze --format json train.hwy
expect_status 0 "analyze"
"$python" - out <<'EOF' || fail "findings of train.py"
import json, sys
text = open("train.py").read().splitlines()
def line_with(part):
    return next(i for i, line in enumerate(text, 1) if part in line)
findings = {finding["id"]: finding for finding in json.load(open(sys.argv[1]))["findings"]}
optimizer = findings["optimizer-unfused"]
assert "Optimizer.step#Slow.step launches 60 of 72 kernels a step, parameter by parameter" in optimizer["says"], optimizer["says"]
place = optimizer["places"][0]
assert place["file"].endswith("train.py") and place["line"] == line_with("# the optimizer launches here"), place
assert "Optimizer.step#Slow.step > Launch" in place["range"], place
assert "_foreach_" in optimizer["advice"], optimizer["advice"]
blocks = [place for finding in findings.values() for place in finding["places"] if place["line"] == line_with("# the blocks launch here")]
assert blocks and all(place["module"].startswith("Net.blocks") for place in blocks), findings
EOF
finish
