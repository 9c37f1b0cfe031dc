#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# headway sql: the same answers as the other commands, where a query may come from, and what it may not do.
source "$(dirname "$0")/common.bash"
tests=$(cd "$(dirname "$0")" && pwd)
small=$DATA/nsys/mlp_sync.hwy

# ---- the same answers as stats, breakdown, analyze, info and the CSV export

if command -v python3 >/dev/null; then
	unpack two_processes
	unpack unified_memory
	files=("$DATA"/programs/ddp.hwy "$DATA"/operators/resnet.hwy "$work"/unified_memory.sqlite)
	# The sanitizers have seen all tables with these.
	is_sanitized || files+=("$small" "$DATA"/nsys/{graphs_launch,decode_graph}.hwy "$DATA"/gpu/phases_marks.hwy "$work"/two_processes.sqlite)
	for file in "${files[@]}"; do
		python3 "$tests/sql_check.py" "$HEADWAY" "$file" "$work" >"$work/says" 2>&1 ||
			fail "$(basename "$file"): $(head -c 800 "$work/says")"
	done

	# A job: one trace on one clock, its ranks apart.
	python3 "$tests/job_check.py" make "$work/job" || fail "no job was made"
	run sql "$work/job" "select rank, count(*) as n, sum(duration) as total from kernel group by rank" --format csv
	expect_status 0 "a job"
	for rank in 0 1 2; do
		one=$("$HEADWAY" stats -r cuda_gpu_kern_sum --format csv --rank $rank "$work/job" 2>/dev/null |
			awk -F, 'NR > 1 {n += $3; total += $2} END {print n "," total}')
		grep -qx "$rank,$one" "$work/out" || fail "rank $rank: $one is not in $(cat "$work/out")"
	done
	run sql "$work/job" "select p.id from phases p where idle <> (select sum(duration) from gaps g where g.phase = p.id)" --format csv
	expect_line "$work/out" id "the gaps of each rank are its own"
	run sql "$work/job" -f collective-skew --format csv
	[ "$(awk -F, '$4 == 3' "$work/out" | wc -l)" -ge 12 ] || fail "collectives of three ranks: $(head -3 "$work/out")"
fi

# ---- ready questions: each is listed with what it answers, and answers

run sql "$DATA/gpu/mlp_sync.hwy" "select 1 as one where 0"
expect_status 0 "a query without rows"
expect_line "$work/err" "headway: no rows" "a query without rows"
run sql --list
expect_status 0 "--list"
[ "$(wc -l <"$work/out")" -ge 12 ] || fail "few ready questions: $(cat "$work/out")"
awk '{print $1}' "$work/out" >"$work/names"
while read -r name; do
	run sql "$small" -f "$name" --format csv
	expect_status 0 "question $name"
	[ -s "$work/out" ] || fail "question $name: nothing is printed"
	# What is not said to be of Headway alone keeps to the SQL that engines have in common.
	file=$tests/../../sql/$name.sql
	if [ -e "$file" ] && ! grep -q "headway's own" "$file"; then
		! grep -qiE 'rowid|"|\[|glob|ifnull|iif|printf|strftime|:[a-z]|_id\b|name_id|\bend\b *(,|from|$)|\bstep\b' \
			<(sed 's/^--.*//' "$file" | sed 's/end as/ as/; s/end)/)/; s/end$//') || fail "$name: not the SQL of all engines"
	fi
done <"$work/names"

# The longest gaps of the steady steps with their causes; copies are work: the device of a program that waits for its data has a copy after each.
run sql "$DATA/nsys/starve_0.hwy" -f device-gaps --format csv
[ "$(head -n 1 "$work/out")" = device,gap_ns,cause,cause_ns,from_ns,to_ns,next_work ] || fail "device-gaps: $(head -n 1 "$work/out")"
[ "$(grep -c '^0,[0-9]*,input,[0-9]*,.*,copy Host-to-Device$' "$work/out")" -ge 15 ] || fail "device-gaps has causes and copies: $(head -n 5 "$work/out")"
run sql "$DATA/breakdown/two_gpus.json" -f device-gaps --format csv
[ "$(sed 1d "$work/out")" = $'1,55000,unknown,55000,0,55000,copy Host-to-Device\n0,20000,cpu,20000,0,20000,gemm' ] ||
	fail "device-gaps without steps: $(cat "$work/out")"

# ---- where a query comes from

query="select count(*) as n from kernel"
want=$'n\n1171'
"$HEADWAY" sql "$small" --format csv "$query" >"$work/out" && [ "$(cat "$work/out")" = "$want" ] || fail "command line: $(cat "$work/out")"
echo "$query" | "$HEADWAY" sql "$small" --format csv >"$work/out" && [ "$(cat "$work/out")" = "$want" ] || fail "a pipe: $(cat "$work/out")"
echo "$query;" | "$HEADWAY" sql "$small" - --format csv >"$work/out" && [ "$(cat "$work/out")" = "$want" ] || fail "-: $(cat "$work/out")"
echo "$query" >"$work/mine.sql"
"$HEADWAY" sql "$small" --format csv "@$work/mine.sql" >"$work/out" && [ "$(cat "$work/out")" = "$want" ] || fail "@FILE: $(cat "$work/out")"
"$HEADWAY" sql "$small" --format csv -f "$work/mine.sql" >"$work/out" && [ "$(cat "$work/out")" = "$want" ] || fail "-f FILE: $(cat "$work/out")"
run sql "$small" -f no-such-question
expect_refusal "no such question" "neither a file nor a ready question"
printf 'select 1\0' >"$work/zero.sql"
run sql "$small" -f "$work/zero.sql"
expect_refusal "a byte 0" "holds a byte 0"
run sql "$small" "select 1" -f top-kernels
expect_status 2 "two queries"
run sql
expect_status 2 "no file"

# The prompt, where there is a terminal.
if command -v script >/dev/null; then
	printf '.tables\nselect count(*)\nfrom kernel;\nselect nosuch;\nselect 42;\n.quit\n' |
		script -qec "'$HEADWAY' sql '$small'" /dev/null >"$work/out" 2>&1
	for text in "findings" "1171" "no such column: nosuch" "42"; do
		grep -q "$text" "$work/out" || fail "the prompt: no '$text' in $(head -c 2000 "$work/out")"
	done
fi

# ---- formats

run sql "$small" "select 'a,\"b' as t, null as u, 1.5 as r, 7 as i" --format csv
[ "$(cat "$work/out")" = $'t,u,r,i\n"a,""b",,1.5,7' ] || fail "csv: $(cat "$work/out")"
run sql "$small" "select 'a,\"b' as t, null as u, 1.5 as r, 7 as i, 2.0 as w" --format json
[ "$(tr -d ' \n' <"$work/out")" = '[{"t":"a,\"b","u":null,"r":1.5,"i":7,"w":2.0}]' ] || fail "json: $(cat "$work/out")"
run sql "$small" "select 'a|b' as t, 7 as i" --format markdown
grep -q 'a\\|b' "$work/out" || fail "markdown: $(cat "$work/out")"
run sql "$small" "select 1 as id, 2 as id, 3 as id_2, 4 as id, 5 as other" --format json
[ "$(tr -d ' \n' <"$work/out")" = '[{"id":1,"id_3":2,"id_2":3,"id_4":4,"other":5}]' ] || fail "json: keys: $(cat "$work/out")"
run sql "$small" "select a.id, b.id from kernel a join kernel b on b.id = a.id + 1 limit 1" --format json
grep -q '"id":[0-9]*,"id_2":[0-9]*' "$work/out" || fail "json: keys of a join: $(cat "$work/out")"
run sql "$small" "select name from kernel where 0" --format json
[ "$(tr -d ' \n' <"$work/out")" = '[]' ] || fail "json without rows: $(cat "$work/out")"
run sql "$small" ".schema kernel"
expect_status 0 ".schema"
grep -q "duration INTEGER, .*ns: how long" "$work/out" || fail ".schema: $(head -5 "$work/out")"
run sql "$small" ".schema nosuch"
expect_refusal ".schema of no table" "no table 'nosuch'"
run sql "$small" ".nosuch"
expect_refusal "a word with a dot" ".tables"
# Every table is told with what it is, and every one of the names can be read.
run sql "$small" .tables
cp "$work/out" "$work/tables"
while read -r name _; do
	run sql "$small" "select * from \"$name\" limit 2" --format json
	expect_status 0 "table $name"
done <"$work/tables"
run sql "$small" "select id from spans" --max-rows 3
[ "$(wc -l <"$work/out")" = 5 ] || fail "--max-rows: $(head -3 "$work/out")"
grep -q "first 3 rows" "$work/err" || fail "--max-rows is not told"
run sql "$small" "select id from spans" -o "$work/rows.csv" --format csv
[ "$(wc -l <"$work/rows.csv")" = 47093 ] || fail "-o: $(wc -l <"$work/rows.csv")"
run sql "$small" "select id from spans" -o "$work/rows.csv" --format csv
expect_refusal "an existing file"
run sql "$small" "select id from spans limit 1" -o "$work/rows.csv" --force --format csv
[ "$(wc -l <"$work/rows.csv")" = 2 ] || fail "--force: $(wc -l <"$work/rows.csv")"
run sql "$small" "select nosuch from spans" -o "$work/none.csv"
expect_refusal "a wrong query" "no such column: nosuch"
[ ! -e "$work/none.csv" ] || fail "a wrong query leaves a file"

# ---- what a query may not do: refused, or stopped, in one line and with status 2

refused() {
	run sql "$small" --timeout 0.5 --max-memory 64 "$1"
	expect_refusal "${1:0:80}" "$2"
}
refused "insert into kernel(name) values ('x')" "INSERT writes"
refused "update kernel set name = 'x'" "may not be modified"
refused "create table t as select * from kernel" "may only SELECT"
refused "attach '$work/other.db' as o" "ATTACH opens a file"
refused "vacuum into '$work/other.db'" "may only SELECT"
refused "pragma writable_schema = on" "PRAGMA"
refused "select * from pragma_compile_options" "tables of the recording"
refused "select * from sqlite_master" "tables of the recording"
refused "select load_extension('$work/x.so')" "load_extension"
refused "select readfile('/etc/passwd')" "no such function"
refused "select fts3_tokenizer('x')" "fts3_tokenizer"
refused "select zeroblob(1000000000)" "zeroblob"
refused "select length(randomblob(1000000000))" "randomblob"
refused "with recursive x(n) as (select 1 union all select n + 1 from x) select count(*) from x" "--timeout"
refused "with recursive x(n) as (select 'ab' union all select n || n from x) select count(*) from x" "longer than"
refused "with recursive x(n) as (select 1 union all select n + 1 from x) select n from x order by -n" "gives it more"
refused "select count(*) from spans a, spans b, spans c" "--timeout"
refused "select count(*) from spans a, spans b where a.name like '%' || b.name || '%x%y%z%'" "--timeout"
long="printf('%.*c', 2000000000, 'x')"
refused "select length($long) + length($long) + length($long) + length($long) + length($long) + length($long)" "stopped"
refused "select group_concat(a.name) from spans a, spans b" "--timeout"
refused "select $(printf '(%.0s' {1..2000})1$(printf ')%.0s' {1..2000})" ""
refused "select $(printf 'not %.0s' {1..3000})1" ""
refused "select 1 $(printf 'union all select 1 %.0s' {1..500})" "too many terms"
refused "select$(head -c 110000 /dev/zero | tr "\0" " ")1" "longer than"
doubled="with a0 as (select 1 x)"
for i in $(seq 1 30); do
	doubled+=", a$i as (select p.x from a$((i - 1)) p, a$((i - 1)) q)"
done
refused "$doubled select count(*) from a30" "gives it more"
[ ! -e "$work/other.db" ] || fail "a query made a file"
run sql "$small" "select 1; select 2; drop table kernel"
expect_status 2 "several statements"

# ---- names in order where the first chunks of a lane are not read

late="from os where start > 12000000000"
run sql --format csv "$DATA/nsys/mlp_sync.hwy" "select count(*) $late union all select sum(n) from (select name, count(*) n $late group by name)"
expect_status 0 "names of a late window"
[ "$(sed 1d "$work/out" | sort -u | wc -l)" = 1 ] || fail "a late window has other spans by name: $(cat "$work/out")"

# ---- damaged reports: refused with the file's name, or answered; never a crash

size=$(stat -c %s "$small")
for place in 100 5000 20000 100000 $((size / 2)) $((size - 3000)) $((size - 40)); do
	cp "$small" "$work/bad.hwy"
	printf '\xff\x00\xaa\x55\xff' | dd of="$work/bad.hwy" bs=1 seek="$place" conv=notrunc status=none
	for query in "select name, sum(duration) from spans group by name" "select * from kernel" "select * from stacks" \
		"select count(correlation), count(step) from kernel" "select count(stack) from spans" "select * from gaps"; do
		run sql "$work/bad.hwy" "$query"
		case $status in
		0) ;;
		2) grep -q "bad.hwy" "$work/err" || fail "damage at $place: $(head -c 300 "$work/err")" ;;
		*) fail "damage at $place: status $status; $(head -c 300 "$work/err")" ;;
		esac
	done
done
head -c $((size / 2)) "$small" >"$work/cut.hwy"
run sql "$work/cut.hwy" "select 1"
expect_refusal "half a report" "cut.hwy"

exit $bad
