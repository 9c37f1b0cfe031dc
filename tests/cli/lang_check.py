# SPDX-License-Identifier: Apache-2.0
"""lang_check.py width|numbers|served HEADWAY RECORDING …, page FILE SENTENCE - what tests/cli/lang.sh looks at closer."""
import base64
import fcntl
import gzip
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
import unicodedata
import urllib.request


def on_terminal(command, columns):
    """What a command writes to a terminal of this width, without colours."""
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        os.execv(command[0], command)
    parts = []
    try:
        while part := os.read(terminal, 65536):
            parts.append(part)
    except OSError:  # the terminal is closed
        pass
    os.waitpid(child, 0)
    return re.sub(r"\x1b\[[0-9;]*m", "", b"".join(parts).decode())


def columns_of(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def width(headway, recording, columns):
    lines = on_terminal([headway, "analyze", "--lang", "zh", recording], int(columns)).splitlines()
    wide = [line for line in lines if columns_of(line) > int(columns)]
    return [f"wider than {columns} columns: {line}" for line in wide] + ([] if len(lines) > 10 else ["no output"])


def without_sentences(value):
    """The diagnosis with every text that may be a sentence left out; ids, words and numbers stay."""
    said = {"says", "title", "advice", "what", "because", "cannot_tell", "verdict_says"}
    if isinstance(value, dict):
        return {key: without_sentences(one) for key, one in value.items() if key not in said}
    return [without_sentences(one) for one in value] if isinstance(value, list) else value


def numbers(headway, recording):
    english, chinese = (without_sentences(json.loads(subprocess.run(
        [headway, "analyze", "--lang", lang, "--format", "json", recording], check=True, capture_output=True).stdout))
        for lang in ("en", "zh"))
    return [] if english == chinese else ["the language changes more than sentences"]


def served(headway, recording, sentence):
    viewer = subprocess.Popen([headway, "view", "--no-browser", "--lang", "zh", recording], stdout=subprocess.PIPE, text=True)
    try:
        address = viewer.stdout.readline().strip()
        diagnosis = '"pending"'
        while '"pending"' in diagnosis:
            diagnosis = urllib.request.urlopen(address + "diagnosis?t=0", timeout=60).read().decode()
            time.sleep(0.05)
    finally:
        viewer.terminate()
        viewer.wait()
    return [] if sentence in diagnosis else ["the page's diagnosis is not Chinese: " + diagnosis[:300]]


def page(path, sentence):
    with open(path, encoding="utf-8") as file:
        found = re.search(r"<script>window\.HEADWAY_INLINE=(\{.*?\n\})</script>", file.read(), re.S)
    diagnosis = gzip.decompress(base64.b64decode(json.loads(found[1])["diagnosis?t=0"])).decode()
    return [] if sentence in diagnosis else ["the diagnosis of --format html is not Chinese: " + diagnosis[:300]]


problems = {"page": page, "width": width, "numbers": numbers, "served": served}[sys.argv[1]](*sys.argv[2:])
for problem in problems:
    print("FAIL:", problem)
sys.exit(1 if problems else 0)
