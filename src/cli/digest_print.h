/* SPDX-License-Identifier: Apache-2.0 */
/* digest_print.h - `headway analyze` of a job from its digests: which way a job is read, the
 * formats, and what they share. */
#ifndef HWY_CLI_DIGEST_PRINT_H
#define HWY_CLI_DIGEST_PRINT_H

#include "cli/job_print.h"
#include "digest/digest_answer.h"

/* Jobs of more ranks than this are read from digests, where these are: reports of fewer say
 * more, and can all be opened. */
enum { DIGEST_WHOLE_RANKS = 64 };

enum digest_wish { DIGEST_AS_FITS, DIGEST_WHOLE, DIGEST_ONLY };
/* Whether these operands are to be read from digests: they are files of digests, or a folder of
 * many ranks that has some. */
bool digest_view_wants(const struct cli_texts *operands, enum digest_wish wish);

struct digest_view {
	const char *name; /* the first operand */
	struct digest_set set;
	struct digest_answer answer;
	struct job_view shell; /* only its answer is filled in: for job_unit and job_add_time */
	/* The reports that were opened for what digests cannot tell; reports.job is NULL where
	 * none was. */
	struct analyze_view reports;
	uint32_t opened[4], n_opened; /* indexes of ranks */
	const char *not_opened;       /* why not, a sentence, or "" */
};

/* Reads the digests and judges them. Exits with 2 where they cannot be read, or are of several
 * jobs. */
void digest_view_open(struct digest_view *view, const struct cli_texts *operands);
/* Chooses the ranks whose reports an answer needs, into 'opened': one that is late or slows
 * down, a typical one, and those with the longest and the shortest own time. */
void digest_view_choose(struct digest_view *view);
/* Opens the reports of these, where they are, and compares them. */
void digest_view_open_reports(struct digest_view *view, const char *step);
void digest_view_close(struct digest_view *view);
/* The path of a rank's report, to be freed; NULL where it is not there. */
char *digest_view_report(const struct digest_view *view, uint32_t rank);

void digest_print_text(FILE *out, const struct analyze_view *how, const struct digest_view *view);
void digest_print_brief(FILE *out, const struct analyze_view *how, const struct digest_view *view);
void digest_print_json(FILE *out, const struct analyze_view *how, const struct digest_view *view);
void digest_print_markdown(FILE *out, const struct analyze_view *how,
			   const struct digest_view *view);
/* Only the head, at the end of `headway profile`: verdict, late ranks and links of a folder. */
void digest_print_short(FILE *out, const char *folder);

/* ---- what the formats share ------------------------------------------------------------------ */

void digest_put_title(FILE *out, const struct digest_view *view);
/* Rows of ranks that are alike: those in time of each role are one, and those to blame that
 * differ in nothing else. */
struct digest_fold {
	uint32_t shown; /* the rank whose numbers stand for all: in the middle of them */
	uint32_t *ranks, n;
	const char *host; /* that all have in common, or "" */
	enum digest_state state;
};
struct digest_fold *digest_folds(const struct digest_view *view, uint32_t *n);
void digest_folds_free(struct digest_fold *folds, uint32_t n);
/* Fills a table with the folds; at most 'most' of them. Yields how many ranks have no row. */
uint32_t digest_fill_table(struct table *table, const struct digest_view *view, uint32_t most);

/* A map of how late ranks are: rows of neighbouring ranks, then the ranks to blame one by one. */
struct digest_map {
	uint32_t columns, rows;
	uint32_t group; /* buckets in a column */
	struct digest_map_row {
		uint32_t first, last; /* indexes of ranks */
		bool is_one;          /* one rank alone */
		bool is_apart;        /* a rank to blame, which a row of neighbours has, too */
	} * names;
	uint8_t *cells; /* degrees (job_print.h), row by row */
};
/* False where there is nothing to show: no steps, or one rank. */
bool digest_map_make(struct digest_map *map, const struct digest_view *view, uint32_t rows,
		     uint32_t columns);
void digest_map_free(struct digest_map *map);

#endif
