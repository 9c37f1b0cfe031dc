#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# DuckDB reads Parquet exports: every cell of every kind is that of the CSV export, sums are those of `headway stats`, the lines of
# docs/parquet.md work, and what is cut or damaged is refused.
source "$(dirname "$0")/common.bash"
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
modules=$root/build/duckdb
command -v node >/dev/null || { echo "SKIP: no node"; exit 77; }
[ -d "$modules/node_modules/@duckdb/node-api" ] || { echo "SKIP: no DuckDB in build/duckdb (scripts/setup test)"; exit 77; }
node -e "require('$modules/node_modules/@duckdb/node-api')" 2>/dev/null || { echo "SKIP: DuckDB's library does not load here"; exit 77; }
if [ -n "${HEADWAY_SANITIZED:-}" ]; then
	echo "SKIP: reads what cli.parquet writes in this build, too"
	exit 77
fi
cd "$work" || exit 2

duckdb() {
	node "$root/tests/parquet_duckdb.mjs" "$modules" "$@"
}

# ---- every cell of every kind

cp "$here/parquet_call.json" call.json
kinds=
number=0
for file in "$DATA"/nsys/{decode_graph,streams_metrics,mlp_backtrace}.hwy "$DATA"/torch/mlp_async.hwy "$DATA"/operators/decode.hwy call.json; do
	number=$((number + 1))
	run export -t csv "$file" -o "csv$number"
	run export -t parquet "$file" -o lake --job "$number"
	expect_status 0 "export of $file"
	duckdb compare "lake/job=$number/rank=0" "csv$number" >says 2>&1 || fail "$file: $(head -c 900 says)"
	kinds+=" $(cut -d' ' -f1 says | tr '\n' ' ')"
done
for kind in api kernel copy fill graph sync event range op call os state memory sample counter overhead; do
	[[ " $kinds " == *" $kind "* ]] || fail "no recording has the kind $kind"
done

# Sums by name are those of `headway stats`.
run stats -r cuda_gpu_kern_sum --format csv "$DATA/nsys/mlp_backtrace.hwy"
python3 - out <<'PY' >want
import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    print(row["Instances"], row["Total Time (ns)"], row["Min (ns)"], row["Max (ns)"], row["Name"], sep="|")
PY
duckdb query "SELECT count(*), sum(duration), min(duration), max(duration), name FROM 'lake/job=3/*/table=kernel/*.parquet'
	GROUP BY name" >got
[ -s want ] || fail "stats: no kernels"
diff <(sort want) <(sort got) >says || fail "kernels by name: $(head -c 600 says)"

# Tables of all jobs at once, with the job and the rank from the folders' names; joins by id.
[ "$(duckdb query "SELECT count(DISTINCT job), min(rank), max(rank) FROM 'lake/*/*/table=lanes/*.parquet'")" = "6|0|0" ] ||
	fail "jobs and ranks: $(duckdb query "SELECT DISTINCT job, rank FROM 'lake/*/*/table=lanes/*.parquet'")"
[ "$(duckdb query "SELECT count(*) FROM 'lake/job=1/*/table=kernel/*.parquet' k JOIN 'lake/job=1/*/table=api/*.parquet' a ON a.id = k.call
	WHERE a.correlation <> k.correlation")" = 0 ] || fail "kernels and their calls do not share correlation ids"
[ "$(duckdb query "SELECT count(*) FROM 'lake/job=1/*/table=kernel/*.parquet' k JOIN 'lake/job=1/*/table=lanes/*.parquet' l ON l.id = k.lane_id
	WHERE l.stream IS DISTINCT FROM k.stream")" = 0 ] || fail "lanes are not those of their spans"

# ---- the document, and the line that the export itself prints

python3 "$here/job_make.py" job1 input
rm -rf lake
for input in job1 "$DATA/nsys/mlp_sync.hwy" "$DATA/nsys/mlp_async.hwy"; do
	run export -t parquet "$input" -o lake
	expect_status 0 "export of $input"
	sed -n 's/^next: duckdb -c "\(.*\)"$/\1/p' out >lines
	[ "$(duckdb query "$(cat lines)" | wc -l)" -gt 0 ] || fail "the next line gives nothing: $(cat lines)"
done
grep -o '^    duckdb -c ".*"$' "$root/docs/parquet.md" | sed 's/^    duckdb -c "\(.*\)"$/\1/' >lines
[ "$(wc -l <lines)" -ge 6 ] || fail "docs/parquet.md: its lines are not found"
while IFS= read -r line; do
	duckdb query "$line" >says 2>&1 || fail "docs/parquet.md: $line: $(head -c 600 says)"
	[ -s says ] || fail "docs/parquet.md: $line: no rows"
done <lines

# ---- what is not whole is refused

table=lake/job=mlp_sync/rank=0/table=steps/part-0.parquet
size=$(stat -c %s $table)
files=()
for cut in 0 1 4 8 11 12 100 $((size / 2)) $((size - 9)) $((size - 8)) $((size - 5)) $((size - 4)) $((size - 1)); do
	head -c "$cut" $table >"cut$cut.parquet"
	files+=("cut$cut.parquet")
done
# Flipped bits in the end of the file (magic, length of the footer), and in the footer's first bytes (its version and schema).
footer=$(od -An -tu4 -j $((size - 8)) -N 4 $table | tr -d ' ')
for at in $((size - 1)) $((size - 4)) $((size - 5)) $((size - 7)) $((size - 8 - footer)); do
	cp $table "flip$at.parquet"
	byte=$(od -An -tu1 -j "$at" -N 1 $table | tr -d ' ')
	printf "$(printf '\\x%02x' $((byte ^ 64)))" | dd of="flip$at.parquet" bs=1 seek="$at" conv=notrunc 2>/dev/null
	files+=("flip$at.parquet")
done
duckdb refused "${files[@]}" >says 2>&1 || fail "damage: $(cat says)"
finish
