/* breakdown_text.c - the breakdown for people: what the window is, a bar for each device, the
 * numbers, then the streams and the steps. */
#include "cli/breakdown_print.h"

#include <inttypes.h>
#include <string.h>

#include "cli/kit/cli.h"
#include "cli/kit/grid.h"
#include "cli/kit/units.h"

enum { FEW_STREAMS = 12, FEW_STEPS = 10 };

struct page {
	FILE *out;
	const struct breakdown_view *view;
	const struct hwy_trace *trace;
	const struct hwy_breakdown *breakdown;
	int colour;
	uint32_t bar; /* cells of a bar */
};

/* What a device can be seen doing, in the order of a bar. */
enum { COMPUTE, COMM, COPY, FILL, IDLE, LOOKS };
static const struct {
	const char *block, *name, *colour;
} looks[LOOKS] = {
	[COMPUTE] = {"█", "compute", "\033[32m"}, [COMM] = {"▓", "comm", "\033[35m"},
	[COPY] = {"▒", "copy", "\033[33m"},       [FILL] = {"▚", "fill", "\033[36m"},
	[IDLE] = {"░", "idle", "\033[2m"},
};

static const char *breakdown_text_paint(const struct page *page, const char *colour)
{
	return page->colour ? colour : "";
}

static const char *device_label(const struct page *page, int64_t device, char *text)
{
	const struct hwy_trace *trace = page->trace;
	bool known = device >= 0 && device < trace->n_devices &&
		     trace->devices[device].ordinal != HWY_NONE;
	if (known)
		snprintf(text, GRID_TEXT, "GPU %" PRId64, trace->devices[device].ordinal);
	else
		snprintf(text, GRID_TEXT, "GPU ?");
	return text;
}

/* A threshold as one would say it: "30 µs". */
static const char *limit_text(char *text, int64_t ns)
{
	static const struct {
		int64_t ns;
		const char *name;
	} units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "µs"}};
	for (size_t u = 0; u < 3; u++)
		if (ns && ns % units[u].ns == 0) {
			snprintf(text, GRID_TEXT, "%" PRId64 " %s", ns / units[u].ns,
				 units[u].name);
			return text;
		}
	return grid_time_text(text, ns);
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
	fprintf(page->out, "  %" PRIu32 " GPU%s", breakdown->n_devices,
		breakdown->n_devices == 1 ? "" : "s");
	const char *before = "";
	for (uint32_t i = 0; i < breakdown->n_devices; i++) {
		int64_t device = breakdown->devices[i].device;
		const char *name = device == HWY_NONE ? ""
						      : hwy_str(page->trace,
								page->trace->devices[device].name);
		if (*name && strcmp(name, before) != 0) {
			fputs(*before ? ", " : ": ", page->out);
			cli_put(page->out, name, strlen(name));
		}
		before = *name ? name : before;
	}
	uint64_t streams = breakdown->total.n_streams, ops = ops_of(&breakdown->total);
	fprintf(page->out, " · %s op%s on %s stream%s\n", units_count(ops).at, ops == 1 ? "" : "s",
		units_count(streams).at, streams == 1 ? "" : "s");
}

static void print_window(const struct page *page)
{
	const struct hwy_measures *total = &page->breakdown->total;
	const struct hwy_scope *scope = &page->view->options->scope;
	char span[GRID_TEXT], from[GRID_TEXT], to[GRID_TEXT];
	bool cut = scope->from != HWY_NONE || scope->to != HWY_NONE;
	fprintf(page->out, "  window %s: first to last device op%s, %s to %s of the recording\n",
		grid_time_text(span, total->to - total->from), cut ? " within --from and --to" : "",
		grid_time_text(from, total->from), grid_time_text(to, total->to));
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
		/* Each boundary is rounded by itself, so that the bar is as long as it should be.
		 */
		sum += times[i];
		uint32_t until =
			span ? (uint32_t)((double)sum / (double)span * page->bar + 0.5) : 0;
		if (until == drawn)
			continue;
		fputs(breakdown_text_paint(page, looks[i].colour), page->out);
		for (; drawn < until; drawn++)
			fputs(looks[i].block, page->out);
		fputs(breakdown_text_paint(page, "\033[0m"), page->out);
	}
}

/* Busy time over the window, an eighth of a block for each eighth of a cell. */
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
				breakdown_text_paint(page, looks[i].colour), looks[i].block,
				breakdown_text_paint(page, "\033[0m"), looks[i].name);
	fputs("   (each beyond those before it)\n", page->out);
}

static void print_bars(const struct page *page)
{
	char label[GRID_TEXT], share[GRID_TEXT];
	fputc('\n', page->out);
	for (uint32_t i = 0; i < page->breakdown->n_devices; i++) {
		const struct hwy_device_part *part = &page->breakdown->devices[i];
		const struct hwy_measures *measures = &part->measures;
		fprintf(page->out, "  %-6s ", device_label(page, part->device, label));
		print_bar(page, measures);
		fprintf(page->out, "  busy %s\n",
			grid_percent_text(share, measures->busy, measures->to - measures->from));
		if (!part->cells)
			continue;
		fprintf(page->out, "         ");
		print_over_time(page, part);
		fprintf(page->out, "  over time\n");
	}
	print_legend(page);
}

/* ---- devices --------------------------------------------------------------------------------- */

static void add_times(struct grid *grid, const struct hwy_measures *const *columns, uint32_t n,
		      const char *name, int64_t (*time)(const struct hwy_measures *))
{
	grid_cell(grid, "%s", name);
	for (uint32_t i = 0; i < n; i++) {
		grid_time(grid, time(columns[i]));
		grid_percent(grid, time(columns[i]), columns[i]->to - columns[i]->from);
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
			  const char (*names)[GRID_TEXT], uint32_t n)
{
	struct grid grid = {.columns = 1 + 2 * n, .head = 1, .colour = page->colour};
	grid_cell(&grid, "%s", "");
	for (uint32_t i = 0; i < n; i++) {
		grid_cell(&grid, "%s", names[i]);
		grid_cell(&grid, "of span");
	}
	add_times(&grid, columns, n, "span", span_of);
	add_times(&grid, columns, n, "busy", busy_of);
	add_times(&grid, columns, n, "  compute", compute_of);
	if (page->breakdown->total.n_comm) {
		add_times(&grid, columns, n, "  comm", comm_of);
		add_times(&grid, columns, n, "    hidden under compute", hidden_of);
	}
	add_times(&grid, columns, n, "  copies", copy_of);
	add_times(&grid, columns, n, "  fills", fill_of);
	add_times(&grid, columns, n, "idle", idle_of);
	grid_cell(&grid, "ops");
	for (uint32_t i = 0; i < n; i++) {
		grid_count(&grid, ops_of(columns[i]));
		grid_cell(&grid, "%s", "");
	}
	fputc('\n', page->out);
	grid_print(&grid, page->out, "  ");
}

/* As many devices side by side as the width has room for; the total comes last. */
static void breakdown_text_print_devices(const struct page *page, uint32_t width)
{
	enum { MOST = 8, LABEL = 26, COLUMN = 20 };
	const struct hwy_breakdown *breakdown = page->breakdown;
	uint32_t n = breakdown->n_devices + (breakdown->n_devices > 1);
	uint32_t at_once = width > LABEL + COLUMN ? (width - LABEL) / COLUMN : 1;
	at_once = at_once > MOST ? MOST : at_once;
	for (uint32_t i = 0; i < n; i += at_once) {
		const struct hwy_measures *columns[MOST];
		char names[MOST][GRID_TEXT];
		uint32_t k = 0;
		for (; k < at_once && i + k < n; k++) {
			bool is_total = i + k == breakdown->n_devices;
			columns[k] =
				is_total ? &breakdown->total : &breakdown->devices[i + k].measures;
			if (is_total)
				snprintf(names[k], GRID_TEXT, "all");
			else
				device_label(page, breakdown->devices[i + k].device, names[k]);
		}
		print_columns(page, columns, names, k);
	}
	if (breakdown->n_devices > 1)
		fprintf(page->out,
			"\n  all: the union over the devices; a moment counts as busy when any of "
			"them works.\n");
}

/* ---- streams --------------------------------------------------------------------------------- */

static void add_stream_label(const struct page *page, struct grid *grid,
			     const struct hwy_stream_part *part)
{
	const struct hwy_trace *trace = page->trace;
	const struct hwy_lane *lane = &trace->lanes[part->lane];
	bool known = lane->stream >= 0 && lane->stream < trace->n_streams;
	char device[GRID_TEXT], process[GRID_TEXT] = "";
	device_label(page, lane->device, device);
	if (trace->n_processes > 1 && lane->process >= 0 && lane->process < trace->n_processes)
		snprintf(process, sizeof process, " pid %" PRId64,
			 trace->processes[lane->process].pid);
	if (known && trace->streams[lane->stream].number != HWY_NONE)
		grid_cell(grid, "%s%s stream %" PRId64, device, process,
			  trace->streams[lane->stream].number);
	else
		grid_cell(grid, "%s%s, no stream", device, process);
}

static void print_stream_times(const struct page *page, uint32_t shown)
{
	struct grid grid = {.columns = 7, .head = 1, .colour = page->colour};
	static const char *const head[] = {"stream",    "ops",         "busy", "idle",
					   "host wait", "kernel wait", "other"};
	for (unsigned i = 0; i < grid.columns; i++)
		grid_cell(&grid, "%s", head[i]);
	for (uint32_t i = 0; i < shown; i++) {
		const struct hwy_stream_part *part = &page->breakdown->streams[i];
		add_stream_label(page, &grid, part);
		grid_count(&grid, part->n_ops);
		grid_time(&grid, part->busy);
		grid_time(&grid, part->to - part->from - part->busy);
		grid_time(&grid, part->host_wait);
		grid_time(&grid, part->kernel_wait);
		grid_time(&grid, part->other);
	}
	fputc('\n', page->out);
	grid_print(&grid, page->out, "  ");
}

/* A delay of 0 is a delay; no launch known is none. */
static void add_delay(struct grid *grid, const struct queue_delays *delays, int64_t delay)
{
	char text[GRID_TEXT];
	grid_cell(grid, "%s", delays->n ? grid_time_text(text, delay) : "–");
}

static void print_stream_launches(const struct page *page, uint32_t shown)
{
	struct grid grid = {.columns = 8, .head = 1, .colour = page->colour};
	char late[GRID_TEXT];
	grid_cell(&grid, "stream");
	grid_cell(&grid, "queue");
	grid_cell(&grid, "max");
	grid_cell(&grid, "delay");
	grid_cell(&grid, "p95");
	grid_cell(&grid, "max");
	grid_cell(&grid, "> %s", limit_text(late, page->view->options->late));
	grid_cell(&grid, "short");
	for (uint32_t i = 0; i < shown; i++) {
		const struct hwy_stream_part *part = &page->breakdown->streams[i];
		add_stream_label(page, &grid, part);
		grid_cell(&grid, "%.*f", part->queue.time_mean < 10 ? 2 : 1, part->queue.time_mean);
		grid_count(&grid, (uint64_t)part->queue.max);
		add_delay(&grid, &part->delays, part->delays.median);
		add_delay(&grid, &part->delays, part->delays.p95);
		add_delay(&grid, &part->delays, part->delays.max);
		grid_count(&grid, part->delays.late);
		grid_count(&grid, part->delays.short_kernels);
	}
	fputc('\n', page->out);
	grid_print(&grid, page->out, "  ");
}

static void print_streams(const struct page *page)
{
	uint32_t n = page->breakdown->n_streams, shown = n;
	if (shown > FEW_STREAMS && !page->view->all_streams)
		shown = FEW_STREAMS;
	print_stream_times(page, shown);
	print_stream_launches(page, shown);
	if (shown < n)
		fprintf(page->out, "  … and %" PRIu32 " streams more; --streams lists all\n",
			n - shown);
	char threshold[GRID_TEXT];
	fprintf(page->out,
		"\n  host wait: launched after the stream ran dry; kernel wait: launched in time,\n"
		"  begun within %s; other: begun later. queue: launched and not begun, mean over\n"
		"  time. delay: from call to start, median. short: kernels shorter than their call.\n",
		limit_text(threshold, page->view->options->kernel_wait));
}

/* ---- steps ----------------------------------------------------------------------------------- */

static const char *const part_names[HWY_STEP_PARTS] = {
	"kernel", "copy", "fill", "comm", "runtime", "loader", "cpu op", "other",
};

/* Parts that no step has get no column. */
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

static void add_step(const struct page *page, struct grid *grid, const bool *shown,
		     const struct hwy_step *step)
{
	const char *name = hwy_str(page->trace, step->name), *number = strchr(name, '#');
	grid_cell(grid, "%s%s", number ? number + 1 : name, step->whole ? "" : " (cut off)");
	grid_time(grid, step->at.to - step->at.from);
	for (unsigned p = 0; p < HWY_STEP_PARTS; p++)
		if (shown[p])
			grid_time(grid, step->parts[p]);
}

static void add_mean(const struct page *page, struct grid *grid, const bool *shown)
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
	grid_cell(grid, "mean");
	grid_time(grid, (int64_t)(span / n));
	for (unsigned p = 0; p < HWY_STEP_PARTS; p++)
		if (shown[p])
			grid_time(grid, (int64_t)(parts[p] / n));
	grid_cell(grid, "%s", "");
	grid_cell(grid, "%s", "");
	for (unsigned p = 0; p < HWY_STEP_PARTS; p++)
		if (shown[p])
			grid_percent(grid, (int64_t)(parts[p] / n), (int64_t)(span / n));
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
	struct grid grid = {.head = 1, .colour = page->colour};
	grid.columns = 2 + parts_shown(page, shown);
	grid_cell(&grid, "step");
	grid_cell(&grid, "total");
	for (unsigned p = 0; p < HWY_STEP_PARTS; p++)
		if (shown[p])
			grid_cell(&grid, "%s", part_names[p]);
	for (uint32_t i = 0; i < listed; i++)
		add_step(page, &grid, shown, &breakdown->steps[i]);
	if (listed < n) {
		grid_cell(&grid, "… %" PRIu32 " more", n - listed);
		for (unsigned c = 1; c < grid.columns; c++)
			grid_cell(&grid, "%s", "");
	}
	add_mean(page, &grid, shown);
	fputc('\n', page->out);
	grid_print(&grid, page->out, "  ");
	fprintf(page->out,
		"\n  ProfilerStep marks with the device work they launched; every moment counts\n"
		"  for the leftmost column that applies.%s\n",
		listed < n ? " --steps lists all." : "");
}

/* ---- what to be careful with ----------------------------------------------------------------- */

static void print_cautions(const struct page *page)
{
	const struct hwy_measures *total = &page->breakdown->total;
	uint64_t ops = ops_of(total);
	if (total->n_graph)
		fprintf(page->out,
			"\n  %s graph launches count as compute: their nodes are not recorded, so\n"
			"  pauses inside them look busy.\n",
			units_count(total->n_graph).at);
	if (total->n_linked < ops)
		fprintf(page->out,
			"\n  %s of %s ops have no recorded launch: they have no delay, are in no\n"
			"  queue, and the gaps they end are never host wait.\n",
			units_count(ops - total->n_linked).at, units_count(ops).at);
}

static void print_nothing(const struct page *page)
{
	const struct hwy_scope *scope = &page->view->options->scope;
	bool limited =
		scope->from != HWY_NONE || scope->to != HWY_NONE || scope->device != HWY_NONE;
	fprintf(page->out, "  %s\n",
		limited ? "No device work inside the given limits: everything is 0."
			: "No device work in this recording (no kernel, copy, fill or graph): everything is 0.");
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
	const char *slash = strrchr(view->path, '/');
	fputs(breakdown_text_paint(&page, "\033[1m"), out);
	const char *name = slash && slash[1] ? slash + 1 : view->path;
	cli_put(page.out, name, strlen(name));
	fprintf(out, "%s\n", breakdown_text_paint(&page, "\033[0m"));
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
