#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# private_files - whatever holds what was recorded can be read by its owner alone, also where it replaces another file.
source "$(dirname "$0")/common.bash"

umask 022
export XDG_CACHE_HOME=$work/cache
unpack power_base
recording=$work/power_base.sqlite
out=$work/written
mkdir "$out"

# writes WHAT FILE ARGS…: the command writes the file, which only its owner can read: anew, and over one for everybody.
writes() {
	local what=$1 file=$2 mode=600
	run "${@:3}"
	expect_status 0 "$what"
	[ -d "$file" ] && mode=700
	[ "$(stat -c %a "$file")" = $mode ] || fail "$what: mode $(stat -c %a "$file")"
	find "$file" -type f ! -perm 600 | grep . && fail "$what: files that others can read"
	[ -d "$file" ] || chmod 644 "$file"
	run "${@:3}" -f
	expect_status 0 "$what, again"
	[ "$(stat -c %a "$file")" = $mode ] || fail "$what, again: mode $(stat -c %a "$file")"
}

writes convert "$out/a.hwy" convert "$recording" -o "$out/a.hwy"
for type in perfetto chrome sqlite csv folded; do
	writes "export -t $type" "$out/$type" export -t $type "$recording" -o "$out/$type"
done
writes "view --html" "$out/view.html" view "$recording" --html "$out/view.html"
writes "analyze --format html" "$out/analyze.html" analyze --format html "$recording" -o "$out/analyze.html"
writes "analyze -o" "$out/analyze.txt" analyze "$recording" -o "$out/analyze.txt"
writes baseline "$out/baseline.json" baseline "$recording" -o "$out/baseline.json"

# A stricter umask holds; devices and pipes are written as they are.
(
	umask 0277
	run export -t chrome "$recording" -o "$out/strict.json"
	[ "$(stat -c %a "$out/strict.json")" = 400 ] || fail "umask 0277: mode $(stat -c %a "$out/strict.json")"
	exit $bad
) || bad=1
for target in - /dev/stdout; do
	# To /dev/stdout the command adds its own line.
	"$HEADWAY" export -t chrome "$recording" -o $target 2>"$work/err" | cat >"$work/piped"
	head -c "$(stat -c %s "$out/strict.json")" "$work/piped" | cmp - "$out/strict.json" ||
		fail "-o $target: $(head -c 300 "$work/err")"
done
finish
