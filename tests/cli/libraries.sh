#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# -t cublas,cudnn,cusparse,cusolver: calls of CUDA's libraries, which tell of them through NVTX; first of a program that
# does as they do, then of the libraries themselves, which need no GPU for a call that fails.
source "$(dirname "$0")/collect.bash"
target=$COLLECT/nvtx_calls
if [ ! -x "$target" ]; then
	echo "SKIP: NVIDIA's NVTX headers were not there when the tests were built"
	exit 77
fi
cd "$work" || exit 1
unset "${!CU@}"

# spans_of TRACES PROGRAM…: records, and leaves kind, lane and name of the calls and ranges in 'spans', one a line
spans_of() {
	local traces=$1
	shift
	run profile -q -f -o run -t "$traces" "$@"
	rm -rf run
	"$HEADWAY" export -t csv -o run run.hwy >/dev/null 2>&1 || fail "$traces: no csv"
	for kind in call range; do
		[ ! -e "run/$kind.csv" ] || awk -F, -v kind=$kind 'NR > 1 { print kind ":" $9 ":" $12 }' "run/$kind.csv"
	done | sort >spans
}
# expect_spans WHAT LINE…: the spans are exactly these
expect_spans() {
	local what=$1
	shift
	printf '%s\n' "$@" | sort | diff - spans >difference || fail "$what: $(cat difference)"
}

blas=(call:cuBLAS:cublasSgemm_v2 call:cuBLASLt:cublasLtMatmul)
others=(call:cuDNN:cudnnConvolutionForward call:cuSPARSE:cusparseSpMV call:cuSOLVER:cusolverDnSgetrf)
ranges=(range::step range:own:part)

# --- libraries are told to tell, and their ranges become calls; the program's own ranges come with -t nvtx only
spans_of cublas,cudnn,cusparse,cusolver "$target"
expect_spans "all libraries" "${blas[@]}" "${others[@]}"
expect_line out "CUBLAS_NVTX_LEVEL=2
CUDNN_NVTX_LEVEL=2
CUSPARSE_NVTX_LEVEL=2
CUSOLVERDN_NVTX_LEVEL=2" "levels that getenv tells, without a variable in the environment"
spans_of cublas-verbose,nvtx "$target"
expect_spans "cuBLAS and NVTX" "${blas[@]}" "${ranges[@]}"
spans_of nvtx "$target"
expect_spans "NVTX alone" "${ranges[@]}"
"$HEADWAY" info run.hwy >/dev/null || fail "info"

# --- who sets the variable decides
CUBLAS_NVTX_LEVEL=0 CUDNN_NVTX_LEVEL=3 spans_of cublas,nvtx "$target"
expect_spans "variables of the user" call:cuDNN:cudnnConvolutionForward "${ranges[@]}"
grep -qx 'in the environment: CUBLAS_NVTX_LEVEL=0' out || fail "the user's variable is gone: $(cat out)"

# --- also in a program with an environment of its own
spans_of cublas env -i "$target"
expect_spans "a fresh environment" "${blas[@]}"

# --- shapes of products, with the real libraries: without a GPU the calls fail, but are made
cat >product.c <<'END'
#include <stddef.h>
#include <stdio.h>
int cublasSgemm_v2(void *, int, int, int, int, int, const float *, const float *, int, const float *, int, const float *, float *, int);
int cublasGemmStridedBatchedEx(void *, int, int, int, int, int, const void *, const void *, int, int, long long, const void *, int, int,
			       long long, const void *, void *, int, int, long long, int, int, int);
int cublasLtMatrixLayoutCreate(void **, int, unsigned long, unsigned long, long);
int cublasLtMatmul(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, size_t, void *);
int main(void)
{
	float one = 1;
	void *a, *b, *d;
	cublasLtMatrixLayoutCreate(&a, 2, 64, 32, 64);
	cublasLtMatrixLayoutCreate(&b, 2, 32, 16, 32);
	cublasLtMatrixLayoutCreate(&d, 0, 64, 16, 64);
	printf("%d", cublasSgemm_v2(NULL, 0, 1, 3, 4, 5, &one, NULL, 6, NULL, 7, &one, NULL, 8));
	printf(" %d", cublasGemmStridedBatchedEx(NULL, 1, 0, 11, 12, 13, &one, NULL, 14, 1, 2, NULL, 14, 1, 2, &one, NULL, 14, 1, 2, 77, 68, 0));
	for (int i = 0; i < 2; i++)
		printf(" %d", cublasLtMatmul(NULL, NULL, &one, NULL, a, NULL, b, &one, NULL, d, NULL, d, NULL, NULL, 0, NULL));
	printf(" %d\n", cublasLtMatmul(NULL, NULL, &one, NULL, NULL, NULL, b, &one, NULL, d, NULL, d, NULL, NULL, 0, NULL));
	return 0;
}
END
if command -v cc >/dev/null && cc -o product product.c -L/usr/local/cuda/lib64 -lcublas -lcublasLt 2>/dev/null; then
	export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}/usr/local/cuda/lib64
	./product >plain || fail "the product alone"
	spans_of cublas "$PWD/product"
	spans_of cublas-verbose "$PWD/product"
	diff plain out || fail "products got other answers"
	sed 's/""/"/g' run/call.csv | grep -oE '(cublasSgemm_v2|cublasGemmStridedBatchedEx|cublasLtMatmul),.*' | sed -E 's/,[^{]*/ /; s/\}.*/}/' >shapes
	printf '%s\n' 'cublasSgemm_v2 {"m":3,"n":4,"k":5,"a":"N","b":"T","type":"float32"}' \
		'cublasGemmStridedBatchedEx {"m":11,"n":12,"k":13,"a":"T","b":"N","type":"bfloat16","batch":77}' \
		'cublasLtMatmul {"m":64,"n":16,"k":32,"type":"float16","to":"float32","batch":1}' \
		'cublasLtMatmul {"m":64,"n":16,"k":32,"type":"float16","to":"float32","batch":1}' 'cublasLtMatmul ' | sort | diff - <(sort shapes) || fail "shapes of products"
	grep -q GetAttribute run/call.csv && fail "what Headway asks for is recorded"
else
	echo "no cuBLAS to link with: left out"
fi

# --- the libraries themselves
python=$(python3 -c 'import ctypes, sys; print(sys.executable)' 2>/dev/null) && "$python" - 2>/dev/null <<-'END'
	import ctypes
	for name in "libcublasLt.so.13", "libcusparse.so.12": ctypes.CDLL(name)
END
if [ $? -ne 0 ]; then
	echo "libcublasLt.so.13 and libcusparse.so.12 are not here: left out"
else
	cat >real.py <<-'END'
		import ctypes
		handle = ctypes.c_void_p()
		ctypes.CDLL("libcublasLt.so.13").cublasLtCreate(ctypes.byref(handle))
		ctypes.CDLL("libcusparse.so.12").cusparseCreateMatDescr(ctypes.byref(handle))
	END
	spans_of cublas,cusparse "$python" real.py
	expect_spans "real libraries" call:cuBLASLt:cublasLtCreate call:cuSPARSE:cusparseCreateMatDescr
fi
finish
