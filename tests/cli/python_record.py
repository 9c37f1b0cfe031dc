#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python_record.py FOLDER WHAT - programs that record themselves with the package `headway`; each checks its own reports."""
import asyncio
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import headway

folder, what = sys.argv[1:]
loop = range


def names(run):
    """The program's own ranges: those of the interpreter, such as collections of garbage, are in a domain of theirs."""
    recording = run.recording
    return [span.name for span in recording.spans("range") if not recording.lanes[span.lane].name]


def a_recording_has_what_happens_inside_it_and_nothing_else():
    with headway.range("before"):
        pass
    for number in loop(3):
        with headway.record(f"{folder}/cell{number}", quiet=True) as run:
            with headway.range(f"inside {number}"):
                pass
        assert run.path == f"{folder}/cell{number}.hwy"
        assert names(run) == [f"inside {number}"], names(run)
        with headway.range("between"):
            pass


def a_part_without_cuda_says_so_and_what_would_be_recorded():
    with headway.record(f"{folder}/empty.hwy", trace="cuda,nvtx", quiet=True) as run:
        pass
    without = not os.path.exists("/proc/driver/nvidia/version") and not os.environ.get("HEADWAY_CUPTI")
    assert run.notes == (["CUDA is not recorded: there is no NVIDIA driver here"] if without else []), run.notes
    assert 'trace="nvtx,pytorch,python" (-t in a notebook) records operators of PyTorch' in run.said, run.said
    with headway.record(f"{folder}/default.hwy", quiet=True) as run:
        pass
    sources = run.recording.fact("capture.traces")
    assert sources == ("cuda,nvtx,opencl,pytorch,python" if without else "cuda,nvtx,opencl,python"), sources


def ranges_decorate_functions_and_coroutines():
    @headway.range
    def plain():
        return 1

    @headway.range("another name")
    def named():
        return plain() + 1

    @headway.range("coroutine")
    async def turns():
        await asyncio.sleep(0.001)
        return 3

    async def both():
        return await asyncio.gather(turns(), turns())

    assert (named(), asyncio.run(both())) == (2, [3, 3])
    with headway.record(f"{folder}/decorated.hwy", quiet=True) as run:
        assert (named(), asyncio.run(both())) == (2, [3, 3])
    seen = names(run)
    assert sorted(seen) == ["another name", "coroutine", "coroutine",
                            "ranges_decorate_functions_and_coroutines.<locals>.plain"], seen
    assert plain.__name__ == "plain"


def whatever_is_called_is_decorated_and_nothing_else():
    class Batches:
        @headway.range("generator")
        def three(self):
            got = yield 1
            yield got
            return 3

        @headway.range
        @staticmethod
        def loose(number):
            return number

        @headway.range("of the class")
        @classmethod
        def made(cls):
            return cls()

    def delegates():
        return (yield from Batches.made().three())

    with headway.record(f"{folder}/called.hwy", quiet=True) as run:
        turns = delegates()
        assert (next(turns), turns.send(2), Batches().loose(4)) == (1, 2, 4)
        try:
            next(turns)
        except StopIteration as end:
            assert end.value == 3
    spans = {span.name: span for span in run.recording.spans("range")}
    loose = next(span for name, span in spans.items() if name.endswith("Batches.loose"))
    assert spans["generator"].end > loose.start and "of the class" in spans, spans
    for wrong in (5, b"bytes", None, Batches):
        try:
            headway.range(wrong)
            raise AssertionError(f"{wrong} is a range")
        except TypeError as problem:
            assert "headway.range" in str(problem)


def threads_go_on_while_recordings_begin_and_end():
    done = threading.Event()
    counts = [0] * 4

    def work(number):
        while not done.is_set():
            with headway.range(f"thread {number}"):
                counts[number] += 1
            if counts[number] % 50 == 0:  # a thread that lives for one range
                short = threading.Thread(target=lambda: headway.range("short").__enter__().__exit__(None, None, None))
                short.start()
                short.join()

    threads = [threading.Thread(target=work, args=(number,), name=f"worker {number}") for number in loop(4)]
    for thread in threads:
        thread.start()
    runs = []
    for number in loop(8):
        with headway.record(f"{folder}/threads{number}.hwy", quiet=True) as run:
            seen = list(counts)
            while any(now < before + 20 for now, before in zip(counts, seen)):
                time.sleep(0.001)
        runs.append(run)
    done.set()
    for thread in threads:
        thread.join()
    for run in runs:
        seen = names(run)
        for number in loop(4):
            assert seen.count(f"thread {number}") >= 19, (number, len(seen))
        assert "" not in seen, "every range has its name"
        assert "nothing lost" in run.said, run.said


def forked_children_are_part_of_a_recording():
    with headway.record(f"{folder}/forked.hwy", quiet=True) as run:
        child = os.fork()
        if child == 0:
            with headway.range("in the child"):
                pass
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        with headway.range("in the parent"):
            pass
    assert sorted(names(run)) == ["in the child", "in the parent"], names(run)
    child = os.fork()  # between recordings
    if child == 0:
        with headway.record(f"{folder}/child.hwy", quiet=True) as own:
            with headway.range("a child records itself"):
                pass
        os._exit(0 if names(own) == ["a child records itself"] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with headway.record(f"{folder}/after.hwy", quiet=True) as run:
        with headway.range("the parent again"):
            pass
    assert names(run) == ["the parent again"]


def a_child_records_itself_when_its_parents_recording_is_over():
    go_on, said = os.pipe(), os.pipe()
    with headway.record(f"{folder}/with_child.hwy", quiet=True):
        child = os.fork()
        if child == 0:
            os.close(go_on[1])  # it ends with its parent
            words = []
            for path in ("during.hwy", "afterwards.hwy"):
                try:
                    with headway.record(f"{folder}/{path}", quiet=True) as own:
                        with headway.range("the child's own"):
                            pass
                    words += names(own)
                except headway.Error as problem:
                    words.append("already" if "already" in str(problem) else str(problem))
                os.write(said[1], words[-1].encode())
                os.read(go_on[0], 1)
            os._exit(0)
        assert os.read(said[0], 200) == b"already"
    os.write(go_on[1], b"1")
    assert os.read(said[0], 200) == b"the child's own"
    os.write(go_on[1], b"1")
    os.waitpid(child, 0)
    for end in (*go_on, *said):
        os.close(end)


def a_recorder_that_is_gone_is_told():
    run = headway.record(f"{folder}/gone.hwy", quiet=True)
    with run:
        os.kill(run._helper.pid, signal.SIGKILL)
    assert "headway recover /" in run.said and not os.path.exists(run.path), run.said
    try:
        run.recording
        raise AssertionError("there is a report")
    except headway.Error as problem:
        assert "headway recover /" in str(problem), problem
    shutil.rmtree(run._folder)
    with headway.record(f"{folder}/closed.hwy", quiet=True) as run:
        os.close(run._helper.stdin.fileno())
    assert "goes on alone" in run.said, run.said


def a_recording_ends_well_where_stderr_does_not():
    kept = sys.stderr
    try:
        for sys.stderr in (open(os.devnull), io.StringIO(), None):
            if sys.stderr:
                sys.stderr.close()
            with headway.record(f"{folder}/unheard.hwy") as run:
                pass
            assert run.recording.path == run.path
    finally:
        sys.stderr = kept


def exceptions_and_children_and_the_environment_stay_as_they_are():
    environment, descriptors = dict(os.environ), set(os.listdir("/proc/self/fd"))
    try:
        with headway.record(f"{folder}/raised.hwy", quiet=True) as run:
            seen = subprocess.run([sys.executable, "-c", "import os; print(sorted(os.environ))"], capture_output=True,
                                  text=True, check=True).stdout
            assert "HEADWAY_RUN" not in seen and "LD_PRELOAD" not in seen, seen
            raise KeyError("the program's own")
    except KeyError as problem:
        assert problem.args == ("the program's own",)
    assert run.recording.path == run.path, "what was recorded until then is there"
    assert dict(os.environ) == environment
    assert set(os.listdir("/proc/self/fd")) == descriptors


def a_recording_that_cannot_be_made_is_refused_before_it_begins():
    path = f"{folder}/no/such/folder.hwy"
    try:
        with headway.record(path, quiet=True):
            raise AssertionError("it began")
    except headway.Error as problem:
        assert path in str(problem) and "\n" not in str(problem), problem
    with headway.record(f"{folder}/outer.hwy", quiet=True):
        try:
            with headway.record(f"{folder}/inner.hwy", quiet=True):
                raise AssertionError("it began")
        except headway.Error as problem:
            assert "already" in str(problem)
    with headway.record(f"{folder}/late.hwy", trace="nvtx,osrt", quiet=True) as run:
        pass
    assert any("osrt: needs an earlier start" in note for note in run.notes), run.notes


def a_recording_that_does_not_begin_leaves_nothing():
    def fails(directory):
        assert os.path.isdir(directory)
        if fails.problem:
            raise fails.problem
        return 0

    def helpers():
        seen = subprocess.run(["ps", "-o", "args", "--ppid", str(os.getpid())], capture_output=True, text=True, check=True).stdout
        return [line for line in seen.splitlines() if "--within" in line]

    def state():
        return sorted(os.listdir(folder)), sorted(os.listdir(tempfile.gettempdir())), helpers()

    path = f"{folder}/kept.hwy"
    with open(path, "w") as file:
        file.write("what was there before")
    collector, before = headway._collector.loaded(), state()
    join, collector.join = collector.join, fails
    try:
        for fails.problem, expected in ((None, headway.Error), (KeyboardInterrupt(), KeyboardInterrupt)):
            for where in (path, None):
                run = headway.record(where, quiet=True)
                try:
                    run.__enter__()
                    raise AssertionError("it began")
                except expected as problem:
                    assert expected is KeyboardInterrupt or "cannot be recorded" in str(problem), problem
                assert run.path == where and state() == before, (state(), before)
                assert headway._collector._libc.getenv(b"CUDA_INJECTION64_PATH") is None
    finally:
        collector.join = join
    assert open(path).read() == "what was there before"
    find, headway._record.find = headway._record.find, lambda: find()._replace(program="/no/such/program")
    try:
        headway.record(quiet=True).__enter__()
        raise AssertionError("it began")
    except headway.Error as problem:
        assert "/no/such/program" in str(problem), problem
    finally:
        headway._record.find = find
    assert state() == before, (state(), before)
    with headway.record(quiet=True) as run:
        pass
    assert names(run) == []
    os.unlink(run.path)


def python_collects_garbage():
    import gc
    headway.prepare()
    with headway.record(f"{folder}/gc.hwy", quiet=True, trace="python,nvtx") as run:
        for _ in loop(200):
            time.sleep(0.001)
            gc.collect()
    collections = [span for span in run.recording.spans() if span.name.startswith("gc generation")]
    assert collections, [span.name for span in run.recording.spans()][:5]


def operators_of_pytorch_have_their_names_in_every_recording():
    try:
        import torch
    except ImportError:
        print("no torch: not tried")
        return
    x = torch.ones(32, 32)
    for number in loop(2):
        with headway.record(f"{folder}/torch{number}.hwy", trace="nvtx,pytorch", quiet=True) as run:
            for _ in loop(20):
                (x @ x).relu()
        seen = list(run.recording.columns("op")["name"])
        assert seen.count("aten::relu") == 20 and None not in seen, (number, seen[:8])


def a_misspelt_source_is_refused_with_the_nearest_one():
    try:
        with headway.record(f"{folder}/misspelt.hwy", trace="pytorh"):
            raise AssertionError("it records")
    except headway.Error as problem:
        assert "unknown 'pytorh'; did you mean 'pytorch'?" in str(problem), problem


def a_run_says_where_its_report_is_and_what_it_shows():
    with headway.record(f"{folder}/said.hwy", quiet=True) as run:
        assert repr(run) == f"<headway.Run {folder}/said.hwy: being recorded>", repr(run)
    assert repr(run) == f"<headway.Run {folder}/said.hwy: {run.recording.verdict}>", repr(run)


def opencl_that_is_only_loaded_is_not_missed():
    """In a process of its own, in which no layer was prepared before OpenCL is used."""
    program = ("import ctypes, sys\ncl = ctypes.CDLL('libOpenCL.so.1')\n"
               "if sys.argv[2] == 'used': cl.clGetPlatformIDs(0, None, ctypes.byref(ctypes.c_uint()))\n"
               "import headway\nwith headway.record(sys.argv[1], quiet=True) as run: pass\n"
               "print(sum('OpenCL' in note for note in run.notes), headway._collector.opencl_was_used())")
    for way in ("loaded", "used"):
        done = subprocess.run([sys.executable, "-c", program, f"{folder}/{way}.hwy", way], capture_output=True, text=True,
                              check=False, env=dict(os.environ))  # without what headway.prepare() has set for libraries
        if "libOpenCL.so.1" in done.stderr:
            print("no libOpenCL: not tried")
            return
        noted, used = done.stdout.split()
        assert (noted == "1") == (used == "True"), (way, done)
        assert way == "used" or noted == "0", done


def killed_in_the_middle():
    with headway.record(f"{folder}/killed.hwy"):
        with headway.range("done"):
            pass
        with headway.range("open"):
            os.kill(os.getpid(), signal.SIGKILL)


def under_profile():
    with headway.range("outside"):
        pass
    with headway.record(f"{folder}/ignored.hwy") as run:
        with headway.range("inside"):
            pass
    assert run.path is None
    with headway.range("outside"):
        pass


TESTS = [a_recording_has_what_happens_inside_it_and_nothing_else, a_part_without_cuda_says_so_and_what_would_be_recorded,
         ranges_decorate_functions_and_coroutines,
         whatever_is_called_is_decorated_and_nothing_else, a_child_records_itself_when_its_parents_recording_is_over,
         a_recorder_that_is_gone_is_told, a_recording_ends_well_where_stderr_does_not, threads_go_on_while_recordings_begin_and_end, forked_children_are_part_of_a_recording,
         exceptions_and_children_and_the_environment_stay_as_they_are,
         a_misspelt_source_is_refused_with_the_nearest_one, a_run_says_where_its_report_is_and_what_it_shows,
         opencl_that_is_only_loaded_is_not_missed, a_recording_that_cannot_be_made_is_refused_before_it_begins, a_recording_that_does_not_begin_leaves_nothing, python_collects_garbage,
         operators_of_pytorch_have_their_names_in_every_recording]
for test in TESTS if what == "all" else [globals()[what]]:
    print("---", test.__name__, flush=True)
    test()
