/* SPDX-License-Identifier: Apache-2.0 */
/* view_chosen.c - which ranks of a job `headway view` opens; see view_process.h.
 *
 * Where a rank's report lies is told by its digest, else by job.json, else by the report's name.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "cli/digest_print.h"
#include "cli/opened_job.h"
#include "cli/view_process.h"
#include "digest/digest_file.h"

/* More ranks than this in one timeline are not looked at by anybody. */
enum { MOST_RANKS = 256 };

static void add_choice(struct view_choice *choice, char *file)
{
	choice->files = hwy_resize(choice->files, choice->n + 1, sizeof *choice->files);
	choice->files[choice->n++] = file;
}

void view_choice_free(struct view_choice *choice)
{
	for (uint32_t i = 0; i < choice->n; i++)
		free((char *)choice->files[i]);
	free(choice->files);
	*choice = (struct view_choice){0};
}

/* ---- ranks that were asked for --------------------------------------------------------------- */

/* The report of a rank by its name in the folder: the number behind "rank"; NULL where there is
 * none. To be freed. */
static char *find_by_name(const struct job_files *files, int64_t rank)
{
	for (uint32_t i = 0; i < files->n; i++) {
		struct hwy_trace nobody = {0};
		if (job_rank_of(&nobody, files->files[i].name) == rank)
			return hwy_copy(files->files[i].name, strlen(files->files[i].name) + 1);
	}
	return NULL;
}

static char *find_by_digest(const struct digest_view *view, int64_t rank)
{
	for (uint32_t r = 0; r < view->answer.n; r++)
		if (view->answer.ranks[r].digest->rank == rank)
			return digest_view_report(view, r);
	return NULL;
}

/* Reads the next number or range of a list, "3" or "17-19"; false at the end. Exits where it is
 * neither. */
static bool next_range(const char **list, int64_t *first, int64_t *last)
{
	const char *text = *list;
	char *end;
	if (!*text)
		return false;
	bool is_number = isdigit((unsigned char)*text);
	errno = 0;
	*first = *last = strtoll(text, &end, 10);
	if (is_number && *end == '-' && isdigit((unsigned char)end[1]))
		*last = strtoll(end + 1, &end, 10);
	if (!is_number || errno || (*end && *end != ',') || *last < *first ||
	    *last - *first >= MOST_RANKS)
		cli_die("--ranks %s: a list of ranks is wanted, as in 3,17-19; at most %d", text,
			MOST_RANKS);
	*list = *end ? end + 1 : end;
	return true;
}

static struct view_choice choose_listed(const char *operand, const char *list)
{
	struct view_choice choice = {0};
	struct digest_view view = {0};
	struct job_files files = {0};
	struct hwy_err err;
	int64_t first, last;
	bool has_digests =
		opened_job_is(operand) ? digest_set_count(operand) > 0 : digest_file_is(operand);
	if (has_digests)
		digest_view_open(&view, &(struct cli_texts){.texts = &operand, .n = 1});
	bool has_files = opened_job_is(operand) && job_files_add(&files, operand, &err);
	if (!has_digests && !has_files)
		cli_die("%s: --ranks is for the folder of a job", operand);
	while (next_range(&list, &first, &last))
		for (int64_t rank = first; rank <= last; rank++) {
			char *file = has_digests ? find_by_digest(&view, rank) : NULL;
			file = file ? file : find_by_name(&files, rank);
			if (!file)
				cli_die("%s: there is no report of rank %" PRId64, operand, rank);
			if (choice.n == MOST_RANKS)
				cli_die("--ranks: more than %d ranks", MOST_RANKS);
			add_choice(&choice, file);
		}
	if (has_digests)
		digest_view_close(&view);
	job_files_free(&files);
	return choice;
}

/* ---- ranks that digests point at ------------------------------------------------------------- */

static const char *say_why_chosen(const struct digest_answer *answer, uint32_t rank)
{
	return answer->ranks[rank].state == DIGEST_LATE      ? "late"
	       : answer->ranks[rank].state == DIGEST_SLOWING ? "slows down"
	       : rank == answer->job.typical                 ? "typical"
	       : answer->ranks[rank].late > 0                ? "longest own time of the others"
							     : "shortest own time";
}

static struct view_choice choose_by_digests(const char *operand)
{
	struct view_choice choice = {0};
	struct digest_view view;
	char text[256] = "";
	digest_view_open(&view, &(struct cli_texts){.texts = &operand, .n = 1});
	digest_view_choose(&view);
	for (uint32_t i = 0; i < view.n_opened; i++) {
		uint32_t rank = view.opened[i];
		char *file = digest_view_report(&view, rank);
		if (!file)
			continue;
		size_t used = strlen(text);
		snprintf(text + used, sizeof text - used, "%s%" PRId64 " (%s)", used ? ", " : "",
			 view.answer.ranks[rank].digest->rank, say_why_chosen(&view.answer, rank));
		add_choice(&choice, file);
	}
	if (choice.n == 0)
		cli_die("%s: the reports that its digests are of are not beside them", operand);
	cli_say("of %s ranks these are opened: %s; --ranks chooses others",
		hwy_say_count_grouped(view.answer.n).text, text);
	digest_view_close(&view);
	return choice;
}

struct view_choice view_choose(const char *operand, const char *ranks)
{
	if (ranks)
		return choose_listed(operand, ranks);
	if (digest_view_wants(&(struct cli_texts){.texts = &operand, .n = 1}, DIGEST_AS_FITS))
		return choose_by_digests(operand);
	return (struct view_choice){0};
}
