/* place.c - see place.h. */
#include "stats/place.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

bool place_need(struct stats_run *run, struct hwy_err *err)
{
	uint64_t timed = HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME);
	return hwy_need(run->trace,
			HWY_KIND_BIT(HWY_CALL) | HWY_KIND_BIT(HWY_OP) | HWY_KIND_BIT(HWY_RANGE),
			timed, err) &&
	       hwy_need(run->trace, HWY_KIND_BIT(HWY_API), timed | HWY_COL_BIT(HWY_STACK), err);
}

static bool tells_a_place(const struct hwy_trace *trace, const struct hwy_strip *strip)
{
	switch (trace->lanes[strip->lane].type) {
	case HWY_LANE_CALL: return strip->kind == HWY_CALL;
	case HWY_LANE_OP: return strip->kind == HWY_OP;
	case HWY_LANE_RANGE: return strip->kind == HWY_RANGE;
	default: return false;
	}
}

static void forget_thread(struct place *place)
{
	for (uint32_t i = 0; i < place->n; i++)
		enclosing_close(&place->around[i]);
	place->n = 0;
}

void place_begin(struct place *place, const struct stats_run *run, int64_t thread)
{
	const struct hwy_trace *trace = run->trace;
	forget_thread(place);
	place->run = run;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (trace->lanes[strip->lane].thread != thread || !tells_a_place(trace, strip))
			continue;
		HWY_GROW(place->around, place->n, place->cap);
		place->around[place->n++] = (struct enclosing){.strip = strip};
	}
}

void place_end(struct place *place)
{
	forget_thread(place);
	free(place->around);
	free(place->buffer.at);
	*place = (struct place){0};
}

/* ---- stacks --------------------------------------------------------------------------------------- */

static const char *file_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Frames of the vendor's libraries and of the recorder say nothing about the program. */
static bool is_own_frame(const struct hwy_trace *trace, const struct hwy_frame *frame)
{
	static const char *const others[] = {
		"libcuda", "libcupti",  "libcudart", "libnv",   "libToolsInjection", "libamdhip",
		"libhsa",  "libOpenCL", "libpocl",   "libc.so", "[Unknown"};
	const char *module = file_of(hwy_str(trace, frame->module));
	for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
		if (strncmp(module, others[i], strlen(others[i])) == 0)
			return false;
	/* A runtime that is linked into the program stands in the program's own file. */
	const char *function = hwy_str(trace, frame->function);
	if (strncmp(function, "cuda", 4) == 0 || strncmp(function, "__cuda", 6) == 0 ||
	    hwy_role_of_name(function) != HWY_ROLE_OTHER)
		return false;
	return !(frame->flags & (HWY_FRAME_KERNEL | HWY_FRAME_UNRESOLVED));
}

static const struct hwy_frame *frame_of(const struct hwy_trace *trace, int64_t stack)
{
	const struct hwy_frame *own = NULL;
	/* A trie's parents come before their children, so this ends. */
	for (uint32_t steps = 0; stack > 0 && stack <= trace->n_stacks && steps < trace->n_stacks;
	     steps++) {
		const struct hwy_stack *node = &trace->stacks[stack - 1];
		if (node->frame >= 0 && node->frame < trace->n_frames) {
			const struct hwy_frame *frame = &trace->frames[node->frame];
			if (frame->flags > 0 && (frame->flags & HWY_FRAME_PYTHON))
				return frame;
			if (!own && is_own_frame(trace, frame))
				own = frame;
		}
		stack = node->parent;
	}
	return own;
}

static struct hwy_text put(struct place *place, const char *first, const char *second, int64_t line)
{
	char number[32] = "";
	if (line > 0)
		snprintf(number, sizeof number, ":%" PRId64, line);
	size_t need = strlen(first) + strlen(second) + sizeof number + 4;
	if (place->buffer.cap < need) {
		place->buffer.at = hwy_realloc(place->buffer.at, need);
		place->buffer.cap = need;
	}
	int n = snprintf(place->buffer.at, place->buffer.cap, "%s%s%s%s", first, number,
			 *second && (*first || *number) ? " " : "", second);
	return (struct hwy_text){place->buffer.at, (uint32_t)n};
}

static struct hwy_text frame_text(struct place *place, const struct hwy_frame *frame)
{
	const struct hwy_trace *trace = place->run->trace;
	const char *file = file_of(hwy_str(trace, frame->file)),
		   *function = hwy_str(trace, frame->function);
	const char *module = file_of(hwy_str(trace, frame->module));
	if (*file)
		return put(place, file, function, frame->line);
	if (frame->flags > 0 && (frame->flags & HWY_FRAME_PYTHON))
		return put(place, module, function, frame->line);
	return put(place, function, module, 0);
}

/* ---- what runs around ----------------------------------------------------------------------------- */

static struct hwy_text without_numbers(struct place *place, const char *name)
{
	put(place, name, "", 0);
	char *to = place->buffer.at;
	for (const char *from = to; *from; from++) {
		if (!isdigit((unsigned char)*from))
			*to++ = *from;
		else if (!isdigit((unsigned char)from[1]))
			*to++ = '*';
	}
	*to = 0;
	return (struct hwy_text){place->buffer.at, (uint32_t)(to - place->buffer.at)};
}

/* The bare name in "<built-in method item of Tensor object at 0x7f…>", or NULL when it is no such text. */
static const char *builtin_name(const char *name, char *bare, size_t room)
{
	static const char *const leads[] = {"<built-in method ", "<built-in function "};
	for (unsigned i = 0; i < sizeof leads / sizeof *leads; i++)
		if (strncmp(name, leads[i], strlen(leads[i])) == 0) {
			const char *from = name + strlen(leads[i]);
			snprintf(bare, room, "%.*s()", (int)strcspn(from, " >"), from);
			return bare;
		}
	return NULL;
}

/* A traced function. A built-in one says where only through its caller: "train.py(12): step item()". */
static struct hwy_text function_text(struct place *place, const struct enclosing *around,
				     uint32_t row)
{
	const struct hwy_trace *trace = place->run->trace;
	const char *name = hwy_str(trace, hwy_get(around->strip, HWY_NAME, row));
	char bare[128], callers[128];
	const char *builtin = builtin_name(name, bare, sizeof bare);
	if (!builtin)
		return put(place, name, "", 0);
	for (uint32_t i = around->n; i-- > 0;) {
		const char *caller =
			hwy_str(trace, hwy_get(around->strip, HWY_NAME, around->open[i].row));
		if (around->open[i].row < row && !builtin_name(caller, callers, sizeof callers))
			return put(place, caller, builtin, 0);
	}
	return put(place, builtin, "", 0);
}

struct hwy_text place_of(struct place *place, const struct hwy_strip *call, uint32_t row)
{
	const struct hwy_trace *trace = place->run->trace;
	const struct hwy_frame *frame = frame_of(trace, hwy_get(call, HWY_STACK, row));
	int64_t start = hwy_get(call, HWY_START, row), end = hwy_end(call, row), latest = INT64_MIN;
	const struct enclosing *around = NULL;
	uint32_t inner = 0;
	for (uint32_t i = 0; i < place->n; i++) {
		uint32_t at = enclosing_find(&place->around[i], start, end);
		if (at == UINT32_MAX)
			continue;
		int64_t begins = hwy_get(place->around[i].strip, HWY_START, at);
		/* The program's own functions say more than the framework's operators inside them. */
		bool function = place->around[i].strip->kind == HWY_CALL;
		bool better =
			!around || function || (around->strip->kind != HWY_CALL && begins > latest);
		if (!better)
			continue;
		around = &place->around[i];
		inner = at;
		latest = begins;
	}
	if (frame)
		return frame_text(place, frame);
	if (!around)
		return (struct hwy_text){"", 0};
	if (around->strip->kind == HWY_CALL)
		return function_text(place, around, inner);
	const char *name = hwy_str(trace, hwy_get(around->strip, HWY_NAME, inner));
	return around->strip->kind == HWY_RANGE ? without_numbers(place, name)
						: put(place, name, "", 0);
}
