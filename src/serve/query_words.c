/* SPDX-License-Identifier: Apache-2.0 */
/* query_words.c - the words of the language of query.h: kinds, groups of kinds, fields.
 * web/src/query/words.ts has the same tables. */
#include <strings.h>

#include "serve/query.h"

#define LOOK(color) (1u << (color))
#define CALLS                                                                                      \
	(LOOK(COLOR_API) | LOOK(COLOR_LAUNCH) | LOOK(COLOR_WAIT) | LOOK(COLOR_ALLOC) |             \
	 LOOK(COLOR_API_COPY))

static const struct {
	const char *word;
	uint32_t looks;
} kinds[] = {
	{"kernel", LOOK(COLOR_KERNEL) | LOOK(COLOR_COMM)},
	{"copy", LOOK(COLOR_COPY)},
	{"fill", LOOK(COLOR_FILL)},
	{"graph", LOOK(COLOR_GRAPH)},
	{"api", CALLS},
	{"sync", LOOK(COLOR_SYNC)},
	{"event", LOOK(COLOR_EVENT)},
	{"range", LOOK(COLOR_RANGE)},
	{"op", LOOK(COLOR_OP)},
	{"call", LOOK(COLOR_CALL)},
	{"os", LOOK(COLOR_OS)},
	{"state", LOOK(COLOR_RUNNING) | LOOK(COLOR_STOPPED)},
	{"memory", LOOK(COLOR_MEMORY)},
	{"sample", LOOK(COLOR_SAMPLE)},
	{"counter", LOOK(COLOR_COUNTER)},
	{"overhead", LOOK(COLOR_OVERHEAD)},
	/* groups */
	{"work", LOOK(COLOR_KERNEL) | LOOK(COLOR_COMM) | LOOK(COLOR_COPY) | LOOK(COLOR_FILL) |
			 LOOK(COLOR_GRAPH)},
	{"comm", LOOK(COLOR_COMM)},
	{"launch", LOOK(COLOR_LAUNCH)},
	{"wait", LOOK(COLOR_WAIT)},
	{"alloc", LOOK(COLOR_ALLOC)},
};

uint32_t query_looks(const char *word, size_t length)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strlen(kinds[i].word) == length &&
		    strncasecmp(kinds[i].word, word, length) == 0)
			return kinds[i].looks;
	return 0;
}

static const struct {
	const char *name;
	struct query_word word;
} fields[] = {
	{"kind", {QUERY_KIND, 0, QUERY_WORDS}},
	{"name", {QUERY_NAME, 0, QUERY_TEXT}},
	{"lane", {QUERY_LANE, 0, QUERY_TEXT}},
	{"thread", {QUERY_THREAD, 0, QUERY_TEXT}},
	{"line", {QUERY_LINE, 0, QUERY_TEXT}},
	{"module", {QUERY_MODULE, 0, QUERY_TEXT}},
	{"id", {QUERY_ID, 0, QUERY_PLAIN}},
	{"start", {QUERY_START, 0, QUERY_TIME}},
	{"end", {QUERY_END, 0, QUERY_TIME}},
	{"dur", {QUERY_DUR, 0, QUERY_TIME}},
	{"duration", {QUERY_DUR, 0, QUERY_TIME}},
	{"latency", {QUERY_LATENCY, 0, QUERY_TIME}},
	{"rate", {QUERY_RATE, 0, QUERY_BYTES_A_SECOND}},
	{"step", {QUERY_STEP, 0, QUERY_PLAIN}},
	{"phase", {QUERY_PHASE, 0, QUERY_PLAIN}},
	{"gpu", {QUERY_GPU, 0, QUERY_PLAIN}},
	{"device", {QUERY_GPU, 0, QUERY_PLAIN}},
	{"stream", {QUERY_STREAM, 0, QUERY_PLAIN}},
	{"rank", {QUERY_RANK, 0, QUERY_PLAIN}},
	{"pid", {QUERY_PID, 0, QUERY_PLAIN}},
};

/* By member of struct hwy_shape. */
static const struct {
	const char *name;
	enum query_unit unit;
} shape_members[] = {
	{"grid_x", QUERY_PLAIN},          {"grid_y", QUERY_PLAIN},
	{"grid_z", QUERY_PLAIN},          {"block_x", QUERY_PLAIN},
	{"block_y", QUERY_PLAIN},         {"block_z", QUERY_PLAIN},
	{"cluster_x", QUERY_PLAIN},       {"cluster_y", QUERY_PLAIN},
	{"cluster_z", QUERY_PLAIN},       {"registers", QUERY_PLAIN},
	{"static_shared", QUERY_BYTES},   {"dynamic_shared", QUERY_BYTES},
	{"executed_shared", QUERY_BYTES}, {"local_per_thread", QUERY_BYTES},
	{"local_total", QUERY_BYTES},
};
enum { SHAPE_MEMBERS = sizeof shape_members / sizeof *shape_members };
_Static_assert(SHAPE_MEMBERS == sizeof(struct hwy_shape) / sizeof(int64_t),
	       "every member has a word");

static bool field_is_named(const char *word, const char *name, size_t length)
{
	size_t i = 0;
	for (; i < length && word[i]; i++) {
		char a = word[i] == '-' ? '_' : word[i], b = name[i] == '-' ? '_' : name[i];
		b = (char)(b >= 'A' && b <= 'Z' ? b - 'A' + 'a' : b);
		if (a != b)
			return false;
	}
	return i == length && !word[i];
}

/* Columns that have fields of their own, or that people do not read as numbers or texts. */
static bool is_asked_otherwise(enum hwy_col col)
{
	return col == HWY_START || col == HWY_DUR || col == HWY_NAME || col == HWY_LINK ||
	       col == HWY_SHAPE || col == HWY_SYMBOL || col == HWY_STACK || col == HWY_COLOR ||
	       col == HWY_PAYLOAD_TYPE || col == HWY_ADDRESS || col == HWY_POOL || col == HWY_FLAGS;
}

static enum query_unit column_unit(enum hwy_meaning meaning)
{
	switch (meaning) {
	case HWY_MEANS_TIME:
	case HWY_MEANS_DURATION: return QUERY_TIME;
	case HWY_MEANS_BYTES: return QUERY_BYTES;
	case HWY_MEANS_TEXT:
	case HWY_MEANS_ENUM: return QUERY_TEXT;
	default: return QUERY_PLAIN;
	}
}

bool query_find_field(const char *name, size_t length, struct query_word *found)
{
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (field_is_named(fields[i].name, name, length)) {
			*found = fields[i].word;
			return true;
		}
	for (uint32_t i = 0; i < SHAPE_MEMBERS; i++)
		if (field_is_named(shape_members[i].name, name, length)) {
			*found = (struct query_word){QUERY_SHAPE, i, shape_members[i].unit};
			return true;
		}
	for (uint32_t col = 0; col < HWY_COLS; col++)
		if (!is_asked_otherwise(col) &&
		    field_is_named(hwy_columns[col].name, name, length)) {
			*found = (struct query_word){QUERY_COLUMN, col,
						     column_unit(hwy_columns[col].meaning)};
			return true;
		}
	return false;
}
