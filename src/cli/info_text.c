/* SPDX-License-Identifier: Apache-2.0 */
/* info_text.c - `headway info` for people: short, aligned, what matters most first.
 *
 * Texts come from files: they are printed with control characters replaced (cli_wrap).
 */
#include "base/lang.h"
#include "cli/info_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/say.h"
#include "base/utf8.h"
#include "cli/kit/cli.h"
#include "cli/kit/paint.h"

enum { INDENT = 13, SHOWN = 12, LINE = 512 };

const char *const info_kind_words[HWY_KINDS] = {
	[HWY_API] = HWY_KEY("calls into the vendor's library"),
	[HWY_KERNEL] = HWY_KEY("kernels on a device"),
	[HWY_COPY] = HWY_KEY("copies by a device"),
	[HWY_FILL] = HWY_KEY("memory fills by a device"),
	[HWY_GRAPH] = HWY_KEY("graph launches recorded as a whole"),
	[HWY_SYNC] = HWY_KEY("waits as the driver recorded them"),
	[HWY_EVENT] = HWY_KEY("events recorded on a stream"),
	[HWY_RANGE] = HWY_KEY("annotations: NVTX, or a framework's"),
	[HWY_OP] = HWY_KEY("a framework's operators"),
	[HWY_CALL] = HWY_KEY("calls of libraries, or functions of the program"),
	[HWY_OS] = HWY_KEY("calls into the operating system"),
	[HWY_STATE] = HWY_KEY("what threads did: running or not"),
	[HWY_MEMORY] = HWY_KEY("allocations and releases"),
	[HWY_SAMPLE] = HWY_KEY("where threads were: samples with stacks"),
	[HWY_COUNTER] = HWY_KEY("values of counters"),
	[HWY_OVERHEAD] = HWY_KEY("the profiler's own time"),
};

const char *info_severity(int64_t severity)
{
	return severity == 3   ? HWY_KEY("error")
	       : severity == 2 ? HWY_KEY("warning")
			       : HWY_KEY("info");
}

const char *info_verdict(const struct hwy_trust *trust)
{
	static const char *const words[] = {HWY_KEY("good"), HWY_KEY("weakened"),
					    HWY_KEY("limited")};
	enum hwy_effect worst = HWY_EFFECT_NONE;
	for (unsigned i = 0; i < HWY_LACKS; i++)
		if (trust->lacks[i].count && trust->lacks[i].effect > worst)
			worst = trust->lacks[i].effect;
	return words[worst];
}

/* Where and how the text is printed. */
struct page {
	FILE *out;
	int width;
	bool colour;
};

/* Prints what a line is about; 'name' is a key of hwy_tr_word. */
static void label(const struct page *page, const char *name)
{
	fputs(paint(page->colour, PAINT_BOLD), page->out);
	cli_put_column(page->out, hwy_tr_word(name), INDENT);
	fputs(paint(page->colour, PAINT_PLAIN), page->out);
}

/* Prints a line with its spaces kept and control characters replaced. */
static void put_plain(const struct page *page, const char *text)
{
	cli_put(page->out, text, strlen(text));
	fputc('\n', page->out);
}

static void field(const struct page *page, const char *name, const char *text)
{
	if (!text || !*text)
		return;
	label(page, name);
	cli_wrap(page->out, text, INDENT, page->width);
}

/* Appends a separator and a text to a line of LINE bytes; what does not fit is left out. */
static void info_text_add(char *line, const char *separator, const char *text)
{
	size_t n = strlen(line);
	if (text && *text)
		snprintf(line + n, LINE - n, "%s%s", n ? hwy_tr(separator) : "", text);
}

static void print_source(const struct page *page, const struct info *info)
{
	const struct hwy_trace *trace = info->trace;
	char line[LINE] = "";
	const char *product = hwy_property(trace, "source.product");
	const char *format = hwy_property(trace, "source.format");
	if (!product && format && strcmp(format, "kineto") == 0)
		product = "PyTorch profiler (Kineto)";
	info_text_add(line, " ", product ? product : format);
	info_text_add(line, " ", hwy_property(trace, "source.version"));
	info_text_add(line, HWY_KEY(", schema "), hwy_property(trace, "source.schema"));
	field(page, HWY_KEY("label|Source"), line);

	char when[LINE] = "";
	if (info->began != HWY_NONE)
		info_text_add(when, "", hwy_say_wall_clock(info->began).text);
	if (info->has_window) {
		char lasts[96];
		snprintf(lasts, sizeof lasts, hwy_tr("for %s"), hwy_say_time4(info->duration).text);
		info_text_add(when, hwy_tr_word(HWY_KEY("clause|, ")), lasts);
	}
	field(page, HWY_KEY("label|Recorded"), when);
	field(page, HWY_KEY("label|Command"), hwy_property(trace, "command"));
}

/* Appends a version: CUDA writes 13.0 as 13000, HIP writes 6.4.43483 as 60443483. */
static void add_version(char *line, const char *separator, const char *text)
{
	char part[LINE];
	if (!text || !*text)
		return;
	long n = text[strspn(text, "0123456789")] == 0 ? strtol(text, NULL, 10) : 0;
	if (n >= 10000000)
		snprintf(part, sizeof part, "HIP %ld.%ld.%ld", n / 10000000, n / 100000 % 100,
			 n % 100000);
	else if (n >= 1000)
		snprintf(part, sizeof part, "CUDA %ld.%ld", n / 1000, n % 1000 / 10);
	else
		snprintf(part, sizeof part, "%s", text);
	info_text_add(line, separator, part);
}

static void print_driver(const struct page *page, const struct hwy_trace *trace)
{
	char line[LINE] = "";
	const char *runtime = hwy_property(trace, "cuda.runtime");
	add_version(line, "", hwy_property(trace, "driver"));
	info_text_add(line, HWY_KEY(", CUDA "), hwy_property(trace, "cuda.version"));
	add_version(line, hwy_tr(", runtime "),
		    runtime ? runtime : hwy_property(trace, "hip.runtime"));
	field(page, HWY_KEY("label|Driver"), line);
}

static void print_hosts(const struct page *page, const struct hwy_trace *trace)
{
	for (uint32_t i = 0; i < trace->n_hosts; i++) {
		const struct hwy_host *host = &trace->hosts[i];
		char line[LINE] = "", cpus[40] = "";
		info_text_add(line, "", hwy_str(trace, host->name));
		info_text_add(line, ", ", hwy_str(trace, host->cpu));
		if (host->cpus > 0)
			snprintf(cpus, sizeof cpus, hwy_tr("%lld CPUs"), (long long)host->cpus);
		info_text_add(line, ", ", cpus);
		info_text_add(line, ", ", hwy_str(trace, host->os));
		info_text_add(line, ", ", hwy_str(trace, host->kernel));
		field(page, i ? "" : HWY_KEY("label|Host"), line);
	}
	print_driver(page, trace);
}

static void describe_device(const struct hwy_trace *trace, uint32_t i, char *line)
{
	const struct hwy_device *device = &trace->devices[i];
	char part[80];
	info_text_add(line, "", hwy_str(trace, device->name));
	/* OpenCL's number of units is that of SMs on a GPU only. */
	if (device->sms > 0 && !hwy_devices_are_cpus(trace)) {
		snprintf(part, sizeof part, "%s",
			 hwy_say_count_of((double)device->sms, "SM", HWY_KEY("SMs")).text);
		info_text_add(line, ", ", part);
	}
	if (device->memory_bytes > 0)
		info_text_add(line, ", ", hwy_say_gib4((uint64_t)device->memory_bytes).text);
	if (device->memory_bandwidth > 0) {
		snprintf(part, sizeof part, "%s/s",
			 hwy_say_bytes3((uint64_t)device->memory_bandwidth).text);
		info_text_add(line, ", ", part);
	}
	if (device->compute_major > 0) {
		snprintf(part, sizeof part, hwy_tr("compute %lld.%lld"),
			 (long long)device->compute_major, (long long)device->compute_minor);
		info_text_add(line, ", ", part);
	}
	if (!*line)
		info_text_add(line, "", hwy_tr("not described in the recording"));
}

static bool device_is_used(const struct hwy_trace *trace, uint32_t device)
{
	for (uint32_t i = 0; i < trace->n_lanes; i++)
		if (trace->lanes[i].type == HWY_LANE_STREAM &&
		    trace->lanes[i].device == (int64_t)device)
			return true;
	return false;
}

/* Prints the devices; neighbours that are alike share a line: "0-7 NVIDIA B200, …". */
static void info_text_print_devices(const struct page *page, const struct hwy_trace *trace)
{
	for (uint32_t i = 0, next; i < trace->n_devices; i = next) {
		char line[LINE] = "", numbers[64] = "?";
		int64_t first = trace->devices[i].ordinal, last = first;
		bool used = device_is_used(trace, i);
		describe_device(trace, i, line);
		for (next = i + 1; next < trace->n_devices; next++) {
			char other[LINE] = "";
			describe_device(trace, next, other);
			int64_t number = trace->devices[next].ordinal;
			if (number == HWY_NONE || number - 1 != last || strcmp(line, other) != 0 ||
			    device_is_used(trace, next) != used)
				break;
			last++;
		}
		if (first == last && first != HWY_NONE)
			snprintf(numbers, sizeof numbers, "%" PRId64, first);
		else if (first != last)
			snprintf(numbers, sizeof numbers, "%" PRId64 "-%" PRId64, first, last);
		label(page, i ? "" : HWY_KEY("label|Devices"));
		fprintf(page->out, "%-3s  ", numbers);
		info_text_add(line, ", ", hwy_tr(used ? "" : "no work recorded"));
		put_plain(page, line);
	}
	if (trace->n_devices == 0)
		field(page, HWY_KEY("label|Devices"), hwy_tr_word(HWY_KEY("lanes|none")));
}

/* Appends "BEFORE 1.42 µs BEHIND" where the report has the calibration 'name' of the device. */
static void add_calibration(char *line, const char *separator, const struct hwy_trace *trace,
			    uint32_t device, const char *name, const char *before,
			    const char *behind)
{
	char part[160];
	for (uint32_t i = 0; i < trace->n_calibrations; i++) {
		const struct hwy_calibration *one = &trace->calibrations[i];
		if (one->device != (int64_t)device || strcmp(hwy_str(trace, one->name), name) != 0)
			continue;
		snprintf(part, sizeof part, "%s %s%s", before, hwy_say_time4(one->value).text,
			 behind);
		info_text_add(line, separator, part);
		return;
	}
}

static void print_calibration(const struct page *page, const struct hwy_trace *trace)
{
	uint32_t shown = 0;
	for (uint32_t i = 0; i < trace->n_devices; i++) {
		char line[LINE] = "", number[40] = "";
		const char *more = hwy_tr_word(HWY_KEY("cost| more")),
			   *clause = hwy_tr_word(HWY_KEY("clause|, "));
		add_calibration(line, "", trace, i, "cost.launch",
				hwy_tr("a recorded launch costs"), more);
		add_calibration(line, clause, trace, i, "cost.sync", hwy_tr("a wait"),
				*line ? "" : more);
		add_calibration(line, clause, trace, i, "cost.range", hwy_tr("a range"),
				*line ? "" : more);
		add_calibration(line, "; ", trace, i, "machine.launch_latency",
				hwy_tr("a kernel starts"), hwy_tr(" after its launch"));
		if (!*line)
			continue;
		label(page, shown++ ? "" : HWY_KEY("label|Calibrated"));
		if (trace->n_devices > 1)
			snprintf(number, sizeof number, "%-3lld  ",
				 (long long)trace->devices[i].ordinal);
		fputs(number, page->out);
		cli_wrap(page->out, line, INDENT + (int)strlen(number), page->width);
	}
}

static void print_clocks(const struct page *page, const struct info *info)
{
	uint32_t shown = 0;
	for (uint32_t i = 0; i < info->trace->n_devices; i++) {
		char line[INFO_CLOCKS_BYTES], number[40] = "";
		if (!info->has_clocks[i])
			continue;
		info_clocks_words(&info->clocks[i], line);
		label(page, shown++ ? "" : HWY_KEY("label|Clocks"));
		if (info->trace->n_devices > 1)
			snprintf(number, sizeof number, "%-3lld  ",
				 (long long)info->trace->devices[i].ordinal);
		fputs(number, page->out);
		cli_wrap(page->out, line, INDENT + (int)strlen(number), page->width);
	}
}

static void print_left(const struct page *page, uint32_t left)
{
	if (left) {
		fprintf(page->out, "%*s%s", INDENT, "", paint(page->colour, PAINT_FAINT));
		fprintf(page->out, hwy_tr("and %u more (--all)"), left);
		fprintf(page->out, "%s\n", paint(page->colour, PAINT_PLAIN));
	}
}

static void print_ranks(const struct page *page, const struct info *info)
{
	uint32_t shown = info->all || info->n_ranks <= SHOWN ? info->n_ranks : SHOWN;
	for (uint32_t i = 0; i < shown; i++) {
		char line[INFO_RANK_BYTES];
		info_ranks_words(info, i, line);
		label(page, i ? "" : HWY_KEY("label|Ranks"));
		put_plain(page, line);
	}
	print_left(page, info->n_ranks - shown);
}

/* Yields a process's name without its folder. */
static const char *short_name(const struct hwy_trace *trace, uint32_t process)
{
	const char *name = hwy_str(trace, trace->processes[process].name);
	name = hwy_basename(name);
	return *name ? name : hwy_tr("(no name)");
}

static void describe_process(const struct info *info, uint32_t i, int width, char *line)
{
	const struct hwy_process *process = &info->trace->processes[i];
	const char *name = short_name(info->trace, i);
	size_t cut = hwy_utf8_cut(name, strlen(name), width);
	char part[160];
	snprintf(part, sizeof part, "%lld", (long long)process->pid);
	snprintf(line, LINE, hwy_tr("%-7s  %.*s%*s  %u thread%s"),
		 process->pid == HWY_NONE ? "?" : part, (int)cut, name,
		 width - hwy_utf8_columns(name, cut), "", info->threads[i],
		 info->threads[i] == 1 ? "" : "s");
	if (process->start != HWY_NONE && process->end > process->start)
		info_text_add(line, hwy_tr(", lived "),
			      hwy_say_time4(hwy_between(process->start, process->end)).text);
	if (process->rank == HWY_NONE)
		return;
	snprintf(part, sizeof part, "rank %lld", (long long)process->rank);
	info_text_add(line, "  ", part);
	snprintf(part, sizeof part, "%lld", (long long)process->world);
	info_text_add(line, hwy_tr_word(HWY_KEY("ranks| of ")),
		      process->world == HWY_NONE ? "" : part);
}

/* Processes that neither have a lane nor were seen to start are of no use to the reader of a
 * short page. */
static bool process_counts(const struct info *info, uint32_t i)
{
	if (info->all || info->trace->processes[i].start != HWY_NONE)
		return true;
	for (uint32_t lane = 0; lane < info->trace->n_lanes; lane++)
		if (info->trace->lanes[lane].process == (int64_t)i)
			return true;
	return false;
}

static void print_processes(const struct page *page, const struct info *info)
{
	uint32_t shown = 0, left = 0;
	int width = 0;
	for (uint32_t i = 0; i < info->trace->n_processes; i++) {
		const char *name = short_name(info->trace, i);
		int n = hwy_utf8_columns(name, strlen(name));
		if (n > width && process_counts(info, i))
			width = n < 40 ? n : 40;
	}
	for (uint32_t i = 0; i < info->trace->n_processes; i++) {
		if (!process_counts(info, i))
			continue;
		if (shown == SHOWN && !info->all) {
			left++;
			continue;
		}
		char line[LINE] = "";
		describe_process(info, i, width, line);
		label(page, shown++ ? "" : HWY_KEY("label|Processes"));
		put_plain(page, line);
	}
	print_left(page, left);
}

/* The order in which kinds are printed: device work, then the calls that enqueue it, then the other
 * kinds. */
static const enum hwy_kind kind_order[HWY_KINDS] = {
	HWY_KERNEL, HWY_COPY,   HWY_FILL,    HWY_GRAPH,    HWY_API, HWY_SYNC,
	HWY_EVENT,  HWY_OP,     HWY_RANGE,   HWY_CALL,     HWY_OS,  HWY_STATE,
	HWY_SAMPLE, HWY_MEMORY, HWY_COUNTER, HWY_OVERHEAD,
};

static void info_text_print_counts(const struct page *page, const struct info *info)
{
	char line[LINE] = "", part[80];
	for (unsigned i = 0; i < HWY_LANE_TYPES; i++)
		if (info->lanes[i]) {
			snprintf(part, sizeof part, "%u %s", info->lanes[i],
				 hwy_lane_type_names[i]);
			info_text_add(line, ", ", part);
		}
	field(page, HWY_KEY("label|Lanes"), *line ? line : hwy_tr_word(HWY_KEY("lanes|none")));

	label(page, HWY_KEY("label|Spans"));
	fprintf(page->out, "%s%s\n", hwy_say_count_grouped(info->trace->n_spans).text,
		info->trace->n_spans ? hwy_tr("; of each kind, and their durations added up:")
				     : "");
	for (unsigned n = 0; n < HWY_KINDS; n++) {
		enum hwy_kind i = kind_order[n];
		if (!info->spans[i])
			continue;
		struct hwy_words lasts = {""};
		if (info->time[i] > 0)
			lasts = hwy_say_time4(info->time[i]);
		fprintf(page->out, "  %-*s%13s  ", INDENT - 2, hwy_kind_names[i],
			hwy_say_count_grouped(info->spans[i]).text);
		cli_put_right(page->out, lasts.text, 10);
		fprintf(page->out, "  %s%s%s\n", paint(page->colour, PAINT_FAINT),
			hwy_tr(info_kind_words[i]), paint(page->colour, PAINT_PLAIN));
	}
}

/* Yields from when to when, in seconds of the recording; "" where that is not known. */
static struct hwy_words times_of(int64_t from, int64_t to)
{
	struct hwy_words words = {""};
	if (from != HWY_NONE && to != HWY_NONE)
		snprintf(words.text, sizeof words.text, hwy_tr(" (%.3f s to %.3f s)"),
			 (double)from / 1e9, (double)to / 1e9);
	return words;
}

static void print_drops(const struct page *page, const struct hwy_trace *trace)
{
	for (uint32_t i = 0; i < trace->n_drops; i++) {
		const struct hwy_drop *drop = &trace->drops[i];
		char line[LINE] = "";
		if (drop->count > 0)
			info_text_add(line, "", hwy_say_count_grouped((uint64_t)drop->count).text);
		info_text_add(line, " ", hwy_str(trace, drop->source));
		info_text_add(line, ": ", hwy_str(trace, drop->reason));
		info_text_add(line, "", times_of(drop->from, drop->to).text);
		field(page, i ? "" : HWY_KEY("label|Dropped"),
		      *line ? line : hwy_tr("records, number unknown"));
	}
	if (trace->n_drops == 0)
		field(page, HWY_KEY("label|Dropped"),
		      hwy_tr("nothing, as far as the recorder tells"));
}

static void print_diagnostics(const struct page *page, const struct info *info)
{
	const struct hwy_trace *trace = info->trace;
	uint32_t count[4] = {0}, shown = 0, left = 0;
	for (uint32_t i = 0; i < trace->n_diagnostics; i++)
		count[trace->diagnostics[i].severity & 3]++;
	if (trace->n_diagnostics == 0)
		return;
	label(page, HWY_KEY("label|Messages"));
	fprintf(page->out, hwy_tr("%u error%s, %u warning%s, %u note%s%s\n"), count[3],
		count[3] == 1 ? "" : "s", count[2], count[2] == 1 ? "" : "s", count[1] + count[0],
		count[1] + count[0] == 1 ? "" : "s",
		hwy_tr(info->all ? "" : " (--all shows every one)"));
	for (uint32_t i = 0; i < trace->n_diagnostics; i++) {
		const struct hwy_diagnostic *diagnostic = &trace->diagnostics[i];
		if (!info->all && diagnostic->severity < 2)
			continue;
		if (!info->all && shown == SHOWN) {
			left++;
			continue;
		}
		shown++;
		fprintf(page->out, "  %s",
			diagnostic->severity == 3 ? paint(page->colour, PAINT_RED)
						  : paint(page->colour, PAINT_FAINT));
		cli_put_column(page->out, hwy_tr(info_severity(diagnostic->severity)), INDENT - 2);
		fputs(paint(page->colour, PAINT_PLAIN), page->out);
		cli_wrap(page->out, hwy_str(trace, diagnostic->text), INDENT, page->width);
	}
	print_left(page, left);
}

static void print_lack(const struct page *page, const struct hwy_lack *lack)
{
	static const char *const words[] = {HWY_KEY("note"), HWY_KEY("weakens"),
					    HWY_KEY("forbids")};
	const char *const colours[] = {paint(page->colour, PAINT_FAINT),
				       paint(page->colour, PAINT_YELLOW),
				       paint(page->colour, PAINT_RED)};
	enum hwy_effect effect = lack->count ? lack->effect : HWY_EFFECT_NONE;
	char line[2 * LINE] = "";
	snprintf(line, sizeof line, hwy_tr("%s%s%s %s%s. %s"),
		 hwy_say_count_grouped(lack->count).text,
		 lack->total ? hwy_tr_word(HWY_KEY("lack| of ")) : "",
		 lack->total ? hwy_say_count_grouped(lack->total).text : "", hwy_tr(lack->what),
		 times_of(lack->from, lack->to).text, *lack->says ? hwy_tr(lack->says) : "");
	fprintf(page->out, "  %s", colours[effect]);
	cli_put_column(page->out, hwy_tr(lack->count ? words[effect] : HWY_KEY("fine")),
		       INDENT - 2);
	fputs(paint(page->colour, PAINT_PLAIN), page->out);
	cli_wrap(page->out, line, INDENT, page->width);
	if (effect != HWY_EFFECT_NONE && lack->measures && *lack->measures) {
		fprintf(page->out, "%*s", INDENT, "");
		snprintf(line, sizeof line, hwy_tr("concerns: %s"), hwy_tr(lack->measures));
		cli_wrap(page->out, line, INDENT, page->width);
	}
}

static const char *why_good(const struct info *info)
{
	bool has_work = info->spans[HWY_KERNEL] || info->spans[HWY_COPY] || info->spans[HWY_FILL] ||
			info->spans[HWY_GRAPH];
	return has_work ? hwy_tr(": no record is known to be missing")
	       : info->trace->n_measured
		       ? hwy_tr(": counters of kernels, and no times: headway kernels shows them")
		       : hwy_tr(": nothing is lacking, but no device worked");
}

static void print_trust(const struct page *page, const struct info *info)
{
	const char *verdict = info_verdict(&info->trust);
	bool good = strcmp(verdict, "good") == 0, limited = strcmp(verdict, "limited") == 0;
	label(page, HWY_KEY("label|Trust"));
	fprintf(page->out, "%s%s%s%s\n",
		good      ? paint(page->colour, PAINT_GREEN)
		: limited ? paint(page->colour, PAINT_RED)
			  : paint(page->colour, PAINT_YELLOW),
		hwy_tr(verdict), paint(page->colour, PAINT_PLAIN),
		good      ? why_good(info)
		: limited ? hwy_tr(": some answers cannot be had from this recording")
			  : hwy_tr(": some answers are less certain"));
	for (unsigned i = 0; i < HWY_LACKS; i++)
		if (info->trust.lacks[i].count || (info->all && info->trust.lacks[i].total))
			print_lack(page, &info->trust.lacks[i]);
}

static void print_properties(const struct page *page, const struct hwy_trace *trace)
{
	for (uint32_t i = 0; i < trace->n_properties; i++) {
		char line[2 * LINE];
		snprintf(line, sizeof line, "%s = %s", hwy_str(trace, trace->properties[i].name),
			 hwy_str(trace, trace->properties[i].value));
		field(page, i ? "" : HWY_KEY("label|Properties"), line);
	}
}

void info_print_text(const struct info *info, FILE *out)
{
	int width = cli_width(out);
	struct page page = {
		.out = out,
		.width = width == 0    ? 0
			 : width < 40  ? 40
			 : width > 110 ? 110
				       : width,
		.colour = cli_colour(out),
	};
	print_source(&page, info);
	print_hosts(&page, info->trace);
	fputc('\n', out);
	info_text_print_devices(&page, info->trace);
	print_clocks(&page, info);
	print_calibration(&page, info->trace);
	print_ranks(&page, info);
	print_processes(&page, info);
	fputc('\n', out);
	info_text_print_counts(&page, info);
	fputc('\n', out);
	print_trust(&page, info);
	print_drops(&page, info->trace);
	print_diagnostics(&page, info);
	if (info->all)
		print_properties(&page, info->trace);
}
