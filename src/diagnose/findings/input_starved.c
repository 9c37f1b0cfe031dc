/* input_starved.c - the GPU waits for the next batch: the loader is slower than the step.
 *
 * Cost: gaps with the cause 'input'. The advice depends on the worker processes: where there are
 * more workers than processors, or workers are started again and again, more of them would make it
 * worse.
 */
#include "base/say.h"
#include "diagnose/case.h"
#include "diagnose/findings/findings.h"

/* A child that begins so much later than the newest one before it is of another generation of
 * workers. */
#define GENERATION_NS INT64_C(1000000000)
#define FEWEST_WORKERS 2

static const struct advice few = {
	.any = "Prepare batches ahead of time in other threads or processes, so that the next one is ready when the GPU "
	       "asks; copy it from pinned memory.",
	.by_framework =
		{[HWY_PYTORCH] =
			 "Load batches in worker processes, ahead of time: raise num_workers step by step while this cost "
			 "falls, up to the number of cores.\n"
			 "  DataLoader(data, batch_size=…, num_workers=8, pin_memory=True, persistent_workers=True, "
			 "prefetch_factor=4)\n"
			 "If it stays, move decoding or augmentation to the GPU, or store the data preprocessed."},
};
static const struct advice many = {
	.any = "There are more worker processes than processors: they take time from each other. Use about as many as "
	       "there are cores.",
	.by_framework =
		{[HWY_PYTORCH] =
			 "There are more workers than processors: they take time from each other. Use about as many "
			 "as there are cores, and one thread in each.\n"
			 "  DataLoader(…, num_workers=os.cpu_count() - 1)   # and torch.set_num_threads(1) in them"},
};
static const struct advice again = {
	.any = "Worker processes are started again and again: start them once and keep them.",
	.by_framework = {[HWY_PYTORCH] =
				 "The workers are started anew for every epoch: keep them.\n"
				 "  DataLoader(…, num_workers=8, persistent_workers=True)"},
};

/* The number of child processes of the phase's process that lived in its window, and the *cpus of
 * the host. */
static uint32_t count_workers(const struct hwy_case *c, int64_t *cpus, uint32_t *generations)
{
	const struct hwy_trace *trace = c->trace;
	uint32_t n = 0;
	int64_t newest = HWY_NONE;
	*cpus = HWY_NONE;
	*generations = 0;
	for (uint32_t i = 0; i < trace->n_processes; i++) {
		const struct hwy_process *process = &trace->processes[i];
		if (process->host >= 0 && process->host < trace->n_hosts)
			*cpus = trace->hosts[process->host].cpus;
		if (process->parent != (int64_t)c->phase->process || process->start == HWY_NONE ||
		    process->start > c->phase->window.to ||
		    (process->end != HWY_NONE && process->end < c->phase->window.from))
			continue;
		n++;
		if (newest == HWY_NONE || process->start > newest + GENERATION_NS)
			++*generations;
		if (newest == HWY_NONE || process->start > newest)
			newest = process->start;
	}
	return n;
}

static void finding_input_starved_look(struct hwy_case *c)
{
	struct claim claim = {0};
	claim_cause(c, &claim, GAP_INPUT);
	if (!claim_is_worth(c, &claim)) {
		claim_drop(c, &claim);
		return;
	}
	int64_t cpus;
	uint32_t generations, workers = count_workers(c, &cpus, &generations);
	const struct advice *advice = &few;
	const char *more = "";
	struct hwy_arena *arena = &c->diagnosis->arena;
	if (cpus != HWY_NONE && workers > cpus) {
		advice = &many;
		more = hwy_arena_format(arena, " %u worker processes share %lld processors.",
					workers, (long long)cpus);
	} else if (workers >= FEWEST_WORKERS && generations > 1) {
		advice = &again;
		more = hwy_arena_format(arena,
					" Its %u workers were started at %u different times.",
					workers, generations);
	}
	int64_t in_top;
	const char *name = claim_top_name(c, &claim, &in_top);
	if (*name)
		name = hwy_arena_format(arena, ", mostly in %.80s", name);
	const char *says = hwy_arena_format(
		arena, "The GPU waits %s a step, %s of it, for the next batch%s.%s",
		hwy_say_time3(case_per_step(c, claim.total)).text,
		hwy_say_share(claim_share(c, &claim)).text, name, more);
	claim_accuse(c, &claim, HWY_HIGH, says, case_advice(c, advice));
}

const struct hwy_finding_kind finding_input_starved = {
	.id = "input-starved",
	.title = "the GPU waits for input",
	.edit = "perfect-input",
	.look = finding_input_starved_look,
};
