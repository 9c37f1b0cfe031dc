/* SPDX-License-Identifier: Apache-2.0 */
/* make_run.c - a run directory by hand, for tests: make_run DIRECTORY LIBRARY [NAME=NUMBER | NAME=TEXT]…
 *
 * Names are fields of struct rec_control; without any, everything is recorded from the start.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "spool/record.h"

#define NUMBER(field)                                                                              \
	{                                                                                          \
#field, offsetof(struct rec_control, field),                                       \
			sizeof(((struct rec_control *)0)->field)                                   \
	}
static const struct {
	const char *name;
	size_t at, size;
} fields[] = {
	NUMBER(recording),   NUMBER(finished),      NUMBER(traces),
	NUMBER(graph_nodes), NUMBER(all_apis),      NUMBER(memory_usage),
	NUMBER(leave_cupti), NUMBER(capture),       NUMBER(capture_end),
	NUMBER(repeats),     NUMBER(launch_stacks), NUMBER(stack_threshold),
	NUMBER(steps),       NUMBER(flush_ms),      NUMBER(keep_s),
	NUMBER(nvtx_range),  NUMBER(os_threshold),  NUMBER(os_stack_threshold),
};

static int set(struct rec_control *control, const char *argument)
{
	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
		size_t length = strlen(fields[i].name);
		if (strncmp(argument, fields[i].name, length) != 0 || argument[length] != '=')
			continue;
		const char *value = argument + length + 1;
		char *into = (char *)control + fields[i].at;
		long long number = strtoll(value, NULL, 10);
		if (fields[i].size > 8)
			snprintf(into, fields[i].size, "%s", value);
		else
			memcpy(into, &number, fields[i].size);
		return 0;
	}
	fprintf(stderr, "make_run: what is '%s'?\n", argument);
	return 2;
}

int main(int argc, char **argv)
{
	static struct rec_control control = {
		.magic = REC_MAGIC,
		.version = REC_VERSION,
		.recording = 1,
		.traces = REC_TRACE_CUDA | REC_TRACE_NVTX,
		.stack_threshold = 20000,
		.flush_ms = 100,
		.os_threshold = 1000,
		.os_stack_threshold = 80000,
	};
	if (argc < 3)
		return 2;
	snprintf(control.library, sizeof control.library, "%s", argv[2]);
	for (int i = 3; i < argc; i++)
		if (set(&control, argv[i]) != 0)
			return 2;
	char path[4096];
	mkdir(argv[1], 0700);
	snprintf(path, sizeof path, "%s/control", argv[1]);
	FILE *file = fopen(path, "wb");
	if (!file || fwrite(&control, sizeof control, 1, file) != 1 || fclose(file) != 0) {
		perror(path);
		return 2;
	}
	return 0;
}
