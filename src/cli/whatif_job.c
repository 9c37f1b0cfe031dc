/* SPDX-License-Identifier: Apache-2.0 */
/* whatif_job.c - see whatif_job.h. Without steps there is no bar: the job was recorded once. */
#include "cli/whatif_job.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/lang.h"
#include "base/say.h"
#include "cli/kit/cli.h"
#include "cli/kit/table.h"
#include "diagnose/diagnose.h"

struct job_prediction {
	char name[256]; /* the edits: "straggler:1 + faster-link:2" */
	int64_t length; /* ns */
};

struct job_predictions {
	struct joint joint;
	int64_t recorded; /* ns */
	struct job_prediction *items;
	uint32_t n;
};

static void name_edits(char *text, size_t size, const struct whatif_edit *edits, uint32_t n)
{
	size_t used = 0;
	*text = 0;
	for (uint32_t i = 0; i < n && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s%s%s", i ? " + " : "",
					 edits[i].kind->id, *edits[i].arguments ? ":" : "",
					 edits[i].arguments);
}

static bool predict_job(struct job_predictions *p, const struct whatif_edit *edits, uint32_t n,
			struct hwy_err *err)
{
	struct job_prediction *one = &p->items[p->n];
	name_edits(one->name, sizeof one->name, edits, n);
	if (!whatif_run_length(&p->joint.ranks[0], edits, n, &one->length, err))
		return false;
	p->n++;
	return true;
}

/* Keeps, of the predictions that one rank is as quick as its peers, the one that gains most, if
 * that is worth a line. */
static void try_ranks(struct job_predictions *p)
{
	enum { MOST_RANKS = 64 }; /* each costs a replay of all ranks */
	struct job_prediction best = {.length = p->recorded};
	struct hwy_err ignored;
	for (uint32_t r = 0; r < p->joint.n && p->joint.n <= MOST_RANKS; r++) {
		char text[64];
		struct whatif_edit edit;
		snprintf(text, sizeof text, "straggler:%" PRId64, p->joint.numbers[r]);
		if (!edit_read(text, &edit) || !predict_job(p, &edit, 1, &ignored))
			continue;
		const struct job_prediction *one = &p->items[--p->n];
		best = one->length < best.length ? *one : best;
	}
	if ((double)(p->recorded - best.length) >= HWY_WORTH_SHARE * (double)p->recorded)
		p->items[p->n++] = best;
}

/* What may help a job: a late rank in time, or a faster link. Fewer and larger collectives
 * (bucket) are not among it: a program that waits in every collective mostly needs what came of
 * it. */
static void try_usual(struct job_predictions *p)
{
	struct hwy_err ignored;
	struct whatif_edit edit;
	try_ranks(p);
	if (edit_read("faster-link:2", &edit))
		predict_job(p, &edit, 1, &ignored);
}

static double speedup_of(const struct job_predictions *p, const struct job_prediction *one)
{
	return one->length > 0 ? (double)p->recorded / (double)one->length : 1;
}

static void whatif_job_text(FILE *out, const struct job_predictions *p)
{
	const struct links *links = &p->joint.links;
	fprintf(out,
		hwy_tr("%s as recorded: %u ranks without device work, joined by %u collective%s and %u "
		       "message%s\n\n"),
		hwy_say_time4(p->recorded).text, p->joint.n, links->n_meetings,
		links->n_meetings == 1 ? "" : "s", links->n_messages,
		links->n_messages == 1 ? "" : "s");
	struct table table = {.columns = 3, .heads = 1, .colour = cli_colour(out), .indent = "  "};
	table_row(&table, (const char *[]){hwy_tr("with"), hwy_tr("job"), hwy_tr("gain")});
	for (uint32_t i = 0; i < p->n; i++) {
		table_cell(&table, "%s", p->items[i].name);
		table_time(&table, p->items[i].length);
		table_cell(&table, "%.2f×", speedup_of(p, &p->items[i]));
	}
	table_print(&table, out);
}

static void whatif_job_json(FILE *out, const struct job_predictions *p)
{
	struct hwy_json json = {.out = out, .pretty = true};
	json_begin_object(&json);
	json_put_int(&json, "job_ns", p->recorded);
	json_put_int(&json, "ranks", p->joint.n);
	json_put_int(&json, "collectives", p->joint.links.n_meetings);
	json_put_int(&json, "messages", p->joint.links.n_messages);
	json_key(&json, "exact");
	json_bool(&json, p->joint.differ == 0);
	json_key(&json, "predictions");
	json_begin_array(&json);
	for (uint32_t i = 0; i < p->n; i++) {
		json_begin_object(&json);
		json_put_text(&json, "edits", p->items[i].name);
		json_put_int(&json, "job_ns", p->items[i].length);
		json_key(&json, "speedup");
		json_real(&json, speedup_of(p, &p->items[i]), 4);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
	fputc('\n', out);
}

bool whatif_job_print(FILE *out, const struct opened_job *opened, const struct whatif_edit *edits,
		      uint32_t n, bool is_json, struct hwy_err *err)
{
	enum { MOST_TRIED = 8 };
	struct job_predictions p = {.items = hwy_zarray(MOST_TRIED, sizeof *p.items)};
	bool done = joint_open_run(&p.joint, opened->ranks, opened->n, err);
	if (done) {
		done = whatif_run_length(&p.joint.ranks[0], NULL, 0, &p.recorded, err) &&
		       (n == 0 || predict_job(&p, edits, n, err));
		if (done && n == 0)
			try_usual(&p);
		if (done)
			(is_json ? whatif_job_json : whatif_job_text)(out, &p);
		joint_close(&p.joint);
	}
	free(p.items);
	return done;
}
