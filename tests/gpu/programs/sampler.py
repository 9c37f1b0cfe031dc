"""sampler.py - draws text from a language model, 48 sequences at a time, with top-k sampling."""
import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from steps import FIXED, timed

torch.manual_seed(0)
model = GPT2LMHeadModel(GPT2Config(n_layer=4, n_head=12, n_embd=768)).half().cuda().eval()
random = np.random.default_rng(0)
tokens = torch.randint(0, 50257, (48, 16), device="cuda")
state = {"cache": None, "tokens": tokens}


def draw(logits, k=50):
    """The next token of each sequence, drawn from its k likeliest."""
    if FIXED:
        values, ids = logits.float().topk(k)
        return ids.gather(1, torch.multinomial(values.softmax(-1), 1))
    rows = logits.float().cpu().numpy()
    ids = np.argsort(-rows, axis=-1)[:, :k]
    chances = np.exp(np.take_along_axis(rows, ids, 1))
    chances /= chances.sum(-1, keepdims=True)
    return torch.tensor([[row[random.choice(k, p=p)]] for row, p in zip(ids, chances)]).cuda()


@torch.inference_mode()
def step(i):
    out = model(state["tokens"], past_key_values=state["cache"], use_cache=True)
    state["cache"] = out.past_key_values
    state["tokens"] = draw(out.logits[:, -1])


timed(step, steps=60 if FIXED else 16, warmup=8 if FIXED else 4, wait=torch.cuda.synchronize)
# SPDX-License-Identifier: Apache-2.0
