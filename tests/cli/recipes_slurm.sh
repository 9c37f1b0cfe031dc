#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# recipes/ on a real Slurm on loopback, two nodes: digests and Parquet of 64 reports, with a task that is killed; and as an epilog.
source "$(dirname "$0")/slurm.bash"
source "$here/recipes.bash"
slurm_seconds=250
need_slurm
make_reports
# The recorded job is of a user who is not root, where the binary can be run by others.
mkdir recorded
owner=nobody
chmod 755 "$work"
setpriv --reuid nobody --clear-groups "$HEADWAY" --version >/dev/null 2>&1 || owner=root
chown $owner recorded
export owner

cat >epilog.sh <<END
#!/bin/bash
export HEADWAY=$HEADWAY HEADWAY_LAKE=lake
exec $recipes/slurm/epilog.sh
END
chmod +x epilog.sh
slurm_more="Epilog=$work/epilog.sh"

cat >session.bash <<'END'
real=$HEADWAY
unset HEADWAY
export PATH=$work/bin:$PATH
# answers NAME OPTIONS…: the recipe as a batch script behind a job that failed.
answers() {
	local failed
	failed=$(sbatch --parsable -N1 -o failed.out --wrap 'exit 3')
	SBATCH_WAIT=1 SBATCH_OUTPUT=$1.out timeout 100 bash -c "$(readme sbatch | sed "s/:123/:$failed/")" >"$1.sbatch" 2>&1
	echo $? >"$1.status"
	HEADWAY=$real snapshot "$1"
}
echo once >kill/rank22.hwy
answers first
answers second
rm job/rank6.hwd job/rank33.hwd
rm -r $place/rank=33
timeout 60 bash -c "$(readme "srun -N 2 -n 8 recipes")" >third.out 2>&1
echo $? >third.status
rm job/rank6.hwd job/rank33.hwd
timeout 60 bash -c "$(readme "srun -N 2 -n 8 headway")" >fourth.out 2>&1
echo $? >fourth.status

# A program that is recorded; its epilog runs when its batch script has ended, on both nodes.
cd recorded
TMPDIR=/tmp timeout 60 sbatch --uid=$owner --gid="$(id -gn $owner)" -W -N2 -n4 -o batch.out --wrap "srun $real profile -t osrt true" >sbatch.out 2>&1
echo $? >batch.status
for ((i = 0; i < 300; i++)); do
	[ "$(sinfo -h -o '%D %T')" = "2 idle" ] && break
	sleep 0.1
done
sinfo -h -o '%D %T' >nodes
touch done
END
slurm_session
[ -e recorded/done ] || fail "the session did not end: $(cat session.out first.out second.out 2>&1 | tail -n 20)"

# --- a task that is killed leaves its share from rank 22 on, by name each eighth report; all of that is named, and nothing else is missing
missing=$(cd job && LC_ALL=C ls -- *.hwy | awk '$0 == "rank22.hwy" {begin = NR} begin && (NR - begin) % 8 == 0' | tr -dc '0-9\n' | sort -n | tr '\n' ' ')
[ "$missing" = "3 9 22 37 44 51 59 " ] || fail "a share is $missing"
[ "$(cat first.status)" = 1 ] || fail "a task that is killed: status $(cat first.status): $(cat first.out first.sbatch)"
grep -q "srun ended with status 137" first.out || fail "a task that is killed: $(cat first.out)"
expect_incomplete first "${missing% }" "3, 9, 22, 37, 44, 51, 59" "a task that is killed"

# --- the second run makes what is missing, and nothing else
[ "$(cat second.status)" = 0 ] || fail "the second run: status $(cat second.status): $(cat second.out second.sbatch)"
expect_rest_made first second "the second run"
grep -q "missing" second.out && fail "the second run: $(cat second.out)"

# --- behind srun, without a batch script
[ "$(cat third.status)" = 0 ] || fail "srun answers.sh: $(cat third.out)"
[ "$(cat fourth.status)" = 0 ] || fail "srun headway digest: $(cat fourth.out)"
[ "$(grep -c '8 digests: 1 made, 7 fresh' fourth.out)" = 2 ] || fail "srun headway digest: $(cat fourth.out)"
[ "$(grep -c '8 digests: 0 made, 8 fresh' fourth.out)" = 6 ] || fail "srun headway digest: $(cat fourth.out)"
expect_complete "all runs"

# --- the epilog: each node has made its half, and both are in service
[ "$(cat recorded/nodes)" = "2 idle" ] || fail "epilog: nodes are $(cat recorded/nodes)"
[ "$(cat recorded/batch.status)" = 0 ] || fail "epilog: $(cat recorded/*.out)"
folder=$(echo recorded/job-*.0)
for rank in 0 1 2 3; do
	[ -e "$folder/rank$rank.hwd" ] || fail "epilog: no digest of rank $rank: $(ls "$folder"; cat "$folder"/*.log)"
	[ -d "recorded/lake/job=${folder#*job-}/rank=$rank/table=properties" ] || fail "epilog: no Parquet of rank $rank: $(find recorded/lake; cat "$folder"/*.log)"
done
[ "$(stat -c %U "$folder"/*.hwd recorded/lake | uniq)" = $owner ] || fail "epilog: not made by the job's user: $(ls -l "$folder")"
[ -z "$(ls "$folder" | grep log)" ] || fail "epilog: $(cat "$folder"/*.log)"
finish
