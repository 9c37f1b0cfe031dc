#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# headway profile -t nccl: the plugin is called as NCCL calls it, in every version of the interface; operations and bytes
# in the report are those that were told, and what goes wrong does no harm.
source "$(dirname "$0")/common.bash"
: "${COLLECT:?the folder of test programs}" "${COLLECT_LIBRARY:?the collector}"
driver=$COLLECT/nccl_driver
plugin=$(dirname "$COLLECT_LIBRARY")/libheadway-nccl.so
report=$work/run.hwy
unset NCCL_PROFILER_PLUGIN
cd "$work" || exit 1

# table: operation, bytes of one, how many, ranks, of each row of nccl_sum.
table() {
	"$HEADWAY" stats -r nccl_sum --format csv "$report" >csv || fail "nccl_sum"
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ print $at["Operation"], $at["Bytes"], $at["Instances"], $at["Ranks"], $at["Datatype"], $at["Algorithm"], $at["Protocol"], $at["Channels"] }' csv | sort
}

for version in 1 2 3 4 5 6; do
	"$HEADWAY" profile -q -t nccl -f true -o "$report" "$driver" $version >out 2>err </dev/null
	[ $? = 0 ] || fail "version $version: $(cat out err)"
	grep -qx "version $version: 0 failures" out || fail "version $version: $(cat out)"
	[ ! -s err ] || fail "version $version: $(cat err)"
	"$HEADWAY" info --all "$report" >info
	grep -qF "nccl.interface = v$version" info || fail "version $version: $(grep nccl info)"
	grep -qF "Dropped      nothing" info || fail "version $version: $(grep -A2 Dropped info)"
	# One proxy worked for a process that is not there.
	grep -qF "NCCL sent or received 1 times for processes that are not in this recording" info ||
		fail "version $version: $(grep NCCL info)"
	# From version 5 on the call tells the type that NCCL turned into bytes. Version 3 tells nowhere how many ranks there
	# are: what a gather or scatter moves is then not known.
	type=float32 ranks=2 gathered=4000 scattered=2000 channels=2
	[ $version -ge 5 ] || type=int8
	[ $version != 3 ] || ranks='' gathered='' scattered=''
	[ $version -ge 4 ] || channels=''
	{
		echo "AllReduce 4000 20 $ranks float32 Ring Simple 2"
		echo "AllGather $gathered 6 $ranks $type Ring Simple 2"
		echo "ReduceScatter $scattered 4 $ranks float32 Ring Simple 2"
		echo "Broadcast 400 4 $ranks $type Ring Simple 2"
		echo "Reduce 400 4 $ranks float32 Ring Simple 2"
		echo "Send 128 8 $ranks bfloat16   $channels"
		echo "Receive 128 8 $ranks bfloat16   $channels"
		[ $version -lt 6 ] || echo "AllGather 32768 2 $ranks float32 CopyEngine  "
	} | sort >expected
	table >got
	diff expected got >differs || fail "version $version: $(cat differs)"
done

# Every call of the program is a span, and every operation knows its call.
rm -rf table && "$HEADWAY" export -t csv -o table "$report" >/dev/null || fail "export"
[ "$(grep -c ncclAllReduce table/call.csv)" = 20 ] || fail "calls: $(grep -c ncclAllReduce table/call.csv)"
[ "$(grep -c ncclGroup table/call.csv)" = 8 ] || fail "groups: $(grep -c ncclGroup table/call.csv)"
without=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["asked"] == "" { n++ } END { print n + 0 }' table/messages.csv)
[ "$without" = 0 ] || fail "$without operations have no call"

# Channels of kernels are asked for where nothing else tells when a kernel ran, or where the user wants them.
for wanted in "nccl 75e" "cuda,nccl 71e" "cuda,nccl-verbose 75e"; do
	"$HEADWAY" profile -q -t "${wanted% *}" -f true -o "$report" "$driver" 6 flood >out 2>err
	[ "$(grep -cx "mask ${wanted#* }" out)" = 2 ] || fail "-t ${wanted% *}: $(cat out)"
done

# More at a time than the recorder keeps: what is lost is counted.
"$HEADWAY" profile -q -t nccl -f true -o "$report" "$driver" 6 flood >out || fail "flood: $(cat out)"
kept=$(sed -n 's/^flood: \([0-9]*\) of 20000 kept$/\1/p' out)
[ "$kept" -gt 0 ] && [ "$kept" -lt 20000 ] || fail "flood: $(cat out)"
"$HEADWAY" info --all "$report" | tr -d , | grep -q "$((20000 - kept)) .*NCCL" || fail "flood: $("$HEADWAY" info --all "$report" | grep -A3 Dropped)"

# Programs that the program starts get the plugin; nobody sees the variable who does not ask for it.
"$HEADWAY" profile -q -t nccl -f true -o "$report" sh -c "env | grep NCCL; exec '$driver' 4" >out || fail "by a shell: $(cat out)"
! grep -q NCCL_ out || fail "the variable is seen: $(cat out)"
table | grep -q "^AllReduce 4000 20 " || fail "by a shell: $(table)"
"$HEADWAY" profile -q -t nvtx -f true -o "$report" "$driver" 4 >out
[ $? = 3 ] || fail "a plugin without -t nccl: $(cat out)"

# The user's own plugin stays, and that is said.
NCCL_PROFILER_PLUGIN=mine "$HEADWAY" profile -t nccl -f true -o "$report" sh -c 'echo "$NCCL_PROFILER_PLUGIN"' >out 2>err
grep -qx mine out || fail "the user's plugin: $(cat out)"
grep -q "NCCL_PROFILER_PLUGIN is set to 'mine' and stays" err || fail "the user's plugin: $(cat err)"
"$HEADWAY" profile -t nccl -f true -o "$report" --env-var NCCL_PROFILER_PLUGIN=none sh -c 'echo "$NCCL_PROFILER_PLUGIN"' >out 2>err
grep -qx none out || fail "the user's plugin: $(cat out)"
grep -q "set to 'none' and stays" err || fail "the user's plugin: $(cat err)"

# Without a recording the plugin asks for nothing, and takes what comes.
for version in 1 2 3 4 5 6; do
	NCCL_PROFILER_PLUGIN=$plugin "$driver" $version >out 2>err || fail "version $version alone: $(cat out err)"
	[ "$(grep -cx 'mask 0' out)" = 2 ] || fail "version $version alone: $(cat out)"
done
finish
