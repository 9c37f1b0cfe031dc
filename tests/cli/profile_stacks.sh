#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where calls come from, all the way: taken in the program, unwound and named in the report. The program's
# CUDA calls are made up by the mock libcupti.
source "$(dirname "$0")/common.bash"
: "${COLLECT:?the folder of test programs}" "${STACKS_OF:?prints stacks}"

cd "$work" || exit 1
need_mock
"$COLLECT/abi_dw" >out || [ $? = 77 ] || fail "dw.h: $(cat out)"

has() { # has PATTERN WHAT: a line of 'stacks' matches
	grep -qE -- "$1" stacks || fail "$2: no '$1' in: $(cat stacks)"
}

run profile -o native "$COLLECT/cuda_target" stacks
expect_status 3 "cuda_target stacks: $(cat err)"
"$STACKS_OF" native.hwy >stacks || fail "stacks_of native.hwy"
has '^cudaMalloc_v3020 < stacks ' "an allocation"
has '^cudaStreamSynchronize_v3020 < stacks [^<]* < main ' "a long wait, and its caller"
has '^cudaMemcpyAsync_v3020 < stacks ' "a long copy"
"$HEADWAY" export -t csv -o native.csv native.hwy >/dev/null || fail "export native.hwy"
expect=$(grep -c '<' stacks)
found=$(grep -c ',Taking a stack,' native.csv/overhead.csv)
[ "$found" -ge "$expect" ] || fail "$expect calls have a stack, the taking of $found was timed"
expect=$(grep -c '^cudaStreamSynchronize_v3020$' stacks)
[ "$expect" = 2 ] || fail "short waits have no stack: $(cat stacks)"
if ldconfig -p 2>/dev/null | grep -q 'libdw\.so\.1'; then
	has '^cudaMalloc_v3020 < stacks cuda_target.c:[0-9]+ < main cuda_target.c:[0-9]+' "source lines"
	line=$(grep -n 'the line of the launch' "$(dirname "$0")/../collect/cuda_target.c" | cut -d: -f1)
	has "^cudaGraphInstantiate_v12000 < __device_stub__kernel [^<]* < launches cuda_target.c:$line " \
		"a launch, where nvcc inlined the kernel's own function"
	line=$(grep -n 'the line of the allocation' "$(dirname "$0")/../collect/cuda_target.c" | cut -d: -f1)
	has "^cudaMallocManaged_v6000 < launches cuda_target.c:$line " "a call that a header of CUDA inlined"
fi
run profile -o syncs "$COLLECT/cuda_target" syncs
"$HEADWAY" info syncs.hwy >about
grep -qE '^ *sync +12 ' about && grep -qE '^ *event +3 ' about || fail "waits and events: $(cat about)"
run profile -o none --cudabacktrace=none "$COLLECT/cuda_target" stacks
"$STACKS_OF" none.hwy | grep -q '<' && fail "--cudabacktrace=none has stacks"
"$HEADWAY" export -t csv -o none.csv none.hwy >/dev/null
grep -qs 'Taking a stack' none.csv/overhead.csv && fail "--cudabacktrace=none takes stacks"

python=$(python3 -c 'import sys; sys.version_info >= (3, 10) and print(sys.executable)' 2>/dev/null)
if [ -n "$python" ]; then
	cat >train.py <<'EOF'
import ctypes, os
getenv = ctypes.CDLL(None).getenv
getenv.restype = ctypes.c_char_p
ctypes.CDLL(getenv(b"CUDA_INJECTION64_PATH").decode()).InitializeInjection()
mock = ctypes.CDLL(os.environ["HEADWAY_CUPTI"])
mock.mock_call.argtypes = [ctypes.c_uint, ctypes.c_uint, ctypes.c_long, ctypes.c_uint]
wait = mock.mock_number(2, b"cudaStreamSynchronize_v3020")
class Loss:
    def item(self):
        return mock.mock_call(2, wait, 200000, 0)
def step(loss):
    print(
        loss.item())
for i in range(5):
    step(Loss())
EOF
	run profile -o python "$python" train.py
	expect_status 0 "train.py: $(cat err)"
	"$STACKS_OF" python.hwy >stacks || fail "stacks_of python.hwy"
	has '^cudaStreamSynchronize_v3020 < .*(Loss\.)?item train.py:10 < step train.py:13 < <module> train.py:15$' \
		"native frames, then Python's"
	grep -q '_PyEval' stacks && fail "frames of the interpreter: $(cat stacks)"
	[ "$(sort -u stacks | wc -l)" = 1 ] || fail "five equal calls, one stack: $(cat stacks)"
fi
finish
