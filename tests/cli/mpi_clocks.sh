#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Ranks with different clocks read rank 0's at the begin and at the end, with an error that is not exceeded.
source "$(dirname "$0")/mpi.bash"
if ! unshare --time --monotonic 5000 true 2>/dev/null; then
	echo "SKIP: time namespaces cannot be made here"
	exit 77
fi

# Ranks 1 and 2 have a clock that is 5000 s ahead, rank 3 one that is 70 s ahead.
cat >"$work/apart" <<'END'
#!/usr/bin/env bash
case ${PMI_RANK:-$OMPI_COMM_WORLD_RANK} in
1) exec unshare --time --monotonic 5000 "$@" ;;
2) exec unshare --time --monotonic 5000 "$@" ;;
3) exec unshare --time --monotonic 70 "$@" ;;
*) exec "$@" ;;
esac
END
chmod +x "$work/apart"

for library in "${libraries[@]}"; do
	build "$library" mpi_odd -pthread
	rm -rf "$work/job"
	timeout -k 5 60 mpirun.$library -n 4 "$work/apart" "$HEADWAY" profile -q -t mpi -o "$work/job" "$work/mpi_odd.$library" callbacks \
		>"$work/out" 2>"$work/err" </dev/null || fail "$library: $(head -c 500 "$work/err")"
	for rank in 0 1 2 3; do
		"$MESSAGES_OF" "$work/job/rank$rank.hwy"
	done | grep ^PING >"$work/pings"
	# Each namespace is a clock of its own, though two of them show the same time.
	for rank in 1 2 3; do
		[ "$(grep -c "^PING $rank 0 " "$work/pings")" = 2 ] || fail "$library: rank $rank: $(grep -c "^PING $rank " "$work/pings") pings"
	done
	grep -q "^PING 0" "$work/pings" && fail "$library: rank 0 reads a clock"
	awk '{ apart = $2 == 3 ? -70e9 : -5000e9; off = $5 - apart; if (off < 0) off = -off; if (off > $4) print }' "$work/pings" >"$work/wrong"
	[ ! -s "$work/wrong" ] || fail "$library: pings are more wrong than they say: $(cat "$work/wrong")"
	# Where all have one clock, nobody asks.
	record "$library" 2 "$work/mpi_odd.$library" callbacks
	grep -q ^PING "$work/got" && fail "$library: ranks of one clock compare it"
done
exit $bad
