#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a Python program to the finding: loops that launch on a libcupti without a GPU, held up by the garbage collector
# or by another thread of Python. The finding names the collector's line, or the thread that had the lock and its function.
source "$(dirname "$0")/common.bash"
: "${COLLECT:?test programs}"
export HEADWAY_CUPTI=$COLLECT/mock/libcupti.so.13
export MOCK_CUPTI_NAMES=$DATA/../mock/data/callbacks.txt MOCK_CUPTI_DATA=$DATA/../mock/data/mix_graph.cupti
[ -e "$HEADWAY_CUPTI" ] || { echo "SKIP: no mock libcupti"; exit 77; }
mapfile -t found < <(pythons)
[ ${#found[@]} -gt 0 ] || { echo "SKIP: no Python of 3.10 to 3.14"; exit 77; }

# A device that takes one kernel after the other, by its times only.
cat >"$work/device.py" <<'END'
import ctypes, os, time

# As the CUDA driver does.
getenv = ctypes.CDLL(None).getenv
getenv.restype = ctypes.c_char_p
ctypes.CDLL(getenv(b"CUDA_INJECTION64_PATH").decode()).InitializeInjection()
mock = ctypes.CDLL(os.environ["HEADWAY_CUPTI"])
mock.mock_call.argtypes = [ctypes.c_uint32, ctypes.c_uint32, ctypes.c_int64, ctypes.c_uint32]
mock.mock_kernel.argtypes = [ctypes.c_uint32, ctypes.c_char_p, ctypes.c_int64, ctypes.c_int64]
RUNTIME = 2
LAUNCH = mock.mock_number(RUNTIME, b"cudaLaunchKernel_v7000")
free = 0

def launch(ns, name=b"kernel"):
    global free
    # Long enough for another thread to take the lock that ctypes releases meanwhile.
    start = max(time.monotonic_ns() + 110000, free + 1000)
    correlation = mock.mock_call(RUNTIME, LAUNCH, 100000, 0)
    mock.mock_kernel(correlation, name, start, ns)
    free = start + ns
END
cat >"$work/collects.py" <<'END'
import gc
from device import launch

kept = [[[]] for _ in range(100000)]
gc.disable()

def checkpoint():
    gc.collect()

for step in range(40):
    for name in b"embed", b"attention", b"mlp", b"loss", b"update":
        launch(200000, name)
    checkpoint()
END
cat >"$work/fights.py" <<'END'
import threading
from device import launch

stop = False

def decode_frames():
    while not stop:
        sum(range(1000))

worker = threading.Thread(target=decode_frames)
worker.start()
for step in range(60):
    launch(200000)
stop = True
worker.join()
END

# finding ID PROGRAM OPTIONS…: prints what the finding says, with its places and its advice, on one line.
finding() {
	run profile -q -f -o "$work/report.hwy" "${@:3}" "$python" "$work/$2"
	expect_status 0 "$2"
	run analyze --format json "$work/report.hwy"
	expect_status 0 "analyze $2"
	/usr/bin/env python3 - "$work/out" "$1" <<-'END'
		import json, sys
		analysis = json.load(open(sys.argv[1]))
		for one in analysis["findings"]:
		    if one["id"] == sys.argv[2]:
		        print(json.dumps(one))
		        break
		else:
		    print("none:", json.dumps([(one["id"], one["says"]) for one in analysis["findings"]])[:2000])
	END
}

# The oldest and the newest layout of a Python that is here.
mapfile -t found < <(printf '%s\n' "${found[@]}" | sort -k2,2V | sed -n '1p;$p' | sort -u)
for one in "${found[@]}"; do
	read -r python name _ <<<"$one"
	said=$(finding gc-pauses collects.py -t cuda,python)
	for text in '"checkpoint"' 'collects.py' 'is a call' 'generation 2'; do
		grep -qF -- "$text" <<<"$said" || fail "$name: gc-pauses does not say '$text': $said"
	done
	"$python" -c 'import sysconfig, sys; sys.exit(not sysconfig.get_config_var("Py_GIL_DISABLED"))' && continue
	said=$(finding gil-contention fights.py -t cuda,python)
	for text in 'had the lock, in decode_frames' 'fights.py'; do
		grep -qF -- "$text" <<<"$said" || fail "$name: gil-contention does not say '$text': $said"
	done
done
finish
