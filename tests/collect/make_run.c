/* SPDX-License-Identifier: Apache-2.0 */
/* make_run.c - a run directory by hand, for tests: make_run DIRECTORY LIBRARY [NAME=NUMBER | NAME=TEXT]…
 *
 * Names are fields of struct rec_control; without any, everything is recorded from the start.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "spool/control.h"
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
	NUMBER(max_bytes),
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

static bool write_file(const char *directory, const char *name, const void *bytes, size_t size)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", directory, name);
	FILE *file = fopen(path, "wb");
	if (file && fwrite(bytes, size, 1, file) == 1 && fclose(file) == 0)
		return true;
	perror(path);
	return false;
}

int main(int argc, char **argv)
{
	static struct rec_control control = {
		.magic = REC_MAGIC,
		.version = REC_CONTROL_VERSION,
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
	mkdir(argv[1], 0700);
	return !write_file(argv[1], "control", &control, REC_CONTROL_BYTES) ||
			       !write_file(argv[1], "state", &control.recording, REC_STATE_BYTES)
		       ? 2
		       : 0;
}
