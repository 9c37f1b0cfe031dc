# SPDX-License-Identifier: Apache-2.0
# jobs.bash - what the tests of jobs share: a program with ranks, and what a job's folder must hold.
source "$(dirname "$0")/common.bash"
here=$(cd "$(dirname "$0")" && pwd)
# Launchers set these for what they start; a test that is started by one must not hand them on.
unset "${!OMPI_@}" "${!PMI_@}" "${!PMIX_@}" "${!SLURM_@}" RANK WORLD_SIZE LOCAL_RANK
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 TMPDIR=$work/tmp
mkdir "$TMPDIR"
cd "$work" || exit 2

# build_rank MAKE: the program job_rank for "openmpi" or "mpich"; false where there is none of it.
build_rank() {
	command -v "mpicc.$1" >/dev/null && command -v "mpirun.$1" >/dev/null &&
		"mpicc.$1" -O1 -o "$work/rank_$1" "$here/job_rank.c" 2>/dev/null
}

# launch SECONDS WORDS…: runs headway profile, with a limit; leaves what run leaves.
launch() {
	timeout -s KILL "$1" "$HEADWAY" profile "${@:2}" >"$work/out" 2>"$work/err" </dev/null
	status=$?
}

# member FOLDER RANK NAME: a member of a rank in job.json ("" instead of a rank: of the job).
member() {
	python3 - "$@" <<-'END'
		import json, sys
		job = json.load(open(sys.argv[1] + "/job.json"))
		of = job if sys.argv[2] == "" else [r for r in job["ranks"] if str(r["rank"]) == sys.argv[2]][0]
		print(of[sys.argv[3]])
	END
}

# expect_job FOLDER N WHAT: a folder with the reports of ranks 0 … N-1, each with its rank and its digest, and nothing else.
expect_job() {
	local rank
	[ "$(member "$1" "" over)" = True ] || fail "$3: the job is not over"
	[ "$(ls -A "$1" | wc -l)" = $((2 * $2 + 1)) ] || fail "$3: $1 holds $(ls -A "$1" | tr '\n' ' ')"
	for ((rank = 0; rank < $2; rank++)); do
		"$HEADWAY" info "$1/rank$rank.hwy" >"$work/info" 2>&1 || fail "$3: rank $rank: $(cat "$work/info")"
		[ -s "$1/rank$rank.hwd" ] || fail "$3: rank $rank has no digest"
		grep -q "rank $rank of $2" "$work/info" || fail "$3: rank$rank.hwy is not of rank $rank: $(head -c 600 "$work/info")"
	done
	[ -z "$(ls -A "$TMPDIR" | grep '^headway-')" ] || fail "$3: left in TMPDIR: $(ls -A "$TMPDIR")"
}

# expect_said TEXT WHAT
expect_said() {
	grep -qF -- "$1" "$work/err" || fail "$2: '$1' is missing in: $(head -c 1500 "$work/err")"
}
