/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_words.c - what is known of a kernel in words, for all formats of `headway kernels`. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/mem.h"
#include "base/say.h"
#include "cli/kernels_print.h"
#include "cli/kit/cli.h"

#define LEAST_STALL_SHARE 0.02
#define LEAST_FLOP_SHARE 0.05 /* of a kernel's operations: rarer precisions are not shown */
enum { MOST_STALLS = 8 };

const char *const kernels_line_names[KERNELS_LINES] = {
	HWY_KEY("line|busy"),  HWY_KEY("line|work"),     HWY_KEY("line|occupancy"),
	HWY_KEY("line|warps"), HWY_KEY("line|accesses"), HWY_KEY("line|launch"),
};

static struct kernels_words say_scaled(double value, const char *unit)
{
	static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
	struct kernels_words words;
	size_t i = 0;
	for (; value >= 999.5 && i + 1 < sizeof prefixes / sizeof *prefixes; i++)
		value /= 1000;
	int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
	snprintf(words.text, sizeof words.text, "%.*f %s%s", decimals, value, prefixes[i], unit);
	return words;
}

struct kernels_words kernels_say_flop_rate(double flop_per_s)
{
	return say_scaled(flop_per_s, "FLOP/s");
}

struct kernels_words kernels_say_byte_rate(double bytes_per_s)
{
	return say_scaled(bytes_per_s, "B/s");
}

struct kernels_words kernels_say_precision(const struct known_kernel *kernel)
{
	struct kernels_words words = {""};
	if (kernel->point.flop > 0)
		snprintf(words.text, sizeof words.text, "%s%s",
			 hwy_precision_names[kernel->point.precision],
			 kernel->point.tensor ? " tensor" : "");
	return words;
}

/* The theoretical occupancy: as ncu computed it, else as we do; not a number where unknown. */
static double theoretical(const struct known_kernel *kernel)
{
	if (kernel->is_measured && !isnan(kernel->counters.theoretical_occupancy))
		return kernel->counters.theoretical_occupancy;
	return kernel->has_occupancy ? kernel->occupancy.share : NAN;
}

struct kernels_words kernels_say_occupancy(const struct known_kernel *kernel)
{
	struct kernels_words words = {""};
	double most = theoretical(kernel),
	       got = kernel->is_measured ? kernel->counters.occupancy : NAN;
	if (!isnan(got) && !isnan(most))
		snprintf(words.text, sizeof words.text, hwy_tr("%.3g of %.3g %%"), 100 * got,
			 100 * most);
	else if (!isnan(got))
		snprintf(words.text, sizeof words.text, "%.3g %%", 100 * got);
	else if (!isnan(most))
		snprintf(words.text, sizeof words.text, "≤ %.3g %%", 100 * most);
	return words;
}

uint32_t kernels_stalls(const struct known_kernel *kernel, double least,
			enum counters_stall found[COUNTERS_STALLS])
{
	const double *shares = kernel->counters.stalls;
	uint32_t n = 0;
	for (int i = 0; kernel->is_measured && i < STALL_SELECTED; i++) {
		if (!(shares[i] >= least && shares[i] > 0))
			continue;
		uint32_t at = n++;
		for (; at > 0 && shares[found[at - 1]] < shares[i]; at--)
			found[at] = found[at - 1];
		found[at] = (enum counters_stall)i;
	}
	return n;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Adds "name value" to a line of facts, behind a separator. */
static void add_fact(FILE *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_fact(FILE *line, const char *format, ...)
{
	va_list arguments;
	if (ftell(line) > 0)
		fputs(" · ", line);
	va_start(arguments, format);
	vfprintf(line, format, arguments);
	va_end(arguments);
}

static void add_share(FILE *line, const char *name, double share)
{
	if (!isnan(share))
		add_fact(line, "%s %s", name, hwy_say_share(share).text);
}

static void say_units(FILE *line, const struct known_kernel *kernel)
{
	const struct kernel_counters *c = &kernel->counters;
	if (!kernel->is_measured)
		return;
	add_share(line, "SM", c->of_sm);
	add_share(line, "DRAM", c->of_dram);
	add_share(line, "L2", c->of_l2);
	add_share(line, "L1", c->of_l1);
	add_share(line, hwy_tr("tensor cores"), c->of_tensor);
	add_share(line, hwy_tr("issue slots"), c->issue);
}

static const struct hwy_peaks *peaks_of(const struct kernels_view *view, uint32_t device)
{
	for (uint32_t i = 0; i < view->table->roofline.n_devices; i++)
		if (view->table->roofline.devices[i].device == device)
			return &view->table->roofline.devices[i].peaks;
	return NULL;
}

static void say_rate_by_shapes(FILE *line, const struct kernels_view *view,
			       const struct known_kernel *kernel)
{
	const struct roofline_point *point = &kernel->point;
	const struct hwy_peaks *peaks = peaks_of(view, point->device);
	double peak = peaks ? peaks_rate(peaks, point->precision, point->tensor) : 0;
	add_fact(line, "%s %s", kernels_say_precision(kernel).text,
		 kernels_say_flop_rate(point->flop_per_s).text);
	if (peak > 0)
		fprintf(line, "%s%s", hwy_tr_word(HWY_KEY("peak| of ")),
			kernels_say_flop_rate(peak).text);
}

/* The operations of each unit beside its peak, then bytes. */
static void say_work(FILE *line, const struct kernels_view *view, const struct known_kernel *kernel)
{
	const struct roofline_point *point = &kernel->point;
	const struct kernel_counters *c = &kernel->counters;
	/* What a point has not (kernel_judge.c) is next to nothing. */
	double all = kernel->is_measured && point->flop > 0 ? counters_flop_sum(kernel->flop) : 0;
	for (int i = 0; i < COUNTERS_PATHS && all > 0; i++) {
		if (!(kernel->flop[i] >= LEAST_FLOP_SHARE * all) || !(c->ns > 0))
			continue;
		add_fact(line, "%s%s %s", counters_path_precisions[i],
			 counters_path_is_tensor((enum counters_path)i) ? " tensor" : "",
			 kernels_say_flop_rate(kernel->flop[i] / c->ns * 1e9).text);
		if (kernel->peak[i] > 0)
			fprintf(line, "%s%s", hwy_tr_word(HWY_KEY("peak| of ")),
				kernels_say_flop_rate(kernel->peak[i]).text);
	}
	if (!kernel->is_measured && point->flop_per_s > 0)
		say_rate_by_shapes(line, view, kernel);
	if (point->bytes_per_s > 0) {
		add_fact(line, "%s%s", hwy_tr(kernel->is_measured ? "" : "at least "),
			 kernels_say_byte_rate(point->bytes_per_s).text);
		const struct hwy_peaks *peaks = peaks_of(view, point->device);
		if (peaks && peaks->bytes_per_s > 0)
			fprintf(line, "%s%s", hwy_tr_word(HWY_KEY("peak| of ")),
				kernels_say_byte_rate(peaks->bytes_per_s).text);
	}
	if (point->intensity > 0)
		add_fact(line, point->intensity < 1000 ? "%.3g FLOP/byte" : "%.0f FLOP/byte",
			 point->intensity);
}

static void say_occupancy(FILE *line, const struct known_kernel *kernel)
{
	const struct hwy_occupancy *o = &kernel->occupancy;
	double most = theoretical(kernel);
	if (kernel->is_measured && !isnan(kernel->counters.occupancy))
		add_fact(line, hwy_tr("achieved %.3g %%"), 100 * kernel->counters.occupancy);
	if (!isnan(most))
		add_fact(line, hwy_tr("theoretical %.3g %%"), 100 * most);
	if (kernel->has_occupancy) {
		fprintf(line, hwy_tr(", %" PRIu32 " block%s an SM, limited by %s"), o->blocks,
			o->blocks == 1 ? "" : "s", hwy_tr(occupancy_limit_names[o->limit]));
		/* Below one block for each SM a number of waves says less than the blocks. */
		if (o->waves > 0 && o->waves * o->blocks < 1)
			add_fact(line, hwy_tr("%" PRIu64 " block%s on %.0f SMs"), o->grid_blocks,
				 o->grid_blocks == 1 ? "" : "s",
				 (double)o->grid_blocks / (o->waves * o->blocks));
		else if (o->waves > 0)
			add_fact(line, hwy_tr("%.3g wave%s"), o->waves, o->waves == 1 ? "" : "s");
		if (o->waves > 1 && o->tail >= 0.05)
			fprintf(line, hwy_tr(", the last costs up to %s"),
				hwy_say_share(o->tail).text);
	} else if (kernel->is_measured && kernel->counters.waves > 0) {
		add_fact(line, hwy_tr("%.3g waves"), kernel->counters.waves);
	}
}

static void say_stalls(FILE *line, const struct known_kernel *kernel)
{
	enum counters_stall found[COUNTERS_STALLS];
	uint32_t n = kernels_stalls(kernel, LEAST_STALL_SHARE, found);
	for (uint32_t i = 0; i < n && i < MOST_STALLS; i++)
		add_fact(line, "%s %s", counters_stall_names[found[i]],
			 hwy_say_share(kernel->counters.stalls[found[i]]).text);
	/* That another warp was chosen explains nothing. */
	uint32_t first = n > 1 && found[0] == STALL_NOT_SELECTED;
	if (n > 0)
		fprintf(line, hwy_tr(" (%s: %s)"), counters_stall_names[found[first]],
			hwy_tr(counters_stall_meanings[found[first]]));
}

static void say_accesses(FILE *line, const struct known_kernel *kernel)
{
	const struct kernel_counters *c = &kernel->counters;
	if (!kernel->is_measured)
		return;
	add_share(line, hwy_tr("L1 hits"), c->l1_hit);
	add_share(line, hwy_tr("L2 hits"), c->l2_hit);
	if (!isnan(c->load_sectors) && c->load_sectors > 0)
		add_fact(line, hwy_tr("%.1f sectors a load"), c->load_sectors);
	if (!isnan(c->store_sectors) && c->store_sectors > 0)
		add_fact(line, hwy_tr("%.1f a store"), c->store_sectors);
	add_share(line, hwy_tr("bytes of loads used"), c->load_used);
	add_share(line, hwy_tr("bank conflicts"), c->conflicts);
	if (c->local_bytes > 0)
		add_fact(line, hwy_tr("spills %s"),
			 hwy_say_bytes3((uint64_t)fmin(c->local_bytes, 1e18)).text);
	else if (c->local_bytes == 0)
		add_fact(line, "%s", hwy_tr("no spills"));
}

static void say_launch(FILE *line, const struct kernels_view *view,
		       const struct known_kernel *kernel)
{
	const struct hwy_trace *trace = view->table->trace;
	if (kernel->shape == HWY_NONE)
		return;
	const struct hwy_shape *s = &trace->shapes[kernel->shape];
	/* OpenCL may choose the size of a work-group itself, and does not tell. */
	if (s->grid_x > 0)
		add_fact(line, hwy_tr("grid %" PRId64 "×%" PRId64 "×%" PRId64), s->grid_x,
			 s->grid_y, s->grid_z);
	if (s->block_x > 0)
		add_fact(line, hwy_tr("block %" PRId64 "×%" PRId64 "×%" PRId64), s->block_x,
			 s->block_y, s->block_z);
	if (s->registers > 0)
		add_fact(line, hwy_tr("%" PRId64 " registers"), s->registers);
	int64_t shared = s->static_shared + s->dynamic_shared;
	if (shared > 0 && s->static_shared >= 0 && s->dynamic_shared >= 0)
		add_fact(line, hwy_tr("%s shared"), hwy_say_bytes3((uint64_t)shared).text);
	if (kernel->n_shapes > 1)
		add_fact(line, hwy_tr("and %" PRIu32 " other shape%s"), kernel->n_shapes - 1,
			 kernel->n_shapes == 2 ? "" : "s");
}

char *kernels_say_line(const struct kernels_view *view, const struct known_kernel *kernel,
		       enum kernels_fact_line which)
{
	char *text = NULL;
	size_t size;
	FILE *line = open_memstream(&text, &size);
	if (!line)
		cli_die("out of memory");
	switch (which) {
	case KERNELS_UNITS: say_units(line, kernel); break;
	case KERNELS_WORK: say_work(line, view, kernel); break;
	case KERNELS_OCCUPANCY: say_occupancy(line, kernel); break;
	case KERNELS_STALLS: say_stalls(line, kernel); break;
	case KERNELS_ACCESSES: say_accesses(line, kernel); break;
	case KERNELS_LAUNCH: say_launch(line, view, kernel); break;
	case KERNELS_LINES: break;
	}
	fclose(line);
	return text;
}

/* ---- which kernels are worth words ----------------------------------------------------------- */

/* Advice for a kernel with a smaller share of its device's time would not be noticed. */
#define LEAST_ADVISED_SHARE 0.01

struct described {
	int64_t ns;
	uint32_t row;
};

static int by_time(const void *left, const void *right)
{
	const struct described *a = left, *b = right;
	return a->ns != b->ns ? (a->ns < b->ns) - (a->ns > b->ns)
			      : (a->row > b->row) - (a->row < b->row);
}

/* Whether there is more to tell of a kernel than the table does. */
static bool kernels_tells(const struct known_kernel *kernel)
{
	return kernel->is_measured || kernel->has_gain || kernel->point.bound != ROOFLINE_UNKNOWN;
}

uint32_t kernels_shown_advice(const struct kernels_view *view, const struct known_kernel *kernel)
{
	return view->is_asked || kernel->point.share >= LEAST_ADVISED_SHARE ? kernel->n_advice : 0;
}

uint32_t kernels_described(const struct kernels_view *view, uint32_t **rows)
{
	struct described *all = hwy_array(view->n, sizeof *all);
	uint32_t n = 0;
	bool any_tells = false;
	for (uint32_t i = 0; i < view->n; i++)
		any_tells |= kernels_tells(&view->table->kernels[view->chosen[i]]);
	for (uint32_t i = 0; i < view->n; i++) {
		const struct known_kernel *kernel = &view->table->kernels[view->chosen[i]];
		bool weighs = any_tells && kernel->point.share >= LEAST_ADVISED_SHARE;
		if (kernels_tells(kernel) || weighs || view->is_asked)
			all[n++] = (struct described){kernel->point.ns, i};
	}
	if (n > 0)
		qsort(all, n, sizeof *all, by_time);
	if (view->details && n > view->details)
		n = view->details;
	while (view->is_brief && n > 1 &&
	       view->table->kernels[view->chosen[all[n - 1].row]].point.share < LEAST_ADVISED_SHARE)
		n--;
	*rows = hwy_array(n, sizeof **rows);
	for (uint32_t i = 0; i < n; i++)
		(*rows)[i] = all[i].row;
	free(all);
	return n;
}
