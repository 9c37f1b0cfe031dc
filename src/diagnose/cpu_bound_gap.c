/* cpu_bound_gap.c - the GPU waits while the CPU is busy with something else: named code, a file, a lock.
 *
 * Cost: gaps with the causes 'cpu' and 'os'. The name is that of the operator, range, sample or os call that
 * takes most of them.
 */
#include <string.h>

#include "diagnose/case.h"
#include "diagnose/findings.h"
#include "diagnose/words.h"

static const struct advice fix = {
	.any = "Move this work off the loop's thread, or do it while the GPU is busy: launch the next step first.\n"
	       "  launch(step + 1); std::async(save, result);   // not: save(result); launch(step + 1);",
	.of =
		{
			[HWY_PYTORCH] =
				"Move this work off the loop's thread (a thread pool for files and logging), do it less often, or "
				"do it after the next step has been launched.\n"
				"  pool.submit(save, state)   # not: save(state)",
			[HWY_CUPY] =
				"Do this beside the computation: copy to pinned memory on its own stream, and save from a "
				"thread.\n"
				"  with copy_stream: x.get(out=pinned, blocking=False)\n"
				"  pool.submit(numpy.save, name, pinned)",
		},
};

static void look(struct hwy_case *c)
{
	struct claim claim = {0};
	struct hwy_arena *arena = &c->diagnosis->arena;
	claim_cause(c, &claim, GAP_CPU);
	int64_t cpu = claim.total, in_top;
	claim_cause(c, &claim, GAP_OS);
	if (!claim_is_worth(c, &claim)) {
		claim_drop(c, &claim);
		return;
	}
	const char *name = claim_top_name(c, &claim, &in_top);
	const char *where = "", *mark = hwy_str(c->trace, c->phase->name);
	/* That it happens inside the step says nothing. */
	if (*mark && strncmp(name, mark, strlen(mark)) == 0)
		name = "";
	if (*name)
		where = words_format(arena, " %s of it, %s, is %.80s.",
				     in_top > claim.total / 2 ? "Most" : "The largest part",
				     words_time(case_per_step(c, in_top)).at, name);
	const char *doing = claim.total - cpu > cpu
				    ? "in the operating system: files, sockets, locks"
				    : "with work of its own";
	const char *says = words_format(
		arena, "The GPU has nothing to do for %s a step while the CPU is busy %s.%s",
		words_time(case_per_step(c, claim.total)).at, doing, where);
	hwy_accuse(c, &claim, *name ? HWY_HIGH : HWY_MEDIUM, says, case_advice(c, &fix));
}

const struct hwy_finding_kind finding_cpu_bound_gap = {
	.id = "cpu-bound-gap",
	.title = "the GPU waits for CPU code",
	.edit = "background",
	.look = look,
};
