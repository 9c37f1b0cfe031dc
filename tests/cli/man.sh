#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Man pages: one for each command, rendered without a warning, and with everything that --help names.
# shellcheck source=common.bash
source "$(dirname "$0")/common.bash"

# Images of containers have a program of that name which only says that there are no man pages.
if ! man --version 2>/dev/null | grep -q '^man [0-9]' || ! command -v nroff >/dev/null; then
	echo "SKIP: man is not installed"
	exit 77
fi

run --generate man "$work/man"
expect_status 0 "--generate man"
run --generate man "$work/no/such/folder"
expect_refusal "a folder that cannot be made" "No such file or directory"
run --generate html "$work/man"
expect_refusal "an unknown kind" "'html' is none of man, bash, zsh, fish"
run --help
grep -q -- "--generate" "$work/out" && fail "--generate is for the build, and not listed"

# page NAME: the rendered page as $work/page, without overstrikes.
page() {
	MANWIDTH=100 man --warnings -l "$work/man/$1.1" 2>"$work/warnings" | col -bx >"$work/page"
	[ ! -s "$work/warnings" ] || fail "$1: man warns: $(head -3 "$work/warnings")"
	[ -s "$work/page" ] || fail "$1: the page is empty"
}

lint() {
	if command -v mandoc >/dev/null; then
		mandoc -Tlint "$work/man/$1.1" >"$work/warnings" || fail "$1: mandoc: $(head -3 "$work/warnings")"
		[ ! -s "$work/warnings" ] || fail "$1: mandoc: $(head -3 "$work/warnings")"
	fi
}

sections() {
	local section
	for section in "$@"; do
		grep -qx "$section" "$work/page" || fail "$name: no section $section"
	done
}

name=headway
page headway
lint headway
sections NAME SYNOPSIS DESCRIPTION COMMANDS OPTIONS EXAMPLES "EXIT STATUS" FILES ENVIRONMENT "SEE ALSO"
version=$("$HEADWAY" --version)
grep -q "^Headway ${version#headway } " "$work/page" || fail "the page names the version: $(tail -1 "$work/page")"

commands=$("$HEADWAY" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ "$(wc -w <<<"$commands")" -ge 16 ] || fail "--help lists the commands: $commands"
for command in $commands; do
	grep -q "headway-$command(1)" "$work/page" || fail "headway(1) does not name $command"
done
[ "$(find "$work/man" -name '*.1' | wc -l)" = $(($(wc -w <<<"$commands") + 1)) ] || fail "a page for each command"

for command in $commands; do
	name=headway-$command
	page "$name"
	lint "$name"
	sections NAME SYNOPSIS DESCRIPTION OPTIONS "EXIT STATUS" FILES ENVIRONMENT "SEE ALSO"
	"$HEADWAY" "$command" --help >"$work/help"
	grep -q '^Examples:' "$work/help" && sections EXAMPLES
	options=$(sed -n 's/^  \(-.,\|   \) \(--[a-z-]*\).*/\2/p' "$work/help")
	[ -n "$options" ] || fail "$command --help lists options"
	for option in $options; do
		grep -qE -- "^ +(-., )?$option(=| |$)" "$work/page" || fail "$name does not name $option"
	done
	for heading in $(sed -n 's/^\([A-Z][a-z ]*\):$/\1/p' "$work/help" | grep -vE 'Options|Examples' | tr ' ' _); do
		grep -qx "   ${heading//_/ }" "$work/page" || fail "$name has no heading '${heading//_/ }'"
	done
done

# Without UTF-8 too.
LC_ALL=C man --warnings -l "$work/man/headway-show.1" >/dev/null 2>"$work/warnings"
[ ! -s "$work/warnings" ] || fail "in the C locale man warns: $(head -3 "$work/warnings")"

# A page says the date of its source where the build names one.
SOURCE_DATE_EPOCH=86400 "$HEADWAY" --generate man "$work/man"
grep -q '^\.TH HEADWAY 1 1970-01-02 ' "$work/man/headway.1" || fail "the date: $(grep '^\.TH' "$work/man/headway.1")"

if [ -z "${HEADWAY_SANITIZED:-}" ] && [ -e "${HEADWAY_BUILD:-}/manual.stamp" ]; then
	cmake --install "$HEADWAY_BUILD" --prefix "$work/usr" >"$work/log" || fail "make install: $(tail -3 "$work/log")"
	grep -qx "Version: ${version#headway }" "$work"/usr/lib*/pkgconfig/headway.pc "$work"/usr/lib*/*/pkgconfig/headway.pc \
		2>/dev/null || fail "headway.pc has the version of headway --version"
	for file in man/man1/headway.1 man/man1/headway-analyze.1 bash-completion/completions/headway \
		zsh/site-functions/_headway fish/vendor_completions.d/headway.fish; do
		[ -s "$work/usr/share/$file" ] || fail "make install leaves out share/$file"
	done
fi
finish
