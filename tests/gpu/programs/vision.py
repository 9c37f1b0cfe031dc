"""vision.py - trains a ResNet on augmented images that a DataLoader prepares."""
import torch
import torchvision
from torch.utils.data import DataLoader
from torchvision.transforms import v2

from steps import FIXED, timed

augment = v2.Compose([v2.RandomResizedCrop(160), v2.RandomHorizontalFlip(), v2.ColorJitter(0.4, 0.4, 0.4),
                      v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Normalize([0.5] * 3, [0.25] * 3)])
images = torchvision.datasets.FakeData(size=6400, image_size=(3, 224, 224), num_classes=10, transform=augment)
loader = DataLoader(images, batch_size=32, num_workers=14 if FIXED else 0, pin_memory=True, drop_last=True)

model = torchvision.models.resnet18(num_classes=10).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
loss_of = torch.nn.CrossEntropyLoss()
batches = iter(loader)


def step(i):
    x, y = next(batches)
    x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
    optimizer.zero_grad(set_to_none=True)
    loss_of(model(x), y).backward()
    optimizer.step()


timed(step, steps=100 if FIXED else 16, warmup=60 if FIXED else 4, wait=torch.cuda.synchronize)
# SPDX-License-Identifier: Apache-2.0
