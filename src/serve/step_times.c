/* SPDX-License-Identifier: Apache-2.0 */
/* step_times.c - see step_times.h. */
#include "serve/step_times.h"

#include <stdlib.h>

#include "base/search.h"

enum { MOST_DIGITS_OF_STEP = 9 };

static uint32_t step_number(const struct hwy_trace *trace, int64_t name, uint32_t place)
{
	struct hwy_text text = hwy_text(trace, name);
	uint32_t digits = 0, number = 0;
	while (digits < text.length && text.at[text.length - 1 - digits] >= '0' &&
	       text.at[text.length - 1 - digits] <= '9')
		digits++;
	if (digits == 0 || digits > MOST_DIGITS_OF_STEP)
		return place;
	for (uint32_t i = text.length - digits; i < text.length; i++)
		number = number * 10 + (uint32_t)(text.at[i] - '0');
	return number;
}

static int by_process_and_time(const void *left, const void *right)
{
	const struct timed_step *a = left, *b = right;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->device.from != b->device.from)
		return a->device.from < b->device.from ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

void step_times_write(const struct hwy_trace *trace, const struct hwy_phases *phases,
		      struct hwy_bytes *out)
{
	size_t first = out->n;
	for (uint32_t p = 0; p < phases->n; p++)
		for (uint32_t k = 0; k < phases->phases[p].n_steps; k++) {
			const struct phase_step *step = &phases->phases[p].steps[k];
			struct timed_step time = {.cpu = step->cpu,
						  .device = step->device,
						  .process = phases->phases[p].process,
						  .phase = p,
						  .number = step_number(trace, step->name, k),
						  .place = k};
			hwy_bytes_put(out, &time, sizeof time);
		}
	size_t n = (out->n - first) / sizeof(struct timed_step);
	if (n > 1)
		qsort(out->bytes + first, n, sizeof(struct timed_step), by_process_and_time);
}

uint32_t step_times_find(const struct step_times *steps, int64_t process, bool on_device,
			 int64_t start)
{
	const struct timed_step *v = steps->v;
	uint32_t wanted = process == HWY_NONE ? FLOW_NO_PROCESS : (uint32_t)process;
	if (steps->n && v[steps->n - 1].process == FLOW_NO_PROCESS)
		wanted = FLOW_NO_PROCESS;
	uint32_t first = HWY_FIRST(i, 0u, steps->n, v[i].process >= wanted);
	uint32_t end = HWY_FIRST(i, 0u, steps->n, v[i].process > wanted);
	uint32_t after =
		HWY_FIRST(i, first, end, (on_device ? v[i].device.from : v[i].cpu.from) > start);
	if (after == first)
		return STEP_TIMES_NONE;
	const struct hwy_interval *at = on_device ? &v[after - 1].device : &v[after - 1].cpu;
	return start < at->to ? after - 1 : STEP_TIMES_NONE;
}
