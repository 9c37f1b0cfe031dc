#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every process of a tree registers, whatever made it and whatever environment it was given.
source "$(dirname "$0")/collect.bash"
target=$COLLECT/target

# --- forks
record "$target" fork 3
expect_status 0 "fork"
expect_count 15 ' PROCESS ' "fork: processes"
expect_count 15 ' MARK .*"a node"' "fork: marks"
expect_count 20 ' PUSH ' "fork: the parent's ranges, once"
expect_count 15 ' EXIT ' "fork: children that _exit say so"
[ "$(ls "$work/run"/*.spool | wc -l)" = 15 ] || fail "fork: $(ls "$work/run" | wc -l) files"
record "$target" raw_fork
expect_count 1 ' MARK .*"child"' "a fork behind libc's back"
expect_count 2 ' PROCESS ' "a fork behind libc's back: processes"
child=$(awk '/MARK.*"child"/ { print $1 }' "$work/dump")
parent=$(awk '/MARK.*"parent before"/ { print $1 }' "$work/dump")
[ "$child" != "$parent" ] || fail "a fork behind libc's back: the child wrote into its parent's spool"
record "$target" thread_fork
expect_count 1 ' MARK .*"child of a thread"' "a thread that forks"
expect_count 2 ' PROCESS ' "a thread that forks: processes"

# --- exec, with an environment of the program's own
for how in exec execl vfork spawn; do
	record "$target" $how
	expect_status 0 "$how"
	expect_count 1 ' MARK .*"child with its own environment"' "$how: the child's mark"
done
record "$target" exec
expect_count 1 ' EXIT .*flags=1' "exec: the first image's last word; that of an exec that failed is taken back"
expect_count 2 ' PROCESS ' "exec: two images"
record "$target" execlp
expect_status 5 "execlp"
expect_count 1 ' PROCESS .*command="sh -c exit 5"' "execlp without any environment"
record env -i "$target" child
expect_status 0 "env -i"
expect_count 1 ' PROCESS .*exe="[^"]*/target" ' "env -i"

# --- what cannot be preloaded into is left alone
if echo 'int main(void) { return 9; }' | cc -x c -static -o "$work/static" - 2>/dev/null; then
	record bash -c '"$0"; exit $?' "$work/static"
	expect_status 9 "a static program"
fi
# Another C library's program has another loader, which would choke on ours.
cat >"$work/other.c" <<-'END'
	#include <stdio.h>
	#include <stdlib.h>
	int main(void)
	{
		const char *preload = getenv("LD_PRELOAD");
		return puts(preload ? preload : "none") < 0;
	}
END
loader=$(readelf -lW "$target" | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
if cp "$loader" "$work/ld-musl.so.1" &&
	cc -o "$work/other" "$work/other.c" -Wl,--dynamic-linker="$work/ld-musl.so.1" 2>/dev/null; then
	record bash -c 'exec "$0"' "$work/other"
	expect_line "$work/out" none "a program of another C library: LD_PRELOAD"
	record env -i "$work/other"
	expect_line "$work/out" none "a program of another C library, from an empty environment"
fi
printf '#!/bin/sh\nexit 8\n' >"$work/script"
chmod +x "$work/script"
record bash -c '"$0"; exit $?' "$work/script"
expect_status 8 "a script"
expect_count 1 ' PROCESS .*command="/bin/sh [^"]*script"' "a script's shell"

# --- who they are
record env RANK=3 LOCAL_RANK=1 WORLD_SIZE=8 "$target" child
expect_count 1 'PROCESS .*rank=3 local_rank=1 world=8 .*target child' "torchrun's variables"
record env OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_SIZE=4 "$target" child
expect_count 1 'PROCESS .*rank=2 local_rank=0 world=4 .*target child' "Open MPI's variables"
record env RANK=x SLURM_PROCID=5 "$target" child
expect_count 1 'PROCESS .*rank=5 local_rank=-1 world=-1 .*target child' "a rank that is no number, and Slurm's"
if SECRET=do-not-keep-this record "$target" child && grep -rq do-not-keep-this "$work/run"; then
	fail "the environment is in the spools"
fi
expect_count 1 ' MODULE flags=1 .*target" build_id=' "the main executable"
expect_count 1 ' MODULE flags=0 .*libc\.so\.6" build_id=[0-9a-f]{40}' "libc with its build id"

# --- Python's ways
if python=$(python3 -c 'import sys; print(sys.executable)'); then
	cat >"$work/ways.py" <<-'END'
		import multiprocessing, os, subprocess, sys
		def work(n):
		    return n
		if __name__ == "__main__":
		    subprocess.run([sys.executable, "-c", "pass # one"], env={"PATH": os.environ["PATH"]}, check=True)
		    subprocess.run([sys.executable, "-c", "pass # two"], close_fds=False, check=True)
		    os.system(sys.executable + " -c 'pass # three'")
		    for method in "fork", "spawn":
		        with multiprocessing.get_context(method).Pool(2) as pool:
		            assert pool.map(work, range(10)) == list(range(10))
	END
	record "$python" "$work/ways.py"
	expect_status 0 "Python's ways"
	for number in one two three; do
		expect_count 1 " PROCESS .*python[^ ]* -c pass # $number\"" "Python: subprocess $number"
	done
	expect_count 2 ' PROCESS .*spawn_main.*--multiprocessing-fork"' "Python: spawned workers"
	# the parent, and two forked workers, which have its command line
	expect_count 3 ' PROCESS .*command="[^"]*ways.py"' "Python: forked workers"
fi
finish
