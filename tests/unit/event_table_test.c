/* SPDX-License-Identifier: Apache-2.0 */
/* event_table_test.c - the table of spans, compared with a plain look at all spans: real recordings, and a random trace whose lanes
 * are read by parts. */
#include "make_trace.h"

#include "base/quantile.h"
#include "recordings.h"
#include "serve/event_table.h"
#include "serve/lane_choice.h"

static const char *const recordings[] = {"nsys/graphs_launch.sqlite.xz",
					 "nsys/itemloop_async.sqlite.xz", NULL};

static char folder[] = "/tmp/event_table_test.XXXXXX";
static struct view_trace view;

/* Opens one of the recordings with all columns in memory; 'parts': every lane is read by parts. */
static bool open_recording(const char *name, bool parts)
{
	struct hwy_err err;
	struct hwy_trace *trace = recording_open(name, folder);
	if (!trace)
		return false;
	assert_true(hwy_need(trace, UINT32_MAX, UINT64_MAX, &err));
	assert_true(view_open(&view, trace, name, &err));
	view.whole_spans = parts ? 0 : view.whole_spans;
	return true;
}

static void close_recording(void)
{
	struct hwy_trace *trace = view.trace;
	view_close(&view);
	hwy_trace_free(trace);
}

static struct event_request everything(const char *text)
{
	return (struct event_request){.text = text, .is_whole = true, .lanes = "", .at = -1};
}

static struct event_result scan(const struct event_request *request)
{
	struct event_result result = {0};
	struct hwy_err err;
	if (!event_scan(&view, request, &result, &err))
		fail_msg("%s: %s", request->text, err.text);
	return result;
}

static void free_result(struct event_result *result)
{
	free(result->ids);
	free(result->groups);
	free(result->same_step);
}

static int64_t value(uint32_t id, enum hwy_col col)
{
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(view.trace, id, &row);
	return hwy_get(strip, col, row);
}

/* ---- sorting --------------------------------------------------------------------------------------- */

static int compare(enum event_column by, uint32_t a, uint32_t b)
{
	uint32_t row_a, row_b;
	const struct hwy_strip *x = hwy_strip_of(view.trace, a, &row_a),
			       *y = hwy_strip_of(view.trace, b, &row_b);
	int64_t left = 0, right = 0;
	switch (by) {
	case EVENT_NAME:
		return event_compare_texts(
			span_names_text(view.trace, span_names_id(view.trace, x, row_a)),
			span_names_text(view.trace, span_names_id(view.trace, y, row_b)));
	case EVENT_DUR: left = value(a, HWY_DUR), right = value(b, HWY_DUR); break;
	case EVENT_LANE: left = x->lane, right = y->lane; break;
	default: left = value(a, HWY_START), right = value(b, HWY_START);
	}
	return (left > right) - (left < right);
}

static void a_table_holds_every_span_once_and_in_order(void **state)
{
	static const enum event_column columns[] = {EVENT_START, EVENT_DUR, EVENT_NAME, EVENT_LANE};
	unsigned opened = 0;
	for (int r = 0; recordings[r]; r++) {
		if (!open_recording(recordings[r], r == 1))
			continue;
		opened++;
		for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
			struct event_request request = everything("");
			request.sort = columns[c];
			struct event_result result = scan(&request);
			uint8_t *seen = calloc(view.trace->n_spans, 1);
			assert_int_equal(result.n, view.trace->n_spans);
			for (uint32_t i = 0; i < result.n; i++) {
				assert_int_equal(seen[result.ids[i]]++, 0);
				int order =
					i ? compare(columns[c], result.ids[i - 1], result.ids[i])
					  : -1;
				assert_true(order < 0 ||
					    (order == 0 && result.ids[i - 1] < result.ids[i]));
			}
			free(seen);
			free_result(&result);
		}
		close_recording();
	}
	if (!opened)
		skip();
}

/* ---- queries --------------------------------------------------------------------------------------- */

struct wanted {
	const char *text;
	bool (*fits)(const struct hwy_strip *strip, uint32_t row);
};

static bool is_long_kernel(const struct hwy_strip *strip, uint32_t row)
{
	return strip->kind == HWY_KERNEL && hwy_get(strip, HWY_DUR, row) > 3000;
}
static bool is_wait(const struct hwy_strip *strip, uint32_t row)
{
	return strip->kind == HWY_API &&
	       HWY_ROLE_OF(hwy_role(view.trace, hwy_get(strip, HWY_NAME, row))) == HWY_ROLE_SYNC;
}
static bool is_large(const struct hwy_strip *strip, uint32_t row)
{
	return (hwy_kind_columns[strip->kind] & HWY_COL_BIT(HWY_BYTES)) != 0 &&
	       hwy_get(strip, HWY_BYTES, row) > 1000;
}
static bool is_wide(const struct hwy_strip *strip, uint32_t row)
{
	const struct hwy_shape *shape =
		strip->kind == HWY_KERNEL ? hwy_get_shape(view.trace, strip, row) : NULL;
	return shape && shape->block_x >= 128;
}
static bool is_slow_launch(const struct hwy_strip *strip, uint32_t row)
{
	uint32_t call, at;
	if (!(HWY_KIND_BIT(strip->kind) & HWY_DEVICE_KINDS) ||
	    !hwy_get_index(strip, HWY_LINK, row, &call))
		return false;
	const struct hwy_strip *calls = hwy_strip_of(view.trace, call, &at);
	return hwy_get(strip, HWY_START, row) - hwy_get(calls, HWY_START, at) >= 20000;
}
static bool has_no_launch(const struct hwy_strip *strip, uint32_t row)
{
	struct hwy_text name = span_names_text(view.trace, span_names_id(view.trace, strip, row));
	return !memmem(name.at, name.length, "Launch", 6) &&
	       !memmem(name.at, name.length, "launch", 6);
}
static bool is_early(const struct hwy_strip *strip, uint32_t row)
{
	return hwy_end(strip, row) - view.from <= (view.to - view.from) / 2;
}

static void a_query_yields_the_spans_that_a_look_at_each_finds(void **state)
{
	char early[64];
	const struct wanted all[] = {{"kernel dur>3us", is_long_kernel},
				     {"wait", is_wait},
				     {"bytes>1kB", is_large},
				     {"block_x>=128", is_wide},
				     {"latency>=20us", is_slow_launch},
				     {"-\"launch\"", has_no_launch},
				     {early, is_early}};
	unsigned opened = 0;
	for (int r = 0; recordings[r]; r++) {
		if (!open_recording(recordings[r], r == 0))
			continue;
		opened++;
		snprintf(early, sizeof early, "end<=%lldns", (long long)(view.to - view.from) / 2);
		for (size_t w = 0; w < sizeof all / sizeof *all; w++) {
			struct event_request request = everything(all[w].text);
			struct event_result result = scan(&request);
			uint64_t n = 0, total = 0;
			for (uint32_t id = 0; id < view.trace->n_spans; id++) {
				uint32_t row;
				const struct hwy_strip *strip = hwy_strip_of(view.trace, id, &row);
				bool fits = all[w].fits(strip, row);
				n += fits;
				total += fits ? (uint64_t)hwy_get(strip, HWY_DUR, row) : 0;
			}
			assert_int_equal(result.n, n);
			assert_int_equal(result.sums.total, total);
			for (uint32_t i = 0; i < result.n; i++) {
				uint32_t row;
				const struct hwy_strip *strip =
					hwy_strip_of(view.trace, result.ids[i], &row);
				assert_true(all[w].fits(strip, row));
			}
			free_result(&result);
		}
		close_recording();
	}
	if (!opened)
		skip();
}

static void an_interval_has_the_spans_that_touch_it(void **state)
{
	if (!open_recording(recordings[0], true))
		skip();
	int64_t length = view.to - view.from;
	for (int i = 0; i < 30; i++) {
		struct event_request request = everything("-sample");
		request.is_whole = false;
		request.from = view.from - view.origin + length * i / 40;
		request.to = request.from + 1 + length * (i % 7) / 50;
		struct event_result result = scan(&request);
		uint64_t n = 0;
		for (uint32_t id = 0; id < view.trace->n_spans; id++) {
			uint32_t row;
			const struct hwy_strip *strip = hwy_strip_of(view.trace, id, &row);
			int64_t start = hwy_get(strip, HWY_START, row) - view.origin;
			int64_t end = start + hwy_get(strip, HWY_DUR, row);
			n += strip->kind != HWY_SAMPLE && start < request.to &&
			     (start >= request.from || end > request.from);
		}
		assert_int_equal(result.n, n);
		free_result(&result);
	}
	close_recording();
}

/* ---- groups ---------------------------------------------------------------------------------------- */

/* The durations of the kernels of one name, sorted. */
static uint32_t durations_of(int64_t name, int64_t *into)
{
	uint32_t n = 0;
	for (uint32_t s = 0; s < view.trace->n_strips; s++) {
		const struct hwy_strip *strip = &view.trace->strips[s];
		for (uint32_t row = 0; strip->kind == HWY_KERNEL && row < strip->rows; row++)
			if (hwy_get(strip, HWY_NAME, row) == name)
				into[n++] = hwy_get(strip, HWY_DUR, row);
	}
	hwy_sort(into, n);
	return n;
}

static double deviation(const int64_t *values, uint32_t n)
{
	double mean = 0, squares = 0;
	for (uint32_t i = 0; i < n; i++)
		mean += (double)values[i] / n;
	for (uint32_t i = 0; i < n; i++)
		squares += ((double)values[i] - mean) * ((double)values[i] - mean);
	return n > 1 ? squares / (n - 1) : 0;
}

static void groups_have_the_sums_of_their_spans(void **state)
{
	if (!open_recording(recordings[0], false))
		skip();
	int64_t *durations = calloc(view.trace->n_spans, sizeof *durations);
	struct event_request request = everything("kernel");
	request.group = EVENT_BY_NAME;
	struct event_result result = scan(&request);
	uint64_t all = 0;
	assert_true(result.n_groups > 0);
	for (uint32_t g = 0; g < result.n_groups; g++) {
		const struct event_grouped *group = &result.groups[g];
		uint32_t n = durations_of(group->key, durations);
		double squared = deviation(durations, n);
		assert_int_equal(group->sums.count, n);
		assert_int_equal(group->sums.least, durations[0]);
		assert_int_equal(group->sums.most, durations[n - 1]);
		assert_int_equal(group->p90, hwy_nearest_rank(durations, n, 90));
		assert_int_equal(group->p99, hwy_nearest_rank(durations, n, 99));
		assert_int_equal((int64_t)group->p50, hwy_median_between(durations, n));
		assert_true(group->deviation * group->deviation <= squared * 1.000001 &&
			    group->deviation * group->deviation >= squared * 0.999999);
		all += n;
	}
	assert_int_equal(all, result.sums.count);
	free_result(&result);
	free(durations);
	close_recording();
}

/* ---- a large random trace: radix sort and pages ------------------------------------------------------ */

static void a_random_trace_is_sorted_and_turned_around(void **state)
{
	enum { SPANS = 200000 };
	struct small small = small_machine();
	uint64_t seed = 3;
	int64_t clock = 0;
	for (int i = 0; i < SPANS; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		int64_t dur = (int64_t)(seed >> (24 + seed % 36));
		clock += (int64_t)(seed >> 50);
		small_span(&small, i % 3 ? small.stream : small.api, i % 3 ? HWY_KERNEL : HWY_API,
			   clock, clock + dur, 0, i % 5 ? "a" : "b");
	}
	struct hwy_trace *trace = small_finish(&small);
	struct hwy_err err;
	assert_true(view_open(&view, trace, "random", &err));
	struct event_request request = everything("");
	request.sort = EVENT_DUR;
	struct event_result result = scan(&request);
	assert_int_equal(result.n, SPANS);
	for (uint32_t i = 1; i < result.n; i++)
		assert_true(value(result.ids[i - 1], HWY_DUR) <= value(result.ids[i], HWY_DUR));
	free_result(&result);
	/* The order of bytes: no span has any, so all are unknown, in order of their ids. */
	request.sort = EVENT_BYTES;
	result = scan(&request);
	assert_int_equal(result.n_known, 0);
	assert_int_equal(result.n, SPANS);
	assert_int_equal(result.ids[SPANS - 1], SPANS - 1);
	free_result(&result);
	/* As if 2 * 10 spans were the most: those without bytes count as well. */
	for (uint32_t l = 0; l < trace->n_lanes; l++)
		view.lanes[l].spans = view.lanes[l].spans ? 10 : 0;
	result = (struct event_result){0};
	assert_false(event_scan(&view, &request, &result, &err));
	assert_non_null(strstr(err.text, "narrow the query"));
	assert_int_equal(result.sums.count, 21);
	close_recording();
}

/* ---- two requests at a time -------------------------------------------------------------------------- */

static bool count_rows(void *context, const struct match_rows *rows, struct hwy_err *err)
{
	(void)err;
	*(uint32_t *)context += rows->n;
	return true;
}

/* A request that came before the diagnosis was ready, and pauses, knows no steps. One that came later does. */
static void a_request_keeps_its_steps_while_another_one_has_none(void **state)
{
	struct small small = small_machine();
	small_span(&small, small.stream, HWY_KERNEL, 0, 10, 0, "a");
	small_span(&small, small.stream, HWY_KERNEL, 20, 30, 0, "b");
	struct hwy_trace *trace = small_finish(&small);
	const struct timed_step step = {
		.cpu = {15, 40}, .device = {15, 40}, .process = FLOW_NO_PROCESS, .number = 7};
	const struct step_times known = {&step, 1, true}, unknown = {0};
	struct matcher early, late;
	struct query query, empty;
	struct hwy_err err;
	uint32_t found = 0;
	struct match_scope scope = {.is_whole = true, .on_rows = count_rows, .context = &found};
	assert_true(view_open(&view, trace, "steps", &err));
	assert_true(query_parse(&query, "step:7", &err) && query_parse(&empty, "", &err));
	assert_true(match_open(&late, &view, &query, known, &err));
	assert_true(match_open(&early, &view, &empty, unknown, &err));
	assert_true(match_scan(&late, &scope, &err));
	assert_int_equal(found, 1);
	match_close(&early);
	match_close(&late);
	query_free(&query);
	query_free(&empty);
	close_recording();
}

/* ---- lists of lanes ------------------------------------------------------------------------------------ */

static void a_list_of_lanes_is_read_whole_or_refused(void **state)
{
	static const char *const wrong[] = {",",  "1,", ",1",    "1,,2", "2-1",        "1-",
					    "-1", "1 ", "1-2-3", "x",    "4294967296", "1,2x"};
	struct small small = small_machine();
	small_span(&small, small.stream, HWY_KERNEL, 0, 10, 0, "a");
	small_span(&small, small.api, HWY_API, 0, 10, 0, "b");
	struct hwy_err err;
	uint8_t *chosen;
	assert_true(view_open(&view, small_finish(&small), "lanes", &err));
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		if (lane_choice_read(&view, wrong[i], &chosen, &err))
			fail_msg("'%s' was taken for lanes", wrong[i]);
	assert_true(lane_choice_read(&view, "1,7-2147483647", &chosen, &err));
	assert_false(lane_choice_has(chosen, 0));
	assert_true(lane_choice_has(chosen, 1));
	free(chosen);
	assert_true(lane_choice_read(&view, "", &chosen, &err));
	assert_null(chosen);
	close_recording();
}

static int set_up(void **state)
{
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(a_table_holds_every_span_once_and_in_order),
		cmocka_unit_test(a_query_yields_the_spans_that_a_look_at_each_finds),
		cmocka_unit_test(an_interval_has_the_spans_that_touch_it),
		cmocka_unit_test(groups_have_the_sums_of_their_spans),
		cmocka_unit_test(a_random_trace_is_sorted_and_turned_around),
		cmocka_unit_test(a_list_of_lanes_is_read_whole_or_refused),
		cmocka_unit_test(a_request_keeps_its_steps_while_another_one_has_none),
	};
	return cmocka_run_group_tests(all, set_up, remove_folder);
}
