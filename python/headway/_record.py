# SPDX-License-Identifier: Apache-2.0
"""Recording a part of this program.

A ``headway`` process beside this one owns the run's folder and makes the report (src/cli/profile_within.c). This process
loads the collector, joins the run, and leaves it at the end. What goes wrong at the end of a recording is said on stderr
and never raised: the program has done its work.
"""
from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
from types import TracebackType
from typing import IO, Optional, Union

from . import _collector
from ._places import Error, find, reason
from ._recording import Recording

#: what a recording has by default; without a driver of NVIDIA operators of PyTorch, too, as with `headway profile`
TRACE = "cuda,nvtx,opencl,python"
# Sources that replace functions of libraries when the program is loaded.
_NEEDS_START = {"osrt", "mpi", "nccl", "cufft", "cublas-verbose"}
_busy = threading.Lock()


def _begin_child() -> None:
    """A forked child holds no lock: what its parent records is no recording of its own."""
    global _busy
    _busy = threading.Lock()


os.register_at_fork(after_in_child=_begin_child)


def _can_have_cuda() -> bool:
    """Whether there is a driver of NVIDIA, or a CUPTI that somebody named."""
    return os.path.exists("/proc/driver/nvidia/version") or bool(os.environ.get("HEADWAY_CUPTI"))


class Run:
    """A recording that is being made, or was made; ``headway.record`` yields it."""

    def __init__(self, path: Optional[Union[str, "os.PathLike[str]"]], trace: str, quiet: bool) -> None:
        #: where the report is, or will be; None: ``headway profile`` makes it
        self.path: Optional[str] = os.path.abspath(os.fspath(path)) if path is not None else None
        #: what the recording lacks because the program was started without Headway
        self.notes: list[str] = []
        #: what Headway said when the report was made
        self.said = ""
        self._traces = [word.strip() for word in trace.split(",") if word.strip()]
        if trace == TRACE and not _can_have_cuda():
            self._traces.append("pytorch")
        self._quiet = quiet
        self._pid = 0
        self._helper: Optional["subprocess.Popen[bytes]"] = None
        self._folder = ""
        self._injects_cuda = False
        self._is_temporary = False
        self._is_made = False

    @property
    def recording(self) -> Recording:
        """The recording, opened."""
        if self.path is None or not self._is_made:
            why = next(iter(self.said.splitlines()), "")
            raise Error(f"{self.path or 'headway.record'}: there is no report"
                        + (" yet" if self._helper is not None else f": {why}" if why else ""))
        return Recording(self.path)

    def __repr__(self) -> str:
        if not self._is_made:
            return f"<headway.Run {self.path}: {'being recorded' if self._helper is not None else 'no report'}>"
        try:
            return f"<headway.Run {self.path}: {self.recording.verdict}>"
        except Error as problem:
            return f"<headway.Run {self.path}: {problem}>"

    # ---- the beginning ----

    def __enter__(self) -> "Run":
        if not _busy.acquire(blocking=False):
            raise Error("headway.record: this program is being recorded already")
        self._pid = os.getpid()
        try:
            if _collector.is_profiled():
                self._begin_range()
            else:
                self._begin()
        except BaseException:
            _busy.release()
            raise
        return self

    def _begin_range(self) -> None:
        collector = _collector.loaded()
        self.path = None
        collector.capture(1)
        collector.push(b"headway.record")

    def _begin(self) -> None:
        try:
            if self.path is None:
                handle, self.path = tempfile.mkstemp(suffix=".hwy", prefix="headway-")
                self._is_temporary = True
                os.close(handle)
            elif not self.path.endswith(".hwy"):
                self.path += ".hwy"
            self._join()
        except BaseException as problem:
            self._forget()
            if isinstance(problem, OSError):
                raise Error(str(problem)) from None
            raise

    def _join(self) -> None:
        _collector.prepare()
        collector = _collector.loaded()
        if collector.tells(_collector.HAS_RUN):  # a forked child, in the run of its parent
            if collector.tells(_collector.RECORDING):
                raise Error("headway.record: this program is being recorded already, with the one that forked it")
            collector.leave()
        directory = self._start_helper()
        self._tell_what_is_late(collector)
        if not (_collector.is_mapped("libcuda.so") and collector.tells(_collector.CUDA_STAGE) == _collector.CUDA_ON):
            # A program that begins with CUDA only now: the driver loads the collector.
            self._injects_cuda = _collector.set_variable("CUDA_INJECTION64_PATH", str(find().collector))
        if not collector.join(directory):
            raise Error(f"{os.fsdecode(directory)}: this program cannot be recorded: its system calls are restricted, "
                        "or its clock is another")

    def _forget(self) -> None:
        """Leaves nothing of a recording that has not begun: no process, no variable, no file."""
        self._let_cuda_be()
        self._end_helper(b"forget\n")
        self._remove_temporary()
        if self._is_temporary:
            self.path, self._is_temporary = None, False

    def _let_cuda_be(self) -> None:
        if self._injects_cuda:
            _collector.unset_variable("CUDA_INJECTION64_PATH")
            self._injects_cuda = False

    def _remove_temporary(self) -> None:
        if self._is_temporary and not self._is_made:
            with contextlib.suppress(OSError):
                os.unlink(str(self.path))

    def _start_helper(self) -> bytes:
        """Starts the headway process, and yields the run's folder."""
        wanted = [word for word in self._traces if word not in _NEEDS_START]
        command = [str(find().program), "profile", "--within", "--force", f"--output={self.path}",
                   f"--trace={','.join(wanted) or 'none'}", "--", *(getattr(sys, "orig_argv", None) or [sys.executable])]
        command[command.index("--") + 1] = sys.executable or command[-1]
        # A session of its own: an interrupt of this program must not end its recorder.
        self._helper = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, start_new_session=True)
        line = _of(self._helper.stdout).readline()
        if not line.startswith(b"run "):
            raise Error(reason(self._end_helper()) or "headway ended before anything could be recorded")
        directory = line[len(b"run "):].rstrip(b"\n")
        self._folder = os.fsdecode(directory)
        return directory

    def _tell_what_is_late(self, collector: _collector.Collector) -> None:
        late = sorted(_NEEDS_START.intersection(self._traces))
        if late:
            self.notes.append(f"{', '.join(late)}: needs an earlier start, headway profile -t {','.join(late)} "
                              "python3 …")
        if "cuda" in self._traces and not _can_have_cuda():
            self.notes.append("CUDA is not recorded: there is no NVIDIA driver here")
        for module in _collector.modules_without_nvtx(collector):
            self.notes.append(f"ranges of {module}'s NVTX are not recorded: it was used before Headway was loaded; "
                              "headway.prepare() before that, or headway.range")

    # ---- the end ----

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        if os.getpid() != self._pid:
            return  # a forked child: the recording is its parent's
        try:
            if self._helper is None:
                collector = _collector.loaded()
                collector.pop()
                collector.capture(0)
            else:
                self._end()
        finally:
            _busy.release()

    def _end(self) -> None:
        _collector.loaded().leave()
        self._let_cuda_be()
        if "opencl" in self._traces and _collector.opencl_was_used() and not _collector.is_mapped("libheadway-opencl"):
            self.notes.append("OpenCL is not recorded: it was used before Headway was loaded; headway.prepare() before "
                              "that")
        self.said = self._end_helper(b"end\n") or self._lost()
        self._remove_temporary()
        if self._quiet or sys.stderr is None:
            return
        with contextlib.suppress(OSError, ValueError):  # the program has closed it, or nobody reads it
            for line in [*(f"headway: {note}" for note in self.notes), *self.said.splitlines()]:
                print(line, file=sys.stderr)

    def _end_helper(self, word: bytes = b"") -> str:
        """Lets headway make the report, and yields what it says."""
        helper, self._helper = self._helper, None
        if helper is None:
            return ""
        try:
            printed, said = helper.communicate(word)
        except (OSError, ValueError):
            return f"headway: {self.path}: the program has closed what connects it with its recorder, which goes on alone\n"
        self._is_made = helper.returncode == 0 and b"\nreport " in b"\n" + printed
        return said.decode("utf-8", "replace")

    def _lost(self) -> str:
        """What is to be said where headway made no report and said nothing: it was killed."""
        return f"headway: {self.path}: there is no report of it; headway recover {self._folder} makes one\n"


def _of(pipe: Optional[IO[bytes]]) -> IO[bytes]:
    assert pipe is not None
    return pipe


def record(path: Optional[Union[str, "os.PathLike[str]"]] = None, *, trace: str = TRACE, quiet: bool = False) -> Run:
    """Records what the program does inside a ``with`` statement into a report.

    >>> import tempfile, os
    >>> with headway.record(os.path.join(tempfile.mkdtemp(), "run.hwy"), quiet=True) as run:
    ...     for i in (0, 1, 2):
    ...         with headway.range(f"step_{i}"):
    ...             pass
    >>> [span.name for span in run.recording.spans("range")]
    ['step_0', 'step_1', 'step_2']

    The collector is loaded into this process and records CUDA, NVTX and where in Python calls come from; from here on, so
    that ``run.notes`` says what would have needed an earlier start. A report of that name is overwritten; without a name a
    temporary file is made. A program may be recorded any number of times, once at a time.

    Under ``headway profile`` the ``with`` statement is a range called ``headway.record`` in its report, and a capture range
    with ``-c cudaProfilerApi``.

    :param trace: what is recorded, as ``headway profile --trace`` takes it; by default CUDA, NVTX, OpenCL and collections of
        garbage, and where there is no driver of NVIDIA the operators of PyTorch, too
    :param quiet: print nothing when the report is made
    :raises Error: where nothing can be recorded, before the program's part begins
    """
    return Run(path, trace, quiet)
