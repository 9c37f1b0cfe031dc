/* SPDX-License-Identifier: Apache-2.0 */
/* breakdown_text.c - the breakdown for people: what the window is, a bar for each device, the
 * numbers, then the streams and the steps. */
#include "base/lang.h"
#include "cli/breakdown_print.h"

#include <inttypes.h>
#include <string.h>

#include "base/path.h"
#include "base/say.h"
#include "cli/kit/cli.h"
#include "cli/kit/paint.h"
#include "cli/kit/table.h"

enum { FEW_STREAMS = 12, FEW_STEPS = 10, LABEL_BYTES = 48 };

struct page {
	FILE *out;
	const struct breakdown_view *view;
	const struct hwy_trace *trace;
	const struct hwy_breakdown *breakdown;
	bool colour;
	uint32_t bar; /* characters of a bar */
};

/* The states of a device, in the order in which a bar shows them. */
enum { COMPUTE, COMM, COPY, FILL, IDLE, LOOKS };
static const struct {
	const char *block, *name;
	enum paint paint;
} looks[LOOKS] = {
	[COMPUTE] = {"█", HWY_KEY("bar|compute"), PAINT_GREEN},
	[COMM] = {"▓", HWY_KEY("bar|comm"), PAINT_MAGENTA},
	[COPY] = {"▒", HWY_KEY("bar|copy"), PAINT_YELLOW},
	[FILL] = {"▚", HWY_KEY("bar|fill"), PAINT_CYAN},
	[IDLE] = {"░", HWY_KEY("bar|idle"), PAINT_FAINT},
};

static const char *breakdown_text_paint(const struct page *page, enum paint which)
{
	return paint(page->colour, which);
}

static const char *device_label(const struct page *page, int64_t device, char *text)
{
	const struct hwy_trace *trace = page->trace;
	bool has_number = device >= 0 && device < trace->n_devices &&
			  trace->devices[device].ordinal != HWY_NONE;
	if (has_number)
		snprintf(text, LABEL_BYTES, "GPU %" PRId64, trace->devices[device].ordinal);
	else
		snprintf(text, LABEL_BYTES, "GPU ?");
	return text;
}

/* ---- what this is ---------------------------------------------------------------------------- */

static uint64_t ops_of(const struct hwy_measures *measures)
{
	return measures->n_kernel + measures->n_comm + measures->n_copy + measures->n_fill +
	       measures->n_graph;
}

static void print_devices_line(const struct page *page)
{
	const struct hwy_breakdown *breakdown = page->breakdown;
	fprintf(page->out, hwy_tr("  %" PRIu32 " GPU%s"), breakdown->n_devices,
		breakdown->n_devices == 1 ? "" : "s");
	const char *before = "";
	for (uint32_t i = 0; i < breakdown->n_devices; i++) {
		int64_t device = breakdown->devices[i].device;
		const char *name = device == HWY_NONE ? ""
						      : hwy_str(page->trace,
								page->trace->devices[device].name);
		if (*name && strcmp(name, before) != 0) {
			fputs(hwy_tr(*before ? ", " : ": "), page->out);
			cli_put(page->out, name, strlen(name));
		}
		before = *name ? name : before;
	}
	uint64_t streams = breakdown->total.n_streams, ops = ops_of(&breakdown->total);
	fprintf(page->out, hwy_tr(" · %s op%s on %s stream%s\n"), hwy_say_count_grouped(ops).text,
		ops == 1 ? "" : "s", hwy_say_count_grouped(streams).text, streams == 1 ? "" : "s");
}

static void print_window(const struct page *page)
{
	const struct hwy_measures *total = &page->breakdown->total;
	const struct hwy_scope *scope = &page->view->options->scope;
	bool cut = scope->from != HWY_NONE || scope->to != HWY_NONE;
	fprintf(page->out,
		hwy_tr("  window %s: first to last device op%s, %s to %s of the recording\n"),
		hwy_say_time4(total->to - total->from).text,
		hwy_tr(cut ? " within --from and --to" : ""), hwy_say_time4(total->from).text,
		hwy_say_time4(total->to).text);
}

/* ---- bars ------------------------------------------------------------------------------------ */

static void looks_of(const struct hwy_measures *measures, int64_t *times)
{
	times[COMPUTE] = measures->compute;
	times[COMM] = measures->exposed_comm;
	times[COPY] = measures->exposed_copy;
	times[FILL] = measures->exposed_fill;
	times[IDLE] = measures->to - measures->from - measures->busy;
}

static void print_bar(const struct page *page, const struct hwy_measures *measures)
{
	int64_t times[LOOKS], span = measures->to - measures->from, sum = 0;
	uint32_t drawn = 0;
	looks_of(measures, times);
	for (unsigned i = 0; i < LOOKS; i++) {
		/* The ends of the parts are rounded, not their lengths: the bar is never too
		 * long. */
		sum += times[i];
		uint32_t until =
			span ? (uint32_t)((double)sum / (double)span * page->bar + 0.5) : 0;
		if (until == drawn)
			continue;
		fputs(breakdown_text_paint(page, looks[i].paint), page->out);
		for (; drawn < until; drawn++)
			fputs(looks[i].block, page->out);
		fputs(breakdown_text_paint(page, PAINT_PLAIN), page->out);
	}
}

/* Prints how busy the device was over the window: the height of a character is the busy share of
 * its stretch of time. */
static void print_over_time(const struct page *page, const struct hwy_device_part *part)
{
	static const char *const levels[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	const struct hwy_measures *total = &page->breakdown->total;
	double cell = (double)(total->to - total->from) / page->bar;
	for (uint32_t i = 0; i < page->bar; i++) {
		double share = cell > 0 ? (double)part->cells[i] / cell : 0;
		int level = (int)(share * 8 + 0.5);
		if (level == 0 && part->cells[i])
			level = 1;
		fputs(levels[level > 8 ? 8 : level], page->out);
	}
}

static void print_legend(const struct page *page)
{
	int64_t times[LOOKS];
	looks_of(&page->breakdown->total, times);
	fputs("       ", page->out);
	for (unsigned i = 0; i < LOOKS; i++)
		if (times[i])
			fprintf(page->out, "  %s%s%s %s",
				breakdown_text_paint(page, looks[i].paint), looks[i].block,
				breakdown_text_paint(page, PAINT_PLAIN),
				hwy_tr_word(looks[i].name));
	fputs(hwy_tr("   (each beyond those before it)\n"), page->out);
}

static void print_bars(const struct page *page)
{
	char label[LABEL_BYTES];
	fputc('\n', page->out);
	for (uint32_t i = 0; i < page->breakdown->n_devices; i++) {
		const struct hwy_device_part *part = &page->breakdown->devices[i];
		const struct hwy_measures *measures = &part->measures;
		fprintf(page->out, "  %-6s ", device_label(page, part->device, label));
		print_bar(page, measures);
		fprintf(page->out, hwy_tr("  busy %s\n"),
			hwy_say_part_1decimal(measures->busy, measures->to - measures->from).text);
		if (!part->cells)
			continue;
		fprintf(page->out, "         ");
		print_over_time(page, part);
		fputs(hwy_tr("  over time\n"), page->out);
	}
	print_legend(page);
}

/* ---- devices --------------------------------------------------------------------------------- */

static void add_times(struct table *table, const struct hwy_measures *const *columns, uint32_t n,
		      const char *name, int64_t (*time)(const struct hwy_measures *))
{
	table_cell(table, "%s", hwy_tr_word(name));
	for (uint32_t i = 0; i < n; i++) {
		table_time(table, time(columns[i]));
		table_percent(table, time(columns[i]), columns[i]->to - columns[i]->from);
	}
}

#define TIME(name, expression)                                                                     \
	static int64_t name(const struct hwy_measures *m)                                          \
	{                                                                                          \
		return expression;                                                                 \
	}
TIME(span_of, m->to - m->from)
TIME(busy_of, m->busy)
TIME(idle_of, m->to - m->from - m->busy)
TIME(compute_of, m->compute)
TIME(comm_of, m->comm)
TIME(hidden_of, m->comm - m->exposed_comm)
TIME(copy_of, m->copy)
TIME(fill_of, m->fill)

static void print_columns(const struct page *page, const struct hwy_measures *const *columns,
			  const char (*names)[LABEL_BYTES], uint32_t n)
{
	struct table table = {
		.columns = 1 + 2 * n, .heads = 1, .colour = page->colour, .indent = "  "};
	table_cell(&table, "%s", "");
	for (uint32_t i = 0; i < n; i++) {
		table_cell(&table, "%s", names[i]);
		table_cell(&table, "%s", hwy_tr("of span"));
	}
	add_times(&table, columns, n, HWY_KEY("measure|span"), span_of);
	add_times(&table, columns, n, HWY_KEY("measure|busy"), busy_of);
	add_times(&table, columns, n, HWY_KEY("measure|  compute"), compute_of);
	if (page->breakdown->total.n_comm) {
		add_times(&table, columns, n, HWY_KEY("measure|  comm"), comm_of);
		add_times(&table, columns, n, HWY_KEY("measure|    hidden under compute"),
			  hidden_of);
	}
	add_times(&table, columns, n, HWY_KEY("measure|  copies"), copy_of);
	add_times(&table, columns, n, HWY_KEY("measure|  fills"), fill_of);
	add_times(&table, columns, n, HWY_KEY("measure|idle"), idle_of);
	table_cell(&table, "%s", hwy_tr_word(HWY_KEY("measure|ops")));
	for (uint32_t i = 0; i < n; i++) {
		table_count(&table, ops_of(columns[i]));
		table_cell(&table, "%s", "");
	}
	fputc('\n', page->out);
	table_print(&table, page->out);
}

/* Prints as many devices side by side as the width has room for; the column of all devices is
 * last. */
static void breakdown_text_print_devices(const struct page *page, uint32_t width)
{
	enum { MOST = 8, LABEL = 26, COLUMN = 20 };
	const struct hwy_breakdown *breakdown = page->breakdown;
	uint32_t n = breakdown->n_devices + (breakdown->n_devices > 1);
	uint32_t at_once = width > LABEL + COLUMN ? (width - LABEL) / COLUMN : 1;
	at_once = at_once > MOST ? MOST : at_once;
	for (uint32_t i = 0; i < n; i += at_once) {
		const struct hwy_measures *columns[MOST];
		char names[MOST][LABEL_BYTES];
		uint32_t k = 0;
		for (; k < at_once && i + k < n; k++) {
			bool is_total = i + k == breakdown->n_devices;
			columns[k] =
				is_total ? &breakdown->total : &breakdown->devices[i + k].measures;
			if (is_total)
				snprintf(names[k], LABEL_BYTES, "%s",
					 hwy_tr_word(HWY_KEY("devices|all")));
			else
				device_label(page, breakdown->devices[i + k].device, names[k]);
		}
		print_columns(page, columns, names, k);
	}
	if (breakdown->n_devices > 1)
		fprintf(page->out, "%s",
			hwy_tr("\n  all: the union over the devices; a moment counts as busy when any of "
			       "them works.\n"));
}

/* " rank 3" of a job, else " pid 1234". */
static void process_label(const struct page *page, int64_t process, char *text)
{
	const struct hwy_process *about = &page->trace->processes[process];
	if (about->rank != HWY_NONE && hwy_has_ranks(page->trace))
		snprintf(text, LABEL_BYTES, " rank %" PRId64, about->rank);
	else
		snprintf(text, LABEL_BYTES, " pid %" PRId64, about->pid);
}

/* ---- streams --------------------------------------------------------------------------------- */

static void add_stream_label(const struct page *page, struct table *table,
			     const struct hwy_stream_part *part)
{
	const struct hwy_trace *trace = page->trace;
	const struct hwy_lane *lane = &trace->lanes[part->lane];
	bool has_stream = lane->stream >= 0 && lane->stream < trace->n_streams;
	char device[LABEL_BYTES], process[LABEL_BYTES] = "";
	device_label(page, lane->device, device);
	if (trace->n_processes > 1 && lane->process >= 0 && lane->process < trace->n_processes)
		process_label(page, lane->process, process);
	if (has_stream && trace->streams[lane->stream].number != HWY_NONE)
		table_cell(table, hwy_tr("%s%s stream %" PRId64), device, process,
			   trace->streams[lane->stream].number);
	else
		table_cell(table, hwy_tr("%s%s, no stream"), device, process);
}

static void print_stream_times(const struct page *page, uint32_t shown)
{
	struct table table = {.columns = 7, .heads = 1, .colour = page->colour, .indent = "  "};
	table_row(&table,
		  (const char *[]){hwy_tr_word(HWY_KEY("head|stream")),
				   hwy_tr_word(HWY_KEY("measure|ops")),
				   hwy_tr_word(HWY_KEY("measure|busy")),
				   hwy_tr_word(HWY_KEY("measure|idle")), hwy_tr("host wait"),
				   hwy_tr("kernel wait"), hwy_tr_word(HWY_KEY("head|other"))});
	for (uint32_t i = 0; i < shown; i++) {
		const struct hwy_stream_part *part = &page->breakdown->streams[i];
		add_stream_label(page, &table, part);
		table_count(&table, part->n_ops);
		table_time(&table, part->busy);
		table_time(&table, part->to - part->from - part->busy);
		table_time(&table, part->host_wait);
		table_time(&table, part->kernel_wait);
		table_time(&table, part->other);
	}
	fputc('\n', page->out);
	table_print(&table, page->out);
}

/* Adds a cell with a delay, which may be 0; a dash where no launch of the stream was recorded. */
static void add_delay(struct table *table, const struct queue_delays *delays, int64_t delay)
{
	table_cell(table, "%s", delays->n ? hwy_say_time4(delay).text : "–");
}

static void print_stream_launches(const struct page *page, uint32_t shown)
{
	struct table table = {.columns = 8, .heads = 1, .colour = page->colour, .indent = "  "};
	char late[80];
	snprintf(late, sizeof late, "> %s", hwy_say_time_whole(page->view->options->late).text);
	table_row(&table, (const char *[]){hwy_tr_word(HWY_KEY("head|stream")),
					   hwy_tr_word(HWY_KEY("head|queue")),
					   hwy_tr_word(HWY_KEY("head|max")),
					   hwy_tr_word(HWY_KEY("head|delay")), "p95",
					   hwy_tr_word(HWY_KEY("head|max")), late,
					   hwy_tr_word(HWY_KEY("head|short"))});
	for (uint32_t i = 0; i < shown; i++) {
		const struct hwy_stream_part *part = &page->breakdown->streams[i];
		add_stream_label(page, &table, part);
		table_cell(&table, "%.*f", part->queue.time_mean < 10 ? 2 : 1,
			   part->queue.time_mean);
		table_count(&table, (uint64_t)part->queue.max);
		add_delay(&table, &part->delays, part->delays.median);
		add_delay(&table, &part->delays, part->delays.p95);
		add_delay(&table, &part->delays, part->delays.max);
		table_count(&table, part->delays.late);
		table_count(&table, part->delays.short_kernels);
	}
	fputc('\n', page->out);
	table_print(&table, page->out);
}

static void print_streams(const struct page *page)
{
	uint32_t n = page->breakdown->n_streams, shown = n;
	if (shown > FEW_STREAMS && !page->view->all_streams)
		shown = FEW_STREAMS;
	print_stream_times(page, shown);
	print_stream_launches(page, shown);
	if (shown < n)
		fprintf(page->out,
			hwy_tr("  … and %" PRIu32 " streams more; --streams lists all\n"),
			n - shown);
	fprintf(page->out,
		hwy_tr("\n  host wait: launched after the stream ran dry; kernel wait: launched in time,\n"
		       "  begun within %s; other: begun later. queue: launched and not begun, mean over\n"
		       "  time. delay: from call to start, median. short: kernels shorter than their call.\n"),
		hwy_say_time_whole(page->view->options->kernel_wait).text);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static const char *const part_names[HWY_STEP_PARTS] = {
	HWY_KEY("part of a step|kernel"),  HWY_KEY("part of a step|copy"),
	HWY_KEY("part of a step|fill"),    HWY_KEY("part of a step|comm"),
	HWY_KEY("part of a step|runtime"), HWY_KEY("part of a step|loader"),
	HWY_KEY("part of a step|cpu op"),  HWY_KEY("part of a step|other"),
};

/* Finds the parts that at least one step has: each gets a column. Yields the number of these
 * parts. */
static uint32_t parts_shown(const struct page *page, bool *shown)
{
	uint32_t n = 0;
	for (unsigned p = 0; p < HWY_STEP_PARTS; p++) {
		shown[p] = p == HWY_STEP_KERNEL || p == HWY_STEP_OTHER;
		for (uint32_t i = 0; i < page->breakdown->n_steps; i++)
			shown[p] |= page->breakdown->steps[i].parts[p] != 0;
		n += shown[p];
	}
	return n;
}

static void add_step(const struct page *page, struct table *table, const bool *shown,
		     const struct hwy_step *step)
{
	const char *name = hwy_str(page->trace, step->name), *number = strchr(name, '#');
	char rank[LABEL_BYTES] = "";
	if (step->process >= 0 && step->process < page->trace->n_processes &&
	    hwy_has_ranks(page->trace) && page->trace->processes[step->process].rank != HWY_NONE)
		snprintf(rank, sizeof rank, "rank %" PRId64 ": ",
			 page->trace->processes[step->process].rank);
	table_cell(table, "%s%s%s", rank, number ? number + 1 : name,
		   hwy_tr(step->whole ? "" : " (cut off)"));
	table_time(table, step->at.to - step->at.from);
	for (unsigned p = 0; p < HWY_STEP_PARTS; p++)
		if (shown[p])
			table_time(table, step->parts[p]);
}

static void add_mean(const struct page *page, struct table *table, const bool *shown)
{
	/* Steps of several processes overlap: their sum may not fit 64 bits. */
	__int128 parts[HWY_STEP_PARTS] = {0}, span = 0;
	int64_t n = 0;
	for (uint32_t i = 0; i < page->breakdown->n_steps; i++) {
		const struct hwy_step *step = &page->breakdown->steps[i];
		if (!step->whole)
			continue;
		n++;
		span += step->at.to - step->at.from;
		for (unsigned p = 0; p < HWY_STEP_PARTS; p++)
			parts[p] += step->parts[p];
	}
	if (n == 0)
		return;
	table_cell(table, "%s", hwy_tr_word(HWY_KEY("row|mean")));
	table_time(table, (int64_t)(span / n));
	for (unsigned p = 0; p < HWY_STEP_PARTS; p++)
		if (shown[p])
			table_time(table, (int64_t)(parts[p] / n));
	table_cell(table, "%s", "");
	table_cell(table, "%s", "");
	for (unsigned p = 0; p < HWY_STEP_PARTS; p++)
		if (shown[p])
			table_percent(table, (int64_t)(parts[p] / n), (int64_t)(span / n));
}

static void print_steps(const struct page *page)
{
	const struct hwy_breakdown *breakdown = page->breakdown;
	uint32_t n = breakdown->n_steps, listed = n;
	if (n == 0)
		return;
	if (n > FEW_STEPS && !page->view->all_steps)
		listed = FEW_STEPS;
	bool shown[HWY_STEP_PARTS];
	struct table table = {.heads = 1, .colour = page->colour, .indent = "  "};
	table.columns = 2 + parts_shown(page, shown);
	table_cell(&table, "%s", hwy_tr("step"));
	table_cell(&table, "%s", hwy_tr_word(HWY_KEY("head|total")));
	for (unsigned p = 0; p < HWY_STEP_PARTS; p++)
		if (shown[p])
			table_cell(&table, "%s", hwy_tr_word(part_names[p]));
	for (uint32_t i = 0; i < listed; i++)
		add_step(page, &table, shown, &breakdown->steps[i]);
	if (listed < n) {
		table_cell(&table, hwy_tr("… %" PRIu32 " more"), n - listed);
		for (unsigned c = 1; c < table.columns; c++)
			table_cell(&table, "%s", "");
	}
	add_mean(page, &table, shown);
	fputc('\n', page->out);
	table_print(&table, page->out);
	fprintf(page->out,
		hwy_tr("\n  ProfilerStep marks with the device work they launched; every moment counts\n"
		       "  for the leftmost column that applies.%s\n"),
		hwy_tr(listed < n ? " --steps lists all." : ""));
}

/* ---- what to be careful with ----------------------------------------------------------------- */

static void print_cautions(const struct page *page)
{
	const struct hwy_measures *total = &page->breakdown->total;
	uint64_t ops = ops_of(total);
	if (total->n_comm_in_compute)
		fprintf(page->out,
			hwy_tr("\n  comm is what HTA counts: kernels of NCCL, RCCL and NVSHMEM. Other kernels that\n"
			       "  communicate by their names (%s, %s) are compute here, and comm in\n"
			       "  'headway analyze'.\n"),
			hwy_say_count_grouped(total->n_comm_in_compute).text,
			hwy_say_time4(total->comm_in_compute).text);
	if (total->n_graph)
		fprintf(page->out,
			hwy_tr("\n  %s graph launches count as compute: their nodes are not recorded, so\n"
			       "  pauses inside them look busy.\n"),
			hwy_say_count_grouped(total->n_graph).text);
	if (total->n_linked < ops)
		fprintf(page->out,
			hwy_tr("\n  %s of %s ops have no recorded launch: they have no delay, are in no\n"
			       "  queue, and the gaps they end are never host wait.\n"),
			hwy_say_count_grouped(ops - total->n_linked).text,
			hwy_say_count_grouped(ops).text);
}

static void print_nothing(const struct page *page)
{
	const struct hwy_scope *scope = &page->view->options->scope;
	bool limited =
		scope->from != HWY_NONE || scope->to != HWY_NONE || scope->device != HWY_NONE;
	fprintf(page->out, "  %s\n",
		hwy_tr(limited ? "No device work inside the given limits: everything is 0."
			       : "No device work in this recording (no kernel, copy, fill or graph): everything is 0."));
}

void breakdown_print_text(FILE *out, const struct breakdown_view *view)
{
	struct page page = {
		.out = out,
		.view = view,
		.trace = view->trace,
		.breakdown = view->breakdown,
		.colour = cli_colour(out),
		.bar = view->options->cells,
	};
	int width = cli_width(out);
	fputs(breakdown_text_paint(&page, PAINT_BOLD), out);
	const char *name = hwy_basename(view->path);
	cli_put(page.out, name, strlen(name));
	fprintf(out, "%s\n", breakdown_text_paint(&page, PAINT_PLAIN));
	if (ops_of(&view->breakdown->total) == 0) {
		print_nothing(&page);
	} else {
		print_devices_line(&page);
		print_window(&page);
		if (view->breakdown->total.to > view->breakdown->total.from)
			print_bars(&page);
		breakdown_text_print_devices(&page, width ? (uint32_t)width : 100);
		if (view->breakdown->n_streams)
			print_streams(&page);
	}
	print_steps(&page);
	if (view->breakdown->n_devices)
		print_cautions(&page);
}
