# SPDX-License-Identifier: Apache-2.0
"""Runs a script with deterministic settings and prints what it computed to the last bit: exact.py SCRIPT [ARGUMENT…]

Of the script's output the times are replaced by "T". Then a line follows for each global variable of the script that holds tensors,
arrays, numbers or an nn.Module, alone or in lists and dicts: its name, how many values, and a hash of their bytes. The exit status is 7, or
that of the script where it fails.
"""
import contextlib
import hashlib
import io
import os
import random
import re
import sys
import traceback
import types

from calm import become

MOST_ITEMS = 100000  # of a list or dict
TIMES = re.compile(r"(?<=step_ms )[\d.]+|[\d.]+(?= ms/step)")


def settle():
    """Seeds, and algorithms that give the same result each time, for the libraries that the script will use."""
    random.seed(0)
    with contextlib.suppress(ImportError):
        import numpy
        numpy.random.seed(0)
    if "jax" in os.path.basename(sys.argv[1]):
        return  # what makes JAX deterministic is in the environment; torch would only take memory
    with contextlib.suppress(ImportError):
        import torch
        torch.manual_seed(0)
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.backends.cudnn.benchmark = False


def is_tensor(value):
    return "torch" in sys.modules and isinstance(value, sys.modules["torch"].Tensor)


def tensor_bytes(tensor):
    flat = tensor.detach().to("cpu").contiguous().reshape(-1)
    return flat.view(sys.modules["torch"].uint8).numpy().tobytes() if flat.numel() else b""


def pieces(value, depth=0):
    """The bytes of everything in a value that is a number, a tensor or an array, in order."""
    if isinstance(value, (type, types.ModuleType, str, bytes)):
        return
    if isinstance(value, (bool, int, float)):
        yield repr(value.hex() if isinstance(value, float) else value).encode()
    elif is_tensor(value):
        yield tensor_bytes(value)
    elif hasattr(value, "state_dict") and hasattr(value, "parameters"):
        yield from pieces(list(value.state_dict().values()), depth)
    elif type(value).__module__.startswith("cupy") and hasattr(value, "get"):
        yield value.get().tobytes()
    elif hasattr(value, "dtype") and hasattr(value, "__array__"):
        yield sys.modules["numpy"].asarray(value).tobytes()
    elif isinstance(value, (list, tuple, dict)) and depth < 4:
        for item in list(value.values() if isinstance(value, dict) else value)[:MOST_ITEMS]:
            yield from pieces(item, depth + 1)


def tell(name, value):
    count, digest = 0, hashlib.sha256()
    try:
        for piece in pieces(value):
            count += 1
            digest.update(piece)
    except Exception as error:
        print(f"{name}: cannot be read: {type(error).__name__}")
        return
    if count:
        print(f"{name}: {count} values, {digest.hexdigest()[:24]}")


def main():
    settle()
    said, status = io.StringIO(), 7
    namespace = {}
    try:
        with contextlib.redirect_stdout(said):
            namespace = become(sys.argv[1], sys.argv[2:])
    except SystemExit as leave:
        status = leave.code
    except Exception:
        traceback.print_exc()
        status = 1
    print(TIMES.sub("T", said.getvalue()), end="")
    for name, value in namespace.items():
        if not name.startswith("_"):
            tell(name, value)
    sys.stdout.flush()
    sys.exit(status)


if __name__ == "__main__":
    main()
