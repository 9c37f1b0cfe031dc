#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Python stacks of every version at hand, with and without the GIL: functions, lines, threads, generators.
source "$(dirname "$0")/collect.bash"
library=$COLLECT/libheadway-collect-stacks.so

cat >"$work/stacks.py" <<'END'
import os, threading

class Model:
    def forward(self, n):
        if n:
            return self.forward(n - 1)
        return os.getloadavg()

def generate():
    yield Model().forward(2)

def straße():
    with open("/dev/null", "w") as f:
        os.fsync(
            f.fileno())

for _ in generate():
    pass
straße()
thread = threading.Thread(target=lambda: straße())
thread.start()
thread.join()
for _ in range(100):
    (lambda:
        os.getloadavg())()
exec(compile("\n" * 299 + "os.getloadavg()", "made up", "exec"))
source = "def later():\n" + "    x = 1\n" * 1000 + "    os.getloadavg()\n"
exec(compile(source, "long", "exec"))
later()
print("done")
END

# A thread as small as Python makes them, and functions that were not met before.
cat >"$work/small.py" <<'END'
import os, threading
threading.stack_size(32768)
for i in range(8):
    space = {"os": os}
    exec("def new_%d():\n os.getloadavg()" % i, space)
    thread = threading.Thread(target=space["new_%d" % i])
    thread.start()
    thread.join()
print("done")
END

tested=0
mapfile -t found < <(pythons)
for one in "${found[@]}"; do
	read -r python name forward <<<"$one"
	tested=$((tested + 1))
	record "$python" "$work/stacks.py"
	expect_status 0 "$name"
	expect_line "$work/out" done "$name: output"
	[ ! -s "$work/err" ] || fail "$name: $(head -c 500 "$work/err")"
	frame() { printf '\\[ at="%s":%d offset=[0-9]+\\]' "$1" "$2"; }
	# With the GIL: recursion, a generator, the module.
	expect_count 1 "PYTHON_STACK why=0 .*frames=5 $(frame $forward 7) $(frame $forward 6) $(frame $forward 6) $(frame generate 10) $(frame '<module>' 17)\$" "$name: recursion in a generator"
	# Without it; 3.10 to 3.13 agree on the line of a call over two lines.
	expect_count 1 "PYTHON_STACK why=2 .*frames=2 $(frame straße 14) $(frame '<module>' 19)\$" "$name: without the GIL"
	expect_count 1 "PYTHON_STACK why=2 .* $(frame straße 14) $(frame '<lambda>' 20) .*" "$name: another thread"
	expect_count 100 "PYTHON_STACK why=0 .*frames=2 $(frame '<lambda>' 25) " "$name: a hundred in a loop"
	expect_count 1 "PYTHON_STACK why=0 .* $(frame '<module>' 300) $(frame '<module>' 26)\$" "$name: compiled code"
	expect_count 1 "PYTHON_STACK why=0 .* $(frame later 1002) $(frame '<module>' 29)\$" "$name: a long table"
	expect_count 1 " PROCESS .*python=30[a-f]" "$name: the version is told"
	expect_count "$(count PYTHON_STACK)" " NATIVE_STACK " "$name: a native stack each"
	# The hundred come from one place and are told by its number.
	[ "$(count ' NATIVE_STACK .*bytes=0 number=[1-9]')" -ge 95 ] || fail "$name: stacks are told again and again"
	[ "$(count ' NATIVE_STACK .*bytes=[1-9]')" -ge 5 ] || fail "$name: too few native stacks"
	if awk '$3 == "NATIVE_STACK" { split($9, n, "="); if ($8 != "bytes=0") told[$2 n[2]] = 1
	        else if (!told[$2 n[2]]) bad = 1 } END { exit !bad }' "$work/dump"; then
		fail "$name: the number of a stack that was not told"
	fi
	record "$python" "$work/small.py"
	expect_status 0 "$name: small threads"
	expect_line "$work/out" done "$name: output of small threads"
done

# An interpreter that was opened, used and closed again is not called any more.
cat >"$work/closed.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int n, char **words)
{
	double loads[1];
	void *python = dlopen(words[1], RTLD_NOW);
	int *calls = dlsym(python, "calls");
	getloadavg(loads, 1); /* found; it is given some time */
	usleep(50000);
	getloadavg(loads, 1);
	printf("%d\n", *calls);
	dlclose(python);
	getloadavg(loads, 1);
	puts("alive");
	return 0;
}
END
cat >"$work/fake.c" <<'END'
const unsigned long Py_Version = 0x030b02f0;
char _PyRuntime[65536];
int calls;
int _Py_IsFinalizing(void) { return 0; }
void *PyGILState_GetThisThreadState(void) { calls++; return 0; }
END
if "${CC:-cc}" -w -o "$work/closed" "$work/closed.c" && "${CC:-cc}" -w -shared -fPIC -o "$work/fake.so" "$work/fake.c"; then
	record "$work/closed" "$work/fake.so"
	expect_status 0 "an interpreter that is closed again"
	[ "$(tr '\n' ' ' <"$work/out")" = "1 alive " ] || fail "an interpreter that is closed again: $(cat "$work/out")"
fi
if [ "$tested" = 0 ]; then
	echo "SKIP: no Python 3.10 to 3.14 here"
	exit 77
fi
echo "$tested interpreters"
finish
