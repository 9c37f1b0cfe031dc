#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A report holds names and times, and nothing of what the program worked on: no environment variable, no contents of
# files or pipes, no arguments of calls, no bytes of stacks.
source "$(dirname "$0")/common.bash"
if ! python3 -c 'import ctypes; ctypes.CDLL("libzstd.so.1")' 2>/dev/null; then
	echo "SKIP: no python3, or no libzstd.so.1"
	exit 77
fi
cd "$work" || exit 1
export TMPDIR=$work/tmp
mkdir tmp

# Each secret is a word that stands nowhere else; the program holds all of them on its stack while it is recorded.
cat >program.py <<'PYTHON'
import os, socket, subprocess, time

def work(variable, contents):
    here, there = socket.socketpair()
    end = time.monotonic() + 0.3
    while time.monotonic() < end:
        here.sendall(contents)
        there.recv(100)
        time.sleep(0.001)
        "".join(reversed(variable)) * 100
    subprocess.run(["sh", "-c", "read line <contents; sleep 0.05"], env=dict(os.environ, OTHER="zarquonenv"))

work(os.environ["SECRET"], open("contents", "rb").read())
print("done")
PYTHON
echo magratheafile >contents
export SECRET=slartibartenv
run profile -f -o report -t cuda,nvtx,osrt,opencl,mpi,nccl,cublas,cudnn,cusparse,cusolver,cufft,cublas-verbose -s process-tree --osrt-threshold 0 --osrt-backtrace-threshold 0 \
	python3 program.py
expect_status 0 "the program"
python3 "$DATA/../cli/privacy_strings.py" report.hwy >strings
grep -aq program.py strings || fail "the report's texts cannot be read here"
for secret in slartibartenv vnetrabitrals zarquonenv magratheafile; do
	[ "$(grep -ac $secret strings)" = 0 ] || fail "the report holds $secret: $(grep -am1 -o ".\{0,40\}$secret" strings)"
done
[ -z "$(ls -A tmp)" ] || fail "the run directory is left"
finish
