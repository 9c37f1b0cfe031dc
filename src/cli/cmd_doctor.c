/* cmd_doctor.c - headway doctor: what can be recorded here, what cannot, and what to do about it.
 *
 * One screen: a line for each thing, a second one with the remedy where there is one, none wider than 80
 * columns. Exit status 1 when nothing can be recorded at all.
 */
#include <string.h>

#include "cli/commands.h"
#include "cli/doctor_print.h"
#include "cli/kit/grid.h"

struct options {
	int format;
};

static const struct cli_option option_table[] = {
	CLI_TEXT_OR_JSON,
	CLI_END_OF_OPTIONS,
};

enum { WIDTH = 80, TITLE = 17 };

static const struct {
	const char *mark, *plain, *colour, *word;
} marks[] = {
	[DOCTOR_NO] = {"✗", "-", "\033[31m", "no"},
	[DOCTOR_PARTLY] = {"!", "!", "\033[33m", "partly"},
	[DOCTOR_YES] = {"✓", "+", "\033[32m", "yes"},
};

struct page {
	bool colour, utf8;
};

static const char *doctor_paint(const struct page *page, const char *colour)
{
	return page->colour ? colour : "";
}

/* At most 'room' columns of a text, with a mark where it was cut; plain where the locale is. */
static void doctor_put(const struct page *page, const char *text, int room)
{
	bool cut = grid_columns_of(text) > room;
	int columns = 0;
	for (const char *c = text; *c; c++) {
		bool first = ((unsigned char)*c & 0xc0) != 0x80;
		columns += first;
		if (cut && columns == room) {
			fputs(page->utf8 ? "…" : "~", stdout);
			return;
		}
		if (page->utf8 || !(*c & 0x80))
			putchar((unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c);
		else if (first)
			putchar('?');
	}
}

static void print_machine(const struct page *page, const struct doctor *doctor)
{
	char text[512];
	const char *dot = page->utf8 ? "·" : "-";
	snprintf(text, sizeof text, "headway %s %s %s %s %s %s %u CPU%s%s%s", HEADWAY_VERSION, dot,
		 doctor->kernel ? doctor->kernel : "?", dot, doctor->libc, dot, doctor->cpus,
		 doctor->cpus == 1 ? "" : "s", doctor->cpu ? ", " : "",
		 doctor->cpu ? doctor->cpu : "");
	doctor_put(page, text, WIDTH);
	fputs("\n\n", stdout);
}

static void print_check(const struct page *page, const struct doctor_check *check)
{
	printf("%s%s%s ", doctor_paint(page, marks[check->verdict].colour),
	       page->utf8 ? marks[check->verdict].mark : marks[check->verdict].plain,
	       doctor_paint(page, "\033[0m"));
	printf("%-*s", TITLE - 2, check->title);
	doctor_put(page, check->says, WIDTH - TITLE);
	putchar('\n');
	if (!*check->remedy)
		return;
	printf("    %s ", page->utf8 ? "→" : "->");
	doctor_put(page, check->remedy, 1000); /* to be copied: never cut */
	putchar('\n');
}

/* Counters are of no concern where there is no driver. */
static bool concerns(const struct doctor *doctor, int id)
{
	return id != DOCTOR_COUNTERS || doctor->driver;
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
		puts("next: headway profile PROGRAM");
	else
		puts("Nothing can be recorded here; recordings made elsewhere can be read.");
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
	.about =
		"Tells what can be recorded on this machine and what cannot, why, and the line that would "
		"change it. Nothing is changed, no GPU context is made. Exit status: 0 when something can "
		"be recorded, 1 when nothing can.",
	.options = option_table,
	.footer = "The keys of the JSON form are described in docs/doctor.md.\n",
	.status = "Nothing can be recorded on this machine.",
	.run = run_doctor,
};
