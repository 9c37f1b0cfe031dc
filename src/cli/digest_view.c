/* SPDX-License-Identifier: Apache-2.0 */
/* digest_view.c - reads a job's digests for the formats of `headway analyze`; see
 * digest_print.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/lang.h"
#include "base/say.h"
#include "base/shell_word.h"
#include "cli/digest_print.h"
#include "cli/opened_job.h"
#include "digest/digest_file.h"
#include "job/folder.h"

/* Reports that are opened for one answer have at most so many bytes together: reading must stay
 * a matter of seconds. */
#define MOST_REPORT_BYTES (UINT64_C(1) << 29)

bool digest_view_wants(const struct cli_texts *operands, enum digest_wish wish)
{
	struct job_files files = {0};
	struct hwy_err err;
	for (uint32_t i = 0; i < operands->n; i++)
		if (!opened_job_is(operands->texts[i]) && digest_file_is(operands->texts[i]))
			return true;
	if (operands->n != 1 || !opened_job_is(operands->texts[0]) || wish == DIGEST_WHOLE)
		return wish == DIGEST_ONLY;
	uint32_t digests = digest_set_count(operands->texts[0]);
	bool has_reports = job_files_add(&files, operands->texts[0], &err);
	uint32_t reports = has_reports ? files.n : 0;
	job_files_free(&files);
	if (wish == DIGEST_ONLY || (reports == 0 && digests > 0))
		return true;
	if (reports > DIGEST_WHOLE_RANKS && digests == 0)
		cli_say("%s: all %u reports are read; 'headway digest %s' once makes this a matter of a second",
			operands->texts[0], reports, hwy_shell_word(operands->texts[0]).text);
	return reports > DIGEST_WHOLE_RANKS && digests > 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* What the folder knows about ranks that did not end as they should. Ranks with the same fate
 * are named together. */
static void note_ends(struct digest_view *view)
{
	struct job_folder folder;
	struct hwy_err err;
	if (!job_folder_is(view->name) || !job_folder_read(view->name, &folder, &err))
		return;
	for (unsigned state = 0; state < JOB_STATES; state++) {
		int64_t *ranks = hwy_array(folder.n_ranks, sizeof *ranks);
		uint32_t n = 0;
		const char *why = "";
		for (uint32_t i = 0; i < folder.n_ranks; i++) {
			const struct job_note *note = &folder.ranks[i];
			if (note->state != state || note->rank == HWY_NONE ||
			    (state == JOB_RECORDED && !*note->why))
				continue;
			why = *note->why ? hwy_tr(note->why) : why;
			ranks[n++] = note->rank;
		}
		char *list = job_rank_list(ranks, n);
		if (n > 0)
			digest_answer_problem(&view->answer, "rank%s %s: %s%s%s", n == 1 ? "" : "s",
					      list, hwy_tr(job_state_names[state]),
					      hwy_tr(*why ? ": " : ""), why);
		free(list);
		free(ranks);
	}
	job_folder_free(&folder);
}

/* A job's folder may still have digests of a job that was recorded into it before. Takes them
 * out, unless none would be left. */
static void leave_other_jobs(struct digest_view *view)
{
	struct job_folder folder;
	struct hwy_err err;
	uint32_t kept = 0, own = 0;
	if (!job_folder_is(view->name) || !job_folder_read(view->name, &folder, &err))
		return;
	for (uint32_t i = 0; i < view->set.n; i++)
		own += strcmp(view->set.ranks[i].digest.job, folder.id) == 0;
	for (uint32_t i = 0; i < view->set.n && own > 0; i++) {
		struct digest_of_rank *rank = &view->set.ranks[i];
		if (strcmp(rank->digest.job, folder.id) == 0) {
			view->set.ranks[kept++] = *rank;
			continue;
		}
		free(rank->record.bytes);
		digest_free(&rank->digest);
	}
	view->set.n = own > 0 ? kept : view->set.n;
	job_folder_free(&folder);
}

void digest_view_open(struct digest_view *view, const struct cli_texts *operands)
{
	struct hwy_err err;
	*view = (struct digest_view){.name = operands->texts[0], .not_opened = ""};
	for (uint32_t i = 0; i < operands->n; i++)
		if (!digest_set_add(&view->set, operands->texts[i], &err))
			cli_die("%s", err.text);
	digest_set_settle(&view->set);
	if (view->set.n == 0)
		cli_die("%s",
			view->set.n_problems ? view->set.problems[0] : hwy_tr("no digest is here"));
	leave_other_jobs(view);
	const char *first = view->set.ranks[0].digest.job,
		   *last = view->set.ranks[view->set.n - 1].digest.job;
	if (strcmp(first, last) != 0)
		cli_die("%s: digests of several jobs: '%s' and '%s'; give those of one job",
			view->name, first, last);
	digest_answer_make(&view->answer, &view->set);
	if (view->answer.n == 0)
		cli_die("%s: every digest is older than its report: headway digest %s", view->name,
			hwy_shell_word(view->name).text);
	note_ends(view);
	view->shell.answer = view->answer.job;
}

void digest_view_close(struct digest_view *view)
{
	job_view_free(&view->reports);
	digest_answer_free(&view->answer);
	digest_set_free(&view->set);
}

/* ---- the reports that an answer needs -------------------------------------------------------- */

char *digest_view_report(const struct digest_view *view, uint32_t rank)
{
	const char *report = view->answer.ranks[rank].digest->report;
	struct stat about;
	char *path;
	if (!*report || strchr(report, '/'))
		return NULL;
	/* Beside the digests: in the folder that was given, or in that of the file that was. */
	const char *slash = strrchr(view->name, '/');
	int length = opened_job_is(view->name) ? (int)strlen(view->name)
		     : slash                   ? (int)(slash - view->name)
					       : 0;
	if (asprintf(&path, "%.*s%s%s", length ? length : 1, length ? view->name : ".", "/",
		     report) < 0)
		cli_die("out of memory");
	if (stat(path, &about) == 0 && S_ISREG(about.st_mode))
		return path;
	free(path);
	return NULL;
}

static void want_rank(struct digest_view *view, uint32_t rank)
{
	enum { MOST = sizeof view->opened / sizeof *view->opened };
	if (rank >= view->answer.n || view->n_opened == MOST)
		return;
	for (uint32_t i = 0; i < view->n_opened; i++)
		if (view->opened[i] == rank)
			return;
	view->opened[view->n_opened++] = rank;
}

void digest_view_choose(struct digest_view *view)
{
	const struct digest_answer *answer = &view->answer;
	uint32_t longest = answer->n, shortest = answer->n;
	for (uint32_t r = 0; r < answer->n; r++) {
		if (answer->ranks[r].state == DIGEST_NOT_JUDGED)
			continue;
		if (longest == answer->n || answer->ranks[r].late > answer->ranks[longest].late)
			longest = r;
		if (shortest == answer->n || answer->ranks[r].late < answer->ranks[shortest].late)
			shortest = r;
	}
	if (answer->job.ranks.n_late_ranks > 0)
		want_rank(view, answer->job.ranks.cause.member);
	else if (answer->n_slowing > 0)
		want_rank(view, answer->slowing[0]);
	want_rank(view, answer->job.typical);
	want_rank(view, longest);
	want_rank(view, shortest);
}

void digest_view_open_reports(struct digest_view *view, const char *step)
{
	char *paths[sizeof view->opened / sizeof *view->opened] = {NULL};
	uint64_t bytes = 0;
	uint32_t n = 0;
	struct hwy_err err;
	digest_view_choose(view);
	for (uint32_t i = 0; i < view->n_opened; i++) {
		uint64_t size = view->answer.ranks[view->opened[i]].digest->report_bytes;
		char *path = digest_view_report(view, view->opened[i]);
		if (path && bytes + size <= MOST_REPORT_BYTES) {
			bytes += size;
			view->opened[n] = view->opened[i];
			paths[n++] = path;
			continue;
		}
		view->not_opened = path ? "Some reports were too large to open for this answer."
					: view->not_opened;
		free(path);
	}
	/* One rank alone is compared with nobody. */
	bool done = n >= 2 && job_view_of_files(&view->reports, view->name,
						(const char *const *)paths, n, step, &err);
	view->n_opened = done ? n : 0;
	for (uint32_t i = 0; i < n; i++)
		free(paths[i]);
}
