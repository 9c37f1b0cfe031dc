#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# headway profile end to end, without a GPU: what the program sees of it, and what the report has.
source "$(dirname "$0")/common.bash"
: "${COLLECT:?the folder of test programs}"

cd "$work" || exit 1
export TMPDIR=$work/tmp
mkdir tmp
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null) || python=

# profile ARGS…: like run, for headway profile; leaves no run directory behind.
profile() {
	run profile "$@"
	[ -z "$(ls -A tmp)" ] || fail "profile $*: left $(ls -A tmp)"
}
# json FILE KEY…: a value of headway info
json() {
	"$HEADWAY" info --format json "$1" | python3 -c '
import json, sys
value = json.load(sys.stdin)
for key in sys.argv[1:]:
    value = value[int(key)] if key.lstrip("-").isdigit() else value[key]
print(value)' "${@:2}"
}
field() { # field FILE EXPRESSION: a Python expression over the object i
	"$HEADWAY" info --format json "$1" | python3 -c '
import json, sys
i = json.load(sys.stdin)
print(eval(sys.argv[1]))' "$2"
}
expect() { # expect GOT WANTED WHAT
	[ "$1" = "$2" ] || fail "$3: '$1', not '$2'"
}

# ---- the program is as it is without us
profile sh -c 'printf "a\0b"; printf "c" >&2; exit 5'
expect_status 5 "exit code"
printf 'a\0b' | cmp -s - out || fail "stdout is not the program's alone"
expect "$(head -c1 err)" c "stderr is passed on"
# Without a driver of NVIDIA calls into the operating system and samples are recorded, too.
without_driver=
[ -e /proc/driver/nvidia/version ] || without_driver=yes
expect "$(tail -1 err | grep -cE '^c*headway: report1.hwy  (0 spans, .* nothing lost  .*next: headway profile -t [a-z,]* -s process-tree sh -c |[1-9][0-9]* spans, .* nothing lost  .*next: headway stats report1.hwy$)')" 1 \
	"the last line: $(tail -1 err)"
expect "$(stat -c %a report1.hwy)" 600 "the report's mode"
expect "$(json report1.hwy command)" "sh -c 'printf \"a\\0b\"; printf \"c\" >&2; exit 5'" "the command line"
profile sh -c 'kill -9 $$'
expect_status 137 "killed by SIGKILL"
[ -e report2.hwy ] || fail "the second report is report2.hwy"
expect "$(field report2.hwy 'i["diagnostics"][0]["severity"]')" warning "a kill is told of"
echo 'import time; time.sleep(0.02)' >train.py
profile train.py
expect_status 127 "a Python script is no program"
grep -qx 'headway: train.py is a Python script: headway profile python3 train.py' err || fail "a Python script: $(cat err)"
# What an empty recording suggests records something.
profile -o empty.hwy -t cuda python3 train.py
suggested=$(sed -n 's/.*next: headway profile //p' err)
wanted="-t pytorch,python,osrt -s process-tree python3 train.py"
[ -z "$without_driver" ] || wanted="python3 train.py"
[ "$suggested" = "$wanted" ] || fail "an empty recording of Python: $(cat err)"
# shellcheck disable=SC2086
profile -o full.hwy $suggested
expect_status 0 "the suggested command"
grep -q 'full.hwy  [1-9][0-9,]* spans.*next: headway stats full.hwy$' err || fail "the suggested command: $(cat err)"
rm -f train.py empty.hwy full.hwy
profile ./not-there
expect_status 127 "a program that is not there"
grep -q "headway: ./not-there: No such file or directory" err || fail "$(cat err)"
[ ! -e report3.hwy ] || fail "a report of nothing"
printf 'one\ntwo\n' | "$HEADWAY" profile -q cat >out 2>err
expect "$(cat out)" "$(printf 'one\ntwo')" "stdin is the program's"
[ ! -s err ] || fail "-q is quiet: $(cat err)"
profile -w false sh -c 'echo hidden; echo hidden >&2'
[ ! -s out ] || fail "-w false shows stdout"
grep -qx hidden err && fail "-w false shows stderr"
profile -e 'A=1,B=x,y,C=' sh -c 'echo $A-$B-$C'
expect "$(cat out)" "1-x,y-" "-e"
preload=/lib/x86_64-linux-gnu/libm.so.6
if [ -e $preload ]; then
	profile -e LD_PRELOAD=$preload sh -c 'echo $LD_PRELOAD'
	expect "$(cat out)" "$preload" "LD_PRELOAD of the program's own"
fi
A=1 profile -n false -e PATH="$PATH" sh -c 'echo "[$A]"'
expect "$(cat out)" "[]" "-n false"
(trap '' PIPE; "$HEADWAY" profile -q grep SigIgn /proc/self/status >out 2>err)
grep -q 'SigIgn:.*1000$' out || fail "an ignored SIGPIPE stays ignored: $(cat out)"
(grep SigIgn /proc/self/status >want; "$HEADWAY" profile -q grep SigIgn /proc/self/status >out 2>err)
cmp -s out want || fail "other signals are as they were: $(cat out want)"
profile sh -c 'ls -l /proc/self/fd | grep -c headway-'
expect "$(cat out)" 0 "no descriptor of ours is inherited"

# ---- names
rm -f ./*.hwy
profile -o r true
profile -o r true
expect_status 2 "an existing report is kept"
grep -q "r.hwy: exists and is kept; -f overwrites it" err || fail "$(cat err)"
profile -f true -o r true
expect_status 0 "-f true"
profile -o r false
expect_status 2 "refused before the program runs"
profile -o 'pid-%p' sh -c 'echo $$'
[ -e "pid-$(cat out).hwy" ] || fail "%p: $(ls ./*.hwy), the program was $(cat out)"
profile -o 'pid-%p.hwy' sh -c 'touch "pid-$$.mark"'
rm -f ./*.hwy

# ---- NVTX
profile -t nvtx -o nvtx "$COLLECT/nvtx_target" all
expect_status 0 "nvtx_target"
"$HEADWAY" stats -r nvtx_sum --format csv nvtx.hwy >table 2>&1
for range in :outer ":inner ü€" :decorated ":crossing one" library:registered; do
	grep -q -- ",\"\?$range" table || fail "range $range is missing in: $(cat table)"
done
expect "$(field nvtx.hwy 'i["spans"]["range"]["count"]')" 9 "ranges and marks"
expect "$(field nvtx.hwy 'i["drops"]')" "[]" "nothing lost"
profile -t none -o none "$COLLECT/nvtx_target" all
expect "$(field none.hwy 'i["spans"]["total"]')" 0 "-t none"
expect "$(field none.hwy 'len(i["processes"])')" 1 "-t none: the process is there"

# ---- processes
if [ -n "$python" ]; then
	cat >tree.py <<'EOF'
import multiprocessing, os, subprocess, sys
def work(n): os.getpid()
if __name__ == "__main__":
    subprocess.run([sys.executable, "-S", "-c", "pass"])
    pid = os.fork()
    if pid == 0:
        os._exit(3)
    os.waitpid(pid, 0)
    for method in "fork", "spawn":
        children = [multiprocessing.get_context(method).Process(target=work, args=(i,)) for i in range(2)]
        [child.start() for child in children]
        [child.join() for child in children]
EOF
	profile -o tree "$python" tree.py
	expect_status 0 "tree.py: $(cat err)"
	# one, a subprocess, a fork, two forked workers, two spawned ones and the tracker of their resources
	expect "$(field tree.hwy 'len(i["processes"])')" 8 "processes of the tree"
	expect "$(field tree.hwy 'i["diagnostics"]')" "[]" "nothing to complain about"
fi
profile -o orphan sh -c '(sleep 0.5; exit 0) & exit 4'
expect_status 4 "the status is the program's, not that of what it left behind"
expect "$(field orphan.hwy 'len(i["processes"])')" 3 "an orphan is waited for"
profile --wait=primary -o primary sh -c 'sleep 1000 >/dev/null 2>&1 & echo $! >orphan.pid; exit 0'
kill "$(cat orphan.pid)" 2>/dev/null || fail "--wait=primary: the orphan is gone"

# ---- signals
cat >patient <<'EOF'
#!/bin/bash
trap 'echo interrupted; exit 6' INT TERM
echo ready
while :; do sleep 0.05; done
EOF
chmod +x patient
for signal in INT TERM; do
	rm -f out
	# A background job of a script has SIGINT ignored, and so would have what it starts.
	env --default-signal=INT "$HEADWAY" profile -o sig ./patient >out 2>err &
	headway=$!
	for ((i = 0; i < 200; i++)); do grep -qs ready out && break; sleep 0.05; done
	kill -$signal $headway
	wait $headway
	expect $? 6 "SIG$signal is passed on, the status is the program's"
	grep -q interrupted out || fail "the program did not see SIG$signal"
	[ -s sig.hwy ] || fail "SIG$signal: no report"
	rm -f sig.hwy
done

# Ctrl-C: the terminal tells the program; we stay to write the report, and do not tell it twice.
if [ -n "$python" ]; then
	cat >count <<'EOF'
#!/bin/bash
trap 'n=$((n + 1))' INT
echo ready
for ((i = 0; i < 15; i++)); do sleep 0.05; done
exit $n
EOF
	chmod +x count
	cat >terminal.py <<'EOF'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
seen = b""
while b"ready" not in seen:
    seen += os.read(fd, 1000)
os.write(fd, b"\x03")
try:
    while os.read(fd, 1000):
        pass
except OSError:
    pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
EOF
	"$python" terminal.py "$HEADWAY" profile -o ctrl-c ./count
	expect $? 1 "interrupts the program saw"
	[ -s ctrl-c.hwy ] || fail "Ctrl-C: no report"
fi

# ---- when
profile -d 0.3 -o short ./patient
expect_status 6 "-d ends the program by SIGTERM"
[ -s short.hwy ] || fail "-d: no report"
profile -d 0.3 --kill sigkill -o killed ./patient
expect_status 137 "--kill sigkill"
profile -d 0.2 --kill none -o early sh -c 'n=0; until [ -e early.hwy ] || [ $n = 60 ]; do sleep 0.5; n=$((n + 1)); done; ls early.hwy; exit 9'
expect_status 9 "--kill none: the program goes on"
grep -q early.hwy out || fail "--kill none: the report is not there while the program goes on"
profile -t nvtx -y 60 -o late "$COLLECT/nvtx_target" all
expect "$(field late.hwy 'i["spans"]["total"]')" 0 "-y: nothing before the delay is over"

for range in step step@train 'step@*'; do
	profile -t nvtx -c nvtx -p "$range" --capture-range-end=repeat:2 -o range "$COLLECT/nvtx_target" capture 3
	expect_status 0 "-p $range"
	want=4 # two steps with what is in them
	[ "$range" = step ] && want=0 # that one is in a domain
	expect "$(field range.hwy 'i["spans"]["total"]')" $want "-p $range"
	rm -f range.hwy
done
if [ -n "$python" ] && [ -e "$COLLECT/libnvtx-library.so" ]; then
	cat >steps.py <<'EOF'
import ctypes, sys, time
nvtx = ctypes.CDLL(sys.argv[1])
nvtx.library_push(b"training")
for i in range(30):
    nvtx.library_push(b"step %d" % i)
    for part in b"forward", b"backward":
        nvtx.library_push(part)
        nvtx.library_pop()
    time.sleep(0.2 if i < 2 else 0.05)
    nvtx.library_pop()
nvtx.library_pop()
time.sleep(0.5)
print(len(open(sys.argv[2], "rb").read()) > 0)
EOF
	profile -t nvtx --steps 8 -o steps "$python" steps.py "$COLLECT/libnvtx-library.so" steps.hwy
	expect_status 0 "--steps: $(cat err)"
	expect "$(cat out)" True "--steps: the report is made while the program goes on"
	# Two slow ones, eight steady ones, and what was done until that was seen; each with two parts.
	spans=$(field steps.hwy 'i["spans"]["range"]["count"]')
	[ "$spans" -ge 30 ] && [ "$spans" -le 75 ] || fail "--steps 8: $spans ranges"
	profile -t nvtx --steps 1000 -f -o steps "$python" steps.py "$COLLECT/libnvtx-library.so" steps.py
	grep -q "ended before so many steady steps" err || fail "too few steps: $(cat err)"
fi

# ---- nothing can be recorded
rm -f ./*.hwy
HEADWAY_LIB=/not/there profile sh -c 'echo on; exit 3'
expect_status 3 "without the library the program runs"
expect "$(cat out)" on "without the library the program runs"
grep -q "nothing can be recorded, the program runs without: HEADWAY_LIB=/not/there" err || fail "$(cat err)"
[ -z "$(ls ./*.hwy 2>/dev/null)" ] || fail "a report of nothing"
TMPDIR=/not/there profile -o elsewhere true
[ -s elsewhere.hwy ] || fail "another folder is taken when TMPDIR is not there: $(cat err)"
mkdir "with space"
cp "$(dirname "$HEADWAY")/libheadway-collect.so" "with space/"
HEADWAY_LIB="$work/with space" profile -t nvtx -o space "$COLLECT/nvtx_target" all
expect "$(field space.hwy 'i["spans"]["range"]["count"]')" 9 "a library whose path has a space"

# ---- a run whose headway died
rm -f out
"$HEADWAY" profile -o lost sh -c 'echo ready; sleep 1; exit 0' >out 2>err &
headway=$!
for ((i = 0; i < 200; i++)); do grep -qs ready out && break; sleep 0.05; done
run recover tmp/headway-*
expect_status 2 "a run under way is left alone"
grep -q "still being recorded" err || fail "$(cat err)"
kill -9 $headway
{ wait $headway; } 2>/dev/null
sleep 1.2
cp -r tmp/headway-* with_more
echo mine >with_more/notes
run recover -o more with_more
expect_status 0 "recover: $(cat err)"
expect "$(ls -A with_more)" notes "files that are not the run's stay where they are"
grep -q "with_more: kept, it holds files that are not of the run" err || fail "it says so: $(cat err)"
run recover -o back tmp/headway-*
expect_status 0 "recover: $(cat err)"
expect "$(field back.hwy 'len(i["processes"])')" 2 "recover: sh and sleep"
[ -z "$(ls -A tmp)" ] || fail "recover left $(ls -A tmp)"
run recover tmp
expect_refusal "a folder that is no run" "not a run directory"
mkdir pipes
mkfifo pipes/control pipes/1.1.0.spool
timeout 20 "$HEADWAY" recover pipes >out 2>err
status=$?
expect_refusal "pipes that nobody writes to" "not a run directory"
finish
