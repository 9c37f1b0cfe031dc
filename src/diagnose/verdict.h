/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.h - one word for what holds the program back: what an expert would look at first.
 *
 * The time of the judged steps is shared out over the words, by the states of the devices and
 * the causes of their idle time; docs/verdict.md has the table. 'gpu' where the devices work
 * nearly all of the time. Otherwise the word with the largest share.
 */
#ifndef HWY_DIAGNOSE_VERDICT_H
#define HWY_DIAGNOSE_VERDICT_H

#include "analyze/analysis.h"
#include "analyze/compilations.h"
#include "analyze/inside_device.h"

enum verdict_word {
	VERDICT_GPU,
	VERDICT_INPUT,
	VERDICT_LAUNCH,
	VERDICT_SYNC,
	VERDICT_CPU,
	VERDICT_COPY,
	VERDICT_COMM,
	VERDICT_ALLOC,
	VERDICT_FIRST_USE,
	VERDICT_CANNOT_TELL,
	VERDICT_NO_DEVICE_WORK,
	VERDICTS
};
/* the verdict's words as text: "gpu", "input", … "no-device-work" */
extern const char *const verdict_words[VERDICTS];
/* The word for people: beside it stands what it means where their language is not English. */
const char *verdict_said(enum verdict_word word);

/* What became of the recording's time, in ns: the six parts add up to 'recording'. */
struct verdict_account {
	/* The ns from the first start to the last end of any span: as long as `headway info`
	 * says. */
	int64_t recording;
	/* The ns before the first call of the vendor's API and the first device work. */
	int64_t before_calls;
	int64_t judged; /* ns of the steady steps of the judged phase */
	/* The ns of start-up: the time from the first call to the judged phase, without the steps
	 * of other phases. */
	int64_t before;
	int64_t warm_up;   /* ns of the first steps of the judged phase, which are not steady */
	int64_t after;     /* ns behind the last judged step, without the steps of other phases */
	int64_t elsewhere; /* ns of the steps of other phases, before and behind the judged phase */
	/* What the judged phase's process compiled before its steady steps; no part of the sum. */
	struct compilations compiled;
};

struct verdict {
	enum verdict_word word;
	/* The share of the judged time that counts for each word, 0 … 1. The shares add up to 1. */
	double shares[VERDICTS];
	const char *says; /* the verdict as one sentence, in the diagnosis' arena */
	double coverage;  /* the share of the recording that is judged, 0 … 1 */
	bool is_whole;    /* nothing repeats: the judged time is all of the program's device work */
	struct verdict_account account;
	/* Of the verdict 'gpu': what holds the device's own work back, its second word.
	 * verdict_look_inside finds it. */
	struct inside inside;
	/* One op runs through all of the judged time, and no counter tells what it does: busy
	 * proves nothing. */
	bool is_opaque;
};

/* The verdict's word, and the second one where it is known: "gpu", "gpu, memory". */
struct verdict_name {
	char text[64];
};
struct verdict_name verdict_name(const struct verdict *verdict, bool for_people);

/* Chooses the verdict's word by these shares of a step's time; VERDICT_NO_DEVICE_WORK is never
 * chosen. */
enum verdict_word verdict_choose(const double shares[VERDICTS]);
/* The sentence that says a verdict whose word has this share of the phase's steps; in the arena. */
const char *verdict_sentence(enum verdict_word word, double share, const struct hwy_phase *phase,
			     struct hwy_arena *arena);
/* Yields the verdict's word that idle time of this cause is evidence for. */
enum verdict_word verdict_word_of_cause(enum gap_cause cause);

/* Yields the verdict's word that a gap is evidence for. The gap's cause decides; for a dependency,
 * the work that was waited for decides. */
enum verdict_word verdict_word_of_gap(const struct hwy_flow *flow, const struct hwy_gap *gap);

/* The verdict about a phase; about the recording where it has no phases (phase == phases.n). Its
 * texts are in the arena. */
struct verdict verdict_find(const struct hwy_analysis *analysis, uint32_t phase,
			    struct hwy_arena *arena);

#endif
