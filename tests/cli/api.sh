#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program compiled against the installed headers, with pkg-config, reads a recording.
set -euo pipefail

if [ -n "${HEADWAY_SANITIZED:-}" ]; then
	echo "SKIP: the sanitized library is not what is installed"
	exit 77
fi
for tool in pkg-config cmake xz nm "${CC:=cc}"; do
	command -v "$tool" >/dev/null || {
		echo "SKIP: needs $tool"
		exit 77
	}
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$HEADWAY_BUILD" --prefix "$work/usr" >"$work/log"
recordings=("$DATA"/nsys/*.sqlite.xz)
xz -dc "${recordings[0]}" >"$work/run.sqlite"

cat >"$work/prog.c" <<'C'
#include <headway.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	char why[256];
	struct headway_trace *trace = headway_trace_open(argv[argc - 1], why, sizeof why);
	if (!trace)
		return fprintf(stderr, "%s\n", why), 2;
	struct headway_cursor *cursor = headway_cursor_open(trace, HEADWAY_ALL_LANES, NULL, why, sizeof why);
	struct headway_span_info span;
	struct headway_lane_info lane;
	unsigned spans = 0, kernels = 0, caused = 0, misplaced = 0;
	while (headway_cursor_next(cursor, &span)) {
		spans++;
		kernels += strcmp(span.kind, "kernel") == 0;
		caused += span.cause != HEADWAY_NO_SPAN;
		misplaced += !headway_trace_lane(trace, span.lane, &lane) || span.dur < 0;
	}
	headway_cursor_close(cursor);
	printf("%s %d %d %d %u\n", headway_version(), spans == headway_trace_spans(trace) && spans > 0,
	       kernels == headway_trace_spans_of_kind(trace, "kernel") && kernels > 0, caused > 0, misplaced);
	headway_trace_close(trace);
	return 0;
}
C
PKG_CONFIG_PATH=$(find "$work/usr" -name headway.pc -printf '%h')
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
"$CC" -std=c99 -Wall -Wextra -Werror -o "$work/prog" "$work/prog.c" $(pkg-config --cflags --libs headway)
LD_LIBRARY_PATH=$(pkg-config --variable=libdir headway)
export LD_LIBRARY_PATH

said=$("$work/prog" "$work/run.sqlite")
version=$(pkg-config --modversion headway)
if [ "$said" != "$version 1 1 1 0" ]; then
	echo "expected '$version 1 1 1 0', got '$said'"
	exit 1
fi
if "$work/prog" "$work/prog.c" 2>"$work/why"; then
	echo "a C program was taken for a recording"
	exit 1
fi
grep -q "prog.c" "$work/why"
# Nothing leaves the library but what headway.h declares.
for name in $(nm -D --defined-only "$LD_LIBRARY_PATH"/libheadway.so | awk '{print $3}'); do
	grep -qw "$name" "$work/usr/include/headway.h" || {
		echo "$name is exported but not public"
		exit 1
	}
done
