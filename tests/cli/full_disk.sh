#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A recording never fills the disk, and says what it left out.
source "$(dirname "$0")/collect.bash"

# --- a bound on the recording
run profile -f true -o "$work/bound" -t osrt --osrt-threshold 0 --max-size 1M "$COLLECT/fill" disk "$work/own" 1000 1500 1
expect_status 0 "--max-size"
grep -qE 'records of [0-9.]+ s to [0-9.]+ s were not kept: the recording was as large as it may be \(--max-size\)' "$work/err" ||
	fail "--max-size: $(cat "$work/err")"
grep -qE 'records lost \([0-9.]+ s to [0-9.]+ s\)' "$work/err" || fail "--max-size: no times in: $(tail -1 "$work/err")"
run info "$work/bound.hwy"
grep -qE 'Dropped .*: no room: the recording is as large as it may be \([0-9.]+ s to [0-9.]+ s\)' "$work/out" ||
	fail "--max-size: info: $(grep -A3 Dropped "$work/out")"
grep -qE 'records were lost while recording \([0-9.]+ s to [0-9.]+ s\)' "$work/out" ||
	fail "--max-size: trust: $(grep -A3 Trust "$work/out")"
run info --format json "$work/bound.hwy"
grep -qE '"reason": *"no room: the recording is as large' "$work/out" && grep -qE '"to_ns": *[1-9]' "$work/out" ||
	fail "--max-size: info --format json has no span"
for size in 0 1K 5X -1 M 1e30; do
	run profile --max-size "$size" true
	expect_status 2 "--max-size $size"
	grep -qF "'$size' is not a size from 1M on" "$work/err" || fail "--max-size $size: $(cat "$work/err")"
done

# --- disks that get full
"$(dirname "$0")/../full_disk" 3 "${FULL_DISK_SEED:-1}"
status=$?
[ $status = 0 ] || [ $status = 77 ] || fail "full_disk: exit status $status"
finish
