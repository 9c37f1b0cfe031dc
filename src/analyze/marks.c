/* marks.c - see marks.h.
 *
 * Ranges that libraries make for themselves (NCCL, CCCL, cuBLAS …, each in its own domain) and those that name a
 * function or an operator (aten::mul, which emit_nvtx makes) are not the program's steps. Operators are looked at
 * only for ProfilerStep#N, which old traces keep among them.
 */
#include "analyze/marks.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyze/sweep.h"

enum { FEWEST = 3 };

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

int64_t mark_counter(struct hwy_text name)
{
	uint32_t end = name.length;
	while (end > 0 && !is_digit(name.at[end - 1]))
		end--;
	uint32_t from = end;
	while (from > 0 && is_digit(name.at[from - 1]) && end - from < 18)
		from--;
	int64_t value = from < end ? 0 : -1;
	for (uint32_t i = from; i < end; i++)
		value = value * 10 + (name.at[i] - '0');
	return value;
}

/* Equal for names that differ in numbers only. */
static uint64_t folded_hash(struct hwy_text name)
{
	uint64_t hash = 0;
	for (uint32_t i = 0; i < name.length; i++) {
		if (is_digit(name.at[i]) && i > 0 && is_digit(name.at[i - 1]))
			continue;
		unsigned char c = is_digit(name.at[i]) ? '#' : (unsigned char)name.at[i];
		hash = hwy_mix(hash + c + 1);
	}
	return hash;
}

/* Where in the name one of the words stands, as a word ("train_step_7" and "trainStep" have "step"): the place
 * after it; 0: nowhere. */
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

/* The word is the name's last, or a number follows it: "batch 7 of 9", not "batch_norm". */
static bool counts_by(struct hwy_text name, const char *const *words)
{
	uint32_t at = after_word(name, words);
	if (at == 0)
		return false;
	while (at < name.length && !isalnum((unsigned char)name.at[at]))
		at++;
	return at == name.length || is_digit(name.at[at]);
}

static bool is_torch_step(struct hwy_text name)
{
	return name.length > 13 && memcmp(name.at, "ProfilerStep#", 13) == 0;
}

static enum mark_rank marks_rank_of(struct hwy_text name)
{
	static const char *const step[] = {"step",      "iter",  "iteration", "batch",
					   "minibatch", "token", "frame",     NULL};
	static const char *const part[] = {"optimizer", "optim", "scheduler", NULL};
	static const char *const epoch[] = {"epoch", "epochs", NULL};
	if (is_torch_step(name))
		return MARK_TORCH;
	if (counts_by(name, step) && !after_word(name, part))
		return MARK_STEP;
	return after_word(name, epoch) ? MARK_EPOCH : MARK_OTHER;
}

static bool is_asked_for(struct hwy_text name, const char *step)
{
	struct hwy_text asked = {step, (uint32_t)strlen(step)};
	uint32_t common = mark_common_length(name);
	return (common == asked.length && memcmp(name.at, step, common) == 0) ||
	       folded_hash(name) == folded_hash(asked);
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

/* What to look at: all of the process, or only threads that launch (a loader's threads have batches too). */
struct looking {
	const struct phases_track *track;
	bool has_torch_steps;
	uint8_t *launches; /* by thread; NULL: look at all */
};

static bool holds_marks(const struct looking *looking, const struct hwy_strip *strip)
{
	const struct phases_track *track = looking->track;
	const struct hwy_trace *trace = track->flow->trace;
	const struct hwy_lane *lane = &trace->lanes[strip->lane];
	if (looking->launches && lane->thread >= 0 && lane->thread < trace->n_threads &&
	    !looking->launches[lane->thread])
		return false;
	bool is_range = strip->kind == HWY_RANGE &&
			(lane->type == HWY_LANE_RANGE || lane->type == HWY_LANE_STARTEND);
	if (!is_range && !(strip->kind == HWY_OP && looking->has_torch_steps))
		return false;
	int64_t process = lane->process == HWY_NONE ? FLOW_NO_PROCESS : lane->process;
	return process == track->process && !is_library(hwy_text(trace, lane->name));
}

/* ---- families -------------------------------------------------------------------------------- */

struct gathering {
	const struct phases_track *track;
	const char *step;
	struct mark_families *into;
	uint32_t *counts;         /* by text */
	uint32_t *folded, *exact; /* by text: its family, plus one */
};

static uint32_t new_family(struct gathering *gathering, uint32_t text)
{
	struct mark_families *into = gathering->into;
	struct hwy_text name = hwy_text(gathering->track->flow->trace, text);
	HWY_GROW(into->v, into->n, into->cap);
	into->v[into->n++] = (struct mark_family){
		.rank = marks_rank_of(name) != MARK_TORCH && mark_counter(name) >= 0
				? MARK_OTHER
				: marks_rank_of(name),
		.text = text,
		.is_exact = true, /* until another one joins */
		.is_asked = gathering->step && is_asked_for(name, gathering->step),
	};
	return into->n;
}

/* A name with numbers makes two families: of all that differ in numbers only, and, where the numbers say
 * which of a few it is (layer_0), its own. */
static void make_families(struct gathering *gathering)
{
	const struct hwy_trace *trace = gathering->track->flow->trace;
	struct hwy_map by_fold = {0};
	bool has_named = false;
	for (uint32_t text = 1; text < trace->strings.n; text++) {
		if (!gathering->counts[text])
			continue;
		struct hwy_text name = trace->strings.texts[text];
		bool fresh;
		uint32_t *family = hwy_map_put(&by_fold, folded_hash(name), &fresh);
		if (fresh)
			*family = new_family(gathering, text);
		else
			gathering->into->v[*family - 1].is_exact = false;
		gathering->folded[text] = *family;
		bool named = gathering->step && strcmp(gathering->step, name.at) == 0;
		if (mark_counter(name) >= 0 && gathering->counts[text] >= FEWEST &&
		    (named || marks_rank_of(name) == MARK_OTHER)) {
			gathering->exact[text] = new_family(gathering, text);
			gathering->into->v[gathering->exact[text] - 1].is_asked = named;
			has_named |= named;
		}
	}
	for (uint32_t i = 0; i < gathering->into->n; i++) {
		struct mark_family *family = &gathering->into->v[i];
		if (!family->is_exact) {
			family->rank = marks_rank_of(hwy_text(trace, family->text));
			family->is_asked &= !has_named; /* layer_0 is that one, not all layers */
		}
	}
	hwy_map_free(&by_fold);
}

static void add_mark(struct mark_families *into, uint32_t family, struct mark mark)
{
	if (!family)
		return;
	struct mark_family *to = &into->v[family - 1];
	if (to->n && mark.at.from < to->v[to->n - 1].at.to)
		return;
	HWY_GROW(to->v, to->n, to->cap);
	to->v[to->n++] = mark;
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

static void fill_families(struct gathering *gathering, struct hwy_sweep *sweep)
{
	const struct hwy_trace *trace = gathering->track->flow->trace;
	while (sweep_next(sweep)) {
		int64_t name = hwy_get(sweep->strip, HWY_NAME, sweep->row);
		if (!counts_as_mark(trace, sweep->strip, name) || sweep->end == sweep->start)
			continue;
		struct mark mark = {.at = {sweep->start, sweep->end}, .name = name};
		add_mark(gathering->into, gathering->folded[name], mark);
		add_mark(gathering->into, gathering->exact[name], mark);
	}
}

static void drop_unfit(const struct hwy_trace *trace, struct mark_families *families)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < families->n; i++) {
		struct mark_family *family = &families->v[i];
		bool is_kept =
			family->n &&
			(family->is_asked || family->rank >= MARK_STEP ||
			 (family->n >= FEWEST && !is_function(hwy_text(trace, family->text))));
		if (is_kept)
			families->v[kept++] = *family;
		else
			free(family->v);
	}
	families->n = kept;
}

static void gather_track(const struct looking *looking, const char *step,
			 struct mark_families *into)
{
	const struct hwy_trace *trace = looking->track->flow->trace;
	size_t texts = trace->strings.n;
	struct gathering gathering = {looking->track,
				      step,
				      into,
				      hwy_zalloc(texts * sizeof(uint32_t)),
				      hwy_zalloc(texts * sizeof(uint32_t)),
				      hwy_zalloc(texts * sizeof(uint32_t))};
	struct hwy_sweep sweep = {0};
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (!holds_marks(looking, strip))
			continue;
		for (uint32_t row = 0; row < strip->rows; row++) {
			int64_t name = hwy_get(strip, HWY_NAME, row);
			if (counts_as_mark(trace, strip, name))
				gathering.counts[name]++;
		}
		sweep_add(&sweep, strip, 0);
	}
	make_families(&gathering);
	fill_families(&gathering, &sweep);
	drop_unfit(trace, into);
	sweep_free(&sweep);
	free(gathering.counts);
	free(gathering.folded);
	free(gathering.exact);
}

void marks_gather(const struct phases_track *track, const char *step, struct mark_families *into)
{
	const struct hwy_trace *trace = track->flow->trace;
	struct looking looking = {track, any_torch_step(trace), hwy_zalloc(trace->n_threads + 1)};
	for (uint32_t i = 0; i < track->n; i++) {
		const struct flow_call *call = track_call(track, i);
		if (call->op != FLOW_NONE && call->thread < trace->n_threads)
			looking.launches[call->thread] = 1;
	}
	if (!step)
		gather_track(&looking, step, into);
	free(looking.launches);
	looking.launches = NULL;
	if (into->n == 0)
		gather_track(&looking, step, into);
}

void marks_free(struct mark_families *families)
{
	for (uint32_t i = 0; i < families->n; i++)
		free(families->v[i].v);
	free(families->v);
	*families = (struct mark_families){0};
}
