/* SPDX-License-Identifier: Apache-2.0 */
/* run_meta.c - facts about the machine and the run, notes of the collectors, and losses.
 *
 * A property that several processes report (driver, version of CUDA) is kept once, as it was first
 * reported. Environment variables are in no record and in no report.
 */
#include <stdio.h>
#include <string.h>

#include "ingest/ingest_internal.h"

/* Yields the index of the process in the trace, or HWY_NONE. */
static int64_t record_of(const struct ingest_process *process)
{
	return process->record == UINT32_MAX ? HWY_NONE : (int64_t)process->record;
}

/* ---- the machine
 * ------------------------------------------------------------------------------- */

/* Yields a property that the parent wrote into its spool; NULL: the parent wrote no property of
 * that name. */
static const struct rec_string *run_property(struct ingest *in, const char *name)
{
	for (uint32_t i = 0; i < in->properties.n; i++) {
		const struct rec_string *record = in->properties.items[i];
		const struct ingest_text *text =
			ingest_owner(in, in->property_chunks.items[i]) == &in->run
				? ingest_text_entry(&in->run, record->head.value)
				: NULL;
		if (text && text->record->length == strlen(name) &&
		    memcmp(text->record->text, name, text->record->length) == 0)
			return record;
	}
	return NULL;
}

static int64_t run_text(struct ingest *in, const char *name)
{
	const struct rec_string *record = run_property(in, name);
	return record ? (int64_t)hwy_text_id_n(in->b, record->text, record->length) : HWY_NONE;
}

static void add_clocks(struct ingest *in)
{
	for (uint32_t i = 0; i < in->clocks.n; i++) {
		const struct rec_clock *snapshot = in->clocks.items[i];
		uint32_t index = hwy_new_clocks(in->b);
		struct hwy_clock *clock = &in->trace->clocks[index];
		clock->host = in->host;
		clock->monotonic = ingest_moment(in, snapshot->monotonic);
		clock->monotonic_raw = snapshot->raw;
		clock->realtime = snapshot->realtime;
		if (in->trace->wall == HWY_NONE && snapshot->realtime > 0 &&
		    snapshot->realtime < INT64_MAX / 2 && clock->monotonic != HWY_NONE)
			in->trace->wall = snapshot->realtime - clock->monotonic;
	}
}

void run_meta_add_host(struct ingest *in)
{
	in->host = hwy_new_hosts(in->b);
	int64_t cores = run_text(in, "cpu.cores");
	struct hwy_host *host = &in->trace->hosts[in->host];
	host->name = run_text(in, "host");
	host->cpu = run_text(in, "cpu");
	host->cpus = HWY_NONE;
	host->kernel = run_text(in, "kernel");
	host->os = run_text(in, "os");
	host->boot_id = run_text(in, "boot_id");
	int number = 0;
	if (cores != HWY_NONE && sscanf(hwy_str(in->trace, cores), "%d", &number) == 1)
		host->cpus = number;
	add_clocks(in);
}

/* ---- the run
 * ----------------------------------------------------------------------------------- */

static void report_properties(struct ingest *in)
{
	hwy_add_property(in->b, "source.format", "headway");
	hwy_add_property(in->b, "source.product", "Headway");
	hwy_add_property(in->b, "source.version", HEADWAY_VERSION);
	for (uint32_t i = 0; i < in->properties.n; i++) {
		const struct rec_string *record = in->properties.items[i];
		uint32_t name = ingest_text(in, ingest_owner(in, in->property_chunks.items[i]),
					    record->head.value);
		if (!name || hwy_property(in->trace, hwy_str(in->trace, name)))
			continue;
		bool is_command = strcmp(hwy_str(in->trace, name), "command") == 0;
		uint32_t value = is_command ? target_command(in, record)
					    : hwy_text_id_n(in->b, record->text, record->length);
		uint32_t index = hwy_new_properties(in->b);
		in->trace->properties[index] = (struct hwy_property){name, value};
	}
	char epoch[32];
	snprintf(epoch, sizeof epoch, "%lld", (long long)in->epoch);
	hwy_add_property(in->b, "clock.epoch_ns", epoch);
	const struct hwy_trace *trace = in->trace;
	if (!hwy_property(trace, "command") && trace->n_processes &&
	    trace->processes[0].command != HWY_NONE)
		hwy_add_property(in->b, "command", hwy_str(trace, trace->processes[0].command));
}

static void report_settings(struct ingest *in)
{
	const struct rec_control *control = &in->spools.control;
	static const struct {
		uint32_t bit;
		const char *name;
	} traces[] = {
		{REC_TRACE_CUDA, "cuda"},         {REC_TRACE_NVTX, "nvtx"},
		{REC_TRACE_OPENCL, "opencl"},     {REC_TRACE_OSRT, "osrt"},
		{REC_TRACE_PYTORCH, "pytorch"},   {REC_TRACE_PYTHON, "python"},
		{REC_TRACE_CUBLAS, "cublas"},     {REC_TRACE_CUDNN, "cudnn"},
		{REC_TRACE_CUSPARSE, "cusparse"}, {REC_TRACE_CUSOLVER, "cusolver"},
		{REC_TRACE_NCCL, "nccl"},         {REC_TRACE_MPI, "mpi"},
		{REC_TRACE_CUFFT, "cufft"},       {REC_TRACE_CUBLAS_SHAPES, "cublas-verbose"}};
	if (!in->spools.has_control)
		return;
	char text[128] = "";
	for (size_t i = 0; i < sizeof traces / sizeof *traces; i++)
		if (control->traces & traces[i].bit) {
			strcat(text, *text ? "," : "");
			strcat(text, traces[i].name);
		}
	hwy_add_property(in->b, "capture.traces", *text ? text : "none");
	hwy_add_property(in->b, "capture.graph_mode", control->graph_nodes ? "Node" : "Graph");
	hwy_add_property(in->b, "capture.memory_usage", control->memory_usage ? "true" : "false");
	if (in->run_end > in->epoch) {
		snprintf(text, sizeof text, "%lld", (long long)(in->run_end - in->epoch));
		hwy_add_property(in->b, "recording.duration_ns", text);
	}
}

static void report_python(struct ingest *in)
{
	for (uint32_t p = 0; p < in->n_processes; p++) {
		const struct rec_process *registration = in->processes[p].registration;
		uint32_t python = registration ? registration->python : 0;
		if (!python || hwy_property(in->trace, "python.version"))
			continue;
		char version[32];
		snprintf(version, sizeof version, "%u.%u.%u", python >> 24, python >> 16 & 0xff,
			 python >> 8 & 0xff);
		hwy_add_property(in->b, "python.version", version);
	}
}

/* ---- notes and losses
 * ----------------------------------------------------------------------------- */

static void report_notes(struct ingest *in)
{
	for (uint32_t i = 0; i < in->notes.n; i++) {
		const struct rec_string *note = in->notes.items[i];
		uint32_t severity = note->head.value;
		uint32_t index = hwy_new_diagnostics(in->b);
		struct hwy_diagnostic *diagnostic = &in->trace->diagnostics[index];
		diagnostic->severity = severity >= 1 && severity <= 3 ? (int64_t)severity : 1;
		diagnostic->process = record_of(ingest_owner(in, in->note_chunks.items[i]));
		diagnostic->text = hwy_text_id_n(in->b, note->text, note->length);
	}
}

static void report_drops(struct ingest *in)
{
	for (uint32_t i = 0; i < in->drops.n; i++) {
		const struct rec_drop *drop = in->drops.items[i];
		struct ingest_process *process = ingest_owner(in, in->drop_chunks.items[i]);
		if (drop->count)
			ingest_drop(in, record_of(process), HWY_NONE, "collector",
				    ingest_text(in, process, drop->reason), drop->count,
				    ingest_moment(in, drop->time));
	}
	for (uint32_t p = 0; p < in->n_processes; p++)
		if (in->processes[p].interrupted)
			ingest_drop(
				in, record_of(&in->processes[p]), HWY_NONE, "collector",
				hwy_text_id(in->b,
					    "interrupted by a signal handler or the thread's end"),
				in->processes[p].interrupted, HWY_NONE);
	losses_report(in);
	if (in->spools.damaged)
		ingest_drop(in, HWY_NONE, HWY_NONE, "spool",
			    hwy_text_id(in->b, "damaged in the spool"), in->spools.damaged,
			    HWY_NONE);
	if (in->no_time)
		ingest_drop(in, HWY_NONE, HWY_NONE, "collector",
			    hwy_text_id(in->b, "events without a time"), in->no_time, HWY_NONE);
}

/* Reports processes that ended without REC_EXIT, and, where they used a device, without exit
 * handlers (_exit): the device work just before their end may be missing. */
static void report_ends(struct ingest *in)
{
	for (uint32_t p = 0; p < in->n_processes; p++) {
		const struct ingest_process *process = &in->processes[p];
		int status = process->status ? process->status->status : 0;
		bool complete = process->exited && (process->in_order || process->contexts.n == 0);
		if (process->record == UINT32_MAX || complete)
			continue;
		if ((status & 0x7f) != 0)
			ingest_note_diagnostic(
				in, 2, process->record,
				"process %u was ended by signal %d; its last records may be missing",
				process->pid, status & 0x7f);
		else if (process->status || process->exited)
			ingest_note_diagnostic(
				in, 1, process->record,
				"process %u left without exit handlers; its last records may be missing",
				process->pid);
	}
}

static void report_stacks(struct ingest *in)
{
	if (in->wanted_stacks == INGEST_STACKS_PLAIN)
		ingest_note_diagnostic(
			in, 2, HWY_NONE,
			"the report could not be made with libdw, mostly for lack of "
			"memory: stacks were found by frame pointers, and have no "
			"source lines of native code");
	if (in->wanted_stacks == INGEST_STACKS_NONE)
		ingest_note_diagnostic(in, 2, HWY_NONE,
				       "stacks were left out, mostly for lack of memory");
}

void run_meta_report(struct ingest *in)
{
	report_stacks(in);
	report_properties(in);
	report_settings(in);
	report_python(in);
	ingest_counters_report(in);
	report_notes(in);
	report_ends(in);
	unrecorded_report(in);
	report_drops(in);
	if (in->old)
		ingest_note_diagnostic(
			in, 1, HWY_NONE,
			"%llu events older than the last %u s were left out (--keep-last)",
			(unsigned long long)in->old, in->spools.control.keep_s);
}
