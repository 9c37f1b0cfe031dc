/* cmd_show.c - headway show: a stretch of a recording, drawn in characters. */
#include <inttypes.h>
#include <string.h>

#include "analyze/window.h"
#include "cli/kit/cli.h"
#include "cli/kit/drawing.h"
#include "cli/kit/units.h"

enum { STEP, FROM, TO, WIDTH, ASCII, THREADS, STREAMS };
static const struct cli_option options[] = {
	[STEP] =
		{0, "step", "N",
		 "show step N (the one so numbered, or counted from 0) instead of a typical stretch"},
	[FROM] = {0, "from", "TIME", "show from this time of the recording on (1.5s, 20ms, …)"},
	[TO] = {0, "to", "TIME", "… and up to this time"},
	[WIDTH] = {0, "width", "N",
		   "columns to use (default: the terminal's; 100 where there is none)"},
	[ASCII] = {0, "ascii", NULL,
		   "plain characters only (default where the locale is not UTF-8)"},
	[THREADS] = {0, "threads", "N", "rows for at most N threads (default: 3)"},
	[STREAMS] = {0, "streams", "N", "rows for at most N streams of a GPU (default: 6)"},
	{0},
};
enum { DEFAULT_WIDTH = 100, LEAST_WIDTH = 50, MOST_WIDTH = 1000 };

struct wishes {
	const char *path;
	int64_t step, from, to;
	int width;
	bool ascii;
	uint32_t threads, streams;
};

static uint64_t at_least_one(const struct cli *cli, const char *name, const char *text)
{
	uint64_t n = cli_count(cli, name, text);
	if (n == 0)
		cli_misuse(cli, "--%s must be at least 1", name);
	return n < 1000 ? n : 1000;
}

static void show_read_option(const struct cli *cli, int option, const char *value,
			     struct wishes *wishes)
{
	uint64_t number;
	switch (option) {
	case STEP:
		number = cli_count(cli, "step", value);
		wishes->step = number < INT32_MAX ? (int64_t)number : INT32_MAX;
		break;
	case FROM: wishes->from = cli_time(cli, "from", value); break;
	case TO: wishes->to = cli_time(cli, "to", value); break;
	case WIDTH:
		number = cli_count(cli, "width", value);
		if (number < LEAST_WIDTH || number > MOST_WIDTH)
			cli_misuse(cli, "--width takes %d to %d", LEAST_WIDTH, MOST_WIDTH);
		wishes->width = (int)number;
		break;
	case ASCII: wishes->ascii = true; break;
	case THREADS: wishes->threads = (uint32_t)at_least_one(cli, "threads", value); break;
	case STREAMS: wishes->streams = (uint32_t)at_least_one(cli, "streams", value); break;
	default: cli_file(cli, &wishes->path, value);
	}
}

static struct wishes show_read_wishes(struct cli *cli)
{
	struct wishes wishes = {.step = HWY_NONE, .from = HWY_NONE, .to = HWY_NONE};
	const char *value;
	for (int option; (option = cli_next(cli, &value)) != CLI_END;)
		show_read_option(cli, option, value, &wishes);
	if (!wishes.path)
		cli_misuse(cli, "which file?");
	bool timed = wishes.from != HWY_NONE || wishes.to != HWY_NONE;
	if (timed && wishes.step != HWY_NONE)
		cli_misuse(cli, "either --step, or --from and --to");
	if (wishes.from != HWY_NONE && wishes.to != HWY_NONE && wishes.from >= wishes.to)
		cli_misuse(cli, "--from must be before --to");
	if (!wishes.width)
		wishes.width = cli_width(stdout) ? cli_width(stdout) : DEFAULT_WIDTH;
	if (wishes.width < LEAST_WIDTH)
		wishes.width = LEAST_WIDTH;
	wishes.ascii = wishes.ascii || !cli_utf8();
	return wishes;
}

/* First start and last end of calls and device work. */
static bool extent(struct hwy_trace *trace, int64_t *from, int64_t *to)
{
	struct hwy_err err;
	uint32_t kinds = HWY_DEVICE_KINDS | HWY_KIND_BIT(HWY_API);
	if (!hwy_need(trace, kinds, HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR), &err))
		cli_die("%s", err.text);
	return hwy_extent(trace, kinds, from, to);
}

static struct hwy_window choose_window(struct hwy_trace *trace, const struct wishes *wishes)
{
	struct hwy_window window = {0};
	struct hwy_err err;
	int64_t from, to;
	bool any = extent(trace, &from, &to);
	if (wishes->from == HWY_NONE && wishes->to == HWY_NONE) {
		if (!any)
			cli_die("%s: has neither device work nor calls to show", wishes->path);
		if (!window_find(trace, wishes->step, &window, &err))
			cli_die("%s: %s", wishes->path, err.text);
		return window;
	}
	window.at.from = wishes->from != HWY_NONE ? wishes->from : any ? from : 0;
	window.at.to = wishes->to != HWY_NONE ? wishes->to : any ? to : 0;
	/* Beyond these nothing is recorded, and differences would not fit. */
	if (window.at.from < -HWY_TIME_LIMIT)
		window.at.from = -HWY_TIME_LIMIT;
	if (window.at.to > HWY_TIME_LIMIT)
		window.at.to = HWY_TIME_LIMIT;
	if (window.at.from >= window.at.to)
		cli_die("%s: nothing is recorded there; it has work and calls from %s to %s",
			wishes->path, units_time(any ? from : 0).at, units_time(any ? to : 0).at);
	return window;
}

/* ---- what is printed over the picture ------------------------------------------------------------- */

/* Prints; in plain characters µ is u, and · and the like a hyphen. */
static void show_put(const struct wishes *wishes, const char *text)
{
	if (!wishes->ascii) {
		cli_put(stdout, text, strlen(text));
		return;
	}
	for (; *text; text++)
		if (!(*text & 0x80))
			cli_put(stdout, text, 1);
		else if ((*text & 0xc0) == 0xc0) /* where a character begins */
			putchar(strncmp(text, "µ", 2) == 0 ? 'u' : '-');
}

static void show_print_devices(const struct hwy_trace *trace, const struct hwy_picture *picture,
			       const struct wishes *wishes)
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
		show_put(wishes, " · ");
		show_put(wishes, hwy_str(trace, shown));
	}
}

static void print_steps(const struct hwy_trace *trace, const struct hwy_window *window,
			const struct wishes *wishes)
{
	char text[96];
	if (!window->n_steps)
		return;
	show_put(wishes, " · ");
	bool named = window->first_name != HWY_NONE;
	if (named && (window->first == window->last || window->first_name != window->last_name)) {
		show_put(wishes, hwy_str(trace, window->first_name));
		if (window->last != window->first) {
			show_put(wishes, " to ");
			show_put(wishes, hwy_str(trace, window->last_name));
		}
		snprintf(text, sizeof text, " of %" PRIu32 " steps", window->n_steps);
	} else if (window->first == window->last) {
		snprintf(text, sizeof text, "step %" PRIu32 " of %" PRIu32 ", found without marks",
			 window->first, window->n_steps);
	} else {
		snprintf(text, sizeof text, "steps %" PRIu32 " to %" PRIu32 " of %" PRIu32 "%s",
			 window->first, window->last, window->n_steps,
			 named ? "" : ", found without marks");
	}
	show_put(wishes, text);
}

static void show_print_head(const struct hwy_trace *trace, const struct hwy_picture *picture,
			    const struct hwy_window *window, const struct wishes *wishes)
{
	const char *name = strrchr(wishes->path, '/');
	show_put(wishes, name ? name + 1 : wishes->path);
	show_print_devices(trace, picture, wishes);
	print_steps(trace, window, wishes);
	fputs("\n  ", stdout);
	show_put(wishes, units_time(window->at.to - window->at.from).at);
	show_put(wishes, ", from ");
	show_put(wishes, units_time(window->at.from).at);
	fputs(" of the recording on\n\n", stdout);
}

static void print_more(const struct hwy_picture *picture)
{
	if (picture->more_threads)
		printf("  %" PRIu32 " more threads launch (--threads)\n", picture->more_threads);
	if (picture->more_streams)
		printf("  %" PRIu32 " more streams work (--streams)\n", picture->more_streams);
	if (picture->more_devices)
		printf("  %" PRIu32 " more GPUs work\n", picture->more_devices);
}

int cmd_show(int argc, char **argv)
{
	struct cli cli = {
		.command = "show",
		.usage = "headway show [options] FILE",
		.about =
			"Draws a stretch of the timeline in characters: what the threads that launch and the GPUs "
			"were doing at the same time. Bars that alternate are a staircase: each side waits for the "
			"other. A GPU row without gaps under a CPU row that is far ahead is what one wants.",
		.options = options,
		.footer = "Examples:\n"
			  "  headway show report1.hwy\n"
			  "  headway show --step 12 run.sqlite\n"
			  "  headway show --from 1.2s --to 1.21s --width 160 trace.json.gz\n",
		.argc = argc,
		.argv = argv,
	};
	struct wishes wishes = show_read_wishes(&cli);
	struct hwy_trace *trace = cli_open(wishes.path);
	struct hwy_window window = choose_window(trace, &wishes);
	struct hwy_picture picture;
	struct hwy_err err;
	struct picture_options wanted = {
		.from = window.at.from,
		.to = window.at.to,
		.cells = drawing_cells(wishes.width, "  "),
		.threads = wishes.threads,
		.streams = wishes.streams,
	};
	if (!picture_make(trace, &wanted, &picture, &err))
		cli_die("%s", err.text);
	show_print_head(trace, &picture, &window, &wishes);
	drawing_print(&(struct drawing){
		.out = stdout,
		.trace = trace,
		.picture = &picture,
		.indent = "  ",
		.utf8 = !wishes.ascii,
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
