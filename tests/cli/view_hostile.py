# SPDX-License-Identifier: Apache-2.0
"""view_hostile.py HEADWAY REPORT FOLDER - asks `headway view` for the impossible, from several clients at once.

No time is judged: a request that is not answered within PATIENCE is taken for one that never will be.
"""

import glob
import http.client
import itertools
import json
import os
import re
import signal
import stat
import struct
import subprocess
import sys
import threading
import time

HEADWAY, REPORT, FOLDER = sys.argv[1:4]
PATIENCE = 100
bad = 0


def expect(condition, what):
    global bad
    if not condition:
        bad = 1
        print("FAIL:", what)


class Viewer:
    def __init__(self, *options, **more):
        self.process = subprocess.Popen([HEADWAY, "view", *options, REPORT], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, **more)
        self.address = self.process.stdout.readline().strip()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/", self.address)
        if not found:
            sys.exit("no address: %r %s" % (self.address, self.process.stderr.read()))
        self.port, self.token = int(found[1]), found[2]

    def send(self, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request("GET" if body is None else "POST", "/%s/%s" % (self.token, path), body)
        return connection

    def ask(self, path, body=None):
        try:
            answer = self.send(path, body).getresponse()
            return answer.status, answer.read()
        except OSError as error:
            return 0, repr(error).encode()

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        try:
            return self.process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "never"


NUMBERS = ["0", "1", "-1", "9007199254740991", "9007199254740992", "9223372036854775807", "-9223372036854775808",
           "99999999999999999999", "NaN", "1e9", "0x10", ""]
TILE_NUMBERS = [0, 1, -1, 1 << 44, (1 << 63) - 1, -(1 << 63)]


def tiles(wanted):
    return struct.pack("<I", len(wanted)) + b"".join(struct.pack("<BBHIqI", *tile) for tile in wanted)


def hostile_requests():
    windows = ["from=%s&to=%s" % pair for pair in itertools.product(NUMBERS, repeat=2)]
    for window in windows:
        yield "selection?t=0&" + window, None
        yield "at?t=0&lane=0&" + window, None
        yield "search?t=0&q=e&" + window, None
    for window in windows[::7]:
        yield "gaps?t=0&n=8192&" + window, None
        yield "path?t=0&n=1&" + window, None
    for number in NUMBERS + ["4294967295", "2147483648"]:
        for path in ("span?t=0&id=%s", "chain?t=0&id=%s", "next?t=0&id=%s&dir=1", "next?t=0&id=0&dir=%s", "at?t=0&from=0&to=9&lane=%s",
                     "lanes?t=%s", "selection?t=0&lanes=%s", "selection?t=0&lanes=0-%s", "info?t=%s", "gaps?t=0&n=%s", "search?t=0&q=a&n=%s", "whatif?t=0&phase=%s",
                     "whatif?t=0&edits=wait-every:%s", "whatif?t=0&edits=streams:%s"):
            yield path % number, None
    for q in ("a" * 30000, "a" * 4096, "%00", "%ff%fe", "%", "", "e"):
        yield "search?t=0&n=4096&q=" + q, None
    yield "whatif?t=0&edits=" + ",".join(["pin"] * 200), None
    every = [(0, level, 0, lane, index, 0) for lane in (0, 1, 2, 1 << 31, (1 << 32) - 1)
             for level in (0, 8, 20, 40, 41, 255) for index in TILE_NUMBERS]
    yield "tiles", tiles(every)
    yield "tiles", tiles([(0, 40, 0, 0, 0, 0)] * 2048)
    yield "tiles", tiles([(0, 40, 0, 1 << 31, 0, 0)] * 2048)
    yield "tiles", tiles([(0, 0, 0, 0, 0, 0)] * 2049)
    yield "tiles", struct.pack("<I", 100000)
    yield "tiles", b"\xff" * 60000
    yield "names", struct.pack("<16001I", 0, *range(16000))
    yield "names", b"\xff" * 64000


def check_answers(viewer):
    """Several clients ask; another one is answered meanwhile."""
    waiting = list(hostile_requests())
    answered = []

    def client():
        while True:
            try:
                path, body = waiting.pop()
            except IndexError:
                return
            status, content = viewer.ask(path, body)
            right = status in (200, 202, 400, 413, 414, 431, 503)
            if status in (400, 503):
                told = json.loads(content)
                right = list(told) == ["error"] and "\n" not in told["error"]
            elif status in (200, 202) and path.split("?")[0] not in ("tiles", "gaps", "path"):
                json.loads(content)
            answered.append((right, path[:100], status, content[:100]))
    clients = [threading.Thread(target=client) for _ in range(6)]
    for one in clients:
        one.start()
    peers = 0
    while any(one.is_alive() for one in clients):
        status, _ = viewer.ask("info")
        expect(status == 200, "another client gets %s" % status)
        peers += status == 200
        time.sleep(0.01)
    expect(len(answered) == len(list(hostile_requests())), "only %d requests were answered" % len(answered))
    for right, *what in answered:
        expect(right, "hostile request: %s" % (what,))
    expect(peers > 0, "another client was answered meanwhile")


def check_selection(viewer):
    info = json.loads(viewer.ask("info")[1])["traces"][0]
    inside = json.loads(viewer.ask("selection?t=0&from=%d&to=%d" % (info["start"], info["end"]))[1])
    beyond = json.loads(viewer.ask("selection?t=0&from=0&to=9007199254740991")[1])
    for one, other in zip(inside["devices"], beyond["devices"]):
        expect(one["busy"] == other["busy"], "busy time in a window that is larger than the recording")
        expect(other["busy"] + other["idle"] == 9007199254740991, "busy and idle add up")
    expect(inside["kernels"] == beyond["kernels"], "kernels in a window that is larger than the recording")


def cpu_ns(viewer):
    total = 0
    for path in glob.glob("/proc/%d/task/*/schedstat" % viewer.process.pid):
        try:
            with open(path) as file:
                total += int(file.read().split()[0])
        except OSError:
            pass
    return total


def check_gone(viewer):
    """Clients that go away leave no work behind: the server comes to rest."""
    for path, body in list(hostile_requests())[-12:]:
        viewer.send(path, body).close()
    before = cpu_ns(viewer)
    for _ in range(PATIENCE * 2):
        time.sleep(0.5)
        now = cpu_ns(viewer)
        if now - before < 50e6:
            return
        before = now
    expect(False, "the server goes on working for nobody")


def check_end():
    """SIGTERM ends the server while requests are being answered."""
    viewer = Viewer("--no-browser", "--stay")
    pending = []
    for path, body in itertools.islice(itertools.cycle(list(hostile_requests())[::3]), 150):
        pending.append(viewer.send(path, body))
    status = viewer.end()
    expect(status == 0, "SIGTERM: %s %s" % (status, viewer.process.stderr.read()[-500:]))
    for one in pending:
        one.close()


def check_browser():
    """The browser gets the address by a file that only its user can read."""
    folder, session = FOLDER + "/bin", FOLDER + "/session"
    os.mkdir(folder)
    os.mkdir(session, 0o700)
    with open(folder + "/xdg-open", "w") as file:
        file.write('#!/bin/sh\nprintf "%s\\n" "$@" >"$OPENED.part"\nmv "$OPENED.part" "$OPENED"\n')
    os.chmod(folder + "/xdg-open", 0o755)
    opened = FOLDER + "/opened"
    viewer = Viewer("--stay", env=dict(os.environ, PATH=folder + ":" + os.environ["PATH"], DISPLAY=":7", OPENED=opened,
                                       XDG_RUNTIME_DIR=session, HOME=session), umask=0o022)
    for _ in range(PATIENCE * 10):
        if os.path.exists(opened):
            break
        time.sleep(0.1)
    with open(opened) as file:
        words = file.read().splitlines()
    expect(len(words) == 1 and os.path.isabs(words[0]) and viewer.token not in words[0], "xdg-open gets %s" % words)
    page, holder = words[0], os.path.dirname(words[0])
    expect(stat.S_IMODE(os.stat(page).st_mode) == 0o600, "the mode of the file that leads to the page")
    expect(stat.S_IMODE(os.stat(holder).st_mode) == 0o700, "the mode of its folder")
    with open(page) as file:
        expect(viewer.address in file.read(), "the file leads to the address")
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                expect(viewer.token.encode() not in file.read(), "the address stands in %s" % path)
        except OSError:
            pass
    expect(viewer.ask("info")[0] == 200, "info")
    for _ in range(PATIENCE * 10):
        if not os.path.exists(holder):
            break
        time.sleep(0.1)
    expect(not os.path.exists(holder), "the file is removed once a page was there")
    expect(viewer.end() == 0, "SIGTERM")
    os.remove(opened)
    # Nobody asks, and the server is ended: the file goes too.
    viewer = Viewer("--stay", env=dict(os.environ, PATH=folder + ":" + os.environ["PATH"], DISPLAY=":7", OPENED=opened,
                                       XDG_RUNTIME_DIR=session, HOME=session))
    expect(viewer.end(signal.SIGINT) == 0 and os.listdir(session) == [], "left behind: %s" % os.listdir(session))


def main():
    viewer = Viewer("--no-browser", "--stay")
    check_selection(viewer)
    check_answers(viewer)
    check_gone(viewer)
    status = viewer.end()
    errors = viewer.process.stderr.read()
    expect(status == 0 and errors == "", "ends: %s %s" % (status, errors[-2000:]))
    check_end()
    check_browser()
    sys.exit(bad)


main()
