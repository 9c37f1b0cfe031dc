#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A folder is a job: every command takes it, its numbers are the sums of its ranks', and its clocks are as sure as it says.
source "$(dirname "$0")/common.bash"
command -v python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }
check=$(dirname "$0")/job_check.py
python3 "$check" make "$work/job" || fail "no job was made"

# Every command takes the folder.
for command in info breakdown stats path tree show kernels whatif analyze baseline \
	"convert -o $work/job.hwy" "export -t perfetto -o $work/o.pftrace" "export -t chrome -o $work/o.json" \
	"export -t sqlite -o $work/o.sqlite" "export -t csv -o $work/o.csv" "export -t folded -o $work/o.folded" \
	"view --html $work/o.html"; do
	# shellcheck disable=SC2086
	run $command "$work/job/"
	expect_status 0 "$command of a job"
done
for file in job.hwy o.pftrace o.json o.sqlite o.html; do
	[ -s "$work/$file" ] || fail "$file of a job is empty"
done
run analyze --format html -o "$work/p.html" "$work/job/"
expect_status 0 "the page of a job"
cmp -s "$work/o.html" "$work/p.html" || fail "view --html and analyze --format html write different pages of a job"

# The whole is the sum of its parts, and so is the report that was made of it.
python3 "$check" sums "$HEADWAY" "$work/job" >"$work/found" || fail "sums: $(cat "$work/found")"
python3 "$check" clocks "$HEADWAY" "$work/job" "$work/job.truth" >"$work/found" || fail "clocks: $(cat "$work/found")"
python3 "$check" clocks "$HEADWAY" "$work/job.hwy" "$work/job.truth" >"$work/found" || fail "report: $(cat "$work/found")"
"$HEADWAY" info "$work/job" | grep -q "^Ranks  *0 .*its clock is the job's" || fail "info does not tell ranks"

# What is in the folder beside the ranks is named, and left out.
echo '{"not": "a recording"}' >"$work/job/other.json"
cp "$work/job/trace1.json" "$work/job/zz_again.json"
rm "$work/job/trace2.json"
run info "$work/job"
expect_status 0 "a job with other files"
grep -q "left out: .*other.json" "$work/err" || fail "other.json is not named: $(cat "$work/err")"
grep -q "left out: .*zz_again.json: is of rank 1, as .*trace1.json is" "$work/err" || fail "a rank twice: $(cat "$work/err")"
grep -q "1 of 3 ranks have no recording here: 2" "$work/err" || fail "a missing rank is not named: $(cat "$work/err")"

# What is no job is refused.
mkdir "$work/empty" "$work/runs"
run stats "$work/empty"
expect_refusal "an empty folder" "no recording in this folder"
cp "$DATA/nsys/mlp_sync.hwy" "$work/runs/a.hwy"
cp "$DATA/nsys/mlp_async.hwy" "$work/runs/b.hwy"
run breakdown "$work/runs"
expect_refusal "two runs of one program" "neither tells its rank"

# A real job of eight ranks on one host: the wall clock is one for all, and tells the truth to a microsecond.
real=${SHARED:-}/data/verdicts/dlrm_8ranks
if [ -n "${SHARED:-}" ] && [ -d "$real" ]; then
	mkdir "$work/dlrm"
	cp "$real"/* "$work/dlrm/"
	python3 "$check" sums "$HEADWAY" "$work/dlrm" >"$work/found" || fail "eight ranks: $(cat "$work/found")"
	walls=()
	for file in "$work/dlrm"/*; do
		walls+=("$("$HEADWAY" info --format json "$file" | python3 -c 'import json, sys; print(json.load(sys.stdin)["wall_ns"])')")
	done
	python3 -c 'import json, sys
walls = [int(x) for x in sys.argv[1:]]
print(json.dumps({rank: wall - walls[0] for rank, wall in enumerate(walls)}))' "${walls[@]}" >"$work/walls"
	python3 "$check" clocks "$HEADWAY" "$work/dlrm" "$work/walls" >"$work/found" || fail "eight clocks: $(cat "$work/found")"
else
	echo "without \$SHARED: the job of eight ranks is not looked at"
fi
exit $bad
