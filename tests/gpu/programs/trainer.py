"""trainer.py - Hugging Face's Trainer fine-tunes a small BERT; a collator prepares each batch."""
import os
import time

import numpy
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainerCallback, TrainingArguments

from steps import FIXED

os.environ["WANDB_DISABLED"] = "true"
LENGTH = 128
random = numpy.random.default_rng(0)
corpus = random.integers(5, 30000, size=(8192, 4 * LENGTH))


class Reviews(torch.utils.data.Dataset):
    def __len__(self):
        return len(corpus)

    def __getitem__(self, i):
        words = corpus[i]
        order = numpy.argsort(numpy.sin(words.astype(float) * numpy.arange(1, 65)[:, None]).sum(0))
        ids = words[order][:LENGTH]
        return {"input_ids": torch.tensor(ids), "attention_mask": torch.ones(LENGTH, dtype=torch.long), "labels": int(i % 2)}


class Clock(TrainerCallback):
    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step == WARMUP:
            torch.cuda.synchronize()
            self.begin = time.perf_counter()
        if state.global_step == WARMUP + STEPS:
            torch.cuda.synchronize()
            print("step_ms %.4f" % ((time.perf_counter() - self.begin) / STEPS * 1000), flush=True)


WARMUP, STEPS = (40, 80) if FIXED else (5, 30)
model = BertForSequenceClassification(BertConfig(hidden_size=256, num_hidden_layers=4, num_attention_heads=4, intermediate_size=1024))
arguments = TrainingArguments(output_dir="/tmp/trainer", per_device_train_batch_size=32, max_steps=WARMUP + STEPS, logging_steps=1000,
                              save_strategy="no", report_to=[], disable_tqdm=True, dataloader_num_workers=12 if FIXED else 0)
Trainer(model=model, args=arguments, train_dataset=Reviews(), callbacks=[Clock()]).train()
# SPDX-License-Identifier: Apache-2.0
