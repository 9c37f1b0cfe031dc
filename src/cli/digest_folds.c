/* SPDX-License-Identifier: Apache-2.0 */
/* digest_folds.c - ranks that are alike as one row of a table, and the map of how late ranks
 * are; see digest_print.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/quantile.h"
#include "base/say.h"
#include "cli/digest_print.h"
#include "cli/kit/table.h"

/* Ranks to blame whose lateness differs by less than this share of it are alike. */
#define ALIKE_SHARE 0.25

void digest_put_title(FILE *out, const struct digest_view *view)
{
	const struct digest_answer *answer = &view->answer;
	fprintf(out, hwy_tr("%s ranks"), hwy_say_count_grouped(answer->n).text);
	if (answer->n_hosts > 0)
		fprintf(out, hwy_tr(" on %s host%s"), hwy_say_count_grouped(answer->n_hosts).text,
			answer->n_hosts == 1 ? "" : "s");
	if (*answer->gpu) {
		fputs(" · ", out);
		analyze_put(out, answer->gpu);
	}
	fprintf(out, hwy_tr(" · %s steps · from digests"),
		hwy_say_count_grouped(answer->job.ranks.n_steps).text);
}

/* ---- folding --------------------------------------------------------------------------------- */

static bool are_alike(const struct digest_view *view, uint32_t a, uint32_t b)
{
	const struct digest_judged *x = &view->answer.ranks[a], *y = &view->answer.ranks[b];
	if (x->state != y->state)
		return false;
	if (x->state == DIGEST_IN_TIME || x->state == DIGEST_NOT_JUDGED)
		return x->role == y->role;
	int64_t apart = x->late > y->late ? x->late - y->late : y->late - x->late;
	int64_t most = x->late > y->late ? x->late : y->late;
	return strcmp(x->digest->host, y->digest->host) == 0 &&
	       (double)apart <= ALIKE_SHARE * (double)most;
}

static int64_t fold_lateness(const struct digest_view *view, const struct digest_fold *fold)
{
	return view->answer.ranks[fold->shown].late;
}

/* The rank in the middle of the fold, by its own time. */
static uint32_t middle_of(const struct digest_view *view, const struct digest_fold *fold)
{
	const struct digest_judged *ranks = view->answer.ranks;
	uint32_t role = ranks[fold->ranks[0]].role;
	if (fold->state == DIGEST_IN_TIME && role < view->answer.n_roles &&
	    view->answer.roles[role].typical < view->answer.n)
		return view->answer.roles[role].typical;
	uint32_t best = fold->ranks[0];
	for (uint32_t i = 1; i < fold->n; i++)
		best = ranks[fold->ranks[i]].late > ranks[best].late ? fold->ranks[i] : best;
	return best;
}

/* Ranks in time first, the largest fold first; then those to blame, the latest first; those not
 * judged last. */
static int order_of(const struct digest_view *view, const struct digest_fold *a,
		    const struct digest_fold *b)
{
	static const int places[] = {[DIGEST_IN_TIME] = 0,
				     [DIGEST_LATE] = 1,
				     [DIGEST_SLOWING] = 2,
				     [DIGEST_NOT_JUDGED] = 3};
	if (a->state != b->state)
		return places[a->state] - places[b->state];
	if (a->state == DIGEST_IN_TIME)
		return a->n != b->n ? (a->n < b->n) - (a->n > b->n) : 0;
	int64_t x = fold_lateness(view, a), y = fold_lateness(view, b);
	return (x < y) - (x > y);
}

struct digest_fold *digest_folds(const struct digest_view *view, uint32_t *n)
{
	const struct digest_answer *answer = &view->answer;
	struct digest_fold *folds = NULL;
	uint32_t cap = 0;
	*n = 0;
	for (uint32_t r = 0; r < answer->n; r++) {
		uint32_t at = 0;
		while (at < *n && !are_alike(view, folds[at].ranks[0], r))
			at++;
		if (at == *n) {
			HWY_GROW(folds, *n, cap);
			folds[(*n)++] = (struct digest_fold){
				.ranks = hwy_array(answer->n, sizeof *folds->ranks),
				.host = answer->ranks[r].digest->host,
				.state = answer->ranks[r].state};
		}
		if (strcmp(folds[at].host, answer->ranks[r].digest->host) != 0)
			folds[at].host = "";
		folds[at].ranks[folds[at].n++] = r;
	}
	for (uint32_t i = 0; i < *n; i++) {
		folds[i].ranks = hwy_resize(folds[i].ranks, folds[i].n, sizeof *folds->ranks);
		folds[i].shown = middle_of(view, &folds[i]);
	}
	for (uint32_t i = 1; i < *n;
	     i++) { /* few: sorted by insertion, which keeps the order of ranks */
		struct digest_fold one = folds[i];
		uint32_t at = i;
		for (; at > 0 && order_of(view, &folds[at - 1], &one) > 0; at--)
			folds[at] = folds[at - 1];
		folds[at] = one;
	}
	return folds;
}

void digest_folds_free(struct digest_fold *folds, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		free(folds[i].ranks);
	free(folds);
}

/* ---- the table ------------------------------------------------------------------------------- */

static int64_t idle_of(const struct rank_row *row, const char **why)
{
	int64_t idle = 0, most = 0;
	for (unsigned c = 0; c < GAP_CAUSES; c++) {
		idle += row->parts[RANK_IDLE + c];
		if (row->parts[RANK_IDLE + c] <= most)
			continue;
		most = row->parts[RANK_IDLE + c];
		*why = hwy_tr(gap_cause_names[c]);
	}
	return idle;
}

static void add_who(struct table *table, const struct digest_view *view,
		    const struct digest_fold *fold)
{
	struct hwy_arena arena = {0};
	const struct digest_answer *answer = &view->answer;
	const char *list = answer_say_ranks(&arena, &answer->job.ranks, fold->ranks, fold->n);
	if (fold->n > 3 && fold->state == DIGEST_IN_TIME)
		table_cell(table, hwy_tr("%s like %" PRId64), hwy_say_count_grouped(fold->n).text,
			   answer->ranks[fold->shown].digest->rank);
	else
		table_cut_text(table, list, 30);
	table_cut_text(table, fold->host, 16);
	hwy_arena_free(&arena);
}

/* The own times that nine tenths of a fold's ranks have, "7.21 – 7.35"; nothing for a few ranks,
 * and on a narrow screen. */
static void add_range(struct table *table, const struct digest_view *view,
		      const struct digest_fold *fold)
{
	enum { FEW = 16, WIDE = 120 };
	int64_t *own = hwy_array(fold->n, sizeof *own);
	for (uint32_t i = 0; i < fold->n; i++)
		own[i] = view->answer.ranks[fold->ranks[i]].own;
	hwy_sort(own, fold->n);
	double unit = strcmp(job_unit(&view->shell), "s") == 0    ? 1e9
		      : strcmp(job_unit(&view->shell), "ms") == 0 ? 1e6
								  : 1e3;
	double low = (double)hwy_rank_below(own, fold->n, 5) / unit,
	       high = (double)hwy_rank_below(own, fold->n, 95) / unit;
	int decimals = high < 9.995 ? 2 : high < 99.95 ? 1 : 0;
	if (fold->n >= FEW && fold->state == DIGEST_IN_TIME &&
	    (table->format != TABLE_TEXT || table->width >= WIDE))
		table_cell(table, "%.*f – %.*f", decimals, low, decimals, high);
	else
		table_cell(table, "%s", "");
	free(own);
}

/* Screens on which the cause of idle time would make rows too long. */
static bool is_narrow(const struct table *table)
{
	enum { NARROW = 92 };
	return table->format == TABLE_TEXT && table->width < NARROW;
}

static void add_fold(struct table *table, const struct digest_view *view,
		     const struct digest_fold *fold)
{
	static const char *const words[] = {[DIGEST_IN_TIME] = "",
					    [DIGEST_LATE] = HWY_KEY("fold|late"),
					    [DIGEST_SLOWING] = HWY_KEY("fold|slows"),
					    [DIGEST_NOT_JUDGED] = HWY_KEY("fold|not judged")};
	const struct rank_row *row = &view->answer.job.ranks.rows[fold->shown];
	const struct digest_judged *rank = &view->answer.ranks[fold->shown];
	const char *why = "";
	int64_t idle = idle_of(row, &why);
	bool has_devices = view->answer.has_devices;
	add_who(table, view, fold);
	job_add_time(table, &view->shell, row->step);
	job_add_time(table, &view->shell, rank->own);
	add_range(table, view, fold);
	if (has_devices)
		job_add_time(table, &view->shell, row->parts[RANK_COMPUTE]);
	else
		table_cell(table, "%s", "");
	job_add_time(table, &view->shell, row->parts[RANK_TRANSFER]);
	job_add_time(table, &view->shell, row->parts[RANK_WAIT]);
	if (has_devices)
		job_add_time(table, &view->shell, idle);
	else
		table_cell(table, "%s", "");
	table_cell(table, "%s", has_devices && !is_narrow(table) ? why : "");
	job_add_time(table, &view->shell, row->blamed);
	table_cell(table, "%s", hwy_tr_word(words[fold->state]));
}

uint32_t digest_fill_table(struct table *table, const struct digest_view *view, uint32_t most)
{
	static const char *const heads[] = {
		HWY_KEY("head|ranks"),    HWY_KEY("head|host"),    HWY_KEY("head|step"),
		HWY_KEY("head|own"),      HWY_KEY("head|of 90 %"), HWY_KEY("head|compute"),
		HWY_KEY("head|transfer"), HWY_KEY("head|waits"),   HWY_KEY("head|idle"),
		HWY_KEY("head|why"),      HWY_KEY("head|costs"),   ""};
	uint32_t n, left_out = 0;
	struct digest_fold *folds = digest_folds(view, &n);
	table->columns = sizeof heads / sizeof *heads;
	table->align = "llrrrrrrrlrl";
	table->heads = 1;
	for (uint32_t i = 0; i < table->columns; i++)
		table_cell(table, "%s", hwy_tr_word(heads[i]));
	for (uint32_t i = 0; i < n; i++) {
		if (i < most)
			add_fold(table, view, &folds[i]);
		else
			left_out += folds[i].n;
	}
	digest_folds_free(folds, n);
	return left_out;
}

/* ---- the map --------------------------------------------------------------------------------- */

/* How late the ranks of a row are in a column: the mean of the column's buckets, of the rank for
 * which that is longest. */
static uint8_t degree_of_cell(const struct digest_view *view, const struct digest_map_row *row,
			      uint32_t from, uint32_t to)
{
	const struct digest_matrix *m = &view->answer.matrix;
	int64_t latest = 0;
	for (uint32_t r = row->first; r <= row->last; r++) {
		int64_t sum = 0;
		uint32_t n = 0;
		for (uint32_t b = from; b < to && b < m->n_buckets; b++) {
			int64_t late = m->late[(size_t)r * m->n_buckets + b];
			sum += late == HWY_NONE ? 0 : late;
			n += late != HWY_NONE;
		}
		if (n > 0 && view->answer.ranks[r].state != DIGEST_NOT_JUDGED && sum / n > latest)
			latest = sum / n;
	}
	double share =
		view->answer.job.step > 0 ? (double)latest / (double)view->answer.job.step : 0;
	uint8_t degree = 0;
	while (degree + 1 < JOB_DEGREES && share >= job_degrees[degree + 1])
		degree++;
	return degree;
}

/* Ranks in a row: neighbours, whole hosts where all hosts have as many ranks. */
static uint32_t row_height(const struct digest_view *view, uint32_t rows)
{
	const struct digest_answer *answer = &view->answer;
	uint32_t height = (answer->n + rows - 1) / rows;
	uint32_t per_host = answer->n_hosts > 0 && answer->n % answer->n_hosts == 0
				    ? answer->n / answer->n_hosts
				    : 1;
	return height > per_host ? (height + per_host - 1) / per_host * per_host : height;
}

static void name_rows(struct digest_map *map, const struct digest_view *view, uint32_t rows)
{
	const struct digest_answer *answer = &view->answer;
	uint32_t height = row_height(view, rows), n = answer->job.ranks.n_late_ranks;
	map->names = hwy_array((size_t)answer->n + n + answer->n_slowing, sizeof *map->names);
	for (uint32_t first = 0; first < answer->n; first += height) {
		uint32_t last = first + height <= answer->n ? first + height - 1 : answer->n - 1;
		map->names[map->rows++] =
			(struct digest_map_row){first, last, first == last, false};
	}
	if (height == 1)
		return;
	for (uint32_t i = 0; i < n && i < rows; i++) {
		uint32_t r = answer->job.ranks.late_ranks[i];
		map->names[map->rows++] = (struct digest_map_row){r, r, true, true};
	}
	for (uint32_t i = 0; i < answer->n_slowing && i < rows; i++) {
		uint32_t r = answer->slowing[i];
		if (answer->ranks[r].state == DIGEST_SLOWING)
			map->names[map->rows++] = (struct digest_map_row){r, r, true, true};
	}
}

bool digest_map_make(struct digest_map *map, const struct digest_view *view, uint32_t rows,
		     uint32_t columns)
{
	const struct digest_matrix *m = &view->answer.matrix;
	*map = (struct digest_map){0};
	if (m->n_buckets < 2 || view->answer.n_judged < 2 || columns == 0 || rows == 0)
		return false;
	map->group = (m->n_buckets + columns - 1) / columns;
	map->columns = (m->n_buckets + map->group - 1) / map->group;
	name_rows(map, view, rows);
	map->cells = hwy_array((size_t)map->rows * map->columns, sizeof *map->cells);
	for (uint32_t i = 0; i < map->rows; i++)
		for (uint32_t c = 0; c < map->columns; c++)
			map->cells[(size_t)i * map->columns + c] = degree_of_cell(
				view, &map->names[i], c * map->group, (c + 1) * map->group);
	return true;
}

void digest_map_free(struct digest_map *map)
{
	free(map->names);
	free(map->cells);
	*map = (struct digest_map){0};
}
