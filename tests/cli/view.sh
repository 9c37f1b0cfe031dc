#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# view - the viewer's server answers its page and nobody else, whatever is thrown at it; bad input is one line.
source "$(dirname "$0")/common.bash"

export XDG_CACHE_HOME=$work/cache
unpack power_base
recording=$work/power_base.sqlite

# Bad input.
run view
expect_status 2 "no file"
run view "$work/nothing.hwy"
expect_refusal "a file that is not there" "nothing.hwy"
echo garbage >"$work/garbage"
run view "$work/garbage"
expect_refusal "a file that is no recording" "garbage"
head -c 5000 "$recording" >"$work/short.sqlite"
run view "$work/short.sqlite"
expect_refusal "a recording that is cut off" "short.sqlite"
run view a b c
expect_status 2 "three files"
run view --port 99999 "$recording"
expect_status 2 "a port that cannot be"
# A page is named as a page: neither after the recording, nor after the next option.
run view --html "$recording"
expect_status 2 "a recording in the place of the page's name"
grep -qF "headway view $recording --html page.html" "$work/err" || fail "a recording as a page: $(cat "$work/err")"
run view --html -o "$work/power.html" "$recording"
expect_status 2 "an option in the place of the page's name"
grep -qF "option '--html' needs a value, and '-o' is an option" "$work/err" || fail "an option as a page: $(cat "$work/err")"
run view --html=-x "$recording"
expect_status 2 "a page whose name begins with a dash"
run view "$recording" -o "$work/power.html"
grep -q 'built without npm' "$work/err" || expect_status 0 "-o names the page"

# Where libmicrohttpd is not installed, the package is named.
mkdir "$work/lib"
: >"$work/lib/libmicrohttpd.so.12"
LD_LIBRARY_PATH=$work/lib run view --no-browser "$recording"
expect_refusal "no libmicrohttpd" "libmicrohttpd12"

[ "$(find "$XDG_CACHE_HOME" -name 'view-*.hwy' | wc -l)" = 1 ] || fail "the recording was not converted once"

if ! command -v python3 >/dev/null; then
	echo "skipped: no python3"
	exit 77
fi
if ! python3 -c 'import ctypes; ctypes.CDLL("libmicrohttpd.so.12")' 2>/dev/null; then
	[ $bad = 1 ] && exit 1
	echo "skipped: no libmicrohttpd (libmicrohttpd12)"
	exit 77
fi
ulimit -n 4096 2>/dev/null || true
python3 "$(dirname "$0")/view_check.py" "$HEADWAY" "$recording" "$work" || bad=1

[ "$(find "$XDG_CACHE_HOME" -name 'view-*.hwy' | wc -l)" = 1 ] || fail "the converted report was not used again"
finish
