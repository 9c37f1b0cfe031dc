/* SPDX-License-Identifier: Apache-2.0 */
/* event_groups.c - sums over groups of spans: count, total, extremes, percentiles and deviation
 * of their durations.
 *
 * All durations are sorted together; one walk over them then meets the durations of every group
 * in order, so that percentiles are exact without a list for each group. The median is that of
 * `headway stats` (the mean of the two in the middle), p90 and p99 are the smallest duration
 * that is at least as long as 90 and 99 percent of them; the deviation is that of a sample. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "serve/answers.h"
#include "serve/event_table.h"
#include "serve/lane_titles.h"

enum { ROWS_BETWEEN_PAUSES = 1 << 18 };

static uint64_t nearest_rank(uint64_t count, uint32_t percent)
{
	uint64_t rank = (count * percent + 99) / 100;
	return rank ? rank : 1;
}

/* Walks over the sorted durations, and sets percentiles and deviations. */
static bool event_groups_walk(const struct view_trace *view, struct event_result *result,
			      const uint64_t *durations, const uint32_t *groups, uint32_t n,
			      struct hwy_err *err)
{
	uint64_t *met = hwy_zarray(result->n_groups, sizeof *met);
	double *squares = hwy_zarray(result->n_groups, sizeof *squares);
	bool ok = true;
	for (uint32_t i = 0; ok && i < n; i++) {
		struct event_grouped *group = &result->groups[groups[i]];
		uint64_t count = group->sums.count, rank = ++met[groups[i]];
		int64_t duration = (int64_t)durations[i];
		double mean = (double)group->sums.total / (double)count;
		squares[groups[i]] += ((double)duration - mean) * ((double)duration - mean);
		/* The one or two in the middle: of 5 number 3, of 4 numbers 2 and 3. */
		if (rank == (count + 1) / 2)
			group->p50 += (double)duration / 2;
		if (rank == count / 2 + 1)
			group->p50 += (double)duration / 2;
		if (rank == nearest_rank(count, 90))
			group->p90 = duration;
		if (rank == nearest_rank(count, 99))
			group->p99 = duration;
		ok = i % ROWS_BETWEEN_PAUSES != 0 || view_pause(view, err);
	}
	for (uint32_t g = 0; g < result->n_groups; g++) {
		uint64_t count = result->groups[g].sums.count;
		result->groups[g].deviation =
			count > 1 ? sqrt(squares[g] / (double)(count - 1)) : 0;
	}
	free(met);
	free(squares);
	return ok;
}

bool event_groups_make(const struct view_trace *view, uint64_t *durations, uint32_t *keys,
		       uint32_t n, struct event_result *result, struct hwy_err *err)
{
	uint32_t most = 0, cap = 0;
	for (uint32_t i = 0; i < n; i++)
		most = keys[i] > most ? keys[i] : most;
	uint32_t *number_of =
		hwy_zarray((size_t)most + 1,
			   sizeof *number_of); /* by key: a reference (base/ref.h) to its group */
	for (uint32_t i = 0; i < n; i++) {
		if (!hwy_ref32_is_set(number_of[keys[i]])) {
			HWY_GROW(result->groups, result->n_groups, cap);
			result->groups[result->n_groups] = (struct event_grouped){.key = keys[i]};
			number_of[keys[i]] = hwy_ref32(result->n_groups++);
		}
		keys[i] = hwy_ref32_index(number_of[keys[i]]);
		event_sums_add(&result->groups[keys[i]].sums, (int64_t)durations[i]);
	}
	free(number_of);
	return event_sort(view, durations, keys, n, err) &&
	       event_groups_walk(view, result, durations, keys, n, err);
}

/* ---- the name of a group, and the term of a query that asks for its spans -------------------- */

struct naming {
	struct view_trace *view;
	const struct event_request *request;
	const struct span_facts *facts;
};

static void put_formatted(struct hwy_bytes *out, const char *format, long long number)
{
	char text[64];
	int n = snprintf(text, sizeof text, format, number);
	hwy_bytes_put(out, text, (size_t)n);
}

static void write_step_label(const struct naming *naming, uint32_t step, struct hwy_bytes *out)
{
	const struct step_times *steps = &naming->request->steps;
	const struct timed_step *at = &steps->v[step];
	bool has_phases = false;
	for (uint32_t i = 0; !has_phases && i < steps->n; i++)
		has_phases = steps->v[i].phase > 0;
	put_formatted(out, "step %lld", at->number);
	if (has_phases)
		put_formatted(out, " of phase %lld", at->phase);
}

/* Adds the name of a group. Adds nothing for the group of spans that have no thread, GPU, rank,
 * step or line. */
static void write_label(const struct naming *naming, uint32_t key, struct hwy_bytes *out)
{
	const struct hwy_trace *trace = naming->view->trace;
	struct hwy_text name;
	switch (naming->request->group) {
	case EVENT_BY_NAME:
		name = span_names_text(trace, key);
		hwy_bytes_put(out, name.at, name.length);
		return;
	case EVENT_BY_KIND:
		hwy_bytes_put(out, hwy_kind_names[key], strlen(hwy_kind_names[key]));
		return;
	case EVENT_BY_LANE: lane_titles_write_lane(naming->view, key, out); return;
	case EVENT_BY_LINE: span_facts_line_text(naming->facts, key, out); return;
	default: break;
	}
	if (key == 0)
		return;
	if (naming->request->group == EVENT_BY_THREAD)
		lane_titles_write_thread(naming->view, key - 1, out);
	else if (naming->request->group == EVENT_BY_GPU)
		put_formatted(out, "GPU %lld", trace->devices[key - 1].ordinal);
	else if (naming->request->group == EVENT_BY_RANK)
		put_formatted(out, "rank %lld", naming->view->ranks[key - 1]);
	else
		write_step_label(naming, key - 1, out);
}

static void put_quoted(struct hwy_bytes *out, const char *field, const char *text, size_t length)
{
	hwy_bytes_put(out, field, strlen(field));
	hwy_bytes_put_byte(out, '"');
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '"' || text[i] == '\\')
			hwy_bytes_put_byte(out, '\\');
		hwy_bytes_put_byte(out, (uint8_t)text[i]);
	}
	hwy_bytes_put_byte(out, '"');
}

/* Adds a term of the language of queries: together with the query of the table it asks for
 * exactly the spans of the group. */
static void write_term(const struct naming *naming, uint32_t key, struct hwy_bytes *out)
{
	static const char *const none[EVENT_GROUPS] = {
		[EVENT_BY_THREAD] = "-thread~.", [EVENT_BY_GPU] = "-gpu:0..",
		[EVENT_BY_RANK] = "-rank:0..",   [EVENT_BY_STEP] = "-step:0..",
		[EVENT_BY_LINE] = "-line~.",
	};
	const struct hwy_trace *trace = naming->view->trace;
	enum event_group group = naming->request->group;
	const struct span_line *line;
	struct hwy_text name;
	char number[16];
	if (none[group] && key == 0) {
		hwy_bytes_put(out, none[group], strlen(none[group]));
		return;
	}
	switch (group) {
	case EVENT_BY_NAME:
		name = span_names_text(trace, key);
		put_quoted(out, "name=", name.at, name.length);
		break;
	case EVENT_BY_KIND:
		hwy_bytes_put(out, "kind:", 5);
		hwy_bytes_put(out, hwy_kind_names[key], strlen(hwy_kind_names[key]));
		break;
	case EVENT_BY_LANE: put_formatted(out, "lane:#%lld", key); break;
	case EVENT_BY_GPU: put_formatted(out, "gpu:%lld", trace->devices[key - 1].ordinal); break;
	case EVENT_BY_RANK: put_formatted(out, "rank:%lld", naming->view->ranks[key - 1]); break;
	case EVENT_BY_STEP:
		put_formatted(out, "phase:%lld ", naming->request->steps.v[key - 1].phase);
		put_formatted(out, "step:%lld", naming->request->steps.v[key - 1].number);
		break;
	case EVENT_BY_LINE:
		line = &naming->facts->lines[key];
		name = naming->facts->texts.texts[line->file];
		put_quoted(out, "line=", name.at, name.length);
		/* removes the quotation mark: the number of the line stands inside of the marks */
		out->n--;
		snprintf(number, sizeof number, ":%" PRIu32 "\"", line->line);
		hwy_bytes_put(out, number, strlen(number));
		break;
	default: put_formatted(out, "thread:#%lld", (long long)key - 1);
	}
}

/* ---- the answer ------------------------------------------------------------------------------ */

struct sorting {
	const struct event_result *result;
	enum event_column by;
	bool falls;
	/* by group: its name; NULL where the groups are not sorted by name */
	struct hwy_text *labels;
};

static double grouped_value(const struct event_grouped *group, enum event_column by)
{
	switch (by) {
	case EVENT_COUNT: return (double)group->sums.count;
	case EVENT_MEAN: return (double)group->sums.total / (double)group->sums.count;
	case EVENT_LEAST: return (double)group->sums.least;
	case EVENT_MOST: return (double)group->sums.most;
	case EVENT_P50: return group->p50;
	case EVENT_P90: return (double)group->p90;
	case EVENT_P99: return (double)group->p99;
	case EVENT_DEVIATION: return group->deviation;
	default: return (double)group->sums.total;
	}
}

static int by_column(const void *a, const void *b, void *context)
{
	const struct sorting *sorting = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct event_grouped *groups = sorting->result->groups;
	int order = 0;
	if (sorting->labels) {
		order = event_compare_texts(sorting->labels[x], sorting->labels[y]);
	} else if (sorting->by == EVENT_START) { /* the order of the keys: of lanes, steps … */
		order = (groups[x].key > groups[y].key) - (groups[x].key < groups[y].key);
	} else {
		double left = grouped_value(&groups[x], sorting->by),
		       right = grouped_value(&groups[y], sorting->by);
		order = (left > right) - (left < right);
	}
	order = sorting->falls ? -order : order;
	return order ? order : (groups[x].key > groups[y].key) - (groups[x].key < groups[y].key);
}

static void put_group(const struct naming *naming, struct hwy_json *json,
		      const struct event_grouped *group)
{
	struct hwy_bytes label = {0}, term = {0};
	write_label(naming, group->key, &label);
	write_term(naming, group->key, &term);
	json_begin_array(json);
	span_names_put(json, (struct hwy_text){(const char *)label.bytes, (uint32_t)label.n});
	if (term.n < VIEW_NAME)
		json_text(json, (const char *)term.bytes, term.n);
	else
		json_null(json);
	json_int(json, (int64_t)group->sums.count);
	json_int(json, group->sums.total);
	json_int(json, group->sums.least);
	json_int(json, group->sums.most);
	json_real(json, (double)group->sums.total / (double)group->sums.count, 1);
	json_real(json, group->p50, 1);
	json_int(json, group->p90);
	json_int(json, group->p99);
	json_real(json, group->deviation, 1);
	json_end_array(json);
	hwy_bytes_free(&label);
	hwy_bytes_free(&term);
}

static struct hwy_text *all_labels(const struct naming *naming, const struct event_result *result)
{
	struct hwy_text *labels = hwy_array(result->n_groups, sizeof *labels);
	for (uint32_t g = 0; g < result->n_groups; g++) {
		struct hwy_bytes label = {0};
		write_label(naming, result->groups[g].key, &label);
		hwy_bytes_put_byte(&label, 0);
		labels[g] = (struct hwy_text){(char *)label.bytes, (uint32_t)label.n - 1};
	}
	return labels;
}

void event_groups_put(struct view_trace *view, struct hwy_json *json,
		      const struct event_request *request, const struct event_result *result)
{
	struct naming naming = {view, request, span_facts_of(view)};
	struct sorting sorting = {result, request->sort, request->falls, NULL};
	uint32_t *order = hwy_array(result->n_groups, sizeof *order);
	for (uint32_t g = 0; g < result->n_groups; g++)
		order[g] = g;
	if (request->sort == EVENT_NAME)
		sorting.labels = all_labels(&naming, result);
	if (result->n_groups > 1)
		qsort_r(order, result->n_groups, sizeof *order, by_column, &sorting);
	json_put_int(json, "groups", result->n_groups);
	json_key(json, "list");
	json_begin_array(json);
	for (uint64_t i = request->skip; i < result->n_groups && i - request->skip < request->n;
	     i++)
		put_group(&naming, json, &result->groups[order[i]]);
	json_end_array(json);
	for (uint32_t g = 0; sorting.labels && g < result->n_groups; g++)
		free((void *)(uintptr_t)sorting.labels[g].at);
	free(sorting.labels);
	free(order);
}
