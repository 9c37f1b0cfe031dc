#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs that record themselves with the Python package: threads, forks, CUDA (a mock), OpenCL (PoCL), a kill in the
# middle, and the same program under `headway profile`.
source "$(dirname "$0")/common.bash"
if [ -n "${HEADWAY_SANITIZED:-}" ]; then
	echo "SKIP: Python cannot load a sanitized library"
	exit 77
fi
python=/usr/bin/python3
[ -x "$python" ] || python=python3
command -v "$python" >/dev/null || {
	echo "SKIP: needs python3"
	exit 77
}
package=$(cd .. && pwd)/python
export HEADWAY_HOME=$HEADWAY_BUILD PYTHONPATH=$package PYTHONDONTWRITEBYTECODE=1 TMPDIR=$work/tmp
mkdir "$TMPDIR"
: "${COLLECT:?folder of the test programs}"

# check WHAT COMMAND…: it must end well, and print nothing on stderr.
check() {
	local what=$1
	shift
	timeout 120 "$@" >"$work/out" 2>"$work/err"
	status=$?
	[ $status = 0 ] || fail "$what: status $status: $(tail -n 3 "$work/err" "$work/out")"
}

check "programs that record themselves" "$python" cli/python_record.py "$work" all

for when in before inside; do
	check "CUDA that begins $when" env HEADWAY_CUPTI="$COLLECT/mock/libcupti.so.13" \
		MOCK_CUPTI_NAMES="$DATA/../mock/data/callbacks.txt" MOCK_CUPTI_DATA="$DATA/../mock/data/mix_graph.cupti" \
		"$python" cli/python_record_cuda.py "$COLLECT/mock" "$work" $when
done

# A program that dies leaves what was recorded: the helper notices, and makes the report.
timeout 60 "$python" cli/python_record.py "$work" killed_in_the_middle >/dev/null 2>&1
for _ in $(seq 200); do
	[ ! -e "$work/killed.hwy" ] || break
	sleep 0.05
done
run sql "$work/killed.hwy" "select name from range where domain is null or domain = '' order by start" --format csv
grep -q '^done' "$work/out" && grep -q '^open' "$work/out" || fail "killed: $(cat "$work/out" "$work/err")"

# Under headway profile the with statement is a range of the one report, and a capture range where that is asked for.
run profile -q -o "$work/whole.hwy" "$python" cli/python_record.py "$work" under_profile
expect_status 0 "under profile"
[ ! -e "$work/ignored.hwy" ] || fail "under profile there is one report"
run sql "$work/whole.hwy" "select group_concat(name, ',') as n from (select name from range order by start)" --format csv
grep -q 'outside,headway.record,inside,outside' "$work/out" || fail "under profile: $(cat "$work/out")"
run profile -q -c cudaProfilerApi -o "$work/range.hwy" "$python" cli/python_record.py "$work" under_profile
run sql "$work/range.hwy" "select group_concat(name, ',') as n from (select name from range order by start)" --format csv
grep -q 'headway.record,inside' "$work/out" && ! grep -q outside "$work/out" || fail "a capture range: $(cat "$work/out")"

# OpenCL, with the lines of Python that wait.
if "$python" -c 'import pyopencl, numpy; pyopencl.get_platforms()' 2>/dev/null; then
	check "OpenCL" "$python" cli/python_record_opencl.py "$work"
	[ ! -s "$work/err" ] || fail "OpenCL: $(cat "$work/err")"
	check "OpenCL that begins in a recording without it" "$python" cli/python_record_opencl.py "$work" first
else
	echo "no pyopencl with a platform: OpenCL is not tried"
fi
left=$(find "$TMPDIR" -maxdepth 1 -name 'headway-??????' -type d)
[ -z "$left" ] || fail "a run's folder is left: $left"
exit $bad
