#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs that use MPI in unusual ways do the same alone and recorded, and what they do is recorded once.
source "$(dirname "$0")/mpi.bash"

# same LIBRARY PROGRAM WAY: leaves the recording in $work/got. Launchers name pids, times and hosts when a rank dies.
same() {
	ranks "$1" 2 "$2" "$3" >"$work/plain.out" 2>"$work/plain.err"
	local plain=$?
	record "$1" 2 "$2" "$3"
	expect_status "$plain" "$1: $3"
	expect_same "$1: output of $3" <(sort "$work/plain.out") <(sort "$work/out")
	if [ "$plain" = 0 ]; then
		expect_same "$1: errors of $3" <(sort "$work/plain.err") <(sort "$work/err")
	fi
}

# expect_calls LIBRARY WAY RANK NAME N
expect_calls() {
	local got
	got=$(awk -v rank="$3" -v name="MPI_$4" '$1 == "CALLS" && $2 == rank && $3 == name { n += $4 } END { print n + 0 }' "$work/got")
	[ "$got" = "$5" ] || fail "$1: $2: rank $3 has $got calls of MPI_$4, not $5"
}
# expect_messages LIBRARY WAY RANK OPERATION N
expect_messages() {
	local got
	got=$(awk -v rank="$3" -v op="$4" '$1 == "MESSAGE" && $2 == rank && $3 == op' "$work/got" | wc -l)
	[ "$got" = "$5" ] || fail "$1: $2: rank $3 has $got messages $4, not $5"
}

for library in "${libraries[@]}"; do
	build "$library" mpi_odd -pthread
	mpicc.$library -w -DOWN_SEND -pthread -o "$work/own.$library" "$sources/mpi_odd.c"
	odd=$work/mpi_odd.$library

	same "$library" "$odd" own
	expect_calls "$library" "a program that calls PMPI_Allreduce" 0 Allreduce 3
	expect_messages "$library" "a program that calls PMPI_Allreduce" 1 AllReduce 3
	same "$library" "$work/own.$library" own
	expect_calls "$library" "a program with an MPI_Send of its own" 0 Send 5
	expect_messages "$library" "a program with an MPI_Send of its own" 0 Send 5
	expect_messages "$library" "a program with an MPI_Send of its own" 1 Receive 5

	# A tool that is linked with the program is still called, and its calls are not recorded a second time.
	mpicc.$library -w -shared -fPIC -o "$work/libtool.so" "$sources/mpi_tool.c"
	mpicc.$library -w -pthread -o "$work/tooled" "$sources/mpi_odd.c" -L"$work" -Wl,--no-as-needed -ltool -Wl,-rpath,"$work"
	same "$library" "$work/tooled" own
	grep -q "tool: 5 receives" "$work/err" || fail "$library: the tool was not called"
	expect_calls "$library" "a program with a tool" 1 Recv 5

	same "$library" "$odd" errors
	expect_messages "$library" "errors" 0 Send 2
	same "$library" "$odd" longjmp
	expect_calls "$library" "an error handler that does not return" 0 Barrier 6
	expect_messages "$library" "an error handler that does not return" 1 Barrier 6

	ranks "$library" 2 "$odd" threads >"$work/plain.out" 2>"$work/plain.err"
	if [ $? = 77 ]; then
		echo "SKIP: $library: no MPI_THREAD_MULTIPLE"
	else
		same "$library" "$odd" threads
		for rank in 0 1; do
			expect_calls "$library" threads $rank Isend 200
			expect_messages "$library" threads $rank Send 200
			expect_messages "$library" threads $rank Receive 200
			expect_messages "$library" threads $rank Barrier 4
		done
		grep -q "^VIA .* open" "$work/got" && fail "$library: threads: a message has no end"
		# Each message comes from the other rank, with all its bytes.
		bad_ones=$(awk '$1 == "MESSAGE" && $3 == "Receive" && ($4 != 1 - $2 || $7 != 4)' "$work/got" | wc -l)
		[ "$bad_ones" = 0 ] || fail "$library: threads: $bad_ones receives are wrong"
	fi

	same "$library" "$odd" forks
	expect_messages "$library" forks 0 Send 6
	same "$library" "$odd" callbacks
	expect_calls "$library" callbacks 0 Allreduce 1
	# On a busy machine the first rank may come last, and then has nothing to wait for.
	waited='^STACK 0 MPI_Barrier < await_the_other mpi_odd.c:[0-9]+ < waits mpi_odd.c:'
	for _ in 1 2 3; do
		same "$library" "$odd" waits
		grep -qE "$waited" "$work/got" && break
	done
	grep -qE "$waited" "$work/got" ||
		fail "$library: a call that waits has no stack: $(grep -m1 'STACK 0 MPI_Barrier' "$work/got")"
	same "$library" "$odd" pcontrol
	expect_messages "$library" "MPI_Pcontrol" 0 Send 6
	# MPICH's launcher does not notice that a rank has crashed, and kills what a rank leaves without MPI_Finalize.
	for way in abort $([ $library = mpich ] || echo crash leave); do
		same "$library" "$odd" $way
		expect_calls "$library" $way 1 Init_thread 1
	done
done
exit $bad
