#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# CPU samples and scheduling, all the way: taken by the kernel, kept by the parent, unwound and named in the report.
source "$(dirname "$0")/common.bash"
: "${COLLECT:?the folder of test programs}" "${SAMPLES_OF:?prints samples}"
cd "$work" || exit 1

# take NAME OPTIONS… PROGRAM: records it with process-tree samples; what is in the report is in the file 'seen'.
take() {
	local name=$1
	shift
	run profile -f true -o "$name" -s process-tree "$@"
	"$SAMPLES_OF" "$name.hwy" >seen || fail "samples_of $name.hwy"
}

percent() { # percent PATTERN [PATTERN OF ALL]: of the samples
	awk -v want="$1" -v all="${2:-^sample}" '$0 ~ all && /^sample/ { n++; if ($0 ~ want) k++ }
		END { print n ? int(100 * k / n) : 0 }' seen
}

expect_percent() { # expect_percent LEAST PATTERN WHAT [PATTERN OF ALL]
	local got
	got=$(percent "$2" "${4:-^sample}")
	[ "$got" -ge "$1" ] || fail "$3: $got % of the samples, not $1 %: $(cut -d' ' -f4- seen | sort | uniq -c | sort -rn | head -5)"
}

# Options are refused before anything is started, wherever that is.
run profile -s everything true
expect_status 2 "an unknown scope"
for value in 99 8001 many; do
	run profile -s process-tree --sampling-frequency=$value true
	expect_status 2 "--sampling-frequency=$value"
done
run profile -s process-tree --backtrace=magic true
expect_status 2 "an unknown backtrace"

take hot "$COLLECT/burn" hot
expect_status 7 "burn hot: $(cat err)"
expect_line out done "the program's output"
if grep -q 'are not recorded' err; then
	grep -q 'sudo sysctl kernel.perf_event_paranoid=2\|perf_event_open' err ||
		fail "it is not said why: $(cat err)"
	[ "$bad" = 0 ] || exit 1
	echo "SKIP: perf_event_open is not permitted here: $(grep 'are not recorded' err)"
	exit 77
fi

# ---- where: the function, its caller without frame pointers, the line

has_dw=$(ldconfig -p 2>/dev/null | grep -c 'libdw\.so\.1')
lines='(prepare|spin) burn.c:[0-9]+'
expect_percent 80 '^sample [0-9]+ burn .*(spin|prepare)' "the hot function"
if [ "$has_dw" != 0 ]; then
	expect_percent 80 '^sample [0-9]+ burn spin burn.c:[0-9]+ < prepare burn.c:[0-9]+ < main burn.c:[0-9]+' \
		"the hot function, its callers and their lines"
	take fp --backtrace=fp "$COLLECT/burn" hot
	expect_percent 80 "$lines" "by frame pointers"
	take none --backtrace=none "$COLLECT/burn" hot
	expect_percent 80 "$lines" "without callers"
	grep -q '^sample.* < ' seen && fail "--backtrace=none has callers"
	take static "$COLLECT/burn_static" hot
	expect_status 7 "a static program"
	expect_percent 80 'spin burn.c:[0-9]+ < prepare burn.c:[0-9]+ < main ' "a static program"
fi
run profile -f true -o lbr -s process-tree --backtrace=lbr --sampling-period=1000000 "$COLLECT/burn" idle 10
grep -q 'frame pointers' err || fail "--backtrace=lbr says nothing: $(cat err)"

run stats -r cpu_sample_sum --format csv hot.hwy
expect_status 0 "cpu_sample_sum"
sed -n 2p out | grep -qE ',(spin|prepare),.*/burn$' || fail "cpu_sample_sum: $(head -3 out)"

# ---- threads and processes

take threads "$COLLECT/burn" threads
expect_percent 80 'left_half' "the thread 'left'" '^sample [0-9]+ left '
expect_percent 80 'right_half' "the thread 'right'" '^sample [0-9]+ right '
for program in burn burn_static; do
	take children "$COLLECT/$program" children
	expect_status 7 "$program: children"
	pids=$(awk '/^sample.* (spin|prepare) (burn.c)?:/ { print $2 }' seen | sort -u | wc -l)
	[ "$pids" = 2 ] || fail "$program: samples of $pids children, not 2"
done

# ---- when: a thread's states follow one another from its begin to its end

take sleeper "$COLLECT/burn" sleeper
awk '/^state/ && $4 == "sleeper" && $7 == "waiting" { t += $6 - $5 } END { print int(t / 1e6) }' seen >waited
[ "$(cat waited)" -ge 480 ] && [ "$(cat waited)" -le 900 ] || fail "it slept for 500 ms and waits $(cat waited)"
awk '/^state/ && $4 == "sleeper" && $7 == "running" { t += $6 - $5 } END { exit !(t > 5e6) }' seen ||
	fail "the sleeper does not run: $(grep sleeper seen | head -5)"
for report in sleeper threads children; do
	"$SAMPLES_OF" $report.hwy | awk -v report=$report '/^state/ { who = $2 " " $3
		if (who == last && $5 != end) { print report, "at", $0, "not at", end; bad = 1 }
		last = who; end = $6 } END { exit bad }' || fail "$report: states overlap or leave gaps"
done
run stats -r thread_state_sum --format csv sleeper.hwy
expect_status 0 "thread_state_sum"
grep -qE '^[0-9]+,[0-9]+,waiting,.*,sleeper$' out || fail "thread_state_sum: $(cat out)"
run profile -f true -o off -s process-tree --cpuctxsw=none "$COLLECT/burn" hot
"$SAMPLES_OF" off.hwy | grep -q '^state' && fail "--cpuctxsw=none has states"
run profile -f true -o only --cpuctxsw=process-tree "$COLLECT/burn" sleeper
"$SAMPLES_OF" only.hwy >seen
grep -q '^sample' seen && fail "samples that nobody asked for"
grep -q '^state' seen || fail "--cpuctxsw alone has no states"

# Only what was recorded: the second half.
run profile -f true -o late -y 0.15 -s process-tree "$COLLECT/burn" hot
"$SAMPLES_OF" late.hwy >seen
awk '/^state/ && $5 < 150e6 { bad = 1; print } END { exit bad }' seen || fail "--delay: what was before"
n=$(grep -c '^sample' seen)
[ "$n" -gt 5 ] || fail "--delay: $n samples"

# What the kernel's rings had no room for, while nobody looked, is counted.
"$HEADWAY" profile -f true -o lost -s process-tree "$COLLECT/burn" ping >out 2>err </dev/null &
pid=$!
child=
for _ in $(seq 500); do
	# before it has this name it waits for its parent
	child=$(grep -ls "^PPid:[[:space:]]*$pid\$" /proc/[0-9]*/status | xargs -r grep -ls '^Name:.*burn' | head -1)
	[ -n "$child" ] && break
	sleep 0.01
done
kill -STOP $pid
for _ in $(seq 1000); do # until it has ended, so that the ring is surely full
	grep -qs 'State:.*Z' "$child" && break
	sleep 0.05
done
kill -CONT $pid
wait $pid
status=$?
expect_status 7 "nobody looked"
grep -q ' records lost' err || fail "nothing is lost, they say: $(cat err)"
run info lost.hwy
grep -q "no room for samples and switches in the kernel's ring" out || fail "lost for no reason: $(tail -3 out)"

# ---- who is not allowed to see everything

for number in 1 38; do # EPERM and ENOSYS, as containers have it
	"$COLLECT/no_perf" $number "$HEADWAY" profile -f true -o not -s process-tree "$COLLECT/burn" hot >out 2>err </dev/null
	status=$?
	[ "$status" = 77 ] && break
	expect_status 7 "errno $number"
	expect_line out done "errno $number: the program's output"
	[ "$(grep -c 'are not recorded: perf_event_open is not permitted' err)" = 1 ] || fail "errno $number: $(cat err)"
	run info --all not.hwy
	grep -q 'perf_event_open' out || fail "errno $number: the report does not say it: $(cat out)"
done

if [ "$(id -u)" = 0 ] && id nobody >/dev/null 2>&1 && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 0 ] &&
	chmod 711 . && mkdir -m 777 other && command -v su >/dev/null &&
	su nobody -s /bin/sh -c "test -x $HEADWAY && test -x $COLLECT/burn"; then
	su nobody -s /bin/sh -c "cd $work/other && $HEADWAY profile -o n -s system-wide $COLLECT/burn hot" \
		>out 2>err </dev/null
	status=$?
	expect_status 7 "as nobody"
	expect_line out done "as nobody: the program's output"
	[ "$(grep -c 'sudo sysctl kernel.perf_event_paranoid=0' err)" = 1 ] || fail "as nobody: $(cat err)"
	run info --all other/n.hwy
	grep -q 'perf_event_paranoid' out || fail "the report does not say it: $(cat out)"
fi

# ---- wake-ups, where the tracepoint may be used

if unshare -m true 2>/dev/null &&
	unshare -m sh -c 'mount -t tracefs tracefs /sys/kernel/tracing && cat /sys/kernel/tracing/events/sched/sched_wakeup/id' \
		>/dev/null 2>&1; then
	unshare -m sh -c "mount -t tracefs tracefs /sys/kernel/tracing && $HEADWAY profile -f true -o wake -s process-tree $COLLECT/burn pipe" \
		>out 2>err </dev/null
	"$SAMPLES_OF" wake.hwy >seen
	writer=$(awk '/^state/ && $4 == "writer" { print $3; exit }' seen)
	main=$(awk '/^state/ && $4 == "burn" { print $3; exit }' seen)
	n=$(grep -c "^wake $writer $main\$" seen)
	[ "$n" -ge 40 ] || fail "the writer wakes the main thread 50 times: $n; $(grep -c ^wake seen) in all; $(cat err)"
else
	echo "not tried: wake-ups (no tracefs here)"
fi
finish
