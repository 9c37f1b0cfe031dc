#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# NVTX ranges of a C program, through NVIDIA's own headers, without a GPU.
source "$(dirname "$0")/collect.bash"
target=$COLLECT/nvtx_target
if [ ! -x "$target" ]; then
	echo "SKIP: NVIDIA's NVTX headers were not there when the tests were built"
	exit 77
fi

"$target" || fail "without the collector"
record "$target"
expect_status 0 "what NVTX gives back: $(cat "$work/out")"
expect_count 4 ' PUSH ' "pushes"
expect_count 4 ' POP ' "pops: one too many is not recorded"
expect_count 1 ' PUSH .*message="inner ü€"' "a wide message"
expect_count 1 ' PUSH .*domain=0 category=7 color=ff00ff80 payload=3:4004000000000000 message="decorated"' "attributes"
expect_count 1 ' PUSH .*domain=1 .*payload=5:fffffffd message="registered"' "a registered message in a domain"
expect_count 1 ' NAME of=domain domain=1 .*name="library"' "the domain's name"
expect_count 1 ' NAME of=category domain=0 number=7 .*name="the seventh"' "a category"
expect_count 1 ' NAME of=category domain=1 number=7 .*name="its own seventh"' "a domain's category"
expect_count 1 ' THREAD .*flags=1 name="the only one"' "a named thread"
expect_count 3 ' RANGE_START ' "start/end ranges"
expect_count 3 ' RANGE_END ' "their ends"
expect_count 2 ' MARK ' "marks"

# --- handles of the parent in a forked child
record "$target" fork
child=$(awk '/PUSH/ { print $1 }' "$work/dump")
expect_count 1 "^$child .* PUSH .*message=\"registered before\"" "a string registered before the fork"
expect_count 1 "^$child .* NAME of=domain domain=1 .*name=\"library\"" "a domain made before the fork"

# --- capture ranges
for range in step@train 'step@*'; do
	record capture=2 recording=0 "nvtx_range=$range" -- "$target" capture 3
	expect_count 1 ' PUSH .*message="step"' "$range: one range"
	expect_count 1 ' PUSH .*message="work"' "$range: what is in it"
	expect_count 0 ' MARK ' "$range: nothing else"
	expect_count 2 ' RECORDING ' "$range: begins and ends"
done
for range in step step@other stepp@train ste@train; do
	record capture=2 recording=0 "nvtx_range=$range" -- "$target" capture 3
	expect_count 0 ' (PUSH|POP|MARK) ' "$range does not match"
done
record capture=2 recording=0 capture_end=1 repeats=2 nvtx_range=step@train -- "$target" capture 3
expect_count 2 ' PUSH .*message="step"' "repeated twice"
record capture=2 recording=0 capture_end=1 nvtx_range=step@train -- "$target" capture 3
expect_count 3 ' PUSH .*message="step"' "repeated without end"

# --- not asked for
record traces=1 -- "$target" loop 1000
expect_count 0 ' (PUSH|POP) ' "traces without NVTX"
record recording=0 -- "$target" loop 1000
expect_count 0 ' (PUSH|POP) ' "not recording"

# --- a Python program, and two copies of NVTX in one process
if python=$(python3 -c 'import ctypes, sys; print(sys.executable)' 2>/dev/null); then
	cp "$COLLECT/libnvtx-library.so" "$work/second.so"
	cat >"$work/ranges.py" <<-'END'
		import ctypes, sys, threading
		first, second = (ctypes.CDLL(path) for path in sys.argv[1:])
		def work():
		    for i in range(100):
		        first.library_push(b"iteration %d" % (i % 3))
		        level = second.library_push("größer".encode())
		        assert level == 1, level
		        second.library_pop()
		        first.library_pop()
		threads = [threading.Thread(target=work) for _ in range(3)]
		for thread in threads: thread.start()
		work()
		for thread in threads: thread.join()
	END
	record "$python" "$work/ranges.py" "$COLLECT/libnvtx-library.so" "$work/second.so"
	expect_status 0 "Python: $(cat "$work/err")"
	expect_count 400 ' PUSH .*message="größer"' "Python: ranges of the second copy"
	expect_count 400 ' PUSH .*message="iteration [012]"' "Python: ranges of the first"
	expect_count 800 ' POP ' "Python: pops"
	[ "$(awk '/PUSH/ { print $2 }' "$work/dump" | sort -u | wc -l)" = 4 ] || fail "Python: threads"
fi
finish
