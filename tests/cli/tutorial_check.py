# SPDX-License-Identifier: Apache-2.0
"""tutorial_check.py TOP HEADWAY WORK RECORDINGS LANGUAGE [--update]: a tutorial against what headway prints in its language.

Blocks "```console" hold commands ("$ …"), each followed by lines of its output; "…" stands for lines left out.
Those behind "<!-- run -->" are run and compared; those behind "<!-- run: opencl -->" are run where an OpenCL device is, but
take another time on each machine; of the others, the ones that only read recordings are, where RECORDINGS has these.
Every command and option of every block must exist, and every finding and page named; a change that the text quotes ("158 → 4.77 ms")
must stand in a block.
"""
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys

TOP, HEADWAY, WORK = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
RECORDINGS, LANGUAGE = sys.argv[4:6]
UPDATE = "--update" in sys.argv
TUTORIAL = TOP / ("docs/tutorial.md" if LANGUAGE == "en" else f"docs/{LANGUAGE}/tutorial.md")
ENVIRONMENT = dict(os.environ, LC_ALL="C.UTF-8", HEADWAY_LANG=LANGUAGE, XDG_CACHE_HOME=str(WORK / "cache"), POCL_CACHE_DIR=str(WORK / "pocl"),
                   PATH="%s:%s" % (os.path.dirname(HEADWAY), os.environ["PATH"]))
problems = []


def run(command):
    done = subprocess.run(["bash", "-c", command], cwd=WORK, env=ENVIRONMENT, capture_output=True, text=True)
    if done.returncode != 0:
        problems.append("%s: exit status %d: %s" % (command, done.returncode, done.stderr.strip()[:300]))
    return [line.rstrip() for line in done.stdout.splitlines()]


def compare(command, shown, printed):
    """The shown lines, as printed now: each must be there, in order, and without "…" follow the one before."""
    at, free, result = 0, True, []
    for line in shown:
        if line == "…":
            free = True
        elif line == "":
            pass
        else:
            rest = [i for i in range(at, len(printed)) if printed[i]]
            same = [i for i in rest if printed[i] == line]
            if not same or (not free and same[0] != rest[0]):
                problems.append("%s\n    is said to print: %s\n    but next comes:   %s"
                                % (command, line, printed[rest[0]] if rest else "nothing"))
                near = difflib.get_close_matches(line, [printed[i] for i in rest], 1, 0.4)
                same = [i for i in rest if near and printed[i] == near[0]]
            if same:
                at, line = same[0] + 1, printed[same[0]]
            free = False
        result.append(line)
    if shown and not free and any(printed[at:]):
        problems.append("%s prints more than is shown, without '…'" % command)
    return result


def check_words(command):
    """A command of headway: it and its options exist."""
    words = shlex.split(command)
    if words[0] != "headway":
        return
    text = subprocess.run([HEADWAY, words[1], "--help"], capture_output=True, text=True, env=ENVIRONMENT)
    if text.returncode != 0:
        problems.append("there is no command 'headway %s'" % words[1])
        return
    for word in words[2:]:
        if word in ("python3", "./program") or word.startswith("build/"):
            break
        if word.startswith("-") and not re.search(r"(^|\s)%s\b" % re.escape(word.split("=")[0]), text.stdout):
            problems.append("'headway %s' has no option %s" % (words[1], word))


def is_at_hand(command):
    words = shlex.split(command)
    files = [word for word in words if word.endswith(".hwy")]
    return (RECORDINGS and words[0] == "headway" and words[1] not in ("profile", "convert") and files
            and all(os.path.exists(os.path.join(RECORDINGS, name)) for name in files))


def has_opencl():
    """Builds the program that the tutorial runs, and tries it."""
    program = WORK / "build/examples/graphs_cl"
    made = subprocess.run(["make", "-s", "-C", str(TOP / "examples"), "BIN=%s" % program.parent, str(program)],
                          capture_output=True, text=True)
    if made.returncode == 0 and program.exists():
        made = subprocess.run([program, "fused"], capture_output=True, text=True, env=ENVIRONMENT)
    if made.returncode != 0:
        print("SKIP (in part): no OpenCL: %s" % made.stderr.strip()[:200])
    return made.returncode == 0


def check_block(marked, body, exact):
    result, parts = [], []
    for line in body:
        if line.startswith("$ "):
            parts.append([line[2:], []])
        elif not parts:
            problems.append("a block begins without a command: %s" % line)
        else:
            parts[-1][1].append(line)
    for command, shown in parts:
        check_words(command)
        if is_at_hand(command):
            for name in shlex.split(command):
                if name.endswith(".hwy") and not (WORK / name).exists():
                    (WORK / name).symlink_to(os.path.join(RECORDINGS, name))
        if marked or (exact and is_at_hand(command)):
            printed = run(command)
            if shown and exact:
                shown = compare(command, shown, printed)
        result += ["$ " + command] + shown
    return result


def main():
    (WORK / "tests").symlink_to(TOP / "tests")
    (WORK / "pocl").mkdir()
    lines, result, runs = TUTORIAL.read_text(encoding="utf-8").splitlines(), [], 0
    at, opencl = 0, None
    while at < len(lines):
        result.append(lines[at])
        if lines[at] == "```console":
            end = lines.index("```", at)
            live = lines[at - 1] == "<!-- run: opencl -->"
            if live and opencl is None:
                opencl = LANGUAGE == "en" and has_opencl()  # what such a block shows is not compared: once is enough
            marked = lines[at - 1] == "<!-- run -->" or (live and opencl)
            runs += marked
            result += check_block(marked, lines[at + 1:end], not live)
            at = end
            result.append("```")
        elif re.match(r"    headway ", lines[at]):
            check_words(lines[at].split("#")[0].split("|")[0].strip())
        at += 1
    if runs < 5:
        problems.append("only %d blocks are marked to be run" % runs)
    in_blocks, text = ["".join(part) for part in (re.split(r"(?m)^```.*\n?", "\n".join(result))[i::2] for i in (1, 0))]
    problems.extend("the text quotes '%s', which no block shows" % change
                    for change in re.findall(r"\d[\d.]* → \d[\d.]* [nµm]?s\b", text) if change not in in_blocks)
    for link in re.findall(r"\]\(([^)]+)\)", "\n".join(lines)):
        if not (TUTORIAL.parent / link).exists():
            problems.append("a link to %s, which is not there" % link)
    if UPDATE:
        TUTORIAL.write_text("\n".join(result) + "\n", encoding="utf-8")
    print("\n".join("FAIL: " + p for p in problems) or "%d blocks run" % runs)
    return 1 if problems else 0


sys.exit(main())
