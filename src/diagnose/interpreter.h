/* SPDX-License-Identifier: Apache-2.0 */
/* interpreter.h - what the Python interpreter did by itself in a phase: garbage collections, and
 * waits for the lock that its threads share (GIL). For src/diagnose only. */
#ifndef HWY_DIAGNOSE_INTERPRETER_H
#define HWY_DIAGNOSE_INTERPRETER_H

#include "diagnose/case.h"

struct interpreter_span {
	struct claim_stretch stretch;
	uint32_t thread; /* index into the trace's threads */
	int64_t name;    /* id of the text that names the span */
	bool launches;   /* the thread enqueues device work in the phase */
};
struct interpreter_spans { /* in order of start */
	struct interpreter_span *list;
	uint32_t n, cap;
};

/* The garbage collections, and the waits for the lock, of the phase's process that overlap the
 * phase's window. The list is empty where the recording has none. */
struct interpreter_spans interpreter_collections(const struct hwy_case *c);
struct interpreter_spans interpreter_lock_waits(const struct hwy_case *c);
void interpreter_free(struct interpreter_spans *spans);

/* ns of a span inside the phase's window. */
int64_t interpreter_length(const struct hwy_case *c, const struct interpreter_span *span);
/* Claims the idle time during the spans of threads that launch (or, !launches, of the other
 * threads), of gaps with these causes (CLAIM_CAUSE bits). */
void interpreter_claim(struct hwy_case *c, struct claim *claim,
		       const struct interpreter_spans *spans, bool launches, unsigned causes);

#endif
