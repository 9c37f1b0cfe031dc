/* SPDX-License-Identifier: Apache-2.0 */
/* digest_make.c - the digest of one recording; see digest.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "digest/digest.h"
#include "digest/digest_file.h"
#include "import/import.h"
#include "job/job.h"
#include "job/job_parts.h"

const char *const digest_numbers_names[DIGEST_NUMBERS] = {
	[DIGEST_NO_STEPS] = "none",
	[DIGEST_MARKED] = "marks",
	[DIGEST_COUNTED] = "order",
	[DIGEST_COLLECTIVES] = "collectives",
};
const char *const digest_way_names[] = {"collective", "sent", "received"};

const char *digest_keep(struct rank_digest *digest, const char *text)
{
	size_t length = text ? strlen(text) : 0;
	if (length > DIGEST_TEXT_BYTES) {
		length = DIGEST_TEXT_BYTES;
		/* Bytes 10xxxxxx go on with a character of UTF-8. */
		while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
			length--;
	}
	return hwy_arena_text(&digest->arena, length ? text : "", length);
}

int64_t digest_step_of(const struct rank_digest *digest)
{
	const struct compare_phase *phase = digest_phase(digest);
	if (phase)
		return phase->step;
	return digest->steps.n > 0 ? digest->window / digest->steps.n : 0;
}

/* ---- who ------------------------------------------------------------------------------------- */

static int64_t number_of(const struct hwy_trace *trace, const char *property)
{
	const char *text = hwy_property(trace, property);
	char *end;
	int64_t number = text ? strtoll(text, &end, 10) : 0;
	return text && *text && !*end ? number : HWY_NONE;
}

const char *digest_folder_name(struct rank_digest *digest, const char *path)
{
	char *whole = realpath(path, NULL), *slash = whole ? strrchr(whole, '/') : NULL;
	if (slash)
		*slash = '\0';
	const char *name = slash ? digest_keep(digest, hwy_basename(whole)) : "";
	free(whole);
	return name;
}

static void note_who(struct rank_digest *digest, const struct hwy_analysis *analysis,
		     const char *path)
{
	const struct hwy_trace *trace = analysis->trace;
	const char *id = hwy_property(trace, "job.id");
	digest->is_named = id && *id;
	digest->job = digest->is_named ? digest_keep(digest, id) : digest_folder_name(digest, path);
	digest->rank = job_rank_of(trace, path);
	digest->local_rank = number_of(trace, "job.local_rank");
	digest->world = number_of(trace, "job.world");
	digest->node = number_of(trace, "job.node");
	digest->topology = digest_keep(digest, hwy_property(trace, "job.topology"));
	digest->started = trace->wall;
	digest->version = HEADWAY_VERSION;
	digest->host = digest->uuid = digest->report = "";
	for (uint32_t i = 0; i < trace->n_processes; i++) {
		const struct hwy_process *process = &trace->processes[i];
		if (process->rank != digest->rank && i > 0)
			continue;
		if (process->host >= 0 && process->host < trace->n_hosts)
			digest->host = digest_keep(
				digest, hwy_str(trace, trace->hosts[process->host].name));
		if (process->local_rank >= 0 && digest->local_rank == HWY_NONE)
			digest->local_rank = process->local_rank;
		if (process->world > 0 && digest->world == HWY_NONE)
			digest->world = process->world;
		if (process->rank == digest->rank)
			break;
	}
	for (uint32_t d = 0; d < analysis->flow.n_devices; d++) {
		int64_t index = analysis->flow.devices[d].device;
		if (index < 0 || index >= trace->n_devices)
			continue;
		digest->uuid = digest_keep(digest, hwy_str(trace, trace->devices[index].uuid));
		break;
	}
}

/* ---- what the summary has too much of -------------------------------------------------------- */

static void cut_phase(struct rank_digest *digest, struct compare_phase *phase)
{
	static const uint32_t most[TABLES] = {[TABLE_KERNELS] = DIGEST_KERNELS,
					      [TABLE_CALLS] = DIGEST_ROWS,
					      [TABLE_RANGES] = DIGEST_ROWS,
					      [TABLE_MODULES] = DIGEST_ROWS};
	for (unsigned t = 0; t < TABLES; t++) {
		struct compare_table *table = &phase->tables[t];
		if (table->n <= most[t])
			continue;
		table->left_out += table->n - most[t];
		table->n = most[t];
	}
	if (phase->n_findings > DIGEST_FINDINGS)
		phase->n_findings = DIGEST_FINDINGS;
	phase->values = NULL; /* the buckets tell them */
	phase->n_values = phase->group = 0;
	for (uint32_t i = 0; i < phase->n_findings; i++)
		phase->findings[i].place = digest_keep(digest, phase->findings[i].place);
}

/* What was seen, for the findings that the summary kept: both lists have the order of the
 * diagnosis. */
static void note_says(struct rank_digest *digest, const struct hwy_diagnosis *diagnosis,
		      uint32_t phase, uint32_t n)
{
	uint32_t k = 0;
	digest->says = hwy_arena_array(&digest->arena, n, sizeof *digest->says);
	digest->words = hwy_arena_array(&digest->arena, n, sizeof *digest->words);
	for (uint32_t i = 0; i < diagnosis->n && k < n; i++) {
		const struct hwy_finding *finding = &diagnosis->findings[i];
		if (finding->phase != phase)
			continue;
		digest->says[k] = digest_keep(digest, finding->says);
		digest->words[k++] = (uint8_t)finding->word;
	}
}

/* The summary of a rank without device work has only its program. */
static void note_program(struct rank_digest *digest, const struct hwy_trace *trace)
{
	const char *command =
		trace->n_processes > 0 ? hwy_str(trace, trace->processes[0].command) : "";
	size_t length;
	const char *program = hwy_program_name(command, &length);
	digest->summary.program = hwy_arena_text(&digest->arena, program, length);
}

static bool note_summary(struct rank_digest *digest, struct hwy_analysis *analysis,
			 const struct hwy_diagnosis *diagnosis, const char *path,
			 struct hwy_err *err)
{
	digest->word = diagnosis->verdict.word;
	memcpy(digest->shares, diagnosis->verdict.shares, sizeof digest->shares);
	if (analysis->phases.n == 0) {
		note_program(digest, analysis->trace);
		return true;
	}
	if (!summary_make(&digest->summary, hwy_basename(path), analysis, diagnosis, err)) {
		summary_free(&digest->summary);
		return false;
	}
	digest->summary.n = 1;
	cut_phase(digest, &digest->summary.phases[0]);
	note_says(digest, diagnosis, digest->summary.indexes[0],
		  digest->summary.phases[0].n_findings);
	return true;
}

static int64_t whole(double value, double most)
{
	return isfinite(value) && value > 0 && value < most ? llround(value) : 0;
}

/* How many threads the kernels of a step launch: kernels that take longer with more threads have
 * more to do. */
static bool note_threads(struct rank_digest *digest, struct hwy_analysis *analysis,
			 struct hwy_err *err)
{
	const struct hwy_flow *flow = &analysis->flow;
	if (analysis->phases.main >= analysis->phases.n)
		return true;
	if (!hwy_need(analysis->trace, HWY_KIND_BIT(HWY_KERNEL), HWY_COL_BIT(HWY_SHAPE), err))
		return false;
	const struct hwy_phase *phase = &analysis->phases.phases[analysis->phases.main];
	double sum = 0;
	for (uint32_t i = flow_op_at(flow, phase->window.from);
	     i < flow->n_ops && flow->ops[i].start < phase->window.to; i++) {
		const struct flow_op *op = &flow->ops[i];
		uint32_t row;
		if (op->kind != HWY_KERNEL || op->class != HWY_COMPUTE ||
		    !phase_has_call(phase, op->call))
			continue;
		const struct hwy_strip *strip = hwy_strip_of(analysis->trace, op->span, &row);
		const struct hwy_shape *shape = hwy_get_shape(analysis->trace, strip, row);
		if (shape && shape->grid_x > 0 && shape->block_x > 0)
			sum += (double)shape->grid_x * (double)shape->grid_y *
			       (double)shape->grid_z * (double)shape->block_x *
			       (double)shape->block_y * (double)shape->block_z;
	}
	digest->threads = whole(phase->n_steady ? sum / phase->n_steady : 0, 1e15);
	return true;
}

/* ---- the GPU, and what the recording lacks --------------------------------------------------- */

static void note_clocks(struct rank_digest *digest, struct hwy_analysis *analysis)
{
	struct device_clocks clocks;
	int64_t device = analysis->flow.n_devices > 0 ? analysis->flow.devices[0].device : HWY_NONE;
	for (unsigned i = 0; i < CLOCK_LIMITS; i++)
		digest->held_down[i] = HWY_NONE;
	if (device < 0 || !device_clocks_read(&clocks, analysis_metrics(analysis), device))
		return;
	digest->clock_median_hz = whole(clocks.sm.samples ? clocks.sm.median : 0, 1e12);
	digest->clock_least_hz = whole(clocks.sm.samples ? clocks.sm.least : 0, 1e12);
	digest->clock_most_hz = whole(clocks.most_sm, 1e12);
	digest->power_median_mw = whole(clocks.power.samples ? clocks.power.median * 1000 : 0, 1e9);
	digest->temperature_most_mc =
		whole(clocks.temperature.samples ? clocks.temperature.most * 1000 : 0, 1e9);
	memcpy(digest->held_down, clocks.lost, sizeof digest->held_down);
}

static void note_lacks(struct rank_digest *digest, const struct hwy_analysis *analysis)
{
	for (unsigned i = 0; i < HWY_LACKS; i++)
		if (analysis->trust.lacks[i].effect != HWY_EFFECT_NONE)
			digest->lacks[i] = analysis->trust.lacks[i].count;
	for (uint32_t i = 0; i < analysis->trace->n_drops; i++)
		if (analysis->trace->drops[i].count > 0)
			digest->dropped += (uint64_t)analysis->trace->drops[i].count;
}

/* ---- the whole ------------------------------------------------------------------------------- */

bool digest_make_of(struct rank_digest *digest, struct hwy_analysis *analysis,
		    const struct hwy_diagnosis *diagnosis, const char *path, struct hwy_err *err)
{
	*digest = (struct rank_digest){0};
	note_who(digest, analysis, path);
	if (digest->rank == HWY_NONE) {
		digest_free(digest);
		return hwy_fail(err, "%s: does not tell its rank", path);
	}
	digest->steps.wall = HWY_NONE;
	note_clocks(digest, analysis);
	note_lacks(digest, analysis);
	if (note_summary(digest, analysis, diagnosis, path, err) &&
	    note_threads(digest, analysis, err) && digest_note_steps(digest, analysis, err) &&
	    digest_note_exchanges(digest, analysis, err))
		return true;
	struct hwy_err why = *err;
	digest_free(digest);
	return hwy_fail(err, "%s: %s", path, why.text);
}

static bool make_one(struct rank_digest *digest, struct hwy_trace *trace, const char *path,
		     struct hwy_err *err)
{
	struct hwy_analysis analysis;
	struct hwy_diagnosis diagnosis;
	struct analysis_options how = {0};
	if (!analysis_make(&analysis, trace, &how, err)) {
		struct hwy_err why = *err;
		return hwy_fail(err, "%s: %s", path, why.text);
	}
	bool done = diagnose(&analysis, &diagnosis, err);
	if (done) {
		done = digest_make_of(digest, &analysis, &diagnosis, path, err);
		diagnosis_free(&diagnosis);
	}
	analysis_free(&analysis);
	return done;
}

bool digest_make(struct rank_digest **digests, uint32_t *n, const char *path, struct hwy_err *err)
{
	struct digest_source source;
	uint32_t n_parts = 0;
	*n = 0;
	/* Before the report is read: whoever replaces it meanwhile makes the digest stale. */
	if (!digest_source_of(&source, path, err))
		return false;
	struct hwy_trace *trace = hwy_open(path, NULL, err);
	if (!trace)
		return false;
	struct hwy_trace **parts = job_parts_make(trace, &n_parts, err);
	bool done = parts || n_parts == 0;
	n_parts = parts ? n_parts : 1;
	*digests = hwy_zarray(n_parts, sizeof **digests);
	for (uint32_t i = 0; i < n_parts && done; i++) {
		struct rank_digest *digest = &(*digests)[i];
		done = make_one(digest, parts ? parts[i] : trace, path, err);
		if (!done)
			break;
		digest->report = digest_keep(digest, hwy_basename(path));
		digest->report_bytes = source.bytes;
		digest->report_identity = source.identity;
		++*n;
	}
	for (uint32_t i = 0; i < n_parts && parts; i++)
		hwy_trace_free(parts[i]);
	free(parts);
	hwy_trace_free(trace);
	if (!done)
		digests_free(*digests, *n);
	return done;
}

void digests_free(struct rank_digest *digests, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		digest_free(&digests[i]);
	free(digests);
}

void digest_free(struct rank_digest *digest)
{
	summary_free(&digest->summary);
	hwy_arena_free(&digest->arena);
	*digest = (struct rank_digest){0};
}
