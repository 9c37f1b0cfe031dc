/* nsys_nvtx.c - NVTX: ranges, marks, and the names of domains and categories.
 *
 * A name is text or, for registered strings, textId. Push/pop ranges and marks stand on a lane of their
 * thread and domain, start/end ranges on one of the thread that started them. A range without an end was
 * open when recording stopped: it reaches to the last event of its lane. nsys prints the row id as RangeId.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/nsys/nsys.h"

enum { /* ENUM_NSYS_EVENT_TYPE; 70 and 71 come from text files of other tools */
       CATEGORY = 33,
       MARK = 34,
       PUSHPOP = 59,
       STARTEND = 60,
       PUSHPOP_TEXT = 70,
       STARTEND_TEXT = 71,
       DOMAIN_CREATE = 75,
};

/* Most ranges have nothing but times, a thread and a name. Asking every row for the rest would take as long
 * as reading it, so the first pass only asks whether there is any, and gives way to one that reads it all
 * from the first row that has some. */
#define COMMON "!start !end !eventType rowid globalTid domainId text textId "
#define BRIEF                                                                                      \
	COMMON "?endGlobalTid,category,color,uint64Value,int64Value,doubleValue,uint32Value,"      \
	       "int32Value,floatValue,jsonText,jsonTextId,binaryData"
#define FULL                                                                                       \
	COMMON "endGlobalTid category color uint64Value int64Value doubleValue uint32Value "       \
	       "int32Value floatValue jsonText jsonTextId binaryData"
enum {
	AT_TYPE = 2,
	AT_ROW,
	AT_TID,
	AT_DOMAIN,
	AT_TEXT,
	AT_TEXT_ID,
	AT_MORE,
	AT_END_TID = AT_MORE,
	AT_CATEGORY,
	AT_COLOR,
	AT_U64,
	AT_I64,
	AT_DOUBLE,
	AT_U32,
	AT_I32,
	AT_FLOAT,
	AT_JSON,
	AT_JSON_ID,
	AT_BINARY,
};

struct named {
	uint32_t lane;
	int64_t domain;
};

struct nvtx {
	struct nsys *n;
	struct hwy_map domains;    /* process, domain -> text + 1 */
	struct hwy_map categories; /* process, domain, category -> text + 1 */
	struct hwy_map lanes;      /* thread, domain, style -> lane + 1 */
	bool full, open;           /* what the rows of the running query are */
	int64_t stopped_at;        /* row */
	uint64_t last_key;
	uint32_t last_lane;
	int64_t *ends; /* by lane: the last end */
	uint32_t n_ends, cap_ends;
	struct named *named; /* the lanes, to be named at the end */
	uint32_t n_named, cap_named;
	uint64_t unfinished;
};

static uint64_t domain_key(uint32_t process, int64_t domain)
{
	return (uint64_t)process << 40 ^ (uint64_t)domain;
}

static uint64_t category_key(uint32_t process, int64_t domain, int64_t category)
{
	return hwy_mix(domain_key(process, domain)) ^ (uint64_t)category;
}

/* 'text' is the column of the text; the next one is textId. */
static uint32_t nsys_nvtx_name_of(struct nsys_query *q, int text)
{
	uint32_t name = nsys_text(q, text);
	return name ? name : nsys_string_of(q, text + 1);
}

static void note_domain(struct nvtx *x, struct nsys_query *q)
{
	uint32_t process = nsys_process(x->n, nsys_int(q, AT_TID));
	*hwy_map_put(&x->domains, domain_key(process, nsys_int(q, AT_DOMAIN)), NULL) =
		nsys_nvtx_name_of(q, AT_TEXT) + 1;
}

static void read_categories(struct nvtx *x)
{
	struct nsys_query q;
	if (!nsys_select(x->n, &q, "NVTX_EVENTS",
			 "!eventType globalTid domainId category text textId",
			 "WHERE eventType = 33"))
		return;
	while (nsys_next(&q)) {
		uint32_t process = nsys_process(x->n, nsys_int(&q, 1));
		uint64_t key = category_key(process, nsys_int(&q, 2), nsys_int(&q, 3));
		*hwy_map_put(&x->categories, key, NULL) = nsys_nvtx_name_of(&q, 4) + 1;
	}
}

/* A domain's creation may come after its ranges: until all rows are read, its lanes go by its number. */
static uint32_t domain_number(struct nvtx *x, int64_t domain)
{
	char text[48];
	if (domain == 0)
		return 0; /* the default one has no name */
	snprintf(text, sizeof text, "domain %lld", (long long)domain);
	return hwy_text_id(x->n->b, text);
}

static void name_lanes(struct nvtx *x)
{
	for (uint32_t i = 0; i < x->n_named; i++) {
		struct hwy_lane *lane = &x->n->trace->lanes[x->named[i].lane];
		const uint32_t *name = hwy_map_get(
			&x->domains, domain_key((uint32_t)lane->process, x->named[i].domain));
		if (name)
			lane->name = *name - 1;
	}
}

static uint32_t category_name(struct nvtx *x, uint32_t process, int64_t domain, int64_t category)
{
	char text[32];
	uint32_t *at = hwy_map_put(&x->categories, category_key(process, domain, category), NULL);
	if (!*at) {
		snprintf(text, sizeof text, "%lld", (long long)category);
		*at = hwy_text_id(x->n->b, text) + 1;
	}
	return *at - 1;
}

static uint32_t lane_for(struct nvtx *x, uint32_t thread, int64_t domain, bool startend)
{
	uint64_t key = (uint64_t)thread << 33 ^ (uint64_t)startend << 32 ^ (uint64_t)domain;
	if (key == x->last_key)
		return x->last_lane;
	uint32_t *at = hwy_map_put(&x->lanes, key, NULL);
	if (!*at) {
		uint32_t process = x->n->threads[thread].process;
		struct hwy_lane lane =
			hwy_lane_of(startend ? HWY_LANE_STARTEND : HWY_LANE_RANGE, process, thread);
		lane.name = domain_number(x, domain);
		*at = hwy_add_lane(x->n->b, lane) + 1;
		HWY_GROW(x->named, x->n_named, x->cap_named);
		x->named[x->n_named++] = (struct named){*at - 1, domain};
		while (x->n_ends < *at) {
			HWY_GROW(x->ends, x->n_ends, x->cap_ends);
			x->ends[x->n_ends++] = INT64_MIN;
		}
	}
	x->last_key = key;
	return x->last_lane = *at - 1;
}

static int64_t bits_of(double value)
{
	int64_t bits;
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static void nsys_nvtx_put_payload(struct nsys_query *q)
{
	struct hwy_row *row = &q->row;
	static const uint8_t types[] = {HWY_PAYLOAD_U64,  HWY_PAYLOAD_I64,  HWY_PAYLOAD_DOUBLE,
					HWY_PAYLOAD_U32,  HWY_PAYLOAD_I32,  HWY_PAYLOAD_FLOAT,
					HWY_PAYLOAD_JSON, HWY_PAYLOAD_JSON, HWY_PAYLOAD_BINARY};
	row->v[HWY_PAYLOAD_TYPE] = row->v[HWY_PAYLOAD] = 0;
	int at = AT_U64;
	while (at <= AT_BINARY && nsys_null(q, at))
		at++;
	if (at > AT_BINARY)
		return;
	row->v[HWY_PAYLOAD_TYPE] = types[at - AT_U64];
	switch (at) {
	case AT_DOUBLE:
	case AT_FLOAT: row->v[HWY_PAYLOAD] = bits_of(sqlite3_value_double(q->values[at])); break;
	case AT_JSON_ID: row->v[HWY_PAYLOAD] = nsys_string_of(q, at); break;
	case AT_JSON:
	case AT_BINARY: row->v[HWY_PAYLOAD] = nsys_text(q, at); break;
	default: row->v[HWY_PAYLOAD] = nsys_int(q, at);
	}
}

static enum hwy_style style_of(int64_t type)
{
	switch (type) {
	case MARK: return HWY_MARK;
	case PUSHPOP:
	case PUSHPOP_TEXT: return HWY_PUSHPOP;
	case STARTEND:
	case STARTEND_TEXT: return HWY_STARTEND;
	default: return HWY_STYLE_NONE;
	}
}

static void nsys_nvtx_describe(struct nvtx *x, struct nsys_query *q, uint32_t process)
{
	struct hwy_row *row = &q->row;
	int64_t category = nsys_int(q, AT_CATEGORY);
	row->v[HWY_CATEGORY] =
		category ? category_name(x, process, nsys_int(q, AT_DOMAIN), category) : 0;
	row->v[HWY_COLOR] = nsys_null(q, AT_COLOR)
				    ? 0
				    : (nsys_int(q, AT_COLOR) & 0xffffffff) | INT64_C(1) << 32;
	row->v[HWY_END_THREAD] = nsys_null(q, AT_END_TID)
					 ? 0
					 : 1 + (int64_t)nsys_thread(x->n, nsys_int(q, AT_END_TID));
	nsys_nvtx_put_payload(q);
}

/* START, DUR and FLAGS of a range or mark. */
static bool range_times(struct nvtx *x, struct nsys_query *q, uint32_t lane)
{
	struct hwy_row *row = &q->row;
	row->v[HWY_FLAGS] = 0;
	if (row->v[HWY_STYLE] == HWY_MARK || x->open) {
		if (!nsys_moment(q))
			return false;
		int64_t start = row->v[HWY_START];
		row->v[HWY_FLAGS] = x->open ? HWY_FLAG_UNFINISHED : HWY_FLAG_MARK;
		row->v[HWY_DUR] = x->open && x->ends[lane] > start ? x->ends[lane] - start : 0;
	} else if (!nsys_times(q)) {
		return false;
	}
	int64_t end = row->v[HWY_START] + row->v[HWY_DUR];
	if (end > x->ends[lane])
		x->ends[lane] = end;
	return true;
}

static void nsys_nvtx_add_range(struct nvtx *x, struct nsys_query *q, enum hwy_style style)
{
	struct nsys *n = x->n;
	uint32_t thread = nsys_thread(n, nsys_int(q, AT_TID));
	uint32_t lane = lane_for(x, thread, nsys_int(q, AT_DOMAIN), style == HWY_STARTEND);
	q->row.v[HWY_STYLE] = style;
	if (!range_times(x, q, lane))
		return;
	q->row.v[HWY_NAME] = nsys_nvtx_name_of(q, AT_TEXT);
	if (q->row.v[HWY_NAME] && nsys_null(q, AT_TEXT))
		q->row.v[HWY_FLAGS] |= HWY_FLAG_REGISTERED;
	q->row.v[HWY_ROW] = nsys_int(q, AT_ROW);
	if (x->full)
		nsys_nvtx_describe(x, q, n->threads[thread].process);
	hwy_add_span(n->b, lane, HWY_RANGE, &q->row);
}

static void nsys_nvtx_add_row(struct nsys_query *q)
{
	struct nvtx *x = q->user;
	int64_t type = nsys_int(q, AT_TYPE);
	enum hwy_style style = style_of(type);
	bool unfinished = style != HWY_STYLE_NONE && style != HWY_MARK && nsys_null(q, 1);
	if (unfinished != x->open) {
		x->unfinished += unfinished;
	} else if (!x->full && nsys_int(q, AT_MORE)) {
		q->stop = true;
		x->stopped_at = nsys_int(q, AT_ROW);
	} else if (style != HWY_STYLE_NONE) {
		nsys_nvtx_add_range(x, q, style);
	} else if (type == DOMAIN_CREATE) {
		note_domain(x, q);
	}
}

static void read_rows(struct nvtx *x)
{
	char and[64];
	if (nsys_each(x->n, "NVTX_EVENTS", BRIEF, NULL, nsys_nvtx_add_row, x) || x->n->failed)
		return;
	read_categories(x);
	x->full = true;
	snprintf(and, sizeof and, "AND rowid >= %lld", (long long)x->stopped_at);
	nsys_each(x->n, "NVTX_EVENTS", FULL, and, nsys_nvtx_add_row, x);
}

void nsys_read_nvtx(struct nsys *n)
{
	struct nvtx x = {.n = n, .last_key = UINT64_MAX};
	read_rows(&x);
	if (x.unfinished) {
		if (!x.full)
			read_categories(&x);
		x.full = x.open = true;
		nsys_each(n, "NVTX_EVENTS", FULL, "AND \"end\" IS NULL", nsys_nvtx_add_row, &x);
	}
	name_lanes(&x);
	hwy_map_free(&x.domains);
	hwy_map_free(&x.categories);
	hwy_map_free(&x.lanes);
	free(x.named);
	free(x.ends);
}
