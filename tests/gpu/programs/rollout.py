"""rollout.py - a policy on the GPU plays 64 worlds that NumPy simulates."""
import numpy as np
import torch

from steps import FIXED, timed

torch.manual_seed(0)
policy = torch.nn.Sequential(torch.nn.Linear(64, 512), torch.nn.Tanh(), torch.nn.Linear(512, 512), torch.nn.Tanh(), torch.nn.Linear(512, 4)).cuda()
push = np.random.default_rng(0).normal(size=(4, 64)).astype(np.float32)


class World:
    def __init__(self, n):
        self.place, self.speed = np.zeros((n, 64), np.float32), np.zeros((n, 64), np.float32)

    def advance(self, actions):
        if FIXED:
            force = push[actions]
            for _ in range(4):
                self.speed = 0.99 * self.speed + 0.01 * (force - np.sin(self.place))
                self.place = self.place + 0.01 * self.speed
            return self.place
        for n, action in enumerate(actions):
            for _ in range(4):
                self.speed[n] = 0.99 * self.speed[n] + 0.01 * (push[action] - np.sin(self.place[n]))
                self.place[n] = self.place[n] + 0.01 * self.speed[n]
        return self.place


world = World(64)
state = {"seen": world.place}


@torch.inference_mode()
def step(i):
    seen = torch.from_numpy(state["seen"].copy()).cuda()
    actions = policy(seen).argmax(1).cpu().numpy()
    state["seen"] = world.advance(actions)


timed(step, steps=200, warmup=20, wait=torch.cuda.synchronize)
# SPDX-License-Identifier: Apache-2.0
