# SPDX-License-Identifier: Apache-2.0
"""A small ResNet is trained on what a DataLoader brings: two workers and pinned memory, on the CPU none; options as in measured.py."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from measured import args, device, measure

SIDE, BATCH = (16, 2) if args.cpu else (64, 32)


class Pictures(Dataset):
    def __len__(self):
        return BATCH * (args.warmup + args.steps + 4)

    def __getitem__(self, i):
        random = torch.Generator().manual_seed(i)
        return torch.rand(3, SIDE, SIDE, generator=random), i % 10


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1, self.conv2 = (nn.Conv2d(channels, channels, 3, padding=1, bias=False) for _ in range(2))
        self.norm1, self.norm2 = nn.BatchNorm2d(channels), nn.BatchNorm2d(channels)

    def forward(self, x):
        y = torch.relu(self.norm1(self.conv1(x)))
        return torch.relu(x + self.norm2(self.conv2(y)))


class Net(nn.Module):
    def __init__(self, channels=64, blocks=4):
        super().__init__()
        self.stem = nn.Conv2d(3, channels, 7, stride=2, padding=3)
        self.blocks = nn.Sequential(*[Residual(channels) for _ in range(blocks)])
        self.head = nn.Linear(channels, 10)

    def forward(self, x):
        return self.head(self.blocks(torch.relu(self.stem(x))).mean((2, 3)))


model = Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
batches = iter(DataLoader(Pictures(), batch_size=BATCH, num_workers=0 if args.cpu else 2, pin_memory=not args.cpu))


def step(i):
    pictures, labels = next(batches)
    pictures, labels = pictures.to(device, non_blocking=True), labels.to(device, non_blocking=True)
    optimizer.zero_grad(set_to_none=True)
    loss = nn.functional.cross_entropy(model(pictures), labels)
    loss.backward()
    optimizer.step()
    return loss.detach()


measure(step)
