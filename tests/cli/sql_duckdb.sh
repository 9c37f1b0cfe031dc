#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The ready questions of sql/ that need nothing of headway's own have the same answers from DuckDB, over the Parquet export, as from `headway sql`.
source "$(dirname "$0")/common.bash"
root=$(cd "$(dirname "$0")/../.." && pwd)
modules=$root/build/duckdb
command -v node >/dev/null || { echo "SKIP: no node"; exit 77; }
node -e "require('$modules/node_modules/@duckdb/node-api')" 2>/dev/null || { echo "SKIP: no DuckDB in build/duckdb (scripts/setup test)"; exit 77; }
if [ -n "${HEADWAY_SANITIZED:-}" ]; then
	echo "SKIP: asks the same as in the release build"
	exit 77
fi
asked=
for name in nsys/decode_eager.hwy operators/decode.hwy jobs/halo_late gpu/mlp_sync.hwy; do
	run export -t parquet -o "$work/lake" "$DATA/$name"
	expect_status 0 "export of $name"
	node "$root/tests/parquet_duckdb.mjs" "$modules" questions "$HEADWAY" "$DATA/$name" "$work/lake" "$root/sql" >"$work/asked" 2>&1 ||
		fail "$name: $(head -c 900 "$work/asked")"
	asked+=" $(awk '$2 > 0 { print $1 }' "$work/asked")"
	rm -r "$work/lake"
done
for question in top-kernels top-calls copies device-gaps launch-delay operators ranges small-kernels collective-skew rank-balance; do
	[[ " $(echo $asked) " == *" $question "* ]] || fail "$question was not asked, or had no rows"
done
finish
