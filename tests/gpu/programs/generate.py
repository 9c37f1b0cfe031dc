"""generate.py - greedy decoding with a GPT-2 of 12 layers and its key/value cache, one token after the other."""
import torch
from transformers import GPT2Config, GPT2LMHeadModel, StaticCache

from steps import FIXED, timed

torch.manual_seed(0)
model = GPT2LMHeadModel(GPT2Config(n_layer=12, n_head=12, n_embd=768)).half().cuda().eval()
cache = StaticCache(config=model.config, max_cache_len=512)
token = torch.full((1, 1), 50, device="cuda")
position = torch.zeros(1, dtype=torch.long, device="cuda")


@torch.inference_mode()
def decode():
    logits = model(token, past_key_values=cache, cache_position=position, use_cache=True).logits
    token.copy_(logits[:, -1].argmax(-1, keepdim=True))
    position.add_(1)


if FIXED:
    with torch.inference_mode():
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(3):
                decode()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            decode()
words = []


def step(i):
    graph.replay() if FIXED else decode()
    words.append(int(token))


timed(step, steps=100, warmup=20, wait=torch.cuda.synchronize)
# SPDX-License-Identifier: Apache-2.0
