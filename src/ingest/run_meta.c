/* run_meta.c - the machine and the run, what the collectors said, and what was lost.
 *
 * A property that several processes tell (driver, CUDA's version) is kept once, the first time it is told.
 * Environment variables are in no record and in no report.
 */
#include <stdio.h>
#include <string.h>

#include "ingest/ingest_internal.h"

static struct ingest_process *owner_of(struct ingest *in, const struct spool_chunk *chunk)
{
	return chunk->process == UINT32_MAX ? &in->run : &in->processes[chunk->process];
}

static int64_t record_of(const struct ingest_process *process)
{
	return process->record == UINT32_MAX ? HWY_NONE : (int64_t)process->record;
}

/* ---- the machine ------------------------------------------------------------------------------- */

static const struct rec_string *run_property(struct ingest *in, const char *name)
{
	for (uint32_t i = 0; i < in->properties.n; i++) {
		const struct rec_string *record = in->properties.at[i];
		const struct ingest_text *text =
			owner_of(in, in->property_of.at[i]) == &in->run
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

static void settle_clocks(struct ingest *in)
{
	for (uint32_t i = 0; i < in->clocks.n; i++) {
		const struct rec_clock *said = in->clocks.at[i];
		uint32_t at = hwy_new_clocks(in->b);
		struct hwy_clock *clock = &in->trace->clocks[at];
		clock->host = in->host;
		clock->monotonic = ingest_moment(in, said->monotonic);
		clock->monotonic_raw = said->raw;
		clock->realtime = said->realtime;
		if (in->trace->wall == HWY_NONE && said->realtime > 0 &&
		    said->realtime < INT64_MAX / 2 && clock->monotonic != HWY_NONE)
			in->trace->wall = said->realtime - clock->monotonic;
	}
}

void about_settle(struct ingest *in)
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
	settle_clocks(in);
}

/* ---- the run ----------------------------------------------------------------------------------- */

static void report_properties(struct ingest *in)
{
	hwy_add_property(in->b, "source.format", "headway");
	hwy_add_property(in->b, "source.product", "Headway");
	hwy_add_property(in->b, "source.version", HEADWAY_VERSION);
	for (uint32_t i = 0; i < in->properties.n; i++) {
		const struct rec_string *record = in->properties.at[i];
		uint32_t name =
			ingest_text(in, owner_of(in, in->property_of.at[i]), record->head.value);
		if (!name || hwy_property(in->trace, hwy_str(in->trace, name)))
			continue;
		bool is_command = strcmp(hwy_str(in->trace, name), "command") == 0;
		uint32_t value = is_command ? target_command(in, record)
					    : hwy_text_id_n(in->b, record->text, record->length);
		uint32_t at = hwy_new_properties(in->b);
		in->trace->properties[at] = (struct hwy_property){name, value};
	}
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
	} traces[] = {{REC_TRACE_CUDA, "cuda"},
		      {REC_TRACE_NVTX, "nvtx"},
		      {REC_TRACE_OPENCL, "opencl"},
		      {REC_TRACE_OSRT, "osrt"}};
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
		const struct rec_process *said = in->processes[p].said;
		if (!said || !said->python || hwy_property(in->trace, "python.version"))
			continue;
		char version[32];
		snprintf(version, sizeof version, "%u.%u.%u", said->python >> 24,
			 said->python >> 16 & 0xff, said->python >> 8 & 0xff);
		hwy_add_property(in->b, "python.version", version);
	}
}

/* ---- what was said, what was lost -------------------------------------------------------------- */

static void report_notes(struct ingest *in)
{
	for (uint32_t i = 0; i < in->notes.n; i++) {
		const struct rec_string *note = in->notes.at[i];
		uint32_t severity = note->head.value;
		uint32_t at = hwy_new_diagnostics(in->b);
		struct hwy_diagnostic *said = &in->trace->diagnostics[at];
		said->severity = severity >= 1 && severity <= 3 ? (int64_t)severity : 1;
		said->process = record_of(owner_of(in, in->note_of.at[i]));
		said->text = hwy_text_id_n(in->b, note->text, note->length);
	}
}

static void report_drops(struct ingest *in)
{
	for (uint32_t i = 0; i < in->drops.n; i++) {
		const struct rec_drop *drop = in->drops.at[i];
		struct ingest_process *process = owner_of(in, in->drop_of.at[i]);
		if (drop->count)
			ingest_drop(in, record_of(process), HWY_NONE, "collector",
				    ingest_text(in, process, drop->reason), drop->count,
				    ingest_moment(in, drop->time));
	}
	static const char no_room[] = "no room for records: disk full";
	for (uint32_t c = 0; c < in->spools.n_chunks; c++) {
		const struct spool_chunk *chunk = &in->spools.chunks[c];
		struct ingest_process *process = owner_of(in, chunk);
		if (!chunk->at->dropped)
			continue;
		int64_t thread =
			process->record == UINT32_MAX
				? HWY_NONE
				: (int64_t)target_thread(in, chunk->process, chunk->at->tid);
		ingest_drop(in, record_of(process), thread, "spool", hwy_text_id(in->b, no_room),
			    chunk->at->dropped, HWY_NONE);
	}
	if (in->spools.has_control && in->spools.control.dropped)
		ingest_drop(in, HWY_NONE, HWY_NONE, "spool",
			    hwy_text_id(in->b,
					"no file for the thread's records: disk full, out of "
					"reach, or too many threads"),
			    in->spools.control.dropped, HWY_NONE);
	if (in->spools.damaged)
		ingest_drop(in, HWY_NONE, HWY_NONE, "spool",
			    hwy_text_id(in->b, "damaged in the spool"), in->spools.damaged,
			    HWY_NONE);
	if (in->no_time)
		ingest_drop(in, HWY_NONE, HWY_NONE, "collector",
			    hwy_text_id(in->b, "events without a time"), in->no_time, HWY_NONE);
}

/* An end that nobody announced is worth a word: what ran on the device just before it may be missing. So is
 * _exit, where there was a device. */
static void report_ends(struct ingest *in)
{
	for (uint32_t p = 0; p < in->n_processes; p++) {
		const struct ingest_process *process = &in->processes[p];
		int status = process->status ? process->status->status : 0;
		bool complete = process->exited && (process->in_order || process->contexts.n == 0);
		if (process->record == UINT32_MAX || complete)
			continue;
		if ((status & 0x7f) != 0)
			ingest_say(
				in, 2, process->record,
				"process %u was ended by signal %d; its last records may be missing",
				process->pid, status & 0x7f);
		else if (process->status || process->exited)
			ingest_say(
				in, 1, process->record,
				"process %u left without exit handlers; its last records may be missing",
				process->pid);
	}
}

void about_report(struct ingest *in)
{
	report_properties(in);
	report_settings(in);
	report_python(in);
	report_notes(in);
	report_ends(in);
	report_drops(in);
	if (in->old)
		ingest_say(in, 1, HWY_NONE,
			   "%llu events older than the last %u s were left out (--keep-last)",
			   (unsigned long long)in->old, in->spools.control.keep_s);
}
