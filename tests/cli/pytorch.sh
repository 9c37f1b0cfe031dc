#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A real PyTorch on the CPU: operators, the modules and lines that called them, forward and backward; what a program
# that uses PyTorch sees of it.
source "$(dirname "$0")/common.bash"
check=$PWD/$(dirname "$0")/pytorch_check.py
[ -e "$check" ] || check=$(dirname "$0")/pytorch_check.py
cd "$work" || exit 1

need_torch

cat >train.py <<'END'
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.first = nn.Linear(n, n)
        self.second = nn.Linear(n, n)

    def forward(self, x):
        y = self.first(x)
        return self.second(torch.relu(y)) + x

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block(16) for _ in range(3))
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)

torch.manual_seed(7)
net = Net()
optimizer = torch.optim.Adam(net.parameters())
for step in range(20):
    optimizer.zero_grad()
    loss = net(torch.randn(8, 16)).pow(2).mean()
    loss.backward()
    with torch.autograd.profiler.record_function("my scope"):
        optimizer.step()
print(repr(loss.item()))
END

cat >workers.py <<'END'
import torch
from torch.utils.data import DataLoader, Dataset

class Squares(Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, i):
        return torch.full((4,), float(i)) ** 2

if __name__ == "__main__":
    total = 0.0
    for batch in DataLoader(Squares(), batch_size=4, num_workers=2):
        total += batch.sum().item()
    print(total)
END

# torch.profiler inside of the program counts what it counts alone.
cat >rival.py <<'END'
import torch
from torch.profiler import ProfilerActivity, profile
x = torch.ones(8, 8)
with profile(activities=[ProfilerActivity.CPU]) as p:
    for _ in range(10):
        (x @ x).relu()
for row in sorted((e.key, e.count) for e in p.key_averages()):
    print(*row)
END

for program in train workers rival; do
	"$python" $program.py >alone 2>&1
	alone=$?
	"$HEADWAY" profile -q -t cuda,nvtx,pytorch,python -o $program.hwy "$python" $program.py >with 2>err
	status=$?
	expect_status $alone "$program"
	cmp -s alone with || fail "$program: other output: $(diff alone with | head -5); $(head -3 err)"
	"$HEADWAY" export -t chrome -o $program.json $program.hwy >/dev/null 2>err || fail "$program: $(cat err)"
done
"$python" "$check" train.json workers.json || bad=1

# Shapes of inputs, on request, are those that torch's own profiler finds.
cat >shapes.py <<'END'
import sys
import torch

torch.set_num_threads(1)

def work():
    x, w = torch.ones(8, 16), torch.ones(4, 16, dtype=torch.float64)
    torch.cat([x, x])
    torch.nn.functional.linear(x.double(), w)
    torch.zeros(())

if len(sys.argv) > 1:
    with torch.autograd.profiler.profile(record_shapes=True) as p:
        work()
    for e in p.function_events:
        print(e.name, e.input_shapes)
else:
    work()
END
"$python" shapes.py profiler | sort >alone
run profile -q -t pytorch --pytorch-shapes -o shapes.hwy "$python" shapes.py
expect_status 0 "shapes"
run stats -r op_sum --shapes --format json shapes.hwy
"$python" -c 'import json, sys
for row in json.load(sys.stdin):
    for _ in range(row["Calls"]):
        print(row["Name"], json.loads(row["Input Shapes"]))' <out 2>err | sort >with
[ -s with ] && cmp -s alone with || fail "shapes: $(diff alone with | head -5) $(head -3 err)"

# Nothing is recorded where nothing was asked for.
"$HEADWAY" profile -q -t cuda,nvtx -o off.hwy "$python" train.py >/dev/null 2>err
"$HEADWAY" info off.hwy >out
grep -q " op " out && fail "operators although -t has no pytorch"
exit $bad
