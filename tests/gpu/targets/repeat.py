"""Runs examples one after the other: repeat.py RUNS.json, a list of [script, argument, …].

Importing torch or CuPy takes longer than what is measured. Prints one line a run: a JSON list of its index and what
it printed. A run that fails ends nothing but itself. Each begins on calm CPUs, see calm.py.
"""
import contextlib
import gc
import io
import json
import pathlib
import runpy
import sys

import torch
from calm import move, use_torch

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "examples"

use_torch()
for index, (script, *arguments) in enumerate(json.loads(pathlib.Path(sys.argv[1]).read_text())):
    sys.argv = [script, *arguments]
    gc.collect()
    torch.cuda.empty_cache()
    move()
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            runpy.run_path(str(EXAMPLES / script), run_name="__main__")
    except (Exception, SystemExit) as error:
        said.write(f"\n{type(error).__name__}: {error}")
    print(json.dumps([index, said.getvalue()]), flush=True)
