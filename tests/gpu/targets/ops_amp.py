# SPDX-License-Identifier: Apache-2.0
"""A transformer is trained with automatic mixed precision; options as in measured.py."""
import torch
from torch import nn

from measured import args, device, measure

WIDTH, LENGTH, VOCABULARY = (64, 16, 100) if args.cpu else (512, 256, 8192)


class Attention(nn.Module):
    def __init__(self, heads=4):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = (part.view(*x.shape[:2], self.heads, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        weights = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2, self.attention = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH), Attention()
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Model(nn.Module):
    def __init__(self, layers=4):
        super().__init__()
        self.tokens, self.head = nn.Embedding(VOCABULARY, WIDTH), nn.Linear(WIDTH, VOCABULARY)
        self.blocks = nn.ModuleList(Block() for _ in range(layers))

    def forward(self, tokens):
        x = self.tokens(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


model = Model().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
# A small first scale: with the default one the first steps overflow and are skipped.
scaler = torch.cuda.amp.GradScaler(init_scale=128.0, enabled=not args.cpu)
tokens = torch.randint(VOCABULARY, (8, LENGTH + 1), device=device)


def step(i):
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast(device, dtype=torch.bfloat16 if args.cpu else torch.float16):
        loss = nn.functional.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()


measure(step)
