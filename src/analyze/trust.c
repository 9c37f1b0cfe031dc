/* SPDX-License-Identifier: Apache-2.0 */
/* trust.c - see trust.h. This file only counts; the analyses decide what to do about it. */
#include "analyze/trust.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/work.h"
#include "base/lang.h"

/* The texts of each lack. 'some' is shown where some things lack it, which weakens the measures;
 * 'all' where all do, which forbids the measures (NULL: it only weakens them). */
static const struct {
	const char *name, *what, *measures, *some, *all;
} lacks[HWY_LACKS] = {
	[HWY_LACK_WORK] =
		{
			"launch-without-work",
			HWY_KEY("launches have no device work"),
			HWY_KEY("busy and idle time, gap causes"),
			HWY_KEY("Their work was not recorded: busy time is a lower bound, some gaps are not idle."),
			HWY_KEY("No device work was recorded: nothing can be said about the GPU."),
		},
	[HWY_LACK_LAUNCH] =
		{
			"work-without-launch",
			HWY_KEY("device ops have no launch"),
			HWY_KEY("gap causes, queue length, launch delays, steps, projected ranges"),
			HWY_KEY("Who launched them, when, in which step is not known: gaps they end get no cause."),
			HWY_KEY("No op is linked to a call, so nothing the CPU does can be blamed for a gap."),
		},
	[HWY_LACK_NODES] =
		{
			"graph-without-nodes",
			HWY_KEY("graph launches have no recorded nodes"),
			HWY_KEY("kernel statistics, busy time inside graphs"),
			HWY_KEY("Each counts as one busy op: kernels and pauses inside it are not seen."),
			HWY_KEY("All graphs are opaque: no kernel inside them has a name, a time or a gap."),
		},
	[HWY_LACK_SYNC] =
		{
			"no-sync-records",
			HWY_KEY("blocking calls have no record of what they waited for"),
			HWY_KEY("wait causes, dependency edges, critical path"),
			HWY_KEY("What they waited for must be inferred from their names and the work around."),
			NULL,
		},
	[HWY_LACK_DROPS] =
		{
			"drops",
			HWY_KEY("records were lost while recording"),
			HWY_KEY("all counts and sums"),
			HWY_KEY("Counts and sums are lower bounds, and a gap may hold work that was lost."),
			NULL,
		},
	[HWY_LACK_ENDS] =
		{
			"unfinished-ranges",
			HWY_KEY("ranges have no recorded end"),
			HWY_KEY("range times, steps"),
			HWY_KEY("They are taken to last until their thread's last event."),
			NULL,
		},
	[HWY_LACK_CLOCK] =
		{
			"backward-links",
			HWY_KEY("linked ops start before the call that launched them"),
			HWY_KEY("launch delays, queue length, replay"),
			HWY_KEY("The clocks of CPU and GPU disagree there: small delays cannot be trusted."),
			HWY_KEY("The clocks of CPU and GPU disagree: no delay from call to work can be trusted."),
		},
	[HWY_LACK_PROGRAMS] =
		{
			"programs-not-recorded",
			HWY_KEY("programs of the run recorded nothing"),
			HWY_KEY("all counts and sums, what the CPU did"),
			HWY_KEY("What they did, and when, is missing; 'headway info --all' says why."),
			NULL,
		},
	[HWY_LACK_CLOCKS] =
		{
			"clocks-changed",
			HWY_KEY("recordings had the GPU's clocks changed by sampling its counters"),
			HWY_KEY("times of device work, predictions"),
			"",
			HWY_KEY("Times are not those of the program alone: record again without --gpu-metrics-devices."),
		},
};

struct count {
	uint64_t n, total; /* n of 'total' objects lack something */
};

/* ---- launches -------------------------------------------------------------------------------- */

static bool is_set(const uint8_t *bits, uint32_t id)
{
	return bits[id >> 3] >> (id & 7) & 1;
}

/* One bit for each span: whether it is a call that enqueued work. Counts the work without a call
 * (unlinked), and the work that started before its call (backward). */
static uint8_t *calls_with_work(const struct hwy_trace *trace, struct count *unlinked,
				struct count *backward)
{
	uint8_t *bits = hwy_zalloc(trace->n_spans / 8 + 1);
	/* A cache: the strip that held the last call mostly holds the next call, too. */
	const struct hwy_strip *calls = trace->strips;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (!(HWY_DEVICE_KINDS & HWY_KIND_BIT(strip->kind)))
			continue;
		struct hwy_reader links = column_reader(strip->columns[HWY_LINK]);
		struct hwy_reader starts = column_reader(strip->columns[HWY_START]);
		unlinked->total += strip->rows;
		for (uint32_t row = 0; row < strip->rows; row++) {
			uint32_t id = 0;
			bool has_link = hwy_ref_to_index(reader_get(&links, row), &id) &&
					id < trace->n_spans;
			uint32_t call_row = id - calls->first;
			if (has_link && call_row >= calls->rows)
				calls = hwy_strip_of(trace, id, &call_row);
			if (!has_link || calls->kind != HWY_API) {
				unlinked->n++;
				continue;
			}
			bits[id >> 3] = (uint8_t)(bits[id >> 3] | 1u << (id & 7));
			backward->total++;
			backward->n +=
				reader_get(&starts, row) < hwy_get(calls, HWY_START, call_row);
		}
	}
	return bits;
}

struct calls {                    /* the calls of all threads */
	const uint8_t *with_work; /* one bit for each span id: device work links to this span */
	uint64_t by_role[256];    /* the number of calls of each enum hwy_role */
	struct count launches;    /* how many launches have no device work */
};

struct thread_calls {   /* the state of a walk along the calls of one thread */
	bool capturing; /* a graph is being captured: launches do not reach the device */
	/* 'open': a launch has not ended yet. 'has_work': the launch, or a call inside it,
	 * enqueued work. */
	bool open, has_work;
	int64_t end; /* when the open launch ends */
};

static void close_launch(struct thread_calls *calls, struct count *count)
{
	if (!calls->open)
		return;
	count->total++;
	count->n += !calls->has_work;
	calls->open = false;
}

static bool role_enqueues(enum hwy_role role)
{
	return role == HWY_ROLE_LAUNCH || role == HWY_ROLE_COPY || role == HWY_ROLE_FILL ||
	       role == HWY_ROLE_GRAPH_LAUNCH;
}

/* Counts launches without work. A driver call inside a runtime call is the same launch; a launch
 * that failed enqueues nothing; one that was captured runs when its graph is launched. */
static void count_call(struct hwy_trace *trace, const struct hwy_strip *strip, uint32_t row,
		       struct calls *all, struct thread_calls *calls)
{
	int64_t name = hwy_get(strip, HWY_NAME, row);
	unsigned full = hwy_role(trace, name);
	enum hwy_role role = HWY_ROLE_OF(full);
	all->by_role[full & 0xff]++;
	if (role == HWY_ROLE_GRAPH_BUILD) {
		/* The calls that begin and end a capture share the role of building a graph, so
		 * only their names differ; every vendor uses these words. */
		if (strstr(hwy_str(trace, name), "BeginCapture"))
			calls->capturing = true;
		else if (strstr(hwy_str(trace, name), "EndCapture"))
			calls->capturing = false;
		return;
	}
	if (!role_enqueues(role) || hwy_get(strip, HWY_RESULT, row) != 0)
		return;
	bool has_work = is_set(all->with_work, strip->first + row);
	if (calls->capturing && !has_work)
		return;
	int64_t start = hwy_get(strip, HWY_START, row);
	if (calls->open && start < calls->end) {
		calls->has_work |= has_work;
		return;
	}
	close_launch(calls, &all->launches);
	*calls = (struct thread_calls){
		.capturing = calls->capturing,
		.end = hwy_end(strip, row),
		.open = true,
		.has_work = has_work,
	};
}

static void count_calls(struct hwy_trace *trace, struct calls *all)
{
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (strip->kind != HWY_API)
			continue;
		struct thread_calls calls = {0};
		for (uint32_t row = 0; row < strip->rows; row++)
			count_call(trace, strip, row, all, &calls);
		close_launch(&calls, &all->launches);
	}
}

/* ---- the rest -------------------------------------------------------------------------------- */

static struct count graphs_without_nodes(const struct hwy_work *work, const struct calls *calls)
{
	struct hwy_trace *trace = work->trace;
	struct count count = {.total = calls->by_role[HWY_ROLE_GRAPH_LAUNCH]};
	uint64_t spans = 0;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		for (uint32_t row = 0; strip->kind == HWY_GRAPH && row < strip->rows; row++) {
			count.n += work_is_own(work, strip, row);
			spans++;
		}
	}
	count.total = spans > count.total ? spans : count.total;
	return count;
}

/* Where the recording has records of waits at all, a blocking call without a record did not have
 * to wait. */
static struct count blocking_without_sync(const struct hwy_trace *trace, const struct calls *calls)
{
	struct count count = {.total = calls->by_role[HWY_ROLE_SYNC | HWY_ROLE_BLOCKS]};
	count.n = count.total;
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (trace->strips[s].kind == HWY_SYNC && trace->strips[s].rows)
			count.n = 0;
	return count;
}

static struct count lost_records(const struct hwy_trace *trace)
{
	struct count count = {0};
	for (uint32_t d = 0; d < trace->n_drops; d++)
		count.n += trace->drops[d].count > 0 ? (uint64_t)trace->drops[d].count : 1;
	count.total = trace->n_spans + count.n;
	return count;
}

static struct count unfinished_ranges(const struct hwy_trace *trace)
{
	struct count count = {0};
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		for (uint32_t row = 0; strip->kind == HWY_RANGE && row < strip->rows; row++) {
			int64_t flags = hwy_get(strip, HWY_FLAGS, row);
			count.total += !(flags & HWY_FLAG_MARK);
			count.n += (flags & HWY_FLAG_UNFINISHED) != 0;
		}
	}
	return count;
}

static struct count silent_programs(const struct hwy_trace *trace)
{
	const char *number = hwy_property(trace, "unrecorded.programs");
	struct count count = {.n = number ? strtoull(number, NULL, 10) : 0};
	count.total = count.n + trace->n_processes;
	return count;
}

/* The recorder notes the property only where it saw clocks change when sampling began. */
static struct count changed_clocks(const struct hwy_trace *trace)
{
	bool is_changed = hwy_property(trace, "gpu_metrics.clocks") != NULL;
	return (struct count){.n = is_changed, .total = is_changed};
}

static void set_lack(struct hwy_trust *trust, enum hwy_lack_id id, struct count count)
{
	struct hwy_lack *lack = &trust->lacks[id];
	*lack = (struct hwy_lack){
		.name = lacks[id].name,
		.what = lacks[id].what,
		.count = count.n,
		.total = count.total,
		.measures = lacks[id].measures,
		.says = "",
		.from = HWY_NONE,
		.to = HWY_NONE,
	};
	if (count.n && count.n == count.total && lacks[id].all) {
		lack->effect = HWY_EFFECT_FORBIDS;
		lack->says = lacks[id].all;
	} else if (count.n) {
		lack->effect = HWY_EFFECT_WEAKENS;
		lack->says = lacks[id].some;
	}
}

/* Sets from when to when records were lost, over all drops whose times are known. */
static void set_lost_times(const struct hwy_trace *trace, struct hwy_lack *lack)
{
	for (uint32_t d = 0; d < trace->n_drops; d++) {
		const struct hwy_drop *drop = &trace->drops[d];
		if (drop->from == HWY_NONE || drop->to == HWY_NONE)
			continue;
		lack->from =
			lack->from == HWY_NONE || drop->from < lack->from ? drop->from : lack->from;
		lack->to = lack->to == HWY_NONE || drop->to > lack->to ? drop->to : lack->to;
	}
}

bool trust_measure(struct hwy_trace *trace, struct hwy_trust *trust, struct hwy_err *err)
{
	struct hwy_work work;
	*trust = (struct hwy_trust){0};
	bool loaded = work_open(&work, trace, HWY_SCOPE_ALL, err) &&
		      hwy_need(trace, HWY_KIND_BIT(HWY_API), HWY_COL_BIT(HWY_RESULT), err) &&
		      hwy_need(trace, HWY_KIND_BIT(HWY_RANGE), HWY_COL_BIT(HWY_FLAGS), err);
	if (loaded) {
		struct count unlinked = {0}, backward = {0};
		uint8_t *with_work = calls_with_work(trace, &unlinked, &backward);
		struct calls calls = {.with_work = with_work};
		count_calls(trace, &calls);
		set_lack(trust, HWY_LACK_WORK, calls.launches);
		set_lack(trust, HWY_LACK_LAUNCH, unlinked);
		set_lack(trust, HWY_LACK_NODES, graphs_without_nodes(&work, &calls));
		set_lack(trust, HWY_LACK_SYNC, blocking_without_sync(trace, &calls));
		set_lack(trust, HWY_LACK_DROPS, lost_records(trace));
		set_lost_times(trace, &trust->lacks[HWY_LACK_DROPS]);
		set_lack(trust, HWY_LACK_ENDS, unfinished_ranges(trace));
		set_lack(trust, HWY_LACK_CLOCK, backward);
		set_lack(trust, HWY_LACK_PROGRAMS, silent_programs(trace));
		set_lack(trust, HWY_LACK_CLOCKS, changed_clocks(trace));
		free(with_work);
	}
	work_close(&work);
	return loaded;
}
