#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs that all keep a GPU "busy", recorded by nsys with GPU metrics on an H200: what the metrics say of each while it works.
source "$(dirname "$0")/common.bash"
type python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }

cat >"$work/check.py" <<'P'
import json, sys

name, rows = sys.argv[1], {row["Metric"].split(" [Throughput")[0]: row for row in json.load(open(sys.argv[2]))}
# Means while the device works, in percent: at least, at most.
LIMITS = {
    "smallgrid": {"SMs Active": (5, 7), "DRAM Read Bandwidth": (0, 1)},  # 8 of 132 SMs
    "persistent": {"SMs Active": (2.5, 3.5), "SM Issue": (0, 2)},  # 4 of 132
    "chain": {"SMs Active": (90, 100), "DRAM Read Bandwidth": (45, 60), "DRAM Write Bandwidth": (30, 45), "Tensor Active": (0, 1)},
    "gemms": {"SMs Active": (90, 100), "SM Issue": (80, 95), "Tensor Active": (0, 1), "DRAM Read Bandwidth": (0, 10)},
}
for metric, (least, most) in LIMITS[name].items():
    row = rows[metric]
    if not least <= row["Busy Avg"] <= most or row["Busy Samples"] < 500:
        sys.exit("%s: %s" % (name, row))
P

for name in smallgrid persistent chain gemms; do
	xz -dc "$DATA/metrics/$name.sqlite.xz" >"$work/$name.sqlite"
	run stats -r gpu_metrics_sum --format json "$work/$name.sqlite"
	expect_status 0 "$name: gpu_metrics_sum"
	python3 "$work/check.py" "$name" "$work/out" 2>"$work/err" || fail "$(tail -n 1 "$work/err")"
	cp "$work/out" "$work/nsys.json"
	run convert -f -o "$work/$name.hwy" "$work/$name.sqlite"
	expect_status 0 "$name: convert"
	run stats -r gpu_metrics_sum --format json "$work/$name.hwy"
	cmp -s "$work/out" "$work/nsys.json" || fail "$name: the report's metrics differ from the recording's"
done
exit $bad
