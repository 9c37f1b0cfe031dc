# SPDX-License-Identifier: Apache-2.0
"""view.py HEADWAY REPORT [SCREENS] - what the page of `headway view` waits for.

Prints: ms until the address is there, until the first picture (40 lanes, 1920 pixels), p50 and p95 of the ms of such a
screen in random windows from all to a millionth, p95 and most bytes of a screen, MB of the server's own memory after
them and the diagnosis, p95 of the ms of CPU that a screen takes the server, whatever else the machine does.
"""

import http.client
import json
import os
import random
import struct
import subprocess
import sys
import time

LANES, PIXELS = 40, 1920


class Viewer:
    def __init__(self, headway, report):
        self.begin = time.perf_counter()
        self.process = subprocess.Popen([headway, "view", "--no-browser", report], stdout=subprocess.PIPE, text=True)
        address = self.process.stdout.readline().split("/")
        self.started = self.passed()
        self.token = address[3]
        self.connection = http.client.HTTPConnection(address[2])

    def passed(self):
        return 1e3 * (time.perf_counter() - self.begin)

    def ask(self, path, body=None):
        self.connection.request("POST" if body else "GET", "/%s/%s" % (self.token, path), body,
                                {"Accept-Encoding": "gzip"} if body else {})
        return self.connection.getresponse().read()

    def screen(self, lanes, begin, end):
        """Milliseconds and bytes on the wire of one screen."""
        level = 0
        while (end - begin) / (1 << level) > PIXELS:
            level += 1
        first, last = int(begin) >> (level + 8), int(end) >> (level + 8)
        wanted = [struct.pack("<BBHIqI", 0, level, 0, lane, index, 0)
                  for lane in lanes for index in range(first, last + 1)]
        start = time.perf_counter()
        answer = self.ask("tiles", struct.pack("<I", len(wanted)) + b"".join(wanted))
        return 1e3 * (time.perf_counter() - start), len(answer)

    def cpu(self):
        """Milliseconds of CPU of all its threads."""
        spent = 0
        for thread in os.listdir("/proc/%d/task" % self.process.pid):
            try:
                with open("/proc/%d/task/%s/schedstat" % (self.process.pid, thread)) as file:
                    spent += int(file.read().split()[0])
            except OSError:
                pass
        return spent / 1e6

    def own_memory(self):
        with open("/proc/%d/status" % self.process.pid) as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith("RssAnon"))


def main():
    viewer = Viewer(sys.argv[1], sys.argv[2])
    try:
        trace = json.loads(viewer.ask("info"))["traces"][0]
        lanes = json.loads(viewer.ask("lanes?t=0"))["lanes"]
        lanes = [lane["lane"] for lane in sorted(lanes, key=lambda lane: -lane["spans"])[:LANES]]
        viewer.screen(lanes, trace["start"], trace["end"])
        first = viewer.passed()
        time.sleep(3)
        dice = random.Random(1)
        length, times, sizes, spent = trace["end"] - trace["start"], [], [], []
        n = int(sys.argv[3]) if len(sys.argv) > 3 else 400
        for _ in range(n):
            width = length * 2 ** (-20 * dice.random())
            begin = trace["start"] + dice.random() * (length - width)
            before = viewer.cpu()
            taken, size = viewer.screen(lanes, begin, begin + width)
            spent.append(viewer.cpu() - before)
            times.append(taken)
            sizes.append(size)
        times.sort()
        sizes.sort()
        spent.sort()
        while json.loads(viewer.ask("diagnosis?t=0")).get("state") == "pending":
            time.sleep(0.2)
        print("%.0f %.0f %.2f %.2f %d %d %.0f %.2f" % (viewer.started, first, times[n // 2], times[n * 95 // 100],
                                                       sizes[n * 95 // 100], sizes[-1], viewer.own_memory(),
                                                       spent[n * 95 // 100]))
    finally:
        viewer.process.terminate()
        viewer.process.wait()


main()
