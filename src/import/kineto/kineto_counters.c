/* SPDX-License-Identifier: Apache-2.0 */
/* kineto_counters.c - counter events (ph C): each argument is the value of one counter.
 *
 * The values of a lane are all integers or all reals, and only the last value decides which: 0, 0,
 * 0.5 are reals. So values are kept until the end of the file.
 */
#include <stdlib.h>
#include <string.h>

#include "import/kineto/kineto.h"

/* The lane of a counter. A pid that is a number is a process, a text with a number ("GPU 0
 * Counters") is a device. */
static struct hwy_lane counter_lane(struct kineto *k, const struct kineto_arg *arg)
{
	struct kineto_id pid = kineto_read_id(k, &k->event.pid);
	struct hwy_lane lane = hwy_lane_of(HWY_LANE_COUNTER, HWY_NONE, HWY_NONE);
	if (pid.number != HWY_NONE)
		lane.process = kineto_process(k, pid);
	else if (kineto_first_number(k, pid).number != HWY_NONE)
		lane.device = kineto_device(k, pid);
	lane.name = kineto_text_id(k, &k->event.name);
	if (arg->key.length == 0)
		return lane;
	struct hwy_text name = k->trace->strings.texts[lane.name];
	size_t length = (size_t)name.length + 1 + arg->key.length;
	kineto_need_scratch(k, length);
	memcpy(k->scratch, name.at, name.length);
	k->scratch[name.length] = ' ';
	memcpy(k->scratch + name.length + 1, arg->key.at, arg->key.length);
	lane.name = hwy_text_id_n(k->b, k->scratch, length);
	return lane;
}

/* Whether a value is an integer that fits 64 bits. */
static bool is_whole(const struct scan_value *value, int64_t *number)
{
	for (uint32_t i = 0; i < value->length; i++)
		if (value->text[i] != '-' && (value->text[i] < '0' || value->text[i] > '9'))
			return false;
	return scan_integer(value, number) && *number != INT64_MAX && *number != INT64_MIN;
}

static double to_real(const struct scan_value *value)
{
	char text[64];
	size_t length = value->length < sizeof text ? value->length : sizeof text - 1;
	memcpy(text, value->text, length);
	text[length] = 0;
	return strtod(text, NULL);
}

void kineto_add_counter(struct kineto *k)
{
	struct kineto_event *event = &k->event;
	for (uint32_t i = 0; i < event->n_args; i++) {
		const struct scan_value *value = &event->args[i].value;
		if (value->type != SCAN_NUMBER)
			continue;
		struct kineto_mark mark = {.ts = event->ts};
		mark.is_real = !is_whole(value, &mark.number);
		if (mark.is_real)
			mark.real = to_real(value);
		mark.lane = hwy_add_lane(k->b, counter_lane(k, &event->args[i]));
		HWY_GROW(k->marks, k->n_marks, k->cap_marks);
		k->marks[k->n_marks++] = mark;
	}
}

void kineto_add_marks(struct kineto *k)
{
	struct hwy_lane *lanes = k->trace->lanes;
	for (uint32_t i = 0; i < k->n_marks; i++) {
		struct hwy_lane *lane = &lanes[k->marks[i].lane];
		if (lane->value_type != HWY_PAYLOAD_DOUBLE)
			lane->value_type =
				k->marks[i].is_real ? HWY_PAYLOAD_DOUBLE : HWY_PAYLOAD_I64;
	}
	for (uint32_t i = 0; i < k->n_marks; i++) {
		const struct kineto_mark *mark = &k->marks[i];
		struct hwy_row row = {0};
		row.v[HWY_START] = mark->ts;
		row.v[HWY_VALUE] = mark->number;
		if (lanes[mark->lane].value_type == HWY_PAYLOAD_DOUBLE) {
			double real = mark->is_real ? mark->real : (double)mark->number;
			memcpy(&row.v[HWY_VALUE], &real, sizeof real);
		}
		hwy_add_span(k->b, mark->lane, HWY_COUNTER, &row);
	}
}
