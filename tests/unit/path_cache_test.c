/* SPDX-License-Identifier: Apache-2.0 */
/* kept_test.c - critical paths that a report carries along. */
#include "make_trace.h"
#include "program.h"

#include "trace/file.h"
#include "whatif/path_cache.h"

struct opened {
	struct hwy_trace *trace;
	struct hwy_flow flow;
	struct hwy_phases phases;
	struct cached_paths kept;
};

static struct hwy_trace *program(void)
{
	struct program p = program_new();
	for (int step = 0; step < 12; step++) {
		program_step(&p, step);
		program_copy(&p, 1, HWY_H2D, 1 << 20, HWY_MEM_PINNED, 40 + step, step % 2);
		for (int k = 0; k < 5; k++) {
			program_compute(&p, k * 7);
			program_launch(&p, k % 2, "k", 30 + k * step);
		}
		if (step % 3 == 0)
			program_sync(&p, 0);
	}
	program_end_step(&p);
	return hwy_builder_finish(p.builder, false);
}

static void open_paths(struct opened *o, struct hwy_trace *trace, const char *step)
{
	struct hwy_err err;
	struct phases_options options = {.step = step};
	o->trace = trace;
	assert_non_null(trace);
	assert_true(flow_open(&o->flow, trace, &err));
	assert_true(phases_find(&o->flow, &options, &o->phases, &err));
	assert_true(path_cache_open(&o->kept, &o->flow, &o->phases, &err));
}

static void close_paths(struct opened *o)
{
	path_cache_close(&o->kept);
	phases_free(&o->phases);
	flow_close(&o->flow);
	hwy_trace_free(o->trace);
}

static struct hwy_trace *through_a_file(struct hwy_trace *trace)
{
	char path[] = "/tmp/headway-kept-XXXXXX";
	struct hwy_err err;
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	assert_true(hwy_file_write(trace, path, true, NULL, &err));
	hwy_trace_free(trace);
	trace = hwy_file_open(path, &err);
	unlink(path);
	return trace;
}

static void assert_same(const struct cached_paths *a, const struct cached_paths *b)
{
	assert_int_equal(a->n, b->n);
	for (uint32_t i = 0; i < a->n; i++) {
		const struct cached_path *x = &a->by_phase[i], *y = &b->by_phase[i];
		assert_int_equal(x->n, y->n);
		assert_int_equal(x->n_steps, y->n_steps);
		assert_int_equal(x->work, y->work);
		assert_int_equal(x->slack, y->slack);
		assert_int_equal(x->window.from, y->window.from);
		assert_int_equal(x->window.to, y->window.to);
		for (uint32_t k = 0; k < x->n; k++) {
			assert_int_equal(x->pieces[k].at.from, y->pieces[k].at.from);
			assert_int_equal(x->pieces[k].at.to, y->pieces[k].at.to);
			assert_int_equal(x->pieces[k].span, y->pieces[k].span);
			assert_int_equal(x->pieces[k].class, y->pieces[k].class);
		}
	}
}

/* The slack of the first phase is the sixth value after the number of phases: a mark of what was read. The begin of
 * its window is the next one. */
enum { SLACK = 6, FROM = 7, FORGED = 123456789 };

static int64_t *bytes_of(struct hwy_trace *trace)
{
	struct hwy_err err;
	assert_int_equal(trace->n_results, 1);
	assert_non_null(hwy_result_bytes(trace, 0, &err));
	return trace->result_bytes[0];
}

static void a_report_carries_its_paths(void **state)
{
	(void)state;
	struct opened made, read;
	struct hwy_trace *trace = program();
	open_paths(&made, program(), NULL);
	assert_true(made.kept.by_phase[0].n > 100);
	path_cache_add(trace);
	open_paths(&read, through_a_file(trace), NULL);
	assert_same(&made.kept, &read.kept);
	close_paths(&read);
	/* It is what the report says, not made anew. */
	trace = program();
	path_cache_add(trace);
	bytes_of(trace)[SLACK] = FORGED;
	open_paths(&read, through_a_file(trace), NULL);
	assert_int_equal(read.kept.by_phase[0].slack, FORGED);
	close_paths(&read);
	close_paths(&made);
}

static void paths_of_another_version_or_of_other_phases_are_made_anew(void **state)
{
	(void)state;
	struct opened made, other;
	open_paths(&made, program(), NULL);
	struct hwy_trace *trace = program();
	path_cache_add(trace);
	bytes_of(trace)[SLACK] = FORGED;
	trace->results[0].version++;
	open_paths(&other, trace, NULL);
	assert_same(&made.kept, &other.kept);
	close_paths(&other);
	trace = program();
	path_cache_add(trace);
	bytes_of(trace)[SLACK] = FORGED;
	open_paths(&other, trace, ""); /* no marks: the sequence decides */
	for (uint32_t i = 0; i < other.kept.n; i++)
		assert_int_not_equal(other.kept.by_phase[i].slack, FORGED);
	close_paths(&other);
	close_paths(&made);
}

static void adding_twice_keeps_one(void **state)
{
	(void)state;
	struct hwy_trace *trace = program();
	path_cache_add(trace);
	path_cache_add(trace);
	assert_int_equal(trace->n_results, 1);
	hwy_trace_free(trace);
}

/* Whatever stands in it, the paths tile their windows and name spans. */
static void damaged_paths_do_no_harm(void **state)
{
	(void)state;
	uint64_t seed = 3;
	for (int round = 0; round < 300; round++) {
		struct opened o;
		struct hwy_trace *trace = program();
		path_cache_add(trace);
		int64_t *values = bytes_of(trace), n = trace->results[0].bytes / 8;
		static const int64_t odd[] = {INT64_MIN, INT64_MAX, -1, 0, 1, 17, 1 << 20};
		for (int i = 0; i < 1 + round % 4; i++) {
			seed = hwy_mix(seed + 1);
			values[seed % (uint64_t)n] = odd[(seed >> 32) % 7];
		}
		if (round % 5 == 0)
			trace->results[0].bytes -= (int64_t)(seed % (uint64_t)(n * 8));
		open_paths(&o, trace, NULL);
		for (uint32_t i = 0; i < o.kept.n; i++) {
			int64_t time = o.kept.by_phase[i].window.from;
			for (uint32_t k = 0; k < o.kept.by_phase[i].n; k++) {
				const struct cached_piece *piece = &o.kept.by_phase[i].pieces[k];
				assert_int_equal(piece->at.from, time);
				assert_true(piece->at.to >= time && piece->span < trace->n_spans &&
					    piece->class < PATH_CLASSES);
				time = piece->at.to;
			}
			assert_int_equal(time, o.kept.by_phase[i].window.to);
		}
		close_paths(&o);
	}
}

/* Its length would be more than a time can hold. */
static void a_path_from_before_all_time_is_made_anew(void **state)
{
	(void)state;
	struct opened made, other;
	struct hwy_trace *trace = program();
	open_paths(&made, program(), NULL);
	path_cache_add(trace);
	bytes_of(trace)[FROM] = INT64_MIN;
	open_paths(&other, trace, NULL);
	assert_same(&made.kept, &other.kept);
	close_paths(&other);
	close_paths(&made);
}

/* Times at both ends of what a trace may hold, calls that enqueue nothing, work of nobody: there is seldom a path. */
static void times_of_centuries_do_no_harm(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct hwy_trace *trace = random_trace(seed, 20, 600);
		uint32_t before = trace->n_results;
		path_cache_add(trace);
		assert_in_range(trace->n_results, before, before + 1);
		hwy_trace_free(trace);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_report_carries_its_paths),
		cmocka_unit_test(paths_of_another_version_or_of_other_phases_are_made_anew),
		cmocka_unit_test(adding_twice_keeps_one),
		cmocka_unit_test(damaged_paths_do_no_harm),
		cmocka_unit_test(a_path_from_before_all_time_is_made_anew),
		cmocka_unit_test(times_of_centuries_do_no_harm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
