# SPDX-License-Identifier: Apache-2.0
"""Part 23: jobs of several ranks on one GPU, what is recorded of MPI and NCCL, and what that costs.

DDP over gloo by torchrun, and a stencil of CuPy by mpirun, with two and four ranks: one of them late in every step, another one each time,
or none. The verdict, the rank and its line must be right, the prediction is held against the program without the fault, and calls and bytes of
MPI against what the program counted. NCCL refuses two ranks on one GPU: a rank that sends to itself shows that the plugin is loaded and its
operations have their kernels; skew and proxies of several ranks are not shown here. Costs are measured by turns with recordings that lack the source.
"""
import csv
import json
import os
import re
import shutil
import statistics

from counters import alike, percent_off
from harness import HERE, HEADWAY, PYTHON, ask_headway, batches, info, last_words, lines_of, quotient, run, table
from runners import Runner, calm_run

TITLE = "Jobs: ranks, MPI, NCCL and libraries"
JOBS = HERE / "programs" / "jobs"
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "2"}
MPIRUN = ["mpirun", "--oversubscribe", "--bind-to", "none"]
LONGEST_S = 120
MOST_ERROR = 0.25  # of a prediction
ROUNDS, BATCHES = 5, 3
# What the libraries need to tell of their calls; without NVTX nobody listens, and what is left is their own cost.
LEVELS = ",".join(f"{name}_NVTX_LEVEL=2" for name in ("CUBLAS", "CUBLASLT", "CUDNN", "CUSPARSE", "CUSOLVERDN"))
MODELS = {"decode": ("decode", "--tokens", "30"), "inmodel": ("inmodel", "--if", "--steps", "100", "--batch", "512")}
SMALL_BYTES = 1_500_000
FAULTS = {"late": [], "turns": ["--turns"], "fixed": ["--fixed"]}


def torchrun(ranks, *arguments):
    return ["torchrun", "--nproc-per-node", ranks, "ddp_late.py", *arguments]


def mpirun(ranks, *arguments):
    return [*MPIRUN, "-n", ranks, PYTHON, "halo_cupy.py", *arguments]


def record(part, name, program, *options):
    """The folder of a recorded job and what it printed; None, and a check, where it failed."""
    folder = part.work / name
    done = run([HEADWAY, "profile", "-o", folder, "-f", *options, *program], timeout=LONGEST_S, env=AS_ROOT, cwd=part.work)
    good = part.check(f"{name}: recorded", f"{done.seconds:.0f} s, {last_words(done)}" if done.rc == 0 else f"exit {done.rc}: {last_words(done)}",
                      "exit 0", done.rc == 0 and (folder / "job.json").exists())
    return (folder, done) if good else (None, done)


def step_ms(done):
    found = re.search(r"^step_ms ([\d.]+)", done.out, re.M)
    return float(found.group(1)) if found else None


def keep(part, folder):
    """Brings a small job back, as one archive."""
    archive = shutil.make_archive(str(part.out / folder.name), "gztar", folder.parent, folder.name)
    if os.path.getsize(archive) > SMALL_BYTES:
        os.remove(archive)


# ---- who is late


def judge(part, name, folder, fault, ranks, source, first_call):
    job = ask_headway("analyze", "--format", "json", folder)["job"]
    late, cause = job["lateness"], job["lateness"].get("cause")
    ids = [finding["id"] for finding in job["findings"]]
    said = f"{late['kind']} {late['ranks']}, {job['steps']} steps"
    if fault == "late":
        part.check(f"{name}: verdict", job["verdict"], "comm", job["verdict"] == "comm")
        part.check(f"{name}: who is late", said, f"repeats [{ranks - 1}]", (late["kind"], late["ranks"]) == ("repeats", [ranks - 1]))
        part.check(f"{name}: first finding", ", ".join(ids[:3]) or "none", "rank-straggler", ids[:1] == ["rank-straggler"])
        lines = lines_of(JOBS / source, first_call)
        part.check(f"{name}: what the late rank does", cause["says"] if cause else "not known", f"{source}, up to line {min(lines)}",
                   bool(cause) and cause["file"].endswith(source) and cause["line"] in lines)
    elif fault == "turns":
        part.check(f"{name}: who is late", said, "takes-turns", late["kind"] == "takes-turns")
        part.check(f"{name}: findings", ", ".join(ids[:3]) or "none", "late-by-turns", "late-by-turns" in ids)
    else:
        # Ranks that share a GPU wait for each other's turns there: who is late by that is said, and that they share it.
        part.note(f"{name}: who is late", f"{said}; {', '.join(ids[:3])}")
        part.check(f"{name}: the planted place is not accused", cause["says"] if cause else "nothing", f"not {source}:{min(lines_of(JOBS / source, first_call))} alone",
                   "input-starved" not in ids)
    part.check(f"{name}: a shared GPU is said to be one", "; ".join(job["problems"]), "share one", any("share one" in problem for problem in job["problems"]))


def planted(part, launcher, launch, source, first_call, faults, ranks):
    """Records the job with each fault; the prediction for the late one against the one without."""
    measured = {}
    for fault in faults:
        name = f"{launcher}{ranks}-{fault}"
        plain = run(launch(ranks, *FAULTS[fault]), timeout=LONGEST_S, env=AS_ROOT, cwd=part.work)
        measured[fault] = step_ms(plain)
        folder, done = record(part, name, launch(ranks, *FAULTS[fault]))
        if not folder:
            continue
        part.note(f"{name}: step", f"alone {measured[fault]} ms, recorded {step_ms(done)} ms")
        judge(part, name, folder, fault, ranks, source, first_call)
        print(run([HEADWAY, "analyze", folder]).out, flush=True)
        keep(part, folder)
        if launcher == "mpirun":
            count(part, name, folder, done, ranks)
    predict(part, part.work / f"{launcher}{ranks}-late", f"{launcher}{ranks}", measured)


def predict(part, folder, name, measured):
    if not folder.exists() or not measured.get("late") or not measured.get("fixed"):
        return
    done = run([HEADWAY, "whatif", "--apply", "straggler", "--format", "json", folder], timeout=LONGEST_S)
    if not part.check(f"{name}: whatif straggler", last_words(done) if done.rc else "replayed", "exit 0", done.rc == 0):
        return
    after = json.loads(done.out)["predictions"][0]["step_ns"] / 1e6
    part.check(f"{name}: predicted without the fault", f"{after:.2f} ms, measured {measured['late']:.2f} → {measured['fixed']:.2f}: "
               f"{percent_off(after, measured['fixed'])}", f"{100 * MOST_ERROR:.0f} %", alike(after, measured["fixed"], MOST_ERROR))


# ---- the counts of MPI


def count(part, name, folder, done, ranks):
    """Calls and bytes of each rank, as the program printed them."""
    for rank in range(ranks):
        said = re.search(rf"^rank {rank} calls (.*) sent (\d+)$", done.out, re.M)
        if not said:
            part.check(f"{name}: rank {rank}", "it said nothing", "its counts", False)
            continue
        calls = {f"MPI_{call}": n for call, n in json.loads(said.group(1)).items()}
        seen = {row["Name"]: row["Instances"] for row in table(folder, "mpi_event_sum", "--rank", str(rank)) if row["Name"] in calls}
        moved = table(folder, "mpi_msg_size_sum", "--rank", str(rank))
        # A message has two ends on a rank that sends and receives; what a collective gives is a row of its own.
        sent = sum(row["Total Message Volume"] // (2 if row["Source"] == "p2p" else 1) for row in moved if row["Source"] != "coll_recv")
        part.check(f"{name}: calls of rank {rank}", seen, calls, seen == calls)
        part.check(f"{name}: bytes of rank {rank}", sent, said.group(2), sent == int(said.group(2)))


# ---- NCCL with one rank


def nccl_once(*recorded):
    done = run([*recorded, PYTHON, JOBS / "nccl_alone.py", "4000" if "-q" in recorded or not recorded else "200"], timeout=LONGEST_S)
    found = re.search(r"^nccl (\d+) turns (\d+) bytes (\d+) us ([\d.]+)$", done.out, re.M)
    return done, found and (int(found.group(1)), int(found.group(2)), int(found.group(3)), float(found.group(4)))


def rows_of(path):
    with open(path) as file:
        return list(csv.DictReader(file))


def nccl_join(part):
    report = part.work / "nccl.hwy"
    done, found = nccl_once(HEADWAY, "profile", "-f", "-t", "cuda,nvtx,nccl", "-o", report)
    if not part.check("nccl: recorded", last_words(done) if done.rc else found, "exit 0", bool(found)):
        return
    version, turns, size, _ = found
    rows = table(report, "nccl_sum")
    part.note("nccl: nccl_sum", json.dumps(rows)[:600])
    for operation in ("Send", "Receive"):
        mine = [row for row in rows if row["Operation"] == operation]
        counts = sum(row["Instances"] for row in mine)
        part.check(f"nccl {version}: {operation}", f"{counts} of {sorted({row['Bytes'] for row in mine})} bytes", f"{turns} of [{size}]",
                   counts == turns and {row["Bytes"] for row in mine} == {size})
    run([HEADWAY, "export", "-t", "csv", "-f", "-o", part.work / "nccl-csv", report])
    messages = rows_of(part.work / "nccl-csv" / "messages.csv")
    part.note("nccl: the first operation", json.dumps(messages[0] if messages else None))
    kernels = sum(row["Instances"] for row in table(report, "cuda_gpu_kern_sum") if "nccl" in row["Name"].lower())
    part.check("nccl: kernels", kernels, turns, kernels == turns)
    names = {row["id"]: row["name"] for kind in ("kernel", "call") for row in rows_of(part.work / "nccl-csv" / f"{kind}.csv")}
    joined = sum("nccl" in names.get(message["span"], "").lower() for message in messages)
    asked = sum(names.get(message["asked"], "").startswith("nccl") for message in messages)
    part.check("nccl: operations with their kernel", joined, 2 * turns, joined == 2 * turns)
    part.check("nccl: operations with their call", asked, 2 * turns, asked == 2 * turns)
    part.note("nccl: plugin", "; ".join(line["text"] for line in info(report)["diagnostics"] if "nccl" in line["text"].lower()) or "nothing said")
    shutil.copy(report, part.out / "nccl_alone.hwy")


def nccl_cost(part):
    ways = {"plain": (), "cuda": (HEADWAY, "profile", "-q", "-f", "-t", "cuda", "-o", part.work / "cost-a.hwy"),
            "nccl": (HEADWAY, "profile", "-q", "-f", "-t", "cuda,nccl", "-o", part.work / "cost-b.hwy")}
    times = {way: [] for way in ways}
    for number in range(4):
        for way in list(ways)[number % 3:] + list(ways)[:number % 3]:
            found = nccl_once(*ways[way])[1]
            if found:
                times[way].append(found[3])
    middle = {way: statistics.median(values) if values else float("nan") for way, values in times.items()}
    part.note("nccl: a turn (two calls, one kernel), medians of 4", ", ".join(f"{way} {us:.2f} µs" for way, us in middle.items()))
    part.note("nccl: what -t nccl adds to -t cuda, for an operation", f"{(middle['nccl'] - middle['cuda']) / 2 * 1000:.0f} ns")


# ---- what calls of MPI cost


def mpi_cost(part):
    program = part.work / "mpi_price"
    built = run(["mpicc", "-O2", "-o", program, HERE / "programs" / "jobs" / "mpi_price.c"])
    if built.rc:
        part.note("mpi: no cost", last_words(built))
        return
    launch = [*MPIRUN, "-n", "2", program, "300000"]
    ways = {"plain": launch, "mpi": [HEADWAY, "profile", "-q", "-f", "-t", "mpi", "-o", part.work / "mpi-cost", *launch]}
    times = {way: {"alone": [], "message": []} for way in ways}
    for number in range(ROUNDS):
        for way in (list(ways) if number % 2 else list(ways)[::-1]):
            done = run(ways[way], timeout=LONGEST_S, env=AS_ROOT)
            found = re.search(r"^alone ([\d.]+) message ([\d.]+) ns", done.out, re.M)
            if not found:
                part.check(f"mpi cost, {way}", f"exit {done.rc}: {last_words(done)}", "exit 0", False)
                return
            for i, what in enumerate(("alone", "message"), 1):
                times[way][what].append(float(found.group(i)))
    for what in ("alone", "message"):
        plain, recorded = (statistics.median(times[way][what]) for way in ways)
        part.note(f"mpi: {what}", f"{plain:.0f} ns a call, recorded {recorded:.0f}: -t mpi adds {recorded - plain:.0f} ns (medians of {ROUNDS})")


# ---- what ranges of cuBLAS cost


def library_cost(part):
    """Values of one process share its luck: several batches of processes, and ways by turns in each."""
    libraries = ("-q", "-t", "cuda,nvtx,cublas,cudnn,cusparse,cusolver")
    ways = {"plain": ("plain", ()), "cuda": ("headway", ("-q", "-t", "cuda,nvtx")), "libraries": ("headway", libraries),
            "libraries alone": ("headway", ("-q", "-t", "cuda", "-e", LEVELS))}
    times = {name: {way: [] for way in ways} for name in MODELS}
    for batch in range(BATCHES):
        runners = {way: Runner(str(part.work / f"libraries-{batch}-{way.replace(' ', '-')}"), how, *options) for way, (how, options) in ways.items()}
        try:
            for runner in runners.values():
                runner.await_start()
            for name, words in MODELS.items():
                row = {way: [] for way in ways}
                for number in range(ROUNDS):
                    for way in (list(ways) if number % 2 else list(ways)[::-1]):
                        row[way].append(calm_run(2, lambda: runners[way].once(words)).ms)
                for way in ways:
                    times[name][way].append(row[way])
            for runner in runners.values():
                runner.finish()
        finally:
            for runner in runners.values():
                runner.drop()
    for name, of in times.items():
        middle = {way: statistics.median(value for batch in batches(values) for value in batch) for way, values in of.items()}
        part.note(f"{name}: medians of {BATCHES} × {ROUNDS}, ms a step", ", ".join(f"{way} {ms:.3f}" for way, ms in middle.items()))
        part.note(f"{name}: with -t cublas,cudnn,… / without", "{:.3f} ({:.3f} to {:.3f})".format(*quotient(of["libraries"], of["cuda"])))
    for name in ("cublas_sum", "cudnn_sum"):
        rows = table(part.work / "libraries-0-libraries.hwy", name)
        part.note(name, "; ".join(f"{row['Name']} {row['Num Calls']}" for row in rows) or "no rows")


def go(part):
    for source in JOBS.glob("*.py"):  # recorded from here, so that reports name no path of the machine
        shutil.copy(source, part.work)
    steps = {"nccl": lambda: (nccl_join(part), nccl_cost(part)), "mpi-cost": lambda: mpi_cost(part), "libraries": lambda: library_cost(part)}
    for ranks in (2, 4):
        faults = list(FAULTS) if ranks == 4 else ["late", "fixed"]
        steps[f"torchrun{ranks}"] = lambda ranks=ranks, faults=faults: planted(part, "torchrun", torchrun, "ddp_late.py", "augment(batch, i)", faults, ranks)
        steps[f"mpirun{ranks}"] = lambda ranks=ranks: planted(part, "mpirun", mpirun, "halo_cupy.py", "cupy.asnumpy(field", ["late", "fixed"], ranks)
    for name, step in steps.items():
        if part.wants(name) and part.time_left() > 20:
            try:
                step()
            except Exception as error:  # the other jobs have their turn all the same
                part.check(f"{name}: {type(error).__name__}", error, "", False)
