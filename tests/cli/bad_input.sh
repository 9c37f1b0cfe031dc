#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is no recording, or is damaged, or cannot be written: one line on stderr, exit 2, nothing left behind.
# shellcheck source=common.bash
source "$(dirname "$0")/common.bash"

# refuse WHAT FILE [TEXT]: no command opens it, none leaves anything behind.
refuse() {
	run info "$2"
	expect_refusal "info: $1" "${3:-$2}"
	run stats "$2"
	expect_refusal "stats: $1" "${3:-$2}"
	run breakdown --format json "$2"
	expect_refusal "breakdown: $1" "${3:-$2}"
	run stats -r cuda_gpu_kern_sum --format csv -o "$work/out.d/a.csv" "$2"
	expect_refusal "stats -o: $1" "${3:-$2}"
	refuse_convert "$@"
}

refuse_convert() {
	run convert "$2" -o "$work/out.d/a.hwy"
	expect_refusal "convert: $1" "${3:-$2}"
	if [ -n "$(ls -A "$work/out.d")" ]; then
		fail "convert: $1: left behind: $(ls -A "$work/out.d")"
		rm -rf "$work/out.d"
		mkdir "$work/out.d"
	fi
}

# cut FILE SIZE: the file's first SIZE bytes, in $work/cut.
cut_at() {
	head -c "$2" "$1" >"$work/cut"
}

# flip FILE OFFSET BIT: the file with one bit changed, in $work/flipped.
flip() {
	local byte
	cp "$1" "$work/flipped"
	byte=$(od -An -tu1 -j "$2" -N1 "$1")
	# shellcheck disable=SC2059
	printf "\\x$(printf %x $((byte ^ (1 << $3))))" |
		dd of="$work/flipped" bs=1 seek="$2" conv=notrunc status=none
}

mkdir "$work/out.d"
sources=("$DATA"/nsys/*.sqlite.xz)
# shellcheck disable=SC2012
smallest=$(ls -S "${sources[@]}" | tail -1)
name=$(basename "$smallest" .sqlite.xz)
unpack "$name"
sqlite=$work/$name.sqlite
hwy=$work/$name.hwy
run convert "$sqlite" -o "$hwy"
expect_status 0 "convert"

# --- what is not there, or is not a file
refuse "a missing file" "$work/missing"
refuse "a directory" "$work/out.d"
if [ "$(id -u)" != 0 ]; then
	: >"$work/secret"
	chmod 0 "$work/secret"
	refuse "an unreadable file" "$work/secret"
elif [ -e /proc/self/mem ]; then
	refuse "an unreadable file" /proc/self/mem
fi
refuse "an empty name" "" "headway: "

# --- the wrong kind
: >"$work/empty"
refuse "an empty file" "$work/empty"
printf '\211PNG\r\n\032\n\0\0\0\rIHDR' >"$work/image.png"
refuse "a picture" "$work/image.png"
printf 'Dear profiler,\nhere is no trace.\n' >"$work/letter.sqlite"
refuse "a letter" "$work/letter.sqlite"
refuse "a program" "$HEADWAY"
printf '{"a": 1}' >"$work/other.json"
refuse "JSON that is no trace" "$work/other.json"
head -c 4096 /dev/zero >"$work/zeros"
refuse "zeros" "$work/zeros"
printf 'bytes \001\002 with a\nnew line' >"$work/odd
name"
run info "$work/odd
name"
expect_refusal "a name with a newline"

# --- truncated sources
for size in 1 16 100 1000 4096 50000; do
	cut_at "$sqlite" $size
	refuse_convert "sqlite cut at $size" "$work/cut"
done
cut_at "$sqlite" $(($(stat -c %s "$sqlite") / 2))
refuse_convert "half an sqlite" "$work/cut"
{
	printf '{"schemaVersion": 1, "traceEvents": [\n'
	for i in $(seq 400); do
		printf '{"ph": "X", "cat": "kernel", "name": "k%d", "pid": 0, "tid": 7, "ts": %d, "dur": 3, "args": {"stream": 7, "correlation": %d}},\n' "$i" $((i * 10)) "$i"
	done
	printf '{}]}\n'
} >"$work/trace.json"
gzip -c "$work/trace.json" >"$work/trace.json.gz"
run info "$work/trace.json.gz"
expect_status 0 "a small trace"
for size in 2 9 20 500 $(($(stat -c %s "$work/trace.json.gz") - 1)); do
	cut_at "$work/trace.json.gz" "$size"
	refuse_convert "gzip cut at $size" "$work/cut"
done
size=$(stat -c %s "$work/trace.json.gz")
flip "$work/trace.json.gz" $((size / 2)) 3
refuse_convert "a flipped bit in gzip" "$work/flipped"

# --- damaged reports
size=$(stat -c %s "$hwy")
for at in 1 4 7 8 15 16 31 32 63 64 100 $((size - 1)) $((size - 2)) $((size - 8)) $((size - 16)) $((size - 33)); do
	cut_at "$hwy" "$at"
	refuse_convert "report cut at $at" "$work/cut"
done
for i in $(seq 1 40); do
	cut_at "$hwy" $((size * i / 41))
	refuse_convert "report cut at $((size * i / 41))" "$work/cut"
done
cp "$hwy" "$work/long"
printf 'tail' >>"$work/long"
refuse_convert "a report with something behind it" "$work/long"
# convert reads every block. The few bits that mean nothing (the minor version, spare bits of zstd) may go
# unnoticed, and then the same report comes out.
unnoticed=0
for i in $(seq 0 120); do
	at=$(((size - 1) * i / 120))
	flip "$hwy" $at $((i % 8))
	run convert "$work/flipped" -o "$work/out.d/a.hwy"
	if [ "$status" = 0 ]; then
		unnoticed=$((unnoticed + 1))
		cmp -s "$hwy" "$work/out.d/a.hwy" || fail "bit $((i % 8)) of byte $at flipped: another report came out"
		rm -f "$work/out.d/a.hwy"
	else
		expect_refusal "bit $((i % 8)) of byte $at flipped" "$work/flipped"
	fi
done
[ $unnoticed -le 3 ] || fail "$unnoticed of 121 flipped bits went unnoticed"
[ -z "$(ls -A "$work/out.d")" ] || fail "left behind: $(ls -A "$work/out.d")"

# --- output that cannot be
run convert "$sqlite" -o "$work/nowhere/a.hwy"
expect_refusal "no such folder" "$work/nowhere/a.hwy"
cp "$hwy" "$work/out.d/a.hwy"
run convert "$sqlite" -o "$work/out.d/a.hwy"
expect_refusal "an existing report" "-f"
cmp -s "$hwy" "$work/out.d/a.hwy" || fail "an existing report is kept"
run convert -f "$sqlite" -o "$work/out.d/a.hwy"
expect_status 0 "convert -f"
run convert -f "$work/out.d/a.hwy"
expect_refusal "a report onto itself" "input"
run convert -f "$sqlite" -o "$sqlite"
expect_refusal "a source onto itself" "input"
for command in stats breakdown tree kernels; do
	run $command -f "$sqlite" -o "$work/out.d/../$name.sqlite"
	expect_refusal "$command onto its source" "input"
done
run convert "$sqlite" -o -
expect_refusal "a report to standard output" "standard output"
run convert "$sqlite" -o /dev/null
expect_refusal "a device as output" "not a regular file"
run convert "$sqlite" -o ""
expect_refusal "a report without a name" "empty name"
run convert "$sqlite" -o "$work/out.d"
expect_refusal "a directory as output" "directory"
[ "$(ls -A "$work/out.d")" = a.hwy ] || fail "left behind: $(ls -A "$work/out.d")"
if [ -w /dev/full ]; then
	for command in info "stats" "breakdown" "tree" "kernels" "show" "info --format json"; do
		# shellcheck disable=SC2086
		"$HEADWAY" $command "$hwy" >/dev/full 2>"$work/err"
		status=$?
		: >"$work/out"
		expect_refusal "$command to a full disk" "No space left on device"
	done
	run stats -r cuda_gpu_kern_sum -o /dev/full "$hwy"
	expect_refusal "stats -o to a full disk" "/dev/full: No space left on device"
fi

# --- a reader that goes away is not an error
"$HEADWAY" info --format json "$hwy" 2>"$work/err" | head -c 1 >/dev/null
[ ! -s "$work/err" ] || fail "a closed pipe is not worth a word: $(cat "$work/err")"
finish
