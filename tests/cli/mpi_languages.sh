#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# MPI from Fortran (the modules mpi and mpi_f08), from Python (mpi4py, which opens the library for itself alone), and in ranks
# that use OpenCL.
source "$(dirname "$0")/mpi.bash"

# compare WHAT FOLDER: what the program wrote down, and what was recorded.
compare() {
	cat "$2"/did.* | sort >"$work/did"
	grep ^MESSAGE "$work/did" >"$work/want"
	exchanged >"$work/have"
	expect_same "$1: messages that the program exchanged, and recorded ones" "$work/want" "$work/have"
	grep ^CALLS "$work/did" >"$work/want"
	called >"$work/have"
	expect_same "$1: calls that the program made, and recorded ones" "$work/want" "$work/have"
}

for library in "${libraries[@]}"; do
	if command -v mpif90.$library >/dev/null; then
		for module in mpi f08; do
			mkdir -p "$work/$module.$library"
			mpif90.$library $([ $module = f08 ] && echo -DF08) -w -fallow-argument-mismatch -J "$work" \
				-o "$work/fortran" "$sources/mpi_fortran.F90" || fail "$library, $module: not built"
			record "$library" 3 "$work/fortran" "$work/$module.$library"
			expect_status 0 "$library: Fortran by module $module"
			compare "$library: Fortran by module $module" "$work/$module.$library"
		done
	else
		echo "SKIP: no mpif90.$library (apt: gfortran)"
	fi
	# A library that only a part of the program sees.
	mkdir -p "$work/opened.$library"
	mpicc.$library -w -shared -fPIC -o "$work/calls.so" "$sources/mpi_calls.c" || fail "$library: calls.so is not built"
	gcc -o "$work/opened" "$sources/mpi_opened.c" || fail "mpi_opened is not built"
	record "$library" 4 "$work/opened" "$work/calls.so" "$work/opened.$library"
	expect_status 0 "$library: a library that was opened for the program alone"
	compare "$library: a library that was opened for the program alone" "$work/opened.$library"
	if [ -e /usr/include/CL/cl.h ] && [ -d /etc/OpenCL/vendors ]; then
		mkdir -p "$work/opencl.$library"
		build "$library" mpi_opencl -lOpenCL
		options="-t mpi,opencl" record "$library" 2 "$work/mpi_opencl.$library" "$work/opencl.$library"
		expect_status 0 "$library: ranks that use OpenCL"
		compare "$library: ranks that use OpenCL" "$work/opencl.$library"
		kernels=$("$HEADWAY" stats -r opencl_gpu_sum --format csv "$work/job" | awk -F, '/twice/ { print $3 }')
		[ "$kernels" = 10 ] || fail "$library: ranks that use OpenCL: '$kernels' kernels, not 10"
	else
		echo "SKIP: no OpenCL (apt: opencl-headers pocl-opencl-icd)"
	fi
done

if ! /usr/bin/python3 -c 'import mpi4py.MPI' 2>/dev/null; then
	echo "SKIP: no mpi4py (apt: python3-mpi4py)"
	exit $bad
fi
mkdir "$work/python"
# Debian's mpi4py uses Open MPI.
record openmpi 2 /usr/bin/python3 "$sources/mpi_python.py" "$work/python"
expect_status 0 "Python"
cat "$work/python"/did.* | sort >"$work/did"
exchanged >"$work/have"
expect_same "Python: messages that the program exchanged, and recorded ones" <(grep ^MESSAGE "$work/did") "$work/have"
for call in $(awk '$1 == "CALLS" { print $2 ":" $3 ":" $4 }' "$work/did"); do
	called | grep -qxF "CALLS ${call//:/ }" || fail "Python: not recorded: ${call//:/ }"
done
exit $bad
