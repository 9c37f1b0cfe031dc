"""shapes.py - a convolutional network on pictures of many sizes."""
import torch
import torchvision

from steps import FIXED, timed

torch.manual_seed(0)
torch.backends.cudnn.benchmark = not FIXED
model = torchvision.models.resnet18().cuda().eval()
sizes = [(96 + 8 * (i % 23), 96 + 8 * (i // 23)) for i in range(120)]


@torch.inference_mode()
def step(i):
    height, width = sizes[i]
    model(torch.rand(8, 3, height, width, device="cuda"))


timed(step, steps=30, warmup=5, wait=torch.cuda.synchronize)
# SPDX-License-Identifier: Apache-2.0
