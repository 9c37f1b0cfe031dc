/* SPDX-License-Identifier: Apache-2.0 */
/* profile_metrics.c - the options about GPU metrics, in nsys's words.
 *
 * nsys names its sets after chips ("gh100") or numbers them. Headway builds its sets for the
 * chip at hand, so such words mean the general set, and a line says so.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "cli/profile.h"
#include "run/counters/pm_probe.h"
#include "run/counters/pm_set.h"

enum { LEAST_METRICS_HZ = 10, MOST_METRICS_HZ = 200000, DEFAULT_METRICS_HZ = 10000 };

const char *const profile_metrics_device_words[] = {"none", "all", "cuda-visible", "help", NULL};
const char *const profile_metrics_set_words[] = {"general", "memory", "throughput",
						 "pipes",   "help",   NULL};

void profile_metrics_defaults(struct pm_settings *settings)
{
	*settings = (struct pm_settings){.rate_hz = DEFAULT_METRICS_HZ};
}

void profile_metrics_visible(struct profile *profile)
{
	static const char name[] = "CUDA_VISIBLE_DEVICES=";
	for (uint32_t i = 0; i < profile->n_variables; i++)
		if (strncmp(profile->variables[i], name, sizeof name - 1) == 0)
			profile->settings.watch.metrics.visible =
				profile->variables[i] + sizeof name - 1;
}

static struct pm_settings *metrics_of(const struct cli_value *value)
{
	return &((struct profile *)value->options)->settings.watch.metrics;
}

/* Lists the GPUs and whether they can be sampled, and ends headway. */
static _Noreturn void list_devices(void)
{
	static struct pm_probe probe;
	pm_probe_look(&probe);
	if (!probe.n)
		cli_die("no GPU can be sampled: %s", probe.reason);
	puts(hwy_tr("GPUs for --gpu-metrics-devices:"));
	for (uint32_t i = 0; i < probe.n; i++) {
		const struct pm_probe_gpu *gpu = &probe.gpus[i];
		if (gpu->metrics)
			printf(hwy_tr("  %u: %s (%s), %u metrics\n"), i, gpu->name, gpu->chip,
			       gpu->metrics);
		else
			printf(hwy_tr("  %u: %s: cannot be sampled: %s%s%s\n"), i, gpu->name,
			       gpu->reason, hwy_tr(*gpu->remedy ? "; " : ""), gpu->remedy);
	}
	puts(hwy_tr("  all: each of them"));
	puts(hwy_tr("  cuda-visible: those in CUDA_VISIBLE_DEVICES"));
	puts("  none");
	exit(fflush(stdout) == 0 ? 0 : 2);
}

static uint64_t read_numbers(const struct cli_value *value)
{
	uint64_t listed = 0;
	for (const char *rest = value->text; *rest;) {
		char *end;
		unsigned long number =
			isdigit((unsigned char)*rest) ? strtoul(rest, &end, 10) : PM_MOST_DEVICES;
		if (number >= PM_MOST_DEVICES || (*end && *end != ',') || (*end && !end[1]))
			cli_misuse(value->command,
				   "option '--%s': '%s' is not all, cuda-visible, none, help or "
				   "numbers as 0,1",
				   value->option->name, value->text);
		listed |= UINT64_C(1) << number;
		rest = end + (*end == ',');
	}
	return listed;
}

void profile_metrics_devices(const struct cli_value *value)
{
	struct pm_settings *metrics = metrics_of(value);
	if (strcmp(value->text, "help") == 0)
		list_devices();
	metrics->devices = strcmp(value->text, "none") == 0           ? PM_DEVICES_NONE
			   : strcmp(value->text, "all") == 0          ? PM_DEVICES_ALL
			   : strcmp(value->text, "cuda-visible") == 0 ? PM_DEVICES_VISIBLE
								      : PM_DEVICES_LISTED;
	if (metrics->devices != PM_DEVICES_LISTED)
		return;
	metrics->listed = read_numbers(value);
	if (!metrics->listed)
		cli_misuse(value->command, "option '--%s': which GPUs?", value->option->name);
}

void profile_metrics_frequency(const struct cli_value *value)
{
	uint64_t hz = cli_count(value);
	if (hz < LEAST_METRICS_HZ || hz > MOST_METRICS_HZ)
		cli_misuse(value->command,
			   "option '--gpu-metrics-frequency': '%s' is not from %d to %d Hz",
			   value->text, LEAST_METRICS_HZ, MOST_METRICS_HZ);
	metrics_of(value)->rate_hz = (uint32_t)hz;
}

static _Noreturn void list_sets(void)
{
	puts(hwy_tr(
		"Sets for --gpu-metrics-set; each is built for the chip, as many metrics as fit:"));
	for (int i = 0; pm_sets[i].name; i++) {
		printf(hwy_tr("  %s: %s\n"), pm_sets[i].name, hwy_tr(pm_sets[i].what));
		const char *last = "";
		for (size_t m = 0; pm_set_entry(m); m++) {
			const struct pm_metric *metric = pm_set_entry(m);
			if (metric->sets >> i & 1 && strcmp(metric->lane, last) != 0)
				printf("    %s (%s)\n", metric->lane, metric->unit);
			last = metric->lane;
		}
	}
	exit(fflush(stdout) == 0 ? 0 : 2);
}

/* Whether nsys could have a set of this name: a number, or a chip as "gh100" or "ga10x". */
static bool is_set_of_nsys(const char *text)
{
	size_t letters = 0, digits = 0;
	while (isalpha((unsigned char)text[letters]))
		letters++;
	while (isdigit((unsigned char)text[letters + digits]))
		digits++;
	const char *rest = text + letters + digits;
	bool ends = !*rest || strcmp(rest, "x") == 0 || *rest == '-' || *rest == ' ';
	return digits && ends && (letters == 0 || letters == 2);
}

void profile_metrics_set(const struct cli_value *value)
{
	struct pm_settings *metrics = metrics_of(value);
	if (strcmp(value->text, "help") == 0)
		list_sets();
	metrics->set = pm_set_find(value->text);
	if (metrics->set >= 0)
		return;
	if (!is_set_of_nsys(value->text))
		metrics->set = cli_word(value, value->text, profile_metrics_set_words);
	else
		cli_say("--gpu-metrics-set=%s: the set is built for the GPU at hand, as 'general'",
			value->text);
	metrics->set = 0;
}
