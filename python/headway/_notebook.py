# SPDX-License-Identifier: Apache-2.0
"""Headway in a notebook: ``%load_ext headway``, ``%%headway``, and ``headway.show``.

What is shown is saved with the notebook and needs no server: the page of ``headway view --html`` in a frame, which is
shut off from the notebook around it. docs/notebook.md tells more.
"""
from __future__ import annotations

import argparse
import asyncio
import html
import itertools
import os
import shlex
import sys
import tempfile
from typing import Any, Optional, Union

from . import _collector
from ._analysis import Finding, run as run_headway
from ._places import Error
from ._record import TRACE, Run, record
from ._recording import Recording

#: MB that the page of one cell takes at most
SIZE_MB = 2
_HEIGHT_PX = 560


class Shown:
    """A recording as a notebook shows it: the verdict, the findings and the timeline; as text elsewhere."""

    def __init__(self, recording: Recording, notes: list[str], size_mb: int) -> None:
        self.recording = recording
        self._notes = notes
        self._size_mb = size_mb

    def __repr__(self) -> str:
        notes = "".join(f"   {note}\n" for note in self._all_notes())  # first: what is below lacks what they are about
        return notes + _text(self.recording)

    def _repr_html_(self) -> str:
        return _page(self.recording, self._all_notes(), self._size_mb)

    def _all_notes(self) -> list[str]:
        return [*self._notes, *_earlier_cells(self.recording)]


def _text(recording: Recording) -> str:
    """What ``headway analyze`` prints."""
    return run_headway("analyze", recording.path).rstrip("\n")


def _cost(finding: Finding) -> str:
    """The cost a step, its share, and the predicted gain: numbers alone, as what stands around them is in the reader's
    language."""
    words = f"{finding.cost_ns_per_step / 1e6:.3g} ms ({finding.share:.1%})"
    if finding.predicted is not None:
        words += f" · {finding.predicted.speedup:.2f}×"
    return words


def _finding_html(finding: Finding) -> str:
    place = html.escape(str(finding.places[0])) if finding.places else ""
    advice = html.escape("\n".join(finding.advice))
    return (f"<details><summary><b>{html.escape(finding.id)}</b> <code>{place}</code> {html.escape(_cost(finding))}"
            f"</summary><p>{html.escape(finding.says)}</p><pre style='white-space:pre-wrap'>{advice}</pre></details>")


def _attribute(text: str) -> str:
    """A text as the value of an attribute. A page has many double quotes and few single ones: in single quotes it grows
    by some 2 % instead of 12 %."""
    return "'" + text.replace("&", "&amp;").replace("'", "&#39;") + "'"


def _timeline_html(path: str, size_mb: int) -> str:
    """The page of the recording in a frame that cannot reach the notebook."""
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "page.html")
        try:
            run_headway("view", path, options=[f"--html={page}", f"--max-size={size_mb}"])
        except Error as problem:
            return f"<p><i>{html.escape(str(problem))}</i></p>"
        with open(page, encoding="utf-8") as text:
            source = _attribute(text.read())
    return (f'<iframe title="Headway · {html.escape(os.path.basename(path), quote=True)}"'
            f' sandbox="allow-scripts" style="width:100%;height:{_HEIGHT_PX}px;border:1px solid #8888"'
            f" srcdoc={source}></iframe>")


def _page(recording: Recording, notes: list[str], size_mb: int) -> str:
    verdict = recording.verdict
    parts = [f"<p><b>{html.escape(verdict.said)}</b> {html.escape(verdict.says)}</p>"]
    parts += [f"<p><small>{html.escape(note)}</small></p>" for note in notes]
    parts += [_finding_html(finding) for finding in recording.findings]
    if verdict.word == "no-device-work":  # what there is to say is no finding: operators, ranges, collections
        parts.append(f"<pre>{html.escape(_text(recording))}</pre>")
    if len(recording) > 0:
        parts.append(_timeline_html(recording.path, size_mb))
    return f'<div class="headway">{"".join(parts)}</div>'


def show(report: Union[str, "os.PathLike[str]", Recording, Run], *, size_mb: int = SIZE_MB) -> Shown:
    """Shows a recording in a notebook: its verdict, its findings and its timeline.

    :param report: a report's path, a recording that was opened, or what ``headway.record`` yielded
    :param size_mb: how many MB the page with the timeline may have; it says what had to be left out

    >>> "sync-in-loop" in str(headway.show(example))
    True
    """
    notes = report.notes if isinstance(report, Run) else []
    recording = report.recording if isinstance(report, Run) else report
    return Shown(recording if isinstance(recording, Recording) else Recording(recording), notes, size_mb)


# ---- %%headway ----

def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="%%headway", description="Record this cell, and show what held it back.",
                                     add_help=False, exit_on_error=False)
    parser.add_argument("-o", "--output", help="the report to write (default: a temporary file)")
    parser.add_argument("-t", "--trace", default=TRACE, help=f"what is recorded (default: {TRACE})")
    parser.add_argument("--size", type=_megabytes, default=SIZE_MB, help=f"MB of the page with the timeline (default: {SIZE_MB})")
    return parser


def _megabytes(word: str) -> int:
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"takes 1 or more, in MB, not {word!r}")
    return int(word)


def _options(line: str) -> argparse.Namespace:
    parser = _parser()
    try:
        options, rest = parser.parse_known_args(shlex.split(line))
    except (argparse.ArgumentError, ValueError) as problem:
        raise Error(f"%%headway: {problem}") from None
    if rest:
        raise Error(f"%%headway: unknown option '{rest[0]}'; {parser.format_usage().strip()}")
    return options


def _empty_lines(cell: str) -> int:
    """With how many empty lines a cell begins."""
    return len(list(itertools.takewhile(str.isspace, cell.splitlines(keepends=True))))


class _Cell:
    """Runs a cell as if it stood alone: its lines are called by the number of the cell, and its exception is raised once,
    by the magic."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._name = f"In [{shell.execution_count}]"

    def run(self, cell: str) -> tuple[Optional[BaseException], bool]:
        """Yields its exception, and whether it ran at all."""
        compiler, shell = self._shell.compile, self._shell
        transform = shell.transform_cell
        shell.showtraceback = shell.showsyntaxerror = lambda *words, **named: None
        compiler.get_code_name = lambda *words, **named: self._name
        # The line of the magic counts, and empty lines, which IPython leaves out: lines are those that the notebook shows.
        shell.transform_cell = lambda raw: "\n" * (1 + _empty_lines(raw)) + transform(raw)
        try:
            result = shell.run_cell(cell, store_history=False)
        finally:
            del shell.showtraceback, shell.showsyntaxerror, shell.transform_cell, compiler.get_code_name
        error: Optional[BaseException] = result.error_before_exec or result.error_in_exec
        return error, result.error_before_exec is None


def _earlier_cells(recording: Recording) -> list[str]:
    """Whose code the findings are about that lies in cells which ran without the magic: IPython calls it by a number of
    its own. Known in the notebook that ran them."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    names = getattr(getattr(shell, "compile", None), "_filename_map", {})
    if not names:
        return []
    cells = {os.path.basename(file): number for file, number in names.items() if os.path.isabs(file)}
    findings = [*recording.findings, *recording.acquitted]
    files = {os.path.basename(place.file) for finding in findings for place in finding.places}
    return [f"{file} is In [{cells[file]}]" for file in sorted(files & cells.keys())]


def _is_in_loop() -> bool:
    """Whether the shell runs inside of an event loop, as a kernel does: a magic cannot await there."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _magic(shell: Any, line: str, cell: str) -> None:
    from IPython.display import display  # type: ignore[import]
    options = _options(line)
    if _is_in_loop() and shell.should_run_async(cell, transformed_cell=shell.transform_cell(cell)):
        raise Error("%%headway: a cell with 'await' records itself by 'with headway.record() as run:', and shows that by "
                    "'headway.show(run)'")
    output = os.path.expanduser(options.output) if options.output else None
    with record(output, trace=options.trace, quiet=True) as run:
        error, has_run = _Cell(shell).run(cell)
    try:
        if run.path is not None and has_run:
            display(Shown(run.recording, run.notes, options.size))
    except Error as problem:
        print(f"headway: {problem}")
    if error is not None:
        raise error


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext headway``: has the cell magic ``%%headway``, and prepares recordings of what is used later. Cells name
    their steps by ``headway.range``: the package has its name there, unless something else has."""
    _collector.prepare()
    shell.user_ns.setdefault("headway", sys.modules[__package__])

    def headway(line: str, cell: str) -> None:
        _magic(shell, line, cell)

    headway.__doc__ = _parser().format_help()
    shell.register_magic_function(headway, "cell", "headway")


def unload_ipython_extension(shell: Any) -> None:
    """``%unload_ext headway``."""
    shell.magics_manager.magics["cell"].pop("headway", None)


__all__ = ["Shown", "load_ipython_extension", "show", "unload_ipython_extension"]
