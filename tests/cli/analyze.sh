#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# analyze: every recording at hand against analyze_table.txt, the formats, and what is refused.
source "$(dirname "$0")/common.bash"
here=$(dirname "$0")
type python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }

# analyze_file PATH [CONDITION …]: its JSON holds what must always hold, and the conditions.
analyze_file() {
	local path=$1
	shift
	run analyze --format json "$path"
	expect_status 0 "$path"
	python3 "$here/analyze_check.py" "$work/out" "$@" >"$work/differences" 2>&1 ||
		fail "$path: $(head -c 800 "$work/differences")"
}

# ---- the table ----

# judge FILE CONDITION…: FILE may be packed.
judge() {
	local path=$1
	shift
	if [[ $path == *.xz ]]; then
		xz -dc "$path" >"$work/recording.sqlite"
		path=$work/recording.sqlite
	fi
	analyze_file "$path" "$@"
}

judged=0
skipped=0
while read -r file conditions; do
	case $file in
	'' | '#'*) continue ;;
	data/*) path=$DATA/${file#data/} ;;
	*) path=${SHARED:-/nowhere}/data/${file#shared/} ;;
	esac
	if [[ $file != data/* && ! -e $path ]]; then
		skipped=$((skipped + 1))
		continue
	fi
	judged=$((judged + 1))
	# What a report was converted from must be judged alike; the sanitizers see its reader in tests of its own.
	case $file in
	data/nsys/*.hwy) source=${SHARED:-/nowhere}/data/nsys/$(basename "$file" .hwy).sqlite.xz ;;
	data/torch/*.hwy) source=${SHARED:-/nowhere}/data/torch/$(basename "$file" .hwy).json.gz ;;
	*) source= ;;
	esac
	is_sanitized && source=
	for one in "$path" "$source"; do
		[[ $one == "$path" || -e $one ]] || continue
		# shellcheck disable=SC2086 # conditions are words
		judge "$one" $conditions
		[ -s "$work/differences" ] && echo "    of $one"
	done
done <"$here/analyze_table.txt"
echo "$judged of $((judged + skipped)) rows of the table are judged"
[ $((5 * judged)) -ge $((4 * (judged + skipped))) ] || fail "less than four fifths of the table are judged"
[ "$skipped" = 0 ] || echo "SKIP (in part): $skipped recordings of the table are not here"

# The rest of what is at hand: what must always hold, and no format fails.
rest=("$DATA"/nsys/*.sqlite.xz "$DATA"/breakdown/two_gpus.json)
[ -n "${SHARED:-}" ] && rest+=("$SHARED"/data/public-nsys/*.sqlite.xz)
for path in "${rest[@]}"; do
	[ -e "$path" ] || continue
	if [[ $path == *.xz ]]; then
		xz -dc "$path" >"$work/recording.sqlite"
		path=$work/recording.sqlite
	fi
	analyze_file "$path"
	for format in text brief markdown; do
		run analyze -v --format $format "$path"
		expect_status 0 "$path as $format"
	done
done
if [ -n "${SHARED:-}" ] && [ -d "$SHARED/data/public-traces" ] && ! is_sanitized; then
	while read -r path; do
		analyze_file "$path"
	done < <(find "$SHARED/data/public-traces" -name '*.json.gz')
fi

# ---- a report says what its source said ----

unpack power_base
run analyze --format json "$work/power_base.sqlite"
sed '/"file":/d; /"kernels_command":/d; /"evidence"/,/]/d' "$work/out" >"$work/source.out"
"$HEADWAY" convert -f "$work/power_base.sqlite" -o "$work/power_base.hwy" >/dev/null || fail "convert"
run analyze --format json "$work/power_base.hwy"
sed '/"file":/d; /"kernels_command":/d; /"evidence"/,/]/d' "$work/out" >"$work/report.out"
cmp -s "$work/source.out" "$work/report.out" || fail "a report gives another diagnosis than its source: $(diff "$work/source.out" "$work/report.out" | head -5)"

# ---- text ----

run analyze "$work/power_base.hwy"
expect_status 0 "text"
[ "$(wc -l <"$work/out")" -le 45 ] || fail "more than a screen: $(wc -l <"$work/out") lines"
for part in 'power.py' 'NVIDIA H200' 'a step' 'GPU busy' 'headway 0 for 86 % of the time, at most 34.4 µs' '1  launch-bound' \
	'▸' 'looked at, not guilty' '✓  sync-in-loop' 'next: headway show'; do
	grep -qF -- "$part" "$work/out" || fail "the text lacks '$part': $(cat "$work/out")"
done
grep -q $'\033' "$work/out" && fail "colours where there is no terminal"
grep -qE ' +$' "$work/out" && fail "spaces at the end of a line: $(grep -nE ' +$' "$work/out" | head -3)"
LC_ALL=C "$HEADWAY" analyze "$work/power_base.hwy" >"$work/ascii"
LC_ALL=C grep -q '[^ -~]' "$work/ascii" && fail "not ASCII in the C locale: $(LC_ALL=C grep -n '[^ -~]' "$work/ascii" | head -2)"
# Lines fit 100 columns, but for a command to copy, however long names are.
for path in "$DATA"/gpu/*.hwy; do
	run analyze "$path"
	! grep -vE '▸ headway kernels |   next: headway show ' "$work/out" | LC_ALL=C.UTF-8 grep -E '^.{101}| $' || fail "$path: lines too wide, or with spaces at the end"
done
# What is left inside the kernels: the command that measures them, what counters say where there are some, and ncu's command on demand.
run analyze "$DATA/torch/mlp_async.hwy"
grep -qF "▸ headway kernels $DATA/torch/mlp_async.hwy -- PROGRAM [arguments]" "$work/out" || fail "no line that measures kernels: $(cat "$work/out")"
! grep -qF '▸ ncu ' "$work/out" || fail "ncu's command unasked"
run analyze -v "$DATA/torch/mlp_async.hwy"
grep -qF '▸ ncu --kernel-name-base demangled -k regex:' "$work/out" || fail "no command of ncu with -v"
run analyze "$DATA/gpu/twelve_torch.hwy"
grep -qE '^ +27 %  sm90_xmma_gemm_f32f32_tf32f32.*…   compute, 93 % of the roof$' "$work/out" || fail "no bound of a measured kernel: $(cat "$work/out")"
grep -qxF "    ▸ headway kernels $DATA/gpu/twelve_torch.hwy" "$work/out" || fail "measured kernels are measured again"
run analyze --format brief "$DATA/gpu/twelve_torch.hwy"
grep -qxF "Next: headway kernels $DATA/gpu/twelve_torch.hwy" "$work/out" || fail "the brief: $(tail -n 1 "$work/out")"
run analyze --format json "$DATA/gpu/twelve_own.hwy"
grep -qF '"bound": "memory (DRAM)",' "$work/out" && grep -q '"of_roof": 0.69[0-9]*$' "$work/out" || fail "no bound in the JSON"
grep -qF '"ncu": "ncu ' "$work/out" && grep -qF '"kernels_command": "headway kernels ' "$work/out" || fail "no commands in the JSON"
run analyze "$DATA/gpu/streams_pageable1.hwy"
grep -A1 ' 1  pageable-copy .* and 1 more$' "$work/out" | grep -q '^    [0-9.]* → ' || fail "what a fix is worth is in the next line: $(cat "$work/out")"
# Its head and its predictions tell of the same step without the recorder.
run analyze --format json "$DATA/gpu/decode_eager.hwy"
alone=$(python3 -c 'import json, sys; print("%.2f ms" % (json.load(sys.stdin)["findings"][0]["predicted"]["before_ns"] / 1e6))' <"$work/out")
run analyze "$DATA/gpu/decode_eager.hwy"
grep -qF "$alone a step without Headway's own cost" "$work/out" || fail "the step without the recorder is not $alone: $(head -8 "$work/out")"
run analyze -v "$work/power_base.hwy"
grep -q 'evidence, confidence high' "$work/out" || fail "-v shows evidence"
grep -q 'idle time by cause' "$work/out" || fail "-v shows the causes"

run analyze --format brief "$work/power_base.hwy"
[ "$(wc -c <"$work/out")" -lt 2000 ] || fail "brief is not brief"
grep -q '^1. launch-bound: ' "$work/out" || fail "brief lacks the finding: $(cat "$work/out")"
run analyze --format markdown "$work/power_base.hwy"
grep -q '^| launch-bound | ' "$work/out" || fail "markdown lacks the table"

# ---- options ----

run analyze --format json -o "$work/written" "$work/power_base.hwy"
expect_status 0 "-o"
[ -s "$work/out" ] && fail "-o writes to the file alone"
run analyze -o "$work/written" "$work/power_base.hwy"
expect_refusal "-o keeps an existing file" "written"
run analyze --format json --step 'Step ' "$work/power_base.hwy"
python3 "$here/analyze_check.py" "$work/out" step=0.774 || fail "--step 'Step '"
run analyze --step nothing-has-this-name "$work/power_base.hwy"
expect_refusal "marks that are not there" "nothing-has-this-name"
run analyze
expect_status 2 "no file"
run analyze --format yaml "$work/power_base.hwy"
expect_status 2 "an unknown format"
run analyze "$work/nowhere.hwy"
expect_refusal "a file that is not there" "nowhere.hwy"
mkdir "$work/empty"
run analyze "$work/empty"
expect_refusal "an empty folder" "no recording in this folder"

# ---- several ----

mkdir "$work/runs"
cp "$work/power_base.hwy" "$work/runs/a.hwy"
cp "$work/power_base.hwy" "$work/runs/b.hwy"
run analyze "$work/runs"
expect_status 0 "a folder"
grep -q '2 runs, ' "$work/out" || fail "files of one program are runs: $(head -3 "$work/out")"
echo '{"name": "not a trace"}' >"$work/runs/package.json"
run analyze "$work/runs"
expect_status 0 "a folder with something else in it"
expect_line "$work/err" "headway: left out: $work/runs/package.json: no traceEvents; is this a PyTorch trace?" "what is no recording"
grep -q '2 runs, ' "$work/out" || fail "the others are read: $(head -3 "$work/out")"
rm "$work"/runs/*.hwy
run analyze "$work/runs"
expect_refusal "a folder without a recording" "package.json: no traceEvents"

# ---- files that are no ranks of one job ----

cp "$DATA/gpu/mlp_sync.hwy" "$work/rank0.hwy"
cp "$DATA/gpu/itemloop_item.hwy" "$work/rank1.hwy"
run analyze "$work/rank0.hwy" "$work/rank1.hwy"
expect_status 0 "two programs"
grep -q "are not ranks of one job, their programs differ: each file is judged alone" "$work/err" ||
	fail "two programs are taken for one: $(cat "$work/err")"
[ "$(grep -c ' a step    GPU busy ' "$work/out")" = 2 ] || fail "not each file is judged: $(cat "$work/out")"
run whatif "$work/rank0.hwy" "$work/rank1.hwy"
expect_status 2 "whatif of two programs"
grep -q "are not ranks of one job, their programs differ" "$work/err" || fail "whatif of two programs: $(cat "$work/err")"

# ---- several recordings that are no job ----

# What has no device work is shown only where there is nothing else, and is named.
mkdir "$work/mixed"
cp "$DATA/gpu/mlp_sync.hwy" "$work/mixed/b.hwy"
cp "$DATA/gpu/decode_eager.hwy" "$work/mixed/c.hwy"
echo '[{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 9, "ts": 1, "dur": 2}]' >"$work/mixed/a.json"
run analyze "$work/mixed"
expect_status 0 "recordings of several programs"
tr -s ' \n' ' ' <"$work/out" >"$work/flat"
grep -q '2 recordings of different programs: analyze each by itself; this is one of them, .*/mixed/[bc].hwy' "$work/flat" ||
	fail "different programs are taken for runs of one: $(head -5 "$work/out")"
grep -q 'left out, without device work: .*/mixed/a.json' "$work/flat" || fail "what was left out is not named: $(head -5 "$work/out")"
rm "$work/mixed/c.hwy"
run analyze "$work/mixed"
tr -s ' \n' ' ' <"$work/out" | grep -q '2 recordings; this is the only one with device work, .*/mixed/b.hwy' ||
	fail "an empty recording is chosen: $(head -5 "$work/out")"
run analyze --format brief "$work/mixed"
grep -q '^2 recordings; this is the only one' "$work/out" || fail "the brief does not say what it is of: $(cat "$work/out")"

# A command that is wider than the page goes on in a second line, as a shell reads it.
long=$work/a_folder_with_a_name_that_is_rather_long_for_a_line_of_a_hundred_columns
mkdir "$long"
cp "$DATA/nsys/decode_graph.hwy" "$long"
run analyze "$long/decode_graph.hwy"
grep -A1 '▸ headway kernels' "$work/out" | tr -d '\n' | grep -q 'decode_graph.hwy \\ *--' || fail "a command is too wide: $(grep -A1 '▸ headway kernels' "$work/out")"

# A device that pauses between queued work has work, and is not busy: one sentence says both.
run analyze "$DATA/operators/decode.hwy"
tr -s ' \n' ' ' <"$work/out" | grep -q 'The GPU has work [0-9.]* % of a step, [0-9.]* % of it pauses between queued work: ' ||
	fail "pauses between queued work are not told: $(head -4 "$work/out")"

# ---- no device work ----

echo '[{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 9, "ts": 1, "dur": 2}]' >"$work/cpu.json"
for format in text brief markdown json; do
	run analyze --format $format "$work/cpu.json"
	expect_status 0 "no device work, $format"
done
run analyze "$work/cpu.json"
grep -q 'No device work in this recording' "$work/out" || fail "no device work is said"
run analyze --step forward "$work/cpu.json"
grep -q -- '--step finds nothing: without device work' "$work/err" || fail "--step is ignored without a word"
run analyze "$DATA/ncu/mlp_raw.csv"
grep -q 'next: headway kernels .*mlp_raw.csv' "$work/out" || fail "counters do not lead to headway kernels: $(cat "$work/out")"
run stats "$DATA/ncu/mlp_raw.csv"
grep -q 'next: headway kernels .*mlp_raw.csv' "$work/err" || fail "stats of counters is a dead end: $(cat "$work/err")"
run info "$DATA/ncu/mlp_raw.csv"
grep -q '^Trust .*headway kernels shows them' "$work/out" || fail "info of counters is a dead end: $(cat "$work/out")"
run analyze "$DATA/ncu/mlp_raw.csv"
awk '!NF && blank { exit 1 } { blank = !NF }' "$work/out" || fail "two blank lines: $(cat "$work/out")"
run analyze "$DATA/nsys/power_base.sqlite.xz"
grep -q 'unpack it first: xz -dk FILE' "$work/err" || fail "what unpacks a file is not said: $(cat "$work/err")"
finish
