# SPDX-License-Identifier: Apache-2.0
"""Part 15: the operators of a recording are those that torch.profiler counts, name by name.

Two runs of each program execute the same steps: one is recorded, the other one runs under torch.profiler (both at once would be
two observers of one event). Compared are the calls of `headway stats -r op_sum` in the window of the scope "measured", which begins and ends with
an idle device, with key_averages(). Left out, and listed:
- what torch.profiler cannot see: operators of other processes (workers of a DataLoader) and of threads that it was not started on
  (the one that pins memory);
- what only torch.profiler can see: scopes that torch opens only while its own profiler runs (targets/measured.py counts them);
- the names that torch leaves out of key_averages() itself (frameworks.LEFT_OUT), and the scope "measured".
Scopes of users may be ranges in a report; they are counted with the operators.

key_averages() merges an operator with the only operator that it calls where both have one name (aten::matmul under autocast); torch 1.13
decides that by times in whole microseconds, so that the number changes from run to run. So two comparisons are made: of all names with the
events that key_averages() is made of, and with key_averages() of the names that it does not merge. Of merged names both numbers are noted.
"""
import collections

from frameworks import LEFT_OUT, OP, PROGRAMS, SCOPE, Window, counts_of_profiler, differences, record
from harness import info
from report import RANGE

TITLE = "Operators as torch.profiler counts them"
SHOWN = 12


def listed(counts):
    return ", ".join(f"{name} {number}" for name, number in counts.most_common(6)) or "none"


def without(counts, names):
    return collections.Counter({name: number for name, number in counts.items() if number and name not in names})


def ours_of(part, name, window):
    """What op_sum counts in the window, less what torch.profiler could not see."""
    total, (seen, others) = window.op_sum(), window.by_thread(OP)
    part.check(f"{name}: op_sum counts what the report has", f"{sum(total.values())} calls, {len(differences(total, seen + others))} differ",
               "none differs", total == seen + others)
    part.note(f"{name}: left out, of other threads and processes", listed(others))
    part.note(f"{name}: left out, by torch itself", listed(collections.Counter({n: total[n] for n in LEFT_OUT if total[n]})))
    ranges, _ = window.by_thread(RANGE)
    return without(total - others + ranges, LEFT_OUT | {SCOPE})


def judge(part, name, which, ours, expected):
    wrong = differences(ours, expected)
    part.check(f"{name}: {which}", f"{len(expected) - sum(row[2] > 0 for row in wrong)} of {len(expected)} names alike, "
               f"{sum(expected.values())} calls", "all, and no others", not wrong and bool(expected))
    for row in wrong[:SHOWN]:
        part.note(f"{name}: {which}: differs: {row[0]}", f"headway {row[1]}, torch.profiler {row[2]}")


def compare(part, name, *arguments):
    theirs, path = counts_of_profiler(part, name, *arguments), record(part, name, *arguments)
    if not theirs or not path:
        return
    window = Window(path)
    if not part.check(f"{name}: the window", window.why if not window.found else f"{(window.end - window.start) / 1e6:.1f} ms",
                      "one scope", window.found):
        for line in info(path)["diagnostics"][:3]:
            part.note(f"{name}: the report says", line["text"])
        return
    part.note(f"{name}: left out, only while torch.profiler runs", listed(theirs["fast"]))
    none = LEFT_OUT | {SCOPE}
    ours = ours_of(part, name, window)
    judge(part, name, "torch.profiler's events", ours, without(theirs["events"] - theirs["fast"], none))
    merges = {key for key in theirs["events"] if theirs["averages"][key] != theirs["events"][key]}
    judge(part, name, "key_averages()", without(ours, none | merges), without(theirs["averages"] - theirs["fast"], none | merges))
    gone = window.merged()
    for key in sorted(merges - none):
        part.note(f"{name}: merged by key_averages(): {key}", f"{theirs['events'][key]} to {theirs['averages'][key]}; "
                  f"by our times {ours[key]} to {ours[key] - gone[key]}")
    lost = sum(drop["count"] or 0 for drop in info(path)["drops"])
    part.check(f"{name}: lost records", lost, "0", lost == 0)


def go(part):
    for name in PROGRAMS:
        if part.wants(name) and part.time_left() > 30:
            compare(part, name)
