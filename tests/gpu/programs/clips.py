"""clips.py - classifies short video clips that lie in memory."""
import torch

from steps import FIXED, timed

torch.manual_seed(0)
clips = [torch.rand(8, 3, 16, 224, 224) for _ in range(4)]
if FIXED:
    clips = [clip.pin_memory() for clip in clips]
model = torch.nn.Sequential(torch.nn.Conv3d(3, 32, (3, 7, 7), (1, 4, 4)), torch.nn.ReLU(), torch.nn.Conv3d(32, 64, 3, 2),
                            torch.nn.ReLU(), torch.nn.AdaptiveAvgPool3d(1), torch.nn.Flatten(), torch.nn.Linear(64, 400)).half().cuda()
totals = torch.zeros(400, device="cuda")


@torch.inference_mode()
def step(i):
    clip = clips[i % 4].to("cuda", non_blocking=True)
    totals.add_(model(clip.half()).float().sum(0))


timed(step, steps=40, warmup=8, wait=torch.cuda.synchronize)
# SPDX-License-Identifier: Apache-2.0
