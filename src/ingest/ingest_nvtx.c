/* ingest_nvtx.c - NVTX: ranges and marks.
 *
 * Push and pop pair in one spool file (that is: one thread) and domain; start and end by an id of the process,
 * from any thread. A range that never ended reaches to the end of the recording or of its process and says
 * so; an end without its beginning began before the recording did, and is told of as a number only.
 */
#include <stdio.h>
#include <stdlib.h>

#include "ingest/ingest_internal.h"

struct open_push {
	const struct rec_range *push;
	uint32_t below; /* index plus one */
};
struct open_start {
	const struct rec_range *start;
	uint32_t process, tid;
	const struct rec_range *end; /* NULL: none yet */
	uint32_t end_tid;
};
struct nvtx_state {
	struct open_push *pushes;
	uint32_t n_pushes, cap_pushes, unused; /* unused: list of free ones, index plus one */
	struct hwy_map tops; /* domain -> index plus one, of the file being read */
	struct open_start *starts;
	uint32_t n_starts, cap_starts;
	struct hwy_map start_of; /* process, id -> index */
	struct early_end {       /* the end was read before the start */
		uint32_t process, tid;
		const struct rec_range *end;
	} * ends;
	uint32_t n_ends, cap_ends;
	struct hwy_map lanes; /* thread, domain, style -> lane + 1 */
	uint64_t last_key;
	uint32_t last_lane;
	uint64_t headless; /* ends without a beginning */
};

static struct nvtx_state *ingest_nvtx_state_of(struct ingest *in)
{
	if (!in->nvtx) {
		in->nvtx = hwy_zalloc(sizeof *in->nvtx);
		in->nvtx->last_key = UINT64_MAX;
	}
	return in->nvtx;
}

/* ---- where and what ---------------------------------------------------------------------------- */

static uint32_t domain_name(struct ingest *in, struct ingest_process *process, uint32_t domain)
{
	char text[32];
	const uint32_t *known = hwy_map_get(&process->domains, domain);
	if (known)
		return *known - 1;
	if (domain == 0)
		return 0;
	snprintf(text, sizeof text, "domain %u", domain);
	return hwy_text_id(in->b, text);
}

static uint32_t category_name(struct ingest *in, struct ingest_process *process, uint32_t domain,
			      uint32_t category)
{
	uint64_t key = (uint64_t)domain << 32 | category;
	uint32_t *at = hwy_map_put(&process->categories, key, NULL);
	if (!*at) {
		char text[16];
		snprintf(text, sizeof text, "%u", category);
		*at = 1 + hwy_text_id(in->b, text);
	}
	return *at - 1;
}

static uint32_t lane_for(struct ingest *in, struct nvtx_state *x, uint32_t thread, uint32_t domain,
			 bool startend)
{
	uint64_t key = (uint64_t)thread << 33 | (uint64_t)startend << 32 | domain;
	if (key == x->last_key)
		return x->last_lane;
	uint32_t *at = hwy_map_put(&x->lanes, key, NULL);
	if (!*at) {
		struct ingest_process *process = &in->processes[in->threads[thread].process];
		struct hwy_lane lane = hwy_lane_of(startend ? HWY_LANE_STARTEND : HWY_LANE_RANGE,
						   process->record, thread);
		lane.name = domain_name(in, process, domain);
		*at = 1 + hwy_add_lane(in->b, lane);
	}
	x->last_key = key;
	return x->last_lane = *at - 1;
}

/* Payloads of 32 bits stand in the low half; a float becomes a double, as everywhere in a trace. */
static int64_t payload_of(const struct rec_range *record)
{
	union {
		double real;
		int64_t bits;
		uint64_t raw;
		float small;
		int32_t whole;
	} value = {.raw = record->payload};
	switch (record->payload_type) {
	case HWY_PAYLOAD_FLOAT: value.real = (double)value.small; return value.bits;
	case HWY_PAYLOAD_I32: return value.whole;
	case HWY_PAYLOAD_U32: return (int64_t)(record->payload & UINT32_MAX);
	default: return value.bits;
	}
}

/* Everything but the times. */
static void ingest_nvtx_describe(struct ingest *in, struct ingest_process *process,
				 const struct rec_range *record, struct hwy_row *row)
{
	bool whole = record->head.slots * REC_SLOT >= sizeof *record;
	bool numeric = whole && record->payload_type >= HWY_PAYLOAD_U64 &&
		       record->payload_type <= HWY_PAYLOAD_FLOAT;
	row->v[HWY_NAME] = ingest_text(in, process, record->head.value);
	row->v[HWY_CATEGORY] =
		record->category ? category_name(in, process, record->domain, record->category) : 0;
	row->v[HWY_COLOR] =
		whole && record->head.flags & 1 ? (int64_t)record->color | INT64_C(1) << 32 : 0;
	row->v[HWY_PAYLOAD_TYPE] = numeric ? record->payload_type : 0;
	row->v[HWY_PAYLOAD] = numeric ? payload_of(record) : 0;
	row->v[HWY_END_THREAD] = 0;
	row->v[HWY_FLAGS] = 0;
}

/* Where a range that never ended is cut off. */
static int64_t open_end(const struct ingest *in, const struct ingest_process *process,
			int64_t start)
{
	int64_t end = process->end < in->recording_end ? process->end : in->recording_end;
	return end > start ? end : start;
}

static void ingest_nvtx_add_range(struct ingest *in, uint32_t process, uint32_t tid,
				  const struct rec_range *record, const struct rec_range *end,
				  enum hwy_style style, uint32_t end_tid)
{
	struct ingest_process *of = &in->processes[process];
	struct nvtx_state *x = ingest_nvtx_state_of(in);
	struct hwy_row *row = &in->rows[HWY_RANGE];
	int64_t until = style == HWY_MARK ? record->time
			: end             ? end->time
					  : open_end(in, of, record->time);
	bool lasts = ingest_is_time(in, record->time) && ingest_is_time(in, until);
	if (!ingest_times(in, record->time, lasts ? until - record->time : 0, row))
		return;
	ingest_nvtx_describe(in, of, record, row);
	row->v[HWY_STYLE] = style;
	if (style == HWY_MARK)
		row->v[HWY_FLAGS] = HWY_FLAG_MARK;
	else if (!end)
		row->v[HWY_FLAGS] = HWY_FLAG_UNFINISHED;
	uint32_t thread = target_thread(in, process, tid);
	if (end_tid)
		row->v[HWY_END_THREAD] = 1 + (int64_t)target_thread(in, process, end_tid);
	hwy_add_span(in->b, lane_for(in, x, thread, record->domain, style == HWY_STARTEND),
		     HWY_RANGE, row);
}

/* ---- push and pop ------------------------------------------------------------------------------ */

static void ingest_nvtx_push(struct nvtx_state *x, const struct rec_range *record)
{
	uint32_t at = x->unused;
	if (at) {
		x->unused = x->pushes[at - 1].below;
	} else {
		HWY_GROW(x->pushes, x->n_pushes, x->cap_pushes);
		at = ++x->n_pushes;
	}
	uint32_t *top = hwy_map_put(&x->tops, record->domain, NULL);
	x->pushes[at - 1] = (struct open_push){record, *top};
	*top = at;
}

/* The innermost open range of a domain, taken off; NULL: there is none. */
static const struct rec_range *ingest_nvtx_take(struct nvtx_state *x, uint32_t *top)
{
	uint32_t at = *top;
	if (!at)
		return NULL;
	struct open_push *open = &x->pushes[at - 1];
	*top = open->below;
	open->below = x->unused;
	x->unused = at;
	return open->push;
}

void nvtx_file_ends(struct ingest *in, uint32_t process, uint32_t tid)
{
	struct nvtx_state *x = in->nvtx;
	if (!x || x->tops.count == 0)
		return;
	for (uint32_t s = 0; s <= x->tops.mask; s++)
		for (const struct rec_range *record;
		     x->tops.slots[s].used &&
		     (record = ingest_nvtx_take(x, &x->tops.slots[s].value));)
			ingest_nvtx_add_range(in, process, tid, record, NULL, HWY_PUSHPOP, 0);
	hwy_map_free(&x->tops);
}

/* ---- start and end ----------------------------------------------------------------------------- */

static uint64_t start_key(uint32_t process, uint64_t id)
{
	return hwy_mix(id) ^ process;
}

static void note_start(struct nvtx_state *x, uint32_t process, uint32_t tid,
		       const struct rec_range *record)
{
	HWY_GROW(x->starts, x->n_starts, x->cap_starts);
	x->starts[x->n_starts] = (struct open_start){record, process, tid, NULL, 0};
	*hwy_map_put(&x->start_of, start_key(process, record->id), NULL) = x->n_starts++;
}

static bool note_end(struct nvtx_state *x, uint32_t process, uint32_t tid,
		     const struct rec_range *record)
{
	const uint32_t *at = hwy_map_get(&x->start_of, start_key(process, record->id));
	if (!at)
		return false;
	x->starts[*at].end = record;
	x->starts[*at].end_tid = tid;
	return true;
}

static void finish_starts(struct ingest *in, struct nvtx_state *x)
{
	for (uint32_t i = 0; i < x->n_ends; i++)
		x->headless += !note_end(x, x->ends[i].process, x->ends[i].tid, x->ends[i].end);
	for (uint32_t i = 0; i < x->n_starts; i++) {
		const struct open_start *open = &x->starts[i];
		ingest_nvtx_add_range(in, open->process, open->tid, open->start, open->end,
				      HWY_STARTEND, open->end ? open->end_tid : 0);
	}
}

/* ---- all of it --------------------------------------------------------------------------------- */

void nvtx_add(struct ingest *in, uint32_t process, uint32_t tid, const struct rec_range *record)
{
	struct nvtx_state *x = ingest_nvtx_state_of(in);
	switch (record->head.type) {
	case REC_PUSH: ingest_nvtx_push(x, record); break;
	case REC_POP: {
		uint32_t *top = hwy_map_put(&x->tops, record->domain, NULL);
		const struct rec_range *begin = ingest_nvtx_take(x, top);
		if (begin)
			ingest_nvtx_add_range(in, process, tid, begin, record, HWY_PUSHPOP, 0);
		else
			x->headless++;
		break;
	}
	case REC_RANGE_START: note_start(x, process, tid, record); break;
	case REC_RANGE_END:
		if (!note_end(x, process, tid, record)) {
			HWY_GROW(x->ends, x->n_ends, x->cap_ends);
			x->ends[x->n_ends++] = (struct early_end){process, tid, record};
		}
		break;
	default: ingest_nvtx_add_range(in, process, tid, record, NULL, HWY_MARK, 0);
	}
}

void nvtx_finish(struct ingest *in)
{
	struct nvtx_state *x = in->nvtx;
	if (!x)
		return;
	finish_starts(in, x);
	if (x->headless)
		ingest_say(in, 1, HWY_NONE,
			   "%llu NVTX ranges began before the recording did and are left out",
			   (unsigned long long)x->headless);
	hwy_map_free(&x->tops);
	hwy_map_free(&x->start_of);
	hwy_map_free(&x->lanes);
	free(x->pushes);
	free(x->starts);
	free(x->ends);
	free(x);
	in->nvtx = NULL;
}
