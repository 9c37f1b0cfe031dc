/* SPDX-License-Identifier: Apache-2.0 */
/* case.c - opens a phase for investigation: which ops, calls and devices are its own, and what they
 * add up to.
 *
 * Everything here is about the steady steps of the phase's own process. After case_open the purses
 * are full: gap_left holds the length of every gap, transfers all exposed time, kernel_left all
 * kernel time.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/lanes.h"
#include "base/lang.h"
#include "base/quantile.h"
#include "base/search.h"
#include "diagnose/case.h"
#include "diagnose/launchers.h"

/* Where this share of all launches has no recorded work, findings from gaps are guesses, or are not
 * made at all. */
#define DOUBTFUL_SHARE 0.1
#define UNBELIEVABLE_SHARE 0.5

static const struct hwy_strip *strip_of(const struct hwy_case *c, uint32_t span, uint32_t *row)
{
	const struct hwy_strip *strip = *c->last;
	if (!strip || span < strip->first || span - strip->first >= strip->rows)
		*c->last = strip = hwy_strip_of(c->trace, span, row);
	*row = span - strip->first;
	return strip;
}

int64_t case_get(const struct hwy_case *c, uint32_t span, enum hwy_col col)
{
	uint32_t row;
	const struct hwy_strip *strip = strip_of(c, span, &row);
	return hwy_get(strip, col, row);
}

int64_t case_text(const struct hwy_case *c, uint32_t span)
{
	uint32_t row;
	struct hwy_err err;
	const struct hwy_strip *strip = strip_of(c, span, &row);
	if (!hwy_need_chunk(c->trace, (uint32_t)(strip - c->trace->strips), row >> HWY_CHUNK_BITS,
			    HWY_COL_BIT(HWY_NAME), &err))
		return HWY_NONE;
	return hwy_get(strip, HWY_NAME, row);
}

const char *case_name(const struct hwy_case *c, uint32_t span)
{
	return hwy_str(c->trace, case_text(c, span));
}

const char *case_name_said(const struct hwy_case *c, uint32_t span)
{
	uint32_t row;
	const char *name = case_name(c, span);
	const struct hwy_strip *strip = strip_of(c, span, &row);
	if (*name)
		return name;
	if (strip->kind == HWY_FILL)
		return hwy_tr("a fill");
	if (strip->kind == HWY_GRAPH)
		return hwy_tr("a graph");
	if (strip->kind != HWY_COPY)
		return hwy_tr("work without a name");
	int64_t direction = hwy_get(strip, HWY_DIRECTION, row);
	bool is_told = direction > HWY_DIR_UNKNOWN && direction < HWY_DIRECTIONS;
	return is_told ? hwy_arena_say(&c->diagnosis->arena, "a copy (%s)",
				       hwy_direction_names[direction])
		       : hwy_tr("a copy");
}

const struct hwy_owner *case_owner(const struct hwy_case *c, uint32_t span)
{
	uint32_t row;
	if (!c->owners || span >= c->trace->n_spans)
		return NULL;
	const struct hwy_strip *strip = strip_of(c, span, &row);
	return owners_of(c->owners, strip, row);
}

int64_t case_per_step(const struct hwy_case *c, int64_t total)
{
	int64_t parts = (int64_t)c->phase->n_steady * c->n_devices;
	return parts ? total / parts : 0;
}

int64_t case_time_in_step(const struct hwy_case *c, int64_t total)
{
	int64_t ns = case_per_step(c, total), step = c->phase->mean;
	return ns < step ? ns : step;
}

double case_share(const struct hwy_case *c, int64_t total)
{
	double window = (double)(c->phase->window.to - c->phase->window.from) * c->n_devices;
	return window > 0 ? (double)total / window : 0;
}

double case_count_per_step(const struct hwy_case *c, uint64_t count)
{
	return c->phase->n_steady ? (double)count / c->phase->n_steady : 0;
}

bool case_is_accused(const struct hwy_case *c, const char *id)
{
	for (uint32_t i = 0; i < c->diagnosis->n; i++)
		if (c->diagnosis->findings[i].phase == c->index &&
		    strcmp(c->diagnosis->findings[i].kind->id, id) == 0)
			return true;
	return false;
}

bool case_is_loop(const struct hwy_case *c)
{
	return c->phase->source != PHASE_ONE;
}

const char *case_a_step(const struct hwy_case *c)
{
	return hwy_tr(case_is_loop(c) ? " a step" : "");
}

uint32_t case_step_at(const struct hwy_case *c, int64_t time)
{
	const struct hwy_phase *phase = c->phase;
	uint32_t first = phase->first_steady, end = first + phase->n_steady;
	uint32_t after = HWY_FIRST(i, first + 1, end, phase->steps[i].device.from > time);
	return after - 1;
}

uint32_t case_steps_with(const struct hwy_case *c, const int64_t *times, uint32_t n)
{
	uint32_t found = 0, last = FLOW_NONE;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t step = case_step_at(c, times[i]);
		found += step != last;
		last = step;
	}
	return found;
}

struct gap_states case_states(const struct hwy_case *c)
{
	struct gap_states sum = {0};
	for (uint32_t d = 0; d < c->flow->n_devices; d++)
		if (c->uses[d])
			gap_states_add(&sum, &c->measures->gaps.devices[d]);
	return sum;
}

struct hwy_map case_kernel_names(const struct hwy_case *c, bool (*is_it)(const char *name))
{
	struct hwy_map names = {0};
	for (uint32_t k = 0; k < c->n_kernels; k++)
		if (is_it(hwy_str(c->trace, c->kernels[k].name)))
			hwy_map_put(&names, (uint64_t)c->kernels[k].name, NULL);
	return names;
}

enum { LEGACY_STREAM = 3 }; /* value of hwy_stream.flags, as CUPTI defines it */

const struct hwy_stream *case_stream_of(const struct hwy_case *c, uint32_t op)
{
	int64_t stream = c->trace->lanes[c->flow->ops[op].lane].stream;
	return stream >= 0 && stream < c->trace->n_streams ? &c->trace->streams[stream] : NULL;
}

bool case_stream_is_null(const struct hwy_case *c, const struct hwy_stream *stream)
{
	if (stream->flags == LEGACY_STREAM)
		return true;
	for (uint32_t i = 0; i < c->trace->n_contexts; i++) {
		const struct hwy_context *context = &c->trace->contexts[i];
		if (context->process == stream->process && context->number == stream->context &&
		    context->null_stream != HWY_NONE && context->null_stream == stream->number)
			return true;
	}
	return false;
}

static void find_extent(struct hwy_case *c)
{
	const struct hwy_phase *phase = c->phase;
	c->first_op = flow_op_at(c->flow, phase->window.from);
	c->end_op = flow_op_at(c->flow, phase->window.to);
	if (phase->n_steady == 0)
		return;
	const struct phase_step *last = &phase->steps[phase->first_steady + phase->n_steady - 1];
	c->first_call = phase->steps[phase->first_steady].first_call;
	c->end_call = last->first_call + last->n_calls;
}

static bool is_sane(const struct hwy_case *c)
{
	uint64_t window = (uint64_t)(c->phase->window.to - c->phase->window.from);
	return window < FLOW_MOST_SUM_NS / (c->flow->n_devices + 1u) &&
	       (c->flow->length < FLOW_MOST_SUM_NS ||
		flow_adds_up(c->flow, c->first_op, c->end_op, c->first_call, c->end_call));
}

/* Whether a device has work inside the window, of the phase's process or (of_anybody) of any
 * process. */
static bool has_work(const struct hwy_case *c, uint32_t d, bool of_anybody)
{
	const struct flow_device *device = &c->flow->devices[d];
	const uint32_t *order = c->flow->by_device ? c->flow->by_device + device->first : NULL;
	for (uint32_t i = lanes_place(order, device->n, c->first_op); i < device->n; i++) {
		uint32_t op = order ? order[i] : i, call = c->flow->ops[op].call;
		if (op >= c->end_op)
			break;
		if (of_anybody || (call != FLOW_NONE && case_call_is_ours(c, call)))
			return true;
	}
	return false;
}

/* The phase uses a device where its process has work inside the window. Where no launch is known,
 * it uses every device that has work there. */
static void find_devices(struct hwy_case *c)
{
	for (int pass = 0; pass < 2 && c->n_devices == 0; pass++)
		for (uint32_t d = 0; d < c->flow->n_devices; d++)
			c->n_devices += c->uses[d] = has_work(c, d, pass);
	c->all_ours = c->n_devices == c->flow->n_devices && !c->flow->is_mixed &&
		      (c->flow->n_calls == 0 || case_call_is_ours(c, 0));
}

enum { MEDIAN_KERNELS = 8192 };

struct op_pass {
	struct hwy_map by_name; /* maps the id of a kernel's name to an index in c->kernels */
	uint32_t thread;        /* the thread that launched the last op */
	int64_t lengths[MEDIAN_KERNELS];
	uint32_t n_lengths, every;
	/* The name of the last kernel, and in 'last' its index in c->kernels: a cache, since equal
	 * names come in runs. */
	int64_t last_name;
	uint32_t last;
};

static void case_count_kernel(struct hwy_case *c, struct op_pass *pass, const struct flow_op *op)
{
	int64_t length = op->end - op->start, name = case_get(c, op->span, HWY_NAME);
	bool fresh, in_graph = op->call != FLOW_NONE &&
			       c->flow->calls[op->call].role == HWY_ROLE_GRAPH_LAUNCH;
	if (name != pass->last_name) {
		uint32_t *kernel_index = hwy_map_put(&pass->by_name, (uint64_t)name, &fresh);
		if (fresh) {
			HWY_GROW(c->kernels, c->n_kernels, c->cap_kernels);
			c->kernels[c->n_kernels] =
				(struct case_kernel){.name = name, .longest = -1};
			*kernel_index = c->n_kernels++;
		}
		pass->last_name = name;
		pass->last = *kernel_index;
	}
	struct case_kernel *kernel = &c->kernels[pass->last];
	kernel->ns += length;
	kernel->n++;
	if (length > kernel->longest) {
		kernel->longest = length;
		kernel->span = op->span;
	}
	c->counts.kernel_ns += length;
	c->counts.graph_kernels += in_graph;
	if (c->counts.kernels++ % pass->every == 0 && pass->n_lengths < MEDIAN_KERNELS)
		pass->lengths[pass->n_lengths++] = length;
}

static int compare_kernels(const void *a, const void *b)
{
	const struct case_kernel *x = a, *y = b;
	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->name > y->name) - (x->name < y->name);
}

static void count_op(struct hwy_case *c, struct op_pass *pass, const struct flow_op *op)
{
	struct case_counts *counts = &c->counts;
	int64_t length = op->end - op->start;
	counts->longest = length > counts->longest ? length : counts->longest;
	counts->any_graph |= op->kind == HWY_GRAPH;
	counts->any_transfer |= case_is_transfer(op);
	if (op->call != FLOW_NONE) {
		uint32_t thread = c->flow->calls[op->call].thread;
		counts->turns += thread != pass->thread;
		pass->thread = thread;
	}
	if (op->kind == HWY_KERNEL)
		case_count_kernel(c, pass, op);
}

static void count_ops(struct hwy_case *c)
{
	struct op_pass *pass = hwy_zalloc(sizeof *pass);
	pass->last_name = HWY_NONE;
	pass->every = 1 + (c->end_op - c->first_op) / MEDIAN_KERNELS;
	for (uint32_t i = c->first_op; i < c->end_op; i++)
		if (case_op_is_ours(c, i))
			count_op(c, pass, &c->flow->ops[i]);
	hwy_sort(pass->lengths, pass->n_lengths);
	c->counts.kernel_median = hwy_median_upper(pass->lengths, pass->n_lengths);
	if (c->n_kernels)
		qsort(c->kernels, c->n_kernels, sizeof *c->kernels, compare_kernels);
	hwy_map_free(&pass->by_name);
	free(pass);
}

static void case_count_calls(struct hwy_case *c)
{
	struct case_counts *counts = &c->counts;
	for (uint32_t i = c->first_call; i < c->end_call; i++) {
		const struct flow_call *call = &c->flow->calls[i];
		if (!case_call_is_ours(c, i) || call->role >= HWY_ROLES)
			continue;
		counts->calls[call->role]++;
		counts->call_ns[call->role] += call->end - call->start;
	}
	counts->graph_launches = counts->calls[HWY_ROLE_GRAPH_LAUNCH];
	counts->launches = counts->calls[HWY_ROLE_LAUNCH] + counts->graph_launches;
}

/* Sets c->most by the share of launches without recorded work: what looks idle may be that work.
 * False where that share is too large for any finding from gaps. */
static bool look_at_trust(struct hwy_case *c)
{
	const struct hwy_lack *work = &c->analysis->trust.lacks[HWY_LACK_WORK];
	const struct hwy_lack *drops = &c->analysis->trust.lacks[HWY_LACK_DROPS];
	bool clocks = c->analysis->trust.lacks[HWY_LACK_CLOCKS].count;
	double part = work->total ? (double)work->count / (double)work->total : 0;
	c->is_missing = case_share(c, case_states(c).causes[GAP_MISSING]) >= DOUBTFUL_SHARE;
	c->most = part >= DOUBTFUL_SHARE || c->is_missing || clocks ? HWY_LOW
		  : drops->count                                    ? HWY_MEDIUM
								    : HWY_HIGH;
	if (part < UNBELIEVABLE_SHARE)
		return true;
	diagnose_cannot_tell(
		c->diagnosis, "why the device idles",
		hwy_arena_say(
			&c->diagnosis->arena,
			"%llu of %llu launches have no recorded work, and what looks idle may "
			"be that work",
			(unsigned long long)work->count, (unsigned long long)work->total));
	return false;
}

bool case_open(struct hwy_case *c, struct hwy_analysis *analysis, uint32_t phase,
	       struct hwy_diagnosis *diagnosis, struct hwy_err *err)
{
	*c = (struct hwy_case){
		.analysis = analysis,
		.trace = analysis->trace,
		.flow = &analysis->flow,
		.phase = &analysis->phases.phases[phase],
		.measures = &analysis->measures[phase],
		.index = phase,
		.diagnosis = diagnosis,
		.owners = diagnosis->owners,
		.last = hwy_zalloc(sizeof *c->last),
	};
	const uint64_t columns = HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) |
				 HWY_COL_BIT(HWY_NAME) | HWY_COL_BIT(HWY_STACK);
	const uint64_t transfer = HWY_COL_BIT(HWY_BYTES) | HWY_COL_BIT(HWY_DIRECTION) |
				  HWY_COL_BIT(HWY_SRC_MEMORY) | HWY_COL_BIT(HWY_DST_MEMORY);
	if (!hwy_need(c->trace, HWY_KIND_BIT(HWY_API) | HWY_DEVICE_KINDS, columns, err) ||
	    !hwy_need(c->trace, HWY_KIND_BIT(HWY_COPY), transfer, err) ||
	    !hwy_need(c->trace, HWY_KIND_BIT(HWY_KERNEL), HWY_COL_BIT(HWY_SHAPE), err))
		return false;
	c->uses = hwy_zarray(c->flow->n_devices, sizeof *c->uses);
	find_extent(c);
	if (!is_sane(c)) {
		diagnose_cannot_tell(diagnosis, "what holds the program back",
				     "its times add up to more than centuries");
		c->first_op = c->end_op = c->first_call = c->end_call = 0;
	}
	find_devices(c);
	bool believed = look_at_trust(c);
	c->gap_left = hwy_array(c->measures->gaps.n, sizeof *c->gap_left);
	for (uint32_t i = 0; i < c->measures->gaps.n; i++) {
		const struct hwy_gap *gap = &c->measures->gaps.gaps[i];
		/* Where records are missing the device may have worked, and where a CPU is the
		 * device another program may have taken it: nobody is accused of that time. */
		bool is_claimable = believed && c->uses[gap->device] && gap->cause != GAP_MISSING &&
				    !gap->is_preempted;
		c->gap_left[i] = is_claimable ? gap->at.to - gap->at.from : 0;
	}
	c->op_is_taken = hwy_zarray(c->end_op - c->first_op, sizeof *c->op_is_taken);
	count_ops(c);
	case_count_calls(c);
	transfers_find(c);
	/* Kernels of several streams overlap: a fix can save the time in which any kernel runs, not
	 * the sum. */
	c->kernel_left = case_states(c).compute;
	return true;
}

void case_close(struct hwy_case *c)
{
	free(c->last);
	free(c->uses);
	free(c->gap_left);
	free(c->transfers);
	free(c->kernels);
	free(c->delays);
	free(c->op_is_taken);
	launchers_free(c->launchers);
}

/* HIP's functions are called as CUDA's are, with another prefix. */
static const char *with_hip_names(const struct hwy_case *c, const char *text)
{
	static const struct {
		const char *cuda, *hip;
	} names[] = {{"cuda", "hip"},
		     {"CUDA", "HIP"},
		     {"cublas", "hipblas"},
		     {"nvcc -arch", "hipcc --offload-arch"}};
	char *out = hwy_arena_array(&c->diagnosis->arena, strlen(text) + 1, 2), *end = out;
	while (*text) {
		size_t i = 0, n = sizeof names / sizeof *names;
		while (i < n && strncmp(text, names[i].cuda, strlen(names[i].cuda)) != 0)
			i++;
		const char *taken = i < n ? names[i].hip : NULL;
		if (!taken) {
			*end++ = *text++;
			continue;
		}
		memcpy(end, taken, strlen(taken));
		end += strlen(taken);
		text += strlen(names[i].cuda);
	}
	*end = '\0';
	return out;
}

/* Yields the advice that fits the program, in English. */
static const char *fitting_advice(const struct hwy_case *c, const struct advice *advice)
{
	const struct hwy_diagnosis *diagnosis = c->diagnosis;
	bool torch = diagnosis->framework == HWY_PYTORCH;
	if (advice->captured && c->counts.graph_launches * 2 > c->counts.launches)
		return advice->captured;
	if (torch && advice->compiled && diagnosis->habits.is_compiled)
		return advice->compiled;
	if (diagnosis->infers && advice->inference)
		return advice->inference;
	if (torch && advice->rocm && diagnosis->habits.is_rocm)
		return advice->rocm;
	const char *fits = advice->by_framework[diagnosis->framework];
	if (fits)
		return fits;
	return advice->any;
}

const char *case_advice(const struct hwy_case *c, const struct advice *advice)
{
	const char *english = fitting_advice(c, advice), *said = hwy_tr(english);
	bool names_cuda = english == advice->any && c->diagnosis->habits.is_rocm;
	return names_cuda ? with_hip_names(c, said) : said;
}
