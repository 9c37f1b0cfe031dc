#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python_check.py RECORDING CONSUMER - the package `headway` against the recording and against other libraries.

RECORDING is tests/data/gpu/mlp_sync.hwy, CONSUMER the compiled arrow_consumer.c. The examples in the package's
docstrings are run with `example` as the recording's path.
"""
import ctypes
import doctest
import gc
import html.parser
import importlib
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile

import headway

recording_path, consumer_path = sys.argv[1:]
consumer = ctypes.CDLL(consumer_path)
capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
capsule_pointer.restype = ctypes.c_void_p
capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def every_example_in_the_package_is_true():
    for name in ("headway", "headway._recording", "headway._columns", "headway._range", "headway._record",
                 "headway._notebook"):
        module = importlib.import_module(name)
        failed, tried = doctest.testmod(module, extraglobs={"headway": headway, "example": recording_path},
                                        optionflags=doctest.ELLIPSIS)
        assert failed == 0, f"{name}: {failed} of {tried} examples"
        print(name, tried, "examples")


def columns_and_spans_tell_the_same():
    recording = headway.open(recording_path)
    for kind, count in recording.kinds.items():
        spans = sorted(recording.spans(kind), key=lambda span: span.id)
        columns = recording.columns(kind)
        assert len(spans) == count == len(columns["id"])
        assert [span.id for span in spans] == list(columns["id"])
        assert [span.start for span in spans] == list(columns["start"])
        assert [span.name or None for span in spans] == list(columns["name"])
        if "call" in columns:
            assert [span.cause for span in spans] == list(columns["call"])
    every = recording.columns()
    assert len(every["id"]) == len(recording) and list(every["id"]) == list(range(len(recording)))
    assert set(every["kind"]) == set(recording.kinds)


def columns_agree_with_sql():
    recording = headway.open(recording_path)
    for kind in ("kernel", "copy", "api", "range"):
        columns = recording.columns(kind)
        names = [name for name in columns if name not in ("lane", "shape", "symbol", "stack", "tid")]
        rows = recording.sql(f"select {', '.join(names)} from {kind} order by id")
        for name in names:
            ours, theirs = list(columns[name]), [row[name] for row in rows]
            assert [value or None for value in ours] == [value or None for value in theirs], (kind, name)


def queries_and_paths_are_never_taken_for_options():
    recording = headway.open(recording_path)
    assert recording.sql("-- how many\nselect count(*) as n from kernel") == [{"n": 1228}]
    try:
        recording.sql("--version")
        raise AssertionError("an option")
    except headway.Error as problem:
        assert "headway:" in str(problem), problem
    with tempfile.TemporaryDirectory() as folder:
        before = os.getcwd()
        shutil.copy(recording_path, folder + "/-run.hwy")
        os.chdir(folder)
        try:
            odd = headway.open("-run.hwy")
            assert odd.sql("select count(*) as n from kernel") == [{"n": 1228}]
            assert odd.verdict == recording.verdict and odd.steps == recording.steps
            assert odd.predict("remove-wait:mlp.py:54") == recording.predict("remove-wait:mlp.py:54")
            shown = headway.show(odd)
            assert "sync-in-loop" in str(shown) and "<iframe" in shown._repr_html_()
        finally:
            os.chdir(before)


def a_notebook_stores_the_page_as_it_is_and_hardly_larger():
    frames = []

    class Reader(html.parser.HTMLParser):
        def handle_starttag(self, tag, attrs):
            if tag == "iframe":
                frames.append(dict(attrs)["srcdoc"])

    shown = headway.show(recording_path)._repr_html_()
    Reader().feed(shown)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([headway._places.find().program, "view", f"--html={folder}/page.html", "--max-size=2", recording_path],
                       check=True, capture_output=True)
        with open(f"{folder}/page.html", encoding="utf-8", newline="") as file:
            page = file.read()
    assert frames == [page]
    stored = len(json.dumps(shown[shown.index("<iframe"):]))
    assert stored < 1.05 * len(page.encode()), stored / len(page.encode())


def asking_for_a_name_makes_no_column():
    columns = headway.open(recording_path).columns("kernel")
    made, headway._columns.Column.__init__ = headway._columns.Column.__init__, None
    try:
        assert "duration" in columns and "bytes" not in columns and 7 not in columns
        assert list(columns.keys()) == list(columns) and "duration" in columns.keys()
    finally:
        headway._columns.Column.__init__ = made


def findings_have_what_analyze_says():
    recording = headway.open(recording_path)
    finding = recording.findings[0]
    assert finding.advice[0].startswith("Keep the value on the GPU") and len(finding.advice) == 3, finding.advice
    assert finding.predicted is not None and finding.predicted.edits == ["remove-wait:mlp.py:54"]
    assert all(other.advice == [] for other in recording.acquitted)
    assert abs(sum(recording.verdict.shares.values()) - 1) < 0.001


def numpy_reads_a_column_in_place():
    try:
        import numpy
    except ModuleNotFoundError:
        print("no numpy: not tried")
        return
    column = headway.open(recording_path).columns("kernel")["duration"]
    seen = numpy.asarray(column)
    assert seen.__array_interface__["data"] == (column.address, True), "the same address, read-only"
    assert seen.dtype == numpy.int64 and not seen.flags.writeable
    total = sum(column)
    del column
    gc.collect()
    assert int(seen.sum()) == total, "the array keeps the recording's memory"
    try:
        import pandas
    except ModuleNotFoundError:
        print("no pandas: not tried")
        return
    kernels = headway.open(recording_path).columns("kernel")
    frame = pandas.DataFrame({name: numpy.asarray(kernels[name]) for name in ("start", "duration")})
    assert int(frame["duration"].sum()) == total


def numbers_keep_the_memory_they_show_and_cannot_change_it():
    numbers = headway.open(recording_path).columns("kernel")["duration"].numbers
    absent = headway.open(recording_path).columns("op")["id"].numbers
    gc.collect()
    assert sum(numbers) == 184720359 and list(absent) == []
    try:
        numbers[0] = 7
        raise AssertionError("written")
    except TypeError:
        pass


def a_recording_is_found_after_the_program_went_elsewhere_and_in_another_process():
    before = os.getcwd()
    os.chdir(os.path.dirname(recording_path))
    try:
        recording = headway.open(os.path.basename(recording_path))
    finally:
        os.chdir(before)
    assert recording.sql("select count(*) as n from kernel") == [{"n": 1228}]
    assert pickle.loads(pickle.dumps(recording)).kinds == recording.kinds


def a_refusal_gives_the_reason():
    try:
        headway.open(recording_path).predict("no-such-edit")
        raise AssertionError("accepted")
    except headway.Error as problem:
        assert "no-such-edit" in str(problem), problem


def take(capsules):
    schema, array = capsules
    assert consumer.arrow_take(ctypes.c_void_p(capsule_pointer(schema, b"arrow_schema")),
                               ctypes.c_void_p(capsule_pointer(array, b"arrow_array"))) == 0


def a_receiver_in_c_takes_columns():
    recording = headway.open(recording_path)
    take(recording.columns("copy")["bytes"].__arrow_c_array__())
    take(recording.columns("kernel").__arrow_c_array__())
    take(recording.columns().__arrow_c_array__())
    stream = recording.columns("kernel").__arrow_c_stream__()
    batches = consumer.arrow_take_stream(ctypes.c_void_p(capsule_pointer(stream, b"arrow_array_stream")))
    assert batches == 1, batches


def arrow_arrays_outlive_the_recording():
    capsules = headway.open(recording_path).columns("copy").__arrow_c_array__()
    gc.collect()
    take(capsules)


def capsules_that_nobody_takes_release_what_they_hold():
    for _ in range(50):
        columns = headway.open(recording_path).columns("copy")
        columns.__arrow_c_array__(), columns.__arrow_c_stream__(), columns["name"].__arrow_c_schema__()


def wrong_names_are_refused():
    recording = headway.open(recording_path)
    for wrong, meant in ((lambda: recording.columns("kernal"), "'kernal'; did you mean 'kernel'? there are api, kernel, "),
                         (lambda: recording.columns("kernel")["nam"], "'nam'; did you mean 'name'? there are "),
                         (lambda: recording.columns("kernel")["bytes"], "no column 'bytes'; there are ")):
        try:
            wrong()
            raise AssertionError("accepted")
        except KeyError as problem:
            assert meant in str(problem), problem
    for wrong in (lambda: headway.open(recording_path + "\0"), lambda: recording.columns("kernel\0"), lambda: recording.fact("a\0")):
        try:
            wrong()
            raise AssertionError("accepted")
        except ValueError:
            pass
    for wrong in (lambda: list(recording.spans("kernal")), lambda: recording.sql("select nothing from nowhere"),
                  lambda: list(recording.spans(lane=1 << 32)), lambda: list(recording.spans(lane=-1))):
        try:
            wrong()
            raise AssertionError("accepted")
        except headway.Error as problem:
            assert "\n" not in str(problem) and str(problem)


for name, test in list(globals().items()):
    if callable(test) and getattr(test, "__module__", "") == "__main__" and name.count("_") >= 2:
        print("---", name)
        test()
