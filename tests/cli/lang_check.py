# SPDX-License-Identifier: Apache-2.0
"""lang_check.py width|numbers|served HEADWAY RECORDING …, page FILE SENTENCE, whole|told HEADWAY DATA … - what tests/cli/lang.sh looks at closer."""
import base64
import collections
import fcntl
import gzip
import json
import os
import pathlib
import pty
import re
import shutil
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
    said = {"says", "records_say", "title", "advice", "what", "because", "cannot_tell", "verdict_said", "verdict_says"}
    if isinstance(value, dict):
        return {key: without_sentences(one) for key, one in value.items() if key not in said}
    return [without_sentences(one) for one in value] if isinstance(value, list) else value


def numbers(headway, recording):
    english, chinese = (without_sentences(json.loads(subprocess.run(
        [headway, "analyze", "--lang", lang, "--format", "json", recording], check=True, capture_output=True).stdout))
        for lang in ("en", "zh"))
    return [] if english == chinese else ["the language changes more than sentences"]


def sentences(value, key=""):
    """The texts of a diagnosis that may be sentences, in order."""
    if isinstance(value, dict):
        return [text for name, one in value.items() for text in sentences(one, name)]
    if isinstance(value, list):
        return [text for one in value for text in sentences(one, key)]
    return [value] if isinstance(value, str) and key in ("says", "records_say", "advice", "because", "verdict_says") else []


def numbers_in(text):
    """The numbers of a text, those of the code in an advice apart: its comments are translated."""
    prose = "\n".join(line for line in text.split("\n") if not line.startswith("  "))
    return collections.Counter(re.findall(r"(?<![\w.])\d+(?:\.\d+)?", re.sub(r"(?<=[^\x00-\x7f])|(?=[^\x00-\x7f])", " ", prose)))


def told(headway, data):
    """Chinese tells what English tells: each sentence with the same numbers, each advice with the same lines. "Once" is a number in Chinese."""
    problems = []
    for path in sorted([*pathlib.Path(data).glob("*/*.hwy"), *pathlib.Path(data).glob("jobs/*/")]):
        english_texts, chinese_texts = (sentences(json.loads(subprocess.run(
            [headway, "analyze", "--lang", lang, "--format", "json", path], check=True, capture_output=True).stdout)) for lang in ("en", "zh"))
        if len(english_texts) != len(chinese_texts):
            problems.append(f"{path.name}: {len(chinese_texts)} sentences, in English {len(english_texts)}")
        for one, other in zip(english_texts, chinese_texts):
            lacks, adds = numbers_in(one) - numbers_in(other), numbers_in(other) - numbers_in(one)
            if lacks or not set(adds) <= {"1", "2"} or one.count("\n") != other.count("\n"):
                problems.append(f"{path.name}: other numbers or lines than {one!r}: {other!r}")
        brief = subprocess.run([headway, "analyze", "--lang", "zh", "--format", "brief", path], check=True, capture_output=True).stdout
        try:
            lines = brief.decode().splitlines()
        except UnicodeDecodeError as broken:
            problems.append(f"{path.name}: the brief is no UTF-8: {broken}")
            continue
        problems += [f"{path.name}: punctuation: {line}" for line in lines if re.search("[\u4e00-\u9fff][,;:.](?:\\s|$)|[，。；：、（] |[，。；：、（][，。；：、）]", line)]
    return problems


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


def english(text):
    """The lines with four or more English words in a row, apart from commands, quotations and names in code."""
    found = []
    for line in text.splitlines():
        prose = re.sub(r"headway [^，；。（）]*|sudo .*|docker run .*|`[^`]*`|'[^']*'|\S*[_/:<>(]\S*", " | ", line)
        if re.search(r"(?<![\w.-])[a-z]+(?: [a-z]+){3,}(?![\w.-])", prose) and not line.startswith("命令"):
            found.append(line)
    return found


def misplaced(text, pattern):
    """The lines whose group does not begin at the column where most lines have it; 'pattern' chooses the lines."""
    places = [(columns_of(line[:match.start(1)]), line) for line in text.splitlines() if (match := re.match(pattern, line))]
    usual = [place for place, _ in places]
    return [line for place, line in places if place != max(set(usual), key=usual.count)] if places else ["none like " + pattern]


def ragged(text, heading):
    """The rows of a table, up to its end, that are not as wide as its heading: its last column is flush right."""
    lines = text.splitlines()
    first = next((i for i, line in enumerate(lines) if re.match(heading, line)), None)
    if first is None:
        return ["no heading like " + heading]
    rows = lines[first:(lines + [""]).index("", first)]
    return [row for row in rows if columns_of(row) != columns_of(rows[0])]


def wrong_input(headway, data, folder):
    """What is said of a wrong command line or a file that cannot be read is Chinese, one line, and names what was wrong."""
    cut, text, recording = f"{folder}/cut.hwy", f"{folder}/text.txt", f"{data}/gpu/mlp_sync.hwy"
    pathlib.Path(cut).write_bytes(pathlib.Path(recording).read_bytes()[:3000])
    pathlib.Path(text).write_text("only words\n", encoding="utf-8")
    problems = []
    for command, word in (
        (["bogus"], "bogus"), (["--bogus"], "--bogus"), (["statz"], "'stats'"), (["stats", "--bogus", recording], "--bogus"),
        (["stats", "--formt", "csv", recording], "--format"), (["stats", "-Q", recording], "-Q"), (["stats", "--rows"], "--rows"),
        (["stats", "--rows", "x", recording], "'x'"), (["stats", "--from", "x", recording], "'x'"), (["stats", "--time-unit", "x", recording], "ns, us"),
        (["stats", "-r", "kernels", recording], "cuda_gpu_kern_sum"), (["stats", recording, recording], "mlp_sync"), (["stats", "--csv", recording], "--format csv"),
        (["stats", f"{folder}/absent.hwy"], "absent.hwy"), (["info", cut], "3000"), (["info", text], "text.txt"), (["analyze", folder + "/empty"], "empty"),
        (["sql", recording, "select * from absent"], ".tables"), (["sql", recording, "attach 'a' as b"], "ATTACH"), (["gate", recording], "--baseline"),
        (["analyze", "-o", recording, recording], "mlp_sync"), (["analyze", "--format", "x", recording], "json"), (["view", "--port", "99999", recording], "65535"),
        (["whatif", "--apply", "bogus", recording], "bogus"), (["kernels", "--kernel", "absent", recording], "absent"), (["path", "--phase", "9", recording], "1"),
        (["diff", recording], "headway diff"), (["--lang", "tlh", "info"], "tlh"),
    ):
        done = subprocess.run([headway, *command], env={**os.environ, "HEADWAY_LANG": "zh"}, capture_output=True, text=True, check=False)
        said, named = done.stderr.splitlines(), " ".join(["headway", *command])
        if done.returncode != 2 or done.stdout or not said or not all(re.search("[\u4e00-\u9fff]", line) for line in said) or word not in done.stderr:
            problems.append(f"{named}: {done.returncode}: {done.stderr[:300]}")
        problems += [f"{named}: English: {line}" for line in english(done.stderr)]
    return problems


def whole(headway, data, folder):
    """Every output that a newcomer sees is Chinese in full, and its rows line up."""
    before, after, job = f"{data}/nsys/mlp_sync.hwy", f"{data}/nsys/mlp_async.hwy", f"{data}/jobs/ddp_late"
    program, budget = f"{folder}/program.hwy", f"{folder}/budget.toml"
    with open(budget, "w", encoding="utf-8") as file:
        file.write('findings.forbid = ["sync-in-loop"]\ngpu.idle <= 0.9\n')
    digested = f"{folder}/digested"
    shutil.copytree(f"{data}/jobs/halo_late", digested, dirs_exist_ok=True)
    row = r"   (?:变快|变慢|移除|新增|消失|改名) +(\S)"
    looks = [
        ([], [(misplaced, r"  (?:录制|查看|试用) +(headway)")]),
        (["doctor"], [(misplaced, r"[✓✗!] (?:\S+ )*?\S+ {2,}(\S)")]),
        (["profile", "-f", "-o", program, "-t", "nvtx", "true"], []),
        (["analyze", program], []), (["info", program], []),
        (["show", before], [(misplaced, r"  (?:CPU \d+|GPU 0) +([▪█])"), (misplaced, r" +(?:CPU|GPU)  ([░█])")]),
        (["show", "--streams", "1", f"{data}/gpu/priority_same.hwy"], [(misplaced, r"  (?:CPU|GPU 0| 流 \d+) +([░█])")]),
        (["whatif", f"{data}/gpu/mlp_sync.hwy"], [(ragged, "  单独 "), (ragged, "  逐项叠加 ")]),
        (["whatif", "--apply", "pin", "--apply", "remove-wait", f"{data}/gpu/mlp_sync.hwy"], []),
        (["whatif", "--list"], []), (["whatif", "--check", before], []),
        (["diff", before, after], [(ragged, "   GPU 的一步 "), (misplaced, row)]),
        (["diff", "--format", "markdown", before, after], []), (["diff", job, f"{data}/jobs/ddp_turns"], [(ragged, "   一步，")]),
        (["gate", "--baseline", after, before], []), (["gate", "--budget", budget, before], [(misplaced, "  (?:sync-in-loop|gpu.idle) .* (稳定)")]),
        (["gate", "--format", "markdown", "--baseline", after, before], []),
        (["breakdown", before], [(misplaced, r"  (?!GPU).*(%)$")]), (["breakdown", f"{data}/nsys/decode_graph.hwy"], []),
        (["path", before], []), (["path", job], []),
        (["kernels", before], []), (["info", before], [(misplaced, r"(?:来源|录制于|命令|主机|设备|进程|可信度|丢失) +(\S)")]),
        (["stats", "-r", "wait_sum", f"{data}/gpu/starve_0.hwy"], [(misplaced, r" +(?:时间|[\d.]+ %) .* (cuda[A-Z]\w+|名称) ")]),
        (["stats", before], []), (["stats", "-r", "kernel_occupancy,osrt_sum", before], []), (["stats", "--help-reports"], []),
        (["tree", f"{data}/breakdown/two_gpus.json"], []), (["kernels", f"{data}/torch/decode_eager.hwy"], []),
        (["tree", before], [(misplaced, r" +(?:GPU 时间|[\d.]+ .s +[\d.]+ %) .*?((?:模块|layer_\*|没有录到算子))")]), (["tree", "--step-number", "3", before], []),
        (["analyze", job], [(misplaced, r"   (?:rank|   [01]) .*  (下发|输入|原因)")]), (["analyze", "--format", "markdown", job], []),
        (["gate", "--list"], []), (["export", "--type", "help"], []), (["sql", "--list"], []), (["sql", before, ".tables"], []),
        (["convert", "-f", "-o", program, before], []), (["export", "-f", "-t", "chrome", "-o", f"{folder}/trace.json", before], []),
        (["digest", digested], []), (["analyze", "--digests", digested], [(misplaced, r"   rank .*  (原因|下发|CPU)  ")]),
        (["analyze", "--digests", "--format", "markdown", digested], []), (["analyze", "--digests", "--format", "brief", digested], []),
        (["kernels", f"{data}/gpu/twelve_own.hwy"], []),
        (["info", job], []), (["info", f"{data}/nsys/decode_graph.hwy"], []),
    ]
    problems = wrong_input(headway, data, folder)
    for command, placed in looks:
        done = subprocess.run([headway, *command], env={**os.environ, "HEADWAY_LANG": "zh"}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        named = " ".join(["headway", *command])
        problems += [f"{named}: English: {line}" for line in english(done.stdout)]
        problems += [f"{named}: does not line up: {line}" for look, how in placed for line in look(done.stdout, how)]
        if done.returncode not in (0, 1) or not re.search("[\u4e00-\u9fff]", done.stdout):
            problems.append(f"{named}: {done.returncode}, no Chinese: {done.stdout[:200]}")
    return problems


problems = {"page": page, "whole": whole, "told": told, "width": width, "numbers": numbers, "served": served}[sys.argv[1]](*sys.argv[2:])
for problem in problems:
    print("FAIL:", problem)
sys.exit(1 if problems else 0)
