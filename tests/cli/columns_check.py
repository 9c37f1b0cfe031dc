# SPDX-License-Identifier: Apache-2.0
"""columns_check.py HEADWAY FOLDER RECORDING... - holds the viewer's details of spans against the CSV export.

Of each recording and kind about SAMPLES spans are compared, spread over the file. The two differ in form only: the
page writes addresses and colours in hexadecimal, times relative to its origin, and a device with its name.
"""

import csv
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys

HEADWAY, FOLDER, *RECORDINGS = sys.argv[1:]
SAMPLES, MOST_BYTES = 100, 20_000_000
OWNER = ["id", "pid", "tid", "thread", "device", "context", "stream", "lane", "domain"]
SHAPE = {"cluster-x": "cluster x", "cluster-y": "cluster y", "cluster-z": "cluster z",
         "registers": "registers a thread", "static-shared": "static shared memory",
         "dynamic-shared": "dynamic shared memory", "executed-shared": "executed shared memory",
         "local-per-thread": "local memory a thread", "local-total": "local memory in total"}
# The page shows these in other words: a span's effect on the drawing, or a part of another field.
NOT_COMPARED = {"flags", "payload-type", "demangled", "short"}
bad, seen = {}, {}


def fail(what, text):
    """Counts; the first of each sort is printed."""
    if what not in bad:
        print("FAIL:", text)
    bad[what] = bad.get(what, 0) + 1


class Viewer:
    def __init__(self, recording):
        self.process = subprocess.Popen([HEADWAY, "view", "--no-browser", recording], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        found = re.match(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/", self.process.stdout.readline())
        self.host, self.token = f"127.0.0.1:{found[1]}", found[2]
        self.connection = socket.create_connection(("127.0.0.1", int(found[1])), timeout=60)
        self.answers = self.connection.makefile("rb")

    def ask(self, path):
        """Tens of thousands of questions: http.client would need longer for their headers than the viewer for all answers."""
        self.connection.sendall(f"GET /{self.token}/{path} HTTP/1.1\r\nHost: {self.host}\r\n\r\n".encode())
        length, line = None, self.answers.readline()
        while line.strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
            line = self.answers.readline()
        if length is None:
            sys.exit(f"{path}: no answer with a length")
        return json.loads(self.answers.read(length))

    def end(self):
        self.answers.close()
        self.connection.close()
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=60)


def shown_values(answer, origin):
    """What the page shows, in the form of CSV cells, by CSV heading."""
    shown = {"start": str(answer["start"] + origin), "duration": str(answer["dur"]), "name": answer["name"],
             "call": str(answer["launch"]["id"]) if answer["launch"] else ""}
    for field in answer["fields"]:
        key, value = field["key"], field["value"]
        if key in ("queued", "submitted"):
            value = str(int(value) + origin)
        elif key in ("source-device", "target-device"):
            value = re.match(r"GPU (-?\d+)", value)[1]
        elif key in ("address", "pool", "color") and re.fullmatch(r"(0x|#)[0-9a-f]+", value):
            number = int(value.lstrip("#"), 16)
            value = str(number - (1 << 64) if number >> 63 else number)
        elif key in ("grid", "block"):
            shown.update(zip((f"{key}-x", f"{key}-y", f"{key}-z"), value.split(" x ")))
        elif key == "mangled name":
            key = "mangled"
        shown[key] = value
    return shown


def is_same(heading, cell, shown):
    if heading in SHAPE:
        return (cell if cell != "0" else "") == shown.get(SHAPE[heading], "")
    value = shown.get(heading, "")
    if cell == value:
        return True
    if heading == "result":  # the page leaves results out of recordings that have none
        return cell == "0" and value == ""
    if heading == "name":  # the page makes a name up for what has none, and cuts long ones
        return cell == "" or value.endswith("…") and cell.startswith(value[:-1])
    if heading == "mangled":  # shown where it is not the name
        return value == "" and shown["name"] in (cell, "") or value.endswith("…")
    if heading in ("args", "payload", "category"):
        return value.endswith("…") and cell.startswith(value[:-1])
    return False


def check_span(recording, kind, row, answer, origin, has_operators):
    shown = shown_values(answer, origin)
    for heading, cell in row.items():
        if heading in OWNER or heading in NOT_COMPARED:
            continue
        if heading == "stack":
            # The page shows the stack of the call, or of the operator or scope, around what has none.
            borrowed = answer["launch"] or not cell and has_operators
            if bool(cell) != bool(answer["stack"]) and not borrowed:
                fail((kind, "stack"), f"{recording} {kind} {row['id']}: stack in one of the two only")
            continue
        if cell:
            seen.setdefault(heading, recording)
        if not is_same(heading, cell, shown):
            fail((kind, heading), f"{recording} {kind} {row['id']}: {heading} is '{cell}' in CSV, "
                 f"'{shown.get(SHAPE.get(heading, heading), '')}' in the viewer")


def check_recording(path):
    name, folder = os.path.basename(path), os.path.join(FOLDER, "csv")
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([HEADWAY, "export", "-t", "csv", "-o", folder, path], check=True, stdout=subprocess.DEVNULL)
    viewer = Viewer(path)
    origin, files = None, sorted(set(os.listdir(folder)) - {"messages.csv"})  # messages are no spans
    for file in files:
        with open(os.path.join(folder, file), newline="", encoding="utf-8", errors="replace") as text:
            headings, *rows = csv.reader(text)
        for cells in rows[::max(1, len(rows) // SAMPLES)]:
            row = dict(zip(headings, cells))
            answer = viewer.ask(f"span?t=0&id={row['id']}")
            if origin is None:
                origin = int(row["start"]) - answer["start"]
            check_span(name, file, row, answer, origin, "op.csv" in files)
    viewer.end()


def main():
    for path in RECORDINGS:
        if os.path.getsize(path) <= MOST_BYTES:
            check_recording(path)
    # Columns that once were wrong must occur, or this test says nothing about them.
    for heading in ("waited-stream", "style", "end-thread", "color", "cause", "launch-type", "direction", "payload"):
        if heading not in seen:
            fail(heading, f"no recording has a value of '{heading}'")
    if bad:
        sys.exit(f"{sum(bad.values())} values differ")


main()
