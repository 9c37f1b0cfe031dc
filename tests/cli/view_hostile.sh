#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# view_hostile - requests with numbers that nobody would ask for are answered, others are answered meanwhile, and the
# server ends when it is told to; the address stands in no argument list; pages are readable by their owner alone.
source "$(dirname "$0")/common.bash"

export XDG_CACHE_HOME=$work/cache
unpack power_base
if ! command -v python3 >/dev/null; then
	echo "SKIP: no python3"
	exit 77
fi
if ! python3 -c 'import ctypes; ctypes.CDLL("libmicrohttpd.so.12")' 2>/dev/null; then
	echo "SKIP: no libmicrohttpd (libmicrohttpd12)"
	exit 77
fi
run convert "$work/power_base.sqlite" -o "$work/small.hwy"
expect_status 0 "convert"
python3 "$(dirname "$0")/view_hostile.py" "$HEADWAY" "$work/small.hwy" "$work" || bad=1
finish
