# SPDX-License-Identifier: Apache-2.0
"""What the parts of the GPU tests share: running programs with and without a profiler, and keeping checks."""
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
EXAMPLES = ROOT / "examples"
TARGETS = HERE / "targets"
BUILT_EXAMPLES = ROOT / "build" / "examples"
BUILT_TARGETS = ROOT / "build" / "gpu-targets"
HEADWAY = os.path.abspath(os.environ.get("HEADWAY", ROOT / "build" / "headway"))
NSYS = os.path.abspath(os.environ.get("NSYS", ROOT / "gpu-libs" / "nsys"))
PYTHON = os.environ.get("PYTHON", "python3")

LAUNCH = re.compile(r"^cu(da)?Launch(?!HostFunc)")
GRAPH_LAUNCH = re.compile(r"^cu(da)?GraphLaunch")
CONTEXT_WAIT = re.compile(r"^(cudaDeviceSynchronize|cuCtxSynchronize)")
STEP_TIME = re.compile(r"^\w+ [\w ]+: ([\d.]+) ms/step", re.M)


class Part:
    """One part's checks. Each is printed when it is made, and all are kept for the table."""

    def __init__(self, number, title, work, only, limit_s):
        self.number, self.title, self.only = number, title, only
        self.work = pathlib.Path(work) / f"part{number}"
        shutil.rmtree(self.work, ignore_errors=True)  # reports of an earlier run prove nothing
        self.work.mkdir(parents=True)
        self.checks = []
        self.started = time.monotonic()
        self.limit_s = limit_s

    def wants(self, name):
        return not self.only or name in self.only

    def time_left(self):
        return self.limit_s - (time.monotonic() - self.started)

    def check(self, what, value, limit, ok):
        self._keep(what, value, limit, "ok" if ok else "FAIL")
        return ok

    def note(self, what, value):
        self._keep(what, value, "", "")

    def _keep(self, what, value, limit, verdict):
        self.checks.append({"what": what, "value": str(value), "limit": str(limit), "verdict": verdict})
        print(f"{self.number}  {what:<52} {value!s:<40} {limit!s:<22} {verdict}".rstrip(), flush=True)

    def save(self, folder):
        result = {"part": self.number, "title": self.title, "machine": machine(),
                  "seconds": round(time.monotonic() - self.started), "checks": self.checks}
        path = pathlib.Path(folder) / f"part{self.number}.json"
        path.write_text(json.dumps(result, indent=1) + "\n")

    def failed(self):
        return any(check["verdict"] == "FAIL" for check in self.checks)


# ---- running


class Done:
    def __init__(self, rc, out, err, seconds):
        self.rc, self.out, self.err, self.seconds = rc, out, err, seconds
        found = STEP_TIME.findall(out)
        self.ms = float(found[-1]) if found else None


def environment(extra=None):
    env = dict(os.environ, PYTHONUNBUFFERED="1")
    libraries = pathlib.Path(NSYS).resolve().parent
    if (libraries / "libdw.so.1").exists():  # Headway opens it to unwind and to find lines
        env["LD_LIBRARY_PATH"] = f"{libraries}:{env['LD_LIBRARY_PATH']}" if env.get("LD_LIBRARY_PATH") \
            else str(libraries)
    env.update(extra or {})
    return env


def start(command, env=None, cwd=EXAMPLES, log=None):
    out = open(log, "w+") if log else subprocess.PIPE
    err = open(f"{log}.err", "w+") if log else subprocess.PIPE
    return subprocess.Popen([str(word) for word in command], cwd=cwd, env=environment(env), stdout=out, stderr=err,
                            stdin=subprocess.DEVNULL, text=True, start_new_session=True,
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))


def stop(process):
    """Ends a process and those it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run(command, timeout=90, env=None, cwd=EXAMPLES):
    begun = time.monotonic()
    process = start(command, env, cwd)
    try:
        out, err = process.communicate(timeout=timeout)
        rc = process.returncode
    except subprocess.TimeoutExpired:
        stop(process)
        out, err = process.communicate()
        rc, err = 124, err + f"\nstopped after {timeout} s"
    return Done(rc, out, err, time.monotonic() - begun)


def headway(report, program, *options):
    return [HEADWAY, "profile", "-o", report, "-f", "true", *options, *program]


def nsys(report, program, *options):
    return [NSYS, "profile", "-t", "cuda,nvtx", "-s", "none", "--cpuctxsw=none", "-f", "true", "-o", report,
            *options, *program]


def nsys_export(report):
    """The SQLite export of a report; None when nsys could not."""
    path = f"{report}.sqlite"
    done = run([NSYS, "export", "-t", "sqlite", "-f", "true", "-o", path, f"{report}.nsys-rep"])
    return path if done.rc == 0 and os.path.exists(path) else None


def example(name, *arguments):
    """The command of an example, a Python script or a program that 'make -C examples' built: relative to the
    examples' folder, where programs are run, so that reports name no path of the machine."""
    script = EXAMPLES / f"{name}.py"
    return [PYTHON, script.name, *arguments] if script.exists() \
        else [os.path.relpath(BUILT_EXAMPLES / name, EXAMPLES), *arguments]


def target(name, *arguments):
    script = TARGETS / f"{name}.py"
    return [PYTHON, os.path.relpath(script, EXAMPLES), *arguments] if script.exists() \
        else [os.path.relpath(BUILT_TARGETS / name, EXAMPLES), *arguments]


def calm(command, gate=None, cpu=None):
    """The same command, begun on a CPU that nobody else uses, or on the one given (targets/calm.py); with a gate, after it
    was let go."""
    program = [word for word in command if word != PYTHON]
    return target("calm", *([f"--gate={gate}"] if gate else []), *([f"--cpu={cpu}"] if cpu is not None else []), *program)


def gated(command):
    """A Python example that imports torch and then waits to be let go. Other programs start quickly anyway."""
    return calm(command, pathlib.Path(tempfile.mkdtemp()) / "gate" if command[0] == PYTHON else None)


def gate_of(command):
    return next((str(word)[len("--gate="):] for word in command if str(word).startswith("--gate=")), None)


def open_gate(gate, process, within=60):
    """Waits until the process is at its gate, then lets it through; False when it never came."""
    until = time.monotonic() + within
    while process.poll() is None and time.monotonic() < until:
        try:
            os.close(os.open(gate, os.O_WRONLY | os.O_NONBLOCK))
            return True
        except OSError:  # nobody has opened it to read
            time.sleep(0.02)
    return False


def run_gated(commands, at_once=12, timeout=60):
    """Runs commands one after the other: yields what each did. Those with a gate have started together before."""
    for begin in range(0, len(commands), at_once):
        for command, process in hold(commands[begin:begin + at_once]):
            yield let_go(command, process, timeout)


def hold(commands):
    """Starts those that have a gate, and waits until all are there: each command with its process, if it has one."""
    processes = []
    for command in commands:
        gate = gate_of(command)
        if gate:
            os.mkfifo(gate)
        processes.append(start(command) if gate else None)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not all(os.path.exists(f"{gate_of(command)}.here") or process.poll() is not None
                                                  for command, process in zip(commands, processes) if process):
        time.sleep(0.1)
    return list(zip(commands, processes))


def let_go(command, process, timeout=60):
    """What a command did that was held back."""
    if not process:
        return run(command, timeout)
    begun = time.monotonic()
    if not open_gate(gate_of(command), process):
        stop(process)
    try:
        out, err = process.communicate(timeout=timeout)
        if process.returncode == 0:
            return Done(0, out, err, time.monotonic() - begun)
    except subprocess.TimeoutExpired:
        stop(process)
        process.communicate()
    return run([word for word in command if not str(word).startswith("--gate=")], timeout)


def build():
    for folder, built in ((EXAMPLES, BUILT_EXAMPLES), (TARGETS, BUILT_TARGETS)):
        wanted = [built / source.stem for source in folder.glob("*.cu")]
        if all(program.exists() for program in wanted):
            continue
        done = subprocess.run(["make", "-s", "-j4", "-C", str(folder), f"BIN={built}"])
        if done.returncode or not all(program.exists() for program in wanted):
            raise SystemExit(f"tests/gpu/run: {folder} could not be built")


def last_words(done):
    lines = (done.err.strip() or done.out.strip()).splitlines()
    return lines[-1][:100] if lines else "no output"


# ---- reading


def ask_headway(*arguments):
    done = run([HEADWAY, *arguments], timeout=120)
    if done.rc:
        raise RuntimeError(f"headway {' '.join(map(str, arguments))}: {last_words(done)}")
    return json.loads(done.out)


def info(report):
    return ask_headway("info", "--format", "json", report)


def table(report, name, *options):
    return ask_headway("stats", "-r", name, "--format", "json", *options, report)


def said(report_info, *words):
    """The first diagnostic that has one of the words."""
    for line in report_info["diagnostics"]:
        if any(word.lower() in line["text"].lower() for word in words):
            return line["text"]
    return None


def lines_of(path, *needles):
    """The lines of a source file that hold all needles, with what follows up to the statement's end."""
    source = pathlib.Path(path).read_text().splitlines()
    found = set()
    for number, line in enumerate(source, 1):
        if all(needle in line for needle in needles):
            found.add(number)
            while pathlib.Path(path).suffix == ".cu" and not source[number - 1].rstrip().endswith(";"):
                number += 1
                found.add(number)
    return found


def machine():
    def first(command):
        try:
            done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=30)
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return done.stdout.strip().splitlines()[0] if done.stdout.strip() else ""
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return {"gpu": first(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]),
            "cpu": f"{cpu.group(1) if cpu else '?'}, {os.cpu_count()} CPUs",
            "nsys": first([NSYS, "--version"]), "headway": first([HEADWAY, "--version"])}


# ---- numbers


def batches(values):
    """Values as bootstrap() takes them: those that were each measured in a process of their own are batches of one."""
    return [value if isinstance(value, list) else [value] for value in values]


def bootstrap(statistic, *ways, times=4000):
    """statistic(median of each way) and its 95 % interval.

    A way is a list of batches of values; the same place in two ways is the same round. Values of one batch come from
    one process, whose luck (memory, CPU) they share: batches are drawn first, then rounds in them.
    """
    ways = [batches(way) for way in ways]
    sizes = [len(batch) for batch in ways[0]]
    chance, found = random.Random(1), []
    for _ in range(times):
        drawn = [chance.randrange(len(sizes)) for _ in sizes]
        picks = [(batch, chance.randrange(sizes[batch])) for batch in drawn for _ in range(sizes[batch])]
        found.append(statistic(*(statistics.median(way[batch][i] for batch, i in picks) for way in ways)))
    found.sort()
    return statistic(*map(middle, ways)), found[int(0.025 * times)], found[int(0.975 * times)]


def middle(way):
    return statistics.median(value for batch in batches(way) for value in batch)


def quotient(above, below):
    """median(above) / median(below) and its 95 % interval."""
    return bootstrap(lambda a, b: a / b, above, below)
