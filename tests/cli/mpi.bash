# SPDX-License-Identifier: Apache-2.0
# mpi.bash - what the tests of MPI share: both libraries, programs built for each, and recordings of them.
source "$(dirname "${BASH_SOURCE[0]}")/common.bash"
: "${MESSAGES_OF:?the program that prints messages}"
sources=$(cd "$(dirname "$DATA")/collect/mpi" && pwd)
# Open MPI does not start as root, nor more ranks than cores, unless it is told to.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_mpi_yield_when_idle=1

libraries=()
for library in openmpi mpich; do
	if command -v mpicc.$library >/dev/null && command -v mpirun.$library >/dev/null; then
		libraries+=($library)
	else
		echo "SKIP: no $library (apt: libopenmpi-dev openmpi-bin libmpich-dev mpich)"
	fi
done
[ ${#libraries[@]} -gt 0 ] || exit 77

# build LIBRARY NAME [OPTIONS…]: $work/NAME.LIBRARY from NAME.c.
build() {
	mpicc."$1" -w -O1 -g -o "$work/$2.$1" "$sources/$2.c" "${@:3}" || fail "$2 is not built for $1"
}

# ranks LIBRARY N PROGRAM…: the program alone.
ranks() {
	timeout -k 1 30 mpirun."$1" -n "$2" "${@:3}" </dev/null
}

# record LIBRARY N PROGRAM…: the program recorded into the job $work/job; its output goes to $work/out and $work/err, what was
# exchanged to $work/got.
record() {
	rm -rf "$work/job"
	timeout -k 5 60 "$HEADWAY" profile -q -o "$work/job" ${options:--t mpi} mpirun."$1" -n "$2" "${@:3}" \
		>"$work/out" 2>"$work/err" </dev/null
	status=$?
	local report
	: >"$work/got"
	for report in "$work/job"/rank*.hwy; do
		"$MESSAGES_OF" "$report" >>"$work/got" || fail "$1: no report: $(head -c 500 "$work/err")"
	done
}

# exchanged: the messages as the test programs write them down, sorted.
exchanged() {
	awk '$1 == "MESSAGE" { print $1, $2, $3, $4, $5, $6, $7, $10 }' "$work/got" | sort
}

# called: the names of calls with their numbers, sorted.
called() {
	awk '$1 == "CALLS" { print $1, $2, $3, $4 }' "$work/got" | sort
}

# expect_same WHAT FILE FILE
expect_same() {
	cmp -s "$2" "$3" || fail "$1: $(diff "$2" "$3" | head -12)"
}
