#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs that all keep a GPU "busy", recorded by nsys with GPU metrics on an H200: what the metrics say of each while it works, the
# verdict's second word, the finding, and the time that its fix was predicted to leave beside the time that it left.
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

# The second word, the first finding, and the ms that a step of the fixed program took on the same GPU (-: not predicted).
cat >"$work/truths" <<'T'
smallgrid occupancy few-sms 0.042
persistent occupancy few-sms -
chain memory memory-bound -
gemms compute no-tensor-cores -
T
cat >"$work/judge.py" <<'P'
import json, sys

name, second, finding, after = sys.argv[1:5]
document = json.load(open(sys.argv[5]))
summary, found = document["summary"], document["findings"]
ids = [one["id"] for one in found]
if (summary["verdict"], summary["verdict_second"], summary["verdict_second_by"]) != ("gpu", second, "metrics"):
    sys.exit("%s: the verdict is %s, %s by %s" % (name, summary["verdict"], summary["verdict_second"], summary["verdict_second_by"]))
if ids[:1] != [finding]:
    sys.exit("%s: findings %s, not %s first" % (name, ids, finding))
if any(other in ids for other in ("few-sms", "memory-bound", "no-tensor-cores", "tensor-idle", "link-saturated", "low-occupancy", "throttled") if other != finding):
    sys.exit("%s: accused of more: %s" % (name, ids))
if after != "-" and abs(found[0]["predicted"]["step_ns"] / 1e6 / float(after) - 1) > 0.25:
    sys.exit("%s: predicted %s, measured %s ms" % (name, found[0]["predicted"], after))
P
judged() { # judged NAME FILE: the analysis of a recording is as its truth says
	run analyze --format json "$2"
	expect_status 0 "$1: analyze"
	# shellcheck disable=SC2046
	python3 "$work/judge.py" $(grep "^$1 " "$work/truths") "$work/out" 2>"$work/err" || fail "$(tail -n 1 "$work/err")"
}

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
	judged "$name" "$work/$name.sqlite"
	judged "$name" "$work/$name.hwy"
done

# ---- a recording that was edited: after 40 ms the clock is a quarter lower, and the driver names the power limit, or nothing

cat >"$work/edit.py" <<'P'
import sqlite3, sys

db, reason = sqlite3.connect(sys.argv[1]), int(sys.argv[2])
kind, source = db.execute("select typeId, sourceId from TARGET_INFO_GPU_METRICS").fetchone()
clock, = db.execute("select metricId from TARGET_INFO_GPU_METRICS where metricName like 'GPC Clock%'").fetchone()
reasons = 1 + db.execute("select max(metricId) from TARGET_INFO_GPU_METRICS").fetchone()[0]
first, = db.execute("select min(timestamp) from GPU_METRICS").fetchone()
low = first + 40_000_000
db.execute("insert into TARGET_INFO_GPU_METRICS values (?, ?, '', ?, 'Throttle Reasons')", (kind, source, reasons))
db.execute("update GPU_METRICS set value = value * 3 / 4 where metricId = ? and timestamp > ?", (clock, low))
for at, in db.execute("select timestamp from GPU_METRICS where metricId = ?", (clock,)).fetchall():
    db.execute("insert into GPU_METRICS values (?, ?, ?, ?, ?)", (at, at, kind, reasons, reason if at > low else 0))
db.commit()
P
cat >"$work/throttled.py" <<'P'
import json, sys

found = {one["id"]: one for one in json.load(open(sys.argv[2]))["findings"]}
if sys.argv[1] == "none":
    sys.exit("no reason, and yet: %s" % found["throttled"]["says"] if "throttled" in found else 0)
one = found.get("throttled") or sys.exit("not throttled: %s" % sorted(found))
if not 0.15 < one["share"] < 0.3 or "the power limit" not in one["says"]:
    sys.exit("%.3f: %s" % (one["share"], one["says"]))
P
for reason in 4 0; do
	cp "$work/gemms.sqlite" "$work/edited.sqlite"
	python3 "$work/edit.py" "$work/edited.sqlite" $reason || fail "the edit"
	run analyze --format json "$work/edited.sqlite"
	expect_status 0 "an edited recording"
	python3 "$work/throttled.py" "$([ $reason = 0 ] && echo none || echo throttled)" "$work/out" 2>"$work/err" || fail "reason $reason: $(tail -n 1 "$work/err")"
done
exit $bad
