#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# recipes/dask on a real cluster, a scheduler and two workers on loopback: digests and Parquet of 64 reports, with workers that are killed.
#
# The cluster lives in namespaces of its own, for processes and for the network.
source "$(dirname "$0")/jobs.bash"
source "$here/recipes.bash"
skip() {
	echo "SKIP: $*"
	exit 77
}
python=/usr/bin/python3
$python -c 'import distributed' 2>/dev/null || skip "no Dask (python3-distributed)"
inside=(timeout -s KILL 200 unshare)
[ "$(id -u)" = 0 ] || inside+=(--user --map-root-user)
inside+=(--net --mount --pid --fork --kill-child --mount-proc)
"${inside[@]}" ip link set lo up 2>/dev/null || skip "no namespaces here, or no ip (iproute2)"
make_reports

cat >session.bash <<'END'
ip link set lo up
ln -s $python bin/python3
export PATH=$work/bin:$PATH
# A report that kills two workers is given up; Dask's own number is 4.
export DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES=1 HOME=$work
dask() {
	$python -m "distributed.cli.dask_$1" --host 127.0.0.1 --no-dashboard "${@:2}"
}
dask scheduler --port 8786 >scheduler.log 2>&1 &
for name in a b; do
	dask worker tcp://127.0.0.1:8786 --nthreads 1 --name $name --local-directory "$work/tmp" >worker_$name.log 2>&1 &
done
answers() {
	timeout 90 bash -c "$(readme 'python3 recipes/dask')" >"$1.out" 2>&1
	echo $? >"$1.status"
}
# One worker dies with a report once; another report takes each worker with it.
echo once >kill/rank20.hwy
echo always >kill/rank50.hwy
answers first
cp called first.called
snapshot first
rm kill/rank50.hwy
answers second
snapshot second
touch done
END
export work python
"${inside[@]}" bash session.bash >session.out 2>&1 </dev/null
[ -e done ] || fail "the session did not end: $(tail -n 5 session.out first.out second.out worker_?.log 2>&1)"

# --- a worker that was killed once costs nothing: others do its work; a report that kills all of its workers is named, and it alone
[ "$(cat first.status)" = 1 ] || fail "a report that kills workers: status $(cat first.status): $(cat first.out)"
[ "$(grep -c 'digest rank20.hwy' first.called)" -ge 2 ] || fail "rank 20 was not given to another worker: $(grep rank20 first.called)"
[ "$(grep -c 'was killed by signal 9' <(cat worker_?.log))" -ge 3 ] || fail "workers were not killed: $(cat worker_?.log)"
grep -q "rank50.hwy is missing: the workers that read it died" first.out || fail "rank 50 is not named: $(cat first.out)"
expect_incomplete first 50 50 "the first run"

# --- the second run makes what is missing, and nothing else
[ "$(cat second.status)" = 0 ] || fail "the second run: status $(cat second.status): $(cat second.out)"
expect_rest_made first second "the second run"
expect_complete "the second run"
finish
