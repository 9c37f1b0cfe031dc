# SPDX-License-Identifier: Apache-2.0
"""Programs of PyTorch whose operators are counted (targets/ops_*.py): recording them, and counting in the report and by torch.profiler."""
import collections
import json

from harness import headway, last_words, run, table, target
from report import RANGE, Report

PROGRAMS = ("amp", "generate", "resnet", "compiled")
OPTIONS = ["-t", "cuda,nvtx,pytorch"]
OP = 8  # kind of span
SCOPE = "measured"
# torch leaves these names out of key_averages() itself (_filter_name in torch/autograd/profiler_util.py).
LEFT_OUT = {"[memory]", "[OutOfMemory]", "profiler::_record_function_enter", "profiler::_record_function_enter_new",
            "profiler::_record_function_exit", "aten::is_leaf", "aten::output_nr", "aten::_version"}


def program(name, *arguments):
    return target(f"ops_{name}", *arguments)


def record(part, name, *arguments, options=OPTIONS, earlier=None):
    """The report of a program; one that an earlier part made is taken if it is there. None, and a check, where there is none."""
    path = part.work / f"{name}.hwy"
    if earlier and (part.work.parent / earlier / path.name).exists():
        return part.work.parent / earlier / path.name
    done = run(headway(path, program(name, *arguments), *options), timeout=150)
    if done.rc or not path.exists():
        part.check(f"{name}: headway profile", f"exit {done.rc}: {last_words(done)}", "exit 0", False)
        return None
    return path


def counts_of_profiler(part, name, *arguments):
    """What torch.profiler counted, as targets/measured.py says: by "events", "averages" and "fast" a Counter of names. None, and a check, where it
    failed."""
    path = part.work / f"{name}.json"
    done = run(program(name, "--profiler", path, *arguments), timeout=150)
    if done.rc or not path.exists():
        part.check(f"{name}: under torch.profiler", f"exit {done.rc}: {last_words(done)}", "exit 0", False)
        return None
    found = json.loads(path.read_text())
    return {which: collections.Counter(found[which]) for which in ("events", "averages", "fast")}


class Window:
    """The measured steps of a report: their times, and the operators and scopes in them by name."""

    def __init__(self, path):
        self.path, self.report = path, Report(path)
        both = [span for kind in (OP, RANGE) for span in self.report.spans(kind)]
        scope = [span for span in both if span["name"] == SCOPE]
        self.found = len(scope) == 1
        if not self.found:
            self.why = f"{len(scope)} scopes are named {SCOPE}; there are {len(both)} operators and ranges"
            return
        self.start, self.end, self.lane = scope[0]["start"], scope[0]["end"], scope[0]["lane"]
        self.main = self.report.pid(self.lane)

    def is_seen(self, lane):
        """Does torch.profiler see this thread? It sees the one that started it, and those of the backward pass."""
        thread = self.report.thread(lane)
        if self.report.pid(lane) != self.main or thread < 0:
            return False
        name = self.report.text(self.report.records["threads"][thread]["name"])
        return thread == self.report.thread(self.lane) or name.startswith("pt_autograd")

    def by_thread(self, kind):
        """Spans of a kind in the window: (on threads that torch.profiler sees, on others), by name."""
        seen, others = collections.Counter(), collections.Counter()
        for span in self.report.spans(kind):
            if span["end"] > self.start and span["start"] < self.end:
                (seen if self.is_seen(span["lane"]) else others)[span["name"]] += 1
        return seen, others

    def merged(self):
        """How many operators and scopes key_averages() leaves out, by name: the only child of one with the same name is merged with it."""
        lanes = collections.defaultdict(list)
        for kind in (OP, RANGE):
            for span in self.report.spans(kind):
                inside = span["end"] > self.start and span["start"] < self.end and span["name"] not in LEFT_OUT
                if inside and self.is_seen(span["lane"]):
                    lanes[self.report.thread(span["lane"])].append(span)
        gone = collections.Counter()
        for spans in lanes.values():
            gone += merged_of(spans)
        return gone

    def op_sum(self):
        """Calls by name as `headway stats -r op_sum` counts them, of the window."""
        rows = table_in(self.path, "op_sum", self.start, self.end)
        return collections.Counter({row["Name"]: row["Calls"] for row in rows})


def merged_of(spans):
    """The only children, by name, of spans of one thread that have the name of their parent."""
    open_spans, children = [], collections.defaultdict(list)
    for span in sorted(spans, key=lambda span: (span["start"], -span["end"])):
        while open_spans and span["start"] >= open_spans[-1]["end"]:
            open_spans.pop()
        if open_spans:
            children[id(open_spans[-1])].append(span)
        open_spans.append(span)
    return collections.Counter(span["name"] for span in spans
                               if [child["name"] for child in children[id(span)]] == [span["name"]])


def table_in(path, name, start, end):
    return table(path, name, "--from", str(start), "--to", str(end))


def differences(ours, theirs):
    """Names that were not counted alike: [(name, ours, theirs)], the largest difference first."""
    names = [name for name in ours.keys() | theirs.keys() if ours[name] != theirs[name]]
    return sorted(((name, ours[name], theirs[name]) for name in names), key=lambda row: (-abs(row[1] - row[2]), row[0]))
