/* SPDX-License-Identifier: Apache-2.0 */
/* nsys_nvtx.c - reads NVTX ranges and marks, and the names of domains and categories.
 *
 * The name of a range is in column text or, for registered strings, in textId. Push/pop ranges and
 * marks stand on the lane of their thread and domain, start/end ranges on another lane of the
 * thread that started them. A range without an end was open when recording stopped: it reaches to
 * the last end on its lane. nsys prints the row id as RangeId.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/nsys/nsys.h"

enum { /* numbers of ENUM_NSYS_EVENT_TYPE; 70 and 71 come from text files of other tools */
       CATEGORY = 33,
       MARK = 34,
       PUSHPOP = 59,
       STARTEND = 60,
       PUSHPOP_TEXT = 70,
       STARTEND_TEXT = 71,
       DOMAIN_CREATE = 75,
};

/* Most ranges have only times, a thread and a name. Reading the other columns of every row would
 * double the time, so the first pass (BRIEF) only asks whether any of them is set. At the first row
 * that has one, the first pass stops, and a second pass (FULL) reads all columns from that row
 * on. */
#define COMMON "!start !end !eventType rowid globalTid domainId text textId "
#define BRIEF                                                                                      \
	COMMON "?endGlobalTid,category,color,uint64Value,int64Value,doubleValue,uint32Value,"      \
	       "int32Value,floatValue,jsonText,jsonTextId,binaryData"
#define FULL                                                                                       \
	COMMON "endGlobalTid category color uint64Value int64Value doubleValue uint32Value "       \
	       "int32Value floatValue jsonText jsonTextId binaryData"
enum {
	COLUMN_TYPE = 2,
	COLUMN_ROW,
	COLUMN_TID,
	COLUMN_DOMAIN,
	COLUMN_TEXT,
	COLUMN_TEXT_ID,
	COLUMN_MORE,
	COLUMN_END_TID = COLUMN_MORE,
	COLUMN_CATEGORY,
	COLUMN_COLOR,
	COLUMN_U64,
	COLUMN_I64,
	COLUMN_DOUBLE,
	COLUMN_U32,
	COLUMN_I32,
	COLUMN_FLOAT,
	COLUMN_JSON,
	COLUMN_JSON_ID,
	COLUMN_BINARY,
};

/* Keys of struct hwy_index: they must have no padding, because their bytes are compared. */
struct domain_key {
	int64_t process, domain;
};
struct category_key {
	int64_t process, domain, category;
};
struct lane_key {
	int64_t thread, domain, is_startend;
};

struct domain_lane {
	uint32_t lane;
	int64_t domain;
};

struct nvtx {
	struct nsys *n;
	/* 'domains' maps a struct domain_key to the domain's name, a text of the trace. */
	struct hwy_index domains;
	/* 'categories' maps a struct category_key to the category's name, a text of the trace. */
	struct hwy_index categories;
	struct hwy_index lanes;   /* maps a struct lane_key to a lane */
	bool full;                /* the running query reads all columns */
	bool open;                /* the running query reads ranges without an end */
	int64_t stop_row;         /* the row at which the first pass stopped */
	struct lane_key last_key; /* key of the last row's lane, which most rows share */
	uint32_t last_lane; /* the lane of the last row; UINT32_MAX: there was no row before */
	int64_t *ends;      /* for each lane of the trace, the last end of its ranges */
	uint32_t n_ends, cap_ends;
	struct domain_lane *domain_lanes; /* all lanes, which get their domain's name at the end */
	uint32_t n_domain_lanes, cap_domain_lanes;
	uint64_t unfinished; /* how many ranges have no end */
};

/* Yields the text of a row. 'text' is the column of the text; textId is the next column. */
static uint32_t nsys_nvtx_name_of(struct nsys_query *q, int text)
{
	uint32_t name = nsys_text(q, text);
	return name ? name : nsys_string_of(q, text + 1);
}

static void note_domain(struct nvtx *x, struct nsys_query *q)
{
	uint32_t process = nsys_process(x->n, nsys_int(q, COLUMN_TID));
	struct domain_key key = {process, nsys_int(q, COLUMN_DOMAIN)};
	*hwy_index_put(&x->domains, &key, sizeof key, NULL) = nsys_nvtx_name_of(q, COLUMN_TEXT);
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
		struct category_key key = {process, nsys_int(&q, 2), nsys_int(&q, 3)};
		*hwy_index_put(&x->categories, &key, sizeof key, NULL) = nsys_nvtx_name_of(&q, 4);
	}
}

/* The name of a domain's lanes until name_lanes: the row that names the domain may come after its
 * ranges. */
static uint32_t domain_number(struct nvtx *x, int64_t domain)
{
	char text[48];
	if (domain == 0)
		return 0; /* the default domain has no name */
	snprintf(text, sizeof text, "domain %lld", (long long)domain);
	return hwy_text_id(x->n->b, text);
}

static void name_lanes(struct nvtx *x)
{
	for (uint32_t i = 0; i < x->n_domain_lanes; i++) {
		struct hwy_lane *lane = &x->n->trace->lanes[x->domain_lanes[i].lane];
		struct domain_key key = {lane->process, x->domain_lanes[i].domain};
		const uint32_t *name = hwy_index_get(&x->domains, &key, sizeof key);
		if (name)
			lane->name = *name;
	}
}

static uint32_t category_name(struct nvtx *x, uint32_t process, int64_t domain, int64_t category)
{
	char text[32];
	bool fresh;
	struct category_key key = {process, domain, category};
	uint32_t *name = hwy_index_put(&x->categories, &key, sizeof key, &fresh);
	if (fresh) {
		snprintf(text, sizeof text, "%lld", (long long)category);
		*name = hwy_text_id(x->n->b, text);
	}
	return *name;
}

static uint32_t lane_for(struct nvtx *x, uint32_t thread, int64_t domain, bool startend)
{
	struct lane_key key = {thread, domain, startend};
	if (x->last_lane != UINT32_MAX && memcmp(&key, &x->last_key, sizeof key) == 0)
		return x->last_lane;
	bool fresh;
	uint32_t *index = hwy_index_put(&x->lanes, &key, sizeof key, &fresh);
	if (fresh) {
		struct hwy_lane lane = hwy_lane_of(startend ? HWY_LANE_STARTEND : HWY_LANE_RANGE,
						   x->n->trace->threads[thread].process, thread);
		lane.name = domain_number(x, domain);
		*index = hwy_add_lane(x->n->b, lane);
		HWY_GROW(x->domain_lanes, x->n_domain_lanes, x->cap_domain_lanes);
		x->domain_lanes[x->n_domain_lanes++] = (struct domain_lane){*index, domain};
		while (x->n_ends <= *index) {
			HWY_GROW(x->ends, x->n_ends, x->cap_ends);
			x->ends[x->n_ends++] = INT64_MIN;
		}
	}
	x->last_key = key;
	return x->last_lane = *index;
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
	int column = COLUMN_U64;
	while (column <= COLUMN_BINARY && nsys_null(q, column))
		column++;
	if (column > COLUMN_BINARY)
		return;
	row->v[HWY_PAYLOAD_TYPE] = types[column - COLUMN_U64];
	switch (column) {
	case COLUMN_DOUBLE:
	case COLUMN_FLOAT:
		row->v[HWY_PAYLOAD] = bits_of(sqlite3_value_double(q->values[column]));
		break;
	case COLUMN_JSON_ID: row->v[HWY_PAYLOAD] = nsys_string_of(q, column); break;
	case COLUMN_JSON:
	case COLUMN_BINARY: row->v[HWY_PAYLOAD] = nsys_text(q, column); break;
	default: row->v[HWY_PAYLOAD] = nsys_int(q, column);
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
	int64_t category = nsys_int(q, COLUMN_CATEGORY);
	row->v[HWY_CATEGORY] =
		category ? category_name(x, process, nsys_int(q, COLUMN_DOMAIN), category) : 0;
	row->v[HWY_COLOR] =
		nsys_null(q, COLUMN_COLOR) ? 0 : hwy_color((uint32_t)nsys_int(q, COLUMN_COLOR));
	row->v[HWY_END_THREAD] = nsys_null(q, COLUMN_END_TID)
					 ? HWY_REF_NONE
					 : hwy_ref(nsys_thread(x->n, nsys_int(q, COLUMN_END_TID)));
	nsys_nvtx_put_payload(q);
	row->v[HWY_ARGS] = nsys_payload_args(q, COLUMN_BINARY);
}

/* Sets START, DUR and FLAGS of a range or mark; false when the row has no usable time. */
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
	uint32_t thread = nsys_thread(n, nsys_int(q, COLUMN_TID));
	uint32_t lane = lane_for(x, thread, nsys_int(q, COLUMN_DOMAIN), style == HWY_STARTEND);
	q->row.v[HWY_STYLE] = style;
	if (!range_times(x, q, lane))
		return;
	q->row.v[HWY_NAME] = nsys_nvtx_name_of(q, COLUMN_TEXT);
	if (q->row.v[HWY_NAME] && nsys_null(q, COLUMN_TEXT))
		q->row.v[HWY_FLAGS] |= HWY_FLAG_REGISTERED;
	q->row.v[HWY_ROW] = nsys_int(q, COLUMN_ROW);
	if (x->full)
		nsys_nvtx_describe(x, q, (uint32_t)n->trace->threads[thread].process);
	hwy_add_span(n->b, lane, HWY_RANGE, &q->row);
}

static void nsys_nvtx_add_row(struct nsys_query *q)
{
	struct nvtx *x = q->user;
	int64_t type = nsys_int(q, COLUMN_TYPE);
	enum hwy_style style = style_of(type);
	bool unfinished = style != HWY_STYLE_NONE && style != HWY_MARK && nsys_null(q, 1);
	if (unfinished != x->open) {
		x->unfinished += unfinished;
	} else if (!x->full && nsys_int(q, COLUMN_MORE)) {
		q->stop = true;
		x->stop_row = nsys_int(q, COLUMN_ROW);
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
	snprintf(and, sizeof and, "AND rowid >= %lld", (long long)x->stop_row);
	nsys_each(x->n, "NVTX_EVENTS", FULL, and, nsys_nvtx_add_row, x);
}

void nsys_read_nvtx(struct nsys *n)
{
	struct nvtx x = {.n = n, .last_lane = UINT32_MAX};
	nsys_payloads_open(n);
	read_rows(&x);
	if (x.unfinished) {
		if (!x.full)
			read_categories(&x);
		x.full = x.open = true;
		nsys_each(n, "NVTX_EVENTS", FULL, "AND \"end\" IS NULL", nsys_nvtx_add_row, &x);
	}
	name_lanes(&x);
	nsys_payloads_close(n);
	hwy_index_free(&x.domains);
	hwy_index_free(&x.categories);
	hwy_index_free(&x.lanes);
	free(x.domain_lanes);
	free(x.ends);
}
