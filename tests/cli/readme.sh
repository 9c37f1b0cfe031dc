#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the README shows is what headway prints: a picture may end early, but no line of it may differ.
# shellcheck source=common.bash
source "$(dirname "$0")/common.bash"

readme=$(realpath "$(dirname "$0")/../../README.md")
cp "$DATA/gpu/inmodel_if.hwy" "$work"
cd "$work" || exit 1
export LC_ALL=C.UTF-8
shown=$(awk '/^```$/ {inside = !inside; next} inside' "$readme")
[[ $shown == '$ headway '* ]] || fail "the README has no picture that begins with a command"
read -r -a words <<<"$(head -1 <<<"$shown")"
run "${words[@]:2}"
expect_status 0 "${words[*]}"
diff <(tail -n +2 <<<"$shown") <(head -n "$(($(wc -l <<<"$shown") - 1))" out | sed 's/ *$//') ||
	fail "the README's picture is not what headway prints"

# Every command and option it names exists.
grep -o '^    headway [a-z]*' "$readme" | sort -u | while read -r _ command; do
	"$HEADWAY" "$command" --help >/dev/null || echo "$command"
done >unknown
[ ! -s unknown ] || fail "the README names commands that do not exist: $(cat unknown)"
finish
