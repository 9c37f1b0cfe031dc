/* SPDX-License-Identifier: Apache-2.0 */
/* worker.h - the diagnosis of a trace, made by a second process that runs headway too: the first
 * picture does not wait for the diagnosis, and its memory is given back when the process ends.
 *
 * The worker writes frames to its standard output: u32 tag, u64 length, the bytes. After the frames
 * of the diagnosis it reads questions from its standard input, until that ends. A question is one
 * line of three kinds, and its answer is one frame WORKER_WHATIF:
 *
 * - "PHASE EDITS": what would these edits change in this phase (worker_whatif.c)? With
 *   WORKER_APPLICABLE as EDITS: which edits have something to change in it?
 * - "flame KIND FROM TO ...": a flame graph (worker_flame.c).
 * - "sql SELECT ...": a query, with WORKER_SQL_NEWLINE for each line feed (worker_sql.c).
 *
 * A line WORKER_CANCEL after a question says that nobody waits for its answer any more. The worker
 * then ends a query in SQL at once; the other questions are short. An answer comes in any case.
 */
#ifndef HWY_SERVE_WORKER_H
#define HWY_SERVE_WORKER_H

#include <pthread.h>
#include <stdio.h>
#include <sys/types.h>

#include "diagnose/diagnose.h"
#include "serve/answers.h"
#include "serve/worker_job.h"

#define WORKER_APPLICABLE "?"
#define WORKER_CANCEL "cancel\n"

enum worker_tag {
	WORKER_DIAGNOSIS,  /* JSON: the findings */
	WORKER_STEPS,      /* JSON: the steps of each phase */
	WORKER_STEP_TIMES, /* array of struct timed_step: when each step was */
	WORKER_HEADWAY,    /* headway_series.h: the CPU's lead over each device */
	WORKER_EDITS,      /* JSON: the edits that 'whatif' can predict */
	WORKER_GAPS,       /* array of struct annotation: the idle gaps */
	WORKER_PATH,       /* array of struct annotation: the critical path */
	WORKER_ROOFLINE,   /* JSON: kernels and operators under the roofs of their devices */
	WORKER_READY,      /* no bytes: the frames above, as far as there are any, were sent */
	WORKER_WHATIF,     /* JSON: the answer to one question, of whatever kind */
	WORKER_COMPARE,    /* JSON: what changed from one trace to another (comparison.h) */
	WORKER_FAILED,     /* one line of text: why there is no diagnosis */
	WORKER_TAGS
};

/* ---- inside the worker ----------------------------------------------------------------------- */

/* Writes the frames from WORKER_STEPS to WORKER_READY; the caller writes WORKER_DIAGNOSIS.
 * 'origin' is that of struct view_trace; 'ranks': NULL where the trace is not of a job whose
 * recordings are at hand. */
void worker_tell(FILE *out, const struct hwy_analysis *analysis,
		 const struct hwy_diagnosis *diagnosis, int64_t origin, struct worker_job *ranks);
/* Writes the frame WORKER_ROOFLINE. */
void worker_tell_roofline(FILE *out, const struct hwy_analysis *analysis);
void worker_tell_frame(FILE *out, enum worker_tag tag, const void *bytes, size_t n);
/* Reads questions from 'in', one on each line, and answers each, until 'in' ends. */
void worker_whatif_answer_lines(FILE *in, FILE *out, struct hwy_analysis *analysis,
				struct worker_job *ranks);
/* Writes the answer to one question as JSON: a prediction, a flame graph, or the rows of a
 * query. */
void worker_whatif(FILE *out, struct hwy_analysis *analysis, struct worker_job *ranks,
		   const char *question);

#define WORKER_SQL_WORD "sql "
enum { WORKER_SQL_NEWLINE = 0x1e }; /* stands for a line feed, because a question is one line */
/* Writes the answer to a query, without that word, as JSON: its rows, or why there are none. The
 * query runs in a process of its own, which is ended where something can be read from the file
 * descriptor 'input' (a WORKER_CANCEL, or its end); -1: there is no such descriptor. */
void worker_sql(FILE *out, int input, const struct hwy_analysis *analysis, const char *question);
#define WORKER_FLAME_WORD "flame "
/* Writes the answer to a question about flame graphs, without that word, as JSON. */
void worker_flame(FILE *out, const struct hwy_analysis *analysis, const char *question);

/* ---- inside the viewer ----------------------------------------------------------------------- */

enum { WORKER_PATIENCE_S = 20 };
enum worker_state { WORKER_NONE, WORKER_PENDING, WORKER_DONE, WORKER_BROKEN };

struct worker {
	pid_t pid;
	int to; /* the process's standard input: a socket, which sends no SIGPIPE when it ended */
	FILE *from; /* pipe from the process's standard output */
	pthread_t reader;
	/* The finished analysis where worker_here made it in this process; NULL where a second
	 * process works. */
	struct hwy_analysis *here;
	struct worker_job *ranks; /* NULL, or the ranks of the job that 'here' is of */
	pthread_mutex_t lock;     /* guards every member below */
	pthread_cond_t changed;
	enum worker_state state;
	struct hwy_bytes frames[WORKER_TAGS]; /* by tag: the frame's bytes, and a 0 */
	struct annotations gaps, path;
	/* Questions that were sent and answers that came. No question is sent before the answer to
	 * the one before has come, whether anybody still waits for that answer or not. */
	uint64_t n_asked, n_answered;
	bool is_asking; /* a thread has sent a question and has not yet taken the answer */
};

/* Starts this program as a second process with these arguments. */
bool worker_start(struct worker *worker, char *const *argv, struct hwy_err *err);
/* Fills the worker from a finished diagnosis, without a second process. 'json' is the frame
 * WORKER_DIAGNOSIS. The analysis and the ranks (or NULL) must live as long as the worker. */
void worker_here(struct worker *worker, struct hwy_analysis *analysis,
		 const struct hwy_diagnosis *diagnosis, int64_t origin, const char *json,
		 struct worker_job *ranks);
/* Adds the answer to a question to 'out'. Yields false where no answer comes within
 * WORKER_PATIENCE_S seconds, or is_abandoned(from) becomes true; is_abandoned may be NULL. */
bool worker_ask(struct worker *worker, const char *question, bool (*is_abandoned)(const void *from),
		const void *from, struct hwy_bytes *out);
void worker_stop(struct worker *worker);

#endif
