# SPDX-License-Identifier: Apache-2.0
# common.bash - what the CLI tests share: a scratch folder, and expectations that say what they got.
set -uo pipefail
: "${HEADWAY:?the headway binary}" "${DATA:?tests/data}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

fail() {
	echo "FAIL: $*"
	bad=1
}

# run ARGS…: runs headway; leaves its status in $status, its output in $work/out and $work/err.
run() {
	"$HEADWAY" "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
}

expect_status() {
	[ "$status" = "$1" ] || fail "$2: exit status $status, not $1; stderr: $(head -c 500 "$work/err")"
}

# expect_line FILE TEXT WHAT: the file is exactly this one line.
expect_line() {
	[ "$(cat "$1")" = "$2" ] || fail "$3: expected '$2', got '$(head -c 500 "$1")'"
}

# expect_refusal WHAT [TEXT]: exit 2, nothing on stdout, one line on stderr that starts with "headway: "
# and holds TEXT.
expect_refusal() {
	expect_status 2 "$1"
	[ -s "$work/out" ] && fail "$1: stdout is not empty"
	[ "$(wc -l <"$work/err")" = 1 ] || fail "$1: not one line: $(head -c 500 "$work/err")"
	[[ $(head -c 9 "$work/err") == "headway: " ]] || fail "$1: $(head -c 500 "$work/err")"
	if [ $# -gt 1 ] && ! grep -qF -- "$2" "$work/err"; then
		fail "$1: '$2' is missing in: $(head -c 500 "$work/err")"
	fi
}

# need_torch: sets 'python' to a Python that has PyTorch; ends the test as skipped where there is none.
need_torch() {
	for python in /usr/bin/python3 python3; do
		"$python" -c 'import torch' 2>/dev/null && return
	done
	echo "SKIP: no Python with PyTorch"
	exit 77
}

# need_mock: lets the mock libcupti play the driver; ends the test as skipped where there is none.
need_mock() {
	export HEADWAY_CUPTI=${COLLECT:?the folder of test programs}/mock/libcupti.so.13 MOCK_CUPTI_NAMES
	MOCK_CUPTI_NAMES=$(cd "$(dirname "$DATA")" && pwd)/mock/data/callbacks.txt
	[ -e "$HEADWAY_CUPTI" ] || { echo "SKIP: no mock libcupti"; exit 77; }
}

# unpack NAME: the recording tests/data/nsys/NAME.sqlite.xz as $work/NAME.sqlite.
unpack() {
	[ -e "$work/$1.sqlite" ] || xz -dc "$DATA/nsys/$1.sqlite.xz" >"$work/$1.sqlite"
}

# export_inputs: what the tests of export read, as the lists recordings and traces; where they write: $scratch.
# The sanitizers see every third recording and none of the larger ones: they look at the code, and the release build at the answers.
export_inputs() {
	local name trace i=0 SHARED=$SHARED
	scratch=$work/scratch
	mkdir "$scratch"
	recordings=()
	is_sanitized && SHARED=
	for name in "$DATA"/nsys/*.sqlite.xz; do
		unpack "$(basename "$name" .sqlite.xz)"
		is_sanitized && ((i++ % 3)) || recordings+=("$work/$(basename "$name" .xz)")
	done
	traces=("$DATA"/breakdown/*_gpus.json)
	if [ -d "${SHARED:-}/data" ]; then
		traces+=("$SHARED"/data/torch/*.json.gz)
		while IFS= read -r trace; do
			traces+=("$trace")
		done < <(find "$SHARED/data/public-traces" -name '*.gz' 2>/dev/null | sort)
		for name in h100_2gpu_1s power_iteration cuda_graph_3_24; do
			xz -dc "$SHARED/data/public-nsys/$name.sqlite.xz" >"$work/$name.sqlite" 2>/dev/null &&
				recordings+=("$work/$name.sqlite")
		done
	fi
}

is_sanitized() {
	[ -n "${HEADWAY_SANITIZED:-}" ]
}

# exports TYPE FILE OUT OPTIONS…
exports() {
	run export -t "$1" "$2" -f -o "$3" "${@:4}"
	expect_status 0 "export -t $1 $(basename "$2")"
	[ -s "$work/err" ] && fail "export -t $1 $(basename "$2") said: $(head -c 300 "$work/err")"
	[ -e "$3" ] || fail "export -t $1 $(basename "$2"): $3 is not there"
}

spans_of() {
	sed -n '1s/.*: \([0-9,]*\) spans.*/\1/p' "$work/out" | tr -d ,
}

# noise BYTES SEED: bytes without a meaning, the same ones for the same seed.
noise() {
	local i value=$2 escape
	for ((i = 0; i < $1; i++)); do
		value=$(((value * 1103515245 + 12345) & 0x7fffffff))
		printf -v escape '\\x%02x' $((value >> 16 & 255))
		printf '%b' "$escape"
	done
}

finish() {
	exit $bad
}

# pythons: a line for each Python that is here and whose stacks are read: the program, its version, and what it calls
# the method forward() of a class Model.
pythons() {
	local python version
	for python in /usr/bin/python3.[0-9]*[0-9] "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[0-9]*/bin/python3; do
		[ -x "$python" ] && [[ $python != *-config ]] || continue
		version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
		case $version in
		3.10) echo "$python $version forward" ;;
		3.1[1-4]) echo "$python $version Model.forward" ;;
		esac
	done
}
