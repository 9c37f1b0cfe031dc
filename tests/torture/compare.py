# SPDX-License-Identifier: Apache-2.0
"""What the torture tests share: a program run alone and under headway profile, and what differs.

Of both runs stdout, stderr, the exit status and the files in the working folder must be the same, a report must be
there, and nothing may be left in the folder for temporary files. A difference counts where the program alone does the
same twice. Where a run hangs, gdb shows the stacks of all its processes.
"""
import difflib
import hashlib
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HEADWAY = os.path.abspath(os.environ.get("HEADWAY", ROOT / "build" / "headway"))
TIMEOUT_S = 60


def limit_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def processes_of(session):
    """Ids of all processes of a session, the oldest first."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                found.append((int(fields[19]), int(folder.name)))
        except (OSError, IndexError):
            pass
    return [pid for _, pid in sorted(found)]


def stacks(session):
    gdb = shutil.which("gdb")
    text = []
    for pid in processes_of(session):
        try:
            command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            text.append(f"--- {pid}: {command}\n")
            if gdb:
                done = subprocess.run([gdb, "-q", "-batch", "-nx", "-p", str(pid), "-ex", "thread apply all bt 16"],
                                      capture_output=True, text=True, timeout=30, check=False)
                text.append("\n".join(line for line in done.stdout.splitlines()
                                      if line.startswith(("#", "Thread"))) + "\n")
        except (OSError, subprocess.TimeoutExpired) as error:
            text.append(f"{error}\n")
    return "".join(text) + ("" if gdb else "(no gdb: no stacks)\n")


def end(session):
    for pid in processes_of(session):
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass


def tree(folder):
    """Every file below a folder: name, mode, owner, contents."""
    lines = []
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        contents = hashlib.sha256(path.read_bytes()).hexdigest()[:12] if path.is_file() else "-"
        lines.append(f"{path.relative_to(folder)} {about.st_mode:o} {about.st_uid} {about.st_size if path.is_file() else '-'} "
                     f"{contents}\n")
    return "".join(lines)


def run_once(command, work, name):
    """What a command did, as one text that can be compared, or the stacks where it hangs."""
    folder = work / name
    folder.mkdir(mode=0o755)
    out, err = work / f"{name}.out", work / f"{name}.err"
    with open(out, "wb") as to_out, open(err, "wb") as to_err:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=to_out, stderr=to_err,
                                   start_new_session=True, preexec_fn=limit_core,
                                   env=dict(os.environ, TMPDIR=str(work / "tmp")))
        hang = ""
        try:
            status = process.wait(TIMEOUT_S)
        except subprocess.TimeoutExpired:
            status = "none"
            hang = f"hangs after {TIMEOUT_S} s:\n{stacks(process.pid)}"
            end(process.pid)
            process.wait()
    # An orphan of the program may live on for a moment.
    limit = time.monotonic() + 10
    while processes_of(process.pid) and time.monotonic() < limit:
        time.sleep(0.01)
    end(process.pid)
    text = (f"status {status}\n{hang}--- stdout\n{out.read_text(errors='replace')}\n--- stderr\n"
            f"{err.read_text(errors='replace')}\n--- files\n{tree(folder)}")
    shutil.rmtree(folder)
    return text


def difference(one, other, name, other_name):
    lines = list(difflib.unified_diff(one.splitlines(), other.splitlines(), name, other_name, n=0, lineterm=""))
    return "\n".join(line[:400] for line in lines[:200]) + "\n"


def compare(program, options, work):
    """What differs between a program alone and under headway profile with these options, and whether it counts.

    (None, False): nothing differs. (text, False): the program does not do the same alone, either."""
    alone = run_once(program, work, "alone")
    report = work / "report.hwy"
    recorded = run_once([HEADWAY, "profile", "-q", "-f", "-o", str(report), *options, *program], work, "recorded")
    if report.exists() or "hangs after" in recorded:
        report.unlink(missing_ok=True)
    else:
        recorded += "no report\n"
    for left in (work / "tmp").iterdir():
        recorded += f"left behind: {left.name}\n"
        shutil.rmtree(left, ignore_errors=True)
    if alone == recorded:
        return None, False
    again = run_once(program, work, "again")
    if again != alone:
        return difference(alone, again, "alone", "alone again"), False
    return difference(alone, recorded, "alone", "recorded"), True


def perf_is_allowed():
    """Samples need a permission that containers often lack."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([HEADWAY, "profile", "-q", "-o", f"{folder}/r", "-s", "process-tree", "true"],
                              capture_output=True, check=False, env=dict(os.environ, TMPDIR=folder))
        return done.returncode == 0 and not done.stderr


def compare_seeds(commands, plan_of, options_of, again, most=10):
    """Compares the program of every seed or act in 'commands' (its name -> its words), says what differs, and yields the exit status of the test.

    plan_of(name): what it runs. options_of(name): options of headway profile. again(name): the command line that repeats
    it. most: ends after so many differences."""
    begun, different, unsteady, n = time.monotonic(), [], [], 0
    # Others than root must get to the folders, too: acts change their user.
    with tempfile.TemporaryDirectory(prefix="torture-") as folder:
        os.chmod(folder, 0o755)
        work = pathlib.Path(folder)
        (work / "tmp").mkdir()
        for name, command in commands:
            text, counts = compare(command, options_of(name), work)
            n += 1
            if not text:
                continue
            (different if counts else unsteady).append(name)
            if counts:
                print(f"{name} differs\n{plan_of(name)}{text}again: {again(name)}\n", flush=True)
            else:
                print(f"{name} is not the same alone, either:\n{text}", flush=True)
            if len(different) >= most:
                break
    print(f"torture: {n} runs in {time.monotonic() - begun:.0f} s, {len(different)} differ"
          f"{': ' + ' '.join(map(str, different)) if different else ''}"
          f"{', not the same alone: ' + ' '.join(map(str, unsteady)) if unsteady else ''}")
    return 1 if different else 0


def plan_of(program):
    """What a seed of a program runs, as a function of the seed."""
    return lambda seed: subprocess.run([program, "--plan", str(seed)], capture_output=True, text=True, check=False).stdout
