#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What `headway analyze` says of programs with one planted cause each, recorded on an H200; and of the traces of $HEADWAY_VERDICTS, or beside
# the larger recordings, where there are any.
source "$(dirname "$0")/common.bash"
type python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }
verdicts=$(dirname "$0")/../verdicts
for folder in "$DATA/programs" "${HEADWAY_VERDICTS:-${SHARED:+$SHARED/data/verdicts}}"; do
	[ -e "$folder/truth.json" ] || continue
	"$verdicts" "$folder" >"$work/judged" || fail "$folder: $(grep WRONG "$work/judged")"
	tail -1 "$work/judged"
done
finish
