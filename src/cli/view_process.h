/* SPDX-License-Identifier: Apache-2.0 */
/* view_process.h - what cmd_view.c uses of view_browser.c, view_cache.c and
 * view_worker.c. */
#ifndef HWY_CLI_VIEW_PROCESS_H
#define HWY_CLI_VIEW_PROCESS_H

#include "trace/trace.h"

/* view_browser.c: opens the user's browser at an address that other users must not see; false where
 * there is no browser. */
bool view_browser_open(const char *address);
/* Removes the file that holds the address for the browser, if there is one. */
void view_browser_forget(void);

/* view_cache.c: opens the recording as a report. Other recordings are converted to a report
 * once, in the cache folder (or beside the source where there is none), and found there the next
 * time. *report is the report's path, to be freed. Exits with 2 on failure. */
struct hwy_trace *view_cache_open(const char *path, char **report);

/* view_worker.c: makes the diagnosis and writes it to standard output (serve/worker.h). 'source'
 * is the file as the user named it. Yields the exit status. */
int view_worker_run(const char *report, const char *source);

#endif
