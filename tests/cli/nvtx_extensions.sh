#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# NVTX's extensions: payloads with schemas become arguments of ranges, counters become lanes; NCCL's own payloads.
source "$(dirname "$0")/collect.bash"
target=$COLLECT/nvtx_extensions
if [ ! -x "$target" ]; then
	echo "SKIP: NVIDIA's NVTX headers were not there when the tests were built"
	exit 77
fi
cd "$work" || exit 1

# spans PROGRAM…: records it, and leaves run/KIND.csv
spans() {
	run profile -q -f -o run -t nvtx "$@"
	expect_status 0 "$*: $(cat "$work/out")"
	rm -rf run
	"$HEADWAY" export -t csv -o run run.hwy >/dev/null 2>&1 || fail "$*: no csv"
}
# expect_text FILE TEXT WHAT: the file has this text
expect_text() {
	grep -qF -- "$2" "$1" || fail "$3: $2 is not in: $(cat "$1")"
}

"$target" payloads || fail "without the collector"
spans "$target" payloads
sed -i 's/""/"/g' run/range.csv
whole='"peer":-3,"mode":"fast","ratio":2.5,"text":"pointed to","tag":"inside","at":{"x":-1,"y":1000},"list":[1,2,255],"registered":"kept"'
expect_text run/range.csv "{\"bytes\":1099511627776,$whole, \"payload\":42}" "a range with payloads at its begin and its end"
expect_text run/range.csv '{"bytes":7,"peer":-3,"mode":9,"ratio":2.5,"text":null,"tag":"inside"' "a mark; a value without a name, a pointer to nothing"
expect_text run/range.csv ',named,' "a mark whose message is in its payload"
expect_text run/range.csv '{"length":5,"name":"named"}' "a text whose length another entry tells"
[ "$(grep -c ',push-pop,' run/range.csv)/$(grep -c ',start-end,' run/range.csv)/$(grep -c ',mark,' run/range.csv)" = 2/1/2 ] ||
	fail "events of the extension: $(cat run/range.csv)"

spans "$target" counters
awk -F, 'NR > 1 { values[$9] = values[$9] " " $11 } END { for (name in values) print name ":" values[name] }' run/counter.csv | sort >values
printf '%s\n' "lib:cache hits: 1 2 3" "lib:cache rate: 1.5 2.5 3.5" "lib:memory: 5 5 -6" "lib:share: 0.25" | diff - values ||
	fail "values of counters"
"$HEADWAY" info run.hwy | grep -q 'batches of NVTX counters' || fail "a batch on an unknown clock is not told as lost"
for command in info "stats -r nvtx_sum" "export -t perfetto -f -o x" "export -t chrome -f -o x.json" "export -t sqlite -f -o x.sqlite"; do
	"$HEADWAY" $command run.hwy >/dev/null 2>&1 || fail "$command of counters without a device"
done

spans "$target" fork
sed -i 's/""/"/g' run/range.csv
expect_text run/range.csv '"mode":"fast","ratio":2.5,"text":"of the child"' "what was registered before a fork"
expect_text run/range.csv '"registered":"kept"' "a text registered before a fork"
spans "$target" rough

# --- NCCL's own ranges: bytes, operation and communicator, without a plugin
python=$(python3 -c 'import ctypes, sys; print(sys.executable)' 2>/dev/null) &&
	"$python" -c 'import ctypes; ctypes.CDLL("libnccl.so.2").ncclGetVersion' 2>/dev/null
if [ $? -ne 0 ]; then
	echo "libnccl.so.2 is not here: left out"
else
	cat >nccl.py <<-'END'
		import ctypes
		nccl = ctypes.CDLL("libnccl.so.2")
		nccl.ncclAllReduce(None, None, ctypes.c_size_t(10), 7, 2, None, None)
	END
	NCCL_DEBUG=none spans "$python" nccl.py
	sed -i 's/""/"/g' run/call.csv
	expect_text run/call.csv ',NCCL,' "a call of NCCL"
	expect_text run/call.csv '"Message size [bytes]":40,"Reduction operation":' "the payload of a call of NCCL"
fi
finish
