/* SPDX-License-Identifier: Apache-2.0 */
/* throttled.c - the GPU computes at a lower clock than it could, because of its power limit, of
 * heat, of the power supply or of somebody's setting.
 *
 * Every sample of the clock that lies in busy time counts with that time. Where the driver names
 * a reason that holds the clock down, the time lost is the busy time times the share by which
 * the clock is below the best one: the best that the GPU reached in the recording without such a
 * reason, else the highest that it has. Cost: the sum, as far as kernels ran; a kernel that
 * waits for memory loses less, so it is said to be at most that. A clock that is low while the
 * GPU has nothing to do is how GPUs save power: an acquittal says so.
 */
#include <stdlib.h>

#include "analyze/device_clocks.h"
#include "base/lang.h"
#include "base/say.h"
#include "diagnose/case.h"
#include "diagnose/findings/findings.h"

#define HELD_SHARE 0.05   /* of the busy time, in which a reason holds the clock down */
#define FEARED_SHARE 0.1  /* by which the clock is seen below the best one at some time */
#define NORMAL_SHARE 0.03 /* by which the clock while busy may be below the best one */

static const struct reason {
	uint32_t bit;
	const char *words, *advice;
} reasons[] = {
	/* A sample with several reasons counts for the first of them here: the rarer and the
	 * worse first. */
	{REASON_POWER_BRAKE, HWY_KEY("the power supply"),
	 HWY_KEY("The power supply or the rack told the GPU to slow down (power brake): look into the machine's log.\n"
		 "  ipmitool sel list; nvidia-smi -q -d PERFORMANCE")},
	{REASON_HW_THERMAL | REASON_SW_THERMAL, HWY_KEY("heat"),
	 HWY_KEY("The GPU is too hot for its clock: look at fans, air flow, and what runs beside it.\n"
		 "  nvidia-smi -q -d TEMPERATURE,PERFORMANCE")},
	{REASON_POWER_CAP, HWY_KEY("the power limit"),
	 HWY_KEY("The GPU draws as much power as it may. Raise the limit where the machine permits it, or draw less: fewer bits, fewer "
		 "bytes moved. To compare runs, hold the clock at a value that lasts.\n"
		 "  nvidia-smi -q -d POWER; nvidia-smi -pl WATTS      # as root\n"
		 "  nvidia-smi -lgc 1200                              # while comparing; -rgc afterwards")},
	{REASON_HW_SLOWDOWN, HWY_KEY("a slowdown of the hardware"),
	 HWY_KEY("The hardware halved its clock or more: heat, the power supply, or too much power at once.\n"
		 "  nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER")},
	{REASON_SYNC_BOOST, HWY_KEY("the slowest GPU of its group"),
	 HWY_KEY("The GPUs of a group share the clock of the slowest: look which one that is.\n"
		 "  nvidia-smi -q -d PERFORMANCE")},
	{REASON_SETTING, HWY_KEY("a setting"),
	 HWY_KEY("Somebody has set the clock of this GPU.\n  nvidia-smi -rgc; nvidia-smi -rac      # back to what it was, as root")},
};
enum { REASONS = sizeof reasons / sizeof *reasons };

struct held {                 /* what was seen on all devices of the phase */
	double busy;          /* ns of busy time that samples tell about */
	double by[REASONS];   /* ns of it, by reason */
	double lost[REASONS]; /* ns that the clock cost, by reason */
	double all_held, all_lost;
	double clocked; /* the sum of clock times ns, over the busy time */
	double best;    /* Hz, of the device with the most */
	double least;   /* Hz, in the window, busy or not */
	uint32_t samples;
	bool is_sure; /* the best clock was seen */
	double celsius, power_limit;
};

static unsigned reason_of(double bits)
{
	uint32_t mask = bits > 0 && bits < 0x1p31 ? (uint32_t)bits : 0;
	for (unsigned i = 0; i < REASONS; i++)
		if (mask & reasons[i].bit)
			return i;
	return REASONS;
}

/* The reasons at a moment: those of the last sample before it; 0 where there is none. */
static double bits_at(const struct metric_series *limits, uint32_t *at, int64_t moment)
{
	if (!limits || limits->n == 0)
		return 0;
	while (*at + 1 < limits->n && limits->starts[*at + 1] <= moment)
		(*at)++;
	return limits->starts[*at] <= moment ? limits->values[*at] : 0;
}

/* ns of the busy times inside [from, to); *at is the first of them that may reach into it. */
static int64_t busy_inside(const struct hwy_interval *times, uint32_t n, uint32_t *at, int64_t from,
			   int64_t to)
{
	int64_t ns = 0;
	while (*at < n && times[*at].to <= from)
		(*at)++;
	for (uint32_t i = *at; i < n && times[i].from < to; i++)
		ns += (times[i].to < to ? times[i].to : to) -
		      (times[i].from > from ? times[i].from : from);
	return ns;
}

/* The best clock while busy without a reason; where there was no such time, the highest that the
 * device has. */
static double best_clock(const struct metric_series *clock, const struct metric_series *limits,
			 const struct hwy_interval *times, uint32_t n, double most, bool *is_seen)
{
	uint32_t at = 0, busy = 0;
	double best = 0;
	for (uint32_t i = 0; i < clock->n; i++) {
		struct hwy_interval holds = metric_holds(clock, i);
		if (reason_of(bits_at(limits, &at, holds.from)) == REASONS &&
		    busy_inside(times, n, &busy, holds.from, holds.to) > 0 &&
		    clock->values[i] > best)
			best = clock->values[i];
	}
	*is_seen = best > 0;
	return best > 0 ? best : most;
}

static void look_at_device(struct hwy_case *c, struct held *held, struct hwy_metrics *metrics,
			   uint32_t d)
{
	int64_t device = c->flow->devices[d].device;
	const struct metric_series *clock = device_clocks_series(metrics, device);
	const struct metric_series *limits = metrics_get(metrics, device, METRIC_LIMITS);
	struct device_clocks facts;
	if (!clock || !limits || !device_clocks_read(&facts, metrics, device))
		return;
	uint32_t n, at = 0, busy = 0;
	bool is_seen;
	struct hwy_interval *times = device_clocks_busy_times(c->flow, d, c->phase->window, &n);
	double best = best_clock(clock, limits, times, n, facts.most_sm, &is_seen);
	for (uint32_t i = 0; i < clock->n && best > 0; i++) {
		struct hwy_interval holds = metric_holds(clock, i);
		if (holds.from >= c->phase->window.from && holds.from < c->phase->window.to &&
		    (held->least <= 0 || clock->values[i] < held->least))
			held->least = clock->values[i];
		double ns = (double)busy_inside(times, n, &busy, holds.from, holds.to);
		if (ns <= 0)
			continue;
		unsigned reason = reason_of(bits_at(limits, &at, holds.from));
		double lost = clock->values[i] < best ? ns * (1 - clock->values[i] / best) : 0;
		held->busy += ns;
		held->clocked += ns * clock->values[i];
		held->samples++;
		if (reason == REASONS)
			continue;
		held->by[reason] += ns;
		held->lost[reason] += lost;
		held->all_held += ns;
		held->all_lost += lost;
	}
	held->best = best > held->best ? best : held->best;
	held->is_sure |= is_seen;
	held->celsius =
		facts.temperature.most > held->celsius ? facts.temperature.most : held->celsius;
	held->power_limit = facts.power_limit;
	free(times);
}

/* "the power limit of 700 W", "heat (92 °C)" */
static const char *reason_words(struct hwy_case *c, const struct held *held, unsigned reason)
{
	struct hwy_arena *arena = &c->diagnosis->arena;
	if (reasons[reason].bit == REASON_POWER_CAP && held->power_limit > 0)
		return hwy_arena_say(arena, "%s of %.0f W", hwy_tr(reasons[reason].words),
				     held->power_limit);
	if ((reasons[reason].bit & REASON_SW_THERMAL) && held->celsius > 0)
		return hwy_arena_format(arena, "%s (%.0f °C)", hwy_tr(reasons[reason].words),
					held->celsius);
	return hwy_tr(reasons[reason].words);
}

static const char *mega_hertz(struct hwy_case *c, double hertz)
{
	return hwy_arena_say(&c->diagnosis->arena, "%s MHz",
			     hwy_say_count_grouped((uint64_t)(hertz / 1e6 + 0.5)).text);
}

static void judge(struct hwy_case *c, const struct held *held)
{
	struct hwy_arena *arena = &c->diagnosis->arena;
	struct claim claim = {0};
	unsigned worst = 0;
	double busy_clock = held->clocked / held->busy;
	for (unsigned i = 1; i < REASONS; i++)
		worst = held->lost[i] > held->lost[worst] ? i : worst;
	claim_kernels(c, &claim, (int64_t)held->all_lost, CLAIM_NOBODY);
	bool is_held = held->all_held >= HELD_SHARE * held->busy;
	if (is_held && claim_is_worth(c, &claim))
		claim_accuse(
			c, &claim, held->is_sure ? HWY_MEDIUM : HWY_LOW,
			hwy_arena_say(
				arena,
				"The GPU computes at %s on average, where %s is %s: %s holds its clock down for %s "
				"of the busy time. Kernels that compute lose up to %s%s.",
				mega_hertz(c, busy_clock), mega_hertz(c, held->best),
				hwy_tr(held->is_sure ? "what it reached at other times"
						     : "its highest"),
				reason_words(c, held, worst),
				hwy_say_share(held->all_held / held->busy).text,
				hwy_say_time3(case_per_step(c, (int64_t)held->all_lost)).text,
				case_a_step(c)),
			reasons[worst].advice);
	else if (is_held && held->all_lost > 0)
		claim_acquit(
			c, &claim,
			hwy_arena_say(
				arena,
				"%s holds the clock down for %s of the busy time, which costs %s "
				"of the step: %s instead of %s.",
				reason_words(c, held, worst),
				hwy_say_share(held->all_held / held->busy).text,
				hwy_say_share(claim_share(c, &claim)).text,
				mega_hertz(c, busy_clock), mega_hertz(c, held->best)));
	else if (held->least < (1 - FEARED_SHARE) * held->best &&
		 busy_clock >= (1 - NORMAL_SHARE) * held->best)
		claim_acquit(
			c, &claim,
			hwy_arena_say(
				arena,
				"The clock falls to %s while the GPU has nothing to do; while it "
				"is busy, it is %s.",
				mega_hertz(c, held->least), mega_hertz(c, busy_clock)));
	claim_drop(c, &claim);
}

static void finding_throttled_look(struct hwy_case *c)
{
	struct held held = {0};
	struct hwy_metrics metrics;
	metrics_open(&metrics, c->trace);
	for (uint32_t d = 0; metrics.n && d < c->flow->n_devices; d++)
		if (c->uses[d] && c->flow->devices[d].device != HWY_NONE)
			look_at_device(c, &held, &metrics, d);
	metrics_close(&metrics);
	if (held.samples >= METRICS_FEWEST_SAMPLES && held.busy > 0)
		judge(c, &held);
}

const struct hwy_finding_kind finding_throttled = {
	.id = "throttled",
	.title = "the GPU runs below its clock",
	.suspect = "low clocks",
	.look = finding_throttled_look,
	.is_inside = true,
};
