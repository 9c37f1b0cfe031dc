/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c - a bar on stderr for work that takes long.
 *
 * Nothing is drawn in the first 0.3 s, at most 15 times a second after that, and nothing is left
 * behind.
 */
#include "cli/kit/cli.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/lang.h"

enum { BAR_CELLS = 24 };
static const int64_t patience_ns = 300000000, between_ns = 66000000;

static struct {
	/* CLOCK_MONOTONIC in ns of the begin and of the last drawing; 0: not yet. */
	int64_t began, drawn;
	int on_screen;
} bar;

static int64_t progress_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void draw(const char *what, uint64_t done, uint64_t total)
{
	static int utf8 = -1;
	if (utf8 < 0)
		utf8 = cli_utf8();
	int width = cli_width(stderr), room = width - BAR_CELLS - 8;
	if (room < 8)
		return;
	char line[256 + BAR_CELLS * 4];
	int n = snprintf(line, sizeof line, "\r%.*s ", room < 200 ? room : 200, hwy_tr(what));
	if (total) {
		double share = done < total ? (double)done / (double)total : 1.0;
		int full = (int)(share * BAR_CELLS);
		for (int i = 0; i < BAR_CELLS; i++)
			n += snprintf(line + n, sizeof line - (size_t)n, "%s",
				      i < full ? (utf8 ? "\u2588" : "#") : (utf8 ? "\u2591" : "."));
		snprintf(line + n, sizeof line - (size_t)n, " %3d %%", (int)(share * 100));
	} else {
		snprintf(line + n, sizeof line - (size_t)n, "%s", utf8 ? "\u2026" : "...");
	}
	fprintf(stderr, "%s\033[K", line);
	bar.on_screen = 1;
}

static void progress_tell(void *listener, const char *what, uint64_t done, uint64_t total)
{
	(void)listener;
	int64_t t = progress_now();
	if (bar.began == 0)
		bar.began = t;
	if (t - bar.began < patience_ns || t - bar.drawn < between_ns)
		return;
	bar.drawn = t;
	draw(what, done, total);
}

static void temporary(void *listener, const char *path, bool exists)
{
	(void)listener;
	cli_unfinished(path, exists);
}

const struct hwy_progress *cli_progress(void)
{
	static const struct hwy_progress with_bar = {.tell = progress_tell, .temporary = temporary};
	static const struct hwy_progress without = {.temporary = temporary};
	const char *term = getenv("TERM");
	bool can_draw = cli_width(stderr) > 0 && !(term && strcmp(term, "dumb") == 0);
	return can_draw ? &with_bar : &without;
}

void cli_progress_end(void)
{
	if (bar.on_screen)
		fputs("\r\033[K", stderr);
	memset(&bar, 0, sizeof bar);
}
