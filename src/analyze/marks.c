/* SPDX-License-Identifier: Apache-2.0 */
/* marks.c - see marks.h.
 *
 * Two kinds of ranges are never the program's steps: ranges that libraries make for themselves
 * (NCCL, CCCL, cuBLAS …, each in its own domain), and ranges that name a function or an operator
 * (aten::mul, which emit_nvtx makes). Operators are searched only for ProfilerStep#N, which old
 * traces keep among the operators. Of XLA's ranges only the executions of compiled functions are
 * marks; a function's executions are one family, and those of each program that was compiled for
 * it another.
 */
#include "analyze/marks.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyze/sweep.h"
#include "analyze/xla.h"
#include "base/ref.h"
#include "base/utf8.h"

enum {
	FEWEST_MARKS = 3, /* fewer marks are no steps, unless their name says "step" */
	MOST_DIGITS = 18, /* digits of a counter that fit int64_t */
};

/* ---- names ----------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

uint32_t mark_common_length(struct hwy_text name)
{
	uint32_t n = 0;
	while (n < name.length && !is_digit(name.at[n]))
		n++;
	return n;
}

bool mark_is_execution(struct hwy_text name)
{
	return xla_parse(name).kind == XLA_EXECUTION;
}

int64_t mark_counter(struct hwy_text name)
{
	uint32_t end = name.length;
	while (end > 0 && !is_digit(name.at[end - 1]))
		end--;
	uint32_t from = end;
	while (from > 0 && is_digit(name.at[from - 1]) && end - from < MOST_DIGITS)
		from--;
	int64_t value = from < end ? 0 : -1;
	for (uint32_t i = from; i < end; i++)
		value = value * 10 + (name.at[i] - '0');
	return value;
}

/* A hash of the name that is equal for names which differ in numbers only. The executions of one
 * function that XLA compiled have equal hashes too: their names differ in the number of the
 * compiled program and in what its operations have in common. */
static uint64_t folded_hash(struct hwy_text name)
{
	struct xla_range xla = xla_parse(name);
	uint64_t hash = 0;
	if (xla.kind == XLA_EXECUTION) {
		for (uint32_t i = 0; i < xla.module.length; i++)
			hash = hwy_mix(hash + (unsigned char)xla.module.at[i] + 1);
		return hwy_mix(hash + XLA_EXECUTION);
	}
	for (uint32_t i = 0; i < name.length; i++) {
		if (is_digit(name.at[i]) && i > 0 && is_digit(name.at[i - 1]))
			continue;
		unsigned char c = is_digit(name.at[i]) ? '#' : (unsigned char)name.at[i];
		hash = hwy_mix(hash + c + 1);
	}
	return hash;
}

/* The offset behind the first of these words that the name holds as a word of its own:
 * "train_step_7" and "trainStep" hold "step". 0 where the name holds none of the words. */
static uint32_t after_word(struct hwy_text name, const char *const *words)
{
	for (uint32_t i = 0; i < name.length; i++) {
		bool begins = isalpha((unsigned char)name.at[i]) &&
			      (i == 0 || !isalpha((unsigned char)name.at[i - 1]) ||
			       (isupper((unsigned char)name.at[i]) &&
				islower((unsigned char)name.at[i - 1])));
		for (size_t w = 0; begins && words[w]; w++) {
			size_t n = strlen(words[w]);
			bool ends =
				i + n == name.length ||
				(i + n < name.length && !islower((unsigned char)name.at[i + n]));
			if (ends && strncasecmp(name.at + i, words[w], n) == 0)
				return i + (uint32_t)n;
		}
	}
	return 0;
}

/* Whether a word of the list ends the name or has a number behind it: "batch" does in
 * "batch 7 of 9", not in "batch_norm". */
static bool counts_by(struct hwy_text name, const char *const *words)
{
	uint32_t offset = after_word(name, words);
	if (offset == 0)
		return false;
	while (offset < name.length && !isalnum((unsigned char)name.at[offset]))
		offset++;
	return offset == name.length || is_digit(name.at[offset]);
}

static bool is_torch_step(struct hwy_text name)
{
	return name.length > 13 && memcmp(name.at, "ProfilerStep#", 13) == 0;
}

/* Whether an inference server marks one unit of its work like this: vLLM's
 * "execute_context_1(8)_generation_0(0)", SGLang's and TensorRT-LLM's "step[DECODE bs=1]". */
static bool is_unit_of_work(struct hwy_text name)
{
	static const char *const beginnings[] = {"execute_", "step["};
	for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
		size_t length = strlen(beginnings[i]);
		if (name.length >= length && memcmp(name.at, beginnings[i], length) == 0)
			return true;
	}
	return false;
}

/* Whether a range of this name encloses an operator or a layer. Programs mark these, but none is
 * a step. */
static bool is_part_of_model(struct hwy_text name)
{
	static const char *const words[] = {
		"attn",      "attention", "norm",      "layernorm",  "batchnorm",
		"groupnorm", "rmsnorm",   "conv",      "linear",     "gemm",
		"matmul",    "softmax",   "embedding", "mlp",        "moe",
		"relu",      "gelu",      "dropout",   "pool",       "layer",
		"block",     "encoder",   "decoder",   "attentions", NULL};
	return !mark_is_execution(name) && after_word(name, words);
}

/* Whether XLA made a range of this name for one operation of a function, or while it compiled. */
static bool is_inside_execution(struct hwy_text name)
{
	enum xla_kind kind = xla_parse(name).kind;
	return kind != XLA_NONE && kind != XLA_EXECUTION;
}

static enum mark_rank marks_rank_of(struct hwy_text name)
{
	static const char *const step[] = {"step",      "iter",  "iteration", "batch",
					   "minibatch", "token", "frame",     NULL};
	static const char *const part[] = {"optimizer", "optim", "scheduler", NULL};
	static const char *const epoch[] = {"epoch", "epochs", NULL};
	if (is_torch_step(name))
		return MARK_TORCH;
	if (is_unit_of_work(name))
		return MARK_STEP;
	if (counts_by(name, step) && !after_word(name, part))
		return MARK_STEP;
	return after_word(name, epoch) ? MARK_EPOCH : MARK_OTHER;
}

bool mark_is_step(struct hwy_text name)
{
	return marks_rank_of(name) != MARK_OTHER;
}

bool mark_is_scope(const char *name)
{
	if (strstr(name, "::"))
		return false;
	return strpbrk(name, "# ") || strncmp(name, "DistributedDataParallel.", 24) == 0 ||
	       strncmp(name, "Optimizer.", 10) == 0;
}

/* Writes a name with an N for each of its numbers. */
static void put_pattern(struct hwy_text name, char *to, size_t size)
{
	size_t n = 0;
	uint32_t i = 0;
	for (; i < name.length && n + 1 < size; i++)
		if (!is_digit(name.at[i]))
			to[n++] = name.at[i];
		else if (i == 0 || !is_digit(name.at[i - 1]))
			to[n++] = 'N';
	to[i < name.length ? hwy_utf8_cut_bytes(to, n, n - 1) : n] = '\0';
}

void marks_alike(const struct hwy_trace *trace, const char *begin, char *list, size_t size)
{
	enum { MOST_NAMES = 3, NAME_BYTES = 64 };
	char found[MOST_NAMES][NAME_BYTES];
	uint32_t n_found = 0;
	size_t length = strlen(begin), used = 0;
	int64_t before = HWY_NONE;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		for (uint32_t row = 0; strip->kind == HWY_RANGE && row < strip->rows; row++) {
			int64_t id = hwy_get(strip, HWY_NAME, row);
			struct hwy_text name = hwy_text(trace, id);
			if (id == before || n_found == MOST_NAMES || name.length <= length ||
			    strncasecmp(name.at, begin, length) != 0)
				continue;
			before = id;
			put_pattern(name, found[n_found], NAME_BYTES);
			bool is_new = strcmp(found[n_found], begin) != 0;
			for (uint32_t i = 0; i < n_found; i++)
				is_new = is_new && strcmp(found[i], found[n_found]) != 0;
			n_found += is_new;
		}
	}
	*list = '\0';
	for (uint32_t i = 0; i < n_found && used < size; i++)
		used += (size_t)snprintf(list + used, size - used, "%s'%s'", i ? ", " : "",
					 found[i]);
}

/* Whether the user wrote a name with an N for each of its numbers, as marks_alike does. */
static bool is_pattern(struct hwy_text name, const char *step)
{
	char pattern[128];
	put_pattern(name, pattern, sizeof pattern);
	return name.length < sizeof pattern && strcmp(pattern, step) == 0;
}

static bool is_asked_for(struct hwy_text name, const char *step)
{
	struct hwy_text asked = {step, (uint32_t)strlen(step)};
	uint32_t common = mark_common_length(name);
	struct xla_range xla = xla_parse(name);
	char function[256];
	xla_function(xla.module, function, sizeof function);
	if (xla.kind == XLA_EXECUTION && strcmp(function, step) == 0)
		return true;
	return (common == asked.length && memcmp(name.at, step, common) == 0) ||
	       folded_hash(name) == folded_hash(asked) || is_pattern(name, step);
}

/* ---- strips ---------------------------------------------------------------------------------- */

static bool is_library(struct hwy_text domain)
{
	static const char *const names[] = {"NCCL",   "CCCL",   "cub",      "thrust",
					    "cuBLAS", "cuDNN",  "cuSOLVER", "cuSPARSE",
					    "cuFFT",  "cuRAND", "NVSHMEM"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (domain.length >= strlen(names[i]) &&
		    strncasecmp(domain.at, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* Whether the domain's ranges are what the interpreter did by itself (garbage collections). */
static bool is_interpreter(struct hwy_text domain)
{
	return strcmp(domain.at, HWY_DOMAIN_PYTHON) == 0;
}

/* Where to search for marks: on all threads of the process, or only on threads that launch,
 * since a loader's threads mark batches too. */
struct mark_search {
	const struct phases_track *track;
	bool has_torch_steps; /* some string of the trace is ProfilerStep#N */
	uint8_t *launches;    /* for each thread whether it launches; NULL to search all threads */
};

/* Whether the strip may hold marks of the process. */
static bool holds_marks(const struct mark_search *search, const struct hwy_strip *strip)
{
	const struct phases_track *track = search->track;
	const struct hwy_trace *trace = track->flow->trace;
	const struct hwy_lane *lane = &trace->lanes[strip->lane];
	if (search->launches && lane->thread >= 0 && lane->thread < trace->n_threads &&
	    !search->launches[lane->thread])
		return false;
	bool is_range = strip->kind == HWY_RANGE &&
			(lane->type == HWY_LANE_RANGE || lane->type == HWY_LANE_STARTEND);
	if (!is_range && !(strip->kind == HWY_OP && search->has_torch_steps))
		return false;
	int64_t process = lane->process == HWY_NONE ? FLOW_NO_PROCESS : lane->process;
	struct hwy_text domain = hwy_text(trace, lane->name);
	return process == track->process && !is_library(domain) && !is_interpreter(domain);
}

/* ---- families -------------------------------------------------------------------------------- */

struct family_builder {
	const struct phases_track *track;
	const char *step; /* the name of marks that the user gave, or NULL */
	struct mark_families *into;
	uint32_t *counts; /* for each text the number of marks with this name */
	/* For each text two references (base/ref.h): to the family of names that differ in
	 * numbers, and to the family of this name alone. */
	uint32_t *folded, *exact;
};

/* Adds a family for this name, and returns a reference to it. */
static uint32_t new_family(struct family_builder *builder, uint32_t text)
{
	struct mark_families *into = builder->into;
	struct hwy_text name = hwy_text(builder->track->flow->trace, text);
	HWY_GROW(into->families, into->n, into->cap);
	into->families[into->n++] = (struct mark_family){
		.rank = marks_rank_of(name) != MARK_TORCH && mark_counter(name) >= 0
				? MARK_OTHER
				/* True until a mark whose name has another number joins the
				 * family. */
				: marks_rank_of(name),
		.text = text,
		.is_exact = true,
		.is_asked = builder->step && is_asked_for(name, builder->step),
	};
	return hwy_ref32(into->n - 1);
}

/* Makes the families, still without marks. A name with numbers may be in two families: with all
 * names that differ in numbers only, and, where it is repeated (layer_0), in a family of its
 * own. */
static void make_families(struct family_builder *builder)
{
	const struct hwy_trace *trace = builder->track->flow->trace;
	struct hwy_map by_fold = {0};
	bool has_named = false;
	for (uint32_t text = 1; text < trace->strings.n; text++) {
		struct hwy_text name = trace->strings.texts[text];
		if (!builder->counts[text] || is_inside_execution(name))
			continue;
		bool fresh;
		uint32_t *family = hwy_map_put(&by_fold, folded_hash(name), &fresh);
		if (fresh)
			*family = new_family(builder, text);
		else
			builder->into->families[hwy_ref32_index(*family)].is_exact = false;
		builder->folded[text] = *family;
		bool named = builder->step && strcmp(builder->step, name.at) == 0;
		if (mark_counter(name) >= 0 && builder->counts[text] >= FEWEST_MARKS &&
		    (named || marks_rank_of(name) == MARK_OTHER)) {
			builder->exact[text] = new_family(builder, text);
			builder->into->families[hwy_ref32_index(builder->exact[text])].is_asked =
				named;
			has_named |= named;
		}
	}
	for (uint32_t i = 0; i < builder->into->n; i++) {
		struct mark_family *family = &builder->into->families[i];
		if (!family->is_exact) {
			family->rank = marks_rank_of(hwy_text(trace, family->text));
			/* A user who asks for layer_0 does not mean all layers. */
			family->is_asked &= !has_named;
		}
	}
	hwy_map_free(&by_fold);
}

/* Adds a mark to the family that the reference names, if it is set. */
static void add_mark(struct mark_families *into, uint32_t reference, struct mark mark)
{
	if (!hwy_ref32_is_set(reference))
		return;
	struct mark_family *family = &into->families[hwy_ref32_index(reference)];
	if (family->n && mark.at.from < family->marks[family->n - 1].at.to)
		return;
	HWY_GROW(family->marks, family->n, family->cap);
	family->marks[family->n++] = mark;
}

static bool any_torch_step(const struct hwy_trace *trace)
{
	for (uint32_t i = 0; i < trace->strings.n; i++)
		if (is_torch_step(trace->strings.texts[i]))
			return true;
	return false;
}

static bool counts_as_mark(const struct hwy_trace *trace, const struct hwy_strip *strip,
			   int64_t name)
{
	return name > 0 && name < trace->strings.n &&
	       (strip->kind == HWY_RANGE || is_torch_step(hwy_text(trace, name)));
}

static bool is_function(struct hwy_text name)
{
	return strstr(name.at, "::") != NULL;
}

static void fill_families(struct family_builder *builder, struct hwy_sweep *sweep)
{
	const struct hwy_trace *trace = builder->track->flow->trace;
	while (sweep_next(sweep)) {
		int64_t name = hwy_get(sweep->strip, HWY_NAME, sweep->row);
		if (!counts_as_mark(trace, sweep->strip, name) || sweep->end == sweep->start)
			continue;
		struct mark mark = {.at = {sweep->start, sweep->end}, .name = name};
		add_mark(builder->into, builder->folded[name], mark);
		add_mark(builder->into, builder->exact[name], mark);
	}
}

/* Drops the families that cannot be steps: too few marks, or a function's, an operator's or a
 * layer's name. */
static void drop_unfit(const struct hwy_trace *trace, struct mark_families *families)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < families->n; i++) {
		struct mark_family *family = &families->families[i];
		/* The counter in the name of a mark that occurs once proves nothing, but the
		 * name may say "step". */
		if (family->n == 1)
			family->rank = marks_rank_of(hwy_text(trace, family->text));
		bool is_kept = family->n && (family->is_asked || family->rank >= MARK_STEP ||
					     (family->n >= FEWEST_MARKS &&
					      !is_function(hwy_text(trace, family->text)) &&
					      !is_part_of_model(hwy_text(trace, family->text))));
		if (is_kept)
			families->families[kept++] = *family;
		else
			free(family->marks);
	}
	families->n = kept;
}

static void gather_track(const struct mark_search *search, const char *step,
			 struct mark_families *into)
{
	const struct hwy_trace *trace = search->track->flow->trace;
	size_t texts = trace->strings.n;
	struct family_builder builder = {search->track,
					 step,
					 into,
					 hwy_zarray(texts, sizeof(uint32_t)),
					 hwy_zarray(texts, sizeof(uint32_t)),
					 hwy_zarray(texts, sizeof(uint32_t))};
	struct hwy_sweep sweep = {0};
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (!holds_marks(search, strip))
			continue;
		for (uint32_t row = 0; row < strip->rows; row++) {
			int64_t name = hwy_get(strip, HWY_NAME, row);
			if (counts_as_mark(trace, strip, name))
				builder.counts[name]++;
		}
		sweep_add(&sweep, strip, 0);
	}
	make_families(&builder);
	fill_families(&builder, &sweep);
	drop_unfit(trace, into);
	sweep_free(&sweep);
	free(builder.counts);
	free(builder.folded);
	free(builder.exact);
}

void marks_gather(const struct phases_track *track, const char *step, struct mark_families *into)
{
	const struct hwy_trace *trace = track->flow->trace;
	struct mark_search search = {track, any_torch_step(trace),
				     hwy_zalloc(trace->n_threads + 1)};
	for (uint32_t i = 0; i < track->n; i++) {
		const struct flow_call *call = track_call(track, i);
		if (call->op != FLOW_NONE && call->thread < trace->n_threads)
			search.launches[call->thread] = 1;
	}
	if (!step)
		gather_track(&search, step, into);
	free(search.launches);
	search.launches = NULL;
	if (into->n == 0)
		gather_track(&search, step, into);
}

void marks_free(struct mark_families *families)
{
	for (uint32_t i = 0; i < families->n; i++)
		free(families->families[i].marks);
	free(families->families);
	*families = (struct mark_families){0};
}
