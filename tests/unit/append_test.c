/* SPDX-License-Identifier: Apache-2.0 */
/* append_test.c - traces appended to others hold what they held: random ones with all kinds, columns and records, and
 * small ones with known answers. */
#include "make_trace.h"
#include "trace/append.h"
#include "trace/append_internal.h"

/* ---- comparison: by content, since numbers differ ---- */

static void assert_same_text(const struct hwy_trace *a, int64_t x, const struct hwy_trace *b,
			     int64_t y)
{
	struct hwy_text one = hwy_text(a, x), two = hwy_text(b, y);
	assert_int_equal(one.length, two.length);
	assert_memory_equal(one.at, two.at, one.length);
}

static void assert_same_stack(const struct hwy_trace *a, int64_t x, const struct hwy_trace *b,
			      int64_t y)
{
	for (; hwy_ref_is_set(x); x = hwy_stack_caller(a, x), y = hwy_stack_caller(b, y)) {
		assert_true(hwy_ref_is_set(y));
		assert_same_text(a, hwy_stack_frame(a, x)->function, b,
				 hwy_stack_frame(b, y)->function);
		assert_int_equal(hwy_stack_frame(a, x)->line, hwy_stack_frame(b, y)->line);
	}
	assert_false(hwy_ref_is_set(y));
}

static void assert_same_record(const struct hwy_trace *a, const struct hwy_strip *x,
			       const struct hwy_trace *b, const struct hwy_strip *y,
			       enum hwy_col col, uint32_t row)
{
	uint32_t one = 0, two = 0;
	assert_int_equal(hwy_get_index(x, col, row, &one), hwy_get_index(y, col, row, &two));
	if (!hwy_get_index(x, col, row, &one))
		return;
	switch (hwy_columns[col].table) {
	case HWY_TABLE_shapes:
		assert_memory_equal(&a->shapes[one], &b->shapes[two], sizeof *a->shapes);
		break;
	case HWY_TABLE_symbols:
		assert_same_text(a, a->symbols[one].mangled, b, b->symbols[two].mangled);
		break;
	case HWY_TABLE_stacks:
		assert_same_stack(a, hwy_get(x, col, row), b, hwy_get(y, col, row));
		break;
	case HWY_TABLE_devices:
		assert_int_equal(a->devices[one].ordinal, b->devices[two].ordinal);
		break;
	case HWY_TABLE_streams:
		assert_int_equal(a->streams[one].number, b->streams[two].number);
		break;
	case HWY_TABLE_threads: assert_int_equal(a->threads[one].tid, b->threads[two].tid); break;
	default: fail_msg("a column refers to another table");
	}
}

/* Row by row; later: what was added to the times of b; spans: by how much span ids of b are higher. */
static void assert_same_row(const struct hwy_trace *a, const struct hwy_strip *x,
			    const struct hwy_trace *b, const struct hwy_strip *y, uint32_t row,
			    int64_t later, uint32_t spans)
{
	for (enum hwy_col c = 0; c < HWY_COLS; c++) {
		int64_t one = hwy_get(x, c, row), two = hwy_get(y, c, row);
		switch (hwy_columns[c].meaning) {
		case HWY_MEANS_TEXT: assert_same_text(a, one, b, two); break;
		case HWY_MEANS_RECORD: assert_same_record(a, x, b, y, c, row); break;
		case HWY_MEANS_SPAN: assert_int_equal(one ? one + spans : 0, two); break;
		case HWY_MEANS_TIME:
			if (c == HWY_START)
				assert_int_equal(one + later, two);
			break;
		default:
			if (c != HWY_PAYLOAD)
				assert_int_equal(one, two);
		}
	}
}

static void assert_same_spans(const struct hwy_trace *a, const struct hwy_trace *b, uint32_t strips,
			      int64_t later, uint32_t spans)
{
	for (uint32_t s = 0; s < a->n_strips; s++) {
		const struct hwy_strip *x = &a->strips[s], *y = &b->strips[strips + s];
		assert_int_equal(x->rows, y->rows);
		assert_int_equal(x->kind, y->kind);
		assert_int_equal(x->first + spans, y->first);
		for (uint32_t row = 0; row < x->rows; row++)
			assert_same_row(a, x, b, y, row, later, spans);
	}
}

static int64_t plus(const void *clock, int64_t time)
{
	return time + *(const int64_t *)clock;
}

/* ---- properties ---- */

static void every_table_has_a_layout_or_a_function_of_its_own(void **state)
{
	(void)state;
	/* A table that is new here must be added to append_tables.c: to 'layouts' and to append_places or append_stories. */
	assert_int_equal(APPEND_TABLES - 1, HWY_TABLE_pings);
}

static void two_random_traces_hold_in_one_what_they_held_alone(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct hwy_err err;
		struct hwy_trace *one = random_trace(seed, 40, 3000);
		struct hwy_trace *two = random_trace(seed + 100, 30, 2000);
		struct hwy_builder *b = hwy_builder_new();
		int64_t later = 12345;
		struct hwy_append first = {.rank = 0},
				  second = {.rank = 1, .map = plus, .clock = &later};
		assert_true(hwy_append(b, one, &first, &err));
		assert_true(hwy_append(b, two, &second, &err));
		struct hwy_trace *both = hwy_builder_finish(b, false);
		assert_int_equal(both->n_spans, one->n_spans + two->n_spans);
		assert_int_equal(both->n_edges, one->n_edges + two->n_edges);
		assert_int_equal(both->n_messages, one->n_messages + two->n_messages);
		assert_int_equal(both->n_processes, one->n_processes + two->n_processes);
		assert_int_equal(both->n_lanes, one->n_lanes + two->n_lanes);
		assert_same_spans(one, both, 0, 0, 0);
		assert_same_spans(two, both, one->n_strips, later, one->n_spans);
		for (uint32_t i = 0; i < two->n_edges; i++)
			assert_int_equal(two->edges[i].to + one->n_spans,
					 both->edges[one->n_edges + i].to);
		for (uint32_t i = 0; i < two->n_messages; i++)
			if (two->messages[i].done != HWY_NONE)
				assert_int_equal(two->messages[i].done + one->n_spans,
						 both->messages[one->n_messages + i].done);
		hwy_trace_free(one);
		hwy_trace_free(two);
		hwy_trace_free(both);
	}
}

/* ---- known answers ---- */

/* A rank with a device, a launch and a kernel. */
static struct hwy_trace *make_rank(int64_t pid, const char *host, const char *uuid, int64_t start)
{
	struct small small = small_machine();
	struct hwy_trace *trace = hwy_builder_trace(small.builder);
	uint32_t on = hwy_new_hosts(small.builder);
	trace->hosts[on].name = hwy_text_id(small.builder, host);
	trace->processes[0].host = trace->devices[0].host = on;
	trace->processes[0].pid = pid;
	trace->devices[0].uuid = hwy_text_id(small.builder, uuid);
	small_launch_us(&small, (double)start, (double)start + 5, (double)start + 10,
			(double)start + 20);
	struct hwy_lane counter = hwy_lane_of(HWY_LANE_COUNTER, HWY_NONE, HWY_NONE);
	counter.device = 0;
	counter.name = hwy_text_id(small.builder, "temperature");
	small_span(&small, hwy_add_lane(small.builder, counter), HWY_COUNTER, 0, 0, 0, "t");
	return small_finish(&small);
}

static struct hwy_trace *merge(struct hwy_trace *one, struct hwy_trace *two)
{
	struct hwy_err err;
	struct hwy_builder *b = hwy_builder_new();
	assert_true(hwy_append(b, one, &(struct hwy_append){.rank = 0}, &err));
	assert_true(hwy_append(b, two, &(struct hwy_append){.rank = 1}, &err));
	hwy_trace_free(one);
	hwy_trace_free(two);
	return hwy_builder_finish(b, false);
}

static void ranks_on_one_device_share_it_and_its_counters(void **state)
{
	(void)state;
	struct hwy_trace *both =
		merge(make_rank(1, "a", "GPU-1", 0), make_rank(2, "a", "GPU-1", 7));
	assert_int_equal(both->n_devices, 1);
	assert_int_equal(both->n_hosts, 1);
	assert_int_equal(both->n_processes, 2);
	assert_int_equal(both->processes[0].rank, 0);
	assert_int_equal(both->processes[1].rank, 1);
	uint32_t counters = 0;
	for (uint32_t i = 0; i < both->n_lanes; i++)
		counters += both->lanes[i].type == HWY_LANE_COUNTER;
	assert_int_equal(counters, 1);
	hwy_trace_free(both);
}

static void ranks_on_two_hosts_keep_their_devices(void **state)
{
	(void)state;
	struct hwy_trace *both =
		merge(make_rank(1, "a", "GPU-1", 0), make_rank(1, "b", "GPU-2", 7));
	assert_int_equal(both->n_devices, 2);
	assert_int_equal(both->n_hosts, 2);
	assert_int_equal(both->processes[1].host, 1);
	assert_int_equal(both->devices[1].host, 1);
	/* Without a uuid nothing says that two devices are one. */
	hwy_trace_free(both);
	both = merge(make_rank(1, "a", "", 0), make_rank(1, "a", "", 7));
	assert_int_equal(both->n_devices, 2);
	hwy_trace_free(both);
}

/* Equal correlation ids of two ranks are two launches. */
static void a_kernel_is_linked_to_the_launch_of_its_own_rank(void **state)
{
	(void)state;
	struct hwy_trace *both =
		merge(make_rank(1, "a", "GPU-1", 0), make_rank(2, "a", "GPU-1", 7));
	for (uint32_t s = 0; s < both->n_strips; s++) {
		uint32_t call, row;
		if (both->strips[s].kind != HWY_KERNEL)
			continue;
		assert_true(hwy_get_index(&both->strips[s], HWY_LINK, 0, &call));
		const struct hwy_strip *calls = hwy_strip_of(both, call, &row);
		assert_int_equal(both->lanes[calls->lane].process,
				 both->lanes[both->strips[s].lane].process);
		assert_int_equal(hwy_get(calls, HWY_START, row) + US(10),
				 hwy_get(&both->strips[s], HWY_START, 0));
	}
	hwy_trace_free(both);
}

/* Merging and taking apart gives back each rank. */
static void a_part_of_the_processes_can_be_taken(void **state)
{
	(void)state;
	struct hwy_err err;
	struct hwy_trace *both =
		merge(make_rank(1, "a", "GPU-1", 0), make_rank(2, "a", "GPU-2", 7));
	struct hwy_builder *b = hwy_builder_new();
	bool keep[] = {false, true};
	assert_true(
		hwy_append(b, both, &(struct hwy_append){.keep = keep, .rank = HWY_NONE}, &err));
	struct hwy_trace *second = hwy_builder_finish(b, false);
	struct hwy_trace *alone = make_rank(2, "a", "GPU-2", 7);
	assert_int_equal(second->n_processes, 1);
	assert_int_equal(second->processes[0].pid, 2);
	assert_int_equal(second->processes[0].rank, 1);
	assert_int_equal(second->n_devices, 1);
	assert_string_equal(hwy_str(second, second->devices[0].uuid), "GPU-2");
	assert_int_equal(second->n_spans, alone->n_spans);
	assert_same_spans(alone, second, 0, 0, 0);
	hwy_trace_free(alone);
	hwy_trace_free(second);
	hwy_trace_free(both);
}

/* ---- a part ---------------------------------------------------------------------------------------- */

static void a_part_of_chosen_streams_has_the_launches_of_their_work(void **state)
{
	(void)state;
	struct hwy_err err;
	uint64_t n;
	struct small small = small_machine();
	for (int i = 1; i <= 3; i++) {
		small_call(&small, i * 100, i * 100 + 10, i, "cudaLaunchKernel");
		small_span(&small, small.stream, HWY_KERNEL, i * 100 + 50, i * 100 + 80, i, "k");
	}
	small_span(&small, small.os, HWY_OS, 0, 1000, 0, "poll");
	struct hwy_trace *whole = small_finish(&small);
	uint8_t *lanes = hwy_zarray(whole->n_lanes, 1);
	lanes[small.stream] = 1;
	/* The second and the third kernel touch it; the call of the third began before. */
	const struct hwy_append_part part = {.from = 220, .to = 360, .lanes = lanes};
	assert_true(hwy_append_count(whole, &part, &n, &err));
	assert_int_equal(n, 4);
	struct hwy_builder *b = hwy_builder_new();
	assert_true(
		hwy_append(b, whole, &(struct hwy_append){.part = &part, .rank = HWY_NONE}, &err));
	struct hwy_trace *piece = hwy_builder_finish(b, false);
	uint32_t linked = 0, call, row;
	assert_int_equal(piece->n_spans, 4);
	for (uint32_t s = 0; s < piece->n_strips; s++)
		for (uint32_t k = 0; k < piece->strips[s].rows; k++)
			if (piece->strips[s].kind == HWY_KERNEL &&
			    hwy_get_index(&piece->strips[s], HWY_LINK, k, &call))
				linked += hwy_strip_of(piece, call, &row)->kind == HWY_API;
	assert_int_equal(linked, 2);
	free(lanes);
	hwy_trace_free(piece);
	hwy_trace_free(whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_table_has_a_layout_or_a_function_of_its_own),
		cmocka_unit_test(two_random_traces_hold_in_one_what_they_held_alone),
		cmocka_unit_test(ranks_on_one_device_share_it_and_its_counters),
		cmocka_unit_test(ranks_on_two_hosts_keep_their_devices),
		cmocka_unit_test(a_kernel_is_linked_to_the_launch_of_its_own_rank),
		cmocka_unit_test(a_part_of_the_processes_can_be_taken),
		cmocka_unit_test(a_part_of_chosen_streams_has_the_launches_of_their_work),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
