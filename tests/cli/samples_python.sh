#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Samples of Python programs name the Python function that works, in every version at hand.
source "$(dirname "$0")/common.bash"
: "${SAMPLES_OF:?prints samples}"
cd "$work" || exit 1

cat >busy.py <<'END'
import threading, time

class Model:
    def forward(self, seconds):
        end, x = time.process_time() + seconds, 0
        while time.process_time() < end:
            for i in range(2000):
                x += i * i
        return x

def step():
    return Model().forward(0.5)

def deep(n):
    return n if n < 2 else deep(n - 1) + deep(n - 2)

step()
thread = threading.Thread(target=deep, args=(26,), name="deep")
thread.start()
thread.join()
print("done")
END

tested=0
mapfile -t found < <(pythons)
for one in "${found[@]}"; do
	read -r python name forward <<<"$one"
	run profile -f true -o run -s process-tree "$python" busy.py
	expect_status 0 "$name: $(cat err)"
	expect_line out done "$name: output"
	if grep -q 'are not recorded' err; then
		echo "SKIP: $(grep 'are not recorded' err)"
		exit 77
	fi
	tested=$((tested + 1))
	"$SAMPLES_OF" run.hwy >seen || fail "samples_of"
	read -r all python_ right recursive <<<"$(awk -v forward="$forward" '
		/^sample/ { n++
			if (/busy.py/) p++
			if (index($0, forward " busy.py:") && / < step busy.py:12 < <module> busy.py:17/) k++
			if (/deep busy.py:15 < deep busy.py:15 /) d++ }
		END { print n + 0, p + 0, k + 0, d + 0 }' seen)"
	if [ "$python_" = 0 ] && ! grep -q ' 0$' /proc/sys/kernel/yama/ptrace_scope 2>/dev/null && [ -e /proc/sys/kernel/yama/ptrace_scope ]; then
		echo "SKIP: process_vm_readv is not permitted here"
		exit 77
	fi
	# A busy machine lets the parent look too late now and then.
	[ "$right" -ge 100 ] && [ $((right * 5)) -ge "$all" ] ||
		fail "$name: $right of $all samples are in $forward; $(cut -d' ' -f4- seen | sort | uniq -c | sort -rn | head -3)"
	[ "$recursive" -ge 1 ] || fail "$name: none in the recursion of the thread"
	[ $((python_ * 4)) -ge "$all" ] || fail "$name: only $python_ of $all have frames of busy.py"
done
if [ "$tested" = 0 ]; then
	echo "SKIP: no Python 3.10 to 3.14 here"
	exit 77
fi
echo "$tested interpreters"
finish
