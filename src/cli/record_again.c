/* SPDX-License-Identifier: Apache-2.0 */
/* record_again.c - what is said of a recording in which nothing happened that was to be
 * recorded. */
#include "cli/record_again.h"

#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/memory_text.h"
#include "cli/kit/cli.h"

/* Whether -t named a source, or the default has it. */
static bool has_source(const struct hwy_trace *trace, const char *name)
{
	const char *sources = hwy_property(trace, "capture.traces");
	size_t length = strlen(name);
	for (const char *at = sources; at && (at = strstr(at, name)); at += length)
		if ((at == sources || at[-1] == ',') && (at[length] == ',' || !at[length]))
			return true;
	return false;
}

bool record_again_is_wanted(const struct hwy_trace *trace)
{
	return trace->n_spans == 0 && trace->n_processes > 0 && !has_source(trace, "osrt");
}

bool record_again_is_within(const struct hwy_trace *trace)
{
	return hwy_property(trace, "capture.within") != NULL;
}

/* Whether a process of the program was a Python interpreter. */
static bool ran_python(const struct hwy_trace *trace)
{
	for (uint32_t i = 0; i < trace->n_processes; i++)
		if (trace->processes[i].name != HWY_NONE &&
		    strncmp(hwy_str(trace, trace->processes[i].name), "python", 6) == 0)
			return true;
	return false;
}

void record_again_put_command(FILE *out, const struct hwy_trace *trace)
{
	const char *command = hwy_property(trace, "command");
	/* Where there is no NVIDIA driver, `headway profile` without -t records all of this. */
	if (!hwy_property(trace, "driver"))
		fputs("profile ", out);
	else
		fprintf(out, "profile -t %s -s process-tree ",
			ran_python(trace) ? "pytorch,python,osrt" : "opencl,osrt");
	cli_put(out, command ? command : "PROGRAM", strlen(command ? command : "PROGRAM"));
}

const char *record_again_source(const struct hwy_trace *trace)
{
	return hwy_tr(ran_python(trace) ? HWY_KEY("operators of PyTorch") : HWY_KEY("OpenCL"));
}

void record_again_say_why(const struct hwy_trace *trace)
{
	if (record_again_is_within(trace)) {
		cli_say("%s",
			has_source(trace, "pytorch")
				? hwy_tr("the part of the program did nothing that was to be recorded; headway.range names parts")
				: hwy_tr("the part of the program did nothing that was to be recorded; trace=\"nvtx,pytorch,python\" (-t in a notebook) records operators of PyTorch, headway.range names parts"));
		return;
	}
	cli_say(hwy_tr("the program did nothing that was to be recorded; the next command records "
		       "%s, calls into the operating system and samples of the CPU"),
		record_again_source(trace));
}

void record_again_say(const struct hwy_trace *trace)
{
	struct memory_text memory;
	record_again_say_why(trace);
	if (record_again_is_within(trace))
		return;
	record_again_put_command(memory_text_begin(&memory), trace);
	char *command = memory_text_end(&memory);
	cli_say(hwy_tr("next: headway %s"), command);
	free(command);
}
