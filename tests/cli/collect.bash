# SPDX-License-Identifier: Apache-2.0
# collect.bash - what the collector's tests share: a run directory by hand, a program in it, its spools as text.
source "$(dirname "${BASH_SOURCE[0]}")/common.bash"
: "${COLLECT:?folder of the test programs}" "${COLLECT_LIBRARY:?the collector}"

# record [NAME=VALUE… --] PROGRAM ARGS…: runs it with the collector; leaves its status in $status, its output in
# $work/out and $work/err, and the spools' records in $work/dump. Names are fields of the control page.
record() {
	local control=() library=${library:-$COLLECT_LIBRARY}
	if [[ " $* " == *" -- "* ]]; then
		while [ "$1" != -- ]; do
			control+=("$1")
			shift
		done
		shift
	fi
	run_directory=${run_directory:-$work/run}
	rm -rf "${run_directory:?}"/*
	"$COLLECT/make_run" "$run_directory" "$library" "${control[@]}" || fail "make_run"
	HEADWAY_RUN=$run_directory LD_PRELOAD=$library NVTX_INJECTION64_PATH=$library \
		"$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
	dump
}

dump() {
	"$COLLECT/dump" "$run_directory" >"$work/dump" || fail "spools are broken: $(grep BROKEN "$work/dump" | head -3)"
	if grep -q UNDEFINED "$work/dump"; then
		fail "a text is not defined: $(grep UNDEFINED "$work/dump" | head -3)"
	fi
}

# count PATTERN: lines of the dump that match.
count() {
	grep -cE -- "$1" "$work/dump"
}

# expect_count NUMBER PATTERN WHAT
expect_count() {
	local got
	got=$(count "$2")
	[ "$got" = "$1" ] || fail "$3: $got, not $1"
}

dropped() {
	awk '$3 == "DROPPED" { n += $4 } END { print n + 0 }' "$work/dump"
}
