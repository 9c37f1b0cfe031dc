#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a program recorded is there however it ended, and the program did not notice.
source "$(dirname "$0")/collect.bash"
target=$COLLECT/target

# --- ways to end
for ending in exit:7 quick_exit:7 _exit:7 kill:137 abort:134 segv:139; do
	record bash -c '"$0" loop 20000 "$1"' "$target" "${ending%:*}" 2>/dev/null
	expect_status "${ending#*:}" "${ending%:*}"
	expect_count 20000 ' PUSH ' "${ending%:*}: pushes"
	expect_count 20000 ' POP ' "${ending%:*}: pops"
	expect_count 1 ' MARK .*"the last one"' "${ending%:*}: the last record"
	[ "$(dropped)" = 0 ] || fail "${ending%:*}: $(dropped) records dropped"
done

# --- SIGKILL from outside, at any moment: everything up to then is whole
run_directory=$work/killed
"$COLLECT/make_run" "$run_directory" "$COLLECT_LIBRARY"
for wait in 0.05 0.1 0.2; do
	HEADWAY_RUN=$run_directory LD_PRELOAD=$COLLECT_LIBRARY NVTX_INJECTION64_PATH=$COLLECT_LIBRARY \
		"$target" loop 2000000000 &
	pid=$!
	sleep "$wait"
	kill -KILL $pid
	wait $pid 2>/dev/null
	dump
	[ "$(count "^$pid .* PUSH ")" -gt 1000 ] || fail "killed after $wait s: only $(count "^$pid .* PUSH ") pushes"
	rm -f "$run_directory"/*.spool
done
unset run_directory

# --- threads: their names, and what they record while they end
record "$target" threads 1000
expect_status 0 "threads"
expect_count 4000 ' PUSH ' "threads: pushes"
expect_count 4 ' THREAD .*name="worker"' "threads: names"
expect_count 4 ' THREAD .*name="renamed"' "threads: last names"
expect_count 8 ' MARK .*"from a destructor"' "threads: marks of destructors"

# --- short threads go on in the spools of threads that have ended: few files and bytes, each record its thread's
run profile -q -f true -o "$work/short" -t osrt "$COLLECT/fill" threads 2000 40
expect_status 0 "short threads"
run info "$work/short.hwy"
grep -q ' 2001 threads' "$work/out" || fail "short threads: $(grep threads "$work/out")"
grep -q 'Dropped  *nothing' "$work/out" || fail "short threads: $(grep Dropped "$work/out")"
# A stack that an earlier thread of the spool recorded is told by its number.
"${OS_OF:?prints OS calls}" "$work/short.hwy" >"$work/calls"
awk '$4 == "usleep" && $6 >= 80000 { calls++; stacks += /sleep_shortly/ } END { exit !(calls > 0 && calls == stacks) }' "$work/calls" ||
	fail "short threads: not every call that is long enough has its stack"
kept=$work/kept
mkdir "$kept"
TMPDIR=$kept "$HEADWAY" profile -q -f true -o "$work/short" -t osrt \
	sh -c '"$0" threads 2000 40; exec kill -KILL $PPID' "$COLLECT/fill" 2>/dev/null
files=$(find "$kept" -name '*.spool' | wc -l)
bytes=$(($(du -sk "$kept" | cut -f1) * 1024))
[ "$files" -le 50 ] || fail "2000 short threads, 40 at a time: $files files"
[ "$bytes" -le 8000000 ] || fail "2000 short threads, 40 at a time: $bytes bytes"

# --- signal handlers that record in the middle of a record
record "$target" signals 300000
expect_status 0 "signals"
[ "$(count ' PUSH ')" -ge 300000 ] || fail "signals: $(count ' PUSH ') pushes"

# --- no room: dropped and counted, nothing else
record "$target" size_limit 20000
expect_status 0 "a limit on file sizes"
[ $(($(count ' (PUSH|POP) ') + $(dropped))) -ge 40000 ] || fail "a limit on file sizes: not all dropped records are counted"
[ "$(count ' PUSH ')" -gt 1000 ] || fail "a limit on file sizes: what fits is kept"
mkdir "$work/small"
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=600k tmpfs "$work/small" 2>/dev/null; then
	run_directory=$work/small
	record "$target" loop 20000
	umount "$work/small"
	unset run_directory
	expect_status 7 "a full disk"
	[ "$(count ' PUSH ')" -gt 1000 ] || fail "a full disk: what fits is kept"
	[ $(($(count ' (PUSH|POP) ') + $(dropped))) -ge 40000 ] || fail "a full disk: not all dropped records are counted"
else
	echo "no tmpfs can be mounted here: the full disk is left out"
fi

# --- the program's own: descriptors, output, exit status without a run
record "$target" descriptors 20000
"$target" descriptors 20000 </dev/null >"$work/plain"
cmp -s "$work/out" "$work/plain" || fail "descriptors: $(cat "$work/out"), not $(cat "$work/plain")"
for directory in "$work/nowhere" "" "relative" "$work"; do
	HEADWAY_RUN=$directory LD_PRELOAD=$COLLECT_LIBRARY NVTX_INJECTION64_PATH=$COLLECT_LIBRARY \
		"$target" loop 10 >"$work/out" 2>"$work/err"
	status=$?
	expect_status 7 "no run in '$directory'"
	[ ! -s "$work/out" ] && [ ! -s "$work/err" ] || fail "no run in '$directory': something was printed"
done
finish
