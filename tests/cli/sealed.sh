#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program that restricts its own system calls (seccomp), by whatever call, lives as it does without us, and so do
# the programs that it becomes and starts.
source "$(dirname "$0")/collect.bash"
cd "$work" || exit 1

sealed=$COLLECT/sealed
"$sealed" prctl plain >want 2>&1
if [ $? != 0 ]; then
	echo "SKIP: no seccomp filters here"
	exit 77
fi

# same OPTIONS HOW WHAT
same() {
	"$sealed" "$2" "$3" >want 2>&1 </dev/null
	local plain=$?
	"$HEADWAY" profile -q -f -o sealed $1 "$sealed" "$2" "$3" >out 2>&1 </dev/null
	local status=$?
	[ $status = $plain ] || fail "$1 $2 $3: exit status $status, not $plain"
	cmp -s want out || fail "$1 $2 $3: $(diff want out | head -3)"
}

for how in prctl seccomp syscall instruction; do
	for what in plain thread fork exec execvp vfork spawn _exit; do
		same "" $how $what
		same "-t osrt,nvtx,mpi,nccl,cublas,cudnn,cusparse,cusolver,cufft,cublas-verbose" $how $what
	done
done

# --- the strict mode, in which the clock cannot be read either
for options in "" "-t osrt,nvtx,mpi,nccl,cublas,cudnn,cusparse,cusolver,cufft,cublas-verbose"; do
	for how in strict strict_syscall; do
		same "$options" $how plain
	done
done

# --- the report says so; a program that only gave up privileges is recorded
"$HEADWAY" profile -q -f -o sealed "$sealed" syscall plain >out 2>&1
"$HEADWAY" info sealed.hwy >about
grep -q 'restricts its own system calls' about || fail "nothing tells of the filter: $(cat about)"
if type setpriv >/dev/null 2>&1; then
	"$HEADWAY" profile -q -f -o free setpriv --no-new-privs "$COLLECT/target" loop 10 >out 2>&1
	"$HEADWAY" info free.hwy >about
	grep -qE '^ *range +11 ' about || fail "a program without new privileges: $(cat about)"
fi
finish
