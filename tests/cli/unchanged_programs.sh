#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs of unchanged_programs.txt do the same plain, under the default options, and with every source that needs
# no GPU: stdout, stderr, exit status and the files in their folder are, byte for byte, the same.
# Without ALL=1 only the lines with a star are run. ONLY=WORDS: only lines that hold these words.
source "$(dirname "$0")/common.bash"
[ -z "${HEADWAY_SANITIZED:-}" ] || { echo "SKIP: what runs in the program is not sanitized"; exit 77; }

LEAST=150 # programs of the whole list, where none is missing
list=$(cd "$(dirname "$0")" && pwd)/unchanged_programs.txt
cd "$work" || exit 1
# Programs that change their user must get there.
chmod 755 "$work"
export TMPDIR=$work/tmp GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null LC_ALL=C.UTF-8
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b.c GIT_AUTHOR_DATE=@0\ +0000
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b.c GIT_COMMITTER_DATE=@0\ +0000
export HOME=$work/home
mkdir tmp home
ulimit -c 0

# The folder that every run gets a copy of.
fill_folder() {
	mkdir -p template/folder/sub
	cd template || exit 1
	seq 9 | sed 's/.*/& the line has four words/' >text.txt
	seq 400 | awk '{ print ($1 * 7919) % 1009 }' >numbers.txt
	echo inner >folder/sub/inner.txt
	echo '{"b": 1, "list": [1, {"a": "x"}]}' >data.json
	printf 'int puts(const char *);\nint main(void) { puts("built"); return 3; }\n' >program.c
	echo 'int main(void) { return undeclared; }' >wrong.c
	printf 'all: a b c\na b c:\n\techo $@ >$@\n\tsleep 0.02\nwrong:\n\tfalse\n' >Makefile
	printf 'message("from cmake")\nfile(WRITE made.txt "x")\n' >script.cmake
	printf 'rule r\n command = echo $out > $out\nbuild x: r\nbuild y: r\n' >rules.ninja
	printf -- '--- text.txt\n+++ text.txt\n@@ -1,2 +1,2 @@\n-1 the line has four words\n+1 changed\n 2 the line has four words\n' >change.diff
	if command -v git >/dev/null; then
		git init -q repository && (cd repository && echo a >a && git add a && git commit -qm first)
		# What git knows of the time at which files changed is not compared.
		git -C repository config core.checkStat minimal
		git -C repository config core.fsyncMethod batch
	fi
	cd ..
}

# tree: each file of the folder: name, kind, rights, size, contents. Git's index and Ninja's log hold times, ssh's keys
# are chance.
tree() {
	find here \( -name index -o -name '.ninja*' -o -name 'key*' \) -prune -o -printf '%P %y %m ' \( -type f -printf '%s ' -o -true \) -print0 |
		tr '\0' '\n' | sort
	find here \( -name index -o -name '.ninja*' -o -name 'key*' \) -prune -o -type f -print0 | sort -z | xargs -0 cksum
}

# run_in_folder NAME COMMAND…: leaves its output, status and files as NAME.out, NAME.err, NAME.status, NAME.tree.
run_in_folder() {
	local name=$1
	shift
	rm -rf here
	cp -a template here
	{ (cd here && timeout 60 "$@" >"../$name.out" 2>"../$name.err" </dev/null); } 2>/dev/null
	echo $? >"$name.status"
	tree >"$name.tree"
}

# compare LINE HOW: the run 'recorded' was as 'plain'.
compare() {
	local part
	for part in status out err tree; do
		cmp -s "plain.$part" "recorded.$part" && continue
		# A program that differs from itself proves nothing: it is run once more.
		run_in_folder again "${words[@]}"
		cmp -s "plain.$part" "again.$part" || {
			echo "not the same alone, either ($part): $1"
			unsteady+=("$1")
			return 1
		}
		fail "$1 ($2): $part is another: $(diff "plain.$part" "recorded.$part" | head -5)"
	done
	[ -s report.hwy ] || fail "$1 ($2): no report"
	[ -z "$(find tmp -maxdepth 1 -name 'headway*')" ] || fail "$1 ($2): left $(ls -A tmp)"
	rm -rf report.hwy tmp/*
}

fill_folder
ran=0 missing=() unsteady=()
while IFS= read -r line; do
	# A here-document goes over several lines: up to the one that closes its quote.
	while [[ $(tr -cd "'" <<<"$line" | wc -c) =~ [13579]$ ]] && IFS= read -r more; do
		line+=$'\n'$more
	done
	[[ $line == \#* ]] && continue
	[[ ${ALL:-} || $line == \** ]] || continue
	[[ $line == *"${ONLY:-}"* ]] || continue
	line=${line:2}
	tool=${line%% | *} command=${line#* | }
	command -v "$tool" >/dev/null || {
		missing+=("$tool")
		continue
	}
	eval "words=($command)"
	run_in_folder plain "${words[@]}"
	run_in_folder recorded "$HEADWAY" profile -q -f -o "$work/report" "${words[@]}"
	compare "$command" "default options" || continue
	run_in_folder recorded "$HEADWAY" profile -q -f -o "$work/report" -t osrt,nvtx,opencl,pytorch,python,mpi,nccl,cublas,cudnn,cusparse,cusolver,cufft,cublas-verbose -s process-tree "${words[@]}"
	compare "$command" "every source" || continue
	ran=$((ran + 1))
done <"$list"

echo "$ran programs compared in three ways; ${#unsteady[@]} differ from themselves; not here: ${missing[*]:-none}"
[ $ran -gt 0 ] || fail "nothing was run"
if [[ ${ALL:-} && -z ${ONLY:-} && ${#missing[@]} -eq 0 ]] && [ $ran -lt $LEAST ]; then
	fail "fewer than $LEAST programs were compared"
fi
finish
