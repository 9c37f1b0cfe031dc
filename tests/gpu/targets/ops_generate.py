# SPDX-License-Identifier: Apache-2.0
"""transformers' generate() with a small GPT-2 of random weights; options as in measured.py."""
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from measured import args, device, measure

# The end-of-text token lies outside of the vocabulary, so that every text has the same length.
model = GPT2LMHeadModel(GPT2Config(n_layer=4, n_head=8, n_embd=512, vocab_size=4096, eos_token_id=4096, bos_token_id=0,
                                   pad_token_id=0)).to(device).eval()
prompt = torch.randint(1, 4096, (2, 16), device=device)


def step(i):
    with torch.inference_mode():
        text = model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=12, do_sample=False)
    return text.sum()


measure(step)
