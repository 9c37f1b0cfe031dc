#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# view_selection - what the viewer says of a stretch of time and chosen lanes is what `headway sql` says, counted by hand.
source "$(dirname "$0")/common.bash"

export XDG_CACHE_HOME=$work/cache
if ! python3 -c 'import ctypes; ctypes.CDLL("libmicrohttpd.so.12")' 2>/dev/null; then
	echo "skipped: no python3, or no libmicrohttpd (libmicrohttpd12)"
	exit 77
fi
unpack streams_pinned4
for recording in "$work/streams_pinned4.sqlite" "$DATA/nsys/itemloop_item.hwy" "$DATA/programs/recast.hwy" "$DATA/nsys/mlp_sync.hwy" \
	"$DATA/nsys/streams_metrics.hwy"; do
	python3 "$(dirname "$0")/view_selection.py" "$HEADWAY" "$recording" || bad=1
done
finish
