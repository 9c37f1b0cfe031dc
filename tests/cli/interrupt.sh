#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A command that is interrupted leaves nothing behind, and dies of the signal as it would have.
# shellcheck source=common.bash
source "$(dirname "$0")/common.bash"

mkdir "$work/out.d" "$work/tmp" "$work/begun"

# interrupt SIGNAL FOLDER ARGS…: runs headway and signals it as soon as there is something in FOLDER.
interrupt() {
	local signal=$1 folder=$2
	shift 2
	TMPDIR=$work/tmp "$HEADWAY" "$@" >"$work/out" 2>"$work/err" </dev/null &
	local pid=$!
	while [ -z "$(ls -A "$folder")" ] && kill -0 $pid 2>/dev/null; do :; done
	kill -s "$signal" $pid 2>/dev/null
	wait $pid
	status=$?
}

# An export that never ends: the temporary export is removed, and its folder.
cat >"$work/nsys" <<'EOF'
#!/bin/sh
while [ $# -gt 1 ]; do [ "$1" = -o ] && touch "$2"; shift; done
echo $$ >"${0%/*}/begun/pid"
exec sleep 60
EOF
chmod +x "$work/nsys"
printf 'NVIDIA Tegra Profiler Report 2025@3@2@1\n' >"$work/run.nsys-rep"
for signal in INT TERM HUP; do
	rm -f "$work/begun/pid"
	expected=$((128 + $(kill -l $signal)))
	set -m # without it, background jobs begin with SIGINT ignored, and headway keeps it so
	NSYS=$work/nsys interrupt $signal "$work/begun" info "$work/run.nsys-rep"
	set +m
	[ $status = $expected ] || fail "SIG$signal while exporting: status $status, not $expected"
	[ -z "$(ls -A "$work/tmp")" ] || fail "SIG$signal while exporting left: $(ls -AR "$work/tmp")"
	kill "$(cat "$work/begun/pid")" 2>/dev/null
done

# A report half written: what is there under its name is whole, and nothing else is there.
{
	printf '{"traceEvents": [\n'
	awk 'BEGIN {for (i = 1; i < 60000; i++) printf "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k%d\", \"pid\": 0, \"tid\": 7, \"ts\": %d, \"dur\": %d, \"args\": {\"stream\": %d, \"correlation\": %d}},\n", i % 5000, i * 10 + i % 7, i % 9, i % 50, i}'
	printf '{}]}\n'
} >"$work/trace.json"
for _ in 1 2 3 4; do
	interrupt TERM "$work/out.d" convert "$work/trace.json" -o "$work/out.d/a.hwy"
	if [ -e "$work/out.d/a.hwy" ]; then
		run info "$work/out.d/a.hwy"
		expect_status 0 "a report that was finished before the signal"
		rm "$work/out.d/a.hwy"
	elif [ $status != 143 ]; then
		fail "convert after SIGTERM: status $status"
	fi
	if [ -n "$(ls -A "$work/out.d")" ]; then
		fail "convert after SIGTERM left: $(ls -A "$work/out.d")"
		rm -rf "$work/out.d"
		mkdir "$work/out.d"
	fi
done

# headway profile while it makes the report: one line says where the recording is, and the recording is whole.
# report_begins: leaves the pid of a headway that makes a report in $pid.
report_begins() {
	rm -rf "$work/tmp" "$work/done" "$work/r.hwy"
	mkdir "$work/tmp"
	set -m
	TMPDIR=$work/tmp "$HEADWAY" profile -q -t osrt --osrt-threshold 0 -o "$work/r" \
		sh -c 'dd if=/dev/zero of=/dev/null bs=1 count=150000 2>/dev/null; echo >"$0"; exit 3' "$work/done" \
		>"$work/out" 2>"$work/err" </dev/null &
	pid=$!
	set +m
	while [ ! -s "$work/done" ]; do sleep 0.02; done
	sleep 0.1 # the program has ended, and the report is being made
}
# stopped NAME STATUS: headway ended with this status, said that SIGNAME stopped it, and the recording is whole.
stopped() {
	{ wait $pid; } 2>/dev/null
	status=$?
	if [ -e "$work/r.hwy" ]; then # the signal came when the report was there, or when headway had ended
		[ $status = 3 ] || expect_status "$2" "SIG$1 after the report"
		return
	fi
	caught=$((caught + 1))
	expect_status "$2" "SIG$1 while the report is made"
	local directory
	directory=$(echo "$work"/tmp/headway-*)
	grep -qE "^headway: stopped by SIG$1[;,].* the recording is kept: headway recover $directory\$" "$work/err" &&
		[ "$(wc -l <"$work/err")" = 1 ] || fail "SIG$1 while the report is made: $(cat "$work/err")"
	run recover -f -o "$work/r" "$directory"
	expect_status 0 "recover after SIG$1"
	[ "$("$HEADWAY" stats -r osrt_sum --format csv "$work/r.hwy" | awk -F, '$NF ~ /read|write/ { n += $3 } END { print n + 0 }')" \
		-ge 300000 ] || fail "recover after SIG$1: $("$HEADWAY" stats -r osrt_sum --format csv "$work/r.hwy")"
	[ -z "$(ls -A "$work/tmp")" ] || fail "recover after SIG$1 left $(ls -A "$work/tmp")"
}
if command -v dd >/dev/null; then
	caught=0
	for signal in INT TERM QUIT; do
		report_begins
		kill -s $signal $pid 2>/dev/null
		stopped $signal $((128 + $(kill -l $signal)))
	done
	report_begins
	kill -s INT -- -$pid 2>/dev/null # Ctrl-C
	stopped INT 130
	# What ends the process that makes the report does not change the exit status: memory that runs out, a bug.
	for signal in KILL SEGV; do
		report_begins
		child=$(cat "/proc/$pid/task/$pid/children" 2>/dev/null)
		[ -n "$child" ] && kill -s $signal $child 2>/dev/null
		stopped $signal 3
	done
	[ $caught -gt 0 ] || echo "no signal came while the report was made: that part was not tested"
fi
finish
