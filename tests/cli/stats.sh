#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# headway stats: formats, units, choices, and what it says when there is nothing to show.
# (The numbers are compared with nsys's own by compare_nsys.)
source "$(dirname "$0")/common.bash"

unpack streams_pageable1
unpack power_base
file=$work/streams_pageable1.sqlite
power=$work/power_base.sqlite

# ---- formats
run stats -r cuda_gpu_mem_size_sum --format csv "$file"
expect_status 0 "csv"
head -n 1 "$work/out" | grep -qxF 'Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),StdDev (MB),Operation' ||
	fail "csv: $(head -n 1 "$work/out")"
[ "$(wc -l <"$work/out")" = 3 ] || fail "csv: a header and two rows"
[ -s "$work/err" ] && fail "csv: nothing on stderr"

run stats -r cuda_gpu_mem_size_sum --format tsv "$file"
grep -qP '^1073\.742\t64\t16\.777\t' "$work/out" || fail "tsv: $(cat "$work/out")"

run stats -r cuda_gpu_kern_sum,cuda_gpu_mem_time_sum --format json "$file"
expect_status 0 "json"
python3 - "$work/out" <<'EOF' || fail "json of two reports"
import json, sys
tables = json.load(open(sys.argv[1]))
assert list(tables) == ["cuda_gpu_kern_sum", "cuda_gpu_mem_time_sum"], list(tables)
row = tables["cuda_gpu_kern_sum"][0]
assert row["Instances"] == 64 and row["Time (%)"] == 100.0 and "(" in row["Name"], row
EOF
run stats -r nvtx_sum --format json "$file"
[ "$(cat "$work/out")" = "[]" ] || fail "json without rows is an empty array: $(cat "$work/out")"

run stats -r cuda_gpu_mem_time_sum --format markdown "$file"
grep -q '^| --: ' "$work/out" || fail "markdown has a rule under its header"
grep -qF '| [CUDA memcpy Host-to-Device] |' "$work/out" || fail "markdown: $(cat "$work/out")"

run stats -r cuda_gpu_mem_size_sum "$file"
expect_status 0 "table"
head -n 1 "$work/out" | grep -qxF 'Memory operations by size  cuda_gpu_mem_size_sum' || fail "table: title"
grep -q '^1.07 GB ' "$work/out" || fail "table: units that suit: $(cat "$work/out")"
grep -q $'\033' "$work/out" && fail "table: no colours into a file"
grep -q ' $' "$work/out" && fail "table: no spaces at the end of lines"

# ---- units and rows
run stats -r cuda_api_trace --format csv --time-unit us --rows 2 "$file"
head -n 1 "$work/out" | grep -q '^Start (us),Duration (us),' || fail "--time-unit: $(head -n 1 "$work/out")"
sed -n 2p "$work/out" | grep -qE '^[0-9]+\.[0-9]{3},[0-9]+\.[0-9]{3},' || fail "--time-unit: $(sed -n 2p "$work/out")"
[ "$(wc -l <"$work/out")" = 3 ] || fail "--rows 2 with csv"
run stats -r cuda_api_trace --rows 1 "$file"
grep -q 'more; --rows 0 shows all' "$work/out" || fail "--rows says what it leaves out"

# ---- what is counted
run stats -r cuda_api_sum --format csv --range Check "$power"
expect_status 0 "--range"
grep -q ',cudaMemcpyAsync$' "$work/out" || fail "--range keeps the copies made inside"
grep -q ',cudaMalloc$' "$work/out" && fail "--range leaves out what was outside"
run stats -r cuda_api_sum --range Chek "$power"
expect_refusal "an unknown range" "no range is named 'Chek'"
run stats -r cuda_gpu_kern_sum --format csv --from 100s "$power"
expect_status 0 "an empty window"
[ -s "$work/out" ] && fail "an empty window prints nothing on stdout"
grep -q 'no kernels in the chosen part' "$work/err" || fail "an empty window: $(cat "$work/err")"
for report in $("$HEADWAY" stats --help-reports | awk '/^  [a-z_]+ /{print $1}'); do
	run stats -r "$report" --format csv --range 'Step 3' --from 2s --to 3s "$power"
	expect_status 0 "$report with a range and a window"
done

# ---- the CPU's side: every sample is in one function, every state in one class
run stats -r cpu_sample_sum --format csv "$power"
expect_status 0 "cpu_sample_sum"
grep -q '^48.9,899,48.9,899,blas_thread_server,' "$work/out" || fail "cpu_sample_sum: $(head -3 "$work/out")"
[ "$(awk -F, 'NR > 1 { n += $2 } END { print n }' "$work/out")" = 1839 ] || fail "cpu_sample_sum: samples that are nowhere"
run stats -r thread_state_sum --format csv "$power"
grep -q '^1104,1104,running,98.7,2653852976,71,37378210.9,python3$' "$work/out" || fail "thread_state_sum: $(head -3 "$work/out")"
[ "$(awk -F, 'NR > 1 { n += $5 } END { printf "%.0f", n }' "$work/out")" = 52932142827 ] || fail "thread_state_sum: time that is nowhere"

# ---- nothing to show
run stats -r osrt_sum,graph_sum --format csv "$work/streams_pageable1.sqlite"
expect_status 0 "a report without rows"
grep -q 'graph_sum: no graph launches in this recording$' "$work/err" || fail "no data: $(cat "$work/err")"

# ---- output to a file
run stats -r cuda_api_sum --format csv -o "$work/table.csv" "$file"
expect_status 0 "-o"
[ -s "$work/out" ] && fail "-o leaves stdout empty"
run stats -r cuda_api_sum --format csv "$file"
cmp -s "$work/out" "$work/table.csv" || fail "-o writes the same"
run stats -r cuda_api_sum -o "$work/table.csv" "$file"
expect_refusal "an existing file" "exists and is kept"

# ---- misuse
run stats -r cuda_gpu_kern_summ "$file"
expect_refusal "a misspelt report" "did you mean 'cuda_gpu_kern_sum'?"
for pair in kernels:cuda_gpu_kern_sum copies:cuda_gpu_mem_time_sum memcpy:cuda_gpu_mem_time_sum nvtx:nvtx_sum ops:op_sum cuda_gpu_kern:cuda_gpu_kern_sum; do
	run stats -r "${pair%:*}" x
	expect_refusal "a report by a word" "unknown report '${pair%:*}'; did you mean '${pair#*:}'?"
done
run stats -r gaps x
expect_refusal "gaps are no report" "did you mean 'headway breakdown FILE' or 'headway sql FILE -f device-gaps'?"
for words in "--format cvs" "--time-unit h" "--rows x" "--from 5s --to 1s" "--from never"; do
	# shellcheck disable=SC2086
	run stats $words "$file"
	expect_status 2 "$words"
done
run stats
expect_status 2 "no file"

# ---- the handful
run stats "$power"
expect_status 0 "without -r"
for report in nvtx_sum cuda_api_sum cuda_gpu_kern_sum cuda_gpu_mem_time_sum wait_sum; do
	grep -q "  $report\$" "$work/out" || fail "without -r: $report"
done
grep -q 'graph_sum' "$work/out" && fail "without -r: no table without rows"

# ---- GPU metrics of nsys
run stats -r gpu_metrics_sum --format csv "$DATA/nsys/streams_metrics.hwy"
expect_status 0 "gpu_metrics_sum"
grep -q '^GPU,Samples,Avg,Busy Samples,Busy Avg,Min,Max,Unit,Metric$' "$work/out" || fail "gpu_metrics_sum: $(head -n 1 "$work/out")"
grep -q ',%,SMs Active \[Throughput %\]$' "$work/out" || fail "gpu_metrics_sum: $(cat "$work/out")"
run stats -r gpu_metrics_kern_sum,gpu_metrics_step_sum --format json "$DATA/nsys/streams_metrics.hwy"
expect_status 0 "metrics by kernel and step"
python3 - "$work/out" <<'EOF' || fail "metrics by kernel and step: $(cat "$work/out")"
import json, sys
tables = json.load(open(sys.argv[1]))
[kernel] = tables["gpu_metrics_kern_sum"]
assert kernel["Samples"] > 100 and 94 < kernel["SMs Active (%)"] < 98 and kernel["Tensor (%)"] < 2, kernel
assert all(70 < step["PCIe RX (%)"] < 80 for step in tables["gpu_metrics_step_sum"]), tables
EOF
run stats -r gpu_metrics_sum "$power"
grep -q 'no GPU metrics in this recording' "$work/err" || fail "no GPU metrics: $(cat "$work/err")"

finish
