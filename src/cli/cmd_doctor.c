/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_doctor.c - headway doctor: what can be recorded here, what cannot, and what to do about it.
 *
 * One screen: a line for each check, and a second line with the remedy where there is one. Lines
 * have 80 columns at most, except remedies. Exit status 1 when nothing can be recorded at all.
 */
#include <string.h>

#include "base/lang.h"
#include "base/utf8.h"
#include "cli/commands.h"
#include "cli/doctor_print.h"
#include "cli/kit/paint.h"

struct options {
	int format;
};

static const struct cli_option option_table[] = {
	CLI_TEXT_OR_JSON,
	CLI_END_OF_OPTIONS,
};

enum { WIDTH = 80, TITLE_WIDTH = 17, NO_LIMIT = 1000 }; /* widths in columns */

static const struct {
	const char *mark, *plain;
	enum paint paint;
	const char *word;
} marks[] = {
	[DOCTOR_NO] = {"✗", "-", PAINT_RED, "no"},
	[DOCTOR_PARTLY] = {"!", "!", PAINT_YELLOW, "partly"},
	[DOCTOR_YES] = {"✓", "+", PAINT_GREEN, "yes"},
};

struct page {
	bool colour, utf8;
};

/* Prints at most 'room' columns of a text, with an ellipsis where it was cut. Where the locale
 * is not UTF-8, characters beyond ASCII become '?'. */
static void doctor_put(const struct page *page, const char *text, int room)
{
	size_t length = strlen(text);
	bool cut = hwy_utf8_columns(text, length) > room;
	size_t shown = cut ? hwy_utf8_cut(text, length, room - 1) : length;
	for (size_t i = 0; i < shown; i++) {
		unsigned char c = (unsigned char)text[i];
		if (page->utf8 || c < 0x80)
			putchar(c < 0x20 || c == 0x7f ? '?' : c);
		else if (!hwy_utf8_is_inside(text[i]))
			putchar('?');
	}
	if (cut)
		fputs(page->utf8 ? "…" : "~", stdout);
}

static void print_machine(const struct page *page, const struct doctor *doctor)
{
	char text[512];
	const char *dot = page->utf8 ? "·" : "-";
	snprintf(text, sizeof text, hwy_tr("headway %s %s %s %s %s %s %u CPU%s%s%s"),
		 HEADWAY_VERSION, dot, doctor->kernel ? doctor->kernel : "?", dot, doctor->libc,
		 dot, doctor->cpus, doctor->cpus == 1 ? "" : "s", doctor->cpu ? ", " : "",
		 doctor->cpu ? doctor->cpu : "");
	doctor_put(page, text, WIDTH);
	fputs("\n\n", stdout);
}

static void print_check(const struct page *page, const struct doctor_check *check)
{
	printf("%s%s%s ", paint(page->colour, marks[check->verdict].paint),
	       page->utf8 ? marks[check->verdict].mark : marks[check->verdict].plain,
	       paint(page->colour, PAINT_PLAIN));
	cli_put_column(stdout, hwy_tr(check->title), TITLE_WIDTH - 2);
	doctor_put(page, check->says, WIDTH - TITLE_WIDTH);
	putchar('\n');
	if (!*check->remedy)
		return;
	printf("    %s ", page->utf8 ? "→" : "->");
	doctor_put(page, check->remedy, NO_LIMIT); /* a command line that users copy: never cut */
	putchar('\n');
}

/* Without an NVIDIA driver there are no hardware counters and no clocks to report on. */
static bool concerns(const struct doctor *doctor, int id)
{
	if (id == DOCTOR_CLOCKS && doctor->checks[id].verdict != DOCTOR_NO)
		return true;
	return (id != DOCTOR_COUNTERS && id != DOCTOR_CLOCKS) || doctor->driver;
}

static void print_text(const struct doctor *doctor)
{
	struct page page = {.colour = cli_colour(stdout), .utf8 = cli_utf8()};
	print_machine(&page, doctor);
	for (int i = 0; i < DOCTOR_CHECKS; i++)
		if (concerns(doctor, i))
			print_check(&page, &doctor->checks[i]);
	putchar('\n');
	if (doctor->any)
		printf(hwy_tr("next: headway %s\n"), "profile PROGRAM");
	else
		puts(hwy_tr(
			"Nothing can be recorded here; recordings made elsewhere can be read."));
}

const char *doctor_verdict_word(enum doctor_verdict verdict)
{
	return marks[verdict].word;
}

static int run_doctor(int argc, char **argv)
{
	struct options options = {0};
	cli_read(&cmd_doctor, argc, argv, &options);
	struct doctor doctor;
	doctor_look(&doctor);
	if (options.format == CLI_FORMAT_JSON)
		doctor_print_json(&doctor, stdout);
	else
		print_text(&doctor);
	bool any = doctor.any;
	doctor_free(&doctor);
	return any ? 0 : 1;
}

const struct cli_command cmd_doctor = {
	.name = "doctor",
	.summary = "what can be recorded here, what cannot, and the remedy",
	.usage = "headway doctor [options]",
	.about = "Tells what can be recorded on this machine and what cannot, why, and the line "
		 "that would change it. Nothing is changed, no GPU context is made. Exit status: "
		 "0 when something can be recorded, 1 when nothing can.",
	.options = option_table,
	.footer = "The keys of the JSON form are described in docs/doctor.md.\n",
	.status = "Nothing can be recorded on this machine.",
	.run = run_doctor,
};
