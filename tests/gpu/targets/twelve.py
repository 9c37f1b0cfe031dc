# SPDX-License-Identifier: Apache-2.0
"""Kernels of torch to hold counters against; twelve.cu has those that can be counted by hand: twelve.py [ROUNDS]

Each round runs, in a range of its name: gemm_fp32, gemm_tf32, gemm_bf16, convolution, sdpa, softmax, layernorm. A profiler may
begin at cudaProfilerStart, after each ran twice. Operands are larger than the L2 cache where the work allows it.
"""
import sys
import time

import torch
from torch.cuda import nvtx
from torch.nn import functional

rounds = int(sys.argv[1]) if sys.argv[1:] else 5
torch.manual_seed(0)


def random(*shape, dtype=torch.float32):
    return torch.randn(*shape, device="cuda", dtype=dtype)


half, whole = random(4096, 4096), random(8192, 8192)
brain = random(8192, 8192, dtype=torch.bfloat16)
image = random(128, 256, 56, 56, dtype=torch.bfloat16).to(memory_format=torch.channels_last)
filters = random(256, 256, 3, 3, dtype=torch.bfloat16).to(memory_format=torch.channels_last)
heads = random(16, 32, 2048, 128, dtype=torch.bfloat16)
rows = random(16384, 8192)
weight, bias = random(8192), random(8192)


def product(precision, matrix):
    torch.set_float32_matmul_precision(precision)
    return matrix @ matrix


WORK = {
    "gemm_fp32": lambda: product("highest", half),
    "gemm_tf32": lambda: product("high", whole),
    "gemm_bf16": lambda: brain @ brain,
    "convolution": lambda: functional.conv2d(image, filters, padding=1),
    "sdpa": lambda: functional.scaled_dot_product_attention(heads, heads, heads),
    "softmax": lambda: torch.softmax(rows, dim=1),
    "layernorm": lambda: functional.layer_norm(rows, (8192,), weight, bias),
}


def once():
    for name, work in WORK.items():
        nvtx.range_push(name)
        work()
        nvtx.range_pop()
    torch.cuda.synchronize()


with torch.inference_mode():
    once()
    once()
    torch.cuda.profiler.start()
    begun = time.perf_counter()
    for i in range(rounds):
        nvtx.range_push(f"round_{i}")
        once()
        nvtx.range_pop()
    took = time.perf_counter() - begun
    torch.cuda.profiler.stop()
print(f"twelve torch: {1e3 * took / rounds:.3f} ms/step ({rounds} steps)")
