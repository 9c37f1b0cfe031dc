/* SPDX-License-Identifier: Apache-2.0 */
/* table_findings.c - what `headway analyze` finds: findings, then suspects that were acquitted;
 * and the verdict. */
#include "base/lang.h"
#include "sql/sql_tables.h"

enum {
	FINDING_ID,
	FINDING_TITLE,
	FINDING_PHASE,
	FINDING_RANK,
	FINDING_ACQUITTED,
	FINDING_COST,
	FINDING_SHARE,
	FINDING_CONFIDENCE,
	FINDING_VERDICT,
	FINDING_SAYS,
	FINDING_ADVICE,
	FINDING_EDIT,
	FINDING_STEP_AFTER,
	FINDING_SPEEDUP,
	FINDING_FILE,
	FINDING_LINE,
	FINDING_FUNCTION,
	FINDING_EVIDENCE,
};
static const struct sql_column finding_columns[] = {
	[FINDING_ID] = {"finding", SQL_TEXT,
			.description = "its name: sync-in-loop, launch-bound … (docs/findings)"},
	[FINDING_TITLE] = {"title", SQL_TEXT, .description = "its name for people"},
	[FINDING_PHASE] = {"phase", SQL_ROW, .description = "phases.id"},
	[FINDING_RANK] = {"rank", SQL_NUMBER,
			  .description = "the rank to blame, where there are several"},
	[FINDING_ACQUITTED] = {"acquitted", SQL_FLAG,
			       .description = "a suspect that was looked at and is innocent"},
	[FINDING_COST] = {"cost", SQL_DURATION, .description = "what it costs a step"},
	[FINDING_SHARE] = {"share", SQL_REAL,
			   .description = "its cost as a share of the mean step, 0 … 1"},
	[FINDING_CONFIDENCE] = {"confidence", SQL_TEXT, .description = "low, medium or high"},
	[FINDING_VERDICT] = {"verdict", SQL_TEXT,
			     .description = "the word of the verdict that it is evidence for"},
	[FINDING_SAYS] = {"says", SQL_TEXT, .description = "what was seen"},
	[FINDING_ADVICE] = {"advice", SQL_TEXT, .description = "what to do"},
	[FINDING_EDIT] = {"edit", SQL_TEXT,
			  .description = "the edit of `headway whatif` that stands for the fix"},
	[FINDING_STEP_AFTER] = {"step_after", SQL_DURATION,
				.description = "the predicted step with the fix"},
	[FINDING_SPEEDUP] = {"speedup", SQL_REAL, .description = "how many times faster that is"},
	[FINDING_FILE] = {"file", SQL_TEXT,
			  .description = "the source file of its costliest place"},
	[FINDING_LINE] = {"line", SQL_NUMBER, .description = "the line in it"},
	[FINDING_FUNCTION] = {"function", SQL_TEXT, .description = "the function there"},
	[FINDING_EVIDENCE] = {"evidence", SQL_ROW,
			      .description = "spans.id of a span that proves it"},
};

static bool findings_make(struct sql_source *source, uint32_t *rows, struct hwy_err *err)
{
	if (!sql_source_diagnosis(source, err))
		return false;
	*rows = source->diagnosis->n + source->diagnosis->n_acquitted;
	return true;
}

static struct hwy_cell finding_place(const struct hwy_finding *finding, uint32_t column)
{
	const struct hwy_place *place = finding->n_places ? &finding->places[0].at : NULL;
	if (!place)
		return sql_none();
	switch (column) {
	case FINDING_FILE: return sql_textz(place->file);
	case FINDING_LINE: return place->line ? sql_int(place->line) : sql_none();
	default: return sql_textz(place->function);
	}
}

static struct hwy_cell finding_cell(struct sql_source *source, uint32_t row, uint32_t column)
{
	const struct hwy_diagnosis *d = source->diagnosis;
	const struct hwy_finding *finding =
		row < d->n ? &d->findings[row] : &d->acquitted[row - d->n];
	const struct hwy_predicted *predicted = &finding->predicted;
	switch (column) {
	case FINDING_ID: return sql_textz(finding->kind->id);
	case FINDING_TITLE: return sql_textz(hwy_tr(finding->kind->title));
	case FINDING_PHASE: return sql_int(finding->phase);
	case FINDING_RANK: return sql_known(finding->rank);
	case FINDING_ACQUITTED: return sql_int(finding->is_acquitted);
	case FINDING_COST: return sql_int(finding->cost);
	case FINDING_SHARE: return sql_real(finding->share);
	case FINDING_CONFIDENCE: return sql_textz(hwy_confidence_names[finding->confidence]);
	case FINDING_VERDICT:
		return finding->word < VERDICTS ? sql_textz(verdict_words[finding->word])
						: sql_none();
	case FINDING_SAYS: return sql_textz(finding->says);
	case FINDING_ADVICE: return sql_textz(finding->advice);
	case FINDING_EDIT: return sql_textz(predicted->is_known ? predicted->edits : finding->edit);
	case FINDING_STEP_AFTER: return predicted->is_known ? sql_int(predicted->step) : sql_none();
	case FINDING_SPEEDUP:
		return predicted->is_known ? sql_real(predicted->speedup) : sql_none();
	case FINDING_EVIDENCE:
		return finding->n_evidence ? sql_int(finding->evidence[0]) : sql_none();
	default: return finding_place(finding, column);
	}
}

const struct sql_table table_findings = {
	.name = "findings",
	.about = "what analyze finds, the weightiest first, then acquitted suspects",
	SQL_COLUMNS(finding_columns),
	.make = findings_make,
	.cell = finding_cell};

enum {
	VERDICT_VERDICT,
	VERDICT_SAYS,
	VERDICT_SHARE,
	VERDICT_COVERAGE,
	VERDICT_RECORDING,
	VERDICT_JUDGED
};
static const struct sql_column verdict_columns[] = {
	[VERDICT_VERDICT] =
		{"verdict", SQL_TEXT,
		 .description = "what holds the program back, in a word or two (docs/verdict.md)"},
	[VERDICT_SAYS] = {"says", SQL_TEXT, .description = "the same as a sentence"},
	[VERDICT_SHARE] = {"share", SQL_REAL,
			   .description = "the share of the judged time that counts for it, 0 … 1"},
	[VERDICT_COVERAGE] = {"coverage", SQL_REAL,
			      .description = "the share of the recording that was judged, 0 … 1"},
	[VERDICT_RECORDING] = {"recording", SQL_DURATION, .description = "the recording"},
	[VERDICT_JUDGED] = {"judged", SQL_DURATION,
			    .description = "the steady steps that were judged"},
};

static bool verdict_make(struct sql_source *source, uint32_t *rows, struct hwy_err *err)
{
	*rows = 1;
	return sql_source_diagnosis(source, err);
}

static struct hwy_cell verdict_cell(struct sql_source *source, uint32_t row, uint32_t column)
{
	const struct verdict *verdict = &source->diagnosis->verdict;
	(void)row;
	switch (column) {
	case VERDICT_VERDICT: {
		char *name = verdict_name(verdict, false).text;
		return sql_textz(hwy_arena_text(&source->arena, name, strlen(name)));
	}
	case VERDICT_SAYS: return sql_textz(verdict->says);
	case VERDICT_SHARE: return sql_real(verdict->shares[verdict->word]);
	case VERDICT_COVERAGE: return sql_real(verdict->coverage);
	case VERDICT_RECORDING: return sql_int(verdict->account.recording);
	default: return sql_int(verdict->account.judged);
	}
}

const struct sql_table table_verdict = {.name = "verdict",
					.about = "one row: what holds the program back",
					SQL_COLUMNS(verdict_columns),
					.make = verdict_make,
					.cell = verdict_cell};
