# SPDX-License-Identifier: Apache-2.0
# recipes.bash - what the tests of recipes/ share: 64 reports of which rank 37 holds the others back, a headway that lets its caller be killed, and what the
# answers must be.
recipes=$(cd "$here/../../recipes" && pwd)
late=37
place=lake/job=made.64

make_reports() {
	local recorded=$DATA/jobs/ddp_late
	"${RANKS_OF:?}" job 64 $late "$recorded/rank0.hwy" "$recorded/rank1.hwy" || fail "no reports"
	mkdir kill
	# A killing that is asked for in kill/RANK.hwy: the process that wants the digest of that report dies, once or each time. What was called is noted.
	mkdir bin
	ln -s "$recipes" recipes
	cat >bin/headway <<-END
		#!/usr/bin/env bash
		for word; do [[ \$word == *.hwy ]] && name=\${word##*/}; done
		echo "\$1 \${name:-}" >>"$work/called"
		if [ "\$1" = digest ] && [ -n "\${name:-}" ] && [ -e "$work/kill/\$name" ]; then
			grep -q once "$work/kill/\$name" && rm "$work/kill/\$name"
			kill -KILL \$PPID
			exit 9
		fi
		exec "$HEADWAY" "\$@"
	END
	chmod +x bin/headway
}

# readme BEGIN: the one line of the recipes' page that begins so, to be run as it stands but for the job's name.
readme() {
	local line
	line=$(grep -F -- "    $1" "$recipes/README.md")
	[ "$(wc -l <<<"$line")" = 1 ] && [ -n "$line" ] || echo "false '$1' is not one line of recipes/README.md"
	sed 's/job-123\.0/job/; s/job1/job/; s/^ *//' <<<"$line"
}
export -f readme

# snapshot NAME: what is there after a run, in NAME.made (one that was made again is another file), and what the analysis says of it, in NAME.analyze.
snapshot() {
	stat -c '%n %i %y' job/*.hwd $place/rank=* | sort >"$1.made"
	"$HEADWAY" analyze --digests job >"$1.analyze" 2>&1
}
export -f snapshot
export place recipes

# expect_made NAME RANKS WHAT: these ranks, and no others, have a digest and Parquet.
expect_made() {
	local there
	there=$(sed -n 's,^job/rank\([0-9]*\)\.hwd .*,\1,p' "$1.made" | sort -n | tr '\n' ' ')
	[ "$there" = "$2 " ] || fail "$3: digests of ranks $there"
	there=$(sed -n 's,^lake/.*/rank=\([0-9]*\) .*,\1,p' "$1.made" | sort -n | tr '\n' ' ')
	[ "$there" = "$2 " ] || fail "$3: Parquet of ranks $there"
}

# expect_incomplete NAME MISSING LIST WHAT: what was said (NAME.out), and the analysis, name the missing ranks; the others are there.
expect_incomplete() {
	local rank there=()
	for rank in {0..63}; do
		[[ " $2 " == *" $rank "* ]] || there+=("$rank")
	done
	expect_made "$1" "${there[*]}" "$4"
	for rank in $2; do
		grep -q "rank$rank\.hwy" "$1.out" || fail "$4: rank$rank.hwy is not named: $(cat "$1.out")"
	done
	grep -q "ranks of job made.64 have no digest here: $3\$" "$1.out" || fail "$4: the ranks $3 are not named: $(cat "$1.out")"
	grep -q "run this again" "$1.out" || fail "$4: what to do is not said: $(cat "$1.out")"
	grep -qE "ha(ve|s) no digest here: $3\$" "$1.analyze" || fail "$4: the analysis does not name the ranks $3: $(head -c 1500 "$1.analyze")"
}

# expect_rest_made BEFORE AFTER WHAT: what was there before the run is the same afterwards.
expect_rest_made() {
	[ -z "$(comm -23 "$1.made" "$2.made")" ] || fail "$3: was made again: $(comm -23 "$1.made" "$2.made")"
}

# expect_complete WHAT: all ranks are there, the job's answer is right, and so are the numbers of rows.
expect_complete() {
	snapshot now
	expect_made now "$(echo {0..63})" "$1"
	for answer in job job.hwd; do
		run analyze --digests $answer
		expect_status 0 "$1: analyze"
		grep -q "64 ranks on 8 hosts" out || fail "$1: $(head -n 3 out)"
		grep -q "Rank $late makes the others wait 11.8 ms of 16.3 ms" out || fail "$1: $(head -n 6 out)"
		grep -qiE 'missing|no digest|stale' out err && fail "$1: $answer: $(grep -iE 'missing|no digest|stale' out err)"
	done
	expect_rows "$1"
}

calls_of() {
	"$HEADWAY" info "$1" | sed -n 's/^  api *\([0-9,]*\) .*/\1/p' | tr -d ,
}

# expect_rows WHAT: each rank has its calls in Parquet, by this test's own reader, and by DuckDB where that is.
expect_rows() {
	local typical other modules
	typical=$(calls_of "$DATA/jobs/ddp_late/rank0.hwy")
	other=$(calls_of "$DATA/jobs/ddp_late/rank1.hwy")
	[ "$typical" -gt 100 ] && [ "$other" -gt 100 ] && [ "$typical" != "$other" ] || fail "$1: $typical and $other calls"
	for rank in {0..63}; do
		echo "$place/rank=$rank/table=api/part-0.parquet $([ $rank = $late ] && echo "$other" || echo "$typical")"
	done >expected
	python3 "$here/parquet_rows.py" $place/rank={0..63}/table=api/part-0.parquet >rows 2>&1
	cmp -s expected rows || fail "$1: rows of calls: $(diff expected rows | head -n 5)"
	modules=$here/../../build/duckdb
	if node -e "require('$modules/node_modules/@duckdb/node-api')" 2>/dev/null; then
		node "$here/../parquet_duckdb.mjs" "$modules" query \
			"SELECT count(*), count(DISTINCT rank), count(*) FILTER (rank = $late) FROM 'lake/*/*/table=api/*.parquet'" >rows 2>&1
		expect_line rows "$((63 * typical + other))|64|$other" "$1: DuckDB"
	fi
	[ -z "$(ls -d lake.* 2>/dev/null)" ] || fail "$1: left behind: $(ls -d lake.*)"
}
