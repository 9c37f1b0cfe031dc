#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# privacy - secrets in arguments are masked, --no-args leaves out arguments, and what is anonymous holds neither the
# host's name nor the user's, the boot id, the home folder or the folder of the program.

# A host whose name is long enough to be looked for in any file.
if [ "$(uname -n | wc -c)" -lt 8 ] && [ -z "${HEADWAY_OTHER_HOST:-}" ] && unshare -u hostname zarquonhost 2>/dev/null; then
	HEADWAY_OTHER_HOST=1 exec unshare -u bash -c 'hostname zarquonhost && exec bash "$0"' "$0"
fi

source "$(dirname "$0")/common.bash"

if ! python3 -c 'import ctypes; ctypes.CDLL("libzstd.so.1")' 2>/dev/null; then
	echo "SKIP: no python3, or no libzstd.so.1"
	exit 77
fi

# A user's folder with a program in it. Its name is the user's: the real one may be "root".
user=zaphodbeeble
home=$work/home/$user
project=$home/secretproject
mkdir -p "$project"
export HOME=$home XDG_CACHE_HOME=$work/cache
host=$(uname -n)
# A short name may stand anywhere by chance.
[ ${#host} -ge 6 ] || host="host's name"
boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)
cat >"$project/train.sh" <<-'END'
	#!/bin/bash
	sleep 0.02
	env MY_TOKEN=tok3nvalue /bin/sleep 0.02
	bash -c 'sleep 0.02; true' --password hunter2xyz --max-tokens 512
	if [ "$3" = --wait ]; then
		: >"${4%/*}/started"
		until [ -e "$4" ]; do sleep 0.02; done
		: >"${4%/*}/ended"
	fi
END
chmod +x "$project/train.sh"
cd "$project" || exit 1

# strings_of FILE: everything a reader of the file could find in it, decompressed.
strings_of() {
	python3 "$DATA/../cli/privacy_strings.py" "$1"
}

# lacks FILE WHAT WORDS…: none of the words stands in the file.
lacks() {
	local file=$1 what=$2 word
	shift 2
	strings_of "$file" >"$work/strings" || fail "$what: cannot be read"
	for word; do
		[ -n "$word" ] || continue
		grep -qaiwF -- "$word" "$work/strings" && fail "$what: has '$word': $(grep -aiwF -m1 -- "$word" "$work/strings" | head -c 200)"
	done
}
has() {
	strings_of "$1" >"$work/strings"
	grep -qaF -- "$3" "$work/strings" || fail "$2: lacks '$3'"
}

# What is recorded: arguments, without secrets.
run profile -o "$work/plain" -t osrt -s none "$project/train.sh" --api-key abcsecret9 --epochs 3
expect_status 0 profile
lacks "$work/plain.hwy" "a report" hunter2xyz tok3nvalue abcsecret9
for word in "--max-tokens 512" "$(uname -n)" "$boot" "$project/train.sh"; do
	has "$work/plain.hwy" "a report" "$word"
done
has "$work/plain.hwy" "a report" "--epochs 3"
has "$work/plain.hwy" "a report" "--api-key ***"
run info "$work/plain.hwy"
grep -qF -- "--api-key *** --epochs 3" "$work/out" || fail "info does not show the masked command: $(grep Command "$work/out")"

run profile --no-args -o "$work/noargs" -t osrt -s none "$project/train.sh" --epochs 3
expect_status 0 "profile --no-args"
lacks "$work/noargs.hwy" "--no-args" --max-tokens --epochs
has "$work/noargs.hwy" "--no-args" train.sh

# Anonymous, in every command.
identity=("$host" "$user" "$boot" "$home" "$project" "$work" secretproject)
run profile --anonymous -o "$work/anonymous" -t osrt -s none "$project/train.sh" --epochs 3
expect_status 0 "profile --anonymous"
lacks "$work/anonymous.hwy" "profile --anonymous" "${identity[@]}" --epochs
has "$work/anonymous.hwy" "profile --anonymous" train.sh
run convert --anonymous "$work/plain.hwy" -o "$work/converted.hwy"
expect_status 0 "convert --anonymous"
lacks "$work/converted.hwy" "convert --anonymous" "${identity[@]}"
cp "$work/plain.hwy" "$work/$user.hwy"
for type in perfetto chrome sqlite csv folded; do
	run export --anonymous -t $type --kinds os,sample "$work/plain.hwy" -o "$work/x.$type"
	expect_status 0 "export --anonymous -t $type"
	lacks "$work/x.$type" "export --anonymous -t $type" "${identity[@]}"
done
run view --anonymous "$work/plain.hwy" --html "$work/page.html"
expect_status 0 "view --anonymous --html"
lacks "$work/page.html" "view --anonymous" "${identity[@]}"
run analyze --anonymous --format html "$work/plain.hwy" -o "$work/analyze.html"
expect_status 0 "analyze --anonymous"
lacks "$work/analyze.html" "analyze --anonymous" "${identity[@]}"
run view --anonymous "$work/plain.hwy"
expect_status 2 "a server is not anonymous"

# A run whose recorder was killed: the wish of its command line holds for recover.
mkdir "$work/tmp"
TMPDIR=$work/tmp "$HEADWAY" profile --anonymous -o "$work/killed" -t osrt -s none "$project/train.sh" --epochs 3 \
	--wait "$work/tmp/go" >/dev/null 2>&1 &
recorder=$!
until [ -e "$work/tmp/started" ]; do sleep 0.05; done
kill -9 $recorder
wait $recorder 2>/dev/null
: >"$work/tmp/go"
until [ -e "$work/tmp/ended" ]; do sleep 0.05; done
for ((i = 0; i < 200; i++)); do
	run recover -o "$work/recovered" "$work"/tmp/headway-*
	[ $status = 0 ] && break
	sleep 0.1
done
expect_status 0 recover
run recover --help
grep -q -- --anonymous "$work/out" || fail "recover has no --anonymous"
lacks "$work/recovered.hwy" "recover --anonymous" "${identity[@]}" --epochs
has "$work/recovered.hwy" "recover --anonymous" train.sh

# Recordings of others: their hosts, users and folders; stacks still name the lines.
python3 - "$work/kineto.json" <<-'END'
	import json, sys
	event = {"ph": "X", "cat": "user_annotation", "pid": 7, "tid": 8, "ts": 1, "dur": 5}
	events = [dict(event, name="step on node4711 by zaphodbeeble", ts=1),
	          dict(event, name="load /home/zaphodbeeble/data/x.bin and /home/zaphodbeeble/y.bin", ts=10),
	          dict(event, cat="python_function", name="/home/zaphodbeeble/proj/train.py(12): forward", ts=20),
	          dict(event, cat="python_function", name="/home/zaphodbeeble/env/lib/python3.12/site-packages/torch/x.py(3): f",
	               ts=30),
	          dict(event, name="http://node4711.example.org:8080/x", ts=40)]
	json.dump({"schemaVersion": 1, "trace_id": "ABCDEF0123", "traceName": "/home/zaphodbeeble/t.json",
	           "host_name": "node4711.example.org", "hostName": "node4711.example.org", "traceEvents": events},
	          open(sys.argv[1], "w"))
END
run convert --anonymous "$work/kineto.json" -o "$work/kineto.hwy"
expect_status 0 "convert --anonymous of a PyTorch trace"
lacks "$work/kineto.hwy" "a PyTorch trace" zaphodbeeble node4711 node4711.example.org ABCDEF0123 proj
for kept in "train.py(12): forward" "site-packages/torch/x.py(3): f" "step on host by user" x.bin; do
	has "$work/kineto.hwy" "a PyTorch trace" "$kept"
done
[ "$(strings_of "$work/kineto.hwy" | grep -ao '/dir[0-9]*/[xy].bin' | sort -u | wc -l)" = 2 ] || fail "folders are told apart"
finish
