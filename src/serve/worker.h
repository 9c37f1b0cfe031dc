/* worker.h - the diagnosis of a trace, made by another process: headway itself, so that the first picture does not
 * wait for it and its memory is given back.
 *
 * The worker writes frames to its standard output: u32 tag, u64 length, the bytes. After the frames of the
 * diagnosis it reads questions, a line each ("PHASE EDITS"), and answers each with a WORKER_WHATIF frame, until
 * its standard input ends.
 */
#ifndef HWY_SERVE_WORKER_H
#define HWY_SERVE_WORKER_H

#include <pthread.h>
#include <stdio.h>
#include <sys/types.h>

#include "diagnose/diagnose.h"
#include "serve/answers.h"

enum worker_tag {
	WORKER_DIAGNOSIS, /* JSON */
	WORKER_STEPS,     /* JSON */
	WORKER_HEADWAY,   /* JSON */
	WORKER_EDITS,     /* JSON */
	WORKER_GAPS,      /* array of struct view_piece */
	WORKER_PATH,      /* likewise */
	WORKER_READY,     /* nothing: all of the above was sent */
	WORKER_WHATIF,    /* JSON */
	WORKER_FAILED,    /* one line */
	WORKER_TAGS
};

/* ---- inside the worker ------------------------------------------------------------------------------- */

/* Everything but WORKER_DIAGNOSIS, which is the caller's. 'origin' as the viewer has it. */
void worker_tell(FILE *out, const struct hwy_analysis *analysis,
		 const struct hwy_diagnosis *diagnosis, int64_t origin);
void worker_frame(FILE *out, enum worker_tag tag, const void *bytes, size_t n);
/* Answers questions until 'in' ends. */
void worker_answer(FILE *in, FILE *out, const struct hwy_analysis *analysis);
/* One answer, as JSON. */
void worker_whatif(FILE *out, const struct hwy_analysis *analysis, const char *question);

/* ---- inside the viewer -------------------------------------------------------------------------------- */

enum worker_state { WORKER_NONE, WORKER_PENDING, WORKER_DONE, WORKER_BROKEN };

struct worker {
	pid_t pid;
	int to;     /* pipe */
	FILE *from; /* pipe */
	pthread_t reader;
	const struct hwy_analysis *here; /* there is no other process: what worker_here told */
	pthread_mutex_t lock;            /* of all that follows */
	pthread_cond_t changed;
	enum worker_state state;
	struct packed frames[WORKER_TAGS]; /* WORKER_FAILED: 0-terminated */
	struct view_pieces gaps, path;
	bool is_asked, is_answered; /* a question is out; its answer is there */
};

/* Starts argv[0] with these arguments. */
bool worker_start(struct worker *worker, char *const *argv, struct hwy_err *err);
/* The same without another process, from a diagnosis at hand: 'json' is WORKER_DIAGNOSIS. The analysis must stay. */
void worker_here(struct worker *worker, const struct hwy_analysis *analysis,
		 const struct hwy_diagnosis *diagnosis, int64_t origin, const char *json);
/* Adds the answer to 'out'; false when there is none within the time. */
bool worker_ask(struct worker *worker, const char *question, struct packed *out);
void worker_stop(struct worker *worker);

#endif
