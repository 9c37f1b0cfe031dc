/* SPDX-License-Identifier: Apache-2.0 */
/* info_clocks.c - what `headway info` says of the clocks, the power and the temperature of a
 * device. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/json.h"
#include "base/lang.h"
#include "base/say.h"
#include "cli/info_print.h"
#include "cli/kit/cli.h"

__attribute__((format(printf, 2, 3))) static void add_part(char *line, const char *format, ...)
{
	size_t n = strlen(line);
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(line + n, INFO_CLOCKS_BYTES - n, format, arguments);
	va_end(arguments);
}

static struct hwy_words mega(double hertz)
{
	return hwy_say_count_grouped(hertz > 0 ? (uint64_t)(hertz / 1e6 + 0.5) : 0);
}

/* "SM 345 to 1,980 MHz, median 1,980" */
static void add_clock(char *line, const char *name, const struct clock_values *clock)
{
	if (!clock->samples)
		return;
	add_part(line, "%s%s %s", *line ? hwy_tr("; ") : "", name, mega(clock->least).text);
	if (clock->most - clock->least < 1e6)
		add_part(line, " MHz");
	else
		add_part(line, hwy_tr(" to %s MHz, median %s"), mega(clock->most).text,
			 mega(clock->median).text);
}

static void add_losses(char *line, const struct device_clocks *clocks)
{
	unsigned told = 0, known = 0;
	for (unsigned i = 0; i < CLOCK_LIMITS; i++) {
		known += clocks->lost[i] != HWY_NONE;
		if (clocks->lost[i] <= 0)
			continue;
		add_part(line, hwy_tr("%s%s by %s"),
			 told++ ? hwy_tr(", ") : hwy_tr("; held down for "),
			 hwy_say_time3(clocks->lost[i]).text, hwy_tr(device_clocks_words[i]));
	}
	if (known && !told)
		add_part(line, "%s", hwy_tr("; nothing held it down"));
}

void info_clocks_words(const struct device_clocks *clocks, char line[INFO_CLOCKS_BYTES])
{
	*line = '\0';
	add_clock(line, "SM", &clocks->sm);
	add_clock(line, hwy_tr("memory"), &clocks->memory);
	if (clocks->power.samples)
		add_part(line, hwy_tr("%s%.0f W on average, %.0f at most"),
			 *line ? hwy_tr("; ") : "", clocks->power.mean, clocks->power.most);
	if (clocks->power.samples && clocks->power_limit > 0)
		add_part(line, hwy_tr(" (limit %.0f)"), clocks->power_limit);
	if (clocks->temperature.samples)
		add_part(line, hwy_tr("; up to %.0f °C"), clocks->temperature.most);
	add_losses(line, clocks);
}

static void put_values(struct hwy_json *json, const char *key, const struct clock_values *values)
{
	json_key(json, key);
	if (!values->samples) {
		json_null(json);
		return;
	}
	json_begin_object(json);
	json_put_real(json, "least", values->least, 1);
	json_put_real(json, "median", values->median, 1);
	json_put_real(json, "mean", values->mean, 1);
	json_put_real(json, "most", values->most, 1);
	json_put_int(json, "samples", values->samples);
	json_end_object(json);
}

static void clocks_put_device(struct hwy_json *json, uint32_t device,
			      const struct device_clocks *clocks)
{
	json_begin_object(json);
	json_put_int(json, "device", device);
	put_values(json, "sm_hz", &clocks->sm);
	put_values(json, "memory_hz", &clocks->memory);
	put_values(json, "power_w", &clocks->power);
	put_values(json, "temperature_c", &clocks->temperature);
	cli_put_optional(json, "most_sm_hz",
			 clocks->most_sm > 0 ? llround(clocks->most_sm) : HWY_NONE);
	cli_put_optional(json, "power_limit_mw",
			 clocks->power_limit > 0 ? llround(clocks->power_limit * 1e3) : HWY_NONE);
	cli_put_optional(json, "energy_mj", clocks->energy_mj);
	json_key(json, "lost_ns");
	json_begin_object(json);
	for (unsigned i = 0; i < CLOCK_LIMITS; i++)
		cli_put_optional(json, device_clocks_keys[i], clocks->lost[i]);
	json_end_object(json);
	json_end_object(json);
}

void info_clocks_put(struct hwy_json *json, const struct info *info)
{
	json_key(json, "clocks");
	json_begin_array(json);
	for (uint32_t i = 0; i < info->trace->n_devices; i++)
		if (info->has_clocks[i])
			clocks_put_device(json, i, &info->clocks[i]);
	json_end_array(json);
}
