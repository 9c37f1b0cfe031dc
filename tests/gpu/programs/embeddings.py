"""embeddings.py - a recommender: the embedding tables lie on the host, the network on the GPU."""
import torch

from steps import FIXED, timed

torch.manual_seed(0)
torch.set_num_threads(4)
tables = torch.nn.ModuleList(torch.nn.EmbeddingBag(200000, 64, mode="sum") for _ in range(16))
network = torch.nn.Sequential(torch.nn.Linear(1024, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 512), torch.nn.ReLU(),
                              torch.nn.Linear(512, 1)).cuda()
if FIXED:
    tables.cuda()
optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
clicks = [torch.randint(0, 200000, (4096, 20)) for _ in range(16)]
if FIXED:
    clicks = [c.cuda() for c in clicks]


def step(i):
    with torch.no_grad():
        dense = torch.cat([table(c) for table, c in zip(tables, clicks)], 1).cuda()
    optimizer.zero_grad()
    network(dense).mean().backward()
    optimizer.step()


timed(step, steps=30, warmup=6, wait=torch.cuda.synchronize)
# SPDX-License-Identifier: Apache-2.0
