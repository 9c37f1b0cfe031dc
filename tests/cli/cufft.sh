#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# -t cufft: calls of cuFFT with the sizes of their transforms; of a library that looks like it, and of the real one.
source "$(dirname "$0")/collect.bash"
target=$COLLECT/cufft_target
cd "$work" || exit 1

"$target" "$COLLECT/libcufft-module.so" >plain
run profile -q -f -o run -t cufft "$target" "$COLLECT/libcufft-module.so"
expect_status 0 "recorded"
diff plain "$work/out" || fail "the program got other answers"
"$HEADWAY" export -t csv -o run run.hwy >/dev/null 2>&1 || fail "no csv"
python3 - <<'END' >calls
import csv
for row in csv.DictReader(open("run/call.csv")):
    print(" ".join(part for part in (row["domain"], row["name"], row["args"]) if part))
END
cat >wanted <<'END'
cuFFT cufftCreate
cuFFT cufftMakePlanMany {"n":[64,128,256],"type":"C2C","batch":5}
cuFFT cufftExecC2C {"n":[64,128,256],"type":"C2C","batch":5,"direction":"forward"}
cuFFT cufftExecC2C {"n":[64,128,256],"type":"C2C","batch":5,"direction":"inverse"}
cuFFT cufftExecC2C
cuFFT cufftPlan2d
cuFFT cufftPlan2d {"n":[8,4],"type":"R2C","batch":1}
cuFFT cufftExecR2C {"n":[8,4],"type":"R2C","batch":1}
cuFFT cufftMakePlanMany
cuFFT cufftDestroy
cuFFT cufftExecC2C
cuFFT cufftPlan2d {"n":[16,32],"type":"R2C","batch":1}
cuFFT cufftExecR2C {"n":[16,32],"type":"R2C","batch":1}
cuFFT cufftPlan2d {"n":[16,32],"type":"R2C","batch":1}
cuFFT cufftExecR2C {"n":[16,32],"type":"R2C","batch":1}
END
# The fake's cufftPlan2d calls its own cufftCreate, which is a part of that call.
diff wanted calls || fail "calls and their arguments"

# --- not asked for: nothing of ours is in the way
run profile -q -f -o run -t nvtx "$target"
"$HEADWAY" info run.hwy | grep -q 'call ' && fail "calls without -t cufft"

# --- the real library, if it is there: without a GPU its calls fail, and are calls all the same
if command -v cc >/dev/null && printf 'int cufftCreate(int *p); int main(void) { int p; return cufftCreate(&p) < 0; }' >real.c &&
	cc -o real real.c -lcufft -L/usr/local/cuda/lib64 2>/dev/null && LD_LIBRARY_PATH=/usr/local/cuda/lib64 ./real; then
	LD_LIBRARY_PATH=/usr/local/cuda/lib64 run profile -q -f -o run -t cufft ./real
	rm -rf run && "$HEADWAY" export -t csv -o run run.hwy >/dev/null 2>&1
	grep -q ',cuFFT,.*,cufftCreate,' run/call.csv || fail "a call of the real cuFFT: $(cat run/call.csv)"
else
	echo "no cuFFT to link with: left out"
fi
finish
