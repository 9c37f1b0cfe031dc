/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_json.c - `headway kernels` for programs: JSON with everything that is known of each
 * kernel beside the roofline's points, and CSV with a row for each kernel (docs/kernels.md).
 * What is not known is null, or an empty field.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/kernels_print.h"
#include "cli/kit/cli.h"

/* ---- facts by name --------------------------------------------------------------------------- */

static const struct json_fact {
	const char *key;
	size_t offset;
} json_facts[] = {
#define FACT(key, field)                                                                           \
	{                                                                                          \
		key, offsetof(struct kernel_counters, field)                                       \
	}
	FACT("duration_ns", ns),
	FACT("dram_read_bytes", dram_read),
	FACT("dram_written_bytes", dram_written),
	FACT("dram_bytes", dram_bytes),
	FACT("l2_bytes", l2_bytes),
	FACT("l1_bytes", l1_bytes),
	FACT("sm_hz", sm_hz),
	FACT("dram_hz", dram_hz),
	FACT("of_sm", of_sm),
	FACT("of_dram", of_dram),
	FACT("of_l2", of_l2),
	FACT("of_l1", of_l1),
	FACT("of_tensor", of_tensor),
	FACT("issue", issue),
	FACT("occupancy", occupancy),
	FACT("l1_hit", l1_hit),
	FACT("l2_hit", l2_hit),
	FACT("bank_conflicts", conflicts),
	FACT("load_sectors", load_sectors),
	FACT("store_sectors", store_sectors),
	FACT("load_used", load_used),
	FACT("store_used", store_used),
	FACT("local_bytes", local_bytes),
	FACT("threads_per_warp", threads_per_warp),
#undef FACT
};
enum { FACTS = sizeof json_facts / sizeof *json_facts };

static double fact_of(const struct known_kernel *kernel, size_t i)
{
	double value;
	if (!kernel->is_measured)
		return NAN;
	memcpy(&value, (const char *)&kernel->counters + json_facts[i].offset, sizeof value);
	return value;
}

/* Writes a number with as many digits as it needs, and null for what is not known. */
static void put_number(struct hwy_json *json, const char *key, double value)
{
	char digits[40];
	json_key(json, key);
	if (!isfinite(value)) {
		json_null(json);
		return;
	}
	snprintf(digits, sizeof digits, "%.15g", value);
	json_number(json, digits);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_counters(struct hwy_json *json, const struct known_kernel *kernel)
{
	enum counters_stall stalls[COUNTERS_STALLS];
	for (size_t i = 0; i < FACTS; i++)
		put_number(json, json_facts[i].key, fact_of(kernel, i));
	json_key(json, "flop");
	json_begin_object(json);
	for (int i = 0; i < COUNTERS_PATHS; i++) {
		char key[32];
		if (isnan(kernel->counters.flop[i]))
			continue;
		snprintf(key, sizeof key, "%s%s", counters_path_precisions[i],
			 counters_path_is_tensor((enum counters_path)i) ? "_tensor" : "");
		put_number(json, key, kernel->counters.flop[i]);
	}
	json_end_object(json);
	uint32_t n = kernels_stalls(kernel, 0, stalls);
	json_key(json, "stalls");
	json_begin_object(json);
	for (uint32_t i = 0; i < n; i++)
		put_number(json, counters_stall_names[stalls[i]],
			   kernel->counters.stalls[stalls[i]]);
	json_end_object(json);
}

static void put_launch(struct hwy_json *json, const struct kernels_view *view,
		       const struct known_kernel *kernel)
{
	const struct hwy_trace *trace = view->table->trace;
	const struct hwy_shape *s =
		kernel->shape == HWY_NONE ? NULL : &trace->shapes[kernel->shape];
	json_key(json, "launch");
	json_begin_object(json);
	if (s) {
		const int64_t grid[] = {s->grid_x,  s->grid_y,  s->grid_z,
					s->block_x, s->block_y, s->block_z};
		for (int part = 0; part < 2; part++) {
			json_key(json, part ? "block" : "grid");
			json_begin_array(json);
			for (int i = 0; i < 3; i++)
				json_int(json, grid[3 * part + i]);
			json_end_array(json);
		}
		json_put_int(json, "registers", s->registers);
		json_put_int(json, "static_shared", s->static_shared);
		json_put_int(json, "dynamic_shared", s->dynamic_shared);
	}
	json_put_int(json, "shapes", kernel->n_shapes);
	json_end_object(json);
	json_key(json, "theoretical");
	json_begin_object(json);
	if (kernel->has_occupancy) {
		put_number(json, "occupancy", kernel->occupancy.share);
		json_put_text(json, "limit", occupancy_limit_names[kernel->occupancy.limit]);
		json_put_int(json, "blocks_per_sm", kernel->occupancy.blocks);
		put_number(json, "waves", kernel->occupancy.waves);
		put_number(json, "tail", kernel->occupancy.tail);
	}
	json_end_object(json);
}

static void put_source_lines(struct hwy_json *json, const struct kernels_view *view,
			     const struct known_kernel *kernel)
{
	struct kernels_source_line *lines;
	int64_t all;
	uint32_t n = kernels_source_lines(view, kernel, &lines, &all);
	json_key(json, "lines");
	json_begin_array(json);
	for (uint32_t i = 0; i < n; i++) {
		json_begin_object(json);
		json_put_text(json, "file", *lines[i].file ? lines[i].file : NULL);
		json_put_int(json, "line", lines[i].line);
		json_put_int(json, "samples", lines[i].samples);
		json_put_text(json, "reason", *lines[i].reason ? lines[i].reason : NULL);
		json_end_object(json);
	}
	json_end_array(json);
	free(lines);
}

static void put_kernel_json(struct hwy_json *json, const struct kernels_view *view,
			    const struct known_kernel *kernel)
{
	const struct roofline_point *point = &kernel->point;
	json_begin_object(json);
	json_put_text(json, "name", point->name);
	json_put_int(json, "device", point->device);
	json_put_int(json, "count", point->count);
	json_put_int(json, "ns", point->ns);
	put_number(json, "share", point->share);
	json_put_text(json, "bound", roofline_bound_names[point->bound]);
	json_put_text(json, "memory",
		      point->bound == ROOFLINE_MEMORY ? kernel_level_names[kernel->level] : NULL);
	json_put_bool(json, "endless", kernel->is_endless);
	json_key(json, "gain_ns");
	if (kernel->has_gain)
		json_int(json, point->gain_ns);
	else
		json_null(json);
	put_number(json, "roof_ns", point->roof_ns);
	json_put_text(json, "source",
		      kernel->is_measured || kernel->has_gain ? roofline_source_names[point->source]
							      : NULL);
	json_put_int(json, "measured_launches", kernel->launches_measured);
	json_put_text(json, "says", point->says);
	json_key(json, "advice");
	json_begin_array(json);
	for (uint32_t i = 0; i < kernels_shown_advice(view, kernel); i++)
		json_textz(json, kernel->advice[i]);
	json_end_array(json);
	put_launch(json, view, kernel);
	put_source_lines(json, view, kernel);
	json_key(json, "counters");
	if (kernel->is_measured) {
		json_begin_object(json);
		put_counters(json, kernel);
		json_end_object(json);
	} else {
		json_null(json);
	}
	json_end_object(json);
}

void kernels_print_json(FILE *out, const struct kernels_view *view)
{
	struct hwy_json json = {.out = out, .pretty = true};
	/* The points of the roofline are those of the kernels that are shown. */
	struct hwy_roofline roofline = view->table->roofline;
	roofline.points = hwy_array(view->n, sizeof *roofline.points);
	roofline.n_points = 0;
	json_begin_object(&json);
	json_put_text(&json, "path", view->path);
	json_key(&json, "kernels");
	json_begin_array(&json);
	for (uint32_t i = 0; i < view->n; i++) {
		const struct known_kernel *kernel = &view->table->kernels[view->chosen[i]];
		put_kernel_json(&json, view, kernel);
		if (kernel->is_measured || kernel->has_gain)
			roofline.points[roofline.n_points++] = kernel->point;
	}
	json_end_array(&json);
	json_key(&json, "roofline");
	roofline_put_json(&json, &roofline);
	json_key(&json, "notes");
	json_begin_array(&json);
	for (uint32_t i = 0; i < view->n_notes; i++)
		json_textz(&json, view->notes[i]);
	json_end_array(&json);
	json_end_object(&json);
	fputc('\n', out);
	free(roofline.points);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void put_csv_text(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text == '\n' ? ' ' : *text, out);
	}
	fputc('"', out);
}

static void put_csv_number(FILE *out, double value)
{
	fputc(',', out);
	if (isfinite(value))
		fprintf(out, "%.15g", value);
}

void kernels_print_csv(FILE *out, const struct kernels_view *view)
{
	fputs("name,device,count,ns,share,bound,memory,gain_ns,roof_ns,source,precision,tensor,flop,bytes,intensity,"
	      "theoretical_occupancy,limit,waves,says",
	      out);
	for (size_t i = 0; i < FACTS; i++)
		fprintf(out, ",%s", json_facts[i].key);
	for (int i = 0; i < STALL_SELECTED; i++)
		fprintf(out, ",stall_%s", counters_stall_names[i]);
	fputc('\n', out);
	for (uint32_t i = 0; i < view->n; i++) {
		const struct known_kernel *kernel = &view->table->kernels[view->chosen[i]];
		const struct roofline_point *point = &kernel->point;
		bool has_memory = point->bound == ROOFLINE_MEMORY;
		bool has_source = kernel->is_measured || kernel->has_gain;
		put_csv_text(out, point->name);
		fprintf(out, ",%" PRIu32 ",%" PRIu32 ",%" PRId64, point->device, point->count,
			point->ns);
		put_csv_number(out, point->share);
		fprintf(out, ",%s,%s", roofline_bound_names[point->bound],
			has_memory ? kernel_level_names[kernel->level] : "");
		put_csv_number(out, kernel->has_gain ? (double)point->gain_ns : NAN);
		put_csv_number(out, point->roof_ns);
		fprintf(out, ",%s,%s,%s", has_source ? roofline_source_names[point->source] : "",
			point->flop > 0 ? hwy_precision_names[point->precision] : "",
			point->flop > 0 ? (point->tensor ? "1" : "0") : "");
		put_csv_number(out, point->flop);
		put_csv_number(out, point->bytes);
		put_csv_number(out, point->intensity);
		put_csv_number(out, kernel->has_occupancy ? kernel->occupancy.share : NAN);
		fprintf(out, ",%s",
			kernel->has_occupancy ? occupancy_limit_names[kernel->occupancy.limit]
					      : "");
		put_csv_number(out, kernel->has_occupancy ? kernel->occupancy.waves : NAN);
		fputc(',', out);
		put_csv_text(out, point->says);
		for (size_t f = 0; f < FACTS; f++)
			put_csv_number(out, fact_of(kernel, f));
		for (int s = 0; s < STALL_SELECTED; s++)
			put_csv_number(out, kernel->is_measured ? kernel->counters.stalls[s] : NAN);
		fputc('\n', out);
	}
}
