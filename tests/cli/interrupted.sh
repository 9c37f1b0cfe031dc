#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Signal handlers that interrupt a record: those that return lose nothing but the last record of a chunk, where the handler's
# own record begins the next chunk; those that leave by longjmp, switch fibers or fork lose at most what they interrupted.
# The report says what was lost.
source "$(dirname "$0")/common.bash"
: "${COLLECT:?folder of the test programs}"
target=$COLLECT/jump_target
cd "$work" || exit 1

# profile HOW…: sets 'pushed' and 'marked' to what the program printed, 'recorded' to the ranges and marks in the report,
# 'lost' to the records that were interrupted.
profile() {
	timeout 100 "$HEADWAY" profile -q -t nvtx,osrt -f -o "$work/run" "$target" "$@" >out 2>err </dev/null
	status=$?
	expect_status 0 "$1"
	pushed=$(sed -n 's/^pushed //p' out)
	marked=$(sed -n 's/^marked //p' out)
	"$HEADWAY" info run.hwy >told 2>&1
	recorded=$(awk '$1 == "range" { gsub(",", ""); print $2 }' told)
	lost=$(sed -n 's/^\(Dropped\)\? *\([0-9,]*\) collector: interrupted by a signal.*/\2/p' told | tr -d ,)
	lost=${lost:-0}
	! grep -q 'disk full' told || fail "$1: told as a full disk"
}

profile nest
[ $((recorded + lost)) = $((pushed + marked)) ] || fail "nest: $recorded ranges and marks and $lost lost, not $pushed + $marked"
# It takes a signal that comes while the last record of a chunk is written.
[ "$lost" -le 2 ] || fail "nest: $lost records lost, though every handler returns"

# A push that was left may count or not: the program counts after the call.
profile leave
[ "$recorded" -ge $((pushed - lost)) ] || fail "leave: $recorded ranges, not $pushed, and $lost lost"
[ "$recorded" -le $((pushed + 300)) ] || fail "leave: $recorded ranges, not $pushed"
[ "$lost" -le 300 ] || fail "leave: 300 jumps lost $lost records"
profile fibers
[ "$recorded" -ge $((pushed - 600)) ] || fail "fibers: $recorded ranges, not $pushed, and $lost lost"
profile fork

# --- more names than a process may have: those without one are told as lost
profile names 1050000
[ "$recorded" = 1050000 ] || fail "names: $recorded ranges"
names=$(sed -n 's/^Dropped *\([0-9,]*\) collector: names: more texts.*/\1/p' told | tr -d ,)
[ "${names:-0}" -ge 1000 ] && [ "$names" -le 2000 ] || fail "names: '$names' are lost: $(grep Dropped told)"
grep -q '^Trust *weakened' told || fail "names: $(grep Trust told)"
finish
