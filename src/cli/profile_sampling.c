/* profile_sampling.c - the options about the CPU: samples and scheduling, in nsys's words.
 *
 * Scheduling goes with sampling unless --cpuctxsw says otherwise, as nsys has it.
 */
#include <string.h>

#include "cli/profile.h"

enum { LEAST_HZ = 100, MOST_HZ = 8000, LEAST_PERIOD = 10000 };

static enum perf_scope scope(const struct cli *cli, const char *option, const char *value)
{
	static const char *const words[] = {"none",  "process-tree", "system-wide",
					    "false", "cpu",          NULL};
	static const enum perf_scope scopes[] = {PERF_NONE, PERF_TREE, PERF_SYSTEM, PERF_NONE,
						 PERF_TREE};
	return scopes[cli_word(cli, option, value, words)];
}

void profile_sample(const struct cli *cli, struct profile *profile, const char *value)
{
	profile->settings.perf.samples = scope(cli, "sample", value);
	if (!profile->told_switches)
		profile->settings.perf.switches = profile->settings.perf.samples;
}

void profile_switches(const struct cli *cli, struct profile *profile, const char *value)
{
	profile->settings.perf.switches = scope(cli, "cpuctxsw", value);
	profile->told_switches = true;
}

void profile_frequency(const struct cli *cli, struct profile *profile, const char *value)
{
	uint64_t hz = cli_count(cli, "sampling-frequency", value);
	if (hz < LEAST_HZ || hz > MOST_HZ)
		cli_misuse(cli, "option '--sampling-frequency': '%s' is not from %d to %d Hz",
			   value, LEAST_HZ, MOST_HZ);
	profile->settings.perf.rate_hz = (uint32_t)hz;
}

void profile_period(const struct cli *cli, struct profile *profile, const char *value)
{
	uint64_t cycles = cli_count(cli, "sampling-period", value);
	if (cycles < LEAST_PERIOD)
		cli_misuse(cli, "option '--sampling-period': '%s' is below %d cycles", value,
			   LEAST_PERIOD);
	profile->settings.perf.period = cycles;
}

void profile_chains(const struct cli *cli, struct profile *profile, const char *value)
{
	static const char *const words[] = {"auto", "dwarf", "fp", "lbr", "none", "false", NULL};
	static const enum perf_backtrace ways[] = {PERF_BACKTRACE_DWARF, PERF_BACKTRACE_DWARF,
						   PERF_BACKTRACE_FP,    PERF_BACKTRACE_FP,
						   PERF_BACKTRACE_NONE,  PERF_BACKTRACE_NONE};
	int which = cli_word(cli, "backtrace", value, words);
	if (strcmp(words[which], "lbr") == 0)
		profile_say("--backtrace=lbr: not built, frame pointers are followed instead");
	profile->settings.perf.backtrace = ways[which];
}
