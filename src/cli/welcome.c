/* SPDX-License-Identifier: Apache-2.0 */
/* welcome.c - see welcome.h. A line for what can be recorded here, one for reading, one for trying;
 * `headway doctor` has the details and the remedies.
 */
#include "cli/welcome.h"

#include <stdlib.h>

#include "base/lang.h"
#include "base/memory_text.h"
#include "cli/kit/cli.h"
#include "cli/kit/paint.h"
#include "run/doctor/doctor.h"

enum { COMMAND_WIDTH = 27, TEXT_COLUMN = 12 + COMMAND_WIDTH, DEFAULT_WIDTH = 100 };

/* What a user would record; the other checks are about how well. */
static const struct {
	enum doctor_id id;
	const char *name;
} sources[] = {
	{DOCTOR_CUDA, "CUDA"},
	{DOCTOR_OPENCL, "OpenCL"},
	{DOCTOR_PROGRAM, "NVTX"},
	{DOCTOR_OS, HWY_KEY("OS calls")},
	{DOCTOR_SAMPLES, HWY_KEY("CPU samples")},
	{DOCTOR_PYTHON, HWY_KEY("Python stacks")},
};

static void put_names(FILE *text, const struct doctor *doctor, bool can)
{
	const char *before = can ? "" : hwy_tr("; not ");
	for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
		const struct doctor_check *check = &doctor->checks[sources[i].id];
		if ((check->verdict != DOCTOR_NO) != can)
			continue;
		fprintf(text, "%s%s", before, hwy_tr(sources[i].name));
		/* Who looks for a GPU is told at once why there is none. */
		if (!can && sources[i].id == DOCTOR_CUDA)
			fprintf(text, hwy_tr(" (%s)"), check->says);
		before = hwy_tr(", ");
	}
}

static void put_sources(FILE *text, const struct doctor *doctor)
{
	if (doctor->any) {
		put_names(text, doctor, true);
		put_names(text, doctor, false);
	} else {
		fprintf(text, hwy_tr("nothing can be recorded here: %s"),
			doctor->checks[DOCTOR_PROGRAM].says);
	}
}

static void put_offer(FILE *out, const char *verb, const char *command, const char *text)
{
	bool colour = cli_colour(out);
	int width = cli_width(out) ? cli_width(out) : DEFAULT_WIDTH;
	fputs("  ", out);
	cli_put_column(out, verb, 8);
	fprintf(out, "  %s%-*s%s", paint(colour, PAINT_BOLD), COMMAND_WIDTH, command,
		paint(colour, PAINT_PLAIN));
	cli_wrap(out, text, TEXT_COLUMN, width > TEXT_COLUMN + 20 ? width : 0);
}

void welcome_print(FILE *out)
{
	struct doctor doctor;
	struct memory_text memory;
	doctor_look(&doctor);
	FILE *text = memory_text_begin(&memory);
	put_sources(text, &doctor);
	char *records = memory_text_end(&memory);
	put_offer(out, hwy_tr("record"), "headway profile PROGRAM", records);
	put_offer(
		out, hwy_tr("look"), "headway analyze FILE",
		hwy_tr(doctor.checks[DOCTOR_VIEW].verdict == DOCTOR_NO
			       ? HWY_KEY("what holds the program back; headway view FILE --html PAGE: its timeline, as a file")
			       : HWY_KEY("what holds the program back; headway view FILE: its timeline, in the browser")));
	put_offer(out, hwy_tr("try"), "headway demo",
		  hwy_tr("a program before and after a change, recorded and compared"));
	fputs(hwy_tr("\n'headway doctor' says more about this machine, 'headway --help' lists the commands.\n"),
	      out);
	free(records);
	doctor_free(&doctor);
}
