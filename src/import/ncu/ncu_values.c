/* SPDX-License-Identifier: Apache-2.0 */
/* ncu_values.c - see ncu_values.h.
 *
 * A prefix is a power of ten (ncu's Kbyte is 1000 bytes: it shows 233.47 Kbyte for the 233472
 * bytes of an H100's shared memory). The power is added to the number's own exponent before the
 * digits become a double, so that no multiplication rounds.
 */
#include "import/ncu/ncu_values.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- units ----------------------------------------------------------------------------------- */

enum unit_word { WORD_OTHER, WORD_PERCENT, WORD_SECOND, WORD_BYTE, WORD_HERTZ, WORD_CYCLE };

static const struct {
	const char *text;
	enum unit_word word;
} unit_words[] = {
	{"", WORD_OTHER},        {"%", WORD_PERCENT},       {"s", WORD_SECOND},
	{"second", WORD_SECOND}, {"byte", WORD_BYTE},       {"b", WORD_BYTE},
	{"hz", WORD_HERTZ},      {"cycle", WORD_CYCLE},     {"inst", WORD_OTHER},
	{"sector", WORD_OTHER},  {"request", WORD_OTHER},   {"warp", WORD_OTHER},
	{"thread", WORD_OTHER},  {"block", WORD_OTHER},     {"register", WORD_OTHER},
	{"cluster", WORD_OTHER}, {"sm", WORD_OTHER},        {"tpc", WORD_OTHER},
	{"bit", WORD_OTHER},     {"wavefront", WORD_OTHER}, {"op", WORD_OTHER},
	{"flop", WORD_OTHER},
};

static bool find_word(const char *text, size_t n, enum unit_word *word)
{
	for (size_t i = 0; i < sizeof unit_words / sizeof *unit_words; i++) {
		if (strlen(unit_words[i].text) == n &&
		    strncasecmp(unit_words[i].text, text, n) == 0) {
			*word = unit_words[i].word;
			return true;
		}
	}
	return false;
}

/* Reads "Mbyte" as a prefix of 10^6 and a word. */
static bool read_word(const char *text, size_t n, enum unit_word *word, int *exponent)
{
	static const char prefixes[] = "pnumKMGTPE";
	static const int powers[] = {-12, -9, -6, -3, 3, 6, 9, 12, 15, 18};
	*exponent = 0;
	*word = WORD_OTHER;
	if (find_word(text, n, word))
		return true;
	const char *prefix = n > 1 ? memchr(prefixes, *text, sizeof prefixes - 1) : NULL;
	if (prefix && find_word(text + 1, n - 1, word)) {
		*exponent = powers[prefix - prefixes];
		return true;
	}
	/* A word that is not known counts something that has no prefix in ncu's output ("thr").
	 * Large prefixes are capitals: behind one of them the number may be a billion times
	 * larger than it looks. */
	return !prefix || islower((unsigned char)*text);
}

bool ncu_unit_read(const char *text, struct ncu_unit *unit)
{
	const char *slash = strchr(text, '/');
	enum unit_word above, below = WORD_OTHER;
	int exponent, below_exponent = 0;
	if (!read_word(text, slash ? (size_t)(slash - text) : strlen(text), &above, &exponent) ||
	    (slash && !read_word(slash + 1, strlen(slash + 1), &below, &below_exponent)))
		return false;
	*unit = (struct ncu_unit){.class = NCU_COUNT, .exponent = exponent - below_exponent};
	if (above == WORD_PERCENT)
		unit->class = NCU_PERCENT;
	else if (above == WORD_HERTZ || (above == WORD_CYCLE && below == WORD_SECOND))
		unit->class = NCU_CLOCK;
	else if (above == WORD_BYTE && below == WORD_SECOND)
		unit->class = NCU_RATE;
	else if (above == WORD_BYTE)
		unit->class = NCU_BYTES;
	else if (above == WORD_SECOND && !slash)
		*unit = (struct ncu_unit){.class = NCU_TIME, .exponent = exponent + 9};
	return true;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Copies the digits of a number without the commas between thousands; false where commas or
 * points stand where English has none. */
static bool copy_digits(const char *text, size_t n, char *out)
{
	size_t group = 0; /* digits since the begin or the last comma */
	bool has_comma = false, has_point = false;
	for (size_t i = 0; i < n; i++) {
		char byte = text[i];
		if (byte == ',') {
			if (has_point || group == 0 || group > 3 || (has_comma && group != 3))
				return false;
			has_comma = true;
			group = 0;
			continue;
		}
		if (byte == '.') {
			if (has_point || (has_comma && group != 3))
				return false;
			has_point = true;
		}
		group += !has_point;
		*out++ = byte;
	}
	*out = '\0';
	return has_point || !has_comma || group == 3;
}

enum ncu_number ncu_number_read(const char *text, int exponent, double *number)
{
	char digits[128];
	while (*text == ' ')
		text++;
	const char *sign = *text == '-' || *text == '+' ? text++ : NULL;
	size_t n = strspn(text, "0123456789.,");
	bool has_digit = strcspn(text, "0123456789") < n;
	const char *rest = text + n;
	long power = 0;
	if (n == 0 || !has_digit)
		return NCU_NO_NUMBER;
	if (*rest == 'e' || *rest == 'E') {
		char *end;
		power = strtol(rest + 1, &end, 10);
		if (end == rest + 1 || power > 400 || power < -400)
			return NCU_NO_NUMBER;
		rest = end;
	}
	/* Numbers of the instances follow in brackets. Anything else makes it a text: "3 of 4",
	 * "sm_90". */
	while (*rest == ' ')
		rest++;
	if (*rest && *rest != '(')
		return NCU_NO_NUMBER;
	if (n > sizeof digits - 16 || !copy_digits(text, n, digits))
		return NCU_BAD_NUMBER;
	snprintf(digits + strlen(digits), 16, "e%ld", power + exponent);
	*number = strtod(digits, NULL);
	if (sign && *sign == '-')
		*number = -*number;
	return isfinite(*number) ? NCU_NUMBER : NCU_NO_NUMBER;
}

/* ---- labels ---------------------------------------------------------------------------------- */

#define PEAK ".avg.pct_of_peak_sustained_elapsed"
#define PEAK_ACTIVE ".avg.pct_of_peak_sustained_active"

static const struct {
	const char *label, *metric;
} labels[] = {
	{"Duration", "gpu__time_duration.sum"},
	{"Elapsed Cycles", "gpc__cycles_elapsed.max"},
	{"SM Frequency", "smsp__cycles_elapsed.avg.per_second"},
	{"DRAM Frequency", "dram__cycles_elapsed.avg.per_second"},
	{"SM Active Cycles", "sm__cycles_active.avg"},
	{"Compute (SM) Throughput", "sm__throughput" PEAK},
	{"DRAM Throughput", "gpu__dram_throughput" PEAK},
	{"L1/TEX Cache Throughput", "l1tex__throughput" PEAK_ACTIVE},
	{"L2 Cache Throughput", "lts__throughput" PEAK},
	{"SM [%]", "sm__throughput" PEAK},
	{"Memory [%]", "gpu__compute_memory_throughput" PEAK},
	{"SOL DRAM", "gpu__dram_throughput" PEAK},
	{"SOL L1/TEX Cache", "l1tex__throughput" PEAK_ACTIVE},
	{"SOL L2 Cache", "lts__throughput" PEAK},
	{"Executed Ipc Active", "sm__inst_executed.avg.per_cycle_active"},
	{"Executed Ipc Elapsed", "sm__inst_executed.avg.per_cycle_elapsed"},
	{"Issue Slots Busy", "sm__inst_issued" PEAK_ACTIVE},
	{"L1/TEX Hit Rate", "l1tex__t_sector_hit_rate.pct"},
	{"L2 Hit Rate", "lts__t_sector_hit_rate.pct"},
	{"Mem Busy", "gpu__compute_memory_access_throughput" PEAK},
	{"Max Bandwidth", "gpu__compute_memory_request_throughput" PEAK},
	{"One or More Eligible", "smsp__issue_active.avg.pct_of_peak_sustained_active"},
	{"Active Warps Per Scheduler", "smsp__warps_active.avg.per_cycle_active"},
	{"Eligible Warps Per Scheduler", "smsp__warps_eligible.avg.per_cycle_active"},
	{"Issued Warp Per Scheduler", "smsp__issue_active.avg.per_cycle_active"},
	{"Warp Cycles Per Issued Instruction", "smsp__average_warp_latency_per_inst_issued.ratio"},
	{"Avg. Active Threads Per Warp", "smsp__thread_inst_executed_per_inst_executed.ratio"},
	{"Executed Instructions", "smsp__inst_executed.sum"},
	{"Block Size", "launch__block_size"},
	{"Grid Size", "launch__grid_size"},
	{"Cluster Size", "launch__cluster_size"},
	{"Registers Per Thread", "launch__registers_per_thread"},
	{"Shared Memory Configuration Size", "launch__shared_mem_config_size"},
	{"Driver Shared Memory Per Block", "launch__shared_mem_per_block_driver"},
	{"Dynamic Shared Memory Per Block", "launch__shared_mem_per_block_dynamic"},
	{"Static Shared Memory Per Block", "launch__shared_mem_per_block_static"},
	{"# SMs", "launch__sm_count"},
	{"Threads", "launch__thread_count"},
	{"Waves Per SM", "launch__waves_per_multiprocessor"},
	{"Block Limit SM", "launch__occupancy_limit_blocks"},
	{"Block Limit Registers", "launch__occupancy_limit_registers"},
	{"Block Limit Shared Mem", "launch__occupancy_limit_shared_mem"},
	{"Block Limit Warps", "launch__occupancy_limit_warps"},
	{"Block Limit Barriers", "launch__occupancy_limit_barriers"},
	{"Theoretical Active Warps per SM", "sm__maximum_warps_avg_per_active_cycle"},
	{"Theoretical Occupancy", "sm__maximum_warps_per_active_cycle_pct"},
	{"Achieved Occupancy", "sm__warps_active" PEAK_ACTIVE},
	{"Achieved Active Warps Per SM", "sm__warps_active.avg.per_cycle_active"},
};

const char *ncu_label_metric(const char *label, enum ncu_unit_class class)
{
	if (strcmp(label, "Memory Throughput") == 0)
		return class == NCU_RATE      ? "dram__bytes.sum.per_second"
		       : class == NCU_PERCENT ? "gpu__compute_memory_throughput" PEAK
					      : NULL;
	for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
		if (strcmp(labels[i].label, label) == 0)
			return labels[i].metric;
	return NULL;
}
