/* SPDX-License-Identifier: Apache-2.0 */
/* ingest_nvtx.c - adds the spans of NVTX ranges and marks, and of library calls that come as
 * ranges.
 *
 * A push/pop range in the domain of a library (spool/libraries.h) becomes a call of that
 * library.
 *
 * A pop ends the last push of its domain in the same spool file, that is: on the same thread. A
 * start and an end belong together if they have one id in one process, whichever thread they
 * come from. A range that never ended reaches to the end of the recording or of its process, and
 * has HWY_FLAG_UNFINISHED. An end without a begin is of a range that began before the recording:
 * such ranges are only counted, in a diagnostic.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/ingest_internal.h"
#include "ingest/nccl_ranges.h"
#include "ingest/nvtx_schemas.h"
#include "spool/libraries.h"

/* Payloads of events that were not read yet, the last ones: an event follows its payloads, but a
 * signal handler's events may stand between them. */
enum { MOST_PENDING = 32, MOST_PAYLOADS = 4 };

struct open_push {
	const struct rec_range *push;
	/* below_ref: ref of ingest_nvtx.pushes: the range around this range; in a free element,
	 * the next free element. */
	uint32_t below_ref;
	uint32_t payloads_ref; /* ref of ingest_nvtx.payloads; 0: the event has none */
};
struct open_start {
	const struct rec_range *start;
	uint32_t process, tid;
	const struct rec_range *end; /* NULL: the range has not ended yet */
	uint32_t end_tid;
	uint32_t payloads_ref; /* as in struct open_push */
};
/* What a range brings in payloads of NVTX's extension, with its begin and its end. */
struct range_payloads {
	const struct nvtx_decoded *list[MOST_PAYLOADS];
	uint32_t n;
	uint32_t args; /* text: arguments that a wrapper has recorded; 0: none */
};
struct ingest_nvtx {
	struct open_push *pushes;
	uint32_t n_pushes, cap_pushes;
	uint32_t free_ref; /* ref of 'pushes': the first element that is free again */
	/* tops: for the file that is being read: maps a domain to the ref in 'pushes' of its
	 * innermost open range. */
	struct hwy_map tops;
	struct open_start *starts;
	uint32_t n_starts, cap_starts;
	struct hwy_index start_of; /* maps a struct start_key to an index into 'starts' */
	struct early_end {         /* the end of a range, read before the range's start */
		uint32_t process, tid;
		const struct rec_range *end;
		uint32_t payloads_ref;
	} * ends;
	uint32_t n_ends, cap_ends;
	struct hwy_map lanes; /* maps thread, domain and style of a range to its lane */
	uint64_t last_key;    /* key of the last range's lane, which most ranges share */
	uint32_t last_lane;
	/* Maps process and domain to 1 where the domain is not a library's, to 2 where it is. */
	struct hwy_map library_domains;
	const struct rec_nvtx_payload *pending[MOST_PENDING];
	/* how many there have been in the file; the last MOST_PENDING are kept */
	uint32_t n_pending;
	struct range_payloads *payloads;
	uint32_t n_payloads, cap_payloads;
	/* The arguments of the call that comes next in the file, as a ref of 'payloads', and the
	 * string id of its name. */
	uint32_t expected_ref, expected_name;
	struct hwy_map args_refs; /* maps a text of arguments to its ref of 'payloads' */
	uint64_t headless;        /* how many ends of ranges had no begin */
};

static struct ingest_nvtx *ingest_nvtx_state(struct ingest *in)
{
	if (!in->nvtx) {
		in->nvtx = hwy_zalloc(sizeof *in->nvtx);
		in->nvtx->last_key = UINT64_MAX;
	}
	return in->nvtx;
}

/* ---- payloads of NVTX's extension
 * ---------------------------------------------------------------- */

void ingest_nvtx_payload(struct ingest *in, const struct rec_nvtx_payload *record)
{
	struct ingest_nvtx *x = ingest_nvtx_state(in);
	x->pending[x->n_pending++ % MOST_PENDING] = record;
}

void ingest_nvtx_expect(struct ingest *in, uint32_t process, const struct rec_call *record)
{
	struct ingest_nvtx *x = ingest_nvtx_state(in);
	uint32_t args = ingest_text(in, &in->processes[process], record->args);
	bool fresh;
	uint32_t *ref = hwy_map_put(&x->args_refs, args, &fresh);
	if (fresh) {
		HWY_GROW(x->payloads, x->n_payloads, x->cap_payloads);
		x->payloads[x->n_payloads] = (struct range_payloads){.args = args};
		*ref = hwy_ref32(x->n_payloads++);
	}
	x->expected_ref = *ref;
	x->expected_name = record->head.value;
}

/* The arguments that were recorded in front of a range; 0: none. */
static uint32_t expected_of(struct ingest_nvtx *x, const struct rec_range *record)
{
	if (!hwy_ref32_is_set(x->expected_ref) || record->domain == 0 ||
	    record->head.value != x->expected_name)
		return HWY_REF_NONE;
	uint32_t ref = x->expected_ref;
	x->expected_ref = HWY_REF_NONE;
	return ref;
}

/* Adds the payloads of an event to those of its range, if it has any; yields the range's. */
static uint32_t payloads_of(struct ingest *in, uint32_t process, const struct rec_range *record,
			    uint32_t payloads_ref)
{
	struct ingest_nvtx *x = in->nvtx;
	bool whole = record->head.slots * REC_SLOT >= sizeof *record;
	if (!whole || record->payload_type != REC_PAYLOAD_EXTENDED)
		return payloads_ref;
	uint32_t from = x->n_pending < MOST_PENDING ? 0 : x->n_pending - MOST_PENDING;
	for (uint32_t i = from; i < x->n_pending; i++) {
		const struct rec_nvtx_payload *payload = x->pending[i % MOST_PENDING];
		if (!payload || payload->number != record->payload)
			continue;
		x->pending[i % MOST_PENDING] = NULL;
		const struct nvtx_decoded *decoded = nvtx_decode(in, process, payload);
		if (!decoded)
			continue;
		/* Arguments of wrappers are shared by the ranges that have the same ones. */
		if (!hwy_ref32_is_set(payloads_ref) ||
		    x->payloads[hwy_ref32_index(payloads_ref)].args) {
			HWY_GROW(x->payloads, x->n_payloads, x->cap_payloads);
			x->payloads[x->n_payloads] = (struct range_payloads){.n = 0};
			payloads_ref = hwy_ref32(x->n_payloads++);
		}
		struct range_payloads *list = &x->payloads[hwy_ref32_index(payloads_ref)];
		if (list->n < MOST_PAYLOADS)
			list->list[list->n++] = decoded;
	}
	return payloads_ref;
}

/* The arguments of a range: the fields of all its payloads in one JSON object. */
static uint32_t payload_args(struct ingest *in, uint32_t payloads_ref)
{
	if (!hwy_ref32_is_set(payloads_ref))
		return 0;
	const struct range_payloads *payloads = &in->nvtx->payloads[hwy_ref32_index(payloads_ref)];
	if (payloads->n <= 1)
		return payloads->n ? payloads->list[0]->args : payloads->args;
	char *joined = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&joined, &length);
	if (!out)
		return 0;
	for (uint32_t i = 0; i < payloads->n; i++) {
		struct hwy_text text = hwy_text(in->trace, payloads->list[i]->args);
		if (text.length > 2)
			fprintf(out, "%s%.*s", ftell(out) ? ", " : "{", (int)text.length - 2,
				text.at + 1);
	}
	fputs(ftell(out) ? "}" : "", out);
	fclose(out);
	uint32_t args = hwy_text_id_n(in->b, joined, length);
	free(joined);
	return args;
}

/* The name of a range: its message, or the field of a payload that is its message. */
static uint32_t range_name(struct ingest *in, struct ingest_process *process,
			   const struct rec_range *record, uint32_t payloads_ref)
{
	uint32_t name = ingest_text(in, process, record->head.value);
	if (name || !hwy_ref32_is_set(payloads_ref))
		return name;
	const struct range_payloads *payloads = &in->nvtx->payloads[hwy_ref32_index(payloads_ref)];
	for (uint32_t i = 0; i < payloads->n && !name; i++)
		name = payloads->list[i]->message;
	return name;
}

/* ---- lanes and columns
 * --------------------------------------------------------------------------- */

static uint32_t domain_name(struct ingest *in, struct ingest_process *process, uint32_t domain)
{
	char text[32];
	const uint32_t *ref = hwy_map_get(&process->domains, domain);
	if (ref)
		return hwy_ref32_index(*ref);
	if (domain == 0)
		return 0;
	snprintf(text, sizeof text, "domain %u", domain);
	return hwy_text_id(in->b, text);
}

static uint32_t category_name(struct ingest *in, struct ingest_process *process, uint32_t domain,
			      uint32_t category)
{
	uint64_t key = (uint64_t)domain << 32 | category;
	uint32_t *ref = hwy_map_put(&process->categories, key, NULL);
	if (!hwy_ref32_is_set(*ref)) {
		char text[16];
		snprintf(text, sizeof text, "%u", category);
		*ref = hwy_ref32(hwy_text_id(in->b, text));
	}
	return hwy_ref32_index(*ref);
}

static uint32_t lane_for(struct ingest *in, struct ingest_nvtx *x, uint32_t thread, uint32_t domain,
			 bool startend)
{
	uint64_t key = (uint64_t)thread << 33 | (uint64_t)startend << 32 | domain;
	if (key == x->last_key)
		return x->last_lane;
	bool fresh;
	uint32_t *index = hwy_map_put(&x->lanes, key, &fresh);
	if (fresh) {
		struct ingest_process *process = &in->processes[in->threads[thread].process];
		struct hwy_lane lane = hwy_lane_of(startend ? HWY_LANE_STARTEND : HWY_LANE_RANGE,
						   process->record, thread);
		lane.name = domain_name(in, process, domain);
		*index = hwy_add_lane(in->b, lane);
	}
	x->last_key = key;
	return x->last_lane = *index;
}

/* The library whose call a range is; NULL: the range is none. */
static const char *library_of(struct ingest *in, struct ingest_nvtx *x, uint32_t process,
			      const struct rec_range *record)
{
	enum { NO = 1, YES };
	if (record->domain == 0)
		return NULL;
	bool fresh;
	uint32_t *is =
		hwy_map_put(&x->library_domains, (uint64_t)process << 32 | record->domain, &fresh);
	if (!fresh && *is == NO)
		return NULL;
	struct ingest_process *image = &in->processes[process];
	struct hwy_text domain = hwy_text(in->trace, domain_name(in, image, record->domain));
	const char *function = hwy_str(in->trace, ingest_text(in, image, record->head.value));
	const char *library = libraries_name(domain.at, domain.length, function);
	*is = library ? YES : NO;
	return library;
}

/* The payload as a trace stores it. Records have payloads of 32 bits in the low half; a trace has
 * floats as doubles. */
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

/* Sets all columns of a range but its times, its style and the columns that depend on the style. */
static void ingest_nvtx_describe(struct ingest *in, struct ingest_process *process,
				 const struct rec_range *record, uint32_t payloads_ref,
				 struct hwy_row *row)
{
	bool whole = record->head.slots * REC_SLOT >= sizeof *record;
	bool numeric = whole && record->payload_type >= HWY_PAYLOAD_U64 &&
		       record->payload_type <= HWY_PAYLOAD_FLOAT;
	row->v[HWY_NAME] = range_name(in, process, record, payloads_ref);
	row->v[HWY_ARGS] = payload_args(in, payloads_ref);
	row->v[HWY_CATEGORY] =
		record->category ? category_name(in, process, record->domain, record->category) : 0;
	row->v[HWY_COLOR] = whole && record->head.flags & 1 ? hwy_color(record->color) : 0;
	row->v[HWY_PAYLOAD_TYPE] = numeric ? record->payload_type : 0;
	row->v[HWY_PAYLOAD] = numeric ? payload_of(record) : 0;
	row->v[HWY_END_THREAD] = 0;
	row->v[HWY_FLAGS] = 0;
}

/* Yields the time, on CLOCK_MONOTONIC, at which a range that never ended is taken to end. */
static int64_t open_end(const struct ingest *in, const struct ingest_process *process,
			int64_t start)
{
	int64_t end = process->end < in->recording_end ? process->end : in->recording_end;
	return end > start ? end : start;
}

static void ingest_nvtx_add_call(struct ingest *in, uint32_t process, uint32_t tid,
				 const struct rec_range *record, const struct rec_range *end,
				 uint32_t payloads_ref, const char *library)
{
	struct ingest_process *image = &in->processes[process];
	struct hwy_row row = {0};
	int64_t until = end ? end->time : open_end(in, image, record->time);
	bool lasts = ingest_is_time(in, record->time) && ingest_is_time(in, until);
	if (!ingest_times(in, record->time, lasts ? until - record->time : 0, &row))
		return;
	uint32_t name = range_name(in, image, record, payloads_ref);
	bool is_nccl = strcmp(library, "NCCL") == 0;
	if (is_nccl && hwy_ref32_is_set(payloads_ref)) {
		const struct range_payloads *payloads =
			&in->nvtx->payloads[hwy_ref32_index(payloads_ref)];
		for (uint32_t i = 0; i < payloads->n; i++)
			nccl_ranges_add(in, image, payloads->list[i]);
	}
	row.v[HWY_NAME] = name;
	row.v[HWY_ARGS] = payload_args(in, payloads_ref);
	row.v[HWY_FLAGS] = end ? 0 : HWY_FLAG_UNFINISHED;
	struct hwy_ref span =
		hwy_add_span(in->b, library_calls_lane(in, process, tid, library), HWY_CALL, &row);
	if (is_nccl && (in->spools.control.traces & REC_TRACE_NCCL))
		ingest_nccl_note_call(in, process, tid, record->time, row.v[HWY_DUR], span);
}

static void ingest_nvtx_add_range(struct ingest *in, uint32_t process, uint32_t tid,
				  const struct rec_range *record, const struct rec_range *end,
				  enum hwy_style style, uint32_t end_tid, uint32_t payloads_ref)
{
	struct ingest_process *image = &in->processes[process];
	struct ingest_nvtx *x = ingest_nvtx_state(in);
	struct hwy_row *row = &in->rows[HWY_RANGE];
	const char *library = style == HWY_PUSHPOP ? library_of(in, x, process, record) : NULL;
	if (library) {
		ingest_nvtx_add_call(in, process, tid, record, end, payloads_ref, library);
		return;
	}
	int64_t until = style == HWY_MARK ? record->time
			: end             ? end->time
					  : open_end(in, image, record->time);
	bool lasts = ingest_is_time(in, record->time) && ingest_is_time(in, until);
	if (!ingest_times(in, record->time, lasts ? until - record->time : 0, row))
		return;
	ingest_nvtx_describe(in, image, record, payloads_ref, row);
	row->v[HWY_STYLE] = style;
	if (style == HWY_MARK)
		row->v[HWY_FLAGS] = HWY_FLAG_MARK;
	else if (!end)
		row->v[HWY_FLAGS] = HWY_FLAG_UNFINISHED;
	uint32_t thread = target_thread(in, process, tid);
	if (end_tid)
		row->v[HWY_END_THREAD] = hwy_ref(target_thread(in, process, end_tid));
	hwy_add_span(in->b, lane_for(in, x, thread, record->domain, style == HWY_STARTEND),
		     HWY_RANGE, row);
}

/* ---- push and pop
 * ------------------------------------------------------------------------------ */

static void ingest_nvtx_push(struct ingest_nvtx *x, const struct rec_range *record,
			     uint32_t payloads_ref)
{
	uint32_t index;
	if (hwy_ref32_is_set(x->free_ref)) {
		index = hwy_ref32_index(x->free_ref);
		x->free_ref = x->pushes[index].below_ref;
	} else {
		HWY_GROW(x->pushes, x->n_pushes, x->cap_pushes);
		index = x->n_pushes++;
	}
	uint32_t *top_ref = hwy_map_put(&x->tops, record->domain, NULL);
	x->pushes[index] = (struct open_push){record, *top_ref, payloads_ref};
	*top_ref = hwy_ref32(index);
}

/* Takes the innermost open range of a domain off its stack; false: no range is open. */
static bool ingest_nvtx_take(struct ingest_nvtx *x, uint32_t *top_ref, struct open_push *taken)
{
	uint32_t ref = *top_ref;
	if (!hwy_ref32_is_set(ref))
		return false;
	struct open_push *open = &x->pushes[hwy_ref32_index(ref)];
	*taken = *open;
	*top_ref = open->below_ref;
	open->below_ref = x->free_ref;
	x->free_ref = ref;
	return true;
}

void ingest_nvtx_end_file(struct ingest *in, uint32_t process, uint32_t tid)
{
	struct ingest_nvtx *x = in->nvtx;
	struct open_push open;
	if (x)
		x->n_pending = x->expected_ref = 0;
	if (!x || x->tops.count == 0)
		return;
	for (uint32_t s = 0; s <= x->tops.mask; s++)
		while (x->tops.slots[s].used && ingest_nvtx_take(x, &x->tops.slots[s].value, &open))
			ingest_nvtx_add_range(in, process, tid, open.push, NULL, HWY_PUSHPOP, 0,
					      open.payloads_ref);
	hwy_map_free(&x->tops);
}

/* ---- start and end
 * ----------------------------------------------------------------------------- */

struct start_key { /* a key of a struct hwy_index, so it must have no padding */
	uint64_t process, id;
};

static void note_start(struct ingest *in, struct ingest_nvtx *x, uint32_t process, uint32_t tid,
		       const struct rec_range *record)
{
	struct start_key key = {process, record->id};
	*hwy_index_put(&x->start_of, &key, sizeof key, NULL) = x->n_starts;
	HWY_GROW(x->starts, x->n_starts, x->cap_starts);
	x->starts[x->n_starts++] = (struct open_start){
		record, process, tid, NULL, 0, payloads_of(in, process, record, 0)};
}

/* 'payloads_ref': what the end brings, which has no begin's payloads in it. */
static bool note_end(struct ingest_nvtx *x, uint32_t process, uint32_t tid,
		     const struct rec_range *record, uint32_t payloads_ref)
{
	struct start_key key = {process, record->id};
	const uint32_t *start = hwy_index_get(&x->start_of, &key, sizeof key);
	if (!start)
		return false;
	struct open_start *open = &x->starts[*start];
	open->end = record;
	open->end_tid = tid;
	if (hwy_ref32_is_set(payloads_ref) && !hwy_ref32_is_set(open->payloads_ref)) {
		open->payloads_ref = payloads_ref;
	} else if (hwy_ref32_is_set(payloads_ref)) {
		struct range_payloads *to = &x->payloads[hwy_ref32_index(open->payloads_ref)];
		const struct range_payloads *from = &x->payloads[hwy_ref32_index(payloads_ref)];
		for (uint32_t i = 0; i < from->n && to->n < MOST_PAYLOADS; i++)
			to->list[to->n++] = from->list[i];
	}
	return true;
}

static void finish_starts(struct ingest *in, struct ingest_nvtx *x)
{
	for (uint32_t i = 0; i < x->n_ends; i++)
		x->headless += !note_end(x, x->ends[i].process, x->ends[i].tid, x->ends[i].end,
					 x->ends[i].payloads_ref);
	for (uint32_t i = 0; i < x->n_starts; i++) {
		const struct open_start *open = &x->starts[i];
		ingest_nvtx_add_range(in, open->process, open->tid, open->start, open->end,
				      HWY_STARTEND, open->end ? open->end_tid : 0,
				      open->payloads_ref);
	}
}

/* ---- records
 * ------------------------------------------------------------------------------------- */

void ingest_nvtx_add(struct ingest *in, uint32_t process, uint32_t tid,
		     const struct rec_range *record)
{
	struct ingest_nvtx *x = ingest_nvtx_state(in);
	switch (record->head.type) {
	case REC_PUSH: {
		uint32_t payloads_ref = payloads_of(in, process, record, 0);
		ingest_nvtx_push(x, record,
				 hwy_ref32_is_set(payloads_ref) ? payloads_ref
								: expected_of(x, record));
		break;
	}
	case REC_POP: {
		uint32_t *top_ref = hwy_map_put(&x->tops, record->domain, NULL);
		struct open_push open;
		if (ingest_nvtx_take(x, top_ref, &open))
			ingest_nvtx_add_range(in, process, tid, open.push, record, HWY_PUSHPOP, 0,
					      payloads_of(in, process, record, open.payloads_ref));
		else
			x->headless++;
		break;
	}
	case REC_RANGE_START: note_start(in, x, process, tid, record); break;
	case REC_RANGE_END: {
		uint32_t payloads_ref = payloads_of(in, process, record, 0);
		if (!note_end(x, process, tid, record, payloads_ref)) {
			HWY_GROW(x->ends, x->n_ends, x->cap_ends);
			x->ends[x->n_ends++] =
				(struct early_end){process, tid, record, payloads_ref};
		}
		break;
	}
	default:
		ingest_nvtx_add_range(in, process, tid, record, NULL, HWY_MARK, 0,
				      payloads_of(in, process, record, 0));
	}
}

void ingest_nvtx_finish(struct ingest *in)
{
	struct ingest_nvtx *x = in->nvtx;
	if (!x)
		return;
	finish_starts(in, x);
	if (x->headless)
		ingest_note_diagnostic(
			in, 1, HWY_NONE,
			"%llu NVTX ranges began before the recording did and are left out",
			(unsigned long long)x->headless);
	hwy_map_free(&x->tops);
	hwy_index_free(&x->start_of);
	hwy_map_free(&x->lanes);
	hwy_map_free(&x->library_domains);
	hwy_map_free(&x->args_refs);
	free(x->pushes);
	free(x->starts);
	free(x->ends);
	free(x->payloads);
	free(x);
	in->nvtx = NULL;
}
