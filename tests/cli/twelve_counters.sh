#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fourteen kernels whose counters headway measured on an H200: the numbers beside those of Nsight Compute for the same programs,
# what bounds each, source lines, and what is not said where application replay read only some of the counters.
source "$(dirname "$0")/common.bash"
type python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }

# The bound of each kernel with its memory, and what is left at the roof, as a share of the time.
cat >"$work/bounds" <<'B'
own copy memory DRAM 0.89
own transpose_conflicts memory L1 0.34
own transpose_padded memory DRAM 0.77
own gather latency - 0.55
own reduction latency - 0.54
own spilling memory DRAM 0.70
own tiny occupancy - 0.01
torch sm80_xmma_gemm_f32f32 compute - 0.87
torch sm90_xmma_gemm_f32f32_tf32f32 compute - 0.93
torch nvjet_sm90 compute - 0.93
torch sm90_xmma_fprop compute - 0.89
torch cudnn_generated_fort_native_sdpa compute - 0.73
torch cunn_SoftMaxForwardReg latency - 0.41
torch vectorized_layer_norm_kernel memory DRAM 0.81
B

cat >"$work/compare.py" <<'P'
import csv, io, json, lzma, sys

work, data = sys.argv[1:3]
SHARE = 0.05  # of ncu's number
# While the reduction reads 268 MB (equal to 0.1 %), L2 writes back what work before it left there: 23 MB here, 9 MB under ncu.
WIDER = {("reduction", "DRAM bytes"): 0.06}
# What differs by less is noise: a launch of four blocks moves next to nothing.
NOISE = {"DRAM bytes": 1e6, "SM": 0.005, "DRAM": 0.005, "occupancy": 0.005, "duration": 0, "FLOP": 0}


def number(text):
    return float(text.replace(",", ""))


def of_ncu(row):
    operations = 0
    for letter in "fdh":
        for op, weight in (("add", 1), ("mul", 1), ("fma", 2)):
            threads = "sm__sass_thread_inst_executed_op_%s%s_pred_on.sum" % (letter, op)
            operations += weight * number(row[threads])
    for source in ("bf16_dst_fp32", "fp16", "tf32_dst_fp32", "fp8", "int8", "fp64"):
        operations += number(row["sm__ops_path_tensor_src_%s.sum" % source])
    percent = lambda name: number(row[name]) / 100
    return {"duration": number(row["gpu__time_duration.sum"]),
            "DRAM bytes": number(row["dram__bytes_read.sum"]) + number(row["dram__bytes_write.sum"]),
            "FLOP": operations,
            "occupancy": percent("sm__warps_active.avg.pct_of_peak_sustained_active"),
            "SM": percent("sm__throughput.avg.pct_of_peak_sustained_elapsed"),
            "DRAM": percent("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed")}


def of_headway(kernel):
    c = kernel["counters"]
    return {"duration": c["duration_ns"], "DRAM bytes": c["dram_bytes"], "FLOP": sum(c["flop"].values()),
            "occupancy": c["occupancy"], "SM": c["of_sm"], "DRAM": c["of_dram"]}


def find(rows, key, name):
    found = [row for row in rows if name + "(" in row[key] or name + "<" in row[key] or row[key].startswith(name)]
    if len(found) != 1:
        sys.exit("%s: %d of them" % (name, len(found)))
    return found[0]


wrong = []
for line in open(work + "/bounds"):
    part, name, bound, memory, left = line.split()
    kernel = find([k for k in json.load(open("%s/%s.json" % (work, part)))["kernels"] if k["counters"]], "name", name)
    table = list(csv.reader(io.TextIOWrapper(lzma.open("%s/ncu/twelve_%s.base.csv.xz" % (data, part)))))
    mine = of_headway(kernel)
    truth = of_ncu(find([dict(zip(table[0], row)) for row in table[2:]], "Kernel Name", name))
    text = "%-34s" % name
    for what, value in mine.items():
        off = abs(value - truth[what])
        if off > max(WIDER.get((name, what), SHARE) * truth[what], NOISE[what]):
            wrong.append("%s: %s is %.6g, by ncu %.6g" % (name, what, value, truth[what]))
        text += "  %s %.4g (%s)" % (what, value, "%+.1f %%" % (100 * (value / truth[what] - 1)) if truth[what] else "ncu 0")
    print(text)
    if kernel["bound"] != bound or (kernel["memory"] or "-") != memory:
        wrong.append("%s: %s %s, not %s %s" % (name, kernel["bound"], kernel["memory"], bound, memory))
    if abs(kernel["roof_ns"] / kernel["ns"] - float(left)) > 0.0051:
        wrong.append("%s: %.3f of the roof, not %s" % (name, kernel["roof_ns"] / kernel["ns"], left))
sys.exit("\n".join(wrong) or None)
P

for part in own torch; do
	"$HEADWAY" kernels --format json -o "$work/$part.json" "$DATA/gpu/twelve_$part.hwy" || fail "$part"
done
python3 "$work/compare.py" "$work" "$DATA" || fail "numbers that differ from ncu's"

# ---- precisions: HFMA2 that loads constants is no arithmetic in fp16, neither here nor in ncu's table ----

for file in gpu/twelve_own.hwy gpu/twelve_torch.hwy ncu/twelve_own.base.csv.xz ncu/twelve_torch.base.csv.xz; do
	input=$DATA/$file
	case $file in *.xz) xz -dc "$input" >"$work/table.csv" && input=$work/table.csv ;; esac
	run kernels --details 0 "$input"
	expect_status 0 "$file"
	! grep "work .*fp16 " "$work/out" || fail "$file: fp16 in kernels of fp32"
done

# ---- samples of program counters: the source lines at which warps wait ----

run kernels -k gather "$DATA/gpu/twelve_application.hwy"
grep -qE '^    source +99 %  twelve\.cu:68  long_scoreboard$' "$work/out" || fail "no source line: $(grep twelve.cu "$work/out")"
run kernels -k transpose_conflicts "$DATA/gpu/twelve_application.hwy"
grep -qE '^    source +40 %  twelve\.cu:51  barrier$' "$work/out" || fail "no source line: $(grep twelve.cu "$work/out")"
"$HEADWAY" kernels --format json "$DATA/gpu/twelve_application.hwy" >"$work/application.json"
python3 - "$work/application.json" <<'P' || fail "what some of the counters say"
import json, sys
kernels = {k["name"].split("(")[0]: k for k in json.load(open(sys.argv[1]))["kernels"]}
line = kernels["gather"]["lines"][0]
assert line["line"] == 68 and line["reason"] == "long_scoreboard" and line["samples"] > 100000, line
# Two of the reasons of the reduction were read, of which the longer one was shown as 94 % of the time; it is 1 % or so.
reduction = kernels["reduction"]
assert all(share < 0.1 for share in reduction["counters"]["stalls"].values()), reduction["counters"]["stalls"]
assert reduction["bound"] == "unknown" and reduction["gain_ns"] is None and not reduction["advice"], reduction
assert "was not read" in reduction["says"], reduction["says"]
# What was read is enough for these.
assert kernels["copy"]["bound"] == "memory" and kernels["tiny"]["bound"] == "occupancy", kernels
assert abs(kernels["gather"]["counters"]["stalls"]["long_scoreboard"] - 0.98) < 0.02
P

# ---- a kernel that runs all of the time: its length is not that of its work ----

run kernels "$DATA/gpu/persistent_serve.hwy"
expect_status 0 "a persistent kernel"
grep -qE '^ 1 +551 ms +100 % +1 +waits ' "$work/out" || fail "not said to wait: $(head -n 5 "$work/out")"
tr -s " \n" " " <"$work/out" | grep -F "waits for the host or for work, and a roof says nothing about it" >/dev/null || fail "no sentence: $(cat "$work/out")"
! grep -E 'at best|FLOP|launch more blocks|faster:' "$work/out" || fail "a roof, a place under it, or advice for a kernel that waits"
run whatif --apply faster:serve "$DATA/gpu/persistent_serve.hwy"
expect_refusal "the roof of a kernel that waits" "a roof says nothing about it"
exit $bad
