#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Ranks of Open MPI and MPICH that wait for each other: every planted state is found, with the rank that was late and the call; and
# the times are those that another program computes from the recorded calls and messages.
source "$(dirname "$0")/mpi.bash"

# found STATE RANK CULPRIT CALL
found() {
	cut -d, -f6-9 "$work/states.csv" | grep -qx "$1,$2,$3,$4" ||
		fail "$library: no $1 of rank $2 in $4 for rank $3: $(tail -n +2 "$work/states.csv" | head -20)"
}

for library in "${libraries[@]}"; do
	build "$library" mpi_waits
	rm -rf "$work/shared" && mkdir "$work/shared"
	# Over TCP the data of a large message moves only while its sender is in the library.
	[ "$library" = openmpi ] && export OMPI_MCA_pml=ob1 OMPI_MCA_btl=tcp,self
	record "$library" 2 "$work/mpi_waits.$library" "$work/shared"
	expect_status 0 "$library: a program whose ranks wait"
	"$HEADWAY" stats -r wait_state_sum --format csv "$work/job" >"$work/states.csv" || fail "$library: no table"
	found wait-at-barrier 0 1 MPI_Barrier
	found wait-at-collective 1 0 MPI_Allreduce
	found wait-at-collective 0 1 MPI_Bcast
	found wait-at-collective 0 1 MPI_Reduce
	found late-sender 0 1 MPI_Recv
	found late-receiver 0 1 MPI_Ssend
	found late-sender 1 0 MPI_Wait
	[ "$library" = openmpi ] && found progress-stalled 1 0 MPI_Wait
	rm -rf "$work/csv"
	"$HEADWAY" export -t csv -o "$work/csv" "$work/job" >/dev/null 2>&1 || fail "$library: no export"
	python3 "$(dirname "$0")/mpi_waits.py" "$work/csv" "$work/states.csv" || fail "$library: other times than computed from the calls"
	# The joint graph of the ranks gives every time back, and the path has no gap.
	run whatif --format json "$work/job"
	grep -q '"exact": true' "$work/out" || fail "$library: the ranks do not come out as recorded: $(head -c 300 "$work/err")"
	run analyze "$work/job"
	tr -s ' \n' ' ' <"$work/out" | grep -q "lose [0-9.]* % of their time to each other" ||
		fail "$library: analyze does not say what the ranks lose: $(head -c 600 "$work/out")"
	run path --format json "$work/job"
	python3 -c 'import json,sys
p = json.load(open(sys.argv[1]))
assert sum(p["classes"].values()) == p["length_ns"] == sum(r["time_ns"] for r in p["ranks"]) > 0, p
assert p["crossings"] >= 3, p' "$work/out" || fail "$library: the path does not add up"
done
exit $bad
