/* SPDX-License-Identifier: Apache-2.0 */
/* share.c - the table through which sibling libraries record; see share.h. */
#include "collect/share.h"

#include "collect/process.h"
#include "collect/python/python.h"
#include "collect/spool.h"

/* Defined by the linker: the library's first byte, and the first byte behind the library. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static struct rec_control *share_control(void)
{
	return collect_control;
}

static void share_note(int severity, const char *text)
{
	collect_note(severity, "%s", text);
}

static bool share_is_inside(void)
{
	return collect_is_ours;
}

static bool share_set_inside(bool is_inside)
{
	bool before = collect_is_ours;
	collect_is_ours = is_inside;
	return before;
}

__attribute__((visibility("default"))) const struct collect_share *headway_collect_share(void)
{
	static const struct collect_share share = {
		.size = sizeof share,
		.control = share_control,
		.is_on = collect_is_on,
		.tid = collect_tid,
		.reserve = collect_reserve,
		.publish = collect_publish,
		.string = collect_string,
		.note = share_note,
		.drop = collect_drop,
		.property = collect_property,
		.stack = collect_stack,
		.is_inside = share_is_inside,
		.set_inside = share_set_inside,
		.is_sealed = &process.sealed,
		.joined_itself = &process.joined_itself,
		.python_runtime = python_runtime,
		.generation = &process.generation,
		.from = __ehdr_start,
		.to = _end,
	};
	return &share;
}
