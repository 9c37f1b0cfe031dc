#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a program finds when it looks at itself is what it finds without a recorder: no error of the loader, no allocated
# memory, the same answers of locks, little less stack; also where tools that watch its memory run it.
source "$(dirname "$0")/common.bash"
: "${COLLECT:?folder of the test programs}"
look=$COLLECT/first_look
cd "$work" || exit 1

# same WHAT OPTIONS -- PROGRAM…: output and status are those of a plain run.
same() {
	local what=$1 options=() plain
	shift
	while [ "$1" != -- ]; do options+=("$1"); shift; done
	shift
	"$@" >want.out 2>want.err </dev/null
	plain=$?
	timeout 100 "$HEADWAY" profile -q -f -o run "${options[@]}" "$@" >out 2>err </dev/null
	status=$?
	[ $status = $plain ] || fail "$what: exit status $status, not $plain: $(head -c 300 err)"
	cmp -s want.out out || fail "$what: $(diff want.out out | head -5)"
	cmp -s want.err err || fail "$what: stderr: $(head -c 300 err)"
}

same "default options" -- "$look"
for traces in osrt opencl mpi cufft cuda,nvtx,osrt,opencl,mpi,nccl,cublas,cudnn,cusparse,cusolver,cufft,cublas-verbose; do
	same "-t $traces" -t $traces -- "$look"
done
same "OpenCL that is not there" -t opencl -- "$look" opencl

# --- a thread needs little more stack for a call that is recorded
for traces in nvtx osrt nvtx,osrt,mpi,nccl,cublas,cudnn,cusparse,cusolver,cufft,cublas-verbose; do
	same "-t $traces: the stack" -t $traces -- env LD_BIND_NOW=1 "$COLLECT/stack_depth" 2400
	expect_line out "done" "-t $traces: the stack"
done

# --- Valgrind knows nothing of the memory that the collector shares: the program is passed through, and the report says so
if command -v valgrind >/dev/null && valgrind -q true 2>/dev/null; then
	for tool in memcheck helgrind; do
		same "valgrind --tool=$tool" -t osrt -- valgrind -q --tool=$tool --error-exitcode=9 "$COLLECT/osrt_target" many 3
		"$HEADWAY" info --all run.hwy | grep -q 'are not recorded: it runs under Valgrind' || fail "$tool: no note"
	done
else
	echo "not tried, there is no valgrind"
fi
finish
