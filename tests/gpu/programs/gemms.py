# SPDX-License-Identifier: Apache-2.0
"""gemms.py - projects a batch of features through matrices of several shapes, in fp32."""
import torch

from steps import FIXED, timed

if FIXED:
    torch.set_float32_matmul_precision("high")
torch.manual_seed(0)
features = torch.randn(8192, 4096, device="cuda")
matrices = [torch.randn(*shape, device="cuda") * 0.02 for shape in ((4096, 4096), (4096, 8192), (8192, 4096), (4096, 2048))]


def step(i):
    with torch.inference_mode():
        x = features
        for matrix in matrices:
            x = x @ matrix


timed(step, steps=20, warmup=5, wait=torch.cuda.synchronize)
