#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Waits for the lock that Python's threads share (GIL), of every Python at hand: two threads that compute wait for each
# other, at their line; nothing else is recorded by -t python, and a program with one thread waits for nobody.
source "$(dirname "$0")/common.bash"
mapfile -t found < <(pythons)
if [ ${#found[@]} = 0 ]; then
	echo "SKIP: no Python of 3.10 to 3.14"
	exit 77
fi

# The threads compute until each has seen the other one at work ten times: only by then each has waited for the other.
cat >"$work/fight.py" <<'END'
import sys, threading

turns = [0, 0]
last = [None]
sys.setswitchinterval(0.002)

def compute(me):
    while min(turns) < 10:
        if last[0] != me:
            last[0] = me
            turns[me] += 1
        sum(range(2000))

threads = [threading.Thread(target=compute, args=(me,)) for me in (0, 1)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print("done")
END

# check: what the waits must be like, of the thread's OS calls in a CSV file.
check() {
	/usr/bin/env python3 - "$work/csv/os.csv" "$1" <<-'END'
		import collections, csv, sys
		rows = list(csv.DictReader(open(sys.argv[1])))
		names = collections.Counter(row["name"] for row in rows)
		waits = collections.defaultdict(list)
		for row in rows:
		    if row["name"] == "GIL":
		        waits[row["tid"]].append((int(row["start"]), int(row["start"]) + int(row["duration"]), row["stack"]))
		often = [tid for tid in waits if len(waits[tid]) >= 5]
		if len(often) < 2:
		    print("fewer than two threads waited: %s" % {tid: len(waits[tid]) for tid in waits})
		for tid in often:
		    ordered = sorted(waits[tid])
		    if any(a[1] > b[0] for a, b in zip(ordered, ordered[1:])):
		        print("two waits of a thread overlap")
		# The main thread waits, too, while it starts the others.
		if sum(any("compute" in stack for _, _, stack in waits[tid]) for tid in often) < 2:
		    print("no wait names its function")
		if sys.argv[2] == "alone" and set(names) - {"GIL", "pthread_cond_signal", "pthread_cond_broadcast"}:
		    print("other calls are recorded: %s" % names)
		if sys.argv[2] == "beside" and len(names) < 4:
		    print("OS calls are missing: %s" % names)
	END
}

for one in "${found[@]}"; do
	read -r python name _ <<<"$one"
	if "$python" -c 'import sysconfig, sys; sys.exit(not sysconfig.get_config_var("Py_GIL_DISABLED"))'; then
		continue
	fi
	for trace in python osrt,python-gil; do
		# On a busy machine a thread may wait so shortly that none of its waits has a stack: then the threads fight again.
		for _ in {1..10}; do
			run profile -q -f -o "$work/report.hwy" -t $trace "$python" "$work/fight.py"
			expect_status 0 "$name"
			expect_line "$work/out" done "$name: output"
			"$HEADWAY" export -t csv -f -o "$work/csv" --kinds os "$work/report.hwy" >/dev/null 2>&1 || fail "export"
			wrong=$(check "$([ $trace = python ] && echo alone || echo beside)")
			[[ $wrong == "no wait names"* ]] || break
		done
		[ -z "$wrong" ] || fail "$name, -t $trace: $wrong"
	done
done

# --- one thread has nobody to wait for
read -r python _ <<<"${found[0]}"
run profile -q -f -o "$work/report.hwy" -t python "$python" -c 'print(sum(range(1000000)))'
expect_line "$work/out" 499999500000 "a single thread"
run stats "$work/report.hwy" -r osrt_sum
! grep -q GIL "$work/out" || fail "a single thread waits: $(cat "$work/out")"
finish
