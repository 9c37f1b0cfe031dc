#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the README of each language shows is what headway prints: a picture may end early, but no line of it may differ. With UPDATE=1 the
# lines shown are replaced by as many of those printed now.
# shellcheck source=common.bash
source "$(dirname "$0")/common.bash"

top=$(realpath "$(dirname "$0")/../..")
cp "$DATA/gpu/inmodel_if.hwy" "$work"
cd "$work" || exit 1
export LC_ALL=C.UTF-8

check_readme() { # README LANGUAGE
	local readme=$1 shown words n
	export HEADWAY_LANG=$2
	shown=$(awk '/^```$/ {inside = !inside; next} inside' "$readme")
	[[ $shown == '$ headway '* ]] || fail "$readme has no picture that begins with a command"
	read -r -a words <<<"$(head -1 <<<"$shown")"
	run "${words[@]:2}"
	expect_status 0 "${words[*]}"
	n=$(($(wc -l <<<"$shown") - 1))
	head -n "$n" out | sed 's/ *$//' >printed
	[ -z "${UPDATE:-}" ] || sed -i -e '/^\$ headway /{r printed
n}' -e '/^```$/,/^```$/{/^```$/!{/^\$ headway /!d}}' "$readme"
	diff <(tail -n +2 <<<"$shown") printed || fail "$readme: the picture is not what headway prints"

	# Every command and option it names exists.
	grep -o '^    headway [a-z]*' "$readme" | sort -u | while read -r _ command; do
		"$HEADWAY" "$command" --help >/dev/null || echo "$command"
	done >unknown
	[ ! -s unknown ] || fail "$readme names commands that do not exist: $(cat unknown)"
}

check_readme "$top/README.md" en
check_readme "$top/README.zh.md" zh
finish
