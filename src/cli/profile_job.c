/* SPDX-License-Identifier: Apache-2.0 */
/* profile_job.c - see profile_job.h.
 *
 * A rank's report is written by the rank's headway, to the job's folder, which hosts share. What
 * the folder is told is told before the program starts and after its report is made: whoever
 * ends this headway in between leaves a note that says where the recording is.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/lang.h"
#include "base/path.h"
#include "cli/profile.h"
#include "job/agreement.h"
#include "run/job_identity.h"
#include "spool/preload.h"
#include "trace/trace.h"

/* How long ranks wait for one another before their programs start, to agree that all of them are
 * recorded. */
static const int64_t PATIENCE_NS = 3LL * 1000 * 1000 * 1000;

/* ---- which part this headway has ------------------------------------------------------------- */

/* A report's name that the user has made different for each rank, or that names one file. */
static bool names_a_file(const char *output)
{
	return output && strchr(output, '%') != NULL;
}

static enum profile_role find_role(const struct profile *profile)
{
	const struct profile_job *job = &profile->job;
	switch (job->launcher.kind) {
	case LAUNCHER_RANKS:
		/* A rank that starts ranks (MPI on an outer level) is recorded as it is. */
		if (!job->launcher.doubt && !job->given)
			return PROFILE_LAUNCHER;
		return job->given ? PROFILE_RANK : PROFILE_TREE;
	case LAUNCHER_TREE: return PROFILE_TREE;
	default: break;
	}
	bool is_rank = job->given || (job_is_rank(&job->ranks) && !names_a_file(profile->output));
	return is_rank ? PROFILE_RANK : PROFILE_ALONE;
}

static int64_t number_or_none(int32_t number)
{
	return number < 0 ? HWY_NONE : number;
}

static void begin_note(struct profile_job *job)
{
	char host[HOST_NAME_MAX + 1] = "";
	gethostname(host, sizeof host - 1);
	job->note = job_note_none();
	job->note.host = hwy_arena_text(&job->texts, host, strlen(host));
	job->note.pid = getpid();
	job->note.version = HEADWAY_VERSION;
	job->note.started = profile_wall_ns();
	if (job->role != PROFILE_RANK)
		return;
	job->note.rank = number_or_none(job->ranks.rank);
	job->note.local_rank = number_or_none(job->ranks.local_rank);
	job->note.world = number_or_none(job->ranks.world);
	job->note.report = job_note_report(&job->texts, &job->note);
}

/* The folder that the headway above has made. It may be out of reach from this host. */
static void join_given(struct profile_job *job)
{
	struct job_folder folder;
	job->folder = hwy_arena_text(&job->texts, job->given, strlen(job->given));
	if (!job_folder_read(job->given, &folder, &job->unreachable))
		return;
	job->unreachable.text[0] = '\0';
	snprintf(job->id, sizeof job->id, "%s", folder.id);
	if (job->ranks.launcher[0] == '\0' || !job->launcher.name)
		job->launcher.name =
			hwy_arena_text(&job->texts, folder.launcher, strlen(folder.launcher));
	job_folder_free(&folder);
}

static void find_identity(struct profile *profile)
{
	struct profile_job *job = &profile->job;
	bool is_rank = job->role != PROFILE_LAUNCHER && job_is_rank(&job->ranks);
	job->joins = true;
	if (is_rank) {
		job_identity(&job->ranks, job->id);
	} else if (job->role != PROFILE_TREE || !job_identity_of_tree(profile->program, job->id)) {
		job->joins = false;
		snprintf(job->id, sizeof job->id, "%s-%d-%lld", job->note.host, (int)getpid(),
			 (long long)(job->note.started / 1000000));
	}
}

/* Launchers look for a program in the working directory too; a shell does not. */
static void find_program_file(struct profile *profile)
{
	const char *name = profile->program[0];
	char real[PATH_MAX];
	if (strchr(name, '/') || launchers_find_file(name, real))
		return;
	char *here = hwy_arena_format(&profile->job.texts, "./%s", name);
	if (access(here, X_OK) == 0)
		profile->program[0] = here;
}

/* The launcher is run, and nothing of it recorded. */
static void become_launcher(struct profile *profile, int argc, char **argv)
{
	struct run_settings *settings = &profile->settings;
	settings->program = profile->words = profile_words(profile, argc, argv);
	settings->variables = NULL;
	settings->fresh_environment = false;
	settings->wait_primary = true; /* it has the processes that it starts in its hands */
	settings->delay = settings->duration = 0;
	settings->perf = (struct perf_settings){0};
	settings->watch = (struct watch_settings){0};
}

/* Several ranks of a host would record the host several times: the first does it for all. */
static void share_host(struct profile *profile)
{
	struct run_settings *settings = &profile->settings;
	if (profile->job.note.local_rank <= 0)
		return;
	if (settings->watch.metrics.devices != PM_DEVICES_VISIBLE)
		settings->watch.metrics.devices = PM_DEVICES_NONE;
	if (settings->perf.samples == PERF_SYSTEM)
		settings->perf.samples = PERF_TREE;
	if (settings->perf.switches == PERF_SYSTEM)
		settings->perf.switches = PERF_TREE;
}

/* What ranks exchange is recorded unless the user says what is. */
static void add_sources(struct profile *profile)
{
	if (!profile->traces_given)
		profile->settings.control.traces |=
			run_installed_sources(REC_TRACE_MPI | REC_TRACE_NCCL);
}

/* The number of this host among those of the job, where the launcher tells. */
static const char *variable_of_node(void)
{
	static const char *const names[] = {"SLURM_NODEID", "PALS_NODEID", "GROUP_RANK"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *text = getenv(names[i]);
		if (text && *text)
			return text;
	}
	return NULL;
}

static void add_properties(struct profile *profile)
{
	struct profile_job *job = &profile->job;
	struct run_property *to = profile->properties;
	*to++ = (struct run_property){"job.id", job->id};
	if (job->launcher.name)
		*to++ = (struct run_property){"job.launcher", job->launcher.name};
	const struct {
		const char *name;
		int64_t number;
	} numbers[] = {{"job.rank", job->note.rank},
		       {"job.local_rank", job->note.local_rank},
		       {"job.world", job->note.world}};
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (numbers[i].number != HWY_NONE)
			*to++ = (struct run_property){
				numbers[i].name, hwy_arena_format(&job->texts, "%lld",
								  (long long)numbers[i].number)};
	const char *node = variable_of_node();
	const char *topology = getenv("SLURM_TOPOLOGY_ADDR");
	if (node)
		*to++ = (struct run_property){"job.node", node};
	if (topology && *topology)
		*to++ = (struct run_property){"job.topology", topology};
	*to = (struct run_property){0};
	profile->settings.properties = profile->properties;
}

/* Says once for all ranks what only the first needs to say. */
static void say_start(const struct profile *profile)
{
	const struct profile_job *job = &profile->job;
	if (job->launcher.kind == LAUNCHER_RANKS && job->launcher.doubt && !profile->quiet)
		cli_say(hwy_tr("%s: '%s' does not tell where the program begins: what runs on this host is "
			       "recorded. To record every rank, write 'headway profile' before the "
			       "program: %s … headway profile PROGRAM"),
			job->launcher.name, job->launcher.doubt, job->launcher.name);
	if (job->role == PROFILE_RANK && !job->given && job->note.rank == 0 && !profile->quiet)
		cli_say(hwy_tr("%d ranks are recorded into %s"), job->ranks.world,
			hwy_basename(job->folder));
}

void profile_job_begin(struct profile *profile, int argc, char **argv)
{
	struct profile_job *job = &profile->job;
	job->launcher = launchers_look(profile->program);
	job->ranks = ranks_of_environment();
	job->role = find_role(profile);
	if (job->role == PROFILE_ALONE)
		return;
	begin_note(job);
	if (job->given) {
		join_given(job);
		find_program_file(profile);
	} else {
		find_identity(profile);
		profile_place(profile);
	}
	say_start(profile);
	if (job->role == PROFILE_LAUNCHER) {
		/* Of several programs one may use another MPI than the others, or none that can
		 * be seen. */
		if (job->launcher.n_programs > 1)
			job_disagree(job->folder);
		become_launcher(profile, argc, argv);
		return;
	}
	profile->force = true; /* the name is this rank's alone */
	profile->says_warnings = !profile->quiet && job->note.rank <= 0;
	profile->is_quiet_job = profile->quiet;
	profile->quiet = true;
	profile->settings.dies_with_headway = job->role == PROFILE_RANK;
	share_host(profile);
	add_sources(profile);
	add_properties(profile);
}

/* ---- what the folder is told ----------------------------------------------------------------- */

/* A report that cannot go to the folder stays on this host. */
static char *local_report(struct profile_job *job)
{
	const char *temporary = getenv("TMPDIR");
	return hwy_arena_format(
		&job->texts, "%s/%s-%s", temporary && *temporary ? temporary : "/tmp",
		hwy_basename(job->folder), job_note_report(&job->texts, &job->note));
}

char *profile_job_path(const struct profile *profile)
{
	const struct profile_job *job = &profile->job;
	char *path;
	if (job->role != PROFILE_RANK && !*job->unreachable.text)
		return NULL;
	int length = strchr(job->note.report, '/')
			     ? asprintf(&path, "%s", job->note.report)
			     : asprintf(&path, "%s/%s", job->folder, job->note.report);
	if (length < 0)
		cli_die("out of memory");
	return path;
}

static void put_note(struct profile_job *job)
{
	struct hwy_err err;
	if (!*job->unreachable.text && !job_folder_put_note(job->folder, &job->note, &err))
		job->unreachable = err;
	if (*job->unreachable.text && !strchr(job->note.report, '/')) {
		job->note.report = local_report(job);
		job->note.state = JOB_ELSEWHERE;
	}
}

void profile_job_started(struct profile *profile, const struct run *run)
{
	struct profile_job *job = &profile->job;
	if (job->role != PROFILE_RANK && job->role != PROFILE_TREE)
		return;
	job->note.directory = run->directory;
	put_note(job);
	/* A launcher that ends its ranks sends a signal, waits, and kills. The program gets the
	 * signal; headway uses the time for the report. */
	static const int polite[] = {SIGTERM, SIGINT, SIGHUP};
	for (size_t i = 0; i < sizeof polite / sizeof *polite && job->role == PROFILE_RANK; i++)
		cli_ignore(polite[i]);
	if (job->role != PROFILE_RANK || job->note.world <= 1 || *job->unreachable.text)
		return;
	bool is_fit = !preload_refusal(profile->program[0]);
	if (!is_fit)
		job_disagree(job->folder);
	if (is_fit && run->control->traces & REC_TRACE_MPI)
		run->control->every_rank =
			job_agree(job->folder, job->note.rank, job->note.world, PATIENCE_NS);
}

void profile_job_failed(struct profile *profile, const char *why, int status)
{
	struct profile_job *job = &profile->job;
	if (job->role == PROFILE_LAUNCHER)
		job_folder_clear(job->folder, &(struct hwy_err){0});
	if (job->role == PROFILE_LAUNCHER)
		rmdir(job->folder);
	if (job->role != PROFILE_RANK && job->role != PROFILE_TREE)
		return;
	if (!*job->unreachable.text)
		job_disagree(job->folder);
	job->note.directory = job->note.report = "";
	job->note.state = JOB_LOST;
	job->note.why = why;
	job->note.status = status < 0 ? HWY_NONE : status;
	job->note.ended = profile_wall_ns();
	if (!*job->unreachable.text)
		job_folder_put_note(job->folder, &job->note, &(struct hwy_err){0});
}

void profile_job_ended(struct profile *profile, const struct run *run)
{
	struct profile_job *job = &profile->job;
	if (run->ended)
		job->note.status = run->status;
	job->note.ended = profile_wall_ns();
}

/* The devices of a trace, "uuid name" separated by ';'. */
static const char *devices_of(struct hwy_arena *arena, const struct hwy_trace *trace)
{
	const char *list = "";
	for (uint32_t i = 0; i < trace->n_devices; i++) {
		const struct hwy_device *device = &trace->devices[i];
		const char *uuid = device->uuid == HWY_NONE ? "" : hwy_str(trace, device->uuid);
		const char *name = device->name == HWY_NONE ? "" : hwy_str(trace, device->name);
		list = hwy_arena_format(arena, "%s%s%s%s%s", list, *list ? ";" : "", uuid,
					*uuid ? " " : "", name);
	}
	return list;
}

void profile_job_reported(struct profile_job *job, const struct hwy_trace *trace)
{
	/* The run directory is still named: whoever kills this headway now may leave a part of
	 * it. */
	job->note.gpus = devices_of(&job->texts, trace);
	if (job->note.state == JOB_RUNNING)
		job->note.state = JOB_RECORDED;
	if (!*job->unreachable.text &&
	    job_folder_put_note(job->folder, &job->note, &job->unreachable))
		return;
	cli_say("%s: %s%s%lld: its report is %s on %s", job->unreachable.text,
		job->note.rank == HWY_NONE ? "pid " : "rank ", "",
		(long long)(job->note.rank == HWY_NONE ? job->note.pid : job->note.rank),
		job->note.report, job->note.host);
}

void profile_job_unreported(struct profile *profile)
{
	struct profile_job *job = &profile->job;
	if (job->role != PROFILE_RANK && job->role != PROFILE_TREE)
		return;
	job->note.state = JOB_LOST;
	job->note.report = "";
	job->note.why = HWY_KEY("its report could not be made");
	if (!*job->unreachable.text)
		job_folder_put_note(job->folder, &job->note, &(struct hwy_err){0});
}

void profile_job_finish(struct profile *profile, const struct run *run)
{
	struct profile_job *job = &profile->job;
	bool is_led = job->given != NULL;
	if (job->role == PROFILE_ALONE || is_led || *job->unreachable.text)
		return;
	if (!job->joins)
		job_end(job->folder, run->ended ? run->status : HWY_NONE,
			job->role == PROFILE_LAUNCHER ? profile->quiet : profile->is_quiet_job);
	else if (job_end_is_reached(job->folder))
		job_end(job->folder, HWY_NONE, profile->is_quiet_job);
}
