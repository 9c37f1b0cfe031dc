# SPDX-License-Identifier: Apache-2.0
"""A recording that was opened: its spans, and what Headway says about it."""
from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Optional, Union

from . import _analysis
from ._analysis import Finding, Prediction, Step, Verdict
from ._columns import Columns, Trace
from ._library import ALL_LANES, NO_SPAN, LaneInfo, SpanInfo, Why, key, library, number, text
from ._places import Error


@dataclass(frozen=True)
class Lane:
    """Where spans stand in order: a stream, the API calls of a thread, the ranges of one NVTX domain …"""

    id: int
    type: str
    name: str
    thread: str
    device: str
    pid: Optional[int]
    tid: Optional[int]
    ordinal: Optional[int]
    stream: Optional[int]
    spans: int


@dataclass(frozen=True)
class Span:
    """Something with a start and a duration, in ns on the recording's clock."""

    id: int
    lane: int
    kind: str
    name: str
    start: int
    duration: int
    #: the id of the API call that enqueued this work
    cause: Optional[int]

    @property
    def end(self) -> int:
        return self.start + self.duration


class Recording:
    """Anything that ``headway`` opens: a ``.hwy`` report, an nsys export, a trace of the PyTorch profiler.

    >>> recording = headway.open(example)
    >>> print(recording)
    mlp_sync.hwy: 3225 spans
    >>> recording.kinds["kernel"]
    1228
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        self._trace = Trace(os.fsdecode(path))
        self._handle = self._trace.handle
        #: where it lies, also after the program has gone to another folder
        self.path = os.path.abspath(os.fsdecode(path))

    def __reduce__(self) -> tuple[type["Recording"], tuple[str]]:
        """A copy, as another process gets it, is the file opened once more."""
        return Recording, (self.path,)

    def __repr__(self) -> str:
        return f"<headway.Recording {self.path}>"

    def __str__(self) -> str:
        return f"{os.path.basename(self.path)}: {len(self)} spans"

    def __len__(self) -> int:
        """How many spans there are."""
        return int(library().headway_trace_spans(self._handle))

    # ---- what was recorded ----

    @property
    def kinds(self) -> dict[str, int]:
        """How many spans there are of each kind that occurs."""
        counts: dict[str, int] = {}
        index = 0
        while (kind := library().headway_kind_name(index)) is not None:
            spans = library().headway_trace_spans_of_kind(self._handle, kind)
            if spans:
                counts[text(kind)] = spans
            index += 1
        return counts

    @cached_property
    def lanes(self) -> list[Lane]:
        """All lanes; a span's ``lane`` is an index into this list."""
        lanes = []
        info = LaneInfo()
        for index in range(library().headway_trace_lanes(self._handle)):
            library().headway_trace_lane(self._handle, index, ctypes.byref(info))
            lanes.append(Lane(index, text(info.type), text(info.name), text(info.thread), text(info.device),
                              number(info.pid), number(info.tid), number(info.ordinal), number(info.stream),
                              info.spans))
        return lanes

    def spans(self, kind: Optional[str] = None, lane: Optional[int] = None) -> Iterator[Span]:
        """The spans of a lane in order of start, then those of the next lane.

        >>> mark = next(headway.open(example).spans("range"))
        >>> mark.name, mark.duration
        ('step_0', 267587467)
        """
        why = Why()
        trace = self._trace  # an iterator keeps the trace, also where the recording is gone
        if lane is not None and not 0 <= lane < ALL_LANES:
            raise Error(f"{self.path}: no such lane")
        cursor = library().headway_cursor_open(trace.handle, ALL_LANES if lane is None else lane, key(kind),
                                               *why.arguments)
        if not cursor:
            raise why.error()
        info = SpanInfo()
        try:
            while library().headway_cursor_next(cursor, ctypes.byref(info)):
                yield Span(info.id, info.lane, text(info.kind), text(info.name), info.start, info.dur,
                           None if info.cause == NO_SPAN else info.cause)
        finally:
            library().headway_cursor_close(cursor)

    def columns(self, kind: Optional[str] = None) -> Columns:
        """The spans of a kind, or all spans, as a table of columns."""
        return Columns(self._trace, kind)

    def fact(self, name: str) -> Optional[str]:
        """A fact about the recording, such as ``"source.format"``; ``None`` where it is not known."""
        value = library().headway_trace_property(self._handle, key(name))
        return None if value is None else text(value)

    def sql(self, query: str) -> list[dict[str, Any]]:
        """The rows that ``headway sql`` answers a query with.

        >>> headway.open(example).sql("select count(*) as n from api where name like '%Synchronize%'")
        [{'n': 20}]
        """
        rows: list[dict[str, Any]] = _analysis.run_json("sql", self.path, query)
        return rows

    # ---- what Headway says about it ----

    @cached_property
    def analysis(self) -> dict[str, Any]:
        """The whole answer of ``headway analyze --format json``."""
        answer: dict[str, Any] = _analysis.run_json("analyze", self.path)
        return answer

    @property
    def verdict(self) -> Verdict:
        """What holds the program back.

        >>> headway.open(example).verdict.word
        'gpu'
        """
        return _analysis.verdict(self.analysis)

    @cached_property
    def steps(self) -> list[Step]:
        """The turns of the program's loop, in order.

        >>> steps = headway.open(example).steps
        >>> len(steps), sum(step.steady for step in steps)
        (18, 15)
        """
        return _analysis.steps(self.path)

    @property
    def findings(self) -> list[Finding]:
        """What costs time, in the order to look at it.

        >>> finding = headway.open(example).findings[0]
        >>> finding.id, str(finding.places[0])
        ('sync-in-loop', 'examples/mlp.py:54')
        """
        return _analysis.findings(self.analysis)

    @property
    def acquitted(self) -> list[Finding]:
        """Suspects that were looked at and cost next to nothing."""
        return _analysis.findings(self.analysis, "acquitted")

    @cached_property
    def predictions(self) -> list[Prediction]:
        """What the fixes of all findings are worth, alone and together."""
        return _analysis.predictions(self.path, ())

    def predict(self, *edits: str) -> Prediction:
        """What edits are worth together; ``headway whatif --list`` has the edits.

        >>> prediction = headway.open(example).predict("remove-wait:mlp.py:54")
        >>> prediction.step_ns < prediction.before_ns
        True
        """
        return _analysis.predictions(self.path, edits)[-1]


def open(path: Union[str, "os.PathLike[str]"]) -> Recording:
    """Opens a recording. What it is is decided by its content.

    :raises Error: where the file cannot be read; the text has the file and the reason

    >>> headway.open("missing.hwy")
    Traceback (most recent call last):
    headway._places.Error: missing.hwy: No such file or directory
    """
    return Recording(path)
