#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A thread of XLA that works for the only thread of Python has that thread's stack; any other thread without Python has none.
source "$(dirname "$0")/collect.bash"
library=$COLLECT/libheadway-collect-stacks.so

cat >"$work/served.py" <<'END'
import ctypes, os, sys, threading

libc = ctypes.CDLL(None)
if "xla" in sys.argv:
    ctypes.CDLL(sys.argv[1] + "/xla_extension.so")
for _ in range(40):
    os.getloadavg()

def fetch(fd):
    thread = ctypes.c_ulong()
    libc.pthread_create(ctypes.byref(thread), None, libc.fsync, ctypes.c_void_p(fd))
    libc.pthread_join(thread, None)

def two_threads():
    done = threading.Event()
    other = threading.Thread(target=done.wait)
    other.start()
    fetch(null.fileno())
    done.set()
    other.join()

with open("/dev/null", "w") as null:
    for _ in range(3):
        fetch(null.fileno())
    if "several" in sys.argv:
        two_threads()
print("done")
END
cp "$(ldconfig -p | awk '/libdl\.so\.2 .*x86-64/ { print $NF; exit }')" "$work/xla_extension.so" || fail "no library to copy"

# served NUMBER WHAT PYTHON ARGUMENTS…: so many threads without Python have the stack of fetch().
served() {
	local number=$1 what=$2
	shift 2
	record "$1" "$work/served.py" "$work" "${@:2}"
	expect_status 0 "$what"
	expect_line "$work/out" done "$what: output"
	[ ! -s "$work/err" ] || fail "$what: $(head -c 500 "$work/err")"
	expect_count "$number" 'PYTHON_STACK why=2 .*frames=2 \[ at="fetch":1[12] offset=[0-9]+\] \[ at="<module>":24 ' "$what"
}

mapfile -t found < <(pythons)
for one in "${found[@]}"; do
	read -r python name _ <<<"$one"
	served 3 "$name: threads of XLA" "$python" xla
	served 0 "$name: other threads" "$python"
	# The fourth has none: it is not known for which of two threads it works.
	served 3 "$name: two threads of Python" "$python" xla several
	expect_count 3 'PYTHON_STACK why=2 ' "$name: two threads of Python"
done
[ ${#found[@]} -gt 0 ] || { echo "SKIP: no Python whose stacks can be read"; exit 77; }
