/* SPDX-License-Identifier: Apache-2.0 */
/* view_process.h - what cmd_view.c uses of its neighbours: view_address.c, view_browser.c,
 * view_cache.c, view_chosen.c, view_worker.c and view_compare.c. */
#ifndef HWY_CLI_VIEW_PROCESS_H
#define HWY_CLI_VIEW_PROCESS_H

#include "cli/kit/cli.h"
#include "serve/protocol.h"
#include <stdio.h>

#include "trace/trace.h"

/* view_address.c: what of the viewer's address stays the same from start to start. */
struct view_address {
	char token[VIEW_TOKEN + 1]; /* "": not known yet */
	uint16_t port;              /* 0: not known yet */
};
/* Yields the path, to be freed, of the file that keeps the address of these recordings. Exits with
 * 2 where there is no cache folder. */
char *view_address_path(const struct cli_texts *files);
/* Reads the file; nothing is known where it is not there. Exits with 2 where others can read the
 * file, or it holds something else. */
void view_address_read(const char *path, struct view_address *address);
/* Writes the file, for its owner alone; without the port where that is 0. */
void view_address_write(const char *path, const struct view_address *address);

/* view_browser.c: opens the user's browser at an address that other users must not see; false where
 * there is no browser. */
bool view_browser_open(const char *address);
/* Removes the file that holds the address for the browser, if there is one. */
void view_browser_forget(void);

/* view_cache.c: opens the recording as a report. Other recordings are converted to a report
 * once, in the cache folder (or beside the source where there is none), and found there the next
 * time. *report is the report's path, to be freed. Exits with 2 on failure. */
struct hwy_trace *view_cache_open(const char *path, char **report);
/* The same of some recordings, the ranks of a job. */
struct hwy_trace *view_cache_open_ranks(const char *const *paths, uint32_t n, char **report);

/* view_chosen.c: which ranks of a job are opened. */
struct view_choice {
	const char **files; /* to be freed, and each of them; NULL: the operand as it is */
	uint32_t n;
};
/* 'ranks' is the value of --ranks, "3,17-19", or NULL: a job of many ranks with digests is then
 * seen by a few ranks, and a line says by which and why. Exits with 2 where a rank that was
 * asked for has no report. */
struct view_choice view_choose(const char *operand, const char *ranks);
void view_choice_free(struct view_choice *choice);

/* view_worker.c: lets the rest of the machine go first: drawing the timeline is more urgent than
 * what the processes beside it answer. */
void lower_priority(void);
/* Makes the diagnosis and writes it to standard output (serve/worker.h). 'source'
 * is the file as the user named it. Yields the exit status. */
int view_worker_run(const char *report, const char *source);

/* view_compare.c: writes what changed between two recordings, as `headway diff --format json`;
 * false with a sentence where they cannot be compared. */
struct analyze_run;
bool view_compare_put(FILE *out, struct analyze_run *before, struct analyze_run *after,
		      struct hwy_err *err);
/* The same in a process of its own, as a frame on standard output (serve/comparison.h). Yields
 * the exit status. */
int view_compare_run(const char *const *reports, const char *const *sources);

#endif
