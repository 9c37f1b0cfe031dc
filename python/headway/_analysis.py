# SPDX-License-Identifier: Apache-2.0
"""What Headway says about a recording, as plain objects.

All of it is the answer of the ``headway`` program (``analyze``, ``whatif`` and ``sql`` with ``--format json``): nothing
is computed here. docs/analyze-json.md and docs/whatif.md say what the fields mean.
"""
from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, fields
from typing import Any, Optional, Sequence, Type, TypeVar

from ._places import Error, find, reason

T = TypeVar("T")


def run(command: str, *operands: str, options: Sequence[str] = ()) -> str:
    """Runs a command of ``headway`` and yields what it prints. Operands, such as a query that begins with a comment, are
    never taken for options."""
    done = subprocess.run([str(find().program), command, *options, "--", *operands], stdin=subprocess.DEVNULL,
                          capture_output=True, check=False)
    if done.returncode != 0:
        raise Error(reason(done.stderr.decode("utf-8", "replace")) or f"headway {command} ended with status {done.returncode}")
    return done.stdout.decode("utf-8", "replace")


def run_json(command: str, *operands: str, options: Sequence[str] = ()) -> Any:
    """The same with ``--format json``."""
    return json.loads(run(command, *operands, options=[*options, "--format=json"]))


def _made(kind: Type[T], values: dict[str, Any], **more: Any) -> T:
    """An object of a data class from the keys of JSON that it has fields for."""
    known = {field.name for field in fields(kind)}
    return kind(**{key: value for key, value in values.items() if key in known}, **more)


@dataclass(frozen=True)
class Verdict:
    """What holds the program back, in one word and in a sentence."""

    word: str
    says: str
    #: of the judged time, how much each word stands for
    shares: dict[str, float]
    #: the share of the recording that was judged
    coverage: float
    #: the word for people: in another language than English, with its meaning
    said: str = ""

    def __str__(self) -> str:
        return f"{self.word}: {self.says}"


@dataclass(frozen=True)
class Step:
    """One turn of the program's loop; times are ns on the recording's clock."""

    id: int
    phase: int
    name: str
    start: int
    end: int
    duration: int
    busy: int
    steady: bool
    warm_up: bool


@dataclass(frozen=True)
class Place:
    """Where in the source something comes from."""

    file: str
    line: int
    function: str
    range: str
    api: str
    count: int
    cost_ns_per_step: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.file else self.range or self.api


@dataclass(frozen=True)
class Prediction:
    """A step with a fix, by replaying the recording without the profiler's cost."""

    #: the edits that stand for the fix, as ``headway whatif --apply`` takes them
    edits: list[str]
    #: ns of a step as it is, and with the fix; ``p10_ns`` and ``p90_ns``: how far off that may be
    before_ns: int
    step_ns: int
    p10_ns: int
    p90_ns: int
    speedup: float
    #: what fills the step then
    bound: str


@dataclass(frozen=True)
class Finding:
    """A diagnosed loss: what it is, what it costs each step, where it comes from, and what to do about it."""

    id: str
    title: str
    phase: int
    side: str
    share: float
    cost_ns_per_step: int
    confidence: str
    says: str
    places: list[Place]
    evidence: list[int]
    predicted: Optional[Prediction]
    advice: list[str]


def verdict(answer: dict[str, Any]) -> Verdict:
    summary = answer["summary"]
    return Verdict(summary["verdict"], summary["verdict_says"], summary["verdict_shares"], summary["coverage"], summary["verdict_said"])


def _finding(values: dict[str, Any]) -> Finding:
    replayed = values.get("predicted")
    made = {key: value for key, value in values.items() if key not in ("places", "predicted", "advice")}
    return _made(Finding, made, places=[_made(Place, place) for place in values["places"]],
                 predicted=_made(Prediction, replayed) if replayed else None, advice=(values.get("advice") or "").splitlines())


def findings(answer: dict[str, Any], key: str = "findings") -> list[Finding]:
    return [_finding(values) for values in answer[key]]


def steps(path: str) -> list[Step]:
    rows = run_json("sql", path, "select * from steps order by id")
    return [_made(Step, {**row, "steady": bool(row["steady"]), "warm_up": bool(row["warm_up"])}) for row in rows]


def predictions(path: str, edits: tuple[str, ...]) -> list[Prediction]:
    answer = run_json("whatif", path, options=[f"--apply={edit}" for edit in edits])
    return [_made(Prediction, values, before_ns=answer["step_ns"]) for values in answer["predictions"]]
