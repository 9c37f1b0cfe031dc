#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs of Open MPI and MPICH, recorded: every call, every message with its bytes, peer, tag and communicator, as the
# programs themselves say.
source "$(dirname "$0")/mpi.bash"

# A communicator has one name on all its members, and no other communicator has it: the n-th collective of a name is one
# operation, in which every member takes part once.
agreement() {
	awk '$1 == "MESSAGE" { members = $10; next }
	     $1 == "VIA" && $4 != "-" { key = $5 " " $4; ops[key] = ops[key] " " $3; n[key]++; of[key] = members; ranks[key] = ranks[key] " " $2 }
	     END { for (key in n) {
		split(ops[key], op, " "); for (i in op) if (op[i] != op[1]) print key " is " ops[key]
		split(of[key], member, ","); if (length(member) != n[key]) print key " has " n[key] " ranks of " of[key]
		split(ranks[key], r, " "); delete seen; for (i in r) if (seen[r[i]]++) print key " has rank " r[i] " twice"
	     } }' "$work/got"
}

for library in "${libraries[@]}"; do
	build "$library" mpi_calls
	mkdir -p "$work/folder.$library"
	record "$library" 4 "$work/mpi_calls.$library" "$work/folder.$library"
	expect_status 0 "$library: a program that calls everything"
	cat "$work/folder.$library"/did.* | sort >"$work/did"
	grep ^MESSAGE "$work/did" >"$work/want"
	[ "$(wc -l <"$work/want")" -gt 1000 ] || fail "$library: the program did too little"
	exchanged >"$work/have"
	expect_same "$library: messages that the program exchanged, and recorded ones" "$work/want" "$work/have"
	grep ^CALLS "$work/did" >"$work/want"
	called >"$work/have"
	expect_same "$library: calls that the program made, and recorded ones" "$work/want" "$work/have"
	grep ^BYTES "$work/did" >"$work/want"
	awk '$1 == "CALLS" && $3 ~ /^MPI_(Put|Get|Accumulate|File_(read|write)_)/ { print "BYTES", $2, $3, $5 }' "$work/got" |
		grep -v "_end " | sort >"$work/have"
	expect_same "$library: bytes of memory of others and of files" "$work/want" "$work/have"
	agreement >"$work/have"
	[ ! -s "$work/have" ] || fail "$library: ranks do not agree: $(head -3 "$work/have")"
	grep -q "BACKWARDS" "$work/got" && fail "$library: a message ends before it starts"
	# What was asked for by one call and awaited by another is joined.
	grep -q "^VIA 0 Send - [0-9a-f]* MPI_Isend MPI_Waitall ended" "$work/got" || fail "$library: MPI_Isend has no end"
	grep -q "^VIA 1 Receive - [0-9a-f]* MPI_Imrecv MPI_Waitall ended" "$work/got" || fail "$library: MPI_Imrecv has no end"
	grep -q "^VIA 2 Send - [0-9a-f]* MPI_Start MPI_Waitall ended" "$work/got" || fail "$library: MPI_Start has no end"
	grep -q "^VIA 3 AllReduce [0-9]* [0-9a-f]* MPI_Iallreduce MPI_Waitall ended" "$work/got" ||
		fail "$library: MPI_Iallreduce has no end"
	grep -q "^VIA .* open" "$work/got" && fail "$library: a message has no end: $(grep -m1 ' open' "$work/got")"
done
exit $bad
