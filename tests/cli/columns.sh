#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# columns - the viewer's details of a span and the CSV files tell the same value for every column of every kind.
source "$(dirname "$0")/common.bash"

export XDG_CACHE_HOME=$work/cache
if ! command -v python3 >/dev/null; then
	echo "SKIP: no python3"
	exit 77
fi
if ! python3 -c 'import ctypes; ctypes.CDLL("libmicrohttpd.so.12")' 2>/dev/null; then
	echo "SKIP: no libmicrohttpd (libmicrohttpd12)"
	exit 77
fi
export_inputs
own=("$DATA"/*/*.hwy)
is_sanitized && own=("$DATA"/gpu/*.hwy)
python3 "$(dirname "$0")/columns_check.py" "$HEADWAY" "$scratch" \
	"${recordings[@]}" "${traces[@]}" "${own[@]}" || bad=1
finish
