#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A recording of our own with --pytorch-shapes has points under the roof: PyTorch's products run on the CPU and launch a
# kernel of the mock libcupti, which plays the driver.
source "$(dirname "$0")/common.bash"
cd "$work" || exit 1
need_mock
need_torch

cat >model.py <<'EOF'
import ctypes, os, time
import torch
getenv = ctypes.CDLL(None).getenv
getenv.restype = ctypes.c_char_p
ctypes.CDLL(getenv(b"CUDA_INJECTION64_PATH").decode()).InitializeInjection()
mock = ctypes.CDLL(os.environ["HEADWAY_CUPTI"])
mock.mock_call.argtypes = [ctypes.c_uint, ctypes.c_uint, ctypes.c_long, ctypes.c_uint]
mock.mock_kernel.argtypes = [ctypes.c_uint, ctypes.c_char_p, ctypes.c_long, ctypes.c_long]
launch = mock.mock_number(2, b"cudaLaunchKernel_v7000")
def kernel(name, ns):
    mock.mock_kernel(mock.mock_call(2, launch, 0, 0), name, time.clock_gettime_ns(time.CLOCK_MONOTONIC), ns)
def product(a, b):
    kernel(b"ampere_sgemm_128x64_nn", 2000)
    return a.new_empty(a.shape[0], b.shape[1])
library = torch.library.Library("aten", "IMPL")
library.impl("mm", product, "CPU")
a, b = torch.ones(30, 50), torch.ones(50, 70)
for step in range(20):
    torch.mm(a, b)
EOF
run profile -t cuda,pytorch --pytorch-shapes -o model "$python" model.py
expect_status 0 "model.py"
run stats -r op_roofline --format csv model.hwy
expect_status 0 "op_roofline of our own recording"
# 2 · 30 · 50 · 70 FLOP in 2 µs are 0.105 TFLOP/s; 28,400 bytes are 14.2 GB/s. The mock's device has no known peak.
grep -qE '^[0-9.]+,40000,20,0\.105,14\.200,7\.394,.*,aten::mm,"\[\[30, 50\], \[50, 70\]\]"$' out ||
	fail "op_roofline of our own recording: $(cat out err)"
run stats -r kernel_roofline --format csv model.hwy
grep -qE ',20,0\.105,14\.200,.*,ampere_sgemm_128x64_nn$' out || fail "kernel_roofline: $(cat out err)"
finish
