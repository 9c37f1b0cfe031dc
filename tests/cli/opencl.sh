#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# headway profile -t opencl on a real runtime (PoCL): what the program did is in the report, in order, and the
# program does not notice.
source "$(dirname "$0")/common.bash"
: "${COLLECT:?the folder of test programs}"
target=$COLLECT/opencl_target
checker=$(cd "$(dirname "$0")/.." && pwd)/opencl_report.py
[ -x "$target" ] || { echo "SKIP: built without OpenCL's headers"; exit 77; }
type python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }
export POCL_CACHE_DIR=$work/pocl XDG_CACHE_HOME=$work/cache
mkdir -p "$POCL_CACHE_DIR"
"$target" slow 1 >"$work/out" 2>&1 || { echo "SKIP: no OpenCL device: $(head -1 "$work/out")"; exit 77; }
cd "$work" || exit 1

# The ways to be loaded: as a layer, and preloaded where the loader knows none.
ways=("" "env OPENCL_LAYERS=")
report=$work/run.hwy
traces=opencl

# same WHAT PROGRAM…: records it; output and exit status are those of a plain run.
same() {
	local what=$1 plain
	shift
	"$@" >plain.out 2>plain.err </dev/null
	plain=$?
	# shellcheck disable=SC2086
	"$HEADWAY" profile -q -t $traces -f true -o "$report" $way "$@" >out 2>err </dev/null
	status=$?
	[ $status = $plain ] || fail "$what${way:+ ($way)}: exit status $status, not $plain: $(head -c 300 err)"
	cmp -s plain.out out || fail "$what${way:+ ($way)}: output differs: $(diff plain.out out | head -5)"
	cmp -s plain.err err || fail "$what${way:+ ($way)}: stderr differs: $(diff plain.err err | head -5)"
}
# has WHAT NAME=COUNT…: the report is in order and has these.
has() {
	local what=$1 told
	shift
	told=$(python3 "$checker" "$report" "$@") || fail "$what${way:+ ($way)}: $told"
}
# info TEXT: headway info --all has this.
told() {
	"$HEADWAY" info --all "$report" | grep -qF -- "$1"
}

"$COLLECT/abi_opencl" >out || [ $? = 77 ] || fail "abi.h: $(cat out)"

for way in "${ways[@]}"; do
	same "every kind of command" "$target" counts 20
	has "every kind of command" queue=1 kernel=60 kernel:add=40 kernel:twice=20 copy=140 fill=20 event=40 \
		sync=20 edge=0 api:clEnqueueNDRangeKernel=60 "api:clEnqueueReadBuffer [blocking]=20" \
		"api:clEnqueueMapBuffer [blocking]=20" api:clEnqueueWriteBuffer=20 api:clFinish=20 \
		api:clBuildProgram=1 api:clCreateBuffer=2
	told "0 of 20 blocking calls have no record" || fail "waits: $("$HEADWAY" info --all "$report" | grep blocking)"
	told "opencl.way = $([ -z "$way" ] && echo layer || echo preload)" || fail "way${way:+ ($way)}"
	told "Dropped      nothing" || fail "dropped: $("$HEADWAY" info --all "$report" | grep -A3 Dropped)"

	# No counters can be measured of OpenCL's kernels, and the size of a group may be the runtime's choice.
	"$HEADWAY" kernels "$report" >kernels.out 2>&1 || fail "kernels: $(cat kernels.out)"
	grep -qE 'to measure them|0×0×0' kernels.out && fail "kernels of OpenCL: $(cat kernels.out)"

	same "what a program sees of its queues and events" "$target" visible 2
	has "what a program sees" queue=12 kernel=12 copy=12 edge=36

	same "an out-of-order queue" "$target" unordered 100
	has "an out-of-order queue" queue=1 kernel=100 copy=200 edge=300 api:clWaitForEvents=1

	same "threads" "$target" threads 100
	has "threads" queue=4 fill=400

	same "shared virtual memory" "$target" svm 3
	grep -q "no SVM" out || has "shared virtual memory" fill=3 copy=9 "api:clEnqueueSVMMemcpy [blocking]=3"

	same "nothing waited for" "$target" exit 7
	has "nothing waited for" kernel=7

	same "a wait" "$target" slow 20
	has "a wait" kernel=20 sync=1 stack:clFinish=1

	same "a crash" "$target" crash 3
	has "a crash" kernel=3

	same "_exit" "$target" bare 3
	has "_exit" kernel=3

	same "a fork" "$target" fork 2
	has "a fork" kernel=4 sync=2

	same "a library that is opened" "$COLLECT/opencl_dlopen" plugin "$COLLECT/libopencl-plugin.so" counts 3
	has "a library that is opened" kernel=9 fill=3
done

# ---- many queues; and with the other sources beside it
way=
same "queues that come and go" "$target" queues 1500
has "queues that come and go" queue=1500 copy=1500
same "a crowd of queues" "$target" crowd 1100
told "more than 1024 OpenCL queues at a time" || fail "a crowd of queues: nothing was said"
has "a crowd of queues" queue=1024 copy=1024 "api:clEnqueueWriteBuffer [blocking]=1100"
traces=opencl,osrt,nvtx
same "with OS calls" "$target" counts 5
has "with OS calls" kernel=15 copy=35
if type clinfo >/dev/null 2>&1; then
	same "clinfo, with OS calls" clinfo
fi
traces=opencl

# ---- only as a layer
way=
library=$(ldd "$target" | awk '/libOpenCL/ { print $3 }')
same "libOpenCL closed again" "$COLLECT/opencl_dlopen" close "$library" 6
same "libOpenCL opened by hand" "$COLLECT/opencl_dlopen" load "$library" 6
has "libOpenCL opened by hand" copy=6

export OPENCL_LAYERS=$COLLECT/libopencl-layer.so
"$HEADWAY" profile -q -t opencl -f true -o "$report" "$target" counts 4 >out 2>err || fail "two layers: $(cat err)"
has "two layers" kernel=12 copy=28
grep -qx "layer: 12 kernels, 1 queues with profiling" err || fail "the program's own layer: $(cat err)"
"$HEADWAY" profile -q -t opencl -f true -o "$report" sh -c 'echo "$OPENCL_LAYERS"' >out 2>err
grep -qx "$OPENCL_LAYERS" out || fail "OPENCL_LAYERS: $(cat out)"
unset OPENCL_LAYERS
"$HEADWAY" profile -q -t opencl -f true -o "$report" env -i PATH="$PATH" POCL_CACHE_DIR="$POCL_CACHE_DIR" "$target" slow 2 \
	>out 2>err || fail "an environment of its own: $(cat err)"
has "an environment of its own" kernel=2

# ---- recorded without being asked for where no driver of NVIDIA is loaded
if ! grep -q '^NVRM version' /proc/driver/nvidia/version 2>/dev/null; then
	"$HEADWAY" profile -q -f true -o "$report" "$target" slow 2 >out 2>err || fail "by default: $(cat err)"
	has "by default, without a driver of NVIDIA" kernel=2
fi

# ---- not recorded: nothing of ours is in the way
"$HEADWAY" profile -q -t nvtx -f true -o "$report" sh -c 'echo "$OPENCL_LAYERS"; echo "$LD_PRELOAD"' >out 2>err
grep -q headway-opencl out && fail "without -t opencl: $(cat out)"
folder=$(dirname "${COLLECT_LIBRARY:-$HEADWAY}")
"$target" visible 1 >want
for variables in LD_PRELOAD OPENCL_LAYERS; do
	env $variables="$folder/libheadway-opencl.so" "$target" visible 1 >out 2>err || fail "$variables alone: $(cat err)"
	cmp -s want out || fail "$variables alone: $(diff want out | head -3)"
done

# ---- programs nobody here wrote; their figures are timings
figures() { sed -E 's/[0-9]+(\.[0-9]+)?/N/g' "$1"; }
if type clinfo >/dev/null 2>&1; then
	same "clinfo" clinfo
fi
if type clpeak >/dev/null 2>&1; then
	clpeak --kernel-latency >plain.out 2>plain.err
	plain=$?
	"$HEADWAY" profile -q -t opencl -f true -o "$report" clpeak --kernel-latency >out 2>err
	status=$?
	[ $status = $plain ] || fail "clpeak: exit status $status, not $plain"
	diff <(figures plain.out) <(figures out) >difference || fail "clpeak: $(head -5 difference)"
	diff <(figures plain.err) <(figures err) >difference || fail "clpeak, stderr: $(head -5 difference)"
	has "clpeak" api:clBuildProgram=1
fi

# ---- tables
way=
same "tables" "$target" counts 5
"$HEADWAY" stats -r opencl_api_sum,opencl_gpu_sum --format csv "$report" >out 2>err || fail "stats: $(cat err)"
grep -q ',clEnqueueReadBuffer \[blocking\]$' out || fail "opencl_api_sum: $(head -5 out)"
grep -q ',OPENCL_KERNEL,add$' out || fail "opencl_gpu_sum: $(head -20 out)"
grep -q ',MEMORY_OPER,\[OpenCL copy Host-to-Device\]$' out || fail "opencl_gpu_sum: copies: $(head -20 out)"
grep -q ',MEMORY_OPER,\[OpenCL fill\]$' out || fail "opencl_gpu_sum: fills"
for table in cuda_api_sum cuda_api_trace cuda_gpu_kern_sum cuda_gpu_mem_time_sum cuda_gpu_sum cuda_gpu_trace cuda_kern_exec_sum; do
	"$HEADWAY" stats -r $table --format csv "$report" >out 2>err
	grep -qE 'cl[A-Z]|add|OpenCL' out && fail "$table shows OpenCL: $(head -3 out)"
done
"$HEADWAY" breakdown "$report" >out 2>err || fail "breakdown: $(cat err)"
"$HEADWAY" stats -r wait_sum "$report" >out 2>err
grep -q "waits for a queue" out && grep -q "copies and waits" out || fail "wait_sum: $(cat out)"
finish
