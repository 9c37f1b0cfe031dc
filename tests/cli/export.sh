#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# headway export: what goes out comes back, other tools read it, and nothing half-written is left behind.
#
# protoc is left out with a message where it is not installed. SHARED adds larger recordings and public traces.
source "$(dirname "$0")/common.bash"
tests=$(cd "$(dirname "$0")/.." && pwd)
export_inputs

# ---- sqlite: the same tables, and the same answers to public tools' queries

for file in "${recordings[@]}"; do
	name=$(basename "$file" .sqlite)
	run convert -f "$file" -o "$scratch/$name.hwy"
	exports sqlite "$scratch/$name.hwy" "$scratch/$name.sqlite"
	python3 "$tests/export_tables.py" "$HEADWAY" "$scratch/$name.hwy" "$scratch/$name.sqlite" >"$work/says" ||
		fail "$name: tables: $(head -c 600 "$work/says")"
	python3 "$tests/export_queries.py" "$file" "$scratch/$name.sqlite" >"$work/says" ||
		fail "$name: queries: $(head -c 600 "$work/says")"
	[ "$(sqlite3 "$scratch/$name.sqlite" 'PRAGMA integrity_check')" = ok ] || fail "$name: not a whole database"
done

# ---- chrome: the breakdown to the nanosecond

for file in "${traces[@]}"; do
	name=$(basename "$file")
	run convert -f "$file" -o "$scratch/trace.hwy"
	[ "$status" = 0 ] || continue # some public ones are not traces
	exports chrome "$scratch/trace.hwy" "$scratch/trace.json.gz"
	"$HEADWAY" breakdown --format json "$scratch/trace.hwy" >"$work/want" 2>&1
	"$HEADWAY" breakdown --format json "$scratch/trace.json.gz" >"$work/got" 2>&1
	cmp -s "$work/want" "$work/got" || fail "$name: the breakdown differs: $(diff "$work/want" "$work/got" | head -c 300)"
	# json.tool would write all of it again, which takes ten times as long as to read it.
	python3 -c 'import gzip, json, sys; json.load(gzip.open(sys.argv[1]))' "$scratch/trace.json.gz" || fail "$name: not JSON"
done
for file in "${recordings[@]}"; do
	name=$(basename "$file" .sqlite)
	exports chrome "$file" "$scratch/shape.json"
	steps=
	[ "$name" = streams_pinned4 ] && steps=steps
	python3 "$tests/export_shape.py" "$scratch/shape.json" $steps >"$work/says" ||
		fail "$name: not the shape PyTorch's tools expect: $(head -c 600 "$work/says")"
done

# ---- perfetto: see export_perfetto.sh too

exports perfetto "$work/streams_pinned4.sqlite" "$scratch/raw.pftrace"
if command -v protoc >/dev/null; then
	protoc --decode_raw <"$scratch/raw.pftrace" >"$work/says" 2>&1 || fail "protoc: $(tail -c 300 "$work/says")"
else
	echo "left out: protoc --decode_raw (protobuf-compiler)"
fi

# ---- csv and folded

exports csv "$work/streams_pinned4.sqlite" "$scratch/csv"
spans=$(spans_of)
[ "$(cat "$scratch"/csv/*.csv | wc -l)" = $((spans + $(find "$scratch/csv" -name '*.csv' | wc -l))) ] ||
	fail "csv: not one line a span"
python3 - "$scratch"/csv/*.csv <<'PY' || fail "csv: rows of unequal length"
import csv, sys
for path in sys.argv[1:]:
    assert len({len(row) for row in csv.reader(open(path, newline=""))}) == 1, path
PY
touch "$scratch/csv/mine.txt"
run export -t csv -f "$work/streams_pinned4.sqlite" -o "$scratch/csv"
expect_refusal "a folder with other files" "mine.txt"
run export -t folded --fold gpu "$work/mixed_nodes.sqlite" -o -
expect_status 0 "folded"
total=$(awk '{sum += $NF} END {print sum}' "$work/out")
busy=$("$HEADWAY" export -t csv --kinds kernel,copy,fill,graph -f -o "$scratch/device" "$work/mixed_nodes.sqlite" >/dev/null &&
	python3 -c 'import csv, sys; print(sum(int(r["duration"]) for p in sys.argv[1:] for r in csv.DictReader(open(p))))' "$scratch"/device/*.csv)
[ "$total" = "$busy" ] || fail "folded: $total ns, the device's work is $busy"
run export -t folded "$work/power_base.sqlite" -o -
samples=$("$HEADWAY" info --format json "$work/power_base.sqlite" | sed -n '/"sample": {/,/}/s/.*"count": \([0-9]*\).*/\1/p')
[ "$(awk '{sum += $NF} END {print sum}' "$work/out")" = "$samples" ] || fail "folded: not all $samples samples"

# ---- what is cut

count() {
	"$HEADWAY" export -t csv -f -o "$scratch/cut" "$work/streams_pinned4.sqlite" "$@" >"$work/out" 2>&1
	spans_of
}
[ "$(count --kinds kernel)" = "$(($(wc -l <"$scratch/csv/kernel.csv") - 1))" ] || fail "--kinds kernel"
[ "$(ls "$scratch/cut")" = kernel.csv ] || fail "--kinds kernel: $(ls "$scratch/cut")"
one=$(count --kinds kernel,copy --lanes "stream 13,stream 14")
all=$(count --kinds kernel,copy)
[ "$one" -gt 0 ] && [ "$one" -lt "$all" ] || fail "--lanes: $one of $all"
half=$(count --from 640ms --to 641ms)
[ "$half" -gt 0 ] && [ "$half" -lt "$spans" ] || fail "--from, --to: $half of $spans"
run export -t csv -f -o "$scratch/cut" "$work/streams_pinned4.sqlite" --range nothing
expect_refusal "--range of no name" "no range is named 'nothing'"
run export -t csv -f -o "$scratch/cut" "$work/streams_pinned4.sqlite" --lanes nothing
expect_refusal "--lanes of no name" "'nothing'"
run export -t csv -f -o "$scratch/cut" "$work/streams_pinned4.sqlite" --kinds kernels
expect_status 2 "--kinds of no name"
unpack power_base
"$HEADWAY" export -t csv -f -o "$scratch/whole" "$work/power_base.sqlite" >/dev/null
run export -t csv -f -o "$scratch/cut" "$work/power_base.sqlite" --range "Step 7"
expect_status 0 "--range"
python3 - "$scratch/whole" "$scratch/cut" "Step 7" <<'PY' || fail "--range: not what happens inside, and its work"
import csv, sys
whole, cut, name = sys.argv[1:]
read = lambda folder, kind: list(csv.DictReader(open(f"{folder}/{kind}.csv")))
spots = [(r["tid"], int(r["start"]), int(r["start"]) + int(r["duration"])) for r in read(whole, "range") if r["name"] == name]
inside = {r["id"] for r in read(whole, "api") if any(t == r["tid"] and a <= int(r["start"]) and
          int(r["start"]) + int(r["duration"]) <= b for t, a, b in spots)}
works = {r["id"] for r in read(whole, "kernel") if r["call"] in inside}
assert inside and {r["id"] for r in read(cut, "api")} == inside
assert works and {r["id"] for r in read(cut, "kernel")} == works
PY

# ---- what goes wrong: one line, exit 2, nothing left

run export --type help
expect_status 0 "--type help"
[ "$(wc -l <"$work/out")" = 6 ] || fail "--type help: $(cat "$work/out")"
run export "$work/streams_pinned4.sqlite"
expect_status 2 "no type"
for type in perfetto chrome sqlite csv folded; do
	target=$scratch/kept
	rm -rf "$target"
	[ $type = csv ] && mkdir "$target" || echo mine >"$target"
	run export -t $type "$work/streams_pinned4.sqlite" -o "$target"
	expect_refusal "$type: an existing file" "exists and is kept; -f overwrites it"
	run export -t $type "$work/streams_pinned4.sqlite" -o "$scratch/nowhere/out"
	expect_refusal "$type: no such folder" "No such file or directory"
	run export -t $type "$DATA/README.md" -f -o "$scratch/broken"
	expect_refusal "$type: not a recording"
	[ -e "$scratch/broken" ] && fail "$type: left behind after a bad input"
	if [ "$(id -u)" != 0 ]; then
		mkdir "$scratch/locked"
		chmod 500 "$scratch/locked"
		run export -t $type "$work/streams_pinned4.sqlite" -o "$scratch/locked/out"
		expect_refusal "$type: an unwritable folder" "Permission denied"
		chmod 700 "$scratch/locked"
		rmdir "$scratch/locked"
	fi
done
[ "$(cat "$scratch/kept" 2>/dev/null)" = mine ] || fail "an existing file was touched"
run export -t sqlite "$work/streams_pinned4.sqlite" -f -o "$work/streams_pinned4.sqlite"
expect_refusal "the input itself" "is the input itself"
for type in sqlite csv; do
	run export -t $type "$work/streams_pinned4.sqlite" -o -
	expect_refusal "$type to standard output" "cannot go to standard output"
done

# A full disk: a small file system where one can be made, else /dev/full.
"$HEADWAY" export -t chrome "$work/mixed_nodes.sqlite" -o - >/dev/full 2>"$work/err" </dev/null
[ $? = 2 ] || fail "/dev/full: exit status"
expect_line "$work/err" "headway: standard output: No space left on device" "/dev/full"
for type in perfetto chrome folded; do
	"$HEADWAY" export -t $type "$work/mixed_nodes.sqlite" -f -o /dev/full >"$work/out" 2>"$work/err" </dev/null
	status=$?
	expect_refusal "$type to /dev/full" "/dev/full: No space left on device"
done
for type in sqlite csv chrome perfetto; do
	mkdir -p "$scratch/small"
	(
		ulimit -f 100 # blocks of 1 KiB; the signal is turned into an error
		trap '' XFSZ
		exec "$HEADWAY" export -t $type "$work/mixed_nodes.sqlite" -o "$scratch/small/out" >"$work/out" 2>"$work/err" </dev/null
	)
	status=$?
	expect_refusal "$type: a file that may not grow"
	[ -z "$(ls -A "$scratch/small")" ] || fail "$type: left behind: $(ls -A "$scratch/small")"
done

# A reader that goes away.
("$HEADWAY" export -t chrome "$work/mixed_nodes.sqlite" -o - 2>"$work/err" </dev/null; echo $? >"$work/status") | head -c 10 >/dev/null
sleep 0.2
[ "$(cat "$work/status")" = 2 ] || fail "a closed pipe: exit status $(cat "$work/status")"
expect_line "$work/err" "headway: standard output: Broken pipe" "a closed pipe"

# Interrupted: nothing is left.
mkdir "$scratch/interrupted"
"$HEADWAY" export -t csv "$work/mixed_nodes.sqlite" -o "$scratch/interrupted/out" >/dev/null 2>&1 &
pid=$!
sleep 0.01
kill -INT $pid 2>/dev/null
wait $pid
case $(ls -A "$scratch/interrupted") in
'' | out) ;;
*) fail "interrupted: left behind: $(ls -A "$scratch/interrupted")" ;;
esac
finish
