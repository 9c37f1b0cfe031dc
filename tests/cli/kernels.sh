#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kernels: counters of Nsight Compute alone and joined to a recording; what is shown without counters; what is refused.
source "$(dirname "$0")/common.bash"
type python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }
csv=$DATA/ncu/mlp_raw.csv report=$DATA/nsys/mlp_async.hwy shapes=$DATA/torch/mlp_async.hwy

has() { # has TEXT WHAT: the output holds the text
	grep -qF -- "$1" "$work/out" || fail "$2: '$1' is missing in: $(head -c 1500 "$work/out")"
}

# ask FILE EXPRESSION [ARGS…]: an expression over the JSON 'r' and the kernels 'k' by a part of their names
ask() {
	local file=$1 expression=$2
	shift 2
	"$HEADWAY" kernels --format json "$@" "$file" 2>/dev/null | python3 -c "
import json, sys
r = json.load(sys.stdin)
k = lambda part: next(x for x in r['kernels'] if part in x['name'])
print(($expression))"
}

# ---- the counters of ncu alone ----

run kernels --details 0 "$csv"
expect_status 0 "a table of ncu"
has "mlp_raw.csv · NVIDIA H200 · 9 kernels" "the head"
has "fp32 49.9 TFLOP/s of 66.9 TFLOP/s" "operations beside the peak"
has "4.80 TB/s" "the memory's roof"
has "the grid is too small for the device: 94 % of the SMs have no block" "a small grid"
has "tile[32][33]" "conflicts"
has "registers spill" "spills"
has "touches 32 sectors" "scattered stores"
[ "$(ask "$csv" "[k(n)['bound'] + str(k(n)['memory']) for n in ('xmma', 'GeluBackward', 'transpose_tile', 'tiny', 'spilling', 'flash')]")" = \
	"['computeNone', 'memoryDRAM', 'memoryL1', 'occupancyNone', 'latencyNone', 'latencyNone']" ] || fail "bounds: $(ask "$csv" "[(x['name'][:20], x['bound'], x['memory']) for x in r['kernels']]")"
[ "$(ask "$csv" "k('GeluBackward')['counters']['dram_read_bytes'], k('xmma')['counters']['flop']['fp32'], k('flash')['counters']['flop']['bf16_tensor']")" = \
	"(33550000, 17179869184, 68719476736)" ] || fail "counters in base units: $(ask "$csv" "k('xmma')['counters']")"
[ "$(ask "$csv" "[x['gain_ns'] for x in r['kernels']] == sorted((x['gain_ns'] for x in r['kernels']), reverse=True)")" = True ] ||
	fail "not by gain"
[ "$(ask "$csv" "abs(k('xmma')['theoretical']['occupancy'] - 0.125) < 1e-6 and k('xmma')['theoretical']['limit']")" = registers ] || fail "occupancy"
[ "$(ask "$csv" "len(r['roofline']['points']), r['roofline']['devices'][0]['bytes_per_s']")" = "(9, 4800000000000.0)" ] || fail "roofline: $(ask "$csv" "r['roofline']['devices']")"
run kernels -k gelu "$csv"
expect_refusal "a kernel that is not there" "no kernel has 'gelu' in its name"
run kernels -k GeluBackward "$csv"
has "torch.compile" "advice for PyTorch's kernels"
for format in text csv md; do
	run kernels --format $format "$csv"
	expect_status 0 "format $format"
done
"$HEADWAY" kernels --format csv "$csv" | python3 -c '
import csv, sys
rows = list(csv.DictReader(sys.stdin))
assert len(rows) == 9 and all(None not in row and None not in row.values() for row in rows), rows[:1]
tiny = next(row for row in rows if row["name"].startswith("tiny"))
assert tiny["bound"] == "occupancy" and float(tiny["duration_ns"]) == 210500 and tiny["local_bytes"] == "0", tiny' || fail "CSV"
LC_ALL=C.UTF-8 "$HEADWAY" kernels "$csv" | grep '┤.*╱' >/dev/null || fail "no roofline"
LC_ALL=C "$HEADWAY" kernels "$csv" | grep '|.*/' >/dev/null || fail "no roofline in ASCII"

# ---- a recording without counters, then with those of ncu ----

run kernels "$report"
expect_status 0 "a recording without counters"
has "no counters" "the head"
has "≤ 12.5 %" "theoretical occupancy"
has "cannot tell" "no guess"
has "to measure them: headway kernels" "the line that measures"
cp "$report" "$work/run.hwy"
chmod u+w "$work/run.hwy"
run kernels --ncu "$csv" "$work/run.hwy"
expect_status 0 "joining ncu's counters"
has "counters of 4" "kernels that ncu has measured"
has "5 of 9 measured kernels are not in the recording" "kernels that the recording lacks"
[ "$(ask "$work/run.hwy" "k('xmma')['source'], k('xmma')['count'], k('128x256')['source']")" = "('ncu', 180, None)" ] ||
	fail "the report does not keep the counters: $(ask "$work/run.hwy" "k('xmma')")"
run kernels --ncu "$csv" "$work/run.hwy"
[ "$(ask "$work/run.hwy" "k('xmma')['measured_launches']")" = 1 ] || fail "joined twice, counted twice"
run whatif --apply faster:xmma --format json "$work/run.hwy"
expect_status 0 "whatif faster:KERNEL"
python3 - "$work/out" <<'END' || fail "the gain of faster:KERNEL"
import json, sys
r = json.load(open(sys.argv[1]))
gain = 1 - r["predictions"][0]["step_ns"] / r["step_ns"]
assert 0.03 < gain < 0.06, gain # 15 % of a third of the step
END
run whatif --apply faster:128x256 "$work/run.hwy"
expect_refusal "a kernel of which nothing is known" "measure its counters"
run whatif --apply faster:cutlass "$work/run.hwy"
expect_refusal "a name that two kernels have" "several kernels"

# ---- narrow terminals: columns are left out, and names lose their middle ----

cat >"$work/terminal.py" <<'P'
import fcntl, os, pty, struct, sys, termios
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 40, int(sys.argv[1]), 0, 0))
    os.execv(sys.argv[2], sys.argv[2:])
text = b""
try:
    while True:
        text += os.read(terminal, 65536)
except OSError:
    pass
os.waitpid(pid, 0)
sys.stdout.buffer.write(text.replace(b"\r", b""))
P
for columns in 80 100 160; do
	NO_COLOR=1 TERM=dumb LC_ALL=C.UTF-8 python3 "$work/terminal.py" $columns "$HEADWAY" kernels "$DATA/gpu/twelve_torch.hwy" >"$work/out" || fail "on a terminal"
	sed -n '/to gain/,/^$/p' "$work/out" >"$work/table"
	[ "$(wc -l <"$work/table")" -ge 10 ] || fail "$columns columns: no table"
	! LC_ALL=C.UTF-8 grep -E "^.{$((columns + 1))}" "$work/table" || fail "$columns columns: too wide"
	grep -q 'cudnn_generated_[a-z_]*…[a-z0-9_]*kernel0_#$' "$work/table" || fail "$columns columns: a name without its end"
done
has "faster:cudnn_generated'" "a short name is enough"
run whatif --apply faster:cudnn_generated "$DATA/gpu/twelve_torch.hwy"
expect_status 0 "the short name"

# ---- shapes of operators in place of counters ----

run kernels --details 1 "$shapes"
has "no counters; work by the shapes of operators" "the head of a recording with shapes"
has "of 66.9 TFLOP/s" "the peak beside what shapes tell"
[ "$(ask "$shapes" "k('xmma')['source'], k('xmma')['bound'], abs(k('xmma')['gain_ns'] / k('xmma')['ns'] - 0.25) < 0.02")" = "('shapes', 'compute', True)" ] ||
	fail "shapes: $(ask "$shapes" "k('xmma')")"
[ "$(ask "$shapes" "k('FillFunctor')['gain_ns']")" = 0 ] || fail "a launch of 0.7 us cannot gain"
run whatif --apply faster:xmma "$shapes"
expect_status 0 "faster:KERNEL by shapes"

# ---- foreign recordings, and refusals ----

if [ -n "${SHARED:-}" ] && [ -e "$SHARED/data/torch/mlp_async.json.gz" ]; then
	run kernels --ncu "$csv" --write "$work/new.hwy" "$SHARED/data/torch/mlp_async.json.gz"
	expect_status 0 "counters joined to a trace of PyTorch"
	[ "$(ask "$work/new.hwy" "k('xmma')['source']")" = ncu ] || fail "--write"
fi
printf '\x4e\x56\x52\x00binary' >"$work/a.ncu-rep"
run kernels "$work/a.ncu-rep"
expect_refusal "ncu's closed format" "--csv --page raw > kernels.csv"
echo hello >"$work/b.csv"
run kernels --ncu "$work/b.csv" "$work/run.hwy"
expect_refusal "a table that is not ncu's" "no table of ncu"
run kernels --ncu "$csv" --write "$work/run.hwy" "$report"
expect_refusal "an existing file" "exists"
run kernels --run "$shapes"
expect_refusal "a recording without its command" "does not say which command"
run kernels
[ "$status" = 2 ] && grep -q "which file" "$work/err" || fail "no file: $(cat "$work/err")"
run kernels "$report" python3 train.py
[ "$status" = 2 ] && grep -q -- "stands behind '--'" "$work/err" || fail "a program without --: $(cat "$work/err")"
run kernels --run "$report" -- true
[ "$status" = 2 ] && grep -q "not both" "$work/err" || fail "--run and a program"
run kernels --write x.hwy "$report"
[ "$status" = 2 ] && grep -q "new counters" "$work/err" || fail "--write alone"

# Words go to the kernels that take the time, known or not; what hardly takes any gets no advice, unless it is asked for.
python3 - "$work/shares.json" <<-'END'
	import json, sys
	def kernel(name, ts, dur, grid):
	    return {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": ts, "dur": dur,
	            "args": {"device": 0, "stream": 7, "grid": grid, "block": [256, 1, 1], "registers per thread": 32, "shared memory": 0}}
	device = {"id": 0, "name": "NVIDIA H100", "computeMajor": 9, "computeMinor": 0, "maxThreadsPerBlock": 1024,
	          "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 32, "sharedMemPerBlock": 49152, "numSms": 132,
	          "regsPerMultiprocessor": 65536, "sharedMemPerBlockOptin": 232448, "sharedMemPerMultiprocessor": 233472}
	events = []
	for i in range(6):
	    events += [kernel("long_one", 1000 * i, 950, [5000, 1, 1]), kernel("small_one", 1000 * i + 960, 20, [4, 1, 1]),
	               kernel("tiny_one", 1000 * i + 985, 2.5, [3, 1, 1])]
	json.dump({"schemaVersion": 1, "deviceProperties": [device], "traceEvents": events}, open(sys.argv[1], "w"))
END
for how in "" "--format md"; do
	run kernels $how "$work/shares.json"
	[ "$(grep -c 'launch more blocks' "$work/out")" = 1 ] || fail "kernels $how: advice for the kernel of 2 %, none for that of 0.3 %: $(cat "$work/out")"
	grep -q 'cannot tell: not measured' "$work/out" || fail "kernels $how: the kernel with most time is described: $(cat "$work/out")"
done
run kernels "$work/shares.json"
[ "$(grep -oE '^ [0-9]  (long|small|tiny)_one   ' "$work/out" | tr -s ' ')" = $' 1 long_one \n 2 small_one ' ] ||
	fail "kernels are described by their time: $(cat "$work/out")"
run kernels --details 0 "$work/shares.json"
grep -qE '^ 3  tiny_one   ' "$work/out" || fail "--details 0 describes all"
run kernels --kernel tiny "$work/shares.json"
grep -q 'launch more blocks' "$work/out" || fail "a kernel that is asked for gets its advice: $(cat "$work/out")"
run kernels --format json "$work/shares.json"
python3 - "$work/out" <<-'END' || fail "advice in JSON"
	import json, sys
	advice = {kernel["name"]: len(kernel["advice"]) for kernel in json.load(open(sys.argv[1]))["kernels"]}
	assert advice == {"long_one": 0, "small_one": 1, "tiny_one": 0}, advice
END
exit $bad
