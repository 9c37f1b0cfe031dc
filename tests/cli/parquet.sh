#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# headway export -t parquet: every cell is that of the CSV export, read by a reader of the tests' own; one folder holds many jobs and
# ranks, of which an export replaces its own only; nothing half-written is left behind.
source "$(dirname "$0")/common.bash"
here=$(cd "$(dirname "$0")" && pwd)
check=$here/parquet_check.py
: "${PARQUET_OF:?the reader of Parquet files}" "${HEADWAY_SANITIZED:=}"
command -v python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }
cd "$work" || exit 2

# tables FOLDER: the files below it, by name.
tables() {
	find "$1" -type f | sort
}

# ---- every cell of every kind, by a second reader that checks statistics, order and checksums

cp "$here/parquet_call.json" call.json
inputs=("$DATA"/nsys/{decode_graph,streams_metrics,mlp_async}.hwy "$DATA"/torch/mlp_async.hwy "$DATA"/operators/decode.hwy call.json)
if [ -z "$HEADWAY_SANITIZED" ]; then
	inputs+=("$DATA"/gpu/*.hwy "$DATA"/programs/{ddp,jax_input,vision}.hwy)
fi
kinds=
parts=
number=0
for file in "${inputs[@]}"; do
	number=$((number + 1))
	run export -t csv "$file" -o "csv$number"
	[ "$status" = 0 ] || continue # some are lists of counters, without a span
	run export -t parquet "$file" -o lake --job "$number"
	expect_status 0 "export of $file"
	[ -s "$work/err" ] && fail "export of $file said: $(head -c 300 "$work/err")"
	if [ -e "lake/job=$number/rank=1" ]; then # a recording of several ranks is taken apart
		python3 "$check" job "$PARQUET_OF" "lake/job=$number" "csv$number" >says || fail "$file: $(head -c 600 says)"
		parts=yes
	else
		python3 "$check" spans "$PARQUET_OF" "lake/job=$number/rank=0" "csv$number" >says || fail "$file: $(head -c 600 says)"
		kinds+=" $(cat says)"
	fi
	for table in "lake/job=$number/rank=0"/*/part-0.parquet; do
		"$PARQUET_OF" facts "$table" >facts 2>&1 || fail "$file: $(cat facts)"
		grep -qx "headway.job $number" facts || fail "$table: does not say of which job it is"
	done
	rm -rf "csv$number"
done
for kind in api kernel copy fill graph sync event range op call os state memory sample counter overhead; do
	[[ " $kinds " == *" $kind "* ]] || fail "no recording has the kind $kind"
done
[ -n "$parts$HEADWAY_SANITIZED" ] || fail "no recording has several ranks"
rm -rf lake

# What the analysis found is what `headway analyze` says.
for name in nsys/decode_eager nsys/mlp_sync gpu/itemloop_item programs/vision; do
	run export -t parquet -f "$DATA/$name.hwy" -o found --job it
	"$HEADWAY" analyze --format json "$DATA/$name.hwy" >analysis.json
	python3 "$check" analysis "$PARQUET_OF" found/job=it/rank=0 analysis.json >says || fail "$name: $(head -c 600 says)"
done

# ---- the folder

cp "$DATA/gpu/allocloop_malloc.hwy" one.hwy
cp "$DATA/gpu/roundtrip_cpu.hwy" two.hwy
run export -t parquet one.hwy
expect_status 0 "a default name"
[ -d one.parquet.d/job=one/rank=0/table=kernel ] || fail "a default name: $(find one.parquet.d | head)"
grep -Eq '^one.parquet.d: [0-9]+ files, [0-9,]+ rows, [0-9.]+ kB; 952 spans, [0-9.]+ bytes a span$' out ||
	fail "the closing line: $(cat out)"
grep -q "^next: duckdb -c .*'one.parquet.d/\*/\*/table=kernel/\*.parquet'" out || fail "no next line: $(cat out)"
[ "$(stat -c %a one.parquet.d/job=one/rank=0/table=kernel/part-0.parquet)" = 600 ] || fail "others may read the export"

run export -t parquet one.hwy -o lake
run export -t parquet two.hwy -o lake
expect_status 0 "a second recording in one folder"
tables lake >before
run export -t parquet one.hwy -o lake
expect_refusal "a rank that is there" "lake/job=one/rank=0: exists and is kept; -f replaces it"
tables lake | cmp -s - before || fail "a refused export changed the folder"
touch -d 2001-01-01 lake/job=one/rank=0/table=kernel/part-0.parquet lake/job=two/rank=0/table=kernel/part-0.parquet
run export -t parquet -f one.hwy -o lake
expect_status 0 "-f"
[ "$(stat -c %Y lake/job=one/rank=0/table=kernel/part-0.parquet)" -gt 1000000000 ] || fail "-f did not replace the rank"
[ "$(stat -c %Y lake/job=two/rank=0/table=kernel/part-0.parquet)" -lt 1000000000 ] || fail "-f touched another job"
tables lake | cmp -s - before || fail "-f left other files: $(tables lake | diff - before)"
run export -t parquet -f --kinds kernel one.hwy -o lake
[ ! -e lake/job=one/rank=0/table=api ] || fail "a table of the earlier export is still there"
echo mine >lake/job=one/rank=0/notes.txt
run export -t parquet -f one.hwy -o lake
expect_refusal "a foreign file" "holds 'notes.txt', which no export wrote"
rm lake/job=one/rank=0/notes.txt
echo mine >lake/job=one/rank=0/table=kernel/mine
run export -t parquet -f one.hwy -o lake
expect_refusal "a foreign file in a table" "holds 'mine', which no export wrote"
rm lake/job=one/rank=0/table=kernel/mine
run export -t parquet one.hwy -o lake --job 'a b/c=1'
[ -d 'lake/job=a%20b%2Fc%3D1/rank=0' ] || fail "the name of a job is not written as Hive does: $(ls lake)"
run export -t parquet one.hwy -o slash/ --job "$(printf 'b\xff')"
expect_status 0 "a name that ends in a slash, a job that is no UTF-8"
"$PARQUET_OF" facts slash/job=b%FF/rank=0/table=lanes/part-0.parquet | grep -qx "headway.job b$(printf '\xef\xbf\xbd')" ||
	fail "the job's name: $(ls slash)"
run export -t parquet one.hwy -o -
expect_refusal "standard output" "cannot go to standard output"
echo file >file
run export -t parquet one.hwy -o file
expect_refusal "an output that is a file" "file: is not a folder"
run export -t parquet one.hwy -o missing/lake
expect_refusal "a folder that is not there" "missing/lake: No such file or directory"
[ -z "$(find . -maxdepth 1 -name 'lake.*' -o -maxdepth 1 -name 'file.*')" ] || fail "temporary folders are left: $(ls)"

# Options: without the analysis, a part of the time.
run export -t parquet --plain one.hwy -o plain
[ ! -e plain/job=one/rank=0/table=gaps ] || fail "--plain has gaps"
[ -e plain/job=one/rank=0/table=lanes ] || fail "--plain has no lanes"
run export -t csv --from 1ms --to 800ms "$DATA/gpu/events_host.hwy" -o cut.csv
run export -t parquet --from 1ms --to 800ms "$DATA/gpu/events_host.hwy" -o cut
python3 "$check" spans "$PARQUET_OF" cut/job=events_host/rank=0 cut.csv >says || fail "a window: $(head -c 600 says)"

# ---- a job

python3 "$here/job_make.py" job1 input
run export -t csv job1 -o job1.csv
run export -t parquet job1/
[ -d job1.parquet.d/job=job1/rank=3 ] || fail "a folder that ends in a slash: $(ls)"
run export -t parquet job1 -o ranks
expect_status 0 "a job"
[ "$(ls ranks/job=job1 | tr '\n' ' ')" = "rank=0 rank=1 rank=2 rank=3 " ] || fail "ranks: $(ls ranks/job=job1)"
python3 "$check" job "$PARQUET_OF" ranks/job=job1 job1.csv >says || fail "a job: $(head -c 600 says)"
for rank in 0 1 2 3; do
	"$PARQUET_OF" ranks/job=job1/rank=$rank/table=ranks/part-0.parquet | tail -1 | grep -q "^0,$rank,4,.*,168,rank$rank.json," ||
		fail "rank $rank: $("$PARQUET_OF" ranks/job=job1/rank=$rank/table=ranks/part-0.parquet)"
done
touch -d 2001-01-01 ranks/job=job1/rank=*/table=kernel/part-0.parquet
run export -t parquet job1/rank2.json -o ranks --job job1
expect_refusal "one rank that is there" "rank=2: exists and is kept"
run export -t parquet -f job1/rank2.json -o ranks --job job1
expect_status 0 "one rank again"
for rank in 0 1 3; do
	[ "$(stat -c %Y ranks/job=job1/rank=$rank/table=kernel/part-0.parquet)" -lt 1000000000 ] || fail "rank $rank was replaced, too"
done
[ "$(stat -c %Y ranks/job=job1/rank=2/table=kernel/part-0.parquet)" -gt 1000000000 ] || fail "rank 2 was not replaced"
"$PARQUET_OF" facts ranks/job=job1/rank=2/table=kernel/part-0.parquet | grep -qx 'headway.clock recording' || fail "rank 2: whose clock?"
"$PARQUET_OF" facts ranks/job=job1/rank=1/table=kernel/part-0.parquet | grep -qx 'headway.clock first rank' || fail "rank 1: whose clock?"

# ---- what is not whole is refused, and no export is taken for a recording

for table in ranks steps kernel; do
	"$PARQUET_OF" cuts "ranks/job=job1/rank=0/table=$table/part-0.parquet" >says 2>&1 || fail "$table: $(cat says)"
done
file=lake/job=two/rank=0/table=kernel/part-0.parquet
run info $file
expect_refusal "an export as a recording" "$file: is a Parquet export of Headway; open the recording it was made of (two.hwy)"
for folder in lake lake/job=two lake/job=two/rank=0; do
	run stats $folder
	expect_refusal "a folder of exports" "$folder: is a Parquet export of Headway; open the recordings it was made of"
done
for cut in 4 100 3000; do
	head -c $cut $file >cut.parquet
	run info cut.parquet
	expect_refusal "an export cut after $cut bytes" "seems to be a Parquet file"
done

# An export that is interrupted leaves nothing; what was there stays.
tables lake >before
for signal in TERM INT; do
	"$HEADWAY" export -t parquet -f "$DATA/nsys/mlp_backtrace.hwy" -o lake --job one >/dev/null 2>&1 &
	pid=$!
	while [ -d /proc/$pid ] && [ -z "$(find . -maxdepth 1 -name 'lake.*')" ]; do :; done
	kill -$signal $pid 2>/dev/null
	wait $pid 2>/dev/null
	[ -z "$(find . -maxdepth 1 -name 'lake.*')" ] || fail "SIG$signal left $(find . -maxdepth 1 -name 'lake.*')"
	for table in $(tables lake); do
		"$PARQUET_OF" facts "$table" >/dev/null 2>says || fail "after SIG$signal: $(cat says)"
	done
done

# A disk that is full: one sentence, and nothing is left.
if (ulimit -f 8; trap '' XFSZ; exec "$HEADWAY" export -t parquet "$DATA/nsys/mlp_backtrace.hwy" -o full >out 2>err); then
	fail "a file that may not grow was written"
fi
[ "$(wc -l <err)" = 1 ] && grep -q '^headway: full: File too large' err || fail "a file that may not grow: $(cat err)"
[ -z "$(find . -maxdepth 1 -name 'full*')" ] || fail "a full disk left $(find . -maxdepth 1 -name 'full*')"
finish
