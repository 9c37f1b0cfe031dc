/* SPDX-License-Identifier: Apache-2.0 */
/* compare_open.c - opens recordings and baselines as summaries of runs; see compare_print.h. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/shell_word.h"
#include "cli/compare_print.h"
#include "cli/digest_print.h"
#include "cli/kit/cli.h"
#include "digest/digest_summary.h"
#include "whatif/chain.h"
#include "whatif/whatif.h"

enum { LARGEST_BASELINE = 16 << 20 };

/* ---- baselines ------------------------------------------------------------------------------ */

static struct compare_summary *add_run(struct compare_runs *runs)
{
	HWY_GROW(runs->runs, runs->n, runs->cap);
	HWY_GROW(runs->jobs, runs->n_jobs, runs->cap_jobs);
	runs->jobs[runs->n_jobs++] = (struct compared_job){0};
	return &runs->runs[runs->n++];
}

/* A baseline of a repository that two branches have changed is none until somebody has chosen. */
static void refuse_conflict(const char *path, const char *text, size_t n)
{
	static const char marker[] = "\n<<<<<<< ";
	if ((n > sizeof marker && memcmp(text, marker + 1, sizeof marker - 2) == 0) ||
	    memmem(text, n, marker, sizeof marker - 1))
		cli_die("%s: no baseline: it has conflict markers of git (<<<<<<<); choose one side, or make "
			"it anew: headway baseline -f -o %s RUN.hwy",
			path, hwy_shell_word(path).text);
}

/* Whether the file is a baseline. A file that cannot be read is left to cli_open, which says
 * why. */
static bool open_baseline(struct compare_runs *runs, const char *path)
{
	FILE *file = fopen(path, "rb");
	if (!file)
		return false;
	char head[256];
	size_t n = fread(head, 1, sizeof head, file);
	bool is_baseline = summary_is_baseline(head, n);
	refuse_conflict(path, head, n);
	if (is_baseline) {
		char *text = hwy_alloc(LARGEST_BASELINE);
		memcpy(text, head, n);
		n += fread(text + n, 1, LARGEST_BASELINE - n, file);
		struct hwy_err err;
		uint32_t count;
		struct compare_summary *read = summary_read(path, text, n, &count, &err);
		if (!read) {
			refuse_conflict(path, text, n);
			cli_die("%s: %s", path, err.text);
		}
		for (uint32_t i = 0; i < count; i++)
			*add_run(runs) = read[i];
		free(read);
		free(text);
	}
	fclose(file);
	return is_baseline;
}

/* ---- recordings ----------------------------------------------------------------------------- */

/* Adds the critical path, and the step's time without the recorder, where the phase can be
 * replayed. */
static void note_replay(struct compare_phase *into, struct hwy_analysis *analysis, uint32_t phase)
{
	struct hwy_err err;
	struct hwy_chain chain;
	struct whatif w;
	if (chain_find(&chain, analysis, phase, -1, &err)) {
		for (unsigned i = 0; i < PATH_CLASSES && into->n_path < COMPARE_PATH; i++) {
			into->path[into->n_path].name = path_class_names[i];
			into->path[into->n_path++].ns =
				chain.n_steps ? chain.classes[i] / chain.n_steps : 0;
		}
		chain_free(&chain);
	}
	if (whatif_open(&w, analysis, phase, false, &err)) {
		into->plain = w.base.step > 0 ? w.base.step : 0;
		whatif_close(&w);
	}
}

static void open_analysis(struct hwy_analysis *analysis, struct hwy_trace **trace, const char *path,
			  const char *step)
{
	struct hwy_err err;
	struct analysis_options wanted = {.step = step};
	*trace = cli_open(path);
	if (!analysis_make(analysis, *trace, &wanted, &err))
		cli_die("%s: %s", path, err.text);
}

/* Notes what is known of a job in its first phase, times the steps, as all counts are. */
static void note_job(struct compare_summary *run, uint32_t late, uint32_t slow_links, int64_t waits)
{
	struct compare_phase *phase = &run->phases[0];
	/* Ids of spans are those of one rank's report, which the reader does not see. */
	for (uint32_t p = 0; p < run->n; p++)
		for (unsigned kind = 0; kind < TABLES; kind++)
			for (uint32_t i = 0; i < run->phases[p].tables[kind].n; i++)
				run->phases[p].tables[kind].rows[i].span = 0;
	phase->counts[COUNT_LATE_RANKS] = (int64_t)late * phase->n_steady;
	phase->counts[COUNT_SLOW_LINKS] = (int64_t)slow_links * phase->n_steady;
	if (__builtin_mul_overflow(waits, (int64_t)phase->n_steady,
				   &phase->counts[COUNT_RANK_WAITS]))
		phase->counts[COUNT_RANK_WAITS] = 0; /* only a damaged digest says so */
}

/* Says which baseline is in a folder that somebody named instead of it. */
static void name_baseline_in(const char *folder)
{
	DIR *entries = opendir(folder);
	for (struct dirent *entry; entries && (entry = readdir(entries));) {
		char path[PATH_MAX], head[256];
		int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		FILE *file = length < (int)sizeof path && strstr(entry->d_name, ".json")
				     ? fopen(path, "rb")
				     : NULL;
		size_t n = file ? fread(head, 1, sizeof head, file) : 0;
		if (file)
			fclose(file);
		if (summary_is_baseline(head, n))
			cli_die("%s: a folder without recordings; the baseline in it is %s", folder,
				hwy_shell_word(path).text);
	}
	if (entries)
		closedir(entries);
}

/* A folder with the recordings of several ranks is one run: that of a typical rank, with what
 * all ranks together show. */
static bool open_job(struct compare_runs *runs, const char *path, const char *step)
{
	struct hwy_err err;
	struct stat about;
	if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode))
		return false;
	struct analyze_view *view = hwy_zalloc(sizeof *view);
	if (!job_view_of_folder(view, path, step, &err)) {
		name_baseline_in(path);
		cli_die("%s", err.text);
	}
	if (view->job->answer.typical >= view->job->answer.n)
		cli_die("%s: no rank has device work", path);
	struct compare_summary *run = add_run(runs);
	struct analyze_run *typical = &view->runs[view->shown];
	runs->jobs[runs->n_jobs - 1] =
		(struct compared_job){.answer = &view->job->answer, .reports = view};
	if (!summary_make(run, path, &typical->analysis, &typical->diagnosis, &err))
		cli_die("%s: %s", path, err.text);
	for (uint32_t i = 0; i < run->n; i++)
		note_replay(&run->phases[i], &typical->analysis, run->indexes[i]);
	const struct job_ranks *ranks = &view->job->answer.ranks;
	note_job(run, ranks->lateness == RANKS_REPEAT ? ranks->n_late_ranks : 0,
		 view->job->answer.routes.n_slow, ranks->waiting);
	return true;
}

/* A job of many ranks, or a file of digests: the typical rank's summary, with the pace of all
 * ranks. */
static bool open_digests(struct compare_runs *runs, const char *path, const char *step)
{
	struct cli_texts operand = {.texts = &path, .n = 1};
	if (!digest_view_wants(&operand, step ? DIGEST_WHOLE : DIGEST_AS_FITS))
		return false;
	if (step)
		cli_die("%s: digests were made without --step, which needs reports", path);
	struct digest_view *view = hwy_zalloc(sizeof *view);
	digest_view_open(view, &operand);
	const struct digest_answer *answer = &view->answer;
	struct compare_summary *run = add_run(runs);
	if (!digest_summary_of(run, answer, path))
		cli_die("%s: no rank has device work", path);
	runs->jobs[runs->n_jobs - 1] =
		(struct compared_job){.answer = &answer->job, .digests = view};
	note_job(run, answer->job.ranks.n_late_ranks + answer->n_slowing, answer->n_slow,
		 answer->wait);
	return true;
}

bool compare_add_analysis(struct compare_runs *runs, const char *path,
			  struct hwy_analysis *analysis, const struct hwy_diagnosis *diagnosis,
			  struct hwy_err *err)
{
	struct compare_summary run;
	if (!summary_make(&run, path, analysis, diagnosis, err))
		return false;
	for (uint32_t i = 0; i < run.n; i++)
		note_replay(&run.phases[i], analysis, run.indexes[i]);
	*add_run(runs) = run;
	return true;
}

void compare_open(struct compare_runs *runs, const char *path, const char *step)
{
	if (open_baseline(runs, path) || open_digests(runs, path, step) ||
	    open_job(runs, path, step))
		return;
	struct hwy_analysis analysis;
	struct hwy_diagnosis diagnosis;
	struct hwy_trace *trace;
	struct hwy_err err;
	open_analysis(&analysis, &trace, path, step);
	if (!diagnose(&analysis, &diagnosis, &err) ||
	    !compare_add_analysis(runs, path, &analysis, &diagnosis, &err))
		cli_die("%s: %s", path, err.text);
	diagnosis_free(&diagnosis);
	analysis_free(&analysis);
	hwy_trace_free(trace);
}

void compare_open_halves(struct compare_runs *first, struct compare_runs *second, const char *path,
			 const char *step)
{
	struct hwy_analysis analysis;
	struct hwy_trace *trace;
	struct hwy_err err;
	open_analysis(&analysis, &trace, path, step);
	uint32_t main = analysis.phases.main;
	uint32_t half = main < analysis.phases.n ? analysis.phases.phases[main].n_steady / 2 : 2;
	if (half < 2)
		cli_die("%s: fewer than four steady steps, so it has no halves", path);
	if (!summary_make_part(add_run(first), path, &analysis, 0, half, &err) ||
	    !summary_make_part(add_run(second), path, &analysis, half, half, &err))
		cli_die("%s: %s", path, err.text);
	analysis_free(&analysis);
	hwy_trace_free(trace);
}

void compare_close(struct compare_runs *runs)
{
	for (uint32_t i = 0; i < runs->n; i++)
		summary_free(&runs->runs[i]);
	for (uint32_t i = 0; i < runs->n_jobs; i++) {
		if (runs->jobs[i].reports)
			job_view_free(runs->jobs[i].reports);
		if (runs->jobs[i].digests)
			digest_view_close(runs->jobs[i].digests);
		free(runs->jobs[i].reports);
		free(runs->jobs[i].digests);
	}
	free(runs->jobs);
	free(runs->runs);
	*runs = (struct compare_runs){0};
}

struct compare_side compare_side(const struct compare_runs *runs)
{
	struct compare_side side = {.n = runs->n};
	side.runs = hwy_array(runs->n, sizeof *side.runs);
	for (uint32_t i = 0; i < runs->n; i++)
		side.runs[i] = &runs->runs[i];
	return side;
}

void compare_side_free(struct compare_side *side)
{
	free(side->runs);
}
