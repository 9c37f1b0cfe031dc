#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# headway info: its page and its JSON for every recording, and the same for the report made of it.
# UPDATE=1 writes the expected pages anew: look at the difference before it is committed.
# shellcheck source=common.bash
source "$(dirname "$0")/common.bash"
expected=$(dirname "$0")/golden/info
mkdir -p "$expected"

same() {
	if [ -n "${UPDATE:-}" ]; then
		cp "$work/out" "$1"
	elif ! diff -u "$1" "$work/out" >"$work/diff" 2>&1; then
		fail "$2 differs:"
		head -40 "$work/diff"
	fi
}

for packed in "$DATA"/nsys/*.sqlite.xz; do
	name=$(basename "$packed" .sqlite.xz)
	unpack "$name"
	run info "$work/$name.sqlite"
	expect_status 0 "info $name"
	same "$expected/$name.txt" "info $name"
	run info --format json "$work/$name.sqlite"
	expect_status 0 "info --format json $name"
	same "$expected/$name.json" "info --format json $name"
	if command -v python3 >/dev/null; then
		python3 -m json.tool "$work/out" >/dev/null || fail "$name: not JSON"
	fi

	run convert "$work/$name.sqlite"
	expect_status 0 "convert $name"
	grep -qE "^$work/$name.hwy: [0-9,]+ spans, .* bytes a span, .* of the source's " "$work/out" ||
		fail "convert $name says: $(cat "$work/out")"
	for format in text json; do
		for all in "" --all; do
			# shellcheck disable=SC2086
			"$HEADWAY" info --format $format $all "$work/$name.sqlite" >"$work/of_source"
			# shellcheck disable=SC2086
			"$HEADWAY" info --format $format $all "$work/$name.hwy" >"$work/of_report"
			cmp -s "$work/of_source" "$work/of_report" || fail "$name: info $format $all of the report differs"
		done
	done
	run convert "$work/$name.hwy" -o "$work/again.hwy"
	expect_status 0 "convert a report"
	cmp -s "$work/$name.hwy" "$work/again.hwy" || fail "$name: a report of a report differs"
	rm -f "$work/again.hwy"
done

# A terminal gets colours and lines that fit; a pipe does not.
if command -v script >/dev/null; then
	TERM=xterm script -qec "stty cols 70; $HEADWAY info --all $work/$name.sqlite" /dev/null >"$work/typed" </dev/null
	grep -q $'\033\\[1mSource' "$work/typed" || fail "no colours in a terminal"
	NO_COLOR=1 TERM=xterm script -qec "$HEADWAY info $work/$name.sqlite" /dev/null >"$work/typed" </dev/null
	grep -q $'\033' "$work/typed" && fail "colours in spite of NO_COLOR"
fi
finish
