#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The CUDA collector with a libcupti that needs no GPU: records captured on an H200 and made-up calls go through
# the real collector into spools, which are read back.
source "$(dirname "$0")/common.bash"
: "${COLLECT:?test programs}" "${COLLECT_LIBRARY:?the collect library}"
mock=$DATA/../mock/data

# record [NAME=VALUE…] -- WHAT: a run of cuda_target with these fields of the control page; its output is
# $work/out, its spools as text $work/dump.
record() {
	local fields=()
	while [ "$1" != -- ]; do
		fields+=("$1")
		shift
	done
	shift
	rm -rf "$work/run"
	"$COLLECT/make_run" "$work/run" "$COLLECT_LIBRARY" flush_ms=20 launch_stacks=100 "${fields[@]}"
	# In a shell of its own, which keeps quiet about a program that is killed.
	bash -c '"$@" >"$0/out" 2>"$0/err"; exit $?' "$work" timeout 60 \
		env RUN_OF_TEST="$work/run" HEADWAY_RUN="$work/run" LD_PRELOAD="$COLLECT_LIBRARY" \
		CUDA_INJECTION64_PATH="$COLLECT_LIBRARY" \
		HEADWAY_CUPTI="$COLLECT/mock/libcupti.so.${cupti:-13}" \
		MOCK_CUPTI_NAMES="$mock/callbacks.txt" \
		MOCK_CUPTI_DATA="$mock/${data:-mix_graph}.cupti" \
		"$COLLECT/cuda_target" "$@" 2>/dev/null
	status=$?
	"$COLLECT/dump" "$work/run" >"$work/dump" || fail "$*: the spools are broken: $(grep BROKEN "$work/dump")"
	grep -q UNDEFINED "$work/dump" && fail "$*: a text is not defined"
	[ -s "$work/err" ] && fail "$*: stderr is not empty: $(head -c 300 "$work/err")"
}

# expect_count TYPE NUMBER WHAT [PATTERN]: so many records of a type, holding PATTERN.
expect_count() {
	local n
	n=$(awk -v type="$1" '$3 == type' "$work/dump" | grep -c -- "${4:-}")
	[ "$n" = "$2" ] || fail "$3: $n records ${1}${4:+ with $4}, not $2"
}

expect_out() {
	grep -qx -- "$1" "$work/out" || fail "$2: '$1' is missing in: $(head -c 500 "$work/out")"
}

# value_of NAME: the number the program printed after NAME.
value_of() {
	sed -n "s/^$1 //p" "$work/out"
}

# Recordings of a program with three threads, graphs and events; all_apis shows that 9 calls have no role.
# CUPTI's own records of waits and events are used where it attends to all calls anyway.
for cupti in 13 11.8; do
	record -- replay
	expect_status 3 "replay"
	expect_count KERNEL 137 "replay, CUPTI $cupti"
	expect_count KERNEL 60 "names, CUPTI $cupti" 'name="_Z5scaleIfLi50EEvPT_S0_i"'
	expect_count COPY 6 "replay, CUPTI $cupti"
	expect_count FILL 2 "replay, CUPTI $cupti"
	expect_count GRAPH 4 "replay, CUPTI $cupti"
	own=$([ $cupti = 13 ] && echo 1 || echo 0)
	expect_count SYNC $((own ? 0 : 29)) "replay, CUPTI $cupti"
	expect_count EVENT $((own ? 0 : 5)) "replay, CUPTI $cupti"
	expect_count STREAM 13 "replay, CUPTI $cupti"
	expect_count CONTEXT 1 "replay, CUPTI $cupti"
	expect_count API 199 "replay, CUPTI $cupti"
	expect_count API 141 "launches, CUPTI $cupti" " runtime cbid=211 "
	expect_count DEVICE 1 "device" 'cc=9.0 sms=132 memory=150109880320 name="NVIDIA H200"'
	expect_count NAME 1 "the name of a call" 'domain=2 number=211 .*name="cudaLaunchKernel_v7000"'
	expect_count SHAPE 4 "shapes are defined once"
	expect_count DROP 0 "nothing is lost"
done
cupti=13
expect_events=$(awk '$3 == "EVENT"' "$work/dump" | grep -c 'event_sync=0$')
[ "$expect_events" = 5 ] || fail "records of CUPTI 11.8 have no sync ids, and what lies behind them is not read"
record all_apis=1 -- replay
expect_count API 208 "all calls"
expect_count SYNC 29 "all calls"
expect_count EVENT 5 "all calls"
expect_count EVENT 0 "sync ids of CUPTI 13" 'event_sync=0$'
data=mix_node record graph_nodes=1 memory_usage=1 -- replay
expect_count KERNEL 157 "graph nodes"
expect_count GRAPH 0 "graph nodes"
expect_count MEMORY 5 "memory use"
data=mix_node record -- replay
expect_count MEMORY 0 "memory use only when asked for"
data=torch record -- replay
expect_count KERNEL 63 "PyTorch"
expect_count API 3 "calls of the driver API" " driver cbid="

# Nodes of graphs: how they are made, copied and ordered, only where they are recorded one by one.
for cupti in 13 11.8; do
	record graph_nodes=1 -- graphs
	expect_status 3 "graphs"
	expect_out "watched 1 1 1" "graphs, CUPTI $cupti"
	expect_count NODE 4 "captured nodes" " created node=1:[0-3] other=0:0 graph=1 "
	expect_count NODE 4 "copies" " cloned node=2:[0-3] other=1:[0-3] graph=2 "
	expect_count NODE 4 "edges" " after node=1:[1-3] other=1:[0-2] graph=1 "
	expect_count NODE 1 "an edge" " after node=1:3 other=1:2 "
	expect_count KERNEL 8 "kernels of nodes" " graph=2 node=858993459[2-5] "
done
cupti=13
record -- graphs
expect_out "watched 0 0 0" "graphs as a whole cost nothing for their nodes"
expect_count NODE 0 "graphs as a whole"
record graph_nodes=1 recording=0 -- graphs
expect_count NODE 16 "nodes made while the recording pauses"
record graph_nodes=1 max_bytes=8388608 -- many_nodes
expect_count NODE 16384 "an eighth of the run's bytes"
expect_count DROP 1 "nodes that were left out" 'count=3616 reason="more nodes of CUDA graphs were made than are recorded"'
record -- replay
expect_count GRAPH 4 "the id of the instantiated graph" " graph=2 .*exec=2 "

# Threads, each with its own buffers, while others deliver.
record -- threads
expect_status 3 "threads"
expect_count KERNEL 20000 "threads"
expect_count API 20000 "threads"
for i in 0 1 2 3; do
	expect_count KERNEL 5000 "thread $i" "name=\"kernel_$i\""
done

# Stacks: long waits, allocations and pageable copies, not the driver's calls inside the runtime's.
record -- stacks
expect_out "inner watched 0" "a driver call made by the runtime is not watched"
expect_out "inner watched again 1" "a driver call made by the program is watched from then on"
for what in long copy "driver again"; do
	expect_count NATIVE_STACK 1 "stack of $what" "why=0 .*correlation=$(value_of "$what") "
done
expect_count NATIVE_STACK 1 "stack of an allocation" "why=1 .*correlation=$(value_of alloc) "
for what in short getter; do
	expect_count NATIVE_STACK 0 "stack of $what" "correlation=$(value_of $what) "
done
record stack_threshold=-1 -- stacks
expect_count NATIVE_STACK 0 "no stacks when not asked for"

# Waits and event records, made from callbacks: once each, whichever of runtime and driver was called, also
# without stacks; an event's waits have the number of its last record.
for threshold in 20000 -1; do
	record stack_threshold=$threshold launch_stacks=0 -- syncs
	expect_out "kinds 0 0" "CUPTI's own kinds, which slow down every call, are off"
	expect_count EVENT 3 "records of events"
	expect_count EVENT 1 "a record" "correlation=1 stream=17 context=1 event=1 event_sync=1$"
	expect_count EVENT 1 "a record of the driver's" "correlation=3 stream=17 context=1 event=2 event_sync=2$"
	expect_count EVENT 1 "a second record" "correlation=5 stream=17 context=1 event=1 event_sync=3$"
	expect_count SYNC 12 "waits"
	expect_count SYNC 1 "a stream's wait" "type=2 .*correlation=2 stream=34 context=1 event=1 event_sync=1$"
	expect_count SYNC 1 "a wait for an event" "type=1 .*correlation=4 stream=4294967295 .*event=1 event_sync=1$"
	expect_count SYNC 1 "a wait of the driver's" "type=1 .*correlation=6 .*event=1 event_sync=3$"
	expect_count SYNC 0 "a query that found work" "correlation=7 "
	expect_count SYNC 1 "a query that did not" "type=1 .*correlation=8 .*event=2 event_sync=2$"
	expect_count SYNC 1 "a wait that failed" "type=3 value=719 .*correlation=9 stream=51 .*event=4294967295 event_sync=0$"
	expect_out "inner watched 0" "a driver call made by the runtime is not watched"
	expect_count SYNC 1 "the program makes that call too" "type=3 .*correlation=10 stream=4294967295 context=1 "
	expect_out "inner watched again 1" "a driver call made by the program is watched from then on"
	expect_count SYNC 1 "the program makes that call again" "type=3 .*correlation=16 stream=85 "
	expect_count SYNC 2 "the thread's own default stream" "type=3 .*correlation=1[12] stream=8 "
	expect_count SYNC 1 "a wait for all" "type=4 .*correlation=13 stream=4294967295 context=1 event=4294967295 "
	expect_count SYNC 1 "an event that was never recorded" "type=1 .*correlation=14 .*event=3 event_sync=0$"
	expect_count SYNC 1 "a stream unknown to CUPTI" "type=3 .*correlation=15 stream=4294967295 "
done
expect_count NATIVE_STACK 0 "no stacks when not asked for"
record -- samples
n=$(grep -c 'NATIVE_STACK why=2' "$work/dump")
[ "$n" -ge 20 ] && [ "$n" -le 130 ] || fail "about 100 launch samples in a second, not $n"
record launch_stacks=0 -- samples
expect_count NATIVE_STACK 0 "no launch samples when not asked for"

# Losses are counted; a name's address that is used again is a new name.
record -- losses
expect_count DROP 1 "losses" 'count=7 reason="CUPTI had no room for records"'
expect_count DROP 1 "losses" 'count=2 reason="device work that CUPTI could not time"'
expect_count KERNEL 1 "names" 'name="reused_a"'
expect_count KERNEL 1 "names" 'name="reused_b"'
expect_count KERNEL 0 "work without times" 'name="lost"'

# A capture range; then CUPTI is detached inside a call's exit and not called again (the mock insists).
record capture=1 recording=0 -- range
expect_status 3 "range"
expect_out "kernels inside 1" "range"
expect_out "kernels after 0" "range"
expect_out "final 1" "CUPTI is detached after the range"
expect_count KERNEL 1 "range"
expect_count KERNEL 1 "range" 'name="inside"'
expect_count API 1 "range"
expect_count RECORDING 2 "range"

# A delay: recording begins when the control page says so.
record recording=0 -- delayed
expect_count KERNEL 1 "delay"
expect_count KERNEL 1 "delay" 'name="after"'
expect_count API 1 "delay"

# Forked children make no CUPTI call (the mock insists) and leave in good order.
record -- forks
expect_status 3 "forks"
[ "$(grep -cx 'child 0' "$work/out")" = 4 ] || fail "four children: $(cat "$work/out")"
expect_count KERNEL 2 "forks"
expect_count NOTE 0 "forks"

# SIGKILL: everything up to 200 ms before is there.
record -- killed
expect_status 137 "killed"
expect_count KERNEL 50 "killed"
expect_count API 50 "killed"
expect_count PROCESS 1 "a rank that the program set itself, before CUDA" "rank=5"

# Trouble: a message, and the program goes on.
MOCK_CUPTI_HANG=1 record -- losses
expect_status 3 "a flush that hangs"
expect_count NOTE 1 "a flush that hangs" "did not give its last records within 4 s"
MOCK_CUPTI_SUBSCRIBE=39 record -- replay
expect_status 3 "another subscriber"
expect_count NOTE 1 "another subscriber" "CUDA is not recorded: Another Profiler holds CUPTI"
expect_count KERNEL 0 "another subscriber"
MOCK_CUPTI_SUBSCRIBE=999 record -- replay
expect_status 3 "no driver"
expect_count NOTE 1 "no driver" "CUPTI has no driver it can use (error 999)"
record leave_cupti=1 -- rival
expect_out "rival 0" "CUPTI is left to the program"
expect_count NOTE 1 "CUPTI is left to the program" "CUPTI was left to the program"
record -- rival
expect_out "rival 39" "a profiler inside the program"
expect_count NOTE 1 "a profiler inside the program" "asked for CUPTI, which serves one tool at a time"
record traces=2 -- replay
expect_count KERNEL 0 "CUDA is not asked for"
expect_count NOTE 0 "CUDA is not asked for"

for part in abi_cupti abi_cupti_host; do
	"$COLLECT/$part" >"$work/out"
	status=$?
	[ $status = 77 ] || expect_status 0 "our declarations of CUPTI ($part)"
done
finish
