#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a program sees of its recorder is what docs/promises.md lists, and nothing else: environment variables, mapped
# files, and the state of its process that the kernel tells.
source "$(dirname "$0")/common.bash"

page=$(dirname "$0")/../../docs/promises.md
[ -r "$page" ] || { echo "SKIP: no docs/promises.md"; exit 77; }
listed=$(sed -n '/^## What the program may notice/,/^## /p' "$page")

# seen COMMAND…: prints what each line holds that a plain run has not.
seen() {
	"$@" >"$work/plain" 2>&1 </dev/null
	"$HEADWAY" profile -q -f -o "$work/report" -t cuda,nvtx,osrt,opencl,pytorch,python,mpi,nccl,cublas,cudnn,cusparse,cusolver,cufft,cublas-verbose -s process-tree "$@" >"$work/recorded" 2>&1 </dev/null
	diff <(sort -u "$work/plain") <(sort -u "$work/recorded") | grep '^[<>]'
}

# Variables. ('_' is the shell's: the program that it started.)
while read -r side variable; do
	name=${variable%%=*}
	[ "$name" = _ ] && continue
	[ "$side" = ">" ] || fail "the variable $name is gone"
	grep -qF "\`$name\`" <<<"$listed" || fail "the variable $name is not listed"
done < <(seen env)

# Mapped files.
while read -r side file; do
	[ "$side" = ">" ] || fail "not mapped any more: $file"
	case $file in
	*/libheadway-*.so | */headway-*/state | */headway-*/*.spool) ;;
	*) fail "mapped: $file" ;;
	esac
done < <(seen sh -c 'while read -r a b c d e file; do echo "$file"; done </proc/self/maps')

# The process as the kernel tells it: signals, rights, threads, filters, limits, timers, descriptors, folders.
state='sed -E "/^(Name|Pid|PPid|Tgid|Ngid|NStgid|NSpid|NSpgid|NSsid|TracerPid|Vm|Rss|SigQ|Cpus|Mems|.*ctxt|x86|HugetlbPages|CoreDumping)/d" /proc/self/status
cat /proc/self/limits /proc/self/timers /proc/self/coredump_filter /proc/self/oom_score_adj /proc/self/attr/current /proc/self/loginuid \
	/proc/self/cgroup /proc/self/personality 2>/dev/null
for file in /proc/self/ns/*; do readlink $file; done
readlink /proc/self/cwd /proc/self/root
umask; ulimit -a; nice; echo "$#" "$-" "$0"; set -- /proc/self/fd/*; echo $#; set -- /proc/self/task/*; echo $#'
while read -r line; do
	fail "another state of the process: $line"
done < <(seen sh -c "$state")
finish
