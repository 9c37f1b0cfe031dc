#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Help, versions, unknown words and their nearest names, exit statuses.
# shellcheck source=common.bash
source "$(dirname "$0")/common.bash"

run
expect_status 0 "headway alone"
[ "$(grep -cE '^  (record|look|try) +headway ' "$work/out")" = 3 ] || fail "headway alone does not say what can be done here: $(cat "$work/out")"
grep -q "'headway doctor'.*'headway --help'" "$work/out" || fail "headway alone does not say where more is told"
HEADWAY_LIB=$work run
expect_status 0 "headway alone where nothing can be recorded"
grep -q 'record .*nothing can be recorded here:' "$work/out" || fail "it does not say that nothing can be recorded: $(cat "$work/out")"

# Colours are for terminals, follow NO_COLOR, and are darker on a light background.
if type script >/dev/null 2>&1; then
	# typed VARIABLE=VALUE…: what doctor prints on a terminal; its "partly" or "yes" is painted.
	typed() { env -u NO_COLOR TERM=xterm-256color "$@" script -qec "$HEADWAY doctor" /dev/null </dev/null >"$work/typed"; }
	typed COLORFGBG='15;0'
	grep -q $'\033\[32m' "$work/typed" || fail "no green on a dark terminal"
	typed COLORFGBG='0;15'
	grep -q $'\033\[38;5;28m' "$work/typed" || fail "no dark green on a light terminal"
	typed NO_COLOR=1
	grep -q $'\033' "$work/typed" && fail "colours in spite of NO_COLOR"
	typed TERM=dumb
	grep -q $'\033' "$work/typed" && fail "colours on a dumb terminal"
fi

run --help
expect_status 0 "--help"
for command in info stats breakdown convert; do
	grep -q "^  $command " "$work/out" || fail "--help lists $command"
done

run --version
expect_status 0 "--version"
grep -qE '^headway [0-9]+\.[0-9]+\.[0-9]+$' "$work/out" || fail "--version: $(cat "$work/out")"

# Words that are no command: a program, a recording, an edit, an option's first letter.
run sh -c 'exit 3' x
expect_refusal "a program without its command" "did you mean 'headway profile sh -c 'exit 3' x'?"
(cd "$work" && printf '#!/bin/sh\nexit 0\n' >app && chmod +x app && echo 'print(1)' >train.py)
cd "$work" || exit 1
run ./app --size 3
expect_refusal "a program in this folder" "did you mean 'headway profile ./app --size 3'?"
run train.py
expect_refusal "a Python script" "did you mean 'headway profile train.py'?"
cp "$DATA/gpu/mlp_sync.hwy" run.hwy && chmod +x run.hwy
run run.hwy
expect_refusal "a recording without a command" "did you mean 'headway analyze run.hwy'?"
run whatif run.hwy remove-wait
expect_status 2 "an edit without --apply"
grep -qF "'remove-wait' is an edit; did you mean '--apply remove-wait'?" "$work/err" || fail "an edit without --apply: $(cat "$work/err")"
run sql -l
expect_status 2 "the first letter of an option"
expect_line "$work/err" "headway sql: unknown option '-l'; did you mean '--list'?" "the first letter of an option"
cd - >/dev/null || exit 1

# What people read follows the locale, in every command; what programs read is UTF-8.
for command in info stats analyze "analyze --format brief" "analyze -v" show breakdown tree kernels whatif path "sql -f device-gaps" "diff $DATA/nsys/mlp_async.hwy"; do
	read -ra words <<<"$command"
	LC_ALL=C run "${words[@]}" "$DATA/nsys/mlp_sync.hwy"
	[ -s "$work/out" ] || fail "$command says nothing in the C locale: $(cat "$work/err")"
	LC_ALL=C grep -q '[^ -~]' "$work/out" && fail "$command in the C locale: $(LC_ALL=C grep -m1 '[^ -~]' "$work/out")"
	grep -q '??\|[0-9] ?\|? [0-9]' "$work/out" && fail "$command in the C locale has characters without a spelling: $(grep -m1 '??\|[0-9] ?\|? [0-9]' "$work/out")"
done
for command in "analyze --format markdown" "analyze --format json" "stats -r cuda_gpu_kern_sum --format csv" "diff --format markdown $DATA/nsys/mlp_async.hwy"; do
	read -ra words <<<"$command"
	LC_ALL=C run "${words[@]}" "$DATA/nsys/mlp_sync.hwy"
	cp "$work/out" "$work/plain.out"
	LC_ALL=C.UTF-8 run "${words[@]}" "$DATA/nsys/mlp_sync.hwy"
	cmp -s "$work/out" "$work/plain.out" || fail "$command depends on the locale"
done
LC_ALL=C "$HEADWAY" stats "$DATA/nsys/mlp_sync.hwy" >/dev/full 2>"$work/err"
[ $? = 2 ] || fail "a full disk is no error in the C locale"

# Where the documents are that the help names; recordings that come along.
run --help
folder=$(sed -n 's|^The documents docs/NAME.md are in \(.*\)\.$|\1|p' "$work/out")
[ -e "$folder/view.md" ] || fail "the documents are not where --help says: '$folder'"
run demo --recordings
expect_status 0 "demo --recordings"
[ "$(wc -l <"$work/out")" = 2 ] || fail "two recordings: $(cat "$work/out")"
while read -r recording; do
	[ -s "$recording" ] || fail "no recording at $recording"
done <"$work/out"

run stat x
expect_refusal "a misspelt command" "unknown command 'stat'; did you mean 'stats'?"
for pair in record:profile ui:view open:view critical-path:path; do
	run "${pair%:*}" x
	expect_refusal "a word of other tools" "unknown command '${pair%:*}'; did you mean '${pair#*:}'?"
done
for pair in gaps:breakdown gaps:device-gaps idle:breakdown timeline:show timeline:view html:--html summary:analyze report:analyze compare:diff \
	flamegraph:folded steps:slow-steps; do
	run "${pair%:*}" x
	expect_refusal "a word of people's" "unknown command '${pair%:*}'; did you mean "
	grep -q -- "did you mean .*${pair#*:}" "$work/err" || fail "'${pair%:*}' leads to '${pair#*:}': $(cat "$work/err")"
done
run brakedown x
expect_refusal "a misspelt command" "did you mean 'breakdown'?"
run frobnicate x
expect_refusal "an unknown command" "'headway --help' lists them"
run "$DATA/breakdown/two_gpus.json"
expect_refusal "a file without a command" "did you mean 'headway analyze $DATA/breakdown/two_gpus.json'?"
run --frobnicate
expect_refusal "an option without a command" "unknown option '--frobnicate'"

for command in info stats breakdown convert; do
	run $command --help
	expect_status 0 "$command --help"
	grep -q "^Usage: headway $command " "$work/out" || fail "$command --help begins with its usage"
	grep -q "^Examples:" "$work/out" || fail "$command --help has examples"
	grep -q -- "-h, --help" "$work/out" || fail "$command --help names itself"
	awk 'length > 100 {exit 1}' "$work/out" || fail "$command --help is wider than 100 columns"
	mv "$work/out" "$work/help"
	run help $command
	cmp -s "$work/out" "$work/help" || fail "help $command equals $command --help"

	run $command
	expect_status 2 "$command without a file"
	run $command --helf
	expect_status 2 "$command with an unknown option"
	expect_line "$work/err" "headway $command: unknown option '--helf'; did you mean '--help'?" \
		"$command: the nearest option"
	run $command -j
	expect_line "$work/err" \
		"headway $command: unknown option '-j'; 'headway $command --help' lists them" \
		"$command: an unknown letter"
done

run stats --formt=csv x
expect_line "$work/err" "headway stats: unknown option '--formt'; did you mean '--format'?" "nearest option"
# The name of a format as an option.
for triple in "analyze --html html" "analyze --md markdown" "stats --csv csv" "sql --json json" "kernels --markdown md" "gate --json json"; do
	read -r command option format <<<"$triple"
	run $command $option x
	expect_line "$work/err" "headway $command: unknown option '$option'; did you mean '--format $format'?" "$command $option"
done
run export --csv x
expect_line "$work/err" "headway export: unknown option '--csv'; did you mean '--type csv'?" "a type of export"
run analyze --csv x
expect_line "$work/err" "headway analyze: unknown option '--csv'; --format takes text, brief, json, markdown or html" \
	"a format that the command has not"
run info --format
expect_line "$work/err" "headway info: option '--format' needs a value (FORMAT)" "a missing value"
run info --format=xml x
expect_status 2 "an unknown format"
grep -qF "option '--format': 'xml' is none of text, json" "$work/err" || fail "formats are listed: $(cat "$work/err")"
for wrong in "stats --format xml" "stats --time-unit h" "stats --rows -1" "stats --rows x" "stats -r ," \
	"stats --from 2 --to 1" "stats --from soon" "breakdown --from 2 --to 1" "breakdown --from soon" \
	"breakdown --late -1" "breakdown --kernel-wait -1us" "breakdown --device -1" "breakdown --format csv"; do
	# shellcheck disable=SC2086
	run $wrong x
	expect_status 2 "$wrong"
	grep -q -- "----" "$work/err" && fail "$wrong: $(cat "$work/err")"
	[ "$(wc -l <"$work/err")" = 2 ] || fail "$wrong: the reason and where the help is: $(cat "$work/err")"
done
run info --all=yes x
expect_status 2 "a switch with a value"
run info one two
expect_status 2 "two files"
run info -
expect_refusal "standard input" "standard input"
run info -- --format
expect_refusal "a file named like an option" "--format: "

# An older spelling does what the new one does, after one line that names the new one; --help lists the new one.
# renamed COMMAND OLD NEW [FILE]: OLD and NEW are options with their values.
renamed() {
	local command=$1 old=$2 new=$3 file=${4:-$DATA/gpu/mlp_sync.hwy}
	# shellcheck disable=SC2086
	run $command $new "$file"
	local expected=$status
	mv "$work/out" "$work/new"
	# shellcheck disable=SC2086
	run $command $old "$file"
	expect_status "$expected" "$command $old"
	cmp -s "$work/out" "$work/new" || fail "$command $old prints what $command $new does"
	[ "$(head -1 "$work/err")" = "headway $command: '$old' is now '$new'" ] ||
		fail "$command $old: $(head -c 300 "$work/err")"
	run $command --help
	grep -q -- "--${new#--}" <(sed 's/=N\b/ 2/; s/=NAME/ step_/; s/=S\b/ 3/' "$work/out") ||
		fail "$command --help lists $new"
	grep -qE -- "${old%% *}( |=[^N]|\$)" <(sed 's/--step=NAME//' "$work/out") && fail "$command --help lists $old"
}
renamed show "--step 2" "--step-number 2"
renamed path "--step 2" "--step-number 2"
renamed path "--mark step_" "--step step_"
renamed breakdown "--streams" "--all-streams"
renamed breakdown "--steps" "--all-steps"
renamed recover "--keep" "--keep-directory" /nonexistent
renamed recover "--force-overwrite" "--force" /nonexistent
renamed view "--keep" "--stay" /nonexistent
renamed profile "--keep 3" "--keep-last 3" /nonexistent

# --step names the marks in every command that knows steps.
for command in analyze show path whatif baseline; do
	run $command --step no-such-mark "$DATA/gpu/mlp_sync.hwy"
	expect_refusal "$command --step" "no range named 'no-such-mark'"
done
run show --step step_ --step-number 7 "$DATA/gpu/mlp_sync.hwy"
grep -q "step_7 of" "$work/out" || fail "show: one step of those that --step names"

# -f is a switch, and takes true and false as nsys's scripts write it.
for force in "-f" "-f true" "-ftrue" "--force" "--force=true" "--force true"; do
	touch "$work/there"
	# shellcheck disable=SC2086
	run stats $force -o "$work/there" "$DATA/gpu/mlp_sync.hwy"
	expect_status 0 "stats $force"
done
run stats -f false -o "$work/there" "$DATA/gpu/mlp_sync.hwy"
expect_refusal "stats -f false" "exists and is kept"

# A reader that goes away ends the program as SIGPIPE does, without a word.
"$HEADWAY" --help 2>"$work/err" | true
[ ! -s "$work/err" ] || fail "a closed pipe is not worth a word: $(cat "$work/err")"
if [ -w /dev/full ]; then
	"$HEADWAY" --help >/dev/full 2>"$work/err"
	status=$?
	: >"$work/out"
	expect_refusal "a full disk" "standard output: No space left on device"
fi

# The ending of the output's name is the format, unless --format is given.
two=$DATA/breakdown/two_gpus.json
for pair in html:'<!doctype html>' md:'# ' markdown:'# ' json:'{' HTML:'<!doctype html>'; do
	run analyze -f "$two" -o "$work/a.${pair%%:*}"
	expect_status 0 "analyze -o a.${pair%%:*}"
	[[ $(head -c 20 "$work/a.${pair%%:*}") == "${pair#*:}"* ]] || fail "a.${pair%%:*} begins: $(head -c 100 "$work/a.${pair%%:*}")"
done
run stats -r cuda_gpu_kern_sum "$two" -o "$work/t.csv"
run stats -r cuda_gpu_kern_sum "$two" --format csv
cmp -s "$work/t.csv" "$work/out" || fail "stats -o t.csv is CSV: $(head -n 2 "$work/t.csv")"
run kernels "$two" -o "$work/k.md"
grep -q '^|' "$work/k.md" || fail "kernels -o k.md is Markdown: $(head -n 3 "$work/k.md")"
run sql "$two" "select 1 as one" -o "$work/q.json"
python3 -c 'import json, sys; assert json.load(open(sys.argv[1])) == [{"one": 1}]' "$work/q.json" || fail "sql -o q.json: $(cat "$work/q.json")"
run breakdown "$two" -o "$work/b.json"
python3 -m json.tool "$work/b.json" >/dev/null || fail "breakdown -o b.json is JSON"
run diff "$DATA/nsys/mlp_sync.hwy" "$DATA/nsys/mlp_async.hwy" -o "$work/d.html"
grep -qi '^<!doctype html>' "$work/d.html" || fail "diff -o d.html is a page"
run analyze -f "$two" --format text -o "$work/a.json"
grep -q '^{' "$work/a.json" && fail "--format is stronger than an ending"
run analyze -f "$two" -o "$work/a.txt"
run analyze "$two"
cmp -s "$work/a.txt" "$work/out" || fail "another ending is text"
for wrong in "analyze a.csv csv" "stats t.html html" "breakdown b.md markdown" "tree t.svg svg" "analyze a.sqlite export" "stats t.hwy convert" \
	"analyze a.json.gz gz"; do
	read -r command file text <<<"$wrong"
	run $command "$two" -o "$work/wrong-$file"
	expect_refusal "$command -o $file" "$text"
	[ -e "$work/wrong-$file" ] && fail "$command wrote $file"
done
run analyze --help
grep -q "ending of the name" "$work/out" || fail "--help says that the ending chooses the format"

finish
