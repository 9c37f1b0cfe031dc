# SPDX-License-Identifier: Apache-2.0
"""Part 16: `headway tree`: whose the GPU's time is, by module, operator and kernel.

The programs are those of part 15 (its recordings are taken where they are there), and a decode that replays a CUDA graph, recorded node by node.
The leaves of a tree must have all GPU time to the nanosecond, and its totals must agree with its leaves. Whether a kernel of a graph names the
line that captured it is read from the report itself.
"""
import collections

from frameworks import OPTIONS, PROGRAMS, record
from harness import EXAMPLES, ask_headway, example, headway, info, last_words, lines_of, run
from report import KERNEL, NONE, Report

TITLE = "The tree"
WORK = ("kernel", "copy", "fill", "graph")  # kinds of device work in `headway info`
Leaf = collections.namedtuple("Leaf", "gpu launches kinds names")


def leaves(node, kinds=(), names=()):
    """What of a node's GPU time and launches is in no inner node, with the kinds and names from the root to it; of all nodes that have some."""
    kinds, names, below = kinds + (node["kind"],), names + (node["name"],), node.get("inner", [])
    for one in below:
        yield from leaves(one, kinds, names)
    gpu, launches = (node[key] - sum(one[key] for one in below) for key in ("gpu_ns", "launches"))
    if gpu or launches:
        yield Leaf(gpu, launches, kinds, names)


def share(found, total):
    return 100 * sum(leaf.gpu for leaf in found) / total if total else 0.0


def is_backward(leaf):
    return any("Backward" in name or "autograd::engine" in name for kind, name in zip(leaf.kinds, leaf.names) if kind == "operator")


# ---- checks


def judge(part, name, path):
    document = ask_headway("tree", "--format", "json", "--each-layer", path)
    found = list(leaves(document["tree"]))
    spans = info(path)["spans"]
    expected, total = sum(spans.get(kind, {}).get("time_ns", 0) for kind in WORK), document["gpu_ns"]
    part.check(f"{name}: GPU time of the tree, of its leaves", f"{total}, {sum(leaf.gpu for leaf in found)} ns", f"{expected} ns",
               total == expected == sum(leaf.gpu for leaf in found) and total > 0)
    by_line = ask_headway("tree", "--format", "json", "--by", "line", path)
    part.check(f"{name}: GPU time of the tree by line", f"{by_line['gpu_ns']} ns", f"{expected} ns",
               by_line["gpu_ns"] == expected == sum(leaf.gpu for leaf in leaves(by_line["tree"])))
    operator, place = (100 * document[key] / total if total else 0 for key in ("with_operator_ns", "with_module_or_line_ns"))
    counted = [leaf for leaf in found if "operator" in leaf.kinds]
    part.check(f"{name}: has an operator", f"{operator:.2f} %, by the leaves {share(counted, total):.2f} %", "at least 99 %", operator >= 99)
    part.check(f"{name}: has a module or a line", f"{place:.2f} %", "at least 95 %", place >= 95)
    part.note(f"{name}: has a module", f"{share([leaf for leaf in found if 'module' in leaf.kinds], total):.2f} %")
    backward = [leaf for leaf in found if is_backward(leaf)]
    if backward:
        named = share([leaf for leaf in backward if "module" in leaf.kinds], sum(leaf.gpu for leaf in backward))
        part.check(f"{name}: backward work with a module of the forward pass", f"{named:.1f} % of {share(backward, total):.0f} %", "at least 90 %",
                   named >= 90)
    rest = sorted((leaf for leaf in found if "operator" not in leaf.kinds), key=lambda leaf: -leaf.gpu)
    for leaf in rest[:3]:
        part.note(f"{name}: without an operator", f"{share([leaf], total):.2f} %: {' > '.join(leaf.names[1:])[:90]}")


def captured(part):
    """Kernels of a replayed graph and the line at which Python captured them."""
    path = part.work / "decode.hwy"
    done = run(headway(path, example("decode", "--graph"), *OPTIONS, "--cuda-graph-trace", "node"), timeout=120)
    if done.rc or not path.exists():
        part.check("decode: headway profile", f"exit {done.rc}: {last_words(done)}", "exit 0", False)
        return
    report = Report(path)
    stacks = {(row["process"], row["node"]): row["stack"] for row in report.records.get("nodes", [])}
    replay = lines_of(EXAMPLES / "decode.py", "graph.replay()")
    count, lines, why = 0, collections.Counter(), collections.Counter()
    for process, node in graph_kernels(report):
        count += 1
        stack = stacks.get((process, node))
        line = stack and next((frame["line"] for frame in report.frames(stack) if frame["file"].endswith("decode.py")), None)
        if line and line not in replay:
            lines[line] += 1
        else:
            why["the node is not known" if stack is None else "no stack" if not stack else "no line of the program"] += 1
    part.check("decode: kernels of the graph", count, "at least 1000", count >= 1000)
    named = 100 * sum(lines.values()) / count if count else 0
    part.check("decode: kernels that name the line that captured them", f"{named:.1f} %, {len(lines)} lines", "at least 95 %", named >= 95)
    part.note("decode: lines", ", ".join(f"{line}: {n}" for line, n in lines.most_common(8)))
    if why:
        part.note("decode: kernels without a line", ", ".join(f"{text} {n}" for text, n in why.most_common()))
    attempt(part, "decode", judge, path)


def graph_kernels(report):
    """(process, node) of each kernel that ran as a node of a graph."""
    for lane, kind, rows, columns in report.strips:
        nodes = columns.get("graph-node")
        if kind == KERNEL and nodes:
            process = report.records["lanes"][lane]["process"]
            for node in nodes:
                if node not in (NONE, 0):
                    yield process, node


def go(part):
    for name in PROGRAMS:
        if part.wants(name) and part.time_left() > 30:
            path = record(part, name, earlier="part15")
            if path:
                attempt(part, name, judge, path)
    if part.wants("decode"):
        captured(part)


def attempt(part, name, test, path):
    """One program whose tree cannot be read is no reason to leave the others out."""
    try:
        test(part, name, path)
    except (RuntimeError, ValueError, KeyError) as error:
        part.check(f"{name}: headway tree", f"{type(error).__name__}: {error}", "", False)
