/* summary_write.c - summaries as a baseline file: small JSON that may be kept in a repository. docs/ci.md says
 * what the keys mean. Keys are added, never renamed; a change of meaning raises BASELINE_VERSION. */
#include "base/json.h"
#include "compare/summary.h"

/* A row a line: easy on those who read a change of the file. */
static void begin_row(struct hwy_json *json)
{
	json_begin_object(json);
	json->pretty = false;
}

static void end_row(struct hwy_json *json)
{
	json_end_object(json);
	json->pretty = true;
}

static void put_finding_row(struct hwy_json *json, const struct compare_finding *finding)
{
	begin_row(json);
	json_put_text(json, "id", finding->id);
	json_put_text(json, "place", finding->place);
	json_put_int(json, "cost_ns", finding->cost);
	json_put_real(json, "share", finding->share, 6);
	json_put_bool(json, "inside", finding->is_inside);
	if (finding->predicted.is_known) {
		json_put_text(json, "edits", finding->predicted.edits);
		json_put_int(json, "before_ns", finding->predicted.before);
		json_put_int(json, "step_ns", finding->predicted.step);
		json_put_int(json, "p10_ns", finding->predicted.p10);
		json_put_int(json, "p90_ns", finding->predicted.p90);
		json_put_real(json, "speedup", finding->predicted.speedup, 6);
	}
	end_row(json);
}

static void put_table(struct hwy_json *json, const struct compare_table *table, const char *name)
{
	json_key(json, name);
	json_begin_object(json);
	json_put_int(json, "left_out", table->left_out);
	json_key(json, "rows");
	json_begin_array(json);
	for (uint32_t i = 0; i < table->n; i++) {
		const struct compare_row *row = &table->rows[i];
		begin_row(json);
		json_put_text(json, "name", row->name);
		json_put_int(json, "count", (int64_t)row->count);
		json_put_int(json, "ns", row->ns);
		json_put_real(json, "deviation_ns", row->deviation, 3);
		json_put_real(json, "place", row->place, 4);
		end_row(json);
	}
	json_end_array(json);
	json_end_object(json);
}

static void put_times(struct hwy_json *json, const struct compare_phase *phase)
{
	json_key(json, "step_ns");
	begin_row(json);
	json_put_int(json, "mean", phase->step);
	json_put_int(json, "p10", phase->p10);
	json_put_int(json, "p50", phase->p50);
	json_put_int(json, "p90", phase->p90);
	json_put_int(json, "p99", phase->p99);
	json_put_int(json, "max", phase->longest);
	json_put_int(json, "without_recorder", phase->plain);
	end_row(json);
	json_key(json, "parts_ns");
	begin_row(json);
	for (unsigned i = 0; i < PARTS; i++)
		json_put_int(json, summary_part_key(i), phase->parts[i]);
	end_row(json);
	json_put_int(json, "group", phase->group);
	json_key(json, "steps_ns");
	json_begin_array(json);
	json->pretty = false;
	for (uint32_t i = 0; i < phase->n_values; i++)
		json_int(json, phase->values[i]);
	json_end_array(json);
	json->pretty = true;
}

static void put_phase(struct hwy_json *json, const struct compare_phase *phase)
{
	json_begin_object(json);
	json_put_text(json, "name", phase->name);
	json_put_bool(json, "repeats", phase->repeats);
	json_put_int(json, "steps", phase->n_steps);
	json_put_int(json, "steady_steps", phase->n_steady);
	json_put_int(json, "devices", phase->n_devices);
	put_times(json, phase);
	json_key(json, "counts");
	begin_row(json);
	for (unsigned i = 0; i < COUNTS; i++)
		json_put_int(json, summary_count_keys[i], phase->counts[i]);
	end_row(json);
	json_key(json, "path_ns");
	begin_row(json);
	for (uint32_t i = 0; i < phase->n_path; i++)
		json_put_int(json, phase->path[i].name, phase->path[i].ns);
	end_row(json);
	json_key(json, "findings");
	json_begin_array(json);
	for (uint32_t i = 0; i < phase->n_findings; i++)
		put_finding_row(json, &phase->findings[i]);
	json_end_array(json);
	json_put_int(json, "kernel_ns", phase->kernel_ns);
	for (unsigned kind = 0; kind < TABLES; kind++)
		put_table(json, &phase->tables[kind], summary_table_names[kind]);
	json_end_object(json);
}

static void put_run(struct hwy_json *json, const struct compare_summary *run)
{
	json_begin_object(json);
	json_put_text(json, "program", run->program);
	json_put_text(json, "command", run->command);
	json_put_text(json, "gpu", run->gpu);
	json_put_int(json, "gpus", run->n_gpus);
	json_put_int(json, "clock_hz", run->clock_hz);
	json_put_text(json, "driver", run->driver);
	json_put_text(json, "cuda", run->cuda);
	json_put_text(json, "format", run->format);
	json_put_text(json, "traces", run->traces);
	json_put_text(json, "graph_mode", run->graph_mode);
	json_put_int(json, "lost_records", (int64_t)run->lost);
	json_key(json, "phases");
	json_begin_array(json);
	for (uint32_t i = 0; i < run->n; i++)
		put_phase(json, &run->phases[i]);
	json_end_array(json);
	json_end_object(json);
}

void summary_write(FILE *out, const struct compare_summary *runs, uint32_t n)
{
	struct hwy_json json = {.out = out, .pretty = true};
	json_begin_object(&json);
	json_put_int(&json, BASELINE_KEY, BASELINE_VERSION);
	json_key(&json, "runs");
	json_begin_array(&json);
	for (uint32_t i = 0; i < n; i++)
		put_run(&json, &runs[i]);
	json_end_array(&json);
	json_end_object(&json);
	fputc('\n', out);
}
