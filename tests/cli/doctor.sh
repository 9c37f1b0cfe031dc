#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# headway doctor: one screen, JSON with the promised keys, and nothing on a broken machine can stop it.
# shellcheck source=common.bash
source "$(dirname "$0")/common.bash"
type python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }
export LC_ALL=C.UTF-8
type /usr/bin/python3 >/dev/null 2>&1 && PATH=/usr/bin:/bin:/usr/sbin:/sbin # shims would be started again and again

# fits WHAT: $work/out is a screen of 24 lines and 80 columns; remedies, which are to be copied, may be longer.
fits() {
	[ "$(wc -l <"$work/out")" -le 24 ] || fail "$1: more than 24 lines"
	python3 - "$work/out" <<-'EOF' || fail "$1: wider than 80 columns"
		import sys
		lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
		sys.exit(any(len(l) > 80 for l in lines if not l.startswith("    ")))
	EOF
	grep -qE ' +$' "$work/out" && fail "$1: spaces at the end of a line"
	grep -q $'\033' "$work/out" && fail "$1: colours where there is no terminal"
}

# asks EXPRESSION WHAT: a Python expression over the JSON object d in $work/out is true.
asks() {
	python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); sys.exit(not eval(sys.argv[2]))' \
		"$work/out" "$1" 2>"$work/asked" || fail "$2: $1; $(tail -1 "$work/asked") $(head -c 300 "$work/out")"
}

run doctor
expect_status 0 "doctor"
fits "doctor"
for title in 'programs, NVTX' CUDA OpenCL 'OS calls' 'CPU samples' scheduling 'whole machine' 'native stacks' 'Python stacks' viewer; do
	grep -qE "^[✓✗!] $title" "$work/out" || fail "no line for $title: $(cat "$work/out")"
done
LC_ALL=C run doctor
expect_status 0 "doctor in the C locale"
LC_ALL=C grep -q '[^ -~]' "$work/out" && fail "the C locale gets ASCII"
fits "doctor in the C locale"

run doctor --format json
expect_status 0 "json"
documented=$(sed -n 's/^| `\([a-z_.]*\)` .*/\1/p' "$(dirname "$0")/../../docs/doctor.md")
[ -n "$documented" ] || fail "docs/doctor.md lists no keys"
python3 - "$work/out" $documented <<-'EOF' || fail "a documented key is missing"
	import json, sys
	for key in sys.argv[2:]:
	    d = json.load(open(sys.argv[1]))
	    for part in key.split("."):
	        d = d[part]
EOF
asks 'd["can_record"] is True' "something can be recorded"
asks 'set(c["can"] for c in d["checks"].values()) <= {"yes", "no", "partly"}' "verdicts"
asks 'all(c["says"] for c in d["checks"].values())' "every check says something"
asks 'd["machine"]["cpus"] >= 1' "the machine"

run doctor --format yaml
expect_status 2 "an unknown format"
run doctor something
expect_status 2 "an operand"

# ---- machines with something missing ----

PATH=/nonexistent run doctor --format json
asks 'd["pythons"] == [] and "no Python" in d["checks"]["python_stacks"]["says"]' "no Python on PATH"

mkdir "$work/bin"
printf '#!/bin/sh\necho "version 3.9.1"\necho "minor 9"\necho "implementation cpython"\necho "executable $0"\n' >"$work/bin/python3"
printf '#!/bin/sh\nexec sleep 100000\n' >"$work/bin/python" # longer than a test may take
chmod +x "$work"/bin/python*
PATH=$work/bin:$PATH run doctor --format json
expect_status 0 "a Python that hangs"
asks 'any(p["version"] == "3.9.1" and not p["stacks"] for p in d["pythons"])' "an old Python"
asks '"3.9.1" in d["checks"]["python_stacks"]["says"]' "an old Python"

echo nonsense >"$work/libcupti.so"
HEADWAY_CUPTI=$work/libcupti.so run doctor --format json
expect_status 0 "HEADWAY_CUPTI is nonsense"
asks 'd["nvidia"]["cupti"] != "'"$work"'/libcupti.so"' "HEADWAY_CUPTI is nonsense"

# A driver and a CUPTI that are there (stand-ins of the collector's tests).
mock=$(dirname "$HEADWAY")/tests/collect/mock
if [ -e "$mock/driver/libcuda.so.1" ] && [ ! -e /proc/driver/nvidia/version ]; then
	LD_LIBRARY_PATH=$mock:$mock/driver run doctor --format json
	asks 'd["checks"]["cuda"]["can"] == "yes" and d["nvidia"]["cupti"].endswith("libcupti.so.13")' "a driver and CUPTI"
	HEADWAY_CUPTI=$work/libcupti.so LD_LIBRARY_PATH=$mock:$mock/driver run doctor --format json
	asks 'd["checks"]["cuda"]["can"] == "partly" and "unset HEADWAY_CUPTI" in d["checks"]["cuda"]["remedy"]' "a wrong HEADWAY_CUPTI"
fi

# NVML, which tells clocks; one that refuses, hangs or crashes costs a line.
if [ -e "$mock/nvml/libnvidia-ml.so.1" ] && [ ! -e /proc/driver/nvidia/version ]; then
	LD_LIBRARY_PATH=$mock/nvml run doctor --format json
	asks 'd["checks"]["gpu_clocks"]["can"] == "yes" and "GPM" in d["checks"]["gpu_clocks"]["says"] and d["nvidia"]["gpm_gpus"] == 2' "NVML"
	MOCK_NVML=no-gpm LD_LIBRARY_PATH=$mock/nvml run doctor --format json
	asks 'd["checks"]["gpu_clocks"]["can"] == "yes" and d["nvidia"]["gpm_gpus"] == 0' "NVML without GPM"
	LD_LIBRARY_PATH=$mock/nvml run doctor
	grep -q "GPU clocks *NVML tells clocks and power" "$work/out" || fail "NVML in the text: $(cat "$work/out")"
	fits "NVML"
	MOCK_NVML=refused LD_LIBRARY_PATH=$mock/nvml run doctor --format json
	expect_status 0 "NVML refuses"
	asks 'd["checks"]["gpu_clocks"]["can"] == "no" and "Insufficient Permissions" in d["checks"]["gpu_clocks"]["says"]' "NVML refuses"
	MOCK_NVML=crash=1 LD_LIBRARY_PATH=$mock/nvml run doctor --format json
	asks 'd["checks"]["gpu_clocks"]["says"] == "libnvidia-ml.so.1 crashes"' "NVML crashes"
fi
run doctor --format json
[ -e /proc/driver/nvidia/version ] || asks 'd["checks"]["gpu_clocks"]["can"] == "no"' "no NVML"

# A libmicrohttpd that is no library: what to install is said, and recording is not concerned.
mkdir "$work/lib"
: >"$work/lib/libmicrohttpd.so.12"
LD_LIBRARY_PATH=$work/lib run doctor --format json
expect_status 0 "no libmicrohttpd"
asks 'd["checks"]["viewer"]["can"] == "no" and "libmicrohttpd" in d["checks"]["viewer"]["remedy"]' "no libmicrohttpd"
asks 'd["libraries"]["libmicrohttpd"] is None and d["can_record"] is True' "no libmicrohttpd"
LD_LIBRARY_PATH=$work/lib run doctor
fits "no libmicrohttpd"

TMPDIR=$work/nowhere run doctor --format json
asks 'd["temporary"]["path"] != "'"$work"'/nowhere"' "a TMPDIR that is not there"

HEADWAY_LIB=$work run doctor
expect_status 1 "without the collect library nothing can be recorded"
grep -q 'Nothing can be recorded' "$work/out" || fail "nothing can be recorded: $(cat "$work/out")"
fits "nothing can be recorded"

# A folder where nothing can be executed does no harm.
if mkdir "$work/noexec" && mount -t tmpfs -o noexec,size=200m none "$work/noexec" 2>/dev/null; then
	TMPDIR=$work/noexec run doctor --format json
	umount "$work/noexec"
	expect_status 0 "noexec"
	asks 'd["temporary"]["exec"] is False and d["checks"]["program"]["can"] == "yes"' "noexec"
fi

# ---- broken OpenCL drivers ----

if command -v cc >/dev/null && ldconfig -p 2>/dev/null | grep -q libOpenCL.so.1; then
	printf '__attribute__((constructor)) static void f(void) { *(volatile int *)8 = 1; }\n' >"$work/crash.c"
	printf '#include <unistd.h>\n__attribute__((constructor)) static void f(void) { for (;;) pause(); }\n' >"$work/hang.c"
	for way in crash hang; do
		mkdir "$work/$way"
		cc -shared -fPIC -o "$work/$way/lib$way.so" "$work/$way.c"
		echo "$work/$way/lib$way.so" >"$work/$way/$way.icd"
		OCL_ICD_VENDORS=$work/$way run doctor --format json
		expect_status 0 "an OpenCL driver: $way"
		asks 'd["checks"]["opencl"]["can"] == "no" and d["opencl"]["loader"]' "an OpenCL driver: $way"
	done
	OCL_ICD_VENDORS=$work/nowhere run doctor --format json
	asks '"no platform" in d["checks"]["opencl"]["says"]' "no OpenCL driver"
fi
finish
