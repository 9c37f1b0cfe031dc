#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# mpi_tables.sh - the tables of MPI's and other libraries' calls, from an export of nsys, and what comes back of one that is exported.
source "$(dirname "$0")/common.bash"

# Two ranks: a message each way, one that is waited for, MPI_Sendrecv, collectives, cuBLAS.
python3 - "$work/in.sqlite" <<'PY'
import sqlite3, sys

db = sqlite3.connect(sys.argv[1])
tid = lambda pid: 1 << 48 | pid << 24 | pid
names = ["", "MPI_Send", "MPI_Irecv", "MPI_Wait", "MPI_Sendrecv", "MPI_Allreduce", "MPI_Bcast", "MPI_Init", "cublasSgemm_v2"]
name = names.index
db.executescript("""
CREATE TABLE StringIds(id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE MPI_RANKS(globalTid, rank);
CREATE TABLE MPI_P2P_EVENTS(start, end, globalTid, textId, commHandle, tag, remoteRank, size, requestHandle);
CREATE TABLE MPI_COLLECTIVES_EVENTS(start, end, globalTid, textId, commHandle, rootRank, size, recvSize, requestHandle);
CREATE TABLE MPI_START_WAIT_EVENTS(start, end, globalTid, textId, requestHandle);
CREATE TABLE MPI_OTHER_EVENTS(start, end, globalTid, textId);
CREATE TABLE CUBLAS_EVENTS(start, end, eventClass, globalTid, nameId);
""")
db.executemany("INSERT INTO StringIds VALUES(?, ?)", enumerate(names))
for rank, pid in enumerate((10, 20)):
    t, other, w = tid(pid), 1 - rank, 0x44000000
    db.execute("INSERT INTO MPI_RANKS VALUES(?, ?)", (t, rank))
    db.execute("INSERT INTO MPI_OTHER_EVENTS VALUES(1, 100, ?, ?)", (t, name("MPI_Init")))
    p2p = [(200, 210, t, name("MPI_Irecv"), w, 5, other, 64, 900), (220, 240, t, name("MPI_Send"), w, 5, other, 64, None),
           (300, 330, t, name("MPI_Sendrecv"), w, 6, other, 8, None),  # the same both ways: one row
           (400, 430, t, name("MPI_Sendrecv"), w, 6, other, 16, None), (400, 430, t, name("MPI_Sendrecv"), w, 7, other, 32, None)]
    db.executemany("INSERT INTO MPI_P2P_EVENTS VALUES(?,?,?,?,?,?,?,?,?)", p2p)
    db.execute("INSERT INTO MPI_START_WAIT_EVENTS VALUES(250, 290, ?, ?, 900)", (t, name("MPI_Wait")))
    db.execute("INSERT INTO MPI_COLLECTIVES_EVENTS VALUES(500, 600, ?, ?, ?, NULL, 80, 80, NULL)", (t, name("MPI_Allreduce"), w))
    db.execute("INSERT INTO MPI_COLLECTIVES_EVENTS VALUES(700, 720, ?, ?, ?, 0, ?, ?, NULL)",
               (t, name("MPI_Bcast"), w, 24 * other, 24 * rank))
    db.execute("INSERT INTO CUBLAS_EVENTS VALUES(800, 850, 29, ?, ?)", (t, name("cublasSgemm_v2")))
db.commit()
PY

tables() { # tables FILE: all tables of this test, as CSV
	for report in mpi_event_sum mpi_msg_size_sum mpi_event_trace cublas_sum; do
		echo "== $report"
		"$HEADWAY" stats -r $report --format csv "$1" || fail "$report of $1"
	done
}
tables "$work/in.sqlite" >"$work/first"
cat >"$work/expected" <<'CSV'
== mpi_event_sum
Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Source,Name
28.7,200,2,100.0,100.0,100,100,0.0,collectives,MPI_Allreduce
28.4,198,2,99.0,99.0,99,99,0.0,other,MPI_Init
17.2,120,4,30.0,30.0,30,30,0.0,p2p,MPI_Sendrecv
11.5,80,2,40.0,40.0,40,40,0.0,start_wait,MPI_Wait
5.7,40,2,20.0,20.0,20,20,0.0,collectives,MPI_Bcast
5.7,40,2,20.0,20.0,20,20,0.0,p2p,MPI_Send
2.9,20,2,10.0,10.0,10,10,0.0,p2p,MPI_Irecv
== mpi_msg_size_sum
Total Message Volume,Instances,Avg,Med,Min,Max,StdDev,Source,Name
160,2,80.0,80.0,80,80,0.0,coll_send,MPI_Allreduce
160,2,80.0,80.0,80,80,0.0,coll_recv,MPI_Allreduce
128,2,64.0,64.0,64,64,0.0,p2p,MPI_Irecv
128,2,64.0,64.0,64,64,0.0,p2p,MPI_Send
128,8,16.0,12.0,8,32,10.5,p2p,MPI_Sendrecv
24,2,12.0,12.0,0,24,17.0,coll_send,MPI_Bcast
24,2,12.0,12.0,0,24,17.0,coll_recv,MPI_Bcast
CSV
sed '/== mpi_event_trace/,$d' "$work/first" | diff "$work/expected" - >"$work/out" || fail "sums: $(cat "$work/out")"
expect() { # expect LINE: a row of the tables, as it is
	grep -qxF -- "$1" "$work/first" || fail "no row '$1'"
}
expect "Start (ns),End (ns),Duration (ns),Event,Pid,Tid,Tag,Rank,PeerRank,RootRank,Size,CollSendSize,CollRecvSize"
expect "200,210,10,MPI_Irecv,10,10,5,0,1,,64,,"
expect "400,430,30,MPI_Sendrecv,20,20,6,1,0,,16,,"
expect "400,430,30,MPI_Sendrecv,20,20,7,1,0,,32,,"
expect "700,720,20,MPI_Bcast,20,20,,1,,0,,0,24"
expect "250,290,40,MPI_Wait,10,10,,0,,,,,"
[ "$(grep -c '^300,330,30,MPI_Sendrecv' "$work/first")" = 2 ] || fail "a message that is the same both ways is not one row"
expect "100.0,100,2,50.0,50.0,50,50,0.0,cublasSgemm_v2"

# Each rank by itself: the rows of the ranks add up to those of all.
"$HEADWAY" stats -r mpi_event_sum,mpi_msg_size_sum --by-rank --format json "$work/in.sqlite" >"$work/ranks.json" || fail "--by-rank"
python3 - "$work/ranks.json" <<'PY' || fail "--by-rank: sums"
import json, sys
from collections import Counter

for name, rows in json.load(open(sys.argv[1])).items():
    total = next(key for key in rows[0] if key.startswith("Total"))
    sums = {rank: Counter() for rank in ("all", "0", "1")}
    for row in rows:
        sums[row["Rank"]][row["Source"], row["Name"], "total"] += row[total]
        sums[row["Rank"]][row["Source"], row["Name"], "count"] += row["Instances"]
    assert sums["all"] == sums["0"] + sums["1"] and sums["0"] and sums["1"], (name, sums)
PY
run stats -r mpi_event_trace --rank 1 --format csv "$work/in.sqlite"
[ "$(cut -d, -f8 "$work/out" | sort -u | tr '\n' ' ')" = "1 Rank " ] || fail "--rank 1 has other ranks"
run stats --rank 5 "$work/in.sqlite"
expect_refusal "--rank 5" "has no rank 5"

# A report, and an export of it, tell the same.
"$HEADWAY" convert "$work/in.sqlite" -o "$work/report.hwy" >/dev/null || fail "convert"
"$HEADWAY" export -t sqlite "$work/report.hwy" -o "$work/back.sqlite" >/dev/null || fail "export"
for file in report.hwy back.sqlite; do
	tables "$work/$file" | diff "$work/first" - >"$work/out" || fail "$file differs: $(cat "$work/out")"
	"$HEADWAY" export -t csv "$work/$file" -o "$work/$file.csv" >/dev/null || fail "csv of $file"
done
diff "$work/report.hwy.csv/messages.csv" "$work/back.sqlite.csv/messages.csv" >"$work/out" || fail "messages: $(cat "$work/out")"
python3 - "$work/back.sqlite" <<'PY' || fail "tables of nsys"
import sqlite3, sys

db = sqlite3.connect(sys.argv[1])
count = lambda table: db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
assert [count("MPI_" + t) for t in ("P2P_EVENTS", "COLLECTIVES_EVENTS", "START_WAIT_EVENTS", "OTHER_EVENTS", "RANKS")] == [10, 4, 2, 2, 2]
joined = db.execute("""SELECT count(*) FROM MPI_P2P_EVENTS p JOIN MPI_START_WAIT_EVENTS w ON p.requestHandle = w.requestHandle
                       AND p.globalTid = w.globalTid""").fetchone()[0]
assert joined == 2, joined
PY

# What NCCL's ranges tell of their kernels reaches tools for PyTorch's traces, and comes back from them.
python3 - "$work/nccl.sqlite" <<'PY'
import sqlite3, struct, sys

db = sqlite3.connect(sys.argv[1])
pid, tid = 1 << 48 | 10 << 24, 1 << 48 | 10 << 24 | 10
db.executescript("""
CREATE TABLE StringIds(id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, eventClass, globalTid, correlationId, nameId, returnValue, callchainId);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName, shortName);
CREATE TABLE NVTX_EVENTS(start, end, eventType, globalTid, textId, domainId, binaryData);
CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES(domainId, schemaId, idx, flags, type, name, offset);
INSERT INTO StringIds VALUES(1, 'cudaLaunchKernel'), (2, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL'), (3, 'ncclAllReduce');
INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES(1, 5, 0, NULL, 18, 'NCCL communicator ID', NULL), (1, 5, 1, NULL, 22, 'Message size [bytes]', 8);
""")
payload = struct.pack("<QQQQQQ", 1, 5, 16, 48, 0xabc, 4096)
db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(10, 20, 0, ?, 7, 1, 0, 0)", (tid,))
db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(30, 90, 0, 1, 7, 7, ?, 2, 2)", (pid,))
db.execute("INSERT INTO NVTX_EVENTS VALUES(5, 25, 59, ?, 3, 1, ?)", (tid, payload))
db.commit()
PY
"$HEADWAY" export -t chrome "$work/nccl.sqlite" -o "$work/nccl.json" >/dev/null || fail "chrome of NCCL's ranges"
for file in nccl.sqlite nccl.json; do
	"$HEADWAY" export -t csv "$work/$file" -o "$work/$file.csv" >/dev/null || fail "csv of $file"
	[ "$(tail -n 1 "$work/$file.csv/messages.csv" | cut -d, -f4-13)" = "NCCL,collective,AllReduce,abc,,,,4096,4096," ] ||
		[ "$(tail -n 1 "$work/$file.csv/messages.csv" | cut -d, -f4-13)" = "NCCL,collective,AllReduce,abc,,,,4096,4096,4096" ] ||
		fail "$file: $(tail -n 1 "$work/$file.csv/messages.csv")"
done
finish
