"""graphnet.py - trains a graph convolution network; the graph is moved to the GPU for every step."""
import torch
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv

from steps import FIXED, timed

torch.manual_seed(0)
NODES, EDGES, WIDTH = 100_000, 1_000_000, 256
x, edges, y = torch.randn(NODES, WIDTH), torch.randint(0, NODES, (2, EDGES)), torch.randint(0, 16, (NODES,))
on_gpu = Data(x=x, edge_index=edges, y=y).to("cuda")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = GCNConv(WIDTH, 64), GCNConv(64, 16)

    def forward(self, data):
        x = self.first(data.x, data.edge_index).relu()
        return self.second(x, data.edge_index)


model = Net().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)


def step(i):
    data = on_gpu if FIXED else Data(x=x, edge_index=edges, y=y).to("cuda")
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(data), data.y).backward()
    optimizer.step()


timed(step, steps=30, warmup=10, wait=torch.cuda.synchronize)
# SPDX-License-Identifier: Apache-2.0
