#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Command lines that people copy from tutorials, with nsys replaced by headway, and what is refused.
source "$(dirname "$0")/common.bash"

cd "$work" || exit 1
cat >app <<'EOF'
#!/bin/sh
echo "ran $*"
exit 7
EOF
chmod +x app
export OMPI_COMM_WORLD_RANK=3 SLURM_PROCID=5

# works REPORT LINE: the line runs ./app with "a --flag -f true", passes on its status, leaves the report.
works() {
	rm -f -- *.hwy out err
	eval "\"$HEADWAY\" ${2#nsys }" >out 2>err </dev/null
	local status=$?
	[ $status = 7 ] || fail "$2: status $status; $(head -c 400 err)"
	[ "$(cat out)" = "ran a --flag -f true" ] || fail "$2: stdout is '$(cat out)'"
	[ -s "$1" ] || fail "$2: no $1, but: $(ls)"
	[ "$(ls ./*.hwy 2>/dev/null | wc -l)" = 1 ] || fail "$2: reports: $(ls ./*.hwy)"
}
# says TEXT: the last line's stderr has it.
says() {
	grep -qF -- "$1" err || fail "'$1' is missing in: $(cat err)"
}
silent() {
	[ "$(grep -vc 'the program did nothing that was to be recorded' err)" = 1 ] || fail "more than the last line: $(cat err)"
}

app="./app a --flag -f true"
works report1.hwy "nsys profile $app"
silent
works my_report.hwy "nsys profile -o my_report -f true $app"
silent
works baseline.hwy "nsys profile --trace=cuda,nvtx --force-overwrite=true --output=baseline $app"
silent
works run.hwy "nsys profile -t cuda,nvtx,osrt --stats=false -o run.nsys-rep $app"
silent
# PyTorch forums, "profile with nvtx and nsys"
works nsight_report.hwy "nsys profile -w true -t cuda,nvtx,osrt,cudnn,cublas -s none -o nsight_report -f true \
	--capture-range=cudaProfilerApi --capture-range-end=stop-shutdown --cudabacktrace=true -x true $app"
silent
# vLLM
works report.hwy "nsys profile -o report.nsys-rep --trace-fork-before-exec=true --cuda-graph-trace=node \
	--delay 0 --duration 60 $app"
silent
works report1.hwy "nsys profile -t cuda,nvtx -s cpu --cpuctxsw=process-tree --gpu-metrics-device=all $app"
says "GPU metrics: not recorded: "
# one report a rank
works rank_3.hwy "nsys profile --trace=cuda,nvtx,mpi --mpi-impl=openmpi -o rank_%q{OMPI_COMM_WORLD_RANK} $app"
silent
works "log_5_$(hostname).hwy" "nsys profile -o log_%q{SLURM_PROCID}_%h --stop-on-exit=true $app"
silent
# Megatron
works meg.hwy "nsys profile -s none -t nvtx,cuda -o meg --force-overwrite true \
	--capture-range=cudaProfilerApi --capture-range-end=stop $app"
silent
works cap.hwy "nsys profile -c nvtx -p 'step@*' -e NSYS_NVTX_PROFILER_REGISTER_ONLY=0 -f true -o cap $app"
silent
works report1.hwy "nsys profile --sample=none --backtrace=none --show-output=true --kill none --wait=primary $app"
silent
works report1.hwy "nsys profile --export=sqlite --python-sampling=true --pytorch=autograd-nvtx $app"
says "--export=sqlite: not built yet, ignored"
says "--python-sampling=true: not built yet, ignored"
says "--pytorch=autograd-nvtx: not built yet, ignored"
works report1.hwy "nsys profile --cuda-memory-usage=true --cuda-um-gpu-page-faults=false --gpuctxsw=false \
	--cudabacktrace=all:5000 --python-backtrace=cuda --cuda-flush-interval=1000 -y 0.1 $app"
silent
works a%b.hwy "nsys profile -fo a%%b -- $app"
silent

# ---- refusals: exit 2, nothing run, one or two lines
# refused TEXT ARGS…
refused() {
	local text=$1
	shift
	rm -f -- *.hwy
	run profile "$@" ./app
	expect_status 2 "profile $*"
	[ -s out ] && fail "profile $*: something ran"
	grep -qF -- "$text" err || fail "profile $*: '$text' is missing in: $(cat err)"
	[ -z "$(ls ./*.hwy 2>/dev/null)" ] || fail "profile $*: a report"
}
refused "unknown option '--durations'; did you mean '--duration'?" --durations=3
refused "unknown option '--gpu-metric-devices'; did you mean '--gpu-metrics-devices'?" --gpu-metric-devices=all
refused "unknown option '-j'" -j
refused "unknown 'cud'; did you mean 'cuda'?" -t cud
refused "nothing of 'ucx,oshmem' is built yet" -t ucx,oshmem
refused "'none' and something else" -t none,cuda
refused "neither true nor false" --force-overwrite=perhaps
refused "is not a time" -d soon
refused "is too large" -d 9223372036.9
refused "is too large" -d 2305843010
refused "did you mean 'cudaProfilerApi'?" -c cudaprofilerap
refused "which range? name it with -p RANGE" -c nvtx
refused "it goes with --capture-range=nvtx" -c cudaProfilerApi -p step
refused "the range says when recording begins" -c cudaProfilerApi -y 3
refused "only CUPTI tells of that range" -c cudaProfilerApi --leave-cupti
refused "add nvtx to --trace" -t cuda --steps 5
refused "one ends the recording" --keep-last 3 --steps 5
refused "how often? write repeat-shutdown:N" -c cudaProfilerApi --capture-range-end=repeat-shutdown
refused "did you mean 'sigkill'?" --kill=sigkil
refused "did you mean 'primary'?" --wait=primry
refused "is not NAME=value" -e 7=x
refused "no environment variable 'NOT_THERE'" -o 'x%q{NOT_THERE}'
refused "none of %p, %h" -o 'x%z'
refused "No such file or directory" -o no/such/folder/x
refused "there is no 'headway start'" -Y true
run profile
expect_status 2 "profile without a program"
grep -q "which program?" err || fail "profile without a program: $(cat err)"
# "true" is a value here, not a program
run profile -f true
grep -q "which program?" err || fail "profile -f true: $(cat err)"

run profile --help
expect_status 0 "profile --help"
for heading in "The report:" "What is recorded:" "Where it comes from:" "The GPU's counters:" "When:" "The program:"; do
	grep -qx "$heading" out || fail "--help has the heading '$heading'"
done
grep -q "gpu-metrics-device " out && fail "--help lists the earlier name of an option"
finish
