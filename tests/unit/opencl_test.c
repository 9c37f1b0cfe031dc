/* SPDX-License-Identifier: Apache-2.0 */
/* opencl_test.c - OpenCL's records made by hand: clocks that nobody names, dependencies, CUDA beside it. */
#include "make_trace.h"

#include "read_spool.h"

enum { COMMANDS = 600, QUEUE = 1 };
static const int64_t epoch = SPOOL_EPOCH;

struct device {               /* how the device's clock shows a moment of ours */
	int64_t offset, rate; /* ns; ns a second */
};

static uint64_t shown(const struct device *device, int64_t ours)
{
	int64_t since = ours - epoch;
	return (uint64_t)(ours + device->offset + since / 1000 * device->rate / 1000000);
}

static void put_device(struct made_spool *spool)
{
	put_string(spool, 1, "cpu");
	put_string(spool, 2, "add");
	put_string(spool, 3, "clEnqueueNDRangeKernel");
	struct rec_device *device =
		put_record(spool, REC_DEVICE, 0, REC_OPENCL_DEVICE, sizeof(struct rec_device));
	device->name = 1;
	struct rec_context *context =
		put_record(spool, REC_CONTEXT, 0, REC_OPENCL_CONTEXT, sizeof(struct rec_context));
	context->device = REC_OPENCL_DEVICE;
	context->null_stream = UINT32_MAX;
	struct rec_stream *stream = put_record(spool, REC_STREAM, REC_STREAM_IN_ORDER, QUEUE,
					       sizeof(struct rec_stream));
	stream->context = REC_OPENCL_CONTEXT;
	struct rec_naming *name =
		put_record(spool, REC_NAME, REC_NAMED_CALL, 3, sizeof(struct rec_naming));
	name->domain = 3;
	name->number = 7;
}

static void put_call(struct made_spool *spool, uint32_t id, int64_t start, int64_t duration)
{
	struct rec_api *call =
		put_record(spool, REC_API, REC_API_OPENCL, 7, sizeof(struct rec_api));
	call->start = start;
	call->duration = duration;
	call->correlation = REC_OPENCL_CORRELATION + id;
	call->tid = spool->tid;
}

/* The call at 'before' queues it after a third of its 9 µs; it runs later and is seen after that. */
static struct rec_command *put_command(struct made_spool *spool, const struct device *device,
				       uint32_t id, int64_t before)
{
	put_call(spool, id, before, 9000);
	struct rec_command *c =
		put_record(spool, REC_COMMAND, REC_COMMAND_KERNEL, 2, sizeof(struct rec_command));
	c->before = before;
	c->after = before + 9000;
	c->queued = shown(device, before + 3000);
	c->submitted = shown(device, before + 6000);
	c->start = shown(device, before + 20000);
	c->end = shown(device, before + 50000);
	c->seen = before + 60000;
	c->correlation = REC_OPENCL_CORRELATION + id;
	c->queue = QUEUE;
	c->context = REC_OPENCL_CONTEXT;
	c->device = REC_OPENCL_DEVICE;
	return c;
}

static int64_t begun(uint32_t i)
{
	return epoch + 1000000 + (int64_t)i * 20000000; /* 12 s in all */
}

/* Every command within its call and what was seen of it, and no further than this from the truth. */
static void check_commands(const struct hwy_trace *trace, int64_t most)
{
	const struct hwy_strip *kernels = only(trace, HWY_KERNEL);
	assert_int_equal(kernels->rows, COMMANDS);
	for (uint32_t i = 0; i < COMMANDS; i++) {
		int64_t before = begun(i) - epoch, start = hwy_get(kernels, HWY_START, i);
		int64_t queued = hwy_get(kernels, HWY_QUEUED, i),
			submitted = hwy_get(kernels, HWY_SUBMITTED, i);
		assert_true(before <= queued && queued <= before + 9000);
		assert_true(queued <= submitted && submitted <= start);
		assert_true(hwy_end(kernels, i) <= before + 60000);
		assert_true(llabs(start - (before + 20000)) <= most);
		assert_true(llabs(hwy_get(kernels, HWY_DUR, i) - 30000) <= 100);
		assert_true(hwy_get(kernels, HWY_LINK, i) > 0);
	}
}

static void commands_by_an_unknown_clock_stand_within_their_calls(void **state)
{
	(void)state;
	struct device device = {INT64_C(-987654321012), 80};
	struct made_run run = make_run();
	struct made_spool spool = make_spool(&run, 40, 40, 0);
	put_device(&spool);
	for (uint32_t i = 0; i < COMMANDS; i++)
		put_command(&spool, &device, i + 1, begun(i));
	end_spool(&spool);
	struct hwy_trace *trace = ingest(&run);
	assert_string_equal(hwy_property(trace, "opencl.device.0.clock"), "fitted");
	check_commands(trace, 9000);
	assert_int_equal(trace->n_diagnostics, 0);
	hwy_trace_free(trace);
}

static void a_clock_of_the_system_is_recognised(void **state)
{
	(void)state;
	struct device raw = {INT64_C(-221000000), -30};
	struct made_run run = make_run();
	struct made_spool spool = make_spool(&run, 40, 40, 0);
	put_device(&spool);
	for (uint32_t i = 0; i < COMMANDS; i++) {
		put_command(&spool, &raw, i + 1, begun(i));
		if (i % 5)
			continue;
		struct rec_clock *clock = put_record(&spool, REC_CLOCK, 0, 0, sizeof *clock);
		clock->monotonic = begun(i) + 70000;
		clock->raw = (int64_t)shown(&raw, clock->monotonic);
		clock->realtime = INT64_C(1700000000000000000) + clock->monotonic;
	}
	end_spool(&spool);
	struct hwy_trace *trace = ingest(&run);
	assert_string_equal(hwy_property(trace, "opencl.device.0.clock"), "CLOCK_MONOTONIC_RAW");
	check_commands(trace, 10);
	hwy_trace_free(trace);
}

static void queued_times_that_mean_something_else_are_found_out(void **state)
{
	(void)state;
	struct device device = {INT64_C(5000000000), 0};
	struct made_run run = make_run();
	struct made_spool spool = make_spool(&run, 40, 40, 0);
	put_device(&spool);
	for (uint32_t i = 0; i < COMMANDS; i++) {
		struct rec_command *c = put_command(&spool, &device, i + 1, begun(i));
		c->queued -= 1000000 * (i % 3);
	}
	end_spool(&spool);
	struct hwy_trace *trace = ingest(&run);
	check_commands(trace, 40000);
	assert_int_equal(trace->n_diagnostics, 0);
	hwy_trace_free(trace);
}

static void waits_and_dependencies_become_edges(void **state)
{
	(void)state;
	struct device device = {0, 0};
	struct made_run run = make_run();
	struct made_spool spool = make_spool(&run, 40, 40, 0);
	put_device(&spool);
	put_command(&spool, &device, 1, begun(0));
	put_command(&spool, &device, 2, begun(1));
	put_call(&spool, 3, begun(2), 1000);
	struct rec_command *wait =
		put_record(&spool, REC_COMMAND, REC_COMMAND_WAIT, 1, sizeof *wait);
	wait->before = begun(2);
	wait->after = begun(2) + 1000;
	wait->correlation = REC_OPENCL_CORRELATION + 3;
	wait->queue = QUEUE;
	wait->context = REC_OPENCL_CONTEXT;
	wait->device = REC_OPENCL_DEVICE;
	for (uint32_t i = 2; i <= 3; i++) {
		struct rec_depends *depends =
			put_record(&spool, REC_DEPENDS, 0, 2, sizeof *depends + 8);
		depends->correlation = REC_OPENCL_CORRELATION + i;
		depends->on[0] = REC_OPENCL_CORRELATION + i - 1;
		depends->on[1] = REC_OPENCL_CORRELATION + 77; /* nobody knows it */
	}
	end_spool(&spool);
	struct hwy_trace *trace = ingest(&run);
	const struct hwy_strip *kernels = only(trace, HWY_KERNEL), *syncs = only(trace, HWY_SYNC);
	assert_int_equal(trace->n_edges, 2);
	assert_int_equal(trace->edges[0].from, kernels->first);
	assert_int_equal(trace->edges[0].to, kernels->first + 1);
	assert_int_equal(trace->edges[1].from, kernels->first + 1);
	assert_int_equal(trace->edges[1].to, syncs->first);
	assert_int_equal(hwy_get(syncs, HWY_SYNC_TYPE, 0), HWY_SYNC_EVENT);
	hwy_trace_free(trace);
}

static void cuda_and_opencl_in_one_process_are_told_apart(void **state)
{
	(void)state;
	struct device device = {0, 0};
	struct made_run run = make_run();
	struct made_spool spool = make_spool(&run, 40, 40, 0);
	put_device(&spool);
	put_command(&spool, &device, 1, begun(0));
	struct rec_api *call = put_record(&spool, REC_API, 0, 211, sizeof(struct rec_api));
	call->start = begun(1);
	call->duration = 5000;
	call->correlation = 1;
	call->tid = 40;
	struct rec_work *work = put_record(&spool, REC_KERNEL, 0, 2, sizeof(struct rec_work));
	work->start = begun(1) + 9000;
	work->duration = 1000;
	work->correlation = 1;
	work->context = work->stream = 1;
	end_spool(&spool);
	struct hwy_trace *trace = ingest(&run);
	unsigned calls = 0, streams = 0;
	for (uint32_t i = 0; i < trace->n_lanes; i++) {
		calls += trace->lanes[i].type == HWY_LANE_API && hwy_lane_is_opencl(trace, i);
		streams += trace->lanes[i].type == HWY_LANE_STREAM && hwy_lane_is_opencl(trace, i);
	}
	assert_int_equal(calls, 1);
	assert_int_equal(streams, 1);
	assert_int_equal(trace->n_streams, 2);
	hwy_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_by_an_unknown_clock_stand_within_their_calls),
		cmocka_unit_test(a_clock_of_the_system_is_recognised),
		cmocka_unit_test(queued_times_that_mean_something_else_are_found_out),
		cmocka_unit_test(waits_and_dependencies_become_edges),
		cmocka_unit_test(cuda_and_opencl_in_one_process_are_told_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
