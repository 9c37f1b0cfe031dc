/* SPDX-License-Identifier: Apache-2.0 */
/* summary_file.c - summaries as baseline files: small JSON that may be kept in a repository.
 *
 * One table of fields writes and reads each struct; docs/ci.md says what the keys mean. Keys are
 * added, never renamed; a change of meaning raises BASELINE_VERSION. What is read is checked: where
 * parts do not add up to the step, or numbers are such as no step can have, the file is refused, so
 * that no comparison is wrong.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json_fields.h"
#include "compare/summary.h"

/* No time or count of a step comes near this; sums of some such numbers still fit 64 bits. */
#define MOST_NUMBER (INT64_C(1) << 52)
enum { MOST_RUNS = 500 };

/* Numbers outside 0 … MOST_NUMBER, or 0 … INT32_MAX for a uint32_t, are read as 0. */
#define NUMBER(of, member, name) JSON_FIELD_INT(of, member, name), .most = MOST_NUMBER
#define SMALL(of, member, name) JSON_FIELD_INT(of, member, name), .most = INT32_MAX

/* ---- findings -------------------------------------------------------------------------------- */

static bool is_predicted(const void *object)
{
	const struct compare_finding *finding = object;
	return finding->predicted.is_known;
}

static const struct json_field prediction_fields[] = {
	{JSON_FIELD_TEXT(struct compare_prediction, edits, "edits")},
	{NUMBER(struct compare_prediction, before, "before_ns")},
	{NUMBER(struct compare_prediction, step, "step_ns")},
	{NUMBER(struct compare_prediction, p10, "p10_ns")},
	{NUMBER(struct compare_prediction, p90, "p90_ns")},
	{JSON_FIELD_REAL(struct compare_prediction, speedup, "speedup", 6)},
};

static const struct json_field finding_fields[] = {
	{JSON_FIELD_TEXT(struct compare_finding, id, "id")},
	{JSON_FIELD_TEXT(struct compare_finding, place, "place")},
	{NUMBER(struct compare_finding, cost, "cost_ns")},
	{JSON_FIELD_REAL(struct compare_finding, share, "share", 6)},
	{JSON_FIELD_BOOL(struct compare_finding, is_inside, "inside")},
	{JSON_FIELD_MEMBERS(struct compare_finding, predicted, prediction_fields),
	 .when = is_predicted},
};

static const struct json_field wait_fields[] = {
	{JSON_FIELD_TEXT(struct compare_wait, call, "call")},
	{JSON_FIELD_TEXT(struct compare_wait, place, "place")},
	{NUMBER(struct compare_wait, count, "count")},
};

/* Sets what the file does not have: the title, and whether there is a prediction. */
static void complete_finding(struct compare_finding *finding)
{
	const struct hwy_finding_kind *kind = hwy_finding_kind(finding->id);
	finding->title = kind ? kind->title : finding->id;
	finding->predicted.is_known = finding->predicted.step > 0 && finding->predicted.before > 0;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static const struct json_field row_fields[] = {
	{JSON_FIELD_TEXT(struct compare_row, name, "name")},
	{NUMBER(struct compare_row, count, "count")},
	{NUMBER(struct compare_row, ns, "ns")},
	{JSON_FIELD_REAL(struct compare_row, deviation, "deviation_ns", 3)},
	{JSON_FIELD_REAL(struct compare_row, place, "place", 4)},
};

static const struct json_field table_fields[] = {
	{SMALL(struct compare_table, left_out, "left_out")},
	{JSON_FIELD_ARRAY(struct compare_table, rows, n, "rows", row_fields), .on_one_line = true},
};

/* Drops rows that were never counted: only a damaged file has such rows. */
static void drop_empty_rows(struct compare_table *table)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < table->n; i++)
		if (table->rows[i].count > 0)
			table->rows[kept++] = table->rows[i];
	table->n = kept;
}

/* ---- phases ---------------------------------------------------------------------------------- */

static void put_steps(struct hwy_json *json, const void *object)
{
	const struct compare_phase *phase = object;
	json_begin_array(json);
	json->pretty = false;
	for (uint32_t i = 0; i < phase->n_values; i++)
		json_int(json, phase->values[i]);
	json_end_array(json);
	json->pretty = true;
}

/* Leaves out lengths that no step can have. */
static void get_steps(void *object, const struct json_value *list, struct hwy_arena *arena)
{
	struct compare_phase *phase = object;
	uint32_t n = list && list->type == JSON_ARRAY ? list->n : 0;
	phase->values = hwy_arena_array(arena, n, sizeof *phase->values);
	for (const struct json_value *one = n ? list->first : NULL; one; one = one->next) {
		int64_t value = json_as_int(one, -1);
		if (value >= 0 && value <= MOST_NUMBER)
			phase->values[phase->n_values++] = value;
	}
}

static void put_path(struct hwy_json *json, const void *object)
{
	const struct compare_phase *phase = object;
	json_begin_object(json);
	json->pretty = false;
	for (uint32_t i = 0; i < phase->n_path; i++)
		json_put_int(json, phase->path[i].name, phase->path[i].ns);
	json_end_object(json);
	json->pretty = true;
}

static void get_path(void *object, const struct json_value *list, struct hwy_arena *arena)
{
	struct compare_phase *phase = object;
	for (const struct json_value *one = list ? list->first : NULL;
	     one && one->key && phase->n_path < COMPARE_PATH; one = one->next) {
		phase->path[phase->n_path].name = hwy_arena_text(arena, one->key, strlen(one->key));
		phase->path[phase->n_path++].ns = json_as_int(one, 0);
	}
}

static const struct json_field time_fields[] = {
	{NUMBER(struct compare_phase, step, "mean")},
	{NUMBER(struct compare_phase, p10, "p10")},
	{NUMBER(struct compare_phase, p50, "p50")},
	{NUMBER(struct compare_phase, p90, "p90")},
	{NUMBER(struct compare_phase, p99, "p99")},
	{NUMBER(struct compare_phase, longest, "max")},
	{NUMBER(struct compare_phase, plain, "without_recorder")},
};

static const struct json_field phase_fields[] = {
	{JSON_FIELD_TEXT(struct compare_phase, name, "name")},
	{JSON_FIELD_BOOL(struct compare_phase, repeats, "repeats")},
	{SMALL(struct compare_phase, n_steps, "steps")},
	{SMALL(struct compare_phase, n_steady, "steady_steps")},
	{SMALL(struct compare_phase, n_devices, "devices")},
	/* The step times are one object in the file, but members of the phase in memory. */
	{.key = "step_ns", .type = JSON_AS_OBJECT, JSON_TABLE(time_fields), .on_one_line = true},
	{JSON_FIELD_NAMED_INTS(struct compare_phase, parts, "parts_ns", summary_part_keys),
	 .most = MOST_NUMBER, .on_one_line = true},
	{SMALL(struct compare_phase, group, "group")},
	{JSON_FIELD_CALL_OBJECT("steps_ns", put_steps), .get = get_steps},
	{JSON_FIELD_NAMED_INTS(struct compare_phase, counts, "counts", summary_count_keys),
	 .most = MOST_NUMBER, .on_one_line = true},
	{JSON_FIELD_CALL_OBJECT("path_ns", put_path), .get = get_path},
	{JSON_FIELD_ARRAY(struct compare_phase, findings, n_findings, "findings", finding_fields),
	 .on_one_line = true},
	{JSON_FIELD_ARRAY(struct compare_phase, waits, n_waits, "waits", wait_fields),
	 .on_one_line = true},
	{NUMBER(struct compare_phase, kernel_ns, "kernel_ns")},
	{NUMBER(struct compare_phase, busy_clock_hz, "busy_clock_hz")},
	{JSON_FIELD_OBJECT(struct compare_phase, tables[TABLE_KERNELS], "kernels", table_fields)},
	{JSON_FIELD_OBJECT(struct compare_phase, tables[TABLE_CALLS], "calls", table_fields)},
	{JSON_FIELD_OBJECT(struct compare_phase, tables[TABLE_RANGES], "ranges", table_fields)},
	{JSON_FIELD_OBJECT(struct compare_phase, tables[TABLE_MODULES], "modules", table_fields)},
};

static bool read_phase(struct compare_phase *phase, const struct json_value *from,
		       struct hwy_arena *arena, struct hwy_err *err)
{
	json_get_fields(from, JSON_FIELDS(phase_fields), phase, arena);
	for (uint32_t i = 0; i < phase->n_findings; i++)
		complete_finding(&phase->findings[i]);
	for (unsigned kind = 0; kind < TABLES; kind++)
		drop_empty_rows(&phase->tables[kind]);
	int64_t sum = 0;
	for (unsigned i = 0; i < PARTS; i++)
		sum += phase->parts[i];
	if (sum != phase->step || phase->step == 0)
		return hwy_fail(err, "damaged: its parts do not add up to its step time");
	if (phase->n_steady == 0 || phase->n_values == 0)
		return hwy_fail(err, "damaged: it has no steps");
	return true;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static const struct json_field run_fields[] = {
	{JSON_FIELD_TEXT(struct compare_summary, program, "program")},
	{JSON_FIELD_TEXT(struct compare_summary, command, "command")},
	{JSON_FIELD_TEXT(struct compare_summary, gpu, "gpu")},
	{SMALL(struct compare_summary, n_gpus, "gpus")},
	{NUMBER(struct compare_summary, clock_hz, "clock_hz")},
	{JSON_FIELD_TEXT(struct compare_summary, driver, "driver")},
	{JSON_FIELD_TEXT(struct compare_summary, cuda, "cuda")},
	{JSON_FIELD_TEXT(struct compare_summary, format, "format")},
	{JSON_FIELD_TEXT(struct compare_summary, traces, "traces")},
	{JSON_FIELD_TEXT(struct compare_summary, graph_mode, "graph_mode")},
	{NUMBER(struct compare_summary, lost, "lost_records")},
};

static bool read_run(struct compare_summary *run, const char *file, const struct json_value *from,
		     struct hwy_err *err)
{
	run->file = hwy_arena_text(&run->arena, file, strlen(file));
	json_get_fields(from, JSON_FIELDS(run_fields), run, &run->arena);
	const struct json_value *phases = json_get(from, "phases");
	if (!phases || phases->type != JSON_ARRAY || phases->n == 0 || phases->n > COMPARE_PHASES)
		return hwy_fail(err, "damaged: a run without steps");
	run->phases = hwy_arena_array(&run->arena, phases->n, sizeof *run->phases);
	for (const struct json_value *one = phases->first; one; one = one->next)
		if (!read_phase(&run->phases[run->n++], one, &run->arena, err))
			return false;
	return true;
}

bool summary_is_baseline(const char *text, size_t length)
{
	size_t begin = 0;
	while (begin < length && text[begin] && strchr(" \t\r\n{", text[begin]))
		begin++;
	const char key[] = "\"" BASELINE_KEY "\"";
	return length - begin >= sizeof key - 1 && memcmp(text + begin, key, sizeof key - 1) == 0;
}

struct compare_summary *summary_read(const char *file, const char *text, size_t length, uint32_t *n,
				     struct hwy_err *err)
{
	struct hwy_arena arena = {0};
	struct compare_summary *runs = NULL;
	struct json_value *root = json_read(&arena, text, length, err);
	const struct json_value *list = json_get(root, "runs");
	int64_t version = json_get_int(root, BASELINE_KEY);
	bool good = root != NULL;
	*n = 0;
	if (good && version != BASELINE_VERSION)
		good = hwy_fail(err, "a baseline of version %lld; this headway reads version %d",
				(long long)version, BASELINE_VERSION);
	if (good && (!list || list->type != JSON_ARRAY || list->n == 0 || list->n > MOST_RUNS))
		good = hwy_fail(err, "a baseline without runs, or with more than %d", MOST_RUNS);
	if (good) {
		runs = hwy_zarray(list->n, sizeof *runs);
		for (const struct json_value *one = list->first; good && one; one = one->next)
			good = read_run(&runs[(*n)++], file, one, err);
	}
	hwy_arena_free(&arena);
	if (good)
		return runs;
	for (uint32_t i = 0; i < *n; i++)
		summary_free(&runs[i]);
	free(runs);
	return NULL;
}

void summary_write(FILE *out, const struct compare_summary *runs, uint32_t n)
{
	struct hwy_json json = {.out = out, .pretty = true};
	json_begin_object(&json);
	json_put_int(&json, BASELINE_KEY, BASELINE_VERSION);
	json_key(&json, "runs");
	json_begin_array(&json);
	for (uint32_t i = 0; i < n; i++) {
		json_begin_object(&json);
		json_put_fields(&json, JSON_FIELDS(run_fields), &runs[i]);
		json_key(&json, "phases");
		json_put_array(&json, JSON_FIELDS(phase_fields), runs[i].phases, runs[i].n,
			       sizeof *runs[i].phases);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
	fputc('\n', out);
}
