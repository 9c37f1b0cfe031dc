# SPDX-License-Identifier: Apache-2.0
"""view_address.py HEADWAY REPORT FOLDER - starts `headway view` again and again, and asks as a proxy and as a stranger."""

import glob
import http.client
import os
import re
import signal
import stat
import subprocess
import sys

HEADWAY, REPORT, FOLDER = sys.argv[1:4]
bad = 0


def expect(condition, what):
    global bad
    if not condition:
        bad = 1
        print("FAIL:", what)


class Viewer:
    def __init__(self, *arguments):
        self.process = subprocess.Popen([HEADWAY, "view", "--no-browser", *arguments, REPORT], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        self.said = self.process.stdout.readline() + self.process.stdout.readline()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/", self.address)
        if not found:
            sys.exit("no address: %r %s" % (self.address, self.process.stderr.read()))
        self.port, self.token = int(found[1]), found[2]

    def ask(self, host, origin=None, path="info"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.putrequest("GET", "/%s/%s" % (self.token, path), skip_host=True)
        connection.putheader("Host", host)
        if origin:
            connection.putheader("Origin", origin)
        connection.endheaders()
        status = connection.getresponse().status
        connection.close()
        return status

    def end(self):
        self.process.send_signal(signal.SIGINT)
        expect(self.process.wait(timeout=20) == 0, "ends with Ctrl-C")


def argument_lists():
    texts = []
    for path in glob.glob("/proc/[0-9]*/cmdline") + glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(path, "rb") as file:
                texts.append(file.read())
        except OSError:
            pass
    return b"\n".join(texts)


def check_kept():
    first = Viewer("--keep-address")
    busy = subprocess.run([HEADWAY, "view", "--no-browser", "--keep-address", REPORT], capture_output=True, text=True)
    expect(busy.returncode == 2 and busy.stderr.count("\n") == 1 and "open already" in busy.stderr,
           "the same recording twice: %s" % busy.stderr)
    expect(first.token.encode() not in argument_lists(), "the secret stands in no argument list")
    first.end()
    second = Viewer("--keep-address")
    expect(second.address == first.address, "the address is kept: %s, %s" % (first.address, second.address))
    second.end()
    kept = glob.glob(os.environ["XDG_CACHE_HOME"] + "/headway/view-*.address")
    expect(len(kept) == 1 and stat.S_IMODE(os.stat(kept[0]).st_mode) == 0o600, "one file of mode 0600: %s" % kept)
    other = Viewer()
    expect(other.token != first.token, "without --keep-address the secret is new")
    other.end()


def check_token_file():
    path = FOLDER + "/token"
    first = Viewer("--token-file", path)
    first.end()
    with open(path) as file:
        expect(file.read() == first.token + "\n", "the secret was written to its file")
    expect(stat.S_IMODE(os.stat(path).st_mode) == 0o600, "the file of the secret has mode 0600")
    second = Viewer("--token-file=" + path)
    expect(second.token == first.token, "the secret of the file is used")
    second.end()


def check_proxy():
    viewer = Viewer("--allow-host", "hub.example.org", "--allow-host=Code.example.org")
    ours = "127.0.0.1:%d" % viewer.port
    expect("https://hub.example.org/" in viewer.said, "how to reach it through the proxy: %s" % viewer.said)
    for status, host, origin in (
            (200, "hub.example.org", None),
            (200, "HUB.example.org:8443", "https://hub.example.org:8443"),
            (200, "code.example.org", "http://code.example.org"),
            (200, ours, "https://hub.example.org"),
            (200, ours, "http://" + ours),
            (403, "example.org", None),
            (403, "evil-hub.example.org", None),
            (403, "hub.example.org.evil.org", None),
            (403, "hub.example.org:x", None),
            (403, "hub.example.org", "https://evil.org"),
            (403, "hub.example.org", "null"),
            (403, "hub.example.org", "https://hub.example.org.evil.org"),
            (403, "hub.example.org", "ftp://hub.example.org"),
            (403, "hub.example.org", "http://" + ours),
            (403, ours, "https://" + ours),
            (403, ours, "http://127.0.0.1:1")):
        got = viewer.ask(host, origin)
        expect(got == status, "Host %s, Origin %s: %d, not %d" % (host, origin, got, status))
    viewer.token = "0" * 32
    expect(viewer.ask("hub.example.org") == 404, "a proxy needs the secret, too")
    with open("/proc/net/tcp") as file:
        lines = [line.split() for line in file]
    port = ":%04X" % viewer.port
    expect([line[1] for line in lines if line[3] == "0A" and line[1].endswith(port)] == ["0100007F" + port],
           "listens on 127.0.0.1 alone")
    viewer.end()


check_kept()
check_token_file()
check_proxy()
sys.exit(bad)
