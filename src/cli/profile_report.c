/* SPDX-License-Identifier: Apache-2.0 */
/* profile_report.c - makes a report from a run directory, and prints a line about the result. */
#include <errno.h>
#include <error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/lang.h"
#include "base/mem.h"
#include "base/memory_text.h"
#include "base/say.h"
#include "base/shell_word.h"
#include "cli/analyze_print.h"
#include "cli/profile.h"
#include "cli/record_again.h"
#include "ingest/ingest.h"
#include "trace/file.h"
#include "whatif/path_cache.h"

enum { MOST_WARNINGS = 5 };

/* Prints each warning of the collectors once. */
static void say_warnings(const struct hwy_trace *trace)
{
	uint32_t printed = 0, more = 0;
	for (uint32_t i = 0; i < trace->n_diagnostics; i++) {
		const struct hwy_diagnostic *one = &trace->diagnostics[i];
		bool again = one->severity < 2;
		for (uint32_t j = 0; j < i && !again; j++)
			again = trace->diagnostics[j].text == one->text;
		if (again)
			continue;
		if (printed == MOST_WARNINGS)
			more++;
		else
			cli_say("%s", hwy_str(trace, one->text));
		printed += printed < MOST_WARNINGS;
	}
	if (more)
		cli_say(hwy_tr("%u more warnings are in the report: headway info --all"), more);
}

static bool has_device_work(const struct hwy_trace *trace)
{
	for (uint32_t i = 0; i < trace->n_strips; i++)
		if (HWY_DEVICE_KINDS & HWY_KIND_BIT(trace->strips[i].kind) && trace->strips[i].rows)
			return true;
	return false;
}

/* Writes the command to suggest next, without "headway". After an empty recording it is the one
 * that would have recorded something of the same program. */
static void put_next_command(FILE *out, const struct hwy_trace *trace, const char *path, bool lacks)
{
	if (!lacks && record_again_is_wanted(trace) && !record_again_is_within(trace))
		record_again_put_command(out, trace);
	else
		fprintf(out, "%s %s",
			lacks || !trace->n_spans ? "info"
			: has_device_work(trace) ? "analyze"
						 : "stats",
			hwy_shell_word(path).text);
}

/* Yields from when to when records were lost, " (12.3 s to 25.0 s)"; "" where that is not known. */
static struct hwy_words when_lost(const struct hwy_trace *trace)
{
	struct hwy_words words = {""};
	int64_t from = INT64_MAX, to = INT64_MIN;
	for (uint32_t i = 0; i < trace->n_drops; i++) {
		const struct hwy_drop *drop = &trace->drops[i];
		if (drop->from == HWY_NONE || drop->to == HWY_NONE)
			continue;
		from = drop->from < from ? drop->from : from;
		to = drop->to > to ? drop->to : to;
	}
	if (from <= to)
		snprintf(words.text, sizeof words.text, hwy_tr(" (%.1f s to %.1f s)"),
			 (double)from / 1e9, (double)to / 1e9);
	return words;
}

/* Whether the program started ranks. A rank of its own it may have from the launcher that
 * started headway. */
static bool has_ranks(const struct hwy_trace *trace)
{
	for (uint32_t i = 1; i < trace->n_processes; i++)
		if (trace->processes[i].rank >= 0 &&
		    trace->processes[i].rank != trace->processes[0].rank)
			return true;
	return false;
}

static void say_result(const struct hwy_trace *trace, const char *path)
{
	struct stat about;
	uint64_t bytes = stat(path, &about) == 0 ? (uint64_t)about.st_size : 0, lost = 0;
	for (uint32_t i = 0; i < trace->n_drops; i++)
		lost += trace->drops[i].count > 0 ? (uint64_t)trace->drops[i].count : 0;
	const char *silent = hwy_property(trace, "unrecorded.programs");
	char losses[256];
	snprintf(losses, sizeof losses, "%s", hwy_tr("nothing lost"));
	if (lost)
		snprintf(losses, sizeof losses, hwy_tr("%s records lost%s"),
			 hwy_say_count_grouped(lost).text, when_lost(trace).text);
	if (silent) {
		size_t used = lost ? strlen(losses) : 0;
		snprintf(losses + used, sizeof losses - used,
			 hwy_tr("%s%.16s program%s not recorded"), lost ? hwy_tr(", ") : "", silent,
			 strcmp(silent, "1") == 0 ? "" : "s");
	}
	if (trace->n_processes == 0)
		cli_say("%s",
			hwy_tr("no process registered: a program that is statically linked, set-uid, of "
			       "another C library or built with AddressSanitizer cannot be recorded"));
	else if (trace->n_spans == 0 && has_ranks(trace))
		cli_say("%s",
			hwy_tr("it started the ranks of a job, which did nothing that was to be recorded; "
			       "-t mpi records what they exchange, and 'headway profile' before the launcher "
			       "makes a report for each rank"));
	else if (record_again_is_wanted(trace))
		record_again_say_why(trace);
	struct memory_text memory;
	put_next_command(memory_text_begin(&memory), trace, path, lost > 0 || silent);
	char *next = memory_text_end(&memory);
	cli_say(hwy_tr("%s  %s spans, %s, %s  %s  next: headway %s"), path,
		hwy_say_count_grouped(trace->n_spans).text, hwy_say_bytes3(bytes).text, losses,
		cli_utf8() ? "\u00b7" : "-", next);
	free(next);
}

/* Where 'path' is NULL the next free name is taken, and another one where somebody else takes it
 * meanwhile. */
static bool write_report(struct hwy_trace *trace, const char *path, bool force, char **written,
			 struct hwy_err *err)
{
	for (;;) {
		char *name = path ? hwy_copy(path, strlen(path) + 1) : profile_output_next_free();
		bool done = hwy_file_write(trace, name, force, cli_progress(), err);
		bool taken = !done && !path && access(name, F_OK) == 0;
		if (done) {
			*written = name;
			return true;
		}
		free(name);
		if (!taken)
			return false;
	}
}

/* Leaves out of the trace what the command is asked to, or was when the run was recorded. */
static void report_leave_out(struct hwy_trace *trace, const struct cli_privacy *asked)
{
	const char *recorded = hwy_property(trace, "capture.privacy");
	struct cli_privacy privacy = *asked;
	privacy.anonymous |= recorded && strcmp(recorded, "anonymous") == 0;
	privacy.no_args |= recorded && strcmp(recorded, "no-args") == 0;
	cli_privacy_apply(&privacy, trace);
}

/* glibc's error() asks for the program's name first. libdw calls it where it finds no memory, to
 * print a line of its own and to exit. */
static void leave_without_memory(void)
{
	exit(PROFILE_NO_MEMORY);
}

/* Writes what was ingested: one report, or one for each rank of a launcher's tree. */
static bool report_write(struct hwy_trace *trace, const struct profile_making *how, char **written,
			 struct hwy_err *err)
{
	struct profile_job *job = how->job;
	if (job && job->note.rank == HWY_NONE && !*job->unreachable.text)
		return job_split(trace, job, written, err);
	path_cache_add(trace);
	bool done = write_report(trace, how->path, how->force, written, err);
	if (done && job)
		profile_job_reported(job, trace);
	if (done && job)
		profile_digest_later(job, *written);
	return done;
}

bool profile_report(const char *directory, const struct profile_making *how, char **written)
{
	struct hwy_err err;
	char rescue[sizeof(struct hwy_shell_word) + 64];
	*written = NULL;
	snprintf(rescue, sizeof rescue, hwy_tr("the recording is kept: headway recover %s"),
		 hwy_shell_word(directory).text);
	cli_last_words(rescue);
	error_print_progname = leave_without_memory;
	struct hwy_trace *trace = ingest_run_with(directory, how->stacks, cli_progress(), &err);
	if (trace) {
		cli_name_device(trace);
		profile_calibrate(trace, directory, how->calibration, how->quiet);
		/* After the calibration, which asks for the device by its number. */
		report_leave_out(trace, how->privacy);
	}
	bool done = trace && report_write(trace, how, written, &err);
	cli_last_words(NULL);
	cli_progress_end();
	if (!done)
		cli_say("%s", err.text);
	else if (!how->quiet || how->says_warnings)
		say_warnings(trace);
	if (done && !how->quiet && has_device_work(trace))
		analyze_print_short(stderr, trace, *written);
	if (done && !how->quiet)
		say_result(trace, *written);
	hwy_trace_free(trace);
	/* After all else: the report is made, and the folder knows. */
	if (done && how->job)
		profile_digest(how->job);
	return done;
}
