#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program that asks whether functions of MPI 4 exist gets the answer that it gets alone, or functions that work: Open MPI 4
# has none of them, MPICH 4 has all.
source "$(dirname "$0")/mpi.bash"

for library in "${libraries[@]}"; do
	build "$library" mpi_asks -ldl
	ranks "$library" 2 "$work/mpi_asks.$library" "$work/file" >"$work/plain.out" 2>"$work/plain.err"
	[ $? = 0 ] || fail "$library: the program fails alone: $(head -3 "$work/plain.err")"
	for options in "-t mpi" "-t none"; do
		record "$library" 2 "$work/mpi_asks.$library" "$work/file"
		expect_status 0 "$library, $options: a program that asks which functions exist"
		expect_same "$library, $options: output" <(sort "$work/plain.out") <(sort "$work/out")
		expect_same "$library, $options: errors" <(sort "$work/plain.err") <(sort "$work/err")
		[ "$options" = "-t mpi" ] || continue
		# Whichever function the program calls for a large count, the exchange is recorded once.
		for want in "Send 5" "Receive 5" "AllReduce 1" "AllGather 1"; do
			got=$(awk -v op="${want% *}" '$1 == "MESSAGE" && $2 == 1 && $3 == op' "$work/got" | wc -l)
			[ "$got" = "${want#* }" ] || fail "$library: $got messages ${want% *}, not ${want#* }"
		done
		grep -q "^VIA .* open" "$work/got" && fail "$library: a message has no end"
	done
done
exit $bad
