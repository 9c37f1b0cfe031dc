# SPDX-License-Identifier: Apache-2.0
"""view_export.py HEADWAY REPORT FOLDER - saves pieces of a report as the page does, and compares them with the whole."""

import json
import random
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request

HEADWAY, REPORT, FOLDER = sys.argv[1:4]
bad = 0
LINKED = ("kernel", "copy", "fill", "sync", "memory")


def expect(condition, what):
    global bad
    if not condition:
        bad = 1
        print("FAIL:", what)


def spans_of(path, kinds=("kernel", "copy", "fill", "sync", "memory", "api", "range", "os")):
    """By kind: the start, duration and name of every span; device work with the start of its call."""
    rows = {}
    for kind in kinds:
        call = ", (select a.start from api a where a.id = s.call) as call" if kind in LINKED else ""
        text = subprocess.run([HEADWAY, "sql", "--format", "json", path,
                               "select s.start, s.duration, s.name%s from %s s" % (call, kind)],
                              check=True, capture_output=True, text=True).stdout
        rows[kind] = [tuple(row.values()) if isinstance(row, dict) else tuple(row) for row in rows_of(json.loads(text))]
    return rows


def rows_of(answer):
    return answer["rows"] if isinstance(answer, dict) else answer


def ask(path):
    try:
        with urllib.request.urlopen(ADDRESS + path) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def check_piece(whole, begin, end):
    piece = FOLDER + "/piece.hwy"
    window = "t=0&from=%d&to=%d" % (begin, end)
    size = json.loads(ask("export-size?" + window)[1])["spans"]
    status, content = ask("export?%s&type=hwy" % window)
    expect(status == 200, "a report of %d to %d: %s" % (begin, end, content[:200]))
    with open(piece, "wb") as file:
        file.write(content)
    got = spans_of(piece)
    told = subprocess.run([HEADWAY, "sql", "--format", "csv", piece, "select count(*) from spans"], check=True, capture_output=True,
                          text=True).stdout.split()[-1]
    expect(told == str(size), "as many spans as were told before: %d, not %s" % (size, told))

    def touching(row):
        return row[0] < end and (row[0] >= begin or row[0] + row[1] > begin)
    for kind in LINKED + ("range", "os"):
        expect(sorted(got[kind]) == sorted(row for row in whole[kind] if touching(row)), "%s of %d to %d" % (kind, begin, end))
    calls = {row[3] for kind in LINKED for row in got[kind]}
    wanted = [row for row in whole["api"] if touching(row) or row[0] in calls]
    expect(sorted(got["api"]) == sorted(wanted), "calls of %d to %d: %d, not %d" % (begin, end, len(got["api"]), len(wanted)))
    return got


viewer = subprocess.Popen([HEADWAY, "view", "--no-browser", REPORT], stdout=subprocess.PIPE, text=True)
ADDRESS = re.match(r"http://\S+", viewer.stdout.readline())[0]
info = json.loads(ask("info")[1])["traces"][0]
everything = spans_of(REPORT)
origin = int(info["origin"])
expect(origin == 0, "times of the page are those of the recording")
first, last = min(row[0] for row in everything["kernel"]), max(row[0] for row in everything["kernel"])
dice = random.Random(5)
for _ in range(4):
    at = dice.randrange(first, last)
    check_piece(everything, at, at + dice.randrange(1, 40000000))
all_of_it = check_piece(everything, info["start"], info["end"] + 1)
expect(all(sorted(all_of_it[kind]) == sorted(everything[kind]) for kind in everything), "all of it is all of it")

lane = next(one for one in json.loads(ask("lanes?t=0")[1])["lanes"] if one["type"] == "stream")
size = json.loads(ask("export-size?t=0&lanes=%d" % lane["lane"])[1])
status, content = ask("export?t=0&type=hwy&lanes=%d" % lane["lane"])
with open(FOLDER + "/stream.hwy", "wb") as file:
    file.write(content)
stream = spans_of(FOLDER + "/stream.hwy")
work = [row for kind in LINKED for row in stream[kind]]
expect(len(work) == lane["spans"] and size["most"] == 2000000, "only the lanes that were chosen: %s" % size)
expect(sorted(row[0] for row in stream["api"]) == sorted({row[3] for row in work}) and stream["api"],
       "with the calls that enqueued their work: %d" % len(stream["api"]))
expect(size["spans"] == len(work) + len(stream["api"]), "which are counted: %s" % size)
status, content = ask("export?t=0&from=%d&to=%d&type=perfetto" % (first, last))
expect(status == 200 and b"gemm" in content, "a trace for Perfetto")
for request, says in (("export?t=0", "type"), ("export?t=0&type=exe", "type"), ("export?t=9&type=hwy", "'t'"),
                      ("export?t=0&type=hwy&from=%d" % (2 ** 52), "before"),
                      ("export?t=0&type=hwy&from=0&to=1", "nothing was recorded"), ("export-size?t=0&lanes=x", "")):
    status, content = ask(request)
    expect(status == 400 and says in json.loads(content)["error"], "%s: %d %s" % (request, status, content[:200]))
viewer.send_signal(signal.SIGINT)
expect(viewer.wait(timeout=20) == 0, "ends with Ctrl-C")
sys.exit(bad)
