#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Completion of words in bash, zsh and fish: commands, options, their values, recordings, programs.
# shellcheck source=common.bash
source "$(dirname "$0")/common.bash"

mkdir "$work/here" "$work/here/folder" "$work/home"
touch "$work/here"/{run.hwy,run.sqlite,run.json.gz,run.sqlite.xz,run.txt}

# The lines to complete, what must be offered, and what must not ('-': nothing is named).
cat >"$work/lines" <<'END'
headway ana|analyze|stats
headway help ga|gate|analyze
headway analyze --form|--format|--rows
headway analyze --format j|json|text
headway diff --format mark|markdown|html
headway stats -r cuda_gpu_kern_s|cuda_gpu_kern_sum|op_sum
headway stats -r op_sum,wait|op_sum,wait_sum|op_sum,graph_sum
headway export --type pe|perfetto|csv
headway whatif --apply remove|remove-wait|pin
headway profile --capture-range cuda|cudaProfilerApi|nvtx
headway analyze run.|run.hwy|run.txt
headway analyze run.|run.sqlite|run.txt
headway analyze run.|run.json.gz|run.txt
headway analyze run.|run.sqlite.xz|run.txt
headway show fol|folder|run.hwy
headway recover |folder|run.hwy
headway analyze --output run.t|run.txt|run.hwy
headway profile --keep-l|--keep-last|--keep
headway profile -o run -t cuda headway-pro|headway-program|--trace
END
mkdir "$work/bin"
printf '#!/bin/sh\n' >"$work/bin/headway-program"
chmod +x "$work/bin/headway-program"
PATH=$work/bin:$(dirname "$HEADWAY"):$PATH

# judge SHELL: $work/offers has, for each line, the offers of the shell separated by blanks.
judge() {
	local line offer no offers n=0
	while IFS='|' read -r line offer no <&3 && IFS= read -r offers <&4; do
		n=$((n + 1))
		# A folder may end in a slash, and zsh offers what follows the comma.
		[[ " $offers " =~ \ ($offer/?|${offer##*,})\  ]] || fail "$1: '$line' offers '$offers', not $offer"
		[[ " $offers " == *" $no "* ]] && fail "$1: '$line' offers $no"
	done 3<"$work/lines" 4<"$work/offers"
	[ $n = "$(wc -l <"$work/lines")" ] || fail "$1: $n lines were completed: $(head -c 300 "$work/offers" "$work/err")"
	tried+=("$1")
}
tried=() absent=()

for kind in bash zsh fish; do
	run --generate $kind "$work/completion"
	expect_status 0 "--generate $kind"
done

# bash calls the function with these variables; a '=' is a word of its own.
cat >"$work/try.bash" <<'END'
set +H
[ -z "$4" ] || source "$4"
source "$1"
cd "$2" || exit
offers() {
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=() COMP_LINE=${COMP_WORDS[*]}
	COMP_POINT=${#COMP_LINE}
	_headway
	echo "${COMPREPLY[*]}"
}
while IFS='|' read -r line _; do
	read -ra COMP_WORDS <<<"$line"
	[[ $line == *' ' ]] && COMP_WORDS+=("")
	offers
done <"$3"
COMP_WORDS=(headway analyze --format = j)
offers >&2
END
# bash_completes WHAT [FILE]: in a bash that has loaded FILE.
bash_completes() {
	bash --norc -i "$work/try.bash" "$work/completion/headway" "$work/here" "$work/lines" "${2:-}" \
		>"$work/offers" 2>"$work/err" </dev/null
	judge "$1"
	grep -qx json "$work/err" || fail "$1: --format=j offers json, not $(head -c 300 "$work/err")"
}
bash_completes bash
if [ -e /usr/share/bash-completion/bash_completion ]; then
	bash_completes "bash with bash-completion" /usr/share/bash-completion/bash_completion
fi

# zsh has no command for it: a terminal, where compadd prints what it is given.
cat >"$work/try.zsh" <<'END'
zmodload zsh/zpty
zpty shell "zsh -f -i"
cat >$1/setup.zsh <<SETUP
PROMPT= RPROMPT=
stty -echo
fpath=($1/completion \$fpath)
autoload -U compinit
compinit -u -D
cd $1/here
unsetopt beep list_beep zle_bracketed_paste 2>/dev/null
compadd() {
	local -a offered
	if [[ \${@[1,(i)(-|--)]} != *-(O|A|D)\ * ]]; then
		builtin compadd -A offered "\$@"
		print -r -- "<\${(j: :)offered}>"
	fi
	builtin compadd "\$@"
}
END_OF_LIST() { print -r -- "<<end>>" }
comppostfuncs=(END_OF_LIST)
try-complete() { comppostfuncs=(END_OF_LIST); zle complete-word-once; BUFFER= }
zle -C complete-word-once list-choices _main_complete
zle -N try-complete
bindkey '^I' try-complete
print "RE""ADY"
SETUP
zpty -w shell "source $1/setup.zsh"
zpty -r shell out '*READY*' || exit 1
while IFS='|' read -r line _; do
	zpty -w -n shell "$line"$'\t'
	zpty -r shell out '*<<end>>*' || exit 1
	print -r -- ${${(f)"$(print -r -- $out | tr -d '\r' | sed -n 's/.*<\([^<>]*\)>.*/\1/p')"}:#end}
done <$2
zpty -d shell
END
if command -v zsh >/dev/null; then
	HOME=$work/home timeout 100 zsh -f "$work/try.zsh" "$work" "$work/lines" >"$work/offers" 2>"$work/err"
	judge zsh
else
	absent+=(zsh)
fi

if command -v fish >/dev/null; then
	cat >"$work/try.fish" <<'END'
source $argv[1]
cd $argv[2]
while read -l line
	set -l parts (string split '|' -- $line)
	echo (complete -C $parts[1] | string replace -r '\t.*' '')
end <$argv[3]
END
	HOME=$work/home XDG_CONFIG_HOME=$work/home timeout 100 fish "$work/try.fish" "$work/completion/headway.fish" "$work/here" \
		"$work/lines" >"$work/offers" 2>"$work/err"
	judge fish
else
	absent+=(fish)
fi

# Every option of every command is offered by each shell's file.
for command in $("$HEADWAY" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
	for option in $("$HEADWAY" "$command" --help | sed -n 's/^  \(-.,\|   \) --\([a-z-]*\).*/\2/p'); do
		grep -q -- "--$option\b" "$work/completion/headway" || fail "bash: no --$option"
		grep -q -- "--$option\b" "$work/completion/_headway" || fail "zsh: no --$option"
		grep -q -- "__headway_is $command' .*-l $option\b" "$work/completion/headway.fish" ||
			fail "fish: no --$option of $command"
	done
done

if [ $bad = 0 ] && [ ${#absent[@]} -gt 0 ]; then
	echo "SKIP (in part): tried in ${tried[*]}; not installed: ${absent[*]}"
	exit 77
fi
finish
