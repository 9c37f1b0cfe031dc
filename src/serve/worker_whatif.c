/* SPDX-License-Identifier: Apache-2.0 */
/* worker_whatif.c - reads the questions of the viewer, and answers "what if": a prediction, and
 * a typical step as recorded and as predicted. Flame graphs and SQL have files of their own. */
#include <stdlib.h>
#include <string.h>

#include "base/json_fields.h"
#include "base/memory_text.h"
#include "serve/worker.h"
#include "whatif/joint.h"
#include "whatif/replayed_steps.h"

enum {
	MOST_EDITS = 32,
	MOST_BARS = 20000, /* the most calls and ops of a picture of a step */
};

/* ---- the question ---------------------------------------------------------------------------- */

/* Yields the edit with whose name the text begins, or NULL. */
static const struct edit_kind *edit_at_begin(const char *text)
{
	char id[64];
	size_t n = strcspn(text, ":,");
	if (n >= sizeof id)
		return NULL;
	memcpy(id, text, n);
	id[n] = 0;
	return edit_find(id);
}

/* Reads "pin,remove-wait:train.py:23". Only a comma before the name of an edit ends the edit
 * before it, because places may contain commas. The text is cut into pieces that 'edits' refers
 * to. */
static bool read_edits(char *text, struct whatif_edit *edits, uint32_t *n, struct hwy_err *err)
{
	*n = 0;
	while (*text) {
		const struct edit_kind *kind = edit_at_begin(text);
		if (!kind)
			return hwy_fail(err, "there is no edit '%.60s'", text);
		if (*n == MOST_EDITS)
			return hwy_fail(err, "more than %d edits", MOST_EDITS);
		char *end = strchr(text, ',');
		while (end && !edit_at_begin(end + 1))
			end = strchr(end + 1, ',');
		if (end)
			*end = 0;
		char *colon = text + strlen(kind->id);
		edits[(*n)++] = (struct whatif_edit){kind, *colon == ':' ? colon + 1 : ""};
		text = end ? end + 1 : text + strlen(text);
	}
	return true;
}

/* ---- the picture ----------------------------------------------------------------------------- */

/* One step, drawn twice: as recorded, and as the replay of the edited graph predicts it. */
struct picture {
	const struct whatif *w;
	struct worker_job *ranks;      /* NULL, or the job of which 'w' is a rank's own recording */
	uint32_t member;               /* which one */
	const struct hwy_graph *graph; /* the edited graph */
	const int64_t *ends;           /* by node: its end in the replay */
	struct hwy_json *json;
	int64_t recorded, predicted; /* when the step begins, in the recording and in the replay */
	uint32_t n, left_out;        /* bars written, and bars beyond MOST_BARS */
};

static void put_bar(struct picture *p, uint32_t own, int64_t start, int64_t end, int64_t begin,
		    int64_t finish)
{
	uint32_t row;
	struct hwy_trace *trace = p->ranks ? p->ranks->view->trace : p->w->flow->trace;
	int64_t found = p->ranks ? worker_job_span(p->ranks, p->member, own) : own;
	if (p->n == MOST_BARS || found == HWY_NONE) {
		p->left_out++;
		return;
	}
	uint32_t span = (uint32_t)found;
	const struct hwy_strip *strip = hwy_strip_of(trace, span, &row);
	p->n++;
	int64_t name = hwy_get(strip, HWY_NAME, row);
	json_begin_array(p->json);
	json_int(p->json, span);
	json_int(p->json, strip->lane);
	json_int(p->json, span_color(trace, strip->kind, name));
	json_int(p->json, span_names_id(trace, strip, row));
	json_int(p->json, start - p->recorded);
	json_int(p->json, end - start);
	json_int(p->json, begin - p->predicted);
	json_int(p->json, finish - begin);
	json_end_array(p->json);
}

static void put_bars(struct picture *p, uint32_t step)
{
	const struct hwy_flow *flow = p->w->flow;
	const struct phase_step *recorded = &p->w->phase->steps[step];
	const struct hwy_graph *graph = p->graph;
	for (uint32_t i = 0; i < graph->n; i++) {
		const struct graph_node *node = &graph->nodes[i];
		int64_t begin = replay_begin(graph, p->ends, i);
		if (node->kind == GRAPH_OP && p->w->step_of[node->flow_index] == hwy_ref32(step)) {
			const struct flow_op *op = &flow->ops[node->flow_index];
			put_bar(p, op->span, op->start, op->end, begin, p->ends[i]);
		} else if (node->kind == GRAPH_CALL &&
			   node->flow_index - recorded->first_call < recorded->n_calls &&
			   flow->calls[node->flow_index].process == p->w->phase->process) {
			const struct flow_call *call = &flow->calls[node->flow_index];
			uint32_t back = graph_return(graph, node->flow_index);
			/* A call that exchanges data ends when the other ranks let it. */
			if (back == GRAPH_NONE)
				back = graph_leave(graph, node->flow_index);
			put_bar(p, call->span, call->start, call->end, begin,
				p->ends[back == GRAPH_NONE ? i : back]);
		}
	}
}

/* Yields the steady step whose duration is nearest to the median. */
static uint32_t typical_step(const struct hwy_phase *phase)
{
	uint32_t best = phase->first_steady;
	int64_t nearest = INT64_MAX;
	for (uint32_t i = 0; i < phase->n_steady; i++) {
		const struct phase_step *step = &phase->steps[phase->first_steady + i];
		int64_t distance = llabs(step->device.to - step->device.from - phase->median);
		if (distance < nearest) {
			nearest = distance;
			best = phase->first_steady + i;
		}
	}
	return best;
}

static bool put_picture(const struct whatif *w, struct picture p, const struct whatif_edit *edits,
			uint32_t n, struct hwy_err *err)
{
	struct hwy_graph copy;
	struct hwy_json *json = p.json;
	char note[WHATIF_NOTE];
	int64_t *ends;
	if (!whatif_replay_edits(w, edits, n, &copy, &ends, note, err))
		return false;
	uint32_t step = typical_step(w->phase);
	if (w->phase->n_steps > 0) {
		struct step_time *steps = replayed_steps_time(w, &copy, ends);
		p.w = w;
		p.graph = &copy;
		p.ends = ends;
		p.recorded = w->phase->steps[step].device.from;
		p.predicted = steps[step].begin == INT64_MAX ? 0 : steps[step].begin;
		json_put_text(json, "note", note);
		json_put_int(json, "shown_step", step);
		json_key(json, "ops");
		json_begin_array(json);
		if (steps[step].begin != INT64_MAX)
			put_bars(&p, step);
		json_end_array(json);
		json_put_int(json, "left_out", p.left_out);
		free(steps);
	}
	free(ends);
	graph_free(&copy);
	return true;
}

/* ---- the answer ------------------------------------------------------------------------------ */

static const struct json_field prediction_fields[] = {
	{JSON_FIELD_INT(struct whatif_prediction, step, "step")},
	{JSON_FIELD_INT(struct whatif_prediction, p10, "p10")},
	{JSON_FIELD_INT(struct whatif_prediction, p90, "p90")},
	{JSON_FIELD_REAL(struct whatif_prediction, speedup, "speedup", 4)},
	{JSON_FIELD_TEXT(struct whatif_prediction, bound, "bound")},
};

static bool worker_whatif_predict(const struct whatif *w, struct picture picture, char *text,
				  struct hwy_err *err)
{
	struct hwy_json *json = picture.json;
	struct whatif_edit edits[MOST_EDITS];
	struct whatif_prediction p;
	uint32_t n;
	json_put_text(json, "edits", text);
	if (!read_edits(text, edits, &n, err) || !whatif_predict(w, edits, n, &p, err))
		return false;
	json_put_int(json, "phase", w->phase_index);
	json_put_int(json, "recorded", w->recorded);
	json_put_int(json, "base", w->base.step);
	json_put_fields(json, JSON_FIELDS(prediction_fields), &p);
	return put_picture(w, picture, edits, n, err);
}

/* ---- which edits there are something to change for ------------------------------------------- */

/* Yields arguments with which an edit can be tried, where it needs any. */
static const char *trial_arguments(const struct edit_kind *kind)
{
	if (strncmp(kind->arguments, ":WHAT", 5) == 0)
		return "gpu:10";
	return *kind->arguments == ':' ? "2" : "";
}

/* Writes for each edit why it changes nothing in this phase; null where it does. */
static void put_applicable(const struct whatif *w, struct hwy_json *json)
{
	json_put_int(json, "phase", w->phase_index);
	json_key(json, "edits");
	json_begin_array(json);
	for (size_t i = 0; edit_kinds[i]; i++) {
		const struct whatif_edit edit = {edit_kinds[i], trial_arguments(edit_kinds[i])};
		struct hwy_graph graph;
		struct hwy_err err = {0};
		bool applies = whatif_apply(w, &edit, 1, &graph, NULL, &err);
		if (applies)
			graph_free(&graph);
		json_begin_object(json);
		json_put_text(json, "id", edit.kind->id);
		json_put_text(json, "why", applies ? NULL : err.text);
		json_end_object(json);
	}
	json_end_array(json);
}

/* The graph of the phase in the last question stays open, because sliders of the page ask many
 * questions in a row. */
struct answering {
	struct hwy_analysis *analysis;
	struct worker_job *ranks; /* or NULL */
	int input;      /* the file descriptor from which questions come; -1: there is none */
	uint32_t phase; /* that is open */
	struct whatif alone;
	/* The ranks of a job, or those inside the recording, replayed together; n is 0 where
	 * nothing joins them. */
	struct joint joint;
	uint32_t *members; /* by rank of 'joint': the member of the job */
	uint32_t shown;    /* which rank of 'joint' is drawn */
	bool is_open;
};

static const struct whatif *opened(const struct answering *a)
{
	return a->joint.n > 0 ? &a->joint.ranks[a->shown] : &a->alone;
}

static void close_phase(struct answering *a)
{
	if (a->is_open && a->joint.n > 0)
		joint_close(&a->joint);
	else if (a->is_open)
		whatif_close(&a->alone);
	free(a->members);
	a->members = NULL;
	a->joint = (struct joint){0};
	a->is_open = false;
}

/* Joins the ranks of a job, each by its own recording, as `headway whatif FOLDER` does; those
 * without device work are left out. */
static bool join_job(struct answering *a, struct hwy_err *err)
{
	const struct worker_job *job = a->ranks;
	struct joint_rank *ranks = hwy_array(job->job->n, sizeof *ranks);
	uint32_t n = 0;
	a->members = hwy_array(job->job->n, sizeof *a->members);
	for (uint32_t r = 0; r < job->job->n; r++) {
		const struct ranks_member *member = &job->members[r];
		if (member->analysis->phases.n == 0)
			continue;
		ranks[n] = (struct joint_rank){.rank = member->rank,
					       .analysis = member->analysis,
					       .phase = member->phase,
					       .process = FLOW_NO_PROCESS};
		a->members[n++] = r;
	}
	a->shown = 0;
	bool done = n > 1 ? joint_open(&a->joint, ranks, n, false, err)
			  : hwy_fail(err, "fewer than two ranks have device work");
	free(ranks);
	return done;
}

/* Joins the ranks inside the recording; false where it has one rank, or no collective joins
 * them. */
static bool join_inside(struct answering *a, uint32_t phase)
{
	uint32_t n, shown = 0;
	struct hwy_err ignored;
	struct joint_rank *ranks = joint_ranks_of(a->analysis, &n);
	uint32_t process = a->analysis->phases.phases[phase].process;
	while (ranks && shown < n && ranks[shown].process != process)
		shown++;
	bool done = ranks && shown < n;
	if (done)
		ranks[shown].phase = phase;
	done = done && joint_open(&a->joint, ranks, n, false, &ignored);
	free(ranks);
	if (!done)
		a->joint = (struct joint){0};
	a->shown = shown;
	return done;
}

static bool open_phase(struct answering *a, uint32_t phase, struct hwy_err *err)
{
	if (a->is_open && a->phase == phase)
		return true;
	close_phase(a);
	if (a->analysis->phases.n == 0)
		return hwy_fail(err, "no device work: nothing to replay");
	if (phase >= a->analysis->phases.n)
		return hwy_fail(err, "there is no phase %u", phase);
	a->phase = phase;
	a->is_open = a->ranks ? join_job(a, err)
			      : join_inside(a, phase) ||
					whatif_open(&a->alone, a->analysis, phase, false, err);
	if (!a->is_open)
		close_phase(a);
	return a->is_open;
}

/* Answers a question "PHASE EDITS", whose text is cut into pieces. */
static void answer_edits(struct answering *a, FILE *out, char *question)
{
	struct hwy_err err = {0};
	char *edits;
	long phase = strtol(question, &edits, 10);
	edits += *edits == ' ';
	struct hwy_json json = {.out = out};
	json_begin_object(&json);
	bool ok = open_phase(a, phase < 0 ? a->analysis->phases.main : (uint32_t)phase, &err);
	struct picture picture = {.json = &json, .ranks = a->ranks};
	if (ok && a->members)
		picture.member = a->members[a->shown];
	if (ok && strcmp(edits, WORKER_APPLICABLE) == 0)
		put_applicable(opened(a), &json);
	else
		ok = ok && worker_whatif_predict(opened(a), picture, edits, &err);
	if (!ok)
		json_put_text(&json, "error", err.text);
	json_end_object(&json);
}

static bool question_has_word(const char *text, const char *word)
{
	return strncmp(text, word, strlen(word)) == 0;
}

static void answer_question(struct answering *a, FILE *out, const char *line)
{
	char *question = hwy_copy(line, strlen(line) + 1);
	question[strcspn(question, "\n")] = 0;
	if (question_has_word(question, WORKER_FLAME_WORD))
		worker_flame(out, a->analysis, question + strlen(WORKER_FLAME_WORD));
	else if (question_has_word(question, WORKER_SQL_WORD))
		worker_sql(out, a->input, a->analysis, question + strlen(WORKER_SQL_WORD));
	else
		answer_edits(a, out, question);
	free(question);
}

void worker_whatif(FILE *out, struct hwy_analysis *analysis, struct worker_job *ranks,
		   const char *question)
{
	struct answering a = {.analysis = analysis, .ranks = ranks, .input = -1};
	answer_question(&a, out, question);
	close_phase(&a);
}

void worker_whatif_answer_lines(FILE *in, FILE *out, struct hwy_analysis *analysis,
				struct worker_job *ranks)
{
	struct answering a = {.analysis = analysis, .ranks = ranks, .input = fileno(in)};
	char *line = NULL;
	size_t cap = 0;
	/* Without a buffer, poll sees in the file descriptor every line that was not read yet. */
	setvbuf(in, NULL, _IONBF, 0);
	while (getline(&line, &cap, in) > 0) {
		/* The question that this line cancels was answered before the line came. */
		if (strcmp(line, WORKER_CANCEL) == 0)
			continue;
		struct memory_text memory;
		memory_text_begin(&memory);
		answer_question(&a, memory.out, line);
		memory_text_end(&memory);
		worker_tell_frame(out, WORKER_WHATIF, memory.text, memory.length);
		fflush(out);
		free(memory.text);
	}
	free(line);
	close_phase(&a);
}
