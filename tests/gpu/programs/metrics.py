"""metrics.py - trains a network and keeps a record of its loss, accuracy and gradient."""
import torch
import torchvision

from steps import FIXED, timed

torch.manual_seed(0)
model = torchvision.models.resnet18(num_classes=100).cuda().to(memory_format=torch.channels_last)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, fused=True)
x = torch.randn(96, 3, 160, 160, device="cuda").to(memory_format=torch.channels_last)
y = torch.randint(0, 100, (96,), device="cuda")
record = []


def step(i):
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        logits = model(x)
        loss = torch.nn.functional.cross_entropy(logits, y)
    if FIXED:
        record.append(loss.detach())
    else:
        record.append((loss.item(), (logits.argmax(1) == y).float().mean().item()))
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    if not FIXED:
        record.append(norm.item())
    optimizer.step()


timed(step, steps=40, warmup=8, wait=torch.cuda.synchronize)
# SPDX-License-Identifier: Apache-2.0
