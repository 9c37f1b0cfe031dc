/* view_process.h - the parts of `headway view`. */
#ifndef HWY_CLI_VIEW_PROCESS_H
#define HWY_CLI_VIEW_PROCESS_H

#include "trace/trace.h"

/* view_cache.c: the recording as an open report. What is no report is converted once, into the cache folder (or beside
 * the source where there is none), and found there the next time. *report is the report's path, to be freed. Exits with
 * 2 on failure. */
struct hwy_trace *view_report(const char *path, char **report);

/* view_worker.c: the diagnosis, told on standard output (serve/worker.h). 'source': the file as the user named it. */
int view_work(const char *report, const char *source);

#endif
