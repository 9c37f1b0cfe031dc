"""attention.py - trains a transformer on long sequences."""
import math

import torch

from steps import FIXED, timed

torch.manual_seed(0)
WIDTH, HEADS, LONG = 1024, 16, 2048


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.norm2 = torch.nn.LayerNorm(WIDTH), torch.nn.LayerNorm(WIDTH)
        self.qkv, self.out = torch.nn.Linear(WIDTH, 3 * WIDTH), torch.nn.Linear(WIDTH, WIDTH)
        self.mlp = torch.nn.Sequential(torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.GELU(), torch.nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        q, k, v = (t.view(*x.shape[:2], HEADS, -1).transpose(1, 2) for t in self.qkv(self.norm(x)).chunk(3, -1))
        if FIXED:
            mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            weights = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
            weights = weights.masked_fill(causal, float("-inf")).softmax(-1)
            mixed = weights @ v
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.mlp(self.norm2(x))


causal = torch.ones(LONG, LONG, dtype=torch.bool, device="cuda").triu(1)
model = torch.nn.Sequential(*[Block() for _ in range(6)]).cuda().bfloat16()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
x = torch.randn(8, LONG, WIDTH, device="cuda", dtype=torch.bfloat16)


def step(i):
    optimizer.zero_grad()
    loss = model(x).float().square().mean()
    loss.backward()
    optimizer.step()


timed(step, steps=20, warmup=5, wait=torch.cuda.synchronize)
# SPDX-License-Identifier: Apache-2.0
