# SPDX-License-Identifier: Apache-2.0
"""Headway from Python: record a part of a program, and look at recordings.

>>> import headway
>>> recording = headway.open(example)
>>> print(recording.verdict)
gpu: The GPU has work 96 % of a step: nothing on the CPU's side is worth more than 3.8 %.

Standard library only; docs/python.md tells more.
"""
from __future__ import annotations

from ._analysis import Finding, Place, Prediction, Step, Verdict
from ._collector import prepare
from ._columns import Column, Columns
from ._notebook import Shown, load_ipython_extension, show, unload_ipython_extension
from ._places import Error
from ._range import Range, range
from ._record import Run, record
from ._recording import Lane, Recording, Span, open

__all__ = ["Column", "Columns", "Error", "Finding", "Lane", "Place", "Prediction", "Range", "Recording", "Run", "Shown",
           "Span", "Step", "Verdict", "load_ipython_extension", "open", "prepare", "range", "record", "show",
           "unload_ipython_extension"]
