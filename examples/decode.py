"""Launching hundreds of small kernels a token takes longer than running them; a CUDA graph launches them at once.

    python3 decode.py            eager: about 250 launches a token
    python3 decode.py --graph    the forward pass is captured once and replayed

A GPT-2-shaped model with random weights, in half precision, decodes greedily over a fixed window of tokens.
"""
import argparse
import time

import torch
from torch import nn
from torch.cuda import nvtx

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--graph", action="store_true", help="replay a CUDA graph")
parser.add_argument("--tokens", type=int, default=10)
parser.add_argument("--warmup", type=int, default=3)
parser.add_argument("--layers", type=int, default=12)
parser.add_argument("--width", type=int, default=768)
parser.add_argument("--heads", type=int, default=12)
parser.add_argument("--window", type=int, default=64)
parser.add_argument("--vocabulary", type=int, default=50257)
args = parser.parse_args()


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attention(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))

    def gelu(self, x):
        return 0.5 * x * (1.0 + torch.tanh(0.79788456 * (x + 0.044715 * x * x * x)))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(self.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(args.vocabulary, args.width)
        self.positions = nn.Parameter(torch.randn(args.window, args.width) * 0.02)
        self.blocks = nn.ModuleList(Block(args.width, args.heads) for _ in range(args.layers))
        self.norm = nn.LayerNorm(args.width)

    def forward(self, window):
        x = self.tokens(window) + self.positions
        for block in self.blocks:
            x = block(x)
        logits = self.norm(x[:, -1]) @ self.tokens.weight.T
        return logits.argmax(-1, keepdim=True)


def main():
    torch.manual_seed(0)
    with torch.device("cuda"):
        model = GPT().half().eval()
        window = torch.randint(args.vocabulary, (1, args.window))
    if args.graph:
        decode_one = captured(model, window)
    else:
        decode_one = lambda: model(window)

    text = []
    for step in range(args.warmup + args.tokens):
        if step == args.warmup:
            torch.cuda.synchronize()
            start = time.perf_counter()
        nvtx.range_push(f"token_{step}")
        token = decode_one()
        window.copy_(torch.cat([window[:, 1:], token], dim=1))
        text.append(token.item())
        nvtx.range_pop()
    elapsed = time.perf_counter() - start
    name = "graph" if args.graph else "eager"
    print(f"decode {name}: {1e3 * elapsed / args.tokens:.3f} ms/step ({args.tokens} steps)")


def captured(model, window):
    """The model's forward pass as a graph that reads 'window' and always writes to the same tensor."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):  # libraries set themselves up on first use, which cannot be captured
            model(window)
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        token = model(window)

    def replay():
        graph.replay()
        return token
    return replay


with torch.inference_mode():
    main()
# SPDX-License-Identifier: Apache-2.0
