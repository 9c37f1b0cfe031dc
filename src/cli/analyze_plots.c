/* analyze_plots.c - see analyze_plots.h.
 *
 * Coordinates are those of a viewBox WIDE units wide, which the browser scales. Sizes of the page do not grow
 * with the recording: cells, points and bars are limited, steps are put together where there are many.
 */
#include "cli/analyze_plots.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyze/picture.h"
#include "base/mem.h"
#include "cli/html.h"

enum { WIDE = 1000, LABEL = 76, CELLS = 462, BARS = 231, DEVICES = 8 };

/* A state's class in the style, and its name for people. */
struct look {
	const char *css, *name;
};

static void put_swatch(FILE *out, const struct look *look)
{
	fprintf(out,
		"<span><svg viewBox=\"0 0 14 14\" aria-hidden=\"true\"><rect width=\"14\" height=\"14\" "
		"class=\"%s\"/></svg>%s</span>",
		look->css, look->name);
}

static void begin_figure(FILE *out, const char *title, const char *more)
{
	fprintf(out, "<figure><figcaption>%s <span>%s</span></figcaption>\n", title, more);
}

static void begin_svg(FILE *out, int height, const char *title)
{
	fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n", WIDE, height,
		title);
}

/* ---- a typical step ------------------------------------------------------------------------------ */

enum { ROW = 34, NAMES = 19 };

static const struct look looks[PICTURE_STATES] = {
	[PICTURE_WAIT] = {"wait", "the CPU waits for the GPU"},
	[PICTURE_CALL] = {"call", "CPU calls"},
	[PICTURE_OS] = {"os", "in the OS"},
	[PICTURE_COMPUTE] = {"compute", "kernels"},
	[PICTURE_COMM] = {"comm", "communication"},
	[PICTURE_COPY] = {"copy", "copies"},
	[PICTURE_FILL] = {"fill", "fills"},
};

static double x_of(const struct hwy_picture *picture, int64_t time)
{
	double part = (double)(time - picture->from) / (double)(picture->to - picture->from);
	return LABEL + part * (WIDE - LABEL);
}

/* One path a state: a cell's height is the part of it that the state takes. */
static void put_cells(FILE *out, const struct hwy_picture *picture, const struct picture_row *row,
		      int top, uint32_t *seen)
{
	const double wide = (double)(WIDE - LABEL) / picture->cells;
	fprintf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" class=\"rail\"/>\n", LABEL,
		top, WIDE - LABEL, ROW - 6);
	for (unsigned state = PICTURE_NOTHING + 1; state < PICTURE_STATES; state++) {
		bool any = false;
		for (uint32_t c = 0; c < picture->cells;) {
			uint32_t first = c;
			int tall = 3 + row->cells[c].part * (ROW - 9) / 255;
			while (c < picture->cells && row->cells[c].state == state &&
			       3 + row->cells[c].part * (ROW - 9) / 255 == tall)
				c++;
			if (c == first) {
				c++;
				continue;
			}
			if (!any)
				fprintf(out, "<path class=\"%s\" d=\"", looks[state].css);
			any = true;
			double run = (c - first) * wide;
			fprintf(out, "M%.1f %dh%.2fv%dh%.2fz", LABEL + first * wide, top + ROW - 6,
				run, -tall, -run);
		}
		if (any) {
			fputs("\"/>\n", out);
			*seen |= 1u << state;
		}
	}
}

static void put_names(FILE *out, const struct analyze_run *run, const struct hwy_picture *picture,
		      const struct picture_row *row, int top)
{
	double end = 0;
	for (uint32_t i = 0; i < row->n_labels; i++) {
		double from = x_of(picture, row->labels[i].at.from);
		double room = x_of(picture, row->labels[i].at.to) - from;
		if (from + 1 < end)
			continue;
		fprintf(out, "<path class=\"axis\" d=\"M%.1f %dv%d\"/>", from, top + 2, NAMES - 4);
		if (room < 24)
			continue;
		fprintf(out, "<text x=\"%.1f\" y=\"%d\">", from + 4, top + 14);
		html_text(out, hwy_str(run->trace, row->labels[i].name), (uint32_t)(room / 8));
		fputs("</text>\n", out);
		end = from + room;
	}
}

static void put_row_label(FILE *out, const struct analyze_run *run, const struct picture_row *row,
			  int top)
{
	const struct hwy_trace *trace = run->trace;
	bool thread = row->type == PICTURE_THREAD;
	fprintf(out, "<text class=\"strong\" x=\"0\" y=\"%d\">%s", top + 19,
		thread ? "CPU" : "GPU");
	int64_t number = HWY_NONE;
	if (row->index >= 0 && thread && row->index < trace->n_threads)
		number = trace->threads[row->index].tid;
	else if (row->index >= 0 && !thread && row->index < trace->n_devices)
		number = trace->devices[row->index].ordinal;
	if (number != HWY_NONE)
		fprintf(out, " %" PRId64, number);
	fputs("</text>\n", out);
}

static bool is_drawn(const struct picture_row *row)
{
	return row->type != PICTURE_STREAM && (row->cells || row->n_labels);
}

void plot_typical(FILE *out, const struct analyze_run *run, uint32_t phase)
{
	struct hwy_interval at = analyze_typical(&run->analysis.phases.phases[phase]);
	struct hwy_picture picture;
	struct hwy_err err;
	struct picture_options wanted = {
		.from = at.from, .to = at.to, .cells = CELLS, .threads = 3, .streams = 1};
	int tall = 0, top = 0;
	uint32_t seen = 0;
	if (at.from >= at.to || !picture_make(run->trace, &wanted, &picture, &err))
		return;
	for (uint32_t i = 0; i < picture.n; i++)
		if (is_drawn(&picture.rows[i]))
			tall += picture.rows[i].cells ? ROW : NAMES;
	char more[128];
	snprintf(more, sizeof more, "%s of the recording; a bar's height is the part of the time",
		 analyze_time(at.to - at.from).at);
	begin_figure(out, "A typical step, and the next", more);
	begin_svg(out, tall, "what the CPU and the GPU did at the same time");
	for (uint32_t i = 0; i < picture.n; i++) {
		const struct picture_row *row = &picture.rows[i];
		if (!is_drawn(row))
			continue;
		if (row->cells) {
			put_row_label(out, run, row, top);
			put_cells(out, &picture, row, top, &seen);
		} else {
			put_names(out, run, &picture, row, top);
		}
		top += row->cells ? ROW : NAMES;
	}
	fputs("</svg>\n<div class=\"legend\">", out);
	for (unsigned state = 0; state < PICTURE_STATES; state++)
		if (seen & 1u << state)
			put_swatch(out, &looks[state]);
	fputs("</div></figure>\n", out);
	picture_free(&picture);
}

/* ---- states and causes --------------------------------------------------------------------------- */

/* A share as a bar of a table's cell. */
static void put_bar(FILE *out, const char *css, double share)
{
	fprintf(out,
		"<td class=\"bar\"><svg viewBox=\"0 0 300 12\" preserveAspectRatio=\"none\" "
		"style=\"height:12px\" aria-hidden=\"true\"><rect width=\"300\" height=\"12\" "
		"class=\"rail\"/><rect width=\"%.1f\" height=\"12\" class=\"%s\"/></svg></td>",
		share * 300, css);
}

static void put_share_row(FILE *out, const struct look *look, int64_t each, double share)
{
	fprintf(out, "<tr><td>%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td>", look->name,
		analyze_time(each).at, analyze_percent(share).at);
	put_bar(out, look->css, share);
	fputs("</tr>\n", out);
}

void plot_states(FILE *out, const struct analyze_run *run, uint32_t phase)
{
	uint32_t devices;
	struct gap_states states = analyze_states(run, phase, &devices);
	int64_t times = (int64_t)run->analysis.phases.phases[phase].n_steady * devices;
	const struct {
		struct look look;
		int64_t ns;
	} parts[] = {
		{{"compute", "compute"}, states.compute},
		{{"comm", "communication, exposed"}, states.exposed_comm},
		{{"copy", "copies, exposed"}, states.exposed_copy},
		{{"fill", "fills"}, states.fill},
		{{"idle", "idle"}, states.idle},
	};
	const size_t n = sizeof parts / sizeof *parts;
	if (states.window <= 0 || times <= 0)
		return;
	begin_figure(out, "What the GPU did with its time", "a step");
	fprintf(out,
		"<svg viewBox=\"0 0 %d 40\" preserveAspectRatio=\"none\" style=\"height:26px;"
		"margin-bottom:10px\" role=\"img\" aria-label=\"the table below as a bar\">",
		WIDE);
	double x = 0;
	for (size_t i = 0; i < n; i++) {
		double wide = (double)parts[i].ns / (double)states.window * WIDE;
		if (parts[i].ns > 0)
			fprintf(out, "<rect x=\"%.1f\" width=\"%.1f\" height=\"40\" class=\"%s\"/>",
				x, wide, parts[i].look.css);
		x += wide;
	}
	fputs("</svg>\n<table>", out);
	for (size_t i = 0; i < n; i++)
		if (parts[i].ns > 0)
			put_share_row(out, &parts[i].look, parts[i].ns / times,
				      (double)parts[i].ns / (double)states.window);
	fputs("</table></figure>\n", out);
}

static const char *const cause_words[GAP_CAUSES] = {
	[GAP_BLOCKED] = "blocked: a wait had emptied the queue",
	[GAP_LAUNCH] = "launch: the CPU launches too slowly",
	[GAP_INPUT] = "input: the next batch was not there",
	[GAP_OS] = "os: the CPU was in the operating system",
	[GAP_CPU] = "cpu: the CPU ran other code",
	[GAP_DEPENDENCY] = "dependency: between launched pieces of work",
	[GAP_ALLOC] = "alloc: memory was allocated or freed",
	[GAP_MODULE] = "module: kernels were loaded",
	[GAP_DRAIN] = "drain: outside any step",
	[GAP_UNKNOWN] = "unknown: the launch was not recorded",
};

void plot_causes(FILE *out, const struct analyze_run *run, uint32_t phase)
{
	uint32_t devices;
	struct gap_states states = analyze_states(run, phase, &devices);
	int64_t times = (int64_t)run->analysis.phases.phases[phase].n_steady * devices;
	if (states.idle <= 0 || times <= 0)
		return;
	char more[64];
	snprintf(more, sizeof more, "%s a step", analyze_time(states.idle / times).at);
	begin_figure(out, "Why it was idle", more);
	fputs("<table>", out);
	bool done[GAP_CAUSES] = {false};
	for (;;) {
		unsigned top = GAP_CAUSES;
		for (unsigned cause = 0; cause < GAP_CAUSES; cause++)
			if (!done[cause] && states.causes[cause] > 0 &&
			    (top == GAP_CAUSES || states.causes[cause] > states.causes[top]))
				top = cause;
		if (top == GAP_CAUSES)
			break;
		done[top] = true;
		put_share_row(out, &(struct look){"wait", cause_words[top]},
			      states.causes[top] / times,
			      (double)states.causes[top] / (double)states.idle);
	}
	fputs("</table></figure>\n", out);
}

/* ---- headway ------------------------------------------------------------------------------------- */

enum { TALL = 120, AXIS = 18 };

static void put_y_axis(FILE *out, int64_t most)
{
	fprintf(out,
		"<text class=\"strong\" x=\"0\" y=\"12\">%s</text><text x=\"0\" y=\"%d\">0</text>"
		"<path class=\"axis\" d=\"M%d 6H%dM%d %dH%d\"/>\n",
		analyze_time(most).at, TALL, LABEL, WIDE, LABEL, TALL, WIDE);
}

static void put_lead(FILE *out, const struct hwy_lead *lead, struct hwy_interval window)
{
	double span = (double)(window.to - window.from);
	begin_svg(out, TALL + AXIS, "headway over time");
	put_y_axis(out, lead->max_work);
	fprintf(out, "<path class=\"lead\" d=\"M%d %d", LABEL, TALL);
	for (uint32_t i = 0; i < lead->n_series; i++) {
		const struct lead_point *point = &lead->series[i];
		double x = LABEL + (double)(point->time - window.from) / span * (WIDE - LABEL);
		double y = TALL - (double)point->work / (double)lead->max_work * (TALL - 6);
		fprintf(out, "H%.1fV%.1f", x, y);
	}
	fprintf(out, "H%dV%d\"/>\n", WIDE, TALL);
	fprintf(out,
		"<text x=\"%d\" y=\"%d\">0</text><text x=\"%d\" y=\"%d\" "
		"text-anchor=\"end\">%s</text></svg>\n",
		LABEL, TALL + 15, WIDE, TALL + 15, analyze_time(window.to - window.from).at);
}

void plot_headway(FILE *out, const struct analyze_run *run, uint32_t phase)
{
	const struct hwy_lead *leads = run->analysis.of[phase].leads;
	const struct hwy_phase *one = &run->analysis.phases.phases[phase];
	uint32_t n = leads ? run->analysis.flow.n_devices : 0, shown = 0;
	for (uint32_t d = 0; d < n && shown < DEVICES; d++) {
		if (leads[d].n_series == 0 || leads[d].max_work <= 0 ||
		    one->window.to <= one->window.from)
			continue;
		int64_t device = run->analysis.flow.devices[d].device;
		char title[64] = "Headway over time";
		if (n > 1 && device != HWY_NONE)
			snprintf(title, sizeof title, "Headway over time, GPU %" PRId64,
				 run->trace->devices[device].ordinal);
		shown++;
		begin_figure(out, title,
			     "work launched and not yet done: at 0 the GPU has nothing to do");
		put_lead(out, &leads[d], one->window);
		fprintf(out,
			"<p class=\"soft\">On average %s of work and %.1f launched operations ahead; "
			"nothing enqueued for %s of the window; it fell to zero %" PRIu32
			" times.</p></figure>\n",
			analyze_time(leads[d].mean_work).at, leads[d].mean_count,
			analyze_percent((double)leads[d].empty /
					(double)(one->window.to - one->window.from))
				.at,
			leads[d].n_zero);
	}
}

/* ---- steps --------------------------------------------------------------------------------------- */

struct bar { /* some steps in a row: means, and the longest */
	uint32_t first, n;
	int64_t length, busy, longest;
	bool is_steady, is_outlier;
};

static struct bar bar_of(const struct hwy_phase *phase, uint32_t first, uint32_t n)
{
	struct bar bar = {.first = first, .n = n};
	for (uint32_t i = first; i < first + n; i++) {
		const struct phase_step *step = &phase->steps[i];
		int64_t length = step->device.to - step->device.from;
		bar.length += length;
		bar.busy += step->busy < length ? step->busy : length;
		bar.longest = length > bar.longest ? length : bar.longest;
		bar.is_steady |= !step->is_warm_up && !step->is_cut;
		bar.is_outlier |= step->is_outlier;
	}
	bar.length /= n;
	bar.busy /= n;
	return bar;
}

static void put_step(FILE *out, const struct analyze_run *run, const struct hwy_phase *phase,
		     const struct bar *bar, double x, double wide, int64_t most)
{
	int64_t shown = bar->length < most ? bar->length : most;
	double scale = (TALL - 6) / (double)most;
	double tall = (double)shown * scale;
	double busy = bar->length ? tall * (double)bar->busy / (double)bar->length : 0;
	fprintf(out, "<g%s><title>", bar->is_steady ? "" : " class=\"before\"");
	if (bar->n == 1 && phase->steps[bar->first].name != HWY_NONE)
		html_text(out, hwy_str(run->trace, phase->steps[bar->first].name), 80);
	else if (bar->n == 1)
		fprintf(out, "step %" PRIu32, bar->first);
	else
		fprintf(out, "steps %" PRIu32 " to %" PRIu32 ", mean", bar->first,
			bar->first + bar->n - 1);
	fprintf(out, ": %s, busy %s%s</title>", analyze_time(bar->length).at,
		analyze_time(bar->busy).at, bar->is_steady ? "" : "; not counted");
	fprintf(out,
		"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" class=\"compute\"/>"
		"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" class=\"idle\"/>",
		x, TALL - busy, wide, busy, x, TALL - tall, wide, tall - busy);
	if (bar->longest > most || bar->is_outlier)
		fprintf(out, "<path class=\"mark\" d=\"M%.1f 0l4 6h-8z\"/>", x + wide / 2);
	fputs("</g>\n", out);
}

/* The highest bar that is drawn to scale: start-up may take a hundred times as long as a step. */
static int64_t scale_of(const struct hwy_phase *phase)
{
	int64_t most = 0, longest = 0;
	for (uint32_t i = 0; i < phase->n_steps; i++) {
		const struct phase_step *step = &phase->steps[i];
		int64_t length = step->device.to - step->device.from;
		longest = length > longest ? length : longest;
		if (!step->is_warm_up && !step->is_cut && length > most)
			most = length;
	}
	if (most > 4 * phase->p90)
		most = 4 * phase->p90;
	return most > 0 ? most : longest;
}

void plot_steps(FILE *out, const struct analyze_run *run, uint32_t phase)
{
	const struct hwy_phase *one = &run->analysis.phases.phases[phase];
	uint32_t group = (one->n_steps + BARS - 1) / BARS;
	int64_t most = scale_of(one);
	if (one->n_steps < 2 || most <= 0)
		return;
	uint32_t bars = (one->n_steps + group - 1) / group;
	bool pale = one->n_steady < one->n_steps, red = false;
	for (uint32_t i = 0; i < one->n_steps; i++)
		red |= one->steps[i].is_outlier ||
		       one->steps[i].device.to - one->steps[i].device.from > most;
	char more[160];
	snprintf(more, sizeof more, "%" PRIu32 " of them%s%s%s", one->n_steps,
		 group > 1 ? ", several to a bar" : "", pale ? "; pale: not counted" : "",
		 red ? "; red: far from the rest" : "");
	begin_figure(out, "Steps one by one", more);
	begin_svg(out, TALL + 4, "the length of every step, busy and idle");
	put_y_axis(out, most);
	double each = (double)(WIDE - LABEL) / bars, wide = each > 4 ? each * 0.8 : each;
	if (wide > 44)
		wide = 44;
	for (uint32_t b = 0; b < bars; b++) {
		uint32_t first = b * group;
		uint32_t n = one->n_steps - first < group ? one->n_steps - first : group;
		struct bar bar = bar_of(one, first, n);
		put_step(out, run, one, &bar, LABEL + b * each + (each - wide) / 2, wide, most);
	}
	fputs("</svg>\n<div class=\"legend\">", out);
	put_swatch(out, &(struct look){"compute", "the GPU is busy"});
	put_swatch(out, &(struct look){"idle", "it is idle"});
	fputs("</div></figure>\n", out);
}
