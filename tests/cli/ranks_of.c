/* SPDX-License-Identifier: Apache-2.0 */
/* ranks_of.c - makes the reports of a job with many ranks from reports of recorded ranks.
 *
 *     ranks_of FOLDER RANKS LATE TYPICAL.hwy LATE.hwy
 *
 * FOLDER gets rank0.hwy … Each is a copy of TYPICAL.hwy, that of the rank with the number LATE one of LATE.hwy. New is only who
 * the rank is: its number, the number of ranks, the job's id, host (8 ranks each) and GPU.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "trace/file.h"

enum { RANKS_PER_HOST = 8 };

static int64_t text_of(struct hwy_trace *trace, const char *format, int64_t number)
{
	char text[64];
	snprintf(text, sizeof text, format, number);
	return hwy_intern_z(&trace->strings, text);
}

static void set_property(struct hwy_trace *trace, const char *name, const char *format,
			 int64_t number)
{
	for (uint32_t i = 0; i < trace->n_properties; i++)
		if (strcmp(hwy_str(trace, trace->properties[i].name), name) == 0)
			trace->properties[i].value = text_of(trace, format, number);
}

static void become_rank(struct hwy_trace *trace, int64_t rank, int64_t ranks)
{
	int64_t host = rank / RANKS_PER_HOST, local = rank % RANKS_PER_HOST;
	for (uint32_t i = 0; i < trace->n_processes; i++) {
		struct hwy_process *process = &trace->processes[i];
		if (process->rank < 0)
			continue;
		process->rank = rank;
		process->local_rank = local;
		process->world = ranks;
	}
	for (uint32_t i = 0; i < trace->n_hosts; i++)
		trace->hosts[i].name = text_of(trace, "n%02" PRId64, host);
	for (uint32_t i = 0; i < trace->n_devices; i++)
		trace->devices[i].uuid = text_of(trace, "GPU-%08" PRId64, rank);
	set_property(trace, "host", "n%02" PRId64, host);
	set_property(trace, "job.id", "made.%" PRId64, ranks);
	set_property(trace, "job.rank", "%" PRId64, rank);
	set_property(trace, "job.local_rank", "%" PRId64, local);
	set_property(trace, "job.world", "%" PRId64, ranks);
	set_property(trace, "job.node", "%" PRId64, host);
}

static bool write_rank(const char *folder, const char *base, int64_t rank, int64_t ranks,
		       struct hwy_err *err)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/rank%" PRId64 ".hwy", folder, rank);
	struct hwy_trace *trace = hwy_file_open(base, err);
	if (!trace)
		return false;
	become_rank(trace, rank, ranks);
	bool done = hwy_file_write(trace, path, true, NULL, err);
	hwy_trace_free(trace);
	return done;
}

int main(int argc, char **argv)
{
	struct hwy_err err;
	if (argc != 6)
		return 2;
	int64_t ranks = atoll(argv[2]), late = atoll(argv[3]);
	mkdir(argv[1], 0700);
	for (int64_t rank = 0; rank < ranks; rank++)
		if (!write_rank(argv[1], argv[rank == late ? 5 : 4], rank, ranks, &err)) {
			fprintf(stderr, "%s\n", err.text);
			return 2;
		}
	return 0;
}
