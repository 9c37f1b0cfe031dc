# SPDX-License-Identifier: Apache-2.0
"""job_truth.py - what `headway analyze` says about the ranks of a job, against a calculation of its own from the raw traces.

    job_truth.py HEADWAY FOLDER

Reads the traces of torch.profiler in FOLDER, adds up what each rank's device did in its steps with sets of intervals, matches the
collectives by name and end, sets the clocks by their ends, adds up who waits for whom, and walks back the chain that decides how long the job
takes (job_path_truth.py). Prints what differs; status 1 then.
"""
import collections
import decimal
import gzip
import json
import statistics
import subprocess
import sys

from job_path_truth import Chain, walk

headway, folder = sys.argv[1], sys.argv[2]
problems = []


def ask(*arguments):
    return json.loads(subprocess.run([headway, *arguments], capture_output=True, check=True).stdout)


def check(what, got, wanted, within):
    if abs(got - wanted) > within:
        problems.append("%s: %d, not %d (within %d)" % (what, got, wanted, within))


def union(intervals):
    done = []
    for begin, end in sorted(intervals):
        if done and begin <= done[-1][1]:
            done[-1][1] = max(done[-1][1], end)
        else:
            done.append([begin, end])
    return done


def length(intervals, window):
    return sum(max(0, min(e, window[1]) - max(b, window[0])) for b, e in union(intervals))


def common(a, b):
    return [(max(x[0], y[0]), min(x[1], y[1])) for x in union(a) for y in union(b) if max(x[0], y[0]) < min(x[1], y[1])]


class Rank:
    """The device work of one trace, in ns from the trace's first event on."""

    def __init__(self, file):
        with (gzip.open if file.endswith(".gz") else open)(file, "rt") as text:
            raw = self.raw = json.load(text, parse_float=decimal.Decimal)
        work = [e for e in raw["traceEvents"] if e.get("ph") == "X" and e.get("cat", "").lower() in ("kernel", "gpu_memcpy", "gpu_memset")]
        self.origin = round(min(e["ts"] for e in work) * 1000) - ask("breakdown", "--format", "json", file)["devices"][0]["start_ns"]
        spans = [(round(e["ts"] * 1000) - self.origin, round((e["ts"] + e["dur"]) * 1000) - self.origin, e["name"], e["cat"].lower()) for e in work]
        self.comm = sorted(s for s in spans if s[3] == "kernel" and "nccl" in s[2].lower())
        self.compute = [s[:2] for s in spans if s[3] == "kernel" and "nccl" not in s[2].lower()]
        self.all = [s[:2] for s in spans]
        about = ask("analyze", "--format", "json", file)
        phase = about["phases"][about["summary"]["phase"]]
        self.window, self.steps = (phase["window"]["start_ns"], phase["window"]["end_ns"]), phase["steady_steps"]


def match(ranks):
    """Collectives of all ranks: lists of (rank, start, end) on rank 0's clock, and how far each clock is off."""
    shift = [r.origin - ranks[0].origin for r in ranks]
    found = []
    for _ in range(2):  # once with the clocks as they are, once with the clocks set
        found, used = [], set()
        for begin, end, name, _cat in ranks[0].comm:
            parts = [(0, begin, end)]
            for k, rank in enumerate(ranks[1:], 1):
                near = [(abs(e + shift[k] - end), i) for i, (_b, e, n, _c) in enumerate(rank.comm) if n == name and (k, i) not in used]
                if near and min(near)[0] < 200000:
                    i = min(near)[1]
                    used.add((k, i))
                    parts.append((k, rank.comm[i][0] + shift[k], rank.comm[i][1] + shift[k]))
            if len(parts) > 1:
                found.append(parts)
        for k in range(1, len(ranks)):
            apart = [parts[0][2] - p[2] for parts in found for p in parts if p[0] == k]
            shift[k] += round(statistics.median(apart)) if apart else 0
    return sorted(found, key=lambda parts: max(p[1] for p in parts)), shift


def compare_path(path, ranks, meetings, shift):
    """Every rank's part of the path is that of the walk from the same end, within a tenth of the window."""
    window, said = (path["start_ns"], path["end_ns"]), [r["ns"] for r in path["ranks"]]
    chains = [Chain(rank.raw, rank.origin, shift[k]) for k, rank in enumerate(ranks)]
    walks = [[walk(chains, meetings, window, end)[k] for k in range(len(ranks))] for end in range(len(ranks))]
    if not any(all(abs(a - b) <= (window[1] - window[0]) / 10 for a, b in zip(said, of)) for of in walks):
        problems.append("the path is %s, walks are %s" % (said, walks))


def compare(job, ranks):
    meetings, shift = match(ranks)
    spread = sorted(max(p[2] for p in parts) - min(p[2] for p in parts) for parts in meetings)
    uncertain = spread[len(spread) // 2]
    met, waits, lost = set(), collections.defaultdict(list), collections.Counter()
    for parts in meetings:
        last = max(p[1] for p in parts)
        culprit = max(parts, key=lambda p: p[1])[0]
        counts = all(p[0] in met for p in parts)
        met.update(p[0] for p in parts)
        for k, begin, end in parts:
            wait = min(last - begin, end - begin - min(p[2] - p[1] for p in parts) + uncertain, end - begin)
            if wait > uncertain and counts and k != culprit:
                waits[k].append((begin - shift[k], begin - shift[k] + wait))
                if ranks[0].window[0] - 10**6 <= begin <= ranks[0].window[1] + 10**6:
                    lost[k, culprit] += wait
    error = max([uncertain, *((r["clock"]["error_ns"] or 0) for r in job["ranks"])])
    slack = 3 * error * max(1, len(meetings))
    for k, rank in enumerate(ranks):
        row, w = job["ranks"][k], rank.window
        if rank.steps != job["steps"]:
            problems.append("rank %d has %d steps, the job %d" % (k, rank.steps, job["steps"]))
        both = rank.compute + [s[:2] for s in rank.comm]
        compute = length(rank.compute, w)
        waiting = length(common(waits[k], both), w) - length(common(common(waits[k], both), rank.compute), w)
        check("step of rank %d" % k, row["step_ns"], (w[1] - w[0]) // rank.steps, 1)
        check("compute of rank %d" % k, row["compute_ns"], compute // rank.steps, 1)
        check("communication of rank %d" % k, row["transfer_ns"] + row["wait_ns"] + row["start_ns"], (length(both, w) - compute) // rank.steps, 3)
        check("hidden communication of rank %d" % k, row["hidden_comm_ns"], length(common(rank.compute, [s[:2] for s in rank.comm]), w) // rank.steps, 1)
        check("copies of rank %d" % k, row["copy_ns"], (length(rank.all, w) - length(both, w)) // rank.steps, 1)
        check("idle of rank %d" % k, row["idle_ns"], (w[1] - w[0] - length(rank.all, w)) // rank.steps, 2)
        check("waiting of rank %d" % k, row["wait_ns"], waiting // rank.steps, slack)
        for other in range(len(ranks)):
            check("rank %d for rank %d" % (k, other), job["waits_ns"][k][other], lost[k, other] // job["steps"], slack)
        check("clock of rank %d" % k, row["clock"]["shift_ns"], shift[k], 2 * error)
    worst = max(range(len(ranks)), key=lambda r: sum(lost[k, r] for k in range(len(ranks))))
    said = max(job["ranks"], key=lambda r: r["costs_others_ns"])["rank"]
    if said != job["ranks"][worst]["rank"]:
        problems.append("rank %d costs most, not rank %d" % (job["ranks"][worst]["rank"], said))
    if job["path"] and sum(r["ns"] for r in job["path"]["ranks"]) != job["path"]["end_ns"] - job["path"]["start_ns"]:
        problems.append("the path does not add up to its window")
    if job["path"]:
        compare_path(job["path"], ranks, meetings, shift)
    return len(meetings), error


answer = ask("analyze", "--format", "json", folder)["job"]
n_meetings, uncertainty = compare(answer, [Rank(r["file"]) for r in answer["ranks"]])
print("\n".join(problems) or "%d ranks, %d collectives, clocks within %d ns" % (len(answer["ranks"]), n_meetings, uncertainty))
sys.exit(bool(problems))
