#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#SBATCH --job-name=headway-answers
# answers.sh JOB [LAKE] - the digests of a job's reports and, where LAKE is given, their Parquet, made by many tasks.
#
#     sbatch -d afterany:123 -N 2 -n 16 answers.sh job-123.0 lake    once job 123 has ended, however it did
#     srun -n 16 answers.sh job-123.0 lake                           inside an allocation
#     mpirun -n 16 answers.sh job1 lake
#     answers.sh job1 lake                                           alone
#
# As a task of srun, mpirun or flux it makes its share: the reports are numbered by name, and task I of N takes each N-th from
# number I on, so that no task needs to know of another. SHARE=I/N says the same by hand. As a batch script of Slurm, or alone, it lets all tasks do their share
# (alone: itself), then joins all digests as JOB.hwd and names what is missing.
#
# What is there and later than its report is left alone: run it again, and only what is missing is made. Each report is read by a
# process of its own, so that one that cannot be read costs no other. HEADWAY names another headway than that of PATH.
# Exit status 0: all is there, 1: something is missing, and named, 2: nothing could be done.
set -uo pipefail
export LC_ALL=C # the order of names must be the same on all hosts
headway=${HEADWAY:-headway}
job=${1:-} lake=${2:-}
job=${job%/}
shopt -s nullglob
reports=("$job"/*.hwy)
if [ -z "$job" ] || [ ${#reports[@]} = 0 ]; then
	echo "answers: '$job': no reports (*.hwy) there; answers.sh JOB [LAKE]" >&2
	exit 2
fi

# Sets 'me' and 'of': which of how many tasks this is; false: no task of a launcher. The inner launcher comes first. A batch script of Slurm has the
# variables of a first task, too, but the number of no step.
find_share() {
	if [ -n "${SHARE:-}" ]; then
		me=${SHARE%%/*} of=${SHARE##*/}
	elif [ -n "${OMPI_COMM_WORLD_RANK:-}" ]; then
		me=$OMPI_COMM_WORLD_RANK of=${OMPI_COMM_WORLD_SIZE:-}
	elif [ -n "${PMI_RANK:-}" ]; then
		me=$PMI_RANK of=${PMI_SIZE:-}
	elif [ -n "${FLUX_TASK_RANK:-}" ]; then
		me=$FLUX_TASK_RANK of=${FLUX_JOB_SIZE:-}
	elif [[ ${SLURM_STEP_ID:-} =~ ^[0-9]{1,9}$ ]]; then
		me=$SLURM_PROCID of=${SLURM_STEP_NUM_TASKS:-${SLURM_NTASKS:-}}
	else
		return 1
	fi
	if ! [[ $me =~ ^[0-9]+$ && $of =~ ^[0-9]+$ ]] || [ "$me" -ge "$of" ]; then
		echo "answers: share '$me/$of': I/N with I from 0 to N-1" >&2
		exit 2
	fi
}

# make_share I N: what fails has said why; what was killed has not.
make_share() {
	local i status missing=0
	for ((i = $1; i < ${#reports[@]}; i += $2)); do
		"$headway" digest -q "${reports[i]}" </dev/null
		status=$?
		if [ $status = 0 ] && [ -n "$lake" ]; then
			"$headway" export -t parquet --missing "${reports[i]}" -o "$lake" </dev/null >/dev/null
			status=$?
		fi
		[ $status = 0 ] || missing=$((missing + 1))
		[ $status -lt 126 ] || echo "answers: ${reports[i]}: headway ended with status $status" >&2
	done
	[ $missing = 0 ]
}

# Joins what is there, and names what is not. Ranks without a report are named as well, by the digests of the others.
join_all() {
	local digests=("$job"/*.hwd) missing=0 report
	if [ ${#digests[@]} = 0 ]; then
		echo "answers: $job: not one digest was made" >&2
		return 2
	fi
	"$headway" digest -f -o "$job.hwd" "${digests[@]}" || missing=1
	"$headway" digest -q --check "$job" || missing=1
	for report in "${reports[@]}"; do
		[ -z "$lake" ] || "$headway" export -t parquet --check "$report" -o "$lake" || missing=1
	done
	return $missing
}

if find_share; then
	make_share "$me" "$of"
	status=$?
	[ "$of" = 1 ] || exit $status
elif [ -n "${SLURM_JOB_ID:-}" ]; then
	# Slurm runs a copy of the batch script, which only the first node has: the tasks get its text.
	srun --kill-on-bad-exit=0 bash -c "$(cat "$0")" "$0" "$@"
	status=$?
	[ $status = 0 ] || echo "answers: srun ended with status $status: some task did not finish its share" >&2
else
	make_share 0 1
fi
join_all
status=$?
[ $status != 1 ] || echo "answers: something is missing: run this again, and only that is made" >&2
exit $status
