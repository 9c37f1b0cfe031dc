/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate_calls.c - CPU time of ranges, launches, graph launches and waits, the device's time for
 * the smallest kernels, and how many launches fit into the queue.
 *
 * CPU time is the mean of a batch of calls: reading the clock costs about as much as a hundredth of
 * a launch. Batches are far shorter than the queue, which is empty before each batch. On a machine
 * that others use too, a CPU is calm for about a tenth of a second at a time: the batches come in
 * many short goes, each on the CPU that is calm then, and by turns with the batches of the other
 * calls, so that a bad moment affects a few batches of each kind of call and all of none.
 */
#include "run/calibrate/calibrate_helper.h"
#include "run/run.h"

enum {
	BATCH = 128,
	RANGE_BATCH = 1000,
	GOES = 16,
	GO_BATCHES = 4,
	HELD = 20,          /* how often the device's time per kernel is measured */
	HELD_KERNELS = 256, /* how many kernels each measurement of the device's time has */
	QUEUE_RUNS = 3,
	QUEUE_MOST = 8192,
};
static_assert((int)(GOES * GO_BATCHES) <= (int)HELPER_SAMPLES, "all are kept");
/* How many ns the measurement of one number may take. */
static const int64_t BUDGET_NS = 150 * 1000 * 1000;
/* After so many ns a device that the host holds back goes on by itself. */
static const uint64_t HOLD_LIMIT_NS = 100 * 1000 * 1000;
/* A launch that takes more ns than this found the queue full. */
static const int64_t BLOCKED_NS = 20 * 1000 * 1000;

typedef void (*operation)(struct helper *helper);
struct timed {
	operation call;
	uint32_t batch;
	struct helper_samples samples; /* ns of CPU time that one call took */
};

static void launch_empty(struct helper *helper)
{
	helper_launch(helper, helper->empty, NULL);
}

static void launch_graph_1(struct helper *helper)
{
	helper_ok(helper, helper->cuda.cuGraphLaunch(helper->graph_1, helper->stream));
}

static void launch_graph_n(struct helper *helper)
{
	helper_ok(helper, helper->cuda.cuGraphLaunch(helper->graph_n, helper->stream));
}

static void call_nothing(struct helper *helper)
{
	(void)helper;
}

static void time_batches(struct helper *helper, struct timed *timed)
{
	helper_move_to_calm_cpu();
	for (int i = 0; i <= GO_BATCHES && !helper->error; i++) {
		int64_t start = run_now();
		for (uint32_t k = 0; k < timed->batch; k++)
			timed->call(helper);
		int64_t took = run_now() - start;
		helper_synchronize(helper);
		if (i) /* the first batch only warms up the CPU */
			timed->samples.values[timed->samples.n++] = (double)took / timed->batch;
	}
}

/* ---- the device held back -------------------------------------------------------------------- */

static void hold_device(struct helper *helper)
{
	uint64_t flag = helper->mailbox_device, limit = HOLD_LIMIT_NS;
	void *parameters[] = {&flag, &limit};
	helper->mailbox->flag = 0;
	helper_launch(helper, helper->spin, parameters);
}

static void release_device(struct helper *helper)
{
	helper->mailbox->flag = 1;
}

/* Yields the ns from releasing the device to the end of n calls that were enqueued while it was
 * held back. */
static double time_held(struct helper *helper, operation call, uint32_t n)
{
	struct helper_samples samples = {.n = 0};
	double median, spread;
	int64_t end = run_now() + BUDGET_NS;
	while (!helper->error && samples.n < HELD && (samples.n < 3 || run_now() < end)) {
		hold_device(helper);
		for (uint32_t i = 0; i < n; i++)
			call(helper);
		int64_t start = run_now();
		release_device(helper);
		helper_synchronize(helper);
		samples.values[samples.n++] = (double)(run_now() - start);
	}
	helper_summarize(&samples, &median, &spread);
	return median;
}

/* Measures the device's time for one more kernel, in a stream and as a node of a graph. Thrice, for
 * the spread. */
static void measure_periods(struct helper *helper)
{
	struct helper_samples kernels = {.n = 0}, nodes = {.n = 0};
	for (int i = 0; i < 3 && !helper->error; i++) {
		double none = time_held(helper, call_nothing, 0);
		double all = time_held(helper, launch_empty, HELD_KERNELS);
		kernels.values[kernels.n++] = (all - none) / HELD_KERNELS;
		double one = time_held(helper, launch_graph_1, 1);
		double graph = time_held(helper, launch_graph_n, 1);
		nodes.values[nodes.n++] = (graph - one) / (HELPER_NODES - 1);
	}
	helper_print_samples(helper, "kernel_period", &kernels);
	helper_print_samples(helper, "graph_node_period", &nodes);
}

/* Prints the CPU time of a graph's launch as two numbers a and b: a + b * nodes. */
static void print_graphs(struct helper *helper, struct timed *graph_1, struct timed *graph_n)
{
	double one, one_spread, all, all_spread;
	helper_summarize_calm(&graph_1->samples, &one, &one_spread);
	helper_summarize_calm(&graph_n->samples, &all, &all_spread);
	double node = all > one ? (all - one) / (HELPER_NODES - 1) : 0;
	helper_print(helper, "graph_launch", one - node, one_spread, "ns");
	helper_print(helper, "graph_node", node, (one_spread + all_spread) / (HELPER_NODES - 1),
		     "ns");
}

static void print_calls(struct helper *helper, const char *name, struct timed *timed)
{
	double value, spread;
	helper_summarize_calm(&timed->samples, &value, &spread);
	helper_print(helper, name, value, spread, "ns");
}

void helper_measure_calls(struct helper *helper)
{
	enum { RANGE, LAUNCH, SYNC, GRAPH_1, GRAPH_N, TIMED };
	struct timed timed[TIMED] = {
		[RANGE] = {.call = helper_push_and_pop, .batch = RANGE_BATCH},
		[LAUNCH] = {.call = launch_empty, .batch = BATCH},
		[SYNC] = {.call = helper_synchronize, .batch = BATCH},
		[GRAPH_1] = {.call = launch_graph_1, .batch = BATCH},
		[GRAPH_N] = {.call = launch_graph_n, .batch = 2},
	};
	int64_t end = run_now() + TIMED * BUDGET_NS;
	helper_open_ranges();
	for (int go = 0; go < GOES && (go < 2 || run_now() < end); go++)
		for (int i = 0; i < TIMED; i++)
			time_batches(helper, &timed[i]);
	print_calls(helper, "range", &timed[RANGE]);
	print_calls(helper, "launch", &timed[LAUNCH]);
	print_calls(helper, "sync", &timed[SYNC]);
	print_graphs(helper, &timed[GRAPH_1], &timed[GRAPH_N]);
	measure_periods(helper);
}

/* ---- the queue ------------------------------------------------------------------------------- */

/* Launches kernels behind a held device until a launch blocks; that launch goes on when
 * HOLD_LIMIT_NS is over. Yields the depth of the queue; 0: no launch blocked. */
static uint32_t fill_queue(struct helper *helper)
{
	uint32_t n = 0;
	bool blocked = false;
	hold_device(helper);
	while (!helper->error && !blocked && n < QUEUE_MOST) {
		int64_t start = run_now();
		helper_launch(helper, helper->empty, NULL);
		blocked = run_now() - start > BLOCKED_NS;
		n += !blocked;
	}
	release_device(helper);
	helper_synchronize(helper);
	/* Counts the kernel that holds the device, which is in the queue too. */
	return blocked ? n + 1 : 0;
}

void helper_measure_queue(struct helper *helper)
{
	struct helper_samples samples = {.n = 0};
	double median, spread;
	for (int i = 0; i < QUEUE_RUNS && !helper->error; i++) {
		uint32_t n = fill_queue(helper);
		if (n)
			samples.values[samples.n++] = n;
	}
	helper_summarize(&samples, &median, &spread);
	if (samples.n)
		helper_print(helper, "queue_depth", median, spread, "launches");
}
