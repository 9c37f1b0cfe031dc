"""finetune.py - trains a causal language model and watches the activations of its layers."""
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from steps import FIXED, timed

torch.manual_seed(0)
model = GPT2LMHeadModel(GPT2Config(n_layer=8, n_head=12, n_embd=768, vocab_size=8192)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
tokens = torch.randint(0, 8192, (16, 512), device="cuda")
largest = {}


def watch(module, inputs, outputs):
    hidden = outputs[0] if isinstance(outputs, tuple) else outputs
    largest[module] = hidden.abs().max().item()


if not FIXED:
    for block in model.transformer.h:
        block.mlp.register_forward_hook(watch)
        block.attn.register_forward_hook(watch)


def step(i):
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(tokens, labels=tokens).loss
    loss.backward()
    optimizer.step()


timed(step, steps=40, warmup=8, wait=torch.cuda.synchronize)
# SPDX-License-Identifier: Apache-2.0
