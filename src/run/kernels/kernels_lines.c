/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_lines.c - sampled program counters into source lines, in a child process.
 *
 * CUPTI looks a line up in the code of the module (cubin), which the program left in the run
 * directory. A kernel that was built without line information (nvcc -lineinfo) keeps its samples
 * by reason, with no line. The child writes rows to a file in memory; the parent sorts them and
 * adds up what is of one line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "run/abi/cupti_source.h"
#include "run/counters/cupti_host.h"
#include "run/kernels/kernels_internal.h"

enum { MOST_REASONS = 128 };

struct line_search {
	const struct kernels_answers *answers;
	int fd; /* gets the rows */
	int (*crc)(struct abi_cupti_cubin_crc *);
	int (*line)(struct abi_cupti_line *);
	uint64_t *crcs; /* of each cubin */
};

static void lines_crc_all(struct line_search *s)
{
	const struct kernels_answers *answers = s->answers;
	s->crcs = hwy_zarray(answers->n_cubins, sizeof *s->crcs);
	for (uint32_t i = 0; i < answers->n_cubins; i++) {
		struct abi_cupti_cubin_crc p = {
			.size = ABI_CUPTI_SIZE(struct abi_cupti_cubin_crc, crc),
			.cubin_bytes = answers->cubins[i].bytes,
			.cubin = answers->cubins[i].data,
		};
		if (s->crc(&p) == 0)
			s->crcs[i] = p.crc;
	}
}

/* Looks up the line of a program counter; 0 where the code has none. */
static uint32_t find_line(const struct line_search *s, const struct kernels_pc *pc, char **file,
			  char **folder)
{
	for (uint32_t i = 0; i < s->answers->n_cubins; i++) {
		if (s->crcs[i] != pc->sample.crc)
			continue;
		struct abi_cupti_line p = {
			.size = ABI_CUPTI_SIZE(struct abi_cupti_line, folder),
			.cubin = s->answers->cubins[i].data,
			.function = pc->name,
			.cubin_bytes = s->answers->cubins[i].bytes,
			.pc = pc->sample.pc,
		};
		if (s->line(&p) != 0 || !p.file || !*p.file)
			return 0;
		*file = p.file;
		*folder = p.folder;
		return p.line;
	}
	return 0;
}

/* Runs in a child process, which ends afterwards: what CUPTI allocates is not freed. */
static bool lines_write_rows(void *argument, struct hwy_err *err)
{
	struct line_search *s = argument;
	struct cupti_library *library = cupti_library_open(NULL, err);
	if (!library)
		return false;
	*(void **)&s->crc = cupti_library_symbol(library, "cuptiGetCubinCrc");
	*(void **)&s->line = cupti_library_symbol(library, "cuptiGetSassToSourceCorrelation");
	FILE *rows = fdopen(s->fd, "w");
	if (!s->crc || !s->line || !rows)
		return hwy_fail(err, "%s: cannot look up source lines",
				cupti_library_path(library));
	lines_crc_all(s);
	for (uint32_t i = 0; i < s->answers->n_pcs; i++) {
		const struct kernels_pc *pc = &s->answers->pcs[i];
		char *file = NULL, *folder = NULL;
		uint32_t line = find_line(s, pc, &file, &folder);
		bool has_folder = line && folder && *folder && *file != '/';
		for (uint32_t r = 0; r < pc->sample.n_reasons; r++)
			fprintf(rows, "%s\t%s%s%s\t%u\t%u\t%u\n", pc->name,
				has_folder ? folder : "", has_folder ? "/" : "", line ? file : "",
				line, pc->reasons[r].reason, pc->reasons[r].samples);
	}
	return fclose(rows) == 0 || hwy_fail(err, "no memory for the samples");
}

/* The name of a stall reason, or NULL where it is not one: totals, and the same samples once
 * more for the cycles in which the scheduler issued nothing. */
static const char *reason_name(const struct kernels_answers *answers, unsigned number)
{
	static const char plain[] = "smsp__pcsamp_warps_issue_stalled_", again[] = "_not_issued";
	const char *name = number < MOST_REASONS ? answers->reasons[number] : NULL;
	size_t length = name ? strlen(name) : 0, end = strlen(again);
	if (!name || strncmp(name, plain, strlen(plain)) != 0 ||
	    (length > end && strcmp(name + length - end, again) == 0))
		return NULL;
	return name + strlen(plain);
}

/* Reads "name TAB file TAB line TAB reason TAB samples"; false where it is not that, or no
 * reason. */
static bool take_row(char *text, const struct kernels_answers *answers, struct kernels_line *line)
{
	char *fields[5], *rest = text;
	for (int i = 0; i < 5; i++)
		if (!(fields[i] = strsep(&rest, "\t\n")))
			return false;
	const char *reason = reason_name(answers, (unsigned)strtoul(fields[3], NULL, 10));
	if (!reason)
		return false;
	*line = (struct kernels_line){
		.symbol = hwy_copy(fields[0], strlen(fields[0]) + 1),
		.file = *fields[1] ? hwy_copy(fields[1], strlen(fields[1]) + 1) : NULL,
		.line = (uint32_t)strtoul(fields[2], NULL, 10),
		.reason = hwy_copy(reason, strlen(reason) + 1),
		.samples = strtoull(fields[4], NULL, 10),
	};
	return true;
}

static int compare_lines(const void *left, const void *right)
{
	const struct kernels_line *a = left, *b = right;
	int by = strcmp(a->symbol, b->symbol);
	by = by ? by : strcmp(a->file ? a->file : "", b->file ? b->file : "");
	by = by ? by : (a->line > b->line) - (a->line < b->line);
	return by ? by : strcmp(a->reason, b->reason);
}

/* Adds up the rows of one line and reason. */
static void merge_lines(struct kernels_found *found)
{
	uint32_t n = 0;
	if (found->n_lines)
		qsort(found->lines, found->n_lines, sizeof *found->lines, compare_lines);
	for (uint32_t i = 0; i < found->n_lines; i++) {
		struct kernels_line *one = &found->lines[i];
		if (n == 0 || compare_lines(&found->lines[n - 1], one) != 0) {
			found->lines[n++] = *one;
			continue;
		}
		found->lines[n - 1].samples += one->samples;
		free(one->symbol);
		free(one->file);
		free(one->reason);
	}
	found->n_lines = n;
}

bool kernels_lines_find(const struct kernels_answers *answers, struct kernels_found *found,
			struct hwy_err *err)
{
	struct line_search search = {.answers = answers,
				     .fd = memfd_create("headway-lines", MFD_CLOEXEC)};
	FILE *rows = search.fd >= 0 ? fdopen(search.fd, "r") : NULL;
	if (!rows)
		return hwy_fail(err, "no memory for the samples of program counters");
	bool done = answers->n_pcs == 0 || kernels_apart(lines_write_rows, &search, err);
	char *text = NULL;
	size_t room = 0;
	rewind(rows);
	while (done && getline(&text, &room, rows) > 0) {
		struct kernels_line line;
		if (!take_row(text, answers, &line))
			continue;
		HWY_GROW(found->lines, found->n_lines, found->cap_lines);
		found->lines[found->n_lines++] = line;
	}
	free(text);
	fclose(rows);
	merge_lines(found);
	return done;
}
