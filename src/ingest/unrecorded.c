/* SPDX-License-Identifier: Apache-2.0 */
/* unrecorded.c - programs of the run inside which nothing was recorded: how many, and why.
 *
 * Whoever starts such a program, or becomes one, counts it in the run's state where it knows the
 * reason. Beside that, an image that ended by exec and was followed by no image of the same
 * process tells of a program that recorded nothing. The number becomes the property
 * unrecorded.programs, which analyze/trust.c reads, and each reason a diagnostic.
 *
 * Programs that cannot load the collect library are mostly static ones, which can load no CUDA,
 * NVTX or OpenCL either: they count only where calls into the operating system were to be
 * recorded, or where no other program was.
 */
#include <stdio.h>

#include "ingest/ingest_internal.h"

/* Counts images that became a program by exec of which no record came. */
static uint32_t count_silent(struct ingest *in)
{
	struct hwy_map images = {0}; /* maps a pid to the images that may still follow an exec */
	uint32_t silent = 0;
	for (uint32_t p = 0; p < in->n_processes; p++) {
		const struct ingest_process *process = &in->processes[p];
		if (process->registration)
			++*hwy_map_put(&images, process->pid, NULL);
	}
	for (uint32_t p = 0; p < in->n_processes; p++) {
		const struct ingest_process *process = &in->processes[p];
		/* Behind the end of recording nothing has to register. */
		if (!process->registration || !process->execed || process->last > in->recording_end)
			continue;
		/* The first image of a process follows no exec. */
		uint32_t *left = hwy_map_put(&images, process->pid, NULL);
		if (*left > 1)
			--*left;
		else
			silent++;
	}
	hwy_map_free(&images);
	return silent;
}

static void say_unrecorded(struct ingest *in, int severity, uint32_t n, const char *why)
{
	if (n)
		ingest_note_diagnostic(in, severity, HWY_NONE,
				       "nothing is recorded inside %u program%s that %s", n,
				       n == 1 ? "" : "s", why);
}

void unrecorded_report(struct ingest *in)
{
	const struct rec_control *control = &in->spools.control;
	bool is_missed = (control->traces & REC_TRACE_OSRT) || in->trace->n_processes == 0;
	uint32_t known = control->unreached + control->unfit + control->sealed + control->elsewhen;
	uint32_t silent = count_silent(in);
	uint32_t others = silent > known ? silent - known : 0;
	say_unrecorded(in, 2, control->unreached,
		       "cannot reach the run directory: another user's, or in another root");
	/* The parent has said so already where it is the first program. */
	say_unrecorded(in, is_missed ? 2 : 1, in->trace->n_processes ? control->unfit : 0,
		       "cannot load the collect library: static, set-uid, of another C library or "
		       "built with AddressSanitizer");
	say_unrecorded(in, 2, control->sealed, "may not make all system calls (seccomp)");
	say_unrecorded(in, 2, control->elsewhen,
		       "had another clock than the rest (a time namespace)");
	say_unrecorded(in, 2, others, "a process of the run became");
	uint32_t counted = known + others - (is_missed ? 0 : control->unfit);
	if (counted) {
		char text[16];
		snprintf(text, sizeof text, "%u", counted);
		hwy_add_property(in->b, "unrecorded.programs", text);
	}
}
