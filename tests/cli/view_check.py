# SPDX-License-Identifier: Apache-2.0
"""view_check.py HEADWAY RECORDING FOLDER - asks `headway view` what its page asks, and what an attacker would."""

import base64
import gzip
import http.client
import json
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.parse

HEADWAY, RECORDING, FOLDER = sys.argv[1:4]
bad = 0


def expect(condition, what):
    global bad
    if not condition:
        bad = 1
        print("FAIL:", what)


class Viewer:
    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [HEADWAY, "view", "--no-browser", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines = [self.process.stdout.readline() for _ in range(3)]
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/\n", self.lines[0])
        if not found:
            sys.exit("no address: %r %s" % (self.lines, self.process.stderr.read()))
        self.port, self.token = int(found[1]), found[2]

    def ask(self, path, method="GET", body=None, headers=None, token=True, timeout=20):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        connection.putrequest(method, ("/" + self.token if token else "") + "/" + path, skip_host=True,
                              skip_accept_encoding=True)
        for key, value in {"Host": "127.0.0.1:%d" % self.port, **(headers or {})}.items():
            if value is not None:
                connection.putheader(key, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        content = answer.read()
        if answer.headers.get("Content-Encoding") == "gzip":
            content = gzip.decompress(content)
        connection.close()
        return answer.status, content, answer.headers

    def json(self, path):
        status, content, _ = self.ask(path)
        expect(status in (200, 202), "%s: status %d %s" % (path, status, content[:200]))
        return json.loads(content)

    def tiles(self, wanted):
        body = struct.pack("<I", len(wanted)) + b"".join(
            struct.pack("<BBHIqI", t, level, 0, lane, index, 0) for t, lane, level, index in wanted)
        status, content, _ = self.ask("tiles", "POST", body)
        expect(status == 200, "tiles: %d" % status)
        return content

    def end(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=20)


def check_answers(viewer):
    info = viewer.json("info")
    trace = info["traces"][0]
    expect(info["protocol"] == 1 and trace["file"] == "power_base.sqlite", "info")
    page, headers = viewer.ask("")[1:]
    expect(b"<html" in page and "default-src 'none'" in headers["Content-Security-Policy"], "the page")
    lanes = viewer.json("lanes?t=0")
    by_type = {lane["type"]: lane for lane in lanes["lanes"]}
    listed = []

    def walk(groups):
        for group in groups:
            listed.extend(group["lanes"])
            walk(group["groups"])
    walk(lanes["groups"])
    expect(sorted(listed) == sorted(lane["lane"] for lane in lanes["lanes"]), "every lane is in one group")
    expect(sum(lane["spans"] for lane in lanes["lanes"] if lane["lane"] < 2**30) == trace["spans"], "spans add up")

    # A kernel, its launch, and back.
    stream = by_type["stream"]
    there = viewer.json("at?t=0&lane=%d&from=%d&to=%d" % (stream["lane"], stream["start"], stream["end"]))
    expect(there["count"] >= 1 and there["busy"][0] + there["busy"][2] > 0, "at")
    kernel = viewer.json("span?t=0&id=%d" % there["longest"]["id"])
    expect(kernel["launch"] is not None, "the longest work has a launch")
    call = viewer.json("span?t=0&id=%d" % kernel["launch"]["id"])
    expect(kernel["id"] in [work["id"] for work in call["work"]], "the launch leads back to its work")
    expect(call["start"] <= kernel["start"] and call["look"] in (6, 9), "the launch is a call before it")
    following = viewer.json("next?t=0&id=%d&dir=1" % kernel["id"])["span"]
    if following:
        back = viewer.json("next?t=0&id=%d&dir=-1" % following["id"])["span"]
        expect(back["id"] == kernel["id"] and following["name"] == kernel["name"], "next and back")

    name = kernel["name"]
    found = viewer.json("search?t=0&n=100&q=" + urllib.parse.quote(name[:20].upper()))
    expect(found["hits"] > 0 and sum(found["marks"]) <= found["hits"], "search")
    expect(sum(lane["count"] for lane in found["lanes"]) == found["hits"], "hits add up")
    expect(viewer.json("search?t=0&q=no%20such%20name%20anywhere&n=4")["hits"] == 0, "nothing is found")
    table = viewer.json("selection?t=0&from=%d&to=%d" % (trace["start"], trace["end"]))
    device = table["devices"][0]
    expect(device["busy"] + device["idle"] == trace["end"] - trace["start"], "busy and idle add up")
    expect(table["kernels"]["rows"] and table["calls"]["rows"], "names of a selection")
    texts = json.loads(viewer.ask("names", "POST", struct.pack("<3I", 0, 0, table["calls"]["rows"][0]["name_id"]))[1])
    expect(texts == ["", table["calls"]["rows"][0]["name"]], "names")

    # Every span of the largest lane, once, over the tiles of one level.
    lane = max((lane for lane in lanes["lanes"] if lane["type"] == "api"), key=lambda lane: lane["spans"])
    seen = spans_of(viewer, lane)
    expect(len(seen) == lane["spans"], "%d of %d spans at full zoom" % (len(seen), lane["spans"]))
    return trace


def spans_of(viewer, lane):
    """Goes down where tiles are summaries, as the page does."""
    level, seen = 40, {}
    wanted = [(0, lane["lane"], level, 0)]
    while wanted:
        below = []
        for begin in range(0, len(wanted), 512):
            content = viewer.tiles(wanted[begin:begin + 512])
            while content:
                size, form, _, at_level, _, number, n, index = struct.unpack_from("<IBBBBIIq", content)
                expect(number == lane["lane"], "the tile's lane")
                if form == 0:
                    below += [(0, number, at_level - 1, index * 2 + half) for half in (0, 1)]
                elif form == 1:
                    read_spans(content[24:size], n, index << (at_level + 8), seen)
                content = content[size:]
        wanted = below
    return seen


def read_spans(content, n, start, seen):
    at, number = 0, 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = content[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def zigzag():
        value = varint()
        return value >> 1 if value % 2 == 0 else -(value >> 1) - 1
    for _ in range(n):
        number += zigzag()
        start += zigzag()
        span = (start, varint(), varint())
        at += 2
        expect(seen.get(number, span) == span, "a span is the same in every tile")
        seen[number] = span


def check_diagnosis(viewer):
    for _ in range(600):
        if viewer.json("alive")["diagnosis"][0] != "pending":
            break
        time.sleep(0.1)
    expect(viewer.json("alive")["diagnosis"] == ["ready"], "the diagnosis is ready")
    expected = json.loads(subprocess.run([HEADWAY, "analyze", "--format", "json", RECORDING], check=True,
                                         capture_output=True).stdout)
    told = viewer.json("diagnosis?t=0")
    for key in expected:
        expect(told[key] == expected[key], "the diagnosis is that of headway analyze: " + key)
    lanes = {lane["lane"]: lane["title"] for lane in viewer.json("lanes?t=0")["lanes"]}
    for group in viewer.json("lanes?t=0")["groups"]:
        titles = [lanes[lane] for lane in group["lanes"]]
        expect(len(set(titles)) == len(titles), "lanes of one name: %s" % titles)
    steps = viewer.json("steps?t=0")
    expect(len(steps["phases"]) == len(expected["phases"]), "phases")
    expect(viewer.json("headway?t=0")["devices"][0]["points"], "headway")
    few = viewer.json("headway?t=0&n=4")["devices"]
    expect(all(len(one["points"]) <= 2 * 4 + 2 for one in few), "headway at the resolution that was asked for")
    for what in ("gaps", "path"):
        content = viewer.ask(what + "?t=0&n=1000")[1]
        expect(len(content) == 4 + 24 * struct.unpack_from("<I", content)[0] > 4, what)
    base = viewer.json("whatif?t=0&edits=")
    expect(base["step"] == base["base"] and base["ops"], "replayed as recorded")
    expect("error" in viewer.json("whatif?t=0&edits=no-such-edit"), "an edit that is not there")
    expect(viewer.json("edits?t=0")["edits"], "edits")


def check_nothing_to_find():
    """A recording without device work has no gaps and no path, which is known when the diagnosis is ready."""
    with open(FOLDER + "/cpu.json", "w", encoding="utf-8") as file:
        json.dump({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 5}]}, file)
    subprocess.run([HEADWAY, "convert", "-o", FOLDER + "/cpu.hwy", FOLDER + "/cpu.json"], check=True, capture_output=True)
    viewer = Viewer(FOLDER + "/cpu.hwy")
    while viewer.json("alive")["diagnosis"] == ["pending"]:
        time.sleep(0.1)
    expect(viewer.json("alive")["diagnosis"] == ["ready"], "a diagnosis of a recording without device work")
    for what in ("gaps", "path"):
        status, content, _ = viewer.ask(what + "?t=0")
        expect((status, content) == (200, b"\0\0\0\0"), "%s of a recording without any: %d %s" % (what, status, content))
    viewer.end()


def check_strangers(viewer):
    ours = "127.0.0.1:%d" % viewer.port
    refused = [
        (404, dict(path="info", token=False)),
        (404, dict(path="0" * 32 + "/info", token=False)),
        (404, dict(path=viewer.token[:31] + "/info", token=False)),
        (404, dict(path=viewer.token, token=False)),
        (404, dict(path="", token=False)),
        (404, dict(path="../../../etc/passwd")),
        (404, dict(path="..%2f..%2fetc%2fpasswd")),
        (404, dict(path="info/")),
        (404, dict(path="/etc/passwd")),
        (403, dict(path="info", headers={"Host": "example.com"})),
        (403, dict(path="info", headers={"Host": "127.0.0.1.example.com"})),
        (403, dict(path="info", headers={"Host": "localhost:80:80"})),
        (403, dict(path="info", headers={"Host": "localhost:"})),
        (403, dict(path="info", headers={"Host": ""})),
        (403, dict(path="info", headers={"Origin": "http://example.com"})),
        (403, dict(path="info", headers={"Origin": "null"})),
        (403, dict(path="info", headers={"Origin": "https://" + ours})),
        (403, dict(path="info", headers={"Origin": "http://127.0.0.1:1"})),
        (405, dict(path="info", method="POST", body=b"")),
        (405, dict(path="info", method="DELETE")),
        (405, dict(path="info", method="PUT", body=b"x")),
        (405, dict(path="tiles")),
        (413, dict(path="tiles", method="POST", body=b"x" * 200000)),
        (400, dict(path="tiles", method="POST", body=b"\xff\xff\xff\xff")),
        (400, dict(path="tiles", method="POST", body=b"")),
        (400, dict(path="tiles", method="POST", body=struct.pack("<IBBHIqI", 1, 9, 0, 0, 0, 0, 0))),
        (400, dict(path="names", method="POST", body=b"abc")),
        (400, dict(path="span?t=0&id=-1")),
        (400, dict(path="span?t=0&id=99999999999")),
        (400, dict(path="span?t=7&id=1")),
        (400, dict(path="span?t=0")),
        (400, dict(path="at?t=0&lane=99999&from=0&to=1")),
        (400, dict(path="selection?t=0&from=5&to=5")),
        (400, dict(path="selection?t=0&lanes=1-")),
        (400, dict(path="selection?t=0&lanes=x")),
        (400, dict(path="selection?t=0&lanes=5-4")),
        (400, dict(path="next?t=0&id=0&dir=0")),
        (400, dict(path="gaps?t=0&n=0")),
    ]
    for status, request in refused:
        got, content, _ = viewer.ask(**request)
        expect(got == status, "%s: %d, not %d" % (request, got, status))
        expect(status == 400 or content == b"", "%s: says %r" % (request, content[:100]))
    for host in ("localhost", "LOCALHOST:1234", "[::1]:8080", "127.0.0.1:1"):
        expect(viewer.ask("info", headers={"Host": host, "Origin": "http://" + host})[0] == 200, host)
    # Only loopback.
    port = "%04X" % viewer.port
    with open("/proc/net/tcp") as file:
        listening = [line.split() for line in file if line.split()[3] == "0A" and line.split()[1].endswith(":" + port)]
    expect([line[1] for line in listening] == ["0100007F:" + port], "listens on 127.0.0.1 alone")


def check_garbage(viewer):
    def throw(content, wait=True):
        stranger = socket.create_connection(("127.0.0.1", viewer.port), timeout=20)
        try:
            stranger.sendall(content)
            stranger.shutdown(socket.SHUT_WR)
            return stranger.recv(4096) if wait else b""
        except OSError:
            return b""
        finally:
            stranger.close()
    host = b"Host: 127.0.0.1\r\n"
    contents = (b"\x00" * 1000, b"GET", b"GET / HTTP/1.1\r\n", b"\r\n\r\n\r\n", b"A" * 500000,
                    b"GET /" + b"a" * 300000 + b" HTTP/1.1\r\n" + host + b"\r\n",
                    b"GET / HTTP/1.1\r\n" + host + b"X: " + b"y" * 300000 + b"\r\n\r\n",
                    b"GET / HTTP/1.1\r\n\r\n",
                    b"POST /" + viewer.token.encode() + b"/tiles HTTP/1.1\r\n" + host +
                    b"Content-Length: 99999999999999999999\r\n\r\n",
                    b"POST /" + viewer.token.encode() + b"/tiles HTTP/1.1\r\n" + host +
                b"Transfer-Encoding: chunked\r\n\r\nffffffff\r\n")

    def check(content):
        answer = throw(content)
        expect(b"200 OK" not in answer and b"root:" not in answer, "garbage is answered: %r" % answer[:80])
    throwers = [threading.Thread(target=check, args=(content,)) for content in contents]
    for thrower in throwers:
        thrower.start()
    for thrower in throwers:
        thrower.join()
    expect(viewer.ask("info")[0] == 200, "answers after garbage")

    # Half-open and slow ones hold no one up, those who ask and do not read neither.
    idle = []
    for number in range(100):
        idle.append(socket.create_connection(("127.0.0.1", viewer.port), timeout=20))
        idle[-1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        idle[-1].sendall(b"GET /" + viewer.token.encode() + b"/ HTTP/1.1\r\n" + host + b"\r\n")
    for number in range(200):
        stranger = socket.create_connection(("127.0.0.1", viewer.port), timeout=20)
        if number % 2:
            stranger.sendall(b"GET /" + viewer.token.encode()[:number % 30])
        idle.append(stranger)
    begin = time.time()
    expect(viewer.ask("info")[0] == 200 and time.time() - begin < 2, "answers beside 200 slow ones")
    # Where they take up all places, they are ended.
    for number in range(400):
        idle.append(socket.create_connection(("127.0.0.1", viewer.port), timeout=20))
        idle[-1].sendall(b"GET /")
    for _ in range(200):
        for stranger in idle:
            try:
                stranger.sendall(b"x")
            except OSError:
                pass
        try:
            if viewer.ask("info", timeout=1)[0] == 200:
                break
        except OSError:
            time.sleep(0.1)
    else:
        expect(False, "answers beside 600 that send a byte now and then")
    for stranger in idle:
        stranger.close()


def check_crowd(viewer):
    """1000 at once."""
    done = [0]
    lock = threading.Lock()

    def one():
        for _ in range(3):
            try:
                if viewer.ask("info", timeout=60)[0] == 200:
                    with lock:
                        done[0] += 1
                    return
            except OSError:
                time.sleep(0.1)
    threads = [threading.Thread(target=one) for _ in range(1000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect(done[0] == 1000, "%d of 1000 at once were answered" % done[0])
    expect(viewer.ask("info")[0] == 200, "answers after the crowd")


def read_page(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    found = re.search(r"<script>window\.HEADWAY_INLINE=(\{.*?\n\})</script>", text, re.S)
    expect(found, "the page has its data")
    return {key: gzip.decompress(base64.b64decode(value)) for key, value in json.loads(found[1]).items()}


def check_page(viewer):
    """The self-contained page has every span, with everything the server knows about it."""
    path = FOLDER + "/page.html"
    done = subprocess.run([HEADWAY, "view", RECORDING, "--html", path], capture_output=True, text=True)
    expect(done.returncode == 0 and done.stdout == "", "--html: %s" % done.stderr)
    entries = read_page(path)
    info = json.loads(entries["info"])
    expect(info["inline"] and info["left_out"] == [], "the page says that it is one: %s" % info["left_out"])
    lanes = json.loads(entries["lanes?t=0"])["lanes"]
    names = json.loads(entries["names/0"])
    expect("findings" in json.loads(entries["diagnosis?t=0"]) and entries["gaps/0"], "the diagnosis is in it")
    spans = {}
    for lane in lanes:
        if lane["type"] in ("hardware", "counter"):
            continue
        seen = {}
        for key, tile in entries.items():
            if key.startswith("tile/0/%d/" % lane["lane"]) and tile[4] == 1:
                level, index = key.split("/")[3:]
                read_spans(tile[24:], struct.unpack_from("<I", tile, 12)[0], int(index) << (int(level) + 8), seen)
        expect(len(seen) == lane["spans"], "all spans of lane %d are in the page" % lane["lane"])
        expect(all(str(name) in names for _, _, name in seen.values()), "and their names")
        spans.update(seen)
    check_columns(viewer, entries, sorted(spans))
    again = subprocess.run([HEADWAY, "view", RECORDING, "--html", path], capture_output=True, text=True)
    expect(again.returncode == 2 and again.stderr.count("\n") == 1, "an existing page is kept: %s" % again.stderr)
    small = subprocess.run([HEADWAY, "view", RECORDING, RECORDING, "-f", "--html", path, "--max-size", "1"],
                           capture_output=True, text=True)
    with open(path, "rb") as file:
        size = len(file.read())
    expect(small.returncode == 0 and size <= 1000000, "--max-size: %d bytes" % size)
    left_out = json.loads(read_page(path)["info"])["left_out"]
    expect(left_out and all(text in small.stderr for text in left_out), "what was left out is said: %s" % left_out)


def check_columns(viewer, entries, ids):
    calls, rows = {}, {}
    for first, *steps in json.loads(entries["links/0"]):
        link = 0
        for row, step in enumerate(steps):
            link += step
            calls[first + row] = link - 1
    for key, text in entries.items():
        if key.startswith("rows/0/"):
            chunk = json.loads(text)
            for row, about in enumerate(chunk["rows"]):
                rows[int(key.split("/")[2]) + row] = {"kind": chunk["kind"], "fields": about["fields"]}
    expect(sorted(rows) == ids, "columns of %d of %d spans" % (len(rows), len(ids)))
    for span in random.Random(1).sample(ids, min(200, len(ids))):
        told = viewer.json("span?t=0&id=%d" % span)
        expect(rows[span] == {"kind": told["kind"], "fields": told["fields"]}, "the columns of span %d" % span)
        expect((told["launch"] or {"id": -1})["id"] == calls.get(span, -1), "the launch of span %d" % span)
        expect(told["work_count"] == sum(call == span for call in calls.values()), "the work of span %d" % span)


def main():
    viewer = Viewer(RECORDING)
    expect("ssh -N -L %d:127.0.0.1:%d " % (viewer.port, viewer.port) in viewer.lines[1], "the ssh line")
    check_answers(viewer)
    check_diagnosis(viewer)
    check_nothing_to_find()
    check_strangers(viewer)
    check_garbage(viewer)
    check_crowd(viewer)
    taken = subprocess.run([HEADWAY, "view", "--no-browser", "--port", str(viewer.port), RECORDING],
                           capture_output=True, text=True)
    expect(taken.returncode == 2 and taken.stderr.count("\n") == 1 and "127.0.0.1" in taken.stderr,
           "a port in use: %s" % taken.stderr)
    status = viewer.end()
    errors = viewer.process.stderr.read()
    expect(status == 0 and errors == "", "ends with Ctrl-C: %d %s" % (status, errors[-2000:]))

    two = Viewer(RECORDING, RECORDING)
    expect(len(two.json("info")["traces"]) == 2 and two.json("lanes?t=1") == two.json("lanes?t=0"), "two files")
    expect(two.token != viewer.token, "tokens are new at each start")
    check_page(two)
    expect(two.end() == 0, "ends with Ctrl-C")
    sys.exit(bad)


main()
