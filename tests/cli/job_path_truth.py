# SPDX-License-Identifier: Apache-2.0
"""job_path_truth.py - the chain across ranks that decides how long a job takes, walked back through raw traces of torch.profiler.

From the last work on a rank the walk goes to what held that work up: the work before it on its stream, communication on another stream that
ended right before, or the call that launched it; from a kernel that communicates to the rank that came last; from a call to the call before
it, and from a call that waited to the work that it waited for. No graph, no replay: at every moment the latest of what was seen to end.
"""
import bisect
import collections

RIGHT_AFTER, WAITED = 10_000, 50_000  # ns
WAITS = ("Synchronize", "cudaMemcpyAsync", "cudaMemcpy")


class Chain:
    """Work and calls of one rank; times are on the first rank's clock."""

    def __init__(self, raw, origin, shift):
        def ns(value):
            return round(value * 1000) - origin + shift
        spans = [e for e in raw["traceEvents"] if e.get("ph") == "X"]
        calls = [e for e in spans if e.get("cat", "").lower() in ("cuda_runtime", "cuda_driver", "runtime")]
        self.calls = sorted((ns(e["ts"]), ns(e["ts"] + e["dur"]), e["name"], e["args"].get("correlation")) for e in calls)
        launched = {call[3]: call[0] for call in self.calls}
        work = [e for e in spans if e.get("cat", "").lower() in ("kernel", "gpu_memcpy", "gpu_memset")]
        self.work = sorted((ns(e["ts"]), ns(e["ts"] + e["dur"]), e["args"].get("stream"), "nccl" in e["name"].lower(),
                            launched.get(e["args"].get("correlation"))) for e in work)
        self.ends = sorted((one[1], i) for i, one in enumerate(self.work))

    def ended_before(self, time):
        """Work by its end, the latest first."""
        at = bisect.bisect_right(self.ends, (time, len(self.work)))
        return (self.work[i] for _, i in reversed(self.ends[:at]))

    def held_up(self, one):
        """What the work waited for, and until when: ("work", that) or ("call", time)."""
        before = next((other for other in self.ended_before(one[0]) if other[2] == one[2] and other != one), None)
        comm = next((other for other in self.ended_before(one[0]) if other[3] != one[3] and other[2] != one[2]
                     and one[0] - other[1] <= RIGHT_AFTER), None) if before is None or one[0] - before[1] > RIGHT_AFTER else None
        last = max((other for other in (before, comm) if other), key=lambda other: other[1], default=None)
        call = one[4] if one[4] is not None else -1
        return ("work", last) if last and last[1] > call else ("call", call)

    def call_before(self, time):
        """Goes back along the calls: the last one that waited for work, as that work; None where none did."""
        at = bisect.bisect_left(self.calls, (time,)) - 1
        while at >= 0:
            begin, end, name, _ = self.calls[at]
            if end <= time and end - begin > WAITED and any(word in name for word in WAITS):
                return next((one for one in self.ended_before(end) if one[1] > begin), None)
            at -= 1
        return None


def walk(chains, meetings, window, rank):
    """Ns of the chain on each rank, from a rank's last work in the window back to its begin."""
    arrivals = {(k, begin): max((p[1], p[0]) for p in parts) for parts in meetings for k, begin, _ in parts}
    time, of = window[1], collections.Counter()
    one = next(chains[rank].ended_before(window[1] + RIGHT_AFTER))
    while one and one[0] > window[0]:
        last, culprit = arrivals.get((rank, one[0]), (one[0], rank)) if one[3] else (one[0], rank)
        if culprit != rank and last > one[0]:
            of[rank] += max(0, time - last)
            time, rank = min(time, last), culprit
            one = next(other for other in chains[rank].work if other[3] and other[0] == last)
            continue
        kind, held = chains[rank].held_up(one)
        one = held if kind == "work" else chains[rank].call_before(held)
    of[rank] += time - window[0]
    return of
