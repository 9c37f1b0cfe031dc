#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every command of docs/coming-from.md runs, in a folder with the files that it names; and the habits of nsys's users:
# -o report.nsys-rep and then stats report.nsys-rep, --like-nsys.
source "$(dirname "$0")/common.bash"
root=$(cd "$(dirname "$0")/../.." && pwd)
export LC_ALL=C.UTF-8 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 XDG_CACHE_HOME=$work/cache
mkdir -p "$work/bin" "$work/files/traces" "$work/all"
ln -s "$(realpath "$HEADWAY")" "$work/bin/headway"
PATH=$work/bin:$PATH

# ---- the files that the page names
cd "$work/files" || exit 2
printf '#!/bin/sh\nsleep 0.01\n' >app
chmod +x app
echo 'print("trained")' >train.py
cp "$DATA/gpu/mlp_sync.hwy" report.hwy
cp "$DATA/gpu/mlp_sync.hwy" before.hwy
cp "$DATA/nsys/mlp_async.hwy" after.hwy
cp "$DATA/ncu/mlp_raw.csv" kernels.csv
cp "$DATA"/jobs/ddp_late/* traces
headway export -t chrome -o trace.json.gz "$DATA/torch/mlp_sync.hwy" >/dev/null || fail "no trace.json.gz"
xz -dc "$DATA/nsys/power_base.sqlite.xz" >run.sqlite
echo 'lost_records <= 1000' >headway.toml

# ---- the commands: what stands in backticks and begins with "headway" (tests/cli/doctor.sh runs the one without a file)
grep -o '`headway [a-z]* [^`]*`' "$root/docs/coming-from.md" | tr -d '`' >"$work/commands"
[ "$(wc -l <"$work/commands")" -gt 40 ] || fail "only $(wc -l <"$work/commands") commands in docs/coming-from.md"
while IFS= read -r line; do
	case $line in
	*mpirun*) command -v mpirun >/dev/null || continue ;;
	esac
	rm -rf "$work/all"
	cp -r "$work/files" "$work/all"
	cd "$work/all" || exit 2
	case $line in
	*" profile "*) rm -f report.hwy ;; # what it writes must be its own
	"headway view report"*) # serves until its page is closed
		headway view --no-browser --port 0 "${line##* }" >"$work/out" 2>"$work/err" </dev/null &
		server=$!
		for _ in $(seq 200); do
			grep -q 'http://127.0.0.1' "$work/out" "$work/err" && break
			kill -0 $server 2>/dev/null || break
			sleep 0.05
		done
		# Without libmicrohttpd, or built without npm, it says so.
		grep -Eq 'http://127.0.0.1|libmicrohttpd|npm' "$work/out" "$work/err" || fail "$line: $(cat "$work/err")"
		kill $server 2>/dev/null
		wait $server
		continue
		;;
	esac
	eval "$line" >"$work/out" 2>"$work/err" </dev/null
	status=$?
	# diff may say "no".
	[ $status = 0 ] || { [ $status = 1 ] && [[ $line == *" diff "* ]]; } || fail "$line: status $status: $(head -c 600 "$work/err")"
	[[ $line == *" profile "* ]] || [ -s "$work/out" ] || [[ $line =~ " -o "|--html|--write ]] || fail "$line: prints nothing"
	for made in $(grep -oE -- '(-o|--html|--write) [^ ]+' <<<"$line" | cut -d' ' -f2); do
		made=${made%.nsys-rep}
		[ -e "$made" ] || [ -e "$made.hwy" ] || fail "$line: there is no $made"
	done
done <"$work/commands"

# ---- the names of nsys
cd "$work/files" || exit 2
rm -f report.hwy
run profile -q -o report.nsys-rep -t none ./app
expect_status 0 "profile -o report.nsys-rep"
[ -s report.hwy ] || fail "profile -o report.nsys-rep left: $(ls)"
for name in report.nsys-rep report.qdrep report.sqlite ./report.nsys-rep; do
	run info "$name"
	expect_status 0 "info $name"
	expect_line "$work/err" "headway: there is no .${name##*.} of that name: ${name%.*}.hwy is read" "info $name"
done
run diff report.nsys-rep -- report.nsys-rep
grep -q 'report.hwy is read' "$work/err" || fail "diff of two names of nsys: $(cat "$work/err")"
run info nothing.nsys-rep
expect_refusal "no such report" "nothing.nsys-rep: No such file or directory"
echo "no recording" >own.nsys-rep
cp report.hwy own.hwy
NSYS=/nonexistent run info own.nsys-rep
expect_status 2 "a file that is there is the one that is read"

# ---- --like-nsys
run profile -q --like-nsys -o like sh -c 'sleep 0.05'
expect_status 0 "--like-nsys"
run info --format json like.hwy
python3 - "$work/out" <<'PY' || fail "--like-nsys: $(head -c 300 "$work/out")"
import json, sys
told = json.load(open(sys.argv[1]))
assert told["spans"].get("os", {}).get("count", 0) > 0, told["spans"]
PY
run profile -q --like-nsys -t cuda -s none -o less sh -c 'sleep 0.05'
run info --format json less.hwy
python3 - "$work/out" <<'PY' || fail "--like-nsys -t cuda -s none: $(head -c 300 "$work/out")"
import json, sys
told = json.load(open(sys.argv[1]))
assert not told["spans"].get("os") and not told["spans"].get("sample") and not told["spans"].get("state"), told["spans"]
PY
exit $bad
