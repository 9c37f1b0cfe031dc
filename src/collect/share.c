/* share.c - the table through which sibling libraries record; see share.h. */
#include "collect/share.h"

#include "collect/process.h"
#include "collect/spool.h"
#include "collect/sys.h"

/* The linker's: the library's first byte, and the first behind it. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static struct rec_control *control(void)
{
	return collect_control;
}

static void share_note(int severity, const char *text)
{
	collect_note(severity, "%s", text);
}

/* In a forked child the lock may be held for ever; its modules are those of its parent. */
static void look_at_modules(void)
{
	if (process.generation != 1 || process.sealed)
		return;
	uint64_t signals = sys_hold_signals();
	modules_scan();
	sys_restore_signals(signals);
}

static bool is_inside(void)
{
	return collect_is_ours;
}

__attribute__((visibility("default"))) const struct collect_share *headway_collect_share(void)
{
	static const struct collect_share share = {
		.size = sizeof share,
		.control = control,
		.is_on = collect_is_on,
		.tid = collect_tid,
		.reserve = collect_reserve,
		.publish = collect_publish,
		.abandon = spool_abandon,
		.string = collect_string,
		.note = share_note,
		.drop = collect_drop,
		.property = collect_property,
		.stack = collect_stack,
		.look_at_modules = look_at_modules,
		.is_inside = is_inside,
		.is_sealed = &process.sealed,
		.from = __ehdr_start,
		.to = _end,
	};
	return &share;
}
