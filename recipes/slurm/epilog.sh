#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# epilog.sh - Epilog of slurm.conf: when a job has ended, each of its nodes makes its share of the digests.
#
#     Epilog=/shared/headway/recipes/slurm/epilog.sh
#
# It looks for folders that 'headway profile' left in the job's working directory, runs ../answers.sh for them as the job's user, and does nothing for jobs
# that were not recorded. A node waits for its epilog: after HEADWAY_EPILOG_SECONDS (60) it is ended, and what is missing is made by another run of
# answers.sh. HEADWAY_LAKE names a folder for Parquet, from the job's working directory on; without it there is none. HEADWAY names the binary. A site that wants
# other values than these sets them in a script of two lines that calls this one.
#
# Always ends with status 0, because Slurm takes a node whose epilog fails out of service. What went wrong is in the job's folder, in answers-NODE.log.
self=$(readlink -f "$0")
if [ "$(id -u)" = 0 ] && [ "${SLURM_JOB_UID:-0}" != 0 ]; then
	# Without --reset-env: the variables of Slurm are needed, and none of root's are there.
	setpriv --reuid "$SLURM_JOB_UID" --regid "$SLURM_JOB_GID" --init-groups bash "$self"
	exit 0
fi

export HEADWAY=${HEADWAY:-headway} SHARE
cd "${SLURM_JOB_WORK_DIR:-/nonexistent}" 2>/dev/null || exit 0
mapfile -t nodes < <(scontrol show hostnames "${SLURM_JOB_NODELIST:-${SLURM_NODELIST:-}}")
for me in "${!nodes[@]}"; do
	[ "${nodes[me]}" != "$SLURMD_NODENAME" ] || SHARE=$me/${#nodes[@]}
done
[ -n "$SHARE" ] || exit 0
# The id of a recorded job: 123.0, 123.0-1 after it was requeued. SLURM_JOB_ID is a number.
grep -lsE "^ *\"id\": *\"${SLURM_JOB_ID}[.-]" -- */job.json | while IFS= read -r about; do
	folder=${about%/job.json}
	log=$folder/answers-$SLURMD_NODENAME.log
	timeout "${HEADWAY_EPILOG_SECONDS:-60}" bash "${self%/*}/../answers.sh" "$folder" ${HEADWAY_LAKE:+"$HEADWAY_LAKE"} </dev/null >"$log" 2>&1 ||
		echo "not complete: answers.sh $folder ${HEADWAY_LAKE:-} makes the rest" >>"$log"
	[ -s "$log" ] || rm -f "$log"
done
exit 0
