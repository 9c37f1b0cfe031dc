#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# secrets - what looks like a secret in the metadata of others' recordings is in no output: keys at any depth of a PyTorch
# trace, its environment, arguments of spans; environment, command line and NVTX payloads of an nsys export.
source "$(dirname "$0")/common.bash"

if ! python3 -c 'import ctypes; ctypes.CDLL("libzstd.so.1")' 2>/dev/null; then
	echo "SKIP: no python3, or no libzstd.so.1"
	exit 77
fi
export HOME=$work XDG_CACHE_HOME=$work/cache

# Every secret has the word "zarquon", and letters only.
python3 - "$work/torch.json" <<-'END'
	import json, sys
	event = {"ph": "X", "cat": "cpu_op", "pid": 7, "tid": 8, "dur": 5}
	kernel = {"ph": "X", "cat": "kernel", "pid": 0, "tid": 7, "dur": 4, "name": "gemm"}
	events = [
	    dict(event, name="aten::mm", ts=1, args={"hf_token": "zarquonspan", "n": 1, "in": {"DB_PASSWORD": "zarquondeep"}}),
	    dict(event, name="aten::add", ts=10, args={"cmd": "run --token zarquonoption", "note": "got ghp_ZarquonZarquonZarquon"}),
	    dict(kernel, ts=3, args={"device": 0, "stream": 7, "correlation": 1, "API Key": "zarquonkernel"}),
	    {"ph": "M", "name": "process_name", "pid": 7, "args": {"name": "python --password zarquonprocess"}},
	    {"ph": "M", "name": "process_labels", "pid": 7, "args": {"labels": "HF_TOKEN=zarquonlabel"}},
	    {"ph": "M", "name": "thread_name", "pid": 7, "tid": 8, "args": {"name": "w --password zarquonthread"}}]
	json.dump({"schemaVersion": 1, "env": {"HF_TOKEN": "hf_ZarquonZarquonZarquon", "HOME": "/zarquonhome"},
	           "DB_PASSWORD": "zarquonpassword", "WANDB_API_KEY": "zarquonkey", "hf_token": "zarquontoken",
	           "BASIC_AUTH": "zarquonauth", "process_environment": ["A=zarquonvariable"],
	           "config": {"a": [{"b": {"client_secret": "zarquonsecret", "kept": "keptvalue"}}],
	                      "argv": ["train.py", "--hf-token", "zarquonargument", "--epochs", "3"],
	                      "vars": [{"name": "MY_TOKEN", "value": "zarquonpair"}],
	                      "text": json.dumps({"credentials": {"user": "zarquonuser"}})},
	           "free": "glpat-zarquonzarquonzarquon and sk-ZarquonZarquonZarquon and eyJzarquon.eyJzarquonzarquonzar.zarquon",
	           "WARNING": ["login with token=zarquonlog failed"], "traceEvents": events}, open(sys.argv[1], "w"))
END

# lacks FILE WHAT: no secret stands in the file, decompressed.
lacks() {
	python3 "$DATA/../cli/privacy_strings.py" "$1" >"$work/strings" || fail "$2: cannot be read"
	[ -s "$work/strings" ] || fail "$2: nothing was written"
	grep -qai zarquon "$work/strings" && fail "$2: has '$(grep -aio 'zarquon[a-z]*' "$work/strings" | sort -u | tr '\n' ' ')'"
}
grep -qi zarquon "$work/torch.json" || fail "the trace has no secrets"

# all_outputs FILE: no output of the recording has a secret.
all_outputs() {
	local file=$1 type more
	for type in perfetto chrome sqlite csv; do
		for more in "" --anonymous; do
			run export $more -f -t $type "$file" -o "$work/x.$type"
			expect_status 0 "export $more -t $type ${file##*/}"
			lacks "$work/x.$type" "export $more -t $type of ${file##*/}"
		done
	done
	run export -t parquet "$file" -o "$work/parquet" && for more in $(find "$work/parquet" -name '*.parquet'); do
		lacks "$more" "Parquet of ${file##*/}"
	done
	rm -rf "$work/parquet"
	for more in "" --no-args --anonymous; do
		run convert -f $more "$file" -o "$work/x.hwy"
		expect_status 0 "convert $more ${file##*/}"
		lacks "$work/x.hwy" "convert $more of ${file##*/}"
	done
	run view "$file" -f --html "$work/x.html"
	expect_status 0 "view --html ${file##*/}"
	lacks "$work/x.html" "view --html of ${file##*/}"
	for more in "info --all" "info --format json" stats "analyze --format json" "analyze --format html" "show" "tree"; do
		run $more "$file"
		cat "$work/err" >>"$work/out"
		grep -qai zarquon "$work/out" && fail "$more ${file##*/}: $(grep -ai -m1 zarquon "$work/out" | head -c 200)"
	done
	for more in properties op kernel range diagnostics processes threads; do
		run sql --format json "$file" "select * from $more"
		grep -qai zarquon "$work/out" && fail "sql $more ${file##*/}: $(grep -ai -m1 zarquon "$work/out" | head -c 200)"
	done
	printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' \
		'{"jsonrpc":"2.0","method":"notifications/initialized"}' \
		'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"sql","arguments":{"recording":"'"${file##*/}"'","query":"select * from properties"}}}' |
		timeout 60 "$HEADWAY" mcp --root "$work" >"$work/out" 2>"$work/err"
	grep -q 'source.format' "$work/out" || fail "mcp: no answer: $(head -c 300 "$work/out" "$work/err")"
	grep -qai zarquon "$work/out" && fail "mcp ${file##*/}: $(grep -aio 'zarquon[a-z]*' "$work/out" | sort -u)"
}
all_outputs "$work/torch.json"

# What is no secret stays, and the JSON is still JSON.
run sql --format json "$work/torch.json" "select value from properties where name = 'kineto.config'"
python3 - "$work/out" <<-'END' || fail "the masked configuration: $(head -c 300 "$work/out")"
	import json, sys
	config = json.loads(json.load(open(sys.argv[1]))[0]["value"])
	assert config["a"] == [{"b": {"client_secret": "***", "kept": "keptvalue"}}], config
	assert config["argv"] == ["train.py", "--hf-token", "***", "--epochs", "3"], config
	assert json.loads(config["text"]) == {"credentials": {"user": "***"}}, config
END
run sql --format csv "$work/torch.json" "select value from properties where name = 'kineto.env'"
[ "$(tail -n 1 "$work/out")" = '***' ] || fail "the environment is named: $(cat "$work/out")"

# An nsys export: its table of the machine's environment, the command line, messages, and payloads of NVTX ranges.
unpack two_processes
cp "$work/two_processes.sqlite" "$work/nsys.sqlite"
python3 - "$work/nsys.sqlite" <<-'END'
	import sqlite3, sys
	db = sqlite3.connect(sys.argv[1])
	def insert(table, **values):
	    has = [row[1] for row in db.execute(f"pragma table_info({table})")]
	    values = {name: value for name, value in values.items() if name in has}
	    db.execute(f"insert into {table} ({','.join(values)}) values ({','.join('?' * len(values))})", list(values.values()))
	first = db.execute("select globalVid from TARGET_INFO_SYSTEM_ENV limit 1").fetchone()
	for name, value in (("HF_TOKEN", "zarquonmachine"), ("EnvironmentVariables", "A=zarquonvariables"), ("HOME", "/zarquonhome")):
	    insert("TARGET_INFO_SYSTEM_ENV", globalVid=first[0], devStateName="", name=name, nameEnum=0, value=value)
	insert("META_DATA_CAPTURE", name="PROCESS_0:ENVIRONMENT_0", value="HF_TOKEN=zarquoncapture")
	insert("META_DATA_CAPTURE", name="PROCESS_0:ARGUMENT_90", value="--hf-token")
	insert("META_DATA_CAPTURE", name="PROCESS_0:ARGUMENT_91", value="zarquonargument")
	assert db.execute("update NVTX_EVENTS set jsonText = ? where rowid in (select rowid from NVTX_EVENTS where eventType = 59 limit 5)",
	                  ('{"kept":"keptvalue","in":[{"HF_TOKEN":"zarquonpayload"}]}',)).rowcount == 5
	db.commit()
END
all_outputs "$work/nsys.sqlite"
run sql --format csv "$work/nsys.sqlite" "select payload from range where payload_type = 'json' limit 1"
grep -q keptvalue "$work/out" || fail "the payloads are there: $(head -c 300 "$work/out" "$work/err")"

finish
