#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Modules and scopes as few programs have them: a model that holds itself, a module with a property _modules (which is
# never called for us), modules that move to another model, scopes 200 deep, and scopes that overlap.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
fail() {
	echo "FAIL: $1"
	bad=1
}
/usr/bin/python3 -c 'import torch' 2>"$work/err" || {
	echo "SKIP: Debian's PyTorch (python3-torch) is not installed"
	exit 77
}
cat >"$work/odd.py" <<'PROGRAM'
import torch
from torch import nn
from torch.autograd.profiler import record_function

class Around(nn.Module):
    def __init__(self, **inner):
        super().__init__()
        for name, module in inner.items():
            self._modules[name] = module

    def forward(self, x):
        for module in self._modules.values():
            x = module(x) if module is not self else x
        return x

class Other(Around): pass

class Computed(nn.Module):
    asked = 0
    def __init__(self):
        super().__init__()
        self.__dict__["linear"] = nn.Linear(4, 4)
    def forward(self, x):
        return self.linear(x)

def modules_of(self):
    Computed.asked += 1
    return {}

def deep(n):
    with record_function(f"level {n}"):
        return deep(n - 1) if n else torch.ones(1).neg()

def call(model):
    for _ in range(30):
        model(x)

x = torch.ones(2, 4)
Computed._modules = property(modules_of, lambda self, value: None)
model = Computed()
before = Computed.asked
call(model)
print("asked", Computed.asked - before)
model = Around(linear=nn.Linear(4, 4))
model._modules["itself"] = model._modules["again"] = model
call(model)
first, second = nn.Linear(4, 4), nn.Linear(4, 4)
call(Around(first=first, second=second))
call(Other(last=second, more=first))
deep(199)
outer, inner = record_function("outer"), record_function("inner")
outer.__enter__(), inner.__enter__()
outer.__exit__(None, None, None), inner.__exit__(None, None, None)
PROGRAM
"$HEADWAY" profile -q -t pytorch -o "$work/odd" /usr/bin/python3 "$work/odd.py" >"$work/out" || fail "exit status"
[ "$(cat "$work/out")" = "asked 0" ] || fail "the program's property was called: $(cat "$work/out")"

"$HEADWAY" tree --by module --format json "$work/odd.hwy" >"$work/tree" || fail "tree"
cat >"$work/paths.py" <<'PROGRAM'
import json, sys

def show(node, path):
    path = path + "." + node["name"]
    if node["kind"] == "module":
        print(path[2:])
    for inner in node.get("inner", []):
        show(inner, path)

show(json.load(open(sys.argv[1]))["tree"], "")
PROGRAM
# What is called before the paths are found, or is held in no _modules, has only its class.
/usr/bin/python3 "$work/paths.py" "$work/tree" | grep -v "\.Linear\$" | sort >"$work/paths"
printf '%s\n' Around Around.first Around.linear Around.second Computed Other Other.last Other.more >"$work/want"
diff "$work/want" "$work/paths" || fail "the paths of modules"

"$HEADWAY" stats -r op_sum --format csv "$work/odd.hwy" >"$work/ops"
[ "$(grep -c 'level [0-9]' "$work/ops")" = 200 ] || fail "$(grep -c 'level [0-9]' "$work/ops") scopes of 200"
"$HEADWAY" info --all "$work/odd.hwy" | grep -q 'some scopes of record_function' || fail "no note of scopes that overlap"
exit $bad
