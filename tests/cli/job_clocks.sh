#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Real ranks whose clocks are put apart on purpose, by time namespaces, and are brought together within the error that is
# claimed: by pings, and by what the ranks exchange alone.
source "$(dirname "$0")/mpi.bash"
command -v python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }
unshare --time --monotonic 5 true 2>/dev/null || { echo "SKIP: no time namespaces (unshare --time)"; exit 77; }
check=$(dirname "$0")/job_check.py
export HEADWAY work

# The clock of rank r is r * 1000 s ahead; those of the ranks 0 and 2 are one.
cat >"$work/apart" <<'END'
#!/bin/bash
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}
out=$1
shift
[ "$out" = each ] && out=$work/each/$rank
if [ $((rank % 2)) = 1 ]; then
	exec unshare --time --monotonic $((rank * 1000)) "$HEADWAY" profile -q -t mpi -o "$out" "$@"
fi
exec "$HEADWAY" profile -q -t mpi -o "$out" "$@"
END
chmod +x "$work/apart"

# truth FOLDER: what must be added to the times of each rank, from where its time 0 lies on its clock.
truth() {
	python3 - "$1" "$HEADWAY" <<'END'
import json, pathlib, subprocess, sys
epochs = {}
for rank in range(4):
    info = subprocess.run([sys.argv[2], "info", "--format", "json", f"{sys.argv[1]}/rank{rank}.hwy"], stdout=subprocess.PIPE, check=True)
    ahead = rank * 1000 * 10**9 if rank % 2 else 0
    epochs[rank] = int(json.loads(info.stdout)["properties"]["clock.epoch_ns"]) - ahead
print(json.dumps({rank: epoch - epochs[0] for rank, epoch in epochs.items()}))
END
}

# clocks_of WHAT FOLDER SOURCE: the clocks of the odd ranks come from there, those of the even ones are one, all are right.
clocks_of() {
	truth "$2" >"$work/truth" || fail "$1: no reports: $(ls -a "$2")"
	python3 "$check" clocks "$HEADWAY" "$2" "$work/truth" >"$work/found" || fail "$1: $(cat "$work/found")"
	sed "s/^/$1: /" "$work/found"
	[ "$(grep -c "^rank [13]: $3," "$work/found")" = 2 ] || fail "$1: not by $3: $(cat "$work/found")"
	grep -q "^rank 2: same clock, wrong by 0 ns" "$work/found" || fail "$1: rank 2 has the clock of rank 0: $(cat "$work/found")"
}

for library in "${libraries[@]}"; do
	build "$library" mpi_rounds
	# A folder for each rank: no rank knows that the others are recorded, and so none asks for the time.
	rm -rf "$work/each"
	mkdir "$work/each"
	ranks "$library" 4 "$work/apart" each "$work/mpi_rounds.$library" >"$work/out" 2>&1 || fail "$library: $(head -c 500 "$work/out")"
	mv "$work"/each/*/rank*.hwy "$work/each/"
	clocks_of "$library by exchanges" "$work/each" "collective ends"
	# One folder: the ranks know that all are recorded, and ask each other for the time.
	rm -rf "$work/pings"
	ranks "$library" 4 "$work/apart" "$work/pings" "$work/mpi_rounds.$library" >"$work/out" 2>&1 ||
		fail "$library: $(head -c 500 "$work/out")"
	clocks_of "$library by pings" "$work/pings" pings
	# Nothing is received before it was sent: the job needs no repair.
	"$HEADWAY" info "$work/pings" 2>&1 | grep -q "contradict the clocks" && fail "$library: contradicted clocks"
done
exit $bad
