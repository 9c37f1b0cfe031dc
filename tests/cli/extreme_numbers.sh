#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# extreme_numbers - every command copes with a report whose numbers are the least and the largest that there are.
source "$(dirname "$0")/common.bash"

# Under the sanitizers an overflow ends a command with a status of its own, or with a line on stderr.
for report in "$DATA"/../fuzz/corpus/report/extreme_*.hwy; do
	for command in "info --all" stats breakdown analyze "analyze --format json" show path whatif "baseline -o $work/b -f" \
		"diff $report" "gate --baseline $report" "convert -f -o $work/c.hwy" "view --html $work/v.html -f" \
		"export -t perfetto -f -o $work/x" "export -t chrome -f -o $work/x" "export -t sqlite -f -o $work/s" \
		"export -t csv -f -o $work/d" "export -t folded -f -o $work/x" "export -t folded --fold gpu -f -o $work/x"; do
		# shellcheck disable=SC2086 # a command is several words
		run $command "$report"
		[ "$status" -le 2 ] || fail "$command $(basename "$report"): exit status $status"
		grep -q "runtime error" "$work/err" && fail "$command $(basename "$report"): $(grep -m1 "runtime error" "$work/err")"
	done
done
finish
