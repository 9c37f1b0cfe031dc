#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Exports from public repositories, of three schemas, open with the counts their authors gave, and nothing is
# left beside them.
source "$(dirname "$0")/common.bash"

public=${SHARED:-}/data/public-nsys
if [ ! -d "$public" ]; then
	echo "SKIP: the public nsys exports are not here (../shared/data/public-nsys)"
	exit 77
fi

# count KIND: how many spans of the kind the last 'info --format json' told.
count() {
	sed -n "/^    \"$1\": {/,/}/s/.*\"count\": \([0-9]*\).*/\1/p" "$work/out"
}

# opens NAME SCHEMA KIND=COUNT…
opens() {
	local name=$1 schema=$2 pair
	shift 2
	mkdir "$work/$name"
	xz -dc "$public/$name.sqlite.xz" >"$work/$name/$name.sqlite"
	chmod 500 "$work/$name"
	run info --format json "$work/$name/$name.sqlite"
	expect_status 0 "info $name"
	grep -qF "\"schema\": \"$schema\"" "$work/out" || fail "$name: schema is not $schema"
	for pair in "$@"; do
		[ "$(count "${pair%=*}")" = "${pair#*=}" ] ||
			fail "$name: $(count "${pair%=*}") spans of kind ${pair%=*}, not ${pair#*=}"
	done
	[ "$(ls -A "$work/$name")" = "$name.sqlite" ] || fail "$name: left behind: $(ls -A "$work/$name")"
	chmod 700 "$work/$name"
}

# Rows of OSRT_API that only say when tracing began and ended (654 and 1428 in all) are no calls.
opens h100_2gpu_1s 3.25.0 kernel=3442 api=5796 copy=904 fill=22 range=16782 sync=244 overhead=198
[ "$(grep -c '"ordinal": ' "$work/out")" = 2 ] || fail "h100_2gpu_1s: not two devices"
opens cuda_graph_3_24 3.24.0 kernel=3 api=33 copy=1 graph=2 event=2 sync=2 os=651
opens power_iteration 3.20.2 kernel=3689 api=7417 copy=89 sync=90 os=1427 sample=893 range=786
finish
