/* SPDX-License-Identifier: Apache-2.0 */
/* profile_sampling.c - the options about the CPU: samples and scheduling, in nsys's words.
 *
 * As in nsys, context switches are recorded where samples are, unless --cpuctxsw says otherwise.
 */
#include <string.h>

#include "cli/profile.h"

enum { LEAST_HZ = 100, MOST_HZ = 8000, LEAST_PERIOD = 10000 /* CPU cycles */ };

static enum perf_scope scope(const struct cli_value *value)
{
	static const char *const words[] = {"none",  "process-tree", "system-wide",
					    "false", "cpu",          NULL};
	static const enum perf_scope scopes[] = {PERF_NONE, PERF_TREE, PERF_SYSTEM, PERF_NONE,
						 PERF_TREE};
	return scopes[cli_word(value, value->text, words)];
}

void profile_sampling_scope(const struct cli_value *value)
{
	struct profile *profile = value->options;
	profile->samples_given = true;
	profile->settings.perf.samples = scope(value);
	if (!profile->switches_given)
		profile->settings.perf.switches = profile->settings.perf.samples;
}

void profile_sampling_switches(const struct cli_value *value)
{
	struct profile *profile = value->options;
	profile->settings.perf.switches = scope(value);
	profile->switches_given = true;
}

void profile_sampling_like_nsys(struct profile *profile)
{
	if (!profile->samples_given)
		profile->settings.perf.samples = PERF_TREE;
	if (!profile->switches_given)
		profile->settings.perf.switches = profile->settings.perf.samples;
}

void profile_sampling_frequency(const struct cli_value *value)
{
	uint64_t hz = cli_count(value);
	if (hz < LEAST_HZ || hz > MOST_HZ)
		cli_misuse(value->command,
			   "option '--sampling-frequency': '%s' is not from %d to %d Hz",
			   value->text, LEAST_HZ, MOST_HZ);
	((struct profile *)value->options)->settings.perf.rate_hz = (uint32_t)hz;
}

void profile_sampling_period(const struct cli_value *value)
{
	uint64_t cycles = cli_count(value);
	if (cycles < LEAST_PERIOD)
		cli_misuse(value->command, "option '--sampling-period': '%s' is below %d cycles",
			   value->text, LEAST_PERIOD);
	((struct profile *)value->options)->settings.perf.period = cycles;
}

void profile_sampling_backtrace(const struct cli_value *value)
{
	static const char *const words[] = {"auto", "dwarf", "fp", "lbr", "none", "false", NULL};
	static const enum perf_backtrace ways[] = {PERF_BACKTRACE_DWARF, PERF_BACKTRACE_DWARF,
						   PERF_BACKTRACE_FP,    PERF_BACKTRACE_FP,
						   PERF_BACKTRACE_NONE,  PERF_BACKTRACE_NONE};
	int which = cli_word(value, value->text, words);
	if (strcmp(value->text, "lbr") == 0)
		cli_say("--backtrace=lbr: not built, frame pointers are followed instead");
	((struct profile *)value->options)->settings.perf.backtrace = ways[which];
}
