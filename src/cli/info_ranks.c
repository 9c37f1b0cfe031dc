/* SPDX-License-Identifier: Apache-2.0 */
/* info_ranks.c - what `headway info` says of the ranks of a job: their hosts, and how sure their
 * clocks are. */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/lang.h"
#include "base/say.h"
#include "cli/info_print.h"
#include "cli/kit/cli.h"

static size_t longest_host(const struct info *info)
{
	size_t most = 0;
	for (uint32_t i = 0; i < info->n_ranks; i++)
		most = strlen(info->ranks[i].host) > most ? strlen(info->ranks[i].host) : most;
	return most;
}

/* How the clock was found, how wrong it may be, and what else a person should know of it. */
static void clock_words(const struct info *info, const struct job_fact *fact, char *line,
			size_t size)
{
	bool is_counted = fact->source == JOB_CLOCK_PINGS || fact->source == JOB_CLOCK_COLLECTIVES;
	if (fact == info->ranks) {
		snprintf(line, size, "%s", hwy_tr("its clock is the job's"));
		return;
	}
	int n = snprintf(line, size, "%s", hwy_tr(job_clock_source_names[fact->source]));
	if (fact->compared > 0 && is_counted)
		n = snprintf(line, size,
			     hwy_tr(fact->source == JOB_CLOCK_PINGS ? "clock by %" PRIu32 " ping%s"
								    : "clock by %" PRIu32
								      " collective%s"),
			     fact->compared, fact->compared == 1 ? "" : "s");
	if (fact->source != JOB_CLOCK_SAME && fact->error != HWY_NONE)
		n += snprintf(line + n, size - (size_t)n, hwy_tr(", wrong by at most %s"),
			      hwy_say_time3(fact->error).text);
	else if (fact->source == JOB_CLOCK_WALL)
		n += snprintf(line + n, size - (size_t)n, "%s",
			      hwy_tr(", wrong by an unknown amount"));
	if (fact->drift != 0)
		n += snprintf(line + n, size - (size_t)n, hwy_tr(", drift %+.2f ppm"),
			      (double)fact->drift / 1e6);
	if (fact->repairs > 0)
		snprintf(line + n, size - (size_t)n, hwy_tr(", put right at %" PRIu32 " moments"),
			 fact->repairs);
}

void info_ranks_words(const struct info *info, uint32_t rank, char line[INFO_RANK_BYTES])
{
	const struct job_fact *fact = &info->ranks[rank];
	char clock[160];
	clock_words(info, fact, clock, sizeof clock);
	int width = (int)longest_host(info);
	width = width > 40 ? 40 : width;
	snprintf(line, INFO_RANK_BYTES, "%-4" PRId64 " %-*.*s%s%s", fact->rank, width, width,
		 fact->host, width ? "  " : "", clock);
}

void info_ranks_put(struct hwy_json *json, const struct info *info)
{
	if (info->n_ranks == 0)
		return;
	json_key(json, "ranks");
	json_begin_array(json);
	for (uint32_t i = 0; i < info->n_ranks; i++) {
		const struct job_fact *fact = &info->ranks[i];
		json_begin_object(json);
		json_put_int(json, "rank", fact->rank);
		json_put_text(json, "file", *fact->file ? fact->file : NULL);
		json_put_text(json, "host", *fact->host ? fact->host : NULL);
		json_put_text(json, "clock", job_clock_source_names[fact->source]);
		json_put_int(json, "shift_ns", fact->shift);
		json_put_real(json, "drift_ppm", (double)fact->drift / 1e6, 6);
		cli_put_optional(json, "error_ns", fact->error);
		json_put_int(json, "compared", fact->compared);
		json_put_int(json, "repairs", fact->repairs);
		json_end_object(json);
	}
	json_end_array(json);
}
