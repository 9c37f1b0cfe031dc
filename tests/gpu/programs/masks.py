"""masks.py - the end of a detector: picks the boxes of each class from 20,000 candidates an image."""
import torch
import torchvision

from steps import FIXED, timed

torch.manual_seed(0)
corners = torch.rand(20000, 2, device="cuda") * 500
boxes = torch.cat([corners, corners + torch.rand(20000, 2, device="cuda") * 40 + 4], 1)
features = torch.randn(4, 256, 100, 100, device="cuda")
head = torch.nn.Sequential(torch.nn.Conv2d(256, 256, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(256, 91, 1)).cuda()
CLASSES = 60


def per_class(scores, labels):
    kept = []
    for c in range(CLASSES):
        mine = (labels == c) & (scores > 0.3)
        mine_boxes, mine_scores = boxes[mine], scores[mine]
        kept.append(mine_boxes[torchvision.ops.nms(mine_boxes, mine_scores, 0.5)])
    return torch.cat(kept)


def at_once(scores, labels):
    good = torch.where(scores > 0.3, scores, torch.zeros_like(scores))
    return boxes[torchvision.ops.batched_nms(boxes, good, labels, 0.5)]


@torch.inference_mode()
def step(i):
    head(features)
    scores = torch.rand(20000, device="cuda")
    labels = torch.randint(0, CLASSES, (20000,), device="cuda")
    (at_once if FIXED else per_class)(scores, labels)


timed(step, steps=40, warmup=8, wait=torch.cuda.synchronize)
# SPDX-License-Identifier: Apache-2.0
