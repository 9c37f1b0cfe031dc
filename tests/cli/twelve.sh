#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fourteen kernels that Nsight Compute measured on an H200: what headway says of each, whichever page of ncu it reads, and that
# it agrees with what can be counted by hand.
source "$(dirname "$0")/common.bash"
type python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }

# What bounds each kernel, as ncu's own pages say it. The product in bf16 keeps SMs (93 %) and L1 (95 %) busy alike; gather and reduction
# reach 55 and 53 % of DRAM's peak, and nothing else is busy.
cat >"$work/bounds" <<'B'
copy memory
transpose_conflicts memory
transpose_padded memory
gather latency
reduction latency
spilling memory
tiny occupancy
sm80_xmma_gemm_f32f32 compute
sm90_xmma_gemm_f32f32_tf32f32 compute
nvjet_sm90 compute
sm90_xmma_fprop compute
cudnn_generated_fort_native_sdpa compute
cunn_SoftMaxForwardReg latency
vectorized_layer_norm_kernel memory
B

cat >"$work/check.py" <<'P'
import json, sys

kernels = {}
for path in sys.argv[2:4]:
    for kernel in json.load(open(path))["kernels"]:
        assert kernel["source"] == "ncu" and kernel["measured_launches"] == 1, kernel["name"]
        kernels[kernel["name"]] = kernel
assert len(kernels) == 14, sorted(kernels)


def find(name):
    return next(kernel for full, kernel in kernels.items() if name + "(" in full or name + "<" in full or full.startswith(name))


def near(name, what, mine, truth, share):
    if abs(mine - truth) > share * truth:
        sys.exit("%s: %s is %.6g, by hand %.6g" % (name, what, mine, truth))


def flop(name):
    return sum(find(name)["counters"]["flop"].values())


for line in open(sys.argv[1]):
    name, bounds = line.split()
    if find(name)["bound"] not in bounds.split("/"):
        sys.exit("%s: bound %s, not %s: %s" % (name, find(name)["bound"], bounds, find(name)["says"]))
array = 4 * 8192 * 8192  # bytes
for name, bytes in (("copy", 2 * array), ("transpose_conflicts", 2 * array), ("transpose_padded", 2 * array), ("reduction", array)):
    near(name, "DRAM bytes", find(name)["counters"]["dram_bytes"], bytes, 0.05)
for name, operations in (("sm80_xmma_gemm_f32f32", 2 * 4096**3), ("sm90_xmma_gemm_f32f32_tf32f32", 2 * 8192**3), ("nvjet_sm90", 2 * 8192**3),
                         ("sm90_xmma_fprop", 2 * 128 * 56 * 56 * 256 * 256 * 9), ("cudnn_generated_fort_native_sdpa", 4 * 16 * 32 * 2048**2 * 128)):
    near(name, "FLOP", flop(name), operations, 0.05)
conflicts, padded = (find("transpose_" + how)["counters"]["bank_conflicts"] for how in ("conflicts", "padded"))
assert conflicts is None or conflicts > 0.8 and padded < 0.1, (conflicts, padded)
assert find("transpose_conflicts")["memory"] == "L1", find("transpose_conflicts")
spilling = find("spilling")  # the details do not have what goes to local memory
assert spilling["counters"]["local_bytes"] is None or any("spill" in advice for advice in spilling["advice"]), spilling["advice"]
assert spilling["counters"]["local_bytes"] is not None or "details" in sys.argv[1:], "no local memory"
assert find("tiny")["launch"]["grid"] == [4, 1, 1] and find("tiny")["theoretical"]["waves"] < 0.1, find("tiny")
P

for page in raw base details; do
	for which in own torch; do
		xz -dc "$DATA/ncu/twelve_$which.$page.csv.xz" >"$work/$which.csv"
		run kernels --format json "$work/$which.csv"
		expect_status 0 "$which, $page"
		cp "$work/out" "$work/$which.json"
	done
	python3 "$work/check.py" "$work/bounds" "$work/own.json" "$work/torch.json" $page 2>"$work/err" || fail "page $page: $(tail -n 1 "$work/err")"
done
exit $bad
