/* trust.c - see trust.h. Counting only: what to do about it is up to the analyses. */
#include "analyze/trust.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/work.h"

/* What is said of each lack: when some is missing, which weakens the measures, and when all is,
 * which forbids them (NULL: it only weakens). */
static const struct {
	const char *name, *what, *measures, *some, *all;
} lacks[HWY_LACKS] = {
	[HWY_LACK_WORK] =
		{
			"launch-without-work",
			"launches have no device work",
			"busy and idle time, gap causes",
			"Their work was not recorded: busy time is a lower bound, some gaps are not idle.",
			"No device work was recorded: nothing can be said about the GPU.",
		},
	[HWY_LACK_LAUNCH] =
		{
			"work-without-launch",
			"device ops have no launch",
			"gap causes, queue length, launch delays, steps, projected ranges",
			"Who launched them, when, in which step is not known: gaps they end get no cause.",
			"No op is linked to a call, so nothing the CPU does can be blamed for a gap.",
		},
	[HWY_LACK_NODES] =
		{
			"graph-without-nodes",
			"graph launches have no recorded nodes",
			"kernel statistics, busy time inside graphs",
			"Each counts as one busy op: kernels and pauses inside it are not seen.",
			"All graphs are opaque: no kernel inside them has a name, a time or a gap.",
		},
	[HWY_LACK_SYNC] =
		{
			"no-sync-records",
			"blocking calls have no record of what they waited for",
			"wait causes, dependency edges, critical path",
			"What they waited for must be inferred from their names and the work around.",
			NULL,
		},
	[HWY_LACK_DROPS] =
		{
			"drops",
			"records were lost while recording",
			"all counts and sums",
			"Counts and sums are lower bounds, and a gap may hold work that was lost.",
			NULL,
		},
	[HWY_LACK_ENDS] =
		{
			"unfinished-ranges",
			"ranges have no recorded end",
			"range times, steps",
			"They are taken to last until their thread's last event.",
			NULL,
		},
	[HWY_LACK_CLOCK] =
		{
			"backward-links",
			"linked ops start before the call that launched them",
			"launch delays, queue length, replay",
			"The clocks of CPU and GPU disagree there: small delays cannot be trusted.",
			"The clocks of CPU and GPU disagree: no delay from call to work can be trusted.",
		},
};

struct count {
	uint64_t n, of;
};

/* ---- launches -------------------------------------------------------------------------------- */

static bool is_set(const uint8_t *bits, uint32_t id)
{
	return bits[id >> 3] >> (id & 7) & 1;
}

/* One bit a span: calls that have work. Counts the work that has no call, or one that came later. */
static uint8_t *calls_with_work(const struct hwy_trace *trace, struct count *unlinked,
				struct count *backward)
{
	uint8_t *bits = hwy_zalloc(trace->n_spans / 8 + 1);
	const struct hwy_strip *calls = trace->strips; /* of the last link: calls come in runs */
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (!(HWY_DEVICE_KINDS & HWY_KIND_BIT(strip->kind)))
			continue;
		struct hwy_reader links = column_reader(strip->columns[HWY_LINK]);
		struct hwy_reader starts = column_reader(strip->columns[HWY_START]);
		unlinked->of += strip->rows;
		for (uint32_t row = 0; row < strip->rows; row++) {
			int64_t link = reader_get(&links, row);
			uint32_t id = (uint32_t)(link - 1), at = id - calls->first;
			bool known = link > 0 && link <= trace->n_spans;
			if (known && at >= calls->rows)
				calls = hwy_strip_of(trace, id, &at);
			if (!known || calls->kind != HWY_API) {
				unlinked->n++;
				continue;
			}
			bits[id >> 3] = (uint8_t)(bits[id >> 3] | 1u << (id & 7));
			backward->of++;
			backward->n += reader_get(&starts, row) < hwy_get(calls, HWY_START, at);
		}
	}
	return bits;
}

struct calls { /* of all threads */
	const uint8_t *with_work;
	uint64_t by_role[256]; /* hwy_role */
	struct count launches; /* without work */
};

struct thread_calls {   /* along the calls of one thread */
	bool capturing; /* launches go into a graph, not to the device */
	int64_t end;    /* of the outermost launch that is open */
	bool open, has_work;
};

static void close_launch(struct thread_calls *calls, struct count *count)
{
	if (!calls->open)
		return;
	count->of++;
	count->n += !calls->has_work;
	calls->open = false;
}

static bool trust_enqueues(enum hwy_role role)
{
	return role == HWY_ROLE_LAUNCH || role == HWY_ROLE_COPY || role == HWY_ROLE_FILL ||
	       role == HWY_ROLE_GRAPH_LAUNCH;
}

/* A driver call inside a runtime call is the same launch; a launch that failed promised nothing;
 * one that was captured runs when its graph does. */
static void look_at_call(struct hwy_trace *trace, const struct hwy_strip *strip, uint32_t row,
			 struct calls *all, struct thread_calls *calls)
{
	int64_t name = hwy_get(strip, HWY_NAME, row);
	unsigned full = hwy_role(trace, name);
	enum hwy_role role = HWY_ROLE_OF(full);
	all->by_role[full & 0xff]++;
	if (role == HWY_ROLE_GRAPH_BUILD) {
		/* No role tells the two apart; every vendor calls them by these words. */
		if (strstr(hwy_str(trace, name), "BeginCapture"))
			calls->capturing = true;
		else if (strstr(hwy_str(trace, name), "EndCapture"))
			calls->capturing = false;
		return;
	}
	if (!trust_enqueues(role) || hwy_get(strip, HWY_RESULT, row) != 0)
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

static void trust_look_at_calls(struct hwy_trace *trace, struct calls *all)
{
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (strip->kind != HWY_API)
			continue;
		struct thread_calls calls = {0};
		for (uint32_t row = 0; row < strip->rows; row++)
			look_at_call(trace, strip, row, all, &calls);
		close_launch(&calls, &all->launches);
	}
}

/* ---- the rest -------------------------------------------------------------------------------- */

static struct count graphs_without_nodes(const struct hwy_work *work, const struct calls *calls)
{
	struct hwy_trace *trace = work->trace;
	struct count count = {.of = calls->by_role[HWY_ROLE_GRAPH_LAUNCH]};
	uint64_t spans = 0;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		for (uint32_t row = 0; strip->kind == HWY_GRAPH && row < strip->rows; row++) {
			count.n += work_is_own(work, strip, row);
			spans++;
		}
	}
	count.of = spans > count.of ? spans : count.of;
	return count;
}

/* Where the recorder notes waits at all, a call without one did not have to wait. */
static struct count blocking_without_sync(const struct hwy_trace *trace, const struct calls *calls)
{
	struct count count = {.of = calls->by_role[HWY_ROLE_SYNC | HWY_ROLE_BLOCKS]};
	count.n = count.of;
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
	count.of = trace->n_spans + count.n;
	return count;
}

static struct count unfinished_ranges(const struct hwy_trace *trace)
{
	struct count count = {0};
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		for (uint32_t row = 0; strip->kind == HWY_RANGE && row < strip->rows; row++) {
			int64_t flags = hwy_get(strip, HWY_FLAGS, row);
			count.of += !(flags & HWY_FLAG_MARK);
			count.n += (flags & HWY_FLAG_UNFINISHED) != 0;
		}
	}
	return count;
}

static void say(struct hwy_trust *trust, enum hwy_lack_id id, struct count count)
{
	struct hwy_lack *lack = &trust->lacks[id];
	*lack = (struct hwy_lack){
		.name = lacks[id].name,
		.what = lacks[id].what,
		.count = count.n,
		.of = count.of,
		.measures = lacks[id].measures,
		.says = "",
	};
	if (count.n && count.n == count.of && lacks[id].all) {
		lack->effect = HWY_EFFECT_FORBIDS;
		lack->says = lacks[id].all;
	} else if (count.n) {
		lack->effect = HWY_EFFECT_WEAKENS;
		lack->says = lacks[id].some;
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
		trust_look_at_calls(trace, &calls);
		say(trust, HWY_LACK_WORK, calls.launches);
		say(trust, HWY_LACK_LAUNCH, unlinked);
		say(trust, HWY_LACK_NODES, graphs_without_nodes(&work, &calls));
		say(trust, HWY_LACK_SYNC, blocking_without_sync(trace, &calls));
		say(trust, HWY_LACK_DROPS, lost_records(trace));
		say(trust, HWY_LACK_ENDS, unfinished_ranges(trace));
		say(trust, HWY_LACK_CLOCK, backward);
		free(with_work);
	}
	work_close(&work);
	return loaded;
}
