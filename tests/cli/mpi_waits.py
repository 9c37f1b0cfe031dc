# SPDX-License-Identifier: Apache-2.0
"""mpi_waits.py CSV-FOLDER TABLE: computes wait states anew from the exported calls and messages of a job on one clock, and
compares late senders, late receivers, barriers and collectives with the table of `headway stats -r wait_state_sum`, to the ns."""
import collections
import csv
import sys

folder, table = sys.argv[1:]
calls = {row["id"]: row for row in csv.DictReader(open(folder + "/call.csv"))}
messages = list(csv.DictReader(open(folder + "/messages.csv")))
best = {}  # by rank and call: the state that ends last


def span(key):
    start = int(calls[key]["start"])
    return start, start + int(calls[key]["duration"])


def lost(message, kind, until, culprit):
    key = message["done"] or message["span"]
    start, end = span(key)
    until = min(until, end)
    entry = (until, kind, culprit, start)
    if until > start and entry > best.get((message["rank"], key), (0,)):
        best[message["rank"], key] = entry


groups = collections.defaultdict(list)
for m in messages:
    if m["kind"] == "collective":
        groups[m["communicator"], m["name"], m["sequence"]].append(m)
for (_, name, _), parts in groups.items():
    came = {m["rank"]: span(m["span"])[0] for m in parts}
    last = max(came, key=came.get)
    for m in parts:
        kind = "wait-at-barrier" if name == "Barrier" else "wait-at-collective"
        if name == "Broadcast":
            culprit = m["peer"]
        elif name == "Reduce" and m["rank"] != m["peer"]:
            continue
        else:
            culprit = last
        if culprit != m["rank"]:
            lost(m, kind, came[culprit], culprit)

streams = collections.defaultdict(lambda: ([], []))
for m in messages:
    if m["kind"] == "send":
        streams[m["communicator"], m["rank"], m["peer"], m["tag"]][0].append(m)
    elif m["kind"] == "receive":
        streams[m["communicator"], m["peer"], m["rank"], m["tag"]][1].append(m)
for sends, receives in streams.values():
    for side in sends, receives:
        side.sort(key=lambda m: span(m["span"])[0])
    for send, receive in zip(sends, receives):
        lost(receive, "late-sender", span(send["span"])[0], send["rank"])
        asked = span(receive["span"])[0]
        if asked < span(send["done"] or send["span"])[1]:
            lost(send, "late-receiver", asked, receive["rank"])

sums = collections.Counter()
for (rank, key), (until, kind, culprit, start) in best.items():
    sums[kind, rank, culprit, calls[key]["name"]] += until - start
told = collections.Counter()
for row in csv.DictReader(open(table)):
    if row["State"] != "progress-stalled":
        told[row["State"], row["Rank"], row["Waits For"], row["Name"]] += int(row["Total Time (ns)"])
if sums != told:
    sys.exit("computed %s\ntold %s" % (sorted(sums.items()), sorted(told.items())))
