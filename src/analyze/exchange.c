/* SPDX-License-Identifier: Apache-2.0 */
/* exchange.c - see exchange.h. */
#include "analyze/exchange.h"

#include <ctype.h>
#include <string.h>

#define NEEDED (HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR))

static int64_t same_time(const void *user, int64_t time)
{
	(void)user;
	return time;
}

const struct exchange_clock exchange_same_clock = {same_time, NULL};

static bool is_span(const struct hwy_trace *trace, int64_t id)
{
	return id >= 0 && id < trace->n_spans;
}

bool exchange_need(struct hwy_trace *trace, struct hwy_err *err)
{
	uint32_t kinds = 0, row;
	for (uint32_t i = 0; i < trace->n_messages; i++) {
		const struct hwy_message *m = &trace->messages[i];
		if (is_span(trace, m->span))
			kinds |= HWY_KIND_BIT(hwy_strip_of(trace, (uint32_t)m->span, &row)->kind);
		if (is_span(trace, m->done))
			kinds |= HWY_KIND_BIT(hwy_strip_of(trace, (uint32_t)m->done, &row)->kind);
	}
	return kinds == 0 || hwy_need(trace, kinds, NEEDED, err);
}

static struct hwy_interval interval_of(const struct hwy_trace *trace, int64_t id, uint32_t *kind)
{
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(trace, (uint32_t)id, &row);
	int64_t start = hwy_get(strip, HWY_START, row);
	*kind = strip->kind;
	return (struct hwy_interval){start, start + hwy_get(strip, HWY_DUR, row)};
}

static int64_t first_known(int64_t a, int64_t b, int64_t c)
{
	return a != HWY_NONE ? a : b != HWY_NONE ? b : c != HWY_NONE ? c : 0;
}

struct exchange_times exchange_times(const struct hwy_trace *trace,
				     const struct hwy_message *message)
{
	struct exchange_times times = {0};
	uint32_t kind = HWY_CALL;
	if (is_span(trace, message->span)) {
		times.call = interval_of(trace, message->span, &kind);
		times.post = times.call.from;
	} else {
		times.post = first_known(message->posted, message->start, message->end);
		times.call.from = first_known(message->start, times.post, HWY_NONE);
		times.call.to = first_known(message->end, times.call.from, HWY_NONE);
	}
	times.is_device = kind == HWY_KERNEL;
	if (!times.is_device && is_span(trace, message->done) && message->done != message->span) {
		times.call = interval_of(trace, message->done, &kind);
		times.is_nonblocking = true;
	}
	if (times.call.to < times.call.from)
		times.call.to = times.call.from;
	return times;
}

int64_t exchange_rank(const struct hwy_trace *trace, const struct hwy_message *message)
{
	if (message->process < 0 || message->process >= trace->n_processes)
		return HWY_NONE;
	return trace->processes[message->process].rank;
}

static void exchange_put_text(struct hwy_bytes *key, const struct hwy_trace *trace, int64_t id)
{
	struct hwy_text text = id == HWY_NONE ? (struct hwy_text){0} : hwy_text(trace, id);
	hwy_bytes_put_varint(key, text.length);
	hwy_bytes_put(key, text.at, text.length);
}

void exchange_put_group(struct hwy_bytes *key, const struct hwy_trace *trace,
			const struct hwy_message *message)
{
	exchange_put_text(key, trace, message->library);
	bool has_group = message->group >= 0 && message->group < trace->n_groups;
	const struct hwy_group *group = has_group ? &trace->groups[message->group] : NULL;
	exchange_put_text(key, trace, group ? group->name : HWY_NONE);
	exchange_put_text(key, trace, group ? group->ranks : HWY_NONE);
}

/* ---- who waits for whom ---------------------------------------------------------------------- */

static const struct {
	const char *name;
	enum exchange_kind kind;
} operations[] = {
	{"AllReduce", EXCHANGE_ALL},     {"AllGather", EXCHANGE_ALL},
	{"ReduceScatter", EXCHANGE_ALL}, {"AllToAll", EXCHANGE_ALL},
	{"Barrier", EXCHANGE_ALL},       {"Broadcast", EXCHANGE_FROM_ROOT},
	{"Scatter", EXCHANGE_FROM_ROOT}, {"Reduce", EXCHANGE_TO_ROOT},
	{"Gather", EXCHANGE_TO_ROOT},    {"Scan", EXCHANGE_PREFIX},
};

static bool is_text(struct hwy_text text, const char *other)
{
	return text.length == strlen(other) && memcmp(text.at, other, text.length) == 0;
}

/* Whether the members of a communicator stand in the order of their ranks in the job: only then
 * are the ranks before a rank those with lower numbers. */
static bool is_in_order(const struct hwy_trace *trace, const struct hwy_message *message)
{
	if (message->group < 0 || message->group >= trace->n_groups ||
	    trace->groups[message->group].ranks == HWY_NONE)
		return true;
	struct hwy_text list = hwy_text(trace, trace->groups[message->group].ranks);
	int64_t before = -1, number = -1;
	for (uint32_t i = 0; i <= list.length; i++) {
		char c = i < list.length ? list.at[i] : ',';
		if (isdigit((unsigned char)c) && number < INT32_MAX) {
			number = (number < 0 ? 0 : number * 10) + (c - '0');
		} else if (c == ',') {
			if (number >= 0 && number <= before)
				return false;
			before = number >= 0 ? number : before;
			number = -1;
		} else {
			number = -1; /* "0-7:2": runs go up */
		}
	}
	return true;
}

enum exchange_kind exchange_kind_of(const struct hwy_trace *trace,
				    const struct hwy_message *message)
{
	if (message->name == HWY_NONE)
		return EXCHANGE_LOOSE;
	struct hwy_text name = hwy_text(trace, message->name);
	for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
		if (!is_text(name, operations[i].name))
			continue;
		enum exchange_kind kind = operations[i].kind;
		bool has_root = kind == EXCHANGE_FROM_ROOT || kind == EXCHANGE_TO_ROOT;
		if ((has_root && message->peer == HWY_NONE) ||
		    (kind == EXCHANGE_PREFIX && !is_in_order(trace, message)))
			return EXCHANGE_LOOSE;
		return kind;
	}
	return EXCHANGE_LOOSE;
}

bool exchange_is_barrier(const struct hwy_trace *trace, const struct hwy_message *message)
{
	return message->name != HWY_NONE && is_text(hwy_text(trace, message->name), "Barrier");
}
