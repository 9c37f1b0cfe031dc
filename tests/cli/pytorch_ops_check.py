# SPDX-License-Identifier: Apache-2.0
"""Compares operators with torch.profiler's on the CPU: pytorch_ops_check.py FOLDER. Exit status 1 where a check failed, or none was made."""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "gpu"))
import harness  # noqa: E402
import part15  # noqa: E402

part = harness.Part(15, part15.TITLE, sys.argv[1], [], 600)
for name in ("amp", "resnet"):
    part15.compare(part, name, "--cpu", "--steps", "3", "--warmup", "1")
sys.exit(1 if part.failed() or len(part.checks) < 8 else 0)
