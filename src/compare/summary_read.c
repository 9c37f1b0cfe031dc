/* summary_read.c - baseline files: see summary.h. What is read is checked: parts that do not add up to the step,
 * or numbers no step can have, make the file unusable, not its comparison wrong. */
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "compare/summary.h"

bool summary_is_baseline(const char *text, size_t length)
{
	size_t begin = 0;
	while (begin < length && text[begin] && strchr(" \t\r\n{", text[begin]))
		begin++;
	const char key[] = "\"" BASELINE_KEY "\"";
	return length - begin >= sizeof key - 1 && memcmp(text + begin, key, sizeof key - 1) == 0;
}

static const char *read_text(struct compare_summary *run, const struct json_value *from,
			     const char *key)
{
	const char *text = json_get_text(from, key);
	return hwy_arena_text(&run->arena, text, strlen(text));
}

/* No time or count of a step comes near this; sums of some stay within 64 bits. */
#define MOST_NUMBER (INT64_C(1) << 52)
enum { MOST_RUNS = 500 };

static int64_t read_number(const struct json_value *from, const char *key)
{
	int64_t n = json_get_int(from, key);
	return n < 0 || n > MOST_NUMBER ? 0 : n;
}

static uint32_t small(const struct json_value *from, const char *key)
{
	int64_t n = json_get_int(from, key);
	return n < 0 || n > INT32_MAX ? 0 : (uint32_t)n;
}

static void read_findings(struct compare_summary *run, struct compare_phase *phase,
			  const struct json_value *list)
{
	phase->findings = hwy_arena_array(&run->arena, list ? list->n : 0, sizeof *phase->findings);
	for (const struct json_value *from = list ? list->first : NULL; from; from = from->next) {
		struct compare_finding *to = &phase->findings[phase->n_findings++];
		const struct hwy_finding_kind *kind = hwy_finding_kind(json_get_text(from, "id"));
		to->id = read_text(run, from, "id");
		to->title = kind ? kind->title : to->id;
		to->place = read_text(run, from, "place");
		to->cost = read_number(from, "cost_ns");
		to->share = json_get_real(from, "share");
		to->is_inside = json_get_bool(from, "inside");
		to->predicted.edits = read_text(run, from, "edits");
		to->predicted.before = read_number(from, "before_ns");
		to->predicted.step = read_number(from, "step_ns");
		to->predicted.p10 = read_number(from, "p10_ns");
		to->predicted.p90 = read_number(from, "p90_ns");
		to->predicted.speedup = json_get_real(from, "speedup");
		to->predicted.is_known = to->predicted.step > 0 && to->predicted.before > 0;
	}
}

static void summary_read_table(struct compare_summary *run, struct compare_table *table,
			       const struct json_value *from)
{
	const struct json_value *list = json_get(from, "rows");
	table->left_out = small(from, "left_out");
	table->rows = hwy_arena_array(&run->arena, list ? list->n : 0, sizeof *table->rows);
	for (const struct json_value *one = list ? list->first : NULL; one; one = one->next) {
		struct compare_row row = {
			.name = read_text(run, one, "name"),
			.count = (uint64_t)read_number(one, "count"),
			.ns = read_number(one, "ns"),
			.deviation = json_get_real(one, "deviation_ns"),
			.place = json_get_real(one, "place"),
		};
		if (row.count > 0)
			table->rows[table->n++] = row;
	}
}

static void read_path(struct compare_summary *run, struct compare_phase *phase,
		      const struct json_value *list)
{
	for (const struct json_value *from = list ? list->first : NULL;
	     from && from->key && phase->n_path < COMPARE_PATH; from = from->next) {
		phase->path[phase->n_path].name =
			hwy_arena_text(&run->arena, from->key, strlen(from->key));
		phase->path[phase->n_path++].ns = json_as_int(from, 0);
	}
}

static bool read_times(struct compare_summary *run, struct compare_phase *phase,
		       const struct json_value *from, struct hwy_err *err)
{
	const struct json_value *times = json_get(from, "step_ns"),
				*parts = json_get(from, "parts_ns");
	phase->step = read_number(times, "mean");
	phase->p10 = read_number(times, "p10");
	phase->p50 = read_number(times, "p50");
	phase->p90 = read_number(times, "p90");
	phase->p99 = read_number(times, "p99");
	phase->longest = read_number(times, "max");
	phase->plain = read_number(times, "without_recorder");
	int64_t sum = 0;
	for (unsigned i = 0; i < PARTS; i++)
		sum += phase->parts[i] = read_number(parts, summary_part_key(i));
	if (sum != phase->step || phase->step == 0)
		return hwy_fail(err, "damaged: its parts do not add up to its step time");
	const struct json_value *values = json_get(from, "steps_ns");
	uint32_t n = values && values->type == JSON_ARRAY ? values->n : 0;
	phase->group = small(from, "group");
	phase->values = hwy_arena_array(&run->arena, n, sizeof *phase->values);
	for (const struct json_value *one = n ? values->first : NULL; one; one = one->next) {
		int64_t value = json_as_int(one, -1);
		if (value >= 0 && value <= MOST_NUMBER)
			phase->values[phase->n_values++] = value;
	}
	if (phase->n_steady == 0 || phase->n_values == 0)
		return hwy_fail(err, "damaged: it has no steps");
	return true;
}

static bool read_phase(struct compare_summary *run, struct compare_phase *phase,
		       const struct json_value *from, struct hwy_err *err)
{
	phase->name = read_text(run, from, "name");
	phase->repeats = json_get_bool(from, "repeats");
	phase->n_steps = small(from, "steps");
	phase->n_steady = small(from, "steady_steps");
	phase->n_devices = small(from, "devices");
	const struct json_value *counts = json_get(from, "counts");
	for (unsigned i = 0; i < COUNTS; i++)
		phase->counts[i] = read_number(counts, summary_count_keys[i]);
	phase->kernel_ns = read_number(from, "kernel_ns");
	for (unsigned kind = 0; kind < TABLES; kind++)
		summary_read_table(run, &phase->tables[kind],
				   json_get(from, summary_table_names[kind]));
	read_findings(run, phase, json_get(from, "findings"));
	read_path(run, phase, json_get(from, "path_ns"));
	return read_times(run, phase, from, err);
}

static bool read_run(struct compare_summary *run, const char *file, const struct json_value *from,
		     struct hwy_err *err)
{
	run->file = hwy_arena_text(&run->arena, file, strlen(file));
	run->program = read_text(run, from, "program");
	run->command = read_text(run, from, "command");
	run->gpu = read_text(run, from, "gpu");
	run->n_gpus = small(from, "gpus");
	run->clock_hz = read_number(from, "clock_hz");
	run->driver = read_text(run, from, "driver");
	run->cuda = read_text(run, from, "cuda");
	run->format = read_text(run, from, "format");
	run->traces = read_text(run, from, "traces");
	run->graph_mode = read_text(run, from, "graph_mode");
	run->lost = (uint64_t)read_number(from, "lost_records");
	const struct json_value *phases = json_get(from, "phases");
	if (!phases || phases->type != JSON_ARRAY || phases->n == 0 || phases->n > COMPARE_PHASES)
		return hwy_fail(err, "damaged: a run without steps");
	run->phases = hwy_arena_array(&run->arena, phases->n, sizeof *run->phases);
	for (const struct json_value *one = phases->first; one; one = one->next)
		if (!read_phase(run, &run->phases[run->n++], one, err))
			return false;
	return true;
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
