#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A report for which there is too little memory: fewer stacks, or one clear line and a directory that 'headway recover'
# finishes where there is more. The limits are of the address space (ulimit -v), in KiB.
source "$(dirname "$0")/common.bash"
# AddressSanitizer reserves more address space than any of these limits leaves.
[ -n "${HEADWAY_SANITIZED:-}" ] && { echo "SKIP: sanitizers need the address space"; exit 77; }
cd "$work" || exit 1
mkdir runs
export TMPDIR=$work/runs

# The program kills headway, so that the recording stays: calls of 1 ms, with stacks, in 20 processes.
"$HEADWAY" profile -q -o killed -t osrt \
	bash -c 'for i in {1..20}; do sleep 0.001; done; kill -9 $PPID' 2>/dev/null
directory=$(echo runs/headway-*)
[ -d "$directory" ] || fail "no recording is left in: $(ls runs)"
before=
for _ in {1..50}; do # the program outlives headway for a moment, and records
	run recover -k -f -o whole "$directory"
	[ $status = 0 ] && [ "$before" = "$(cat err)" ] && break
	before=$(cat err)
	sleep 0.1
done
expect_status 0 "with memory: $(cat err)"
grep -q 'stacks were' err && fail "stacks are missing, with memory: $(cat err)"
spans=$(sed -n 's/.* \([0-9,]*\) spans.*/\1/p' err)

made=0 refused=0 fewer=0
for limit in 8000 12000 16000 20000 25000 30000 35000 40000 50000 60000 80000 100000 150000; do
	(ulimit -v $limit && exec "$HEADWAY" recover -k -f -o less "$directory") >out 2>err </dev/null
	status=$?
	case $status in
	0)
		made=$((made + 1))
		grep -q " $spans spans" err || fail "with $limit KiB the report has other spans: $(cat err)"
		grep -q 'stacks were' err && fewer=$((fewer + 1))
		;;
	2)
		refused=$((refused + 1))
		grep -q "headway recover .*$directory\|memory" err || fail "with $limit KiB: $(cat err)"
		;;
	127) ;; # the loader itself found no memory
	*) fail "with $limit KiB: exit status $status: $(head -c 500 err)" ;;
	esac
	grep -v '^headway: ' err | grep -q . && [ $status != 127 ] && fail "with $limit KiB, not a line of headway's: $(cat err)"
	[ -d "$directory" ] || fail "with $limit KiB the recording is gone"
	compgen -G 'less.hwy.*' >/dev/null && fail "with $limit KiB a part of a report is left: $(ls)"
	rm -f less.hwy
done
echo "$made reports, $fewer of them with fewer stacks, $refused refusals"
[ $made -gt 0 ] || fail "no limit was enough"
[ $fewer -gt 0 ] || fail "no limit made stacks fewer"

run recover -f -o last "$directory"
expect_status 0 "with memory again: $(cat err)"
[ -d "$directory" ] && fail "the recording is not removed"
exit $bad
