/* SPDX-License-Identifier: Apache-2.0 */
/* query.h - the language in which a person asks for spans: in the search field, in the table and in
 * marks (docs/view.md, "Ask").
 *
 *   kernel name~gemm dur>50us step:12 -lane:"stream 7"
 *
 * Terms stand beside each other, and a span must fulfil all of them; "-" before a term negates it.
 * A word or a "quoted text" must occur in the name. A first word that is a kind or a group of kinds
 * (kernel, wait, launch …) chooses that kind. All else is a field, a sign and a value.
 * web/src/query/ reads the same language for the self-contained page; tests/query_cases.txt holds
 * both to the same answers.
 *
 *   struct query query;
 *   if (!query_parse(&query, "kernel dur>50us", err))
 *           return false; // err: "character 8: …"
 *   query_free(&query);
 */
#ifndef HWY_SERVE_QUERY_H
#define HWY_SERVE_QUERY_H

#include <regex.h>

#include "base/bytes.h"
#include "base/err.h"
#include "serve/protocol.h"
#include "trace/columns.h"

enum {
	QUERY_TERMS = 32,    /* the most terms of a query */
	QUERY_LIST = 1000,   /* the most values in the list of one term */
	QUERY_PATTERN = 256, /* the longest regular expression, in bytes */
};

enum query_field {
	QUERY_KIND,   /* how the span is drawn: enum span_color */
	QUERY_NAME,   /* texts: the span's name */
	QUERY_LANE,   /* the lane's title */
	QUERY_THREAD, /* the thread's name and number */
	/* file and line of the place that the span, or the call that launched it, was called
	 * from */
	QUERY_LINE,
	QUERY_MODULE,  /* path of the model's module */
	QUERY_ID,      /* numbers: the span's id */
	QUERY_START,   /* ns after the first event */
	QUERY_END,     /* ns after the first event */
	QUERY_DUR,     /* the duration, ns */
	QUERY_LATENCY, /* device work: ns from the begin of its call to its start */
	QUERY_RATE,    /* bytes a second */
	QUERY_STEP,    /* the number of a step (struct timed_step) */
	QUERY_PHASE,
	QUERY_GPU,
	QUERY_STREAM,
	QUERY_RANK,
	QUERY_PID,
	QUERY_SHAPE,  /* a member of struct hwy_shape */
	QUERY_COLUMN, /* a column of the model */
	QUERY_FIELDS
};

enum query_test {
	QUERY_HAS,     /* the text occurs, in any case (ASCII) */
	QUERY_IS,      /* the text is exactly this */
	QUERY_MATCHES, /* the regular expression occurs, in any case (ASCII) */
	QUERY_IN,      /* the number lies in one of the bounds */
};

/* A range of numbers. Whole numbers lie between low and high, both included; real numbers
 * between real_low and real_high, of which an open one is not included. */
struct query_bounds {
	int64_t low, high;
	double real_low, real_high;
	bool low_is_open, high_is_open;
};

struct query_term {
	enum query_field field;
	enum query_test test;
	bool is_negated;
	uint32_t part;  /* of QUERY_SHAPE the member, of QUERY_COLUMN the enum hwy_col */
	uint32_t looks; /* of QUERY_KIND: bits of enum span_color */
	char *text;     /* of QUERY_HAS and QUERY_MATCHES in small letters; ended by 0 */
	size_t length;
	int64_t line; /* of QUERY_LINE: the number of the line, or 0 */
	regex_t pattern;
	struct query_bounds *bounds;
	uint32_t n_bounds, cap_bounds;
};

struct query {
	struct query_term terms[QUERY_TERMS];
	uint32_t n;
};

/* Reads a query; of an empty one every span is an answer. False with a sentence that names the
 * place. query_free is needed in both cases. */
bool query_parse(struct query *query, const char *text, struct hwy_err *err);
void query_free(struct query *query);

/* Whether a text fulfils a term (QUERY_HAS, QUERY_IS, QUERY_MATCHES), its negation left aside.
 * 'room' is memory for the text in small letters. */
bool query_text_fits(const struct query_term *term, struct hwy_text text, struct hwy_bytes *room);

/* query_shown.c: yields a name as the page shows it, without return type, namespaces and the
 * version of a call; in 'room', or the name itself. */
struct hwy_text query_shown_name(struct hwy_text name, struct hwy_bytes *room);

static inline bool query_number_fits(const struct query_term *term, int64_t value)
{
	for (uint32_t i = 0; i < term->n_bounds; i++)
		if (value >= term->bounds[i].low && value <= term->bounds[i].high)
			return true;
	return false;
}
bool query_real_fits(const struct query_term *term, double value);

/* ---- query_words.c: which words there are ---------------------------------------------------- */

/* The looks of a kind or group of kinds; 0 where there is none of this name. */
uint32_t query_looks(const char *word, size_t length);

enum query_unit {
	QUERY_PLAIN,
	QUERY_TIME,
	QUERY_BYTES,
	QUERY_BYTES_A_SECOND,
	QUERY_TEXT,
	QUERY_WORDS
};
struct query_word {
	enum query_field field;
	uint32_t part;
	enum query_unit unit;
};
/* Finds the field of this name ('-' and '_' are the same). */
bool query_find_field(const char *name, size_t length, struct query_word *found);

/* ---- query_numbers.c, query_pattern.c -------------------------------------------------------- */

/* A number as it was written, multiplied by its unit: as a real number, and rounded down and up
 * to whole ones. */
struct query_quantity {
	int64_t floor, ceiling;
	double real;
};
/* Reads a number with its unit at 'text', which ends at 'end'; yields where it ends, or NULL
 * where there is none. */
const char *query_read_quantity(const char *text, const char *end, enum query_unit unit,
				struct query_quantity *quantity);
/* Compiles a regular expression in small letters: false with the reason (no place) where it is
 * wrong, or uses what the page's regular expressions understand in another way. */
bool query_pattern_compile(regex_t *pattern, const char *text, struct hwy_err *err);

#endif
