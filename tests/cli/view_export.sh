#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# view_export - a piece that the page saves holds what was recorded there: every span that touches the window, with the calls that
# enqueued its device work; a piece that is too large or empty is refused with a sentence.
source "$(dirname "$0")/common.bash"

export XDG_CACHE_HOME=$work/cache
command -v python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }
python3 -c 'import ctypes; ctypes.CDLL("libmicrohttpd.so.12")' 2>/dev/null || { echo "SKIP: no libmicrohttpd (libmicrohttpd12)"; exit 77; }
TMPDIR=$work python3 "$(dirname "$0")/view_export.py" "$HEADWAY" "$DATA/nsys/mlp_sync.hwy" "$work" || bad=1
[ -z "$(find "$work" -name 'headway-piece-*')" ] || fail "a folder of a piece was left behind"
finish
