/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_show.c - headway show: draws a part of a recording in characters. */
#include <inttypes.h>
#include <string.h>

#include "analyze/window.h"
#include "base/lang.h"
#include "base/path.h"
#include "base/say.h"
#include "base/shell_word.h"
#include "base/utf8.h"
#include "cli/commands.h"
#include "cli/kit/drawing.h"
#include "cli/record_again.h"

/* The own time of a step is told where it is shorter than what is shown by more than one part in so
 * many. */
enum { OWN_TIME_PART = 10 };
enum { DEFAULT_WIDTH = 100, LEAST_WIDTH = 50, MOST_WIDTH = 1000, MOST_ROWS = 1000 };

struct options {
	const char *path, *step;
	uint64_t step_number;
	int64_t from, to;
	int width;
	bool ascii;
	uint32_t threads, streams;
};

static void read_width(const struct cli_value *value)
{
	uint64_t width = cli_count(value);
	if (width < LEAST_WIDTH || width > MOST_WIDTH)
		cli_misuse(value->command, "--width takes %d to %d", LEAST_WIDTH, MOST_WIDTH);
	*(int *)value->field = (int)width;
}

static void read_rows(const struct cli_value *value)
{
	uint64_t rows = cli_count(value);
	if (rows == 0)
		cli_misuse(value->command, "--%s must be at least 1", value->option->name);
	*(uint32_t *)value->field = rows < MOST_ROWS ? (uint32_t)rows : MOST_ROWS;
}

static const struct cli_option option_table[] = {
	{0, "step-number", "N",
	 "show step N (the one so numbered, or counted from 0) instead of a typical stretch",
	 CLI_COUNT, CLI_AT(step_number)},
	CLI_STEP_OR_NUMBER,
	{0, "from", "TIME", "show from this time of the recording on (1.5s, 20ms, …)", CLI_TIME,
	 CLI_AT(from)},
	{0, "to", "TIME", "… and up to this time", CLI_TIME, CLI_AT(to)},
	{0, "width", "N", "columns to use (default: the terminal's; 100 where there is none)",
	 CLI_READ, CLI_AT(width), .read = read_width},
	{0, "ascii", NULL, "plain characters only (default where the locale is not UTF-8)",
	 CLI_SWITCH, CLI_AT(ascii)},
	{0, "threads", "N", "rows for at most N threads (default: 3)", CLI_READ, CLI_AT(threads),
	 .read = read_rows},
	{0, "streams", "N", "rows for at most N streams of a GPU (default: 6)", CLI_READ,
	 CLI_AT(streams), .read = read_rows},
	CLI_END_OF_OPTIONS,
};

static struct options show_read_options(int argc, char **argv)
{
	struct options options = {.step_number = CLI_NOT_GIVEN, .from = HWY_NONE, .to = HWY_NONE};
	cli_read(&cmd_show, argc, argv, &options);
	if (!options.path)
		cli_misuse(&cmd_show, "which file?");
	bool timed = options.from != HWY_NONE || options.to != HWY_NONE;
	if (timed && options.step_number != CLI_NOT_GIVEN)
		cli_misuse(&cmd_show, "either --step-number, or --from and --to");
	if (options.from != HWY_NONE && options.to != HWY_NONE && options.from >= options.to)
		cli_misuse(&cmd_show, "--from must be before --to");
	if (!options.width)
		options.width = cli_width(stdout) ? cli_width(stdout) : DEFAULT_WIDTH;
	if (options.width < LEAST_WIDTH)
		options.width = LEAST_WIDTH;
	options.ascii = options.ascii || !cli_utf8();
	return options;
}

/* Finds the first start and the last end of spans of these kinds; false where the recording has
 * none. */
static bool find_extent(struct hwy_trace *trace, uint32_t kinds, int64_t *from, int64_t *to)
{
	struct hwy_err err;
	if (!hwy_need(trace, kinds, HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR), &err))
		cli_die("%s", err.text);
	return hwy_extent(trace, kinds, from, to);
}

/* Yields the number of --step-number, or HWY_NONE. Numbers above INT32_MAX become INT32_MAX: no
 * recording has so many steps. */
static int64_t step_number(const struct options *options)
{
	if (options->step_number == CLI_NOT_GIVEN)
		return HWY_NONE;
	return options->step_number < INT32_MAX ? (int64_t)options->step_number : INT32_MAX;
}

static struct hwy_window choose_window(struct hwy_trace *trace, const struct options *options)
{
	struct hwy_window window = {0};
	struct hwy_err err;
	int64_t from, to;
	bool launches = find_extent(trace, HWY_DEVICE_KINDS | HWY_KIND_BIT(HWY_API), &from, &to);
	bool any = launches || find_extent(trace, PICTURE_HOST_KINDS, &from, &to);
	if (options->from == HWY_NONE && options->to == HWY_NONE) {
		if (record_again_is_wanted(trace))
			record_again_say(trace);
		if (!any || (!launches && from == to))
			cli_die("%s: nothing of a thread or a device was recorded; 'headway info %s' tells what it holds",
				options->path, hwy_shell_word(options->path).text);
		if (!launches && step_number(options) != HWY_NONE)
			cli_die("%s: has neither device work nor calls, so no steps",
				options->path);
		if (!launches)
			return (struct hwy_window){.at = {from, to}};
		if (!window_find(trace, options->step, step_number(options), &window, &err))
			cli_die("%s: %s", options->path, err.text);
		return window;
	}
	window.at.from = options->from != HWY_NONE ? options->from : any ? from : 0;
	window.at.to = options->to != HWY_NONE ? options->to : any ? to : 0;
	/* No recording goes beyond HWY_TIME_LIMIT, and differences of larger times would
	 * overflow. */
	if (window.at.from < -HWY_TIME_LIMIT)
		window.at.from = -HWY_TIME_LIMIT;
	if (window.at.to > HWY_TIME_LIMIT)
		window.at.to = HWY_TIME_LIMIT;
	if (window.at.from >= window.at.to)
		cli_die("%s: nothing is recorded there; it has work and calls from %s to %s",
			options->path, hwy_say_time4(any ? from : 0).text,
			hwy_say_time4(any ? to : 0).text);
	return window;
}

/* ---- what is printed over the picture ------------------------------------------------------- */

/* Prints text; with --ascii "µ" becomes "u" and other characters beyond ASCII become "-". */
static void show_put(const struct options *options, const char *text)
{
	if (!options->ascii) {
		cli_put(stdout, text, strlen(text));
		return;
	}
	for (; *text; text++)
		if (!(*text & 0x80))
			cli_put(stdout, text, 1);
		else if (!hwy_utf8_is_inside(*text))
			putchar(strncmp(text, "µ", 2) == 0 ? 'u' : '-');
}

static void show_print_devices(const struct hwy_trace *trace, const struct hwy_picture *picture,
			       const struct options *options)
{
	int64_t shown = HWY_NONE;
	for (uint32_t i = 0; i < picture->n; i++) {
		const struct picture_row *row = &picture->rows[i];
		if (row->type != PICTURE_DEVICE || row->index < 0 ||
		    row->index >= trace->n_devices || trace->devices[row->index].name == shown)
			continue;
		shown = trace->devices[row->index].name;
		if (!*hwy_str(trace, shown))
			continue;
		show_put(options, " · ");
		show_put(options, hwy_str(trace, shown));
	}
}

/* Of one step that is shown, says how long it is where that is not all of what is shown: its mark
 * may begin while the device works on what was launched before. */
static void print_own_time(const struct hwy_window *window, const struct options *options)
{
	char text[160];
	int64_t own = window->steps.to - window->steps.from;
	bool is_one = window->first == window->last && window->first < window->n_steps;
	if (!is_one || (window->at.to - window->at.from) - own <= own / OWN_TIME_PART)
		return;
	snprintf(text, sizeof text, hwy_tr("; the step takes %s of it on the GPU, from %s on"),
		 hwy_say_time4(own).text, hwy_say_time4(window->steps.from).text);
	show_put(options, text);
}

static void print_steps(const struct hwy_trace *trace, const struct hwy_window *window,
			const struct options *options)
{
	char text[128];
	if (!window->n_steps)
		return;
	show_put(options, " · ");
	bool named = window->first_name != HWY_NONE;
	if (named && (window->first == window->last || window->first_name != window->last_name)) {
		show_put(options, hwy_str(trace, window->first_name));
		if (window->last != window->first) {
			show_put(options, hwy_tr(" to "));
			show_put(options, hwy_str(trace, window->last_name));
		}
		if (window->n_steps == 1)
			snprintf(text, sizeof text, "%s", hwy_tr(", the only step"));
		else
			snprintf(text, sizeof text, hwy_tr(" of %" PRIu32 " steps"),
				 window->n_steps);
	} else if (window->n_steps == 1) {
		snprintf(text, sizeof text, "%s", hwy_tr("its only step: nothing repeats"));
	} else if (window->first == window->last) {
		snprintf(text, sizeof text,
			 hwy_tr("step %" PRIu32 " of %" PRIu32 ", found without marks"),
			 window->first, window->n_steps);
	} else {
		snprintf(text, sizeof text,
			 hwy_tr("steps %" PRIu32 " to %" PRIu32 " of %" PRIu32 "%s"), window->first,
			 window->last, window->n_steps,
			 hwy_tr(named ? "" : ", found without marks"));
	}
	show_put(options, text);
}

static void show_print_head(const struct hwy_trace *trace, const struct hwy_picture *picture,
			    const struct hwy_window *window, const struct options *options)
{
	show_put(options, hwy_basename(options->path));
	show_print_devices(trace, picture, options);
	print_steps(trace, window, options);
	char text[160];
	snprintf(text, sizeof text, hwy_tr("%s, from %s of the recording on"),
		 hwy_say_time4(window->at.to - window->at.from).text,
		 hwy_say_time4(window->at.from).text);
	fputs("\n  ", stdout);
	show_put(options, text);
	print_own_time(window, options);
	fputs("\n\n", stdout);
}

/* ---- where nothing happens ------------------------------------------------------------------- */

/* The span that ends last before a window, and the one that begins first behind it. */
struct nearest {
	struct near_span {
		int64_t at, name;
		bool is_there;
	} before, after;
};

static void look_near(struct hwy_trace *trace, uint32_t kinds, const struct hwy_window *window,
		      struct nearest *nearest)
{
	struct hwy_err err;
	if (!hwy_need(trace, kinds,
		      HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME), &err))
		cli_die("%s", err.text);
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		for (uint32_t row = 0; row < strip->rows && kinds & HWY_KIND_BIT(strip->kind);
		     row++) {
			int64_t start = hwy_get(strip, HWY_START, row), end = hwy_end(strip, row);
			int64_t name = hwy_get(strip, HWY_NAME, row);
			struct near_span *before = &nearest->before, *after = &nearest->after;
			if (end <= window->at.from && (!before->is_there || end > before->at))
				*before = (struct near_span){end, name, true};
			if (start >= window->at.to && (!after->is_there || start < after->at))
				*after = (struct near_span){start, name, true};
		}
	}
}

/* 'sentence' takes the span's name and its moment. */
static void print_near(const struct hwy_trace *trace, const char *sentence,
		       const struct near_span *span, const struct options *options)
{
	if (!span->is_there)
		return;
	char text[512];
	const char *name = hwy_str(trace, span->name);
	snprintf(text, sizeof text, hwy_tr(sentence), *name ? name : hwy_tr("the nearest span"),
		 hwy_say_time4(span->at).text);
	show_put(options, text);
	putchar('\n');
}

/* A window without a row: what would be looked for instead. */
static void print_nothing(struct hwy_trace *trace, const struct hwy_window *window,
			  const struct options *options)
{
	const uint32_t work = HWY_DEVICE_KINDS | HWY_KIND_BIT(HWY_API);
	struct nearest nearest = {0};
	look_near(trace, work, window, &nearest);
	bool is_work = nearest.before.is_there || nearest.after.is_there;
	if (!is_work)
		look_near(trace, PICTURE_HOST_KINDS, window, &nearest);
	puts(hwy_tr(is_work ? HWY_KEY("  nothing is launched, and no device works, there")
			    : HWY_KEY("  nothing was recorded there")));
	print_near(trace, HWY_KEY("  before: %s ended at %s"), &nearest.before, options);
	print_near(trace, HWY_KEY("  after: %s begins at %s"), &nearest.after, options);
}

static void print_more(const struct hwy_picture *picture)
{
	if (picture->more_threads && picture->launches)
		printf(hwy_tr("  %" PRIu32 " more threads launch (--threads)\n"),
		       picture->more_threads);
	else if (picture->more_threads)
		printf(hwy_tr("  %" PRIu32 " more threads (--threads)\n"), picture->more_threads);
	if (picture->more_streams)
		printf(hwy_tr("  %" PRIu32 " more streams work (--streams)\n"),
		       picture->more_streams);
	if (picture->more_devices)
		printf(hwy_tr("  %" PRIu32 " more GPUs work\n"), picture->more_devices);
}

static int run_show(int argc, char **argv)
{
	struct options options = show_read_options(argc, argv);
	struct hwy_trace *trace = cli_open(options.path);
	struct hwy_window window = choose_window(trace, &options);
	struct hwy_picture picture;
	struct hwy_err err;
	struct picture_options wanted = {
		.from = window.at.from,
		.to = window.at.to,
		.cells = drawing_cells(options.width, "  "),
		.threads = options.threads,
		.streams = options.streams,
	};
	if (!picture_make(trace, &wanted, &picture, &err))
		cli_die("%s", err.text);
	show_print_head(trace, &picture, &window, &options);
	if (picture.n == 0) {
		print_nothing(trace, &window, &options);
		picture_free(&picture);
		hwy_trace_free(trace);
		return 0;
	}
	drawing_print(&(struct drawing){
		.out = stdout,
		.trace = trace,
		.picture = &picture,
		.indent = "  ",
		.utf8 = !options.ascii,
		.colour = cli_colour(stdout),
		.ruler = true,
		.lead = true,
		.legend = true,
	});
	print_more(&picture);
	picture_free(&picture);
	hwy_trace_free(trace);
	return 0;
}

const struct cli_command cmd_show = {
	.name = "show",
	.summary = "a stretch of the timeline, drawn in characters",
	.usage = "headway show [options] FILE|JOB",
	.about =
		"Draws a stretch of the timeline in characters: what the threads that launch and "
		"the GPUs were doing at the same time; CPU 836 is the thread with this number. Bars that alternate are a staircase: each "
		"side waits for the other. A GPU row without gaps under a CPU row that is far "
		"ahead is what one wants.",
	.options = option_table,
	.footer = "Examples:\n"
		  "  headway show report1.hwy\n"
		  "  headway show --step-number 12 run.sqlite\n"
		  "  headway show --from 1.2s --to 1.21s --width 160 trace.json.gz\n",
	.operands = CLI_FILE,
	.operands_offset = offsetof(struct options, path),
	.run = run_show,
};
