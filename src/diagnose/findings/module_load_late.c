/* SPDX-License-Identifier: Apache-2.0 */
/* module_load_late.c - code is used for the first time while the GPU idles: loaded, compiled,
 * tuned, or captured.
 *
 * Cost: gaps with the causes 'module' and 'first-use', and other idle time that calls which load
 * modules overlap. In a loop only the steady steps count. Where nothing repeats and the first
 * uses fade, the recording is of a start-up: the finding says so, instead of advising a change
 * of the program.
 */
#include <string.h>

#include "analyze/compilations.h"
#include "analyze/xla.h"
#include "base/lang.h"
#include "base/ref.h"
#include "base/say.h"
#include "diagnose/case.h"
#include "diagnose/findings/findings.h"

/* A start-up is over in the first half of a recording: where so much of the time lies in the
 * second half, first uses go on. */
#define GOES_ON_SHARE 0.25

enum deed { LOADED, COMPILED, TUNED, CAPTURED, DEEDS };

static const char *const deeds[DEEDS] = {
	[LOADED] = "loaded",
	[COMPILED] = "compiled",
	[TUNED] = "tuned",
	[CAPTURED] = "captured as graphs",
};

/* ---- advice ---------------------------------------------------------------------------------- */

/* CuPy and OpenCL compile what they load: the advice is the same for both. */
static const char cupy_keeps[] =
	"Run every kernel once before the loop; CuPy compiles at first use and keeps the result in ~/.cupy/kernel_cache.";
static const char opencl_binaries[] =
	"Build programs once, before the loop, and keep their binaries.\n"
	"  clCreateProgramWithBinary(…)   # instead of clBuildProgram in the loop";
static const struct advice load = {
	.any = "Run every kernel once before the part that counts, or load them all at the start; ship code for this GPU, so "
	       "that the driver need not compile PTX.\n"
	       "  CUDA_MODULE_LOADING=EAGER ./program     # and nvcc -arch=native",
	.by_framework =
		{
			[HWY_PYTORCH] =
				"Run the step once with every input shape before the part that counts: kernels are loaded at "
				"their first launch.\n"
				"  for x in one_of_each_shape: step(x)     # then torch.cuda.synchronize(), then the loop",
			[HWY_CUPY] = cupy_keeps,
			[HWY_OPENCL_C] = opencl_binaries,
			[HWY_JAX] =
				"Run the step once with every input shape before the part that counts.\n"
				"  step(params, batch)[0].block_until_ready()   # then the loop",
		},
	.rocm = "Run the step once with every input shape before the part that counts: code objects are loaded at their "
		"first launch.\n"
		"  HIP_ENABLE_DEFERRED_LOADING=0 python3 …      # loads them all at the start",
};
static const struct advice compile = {
	.any = "Code is compiled inside the steps: compile it before the loop, and keep the result.",
	.by_framework =
		{
			[HWY_PYTORCH] =
				"Code is compiled inside the steps: shapes or values that change make new code. Mark changing "
				"sizes as dynamic, or pad to a few sizes; the log says what was compiled again and why.\n"
				"  torch._dynamo.mark_dynamic(x, 0)        # or torch.compile(model, dynamic=True)\n"
				"  TORCH_LOGS=recompiles python3 …",
			[HWY_CUPY] = cupy_keeps,
			[HWY_OPENCL_C] = opencl_binaries,
			[HWY_JAX] =
				"XLA compiles inside the steps: every new shape, and every function outside jit, makes new code. "
				"Put the whole step into one jitted function, and pad inputs to a few shapes.\n"
				"  step = jax.jit(step); jax.config.update(\"jax_log_compiles\", True)",
		},
};
/* The advice where XLA mostly compiles one function again and again. */
static const struct advice compile_again = {
	.any = "A function is compiled again for every new shape or type of its inputs: pad the inputs to a few shapes.",
	.by_framework =
		{[HWY_JAX] = HWY_KEY(
			 "Every new shape or type of an argument, and every new value of a static one, makes XLA compile the "
			 "function again: pad batches to a few sizes, drop a last batch that is shorter, and pass numbers "
			 "that change as arrays. The log says what changed.\n"
			 "  jax.config.update(\"jax_explain_cache_misses\", True)")},
};
/* The advice for PyTorch programs that run no compiled code of their own: a library compiles. */
static const char library_compiles[] =
	"A library such as cuDNN makes code for each shape that it has not seen, and with its tuning on tries several: switch the tuning "
	"off, pad inputs to a few shapes, or run each shape once before the part that counts.\n"
	"  torch.backends.cudnn.benchmark = False";
/* The same where the code is that of attention. */
static const char attention_compiles[] =
	"A library makes code for attention over each length that it has not seen: let other kernels do it, or keep one length (a "
	"static cache, padding).\n"
	"  torch.backends.cuda.enable_cudnn_sdp(False)\n"
	"  past_key_values=StaticCache(config=model.config, max_cache_len=2048)   # generate(…, cache_implementation=\"static\")";
static const struct advice tune = {
	.any = "Kernels are tuned inside the steps: tune before the loop, and keep the result; every new shape is tuned again.",
	.by_framework =
		{[HWY_PYTORCH] =
			 "Kernels are tuned inside the steps, again for every new shape: warm up with every shape, pad to a few, "
			 "or switch tuning off.\n"
			 "  torch.backends.cudnn.benchmark = False"},
};
static const struct advice capture = {
	.any = "Graphs are captured inside the steps: capture once for each shape, before the loop, and replay.",
	.by_framework =
		{[HWY_PYTORCH] =
			 "Graphs are captured inside the steps, again for every new shape: capture a few sizes before the loop, "
			 "pad inputs to them, and replay.\n"
			 "  static_x[:n].copy_(x); graph.replay()"},
};
/* The advice for recordings in which nothing repeats. */
static const struct advice once = {
	.any = "This is start-up, and happens once: record a longer run, or begin after a warm-up, to see the program's own "
	       "pace.\n"
	       "  headway profile --delay 10 --duration 10 ./program",
	.by_framework =
		{
			[HWY_PYTORCH] =
				"This is start-up, and happens once: record a longer run, or begin after a few steps, to see the "
				"program's own pace. Where it comes back in later steps, shapes change: TORCH_LOGS=recompiles.\n"
				"  headway profile --delay 20 --duration 10 python3 …   # torch.profiler: "
				"schedule(wait=1, warmup=3, active=3)",
			[HWY_JAX] =
				"This is start-up: record a longer run, or begin after a few steps. What XLA compiled can be kept "
				"from run to run.\n"
				"  jax.config.update(\"jax_compilation_cache_dir\", \"/var/tmp/jax\")",
		},
};

/* ---- what was done --------------------------------------------------------------------------- */

struct first_use_sum {
	int64_t ns[DEEDS];
	/* Id of the span with the longest stretch of first use, or CLAIM_NOBODY. */
	uint32_t longest;
	int64_t longest_ns;
	/* The span 'longest' is a call that loads code which the CPU made just before the call. */
	bool is_made_before;
};

/* Whether the CPU made the code in the idle time before it was loaded: that idle time is far longer
 * than the loading call. */
static bool is_made_before(const struct claim_item *item, int64_t length)
{
	return item->ns / 2 > length;
}

static enum deed deed_of_item(const struct hwy_case *c, const struct claim_item *item)
{
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(c->trace, item->span, &row);
	const char *name = case_name(c, item->span);
	if (strip->kind == HWY_API && (strstr(name, "Capture") || strstr(name, "Instantiate")))
		return CAPTURED;
	if (strip->kind == HWY_API)
		return is_made_before(item, hwy_get(strip, HWY_DUR, row)) ? COMPILED : LOADED;
	if (strip->kind != HWY_RANGE && strip->kind != HWY_OP && strip->kind != HWY_CALL)
		return COMPILED; /* a child process compiles, and the gap ends with device work */
	if (strcasestr(name, "autotun"))
		return TUNED;
	return strcasestr(name, "captur") || strcasestr(name, "cudagraph") ? CAPTURED : COMPILED;
}

static struct first_use_sum add_up(const struct hwy_case *c, const struct claim *claim)
{
	struct first_use_sum sum = {.longest = CLAIM_NOBODY};
	for (uint32_t i = 0; i < claim->n; i++) {
		const struct claim_item *item = &claim->items[i];
		if (item->span == CLAIM_NOBODY)
			continue;
		uint32_t row;
		const struct hwy_strip *strip = hwy_strip_of(c->trace, item->span, &row);
		int64_t length = hwy_get(strip, HWY_DUR, row);
		bool made_before = is_made_before(item, length);
		sum.ns[deed_of_item(c, item)] += item->ns;
		length = item->ns < length || made_before ? item->ns : length;
		if (length <= sum.longest_ns)
			continue;
		sum.longest = item->span;
		sum.longest_ns = length;
		sum.is_made_before = made_before;
	}
	return sum;
}

static enum deed main_deed(const struct first_use_sum *sum)
{
	enum deed most = LOADED;
	for (enum deed deed = LOADED; deed < DEEDS; deed++)
		most = sum->ns[deed] > sum->ns[most] ? deed : most;
	return most;
}

/* Yields in words what took a tenth of the time or more: "loaded and captured as graphs". */
static const char *what_was_done(struct hwy_case *c, const struct first_use_sum *sum)
{
	int64_t all = 0;
	const char *text = "";
	for (enum deed deed = LOADED; deed < DEEDS; deed++)
		all += sum->ns[deed];
	for (enum deed deed = LOADED; deed < DEEDS; deed++)
		if (sum->ns[deed] > 0 && sum->ns[deed] >= all / 10)
			text = hwy_arena_format(&c->diagnosis->arena, "%s%s%s", text,
						*text ? hwy_tr_word(HWY_KEY("deeds| and ")) : "",
						hwy_tr(deeds[deed]));
	return *text ? text : hwy_tr("loaded or compiled");
}

/* The name of the longest first use, as a user knows it. */
static const char *name_of_longest(struct hwy_case *c, const struct first_use_sum *sum)
{
	const char *name = case_name_said(c, sum->longest);
	char label[128];
	xla_label((struct hwy_text){name, (uint32_t)strlen(name)}, label, sizeof label);
	return *label ? hwy_arena_format(&c->diagnosis->arena, "%s", label) : name;
}

/* What XLA compiles again and again in the steady steps of a loop; a function "" where it is
 * nothing, or several functions. */
static struct recompiled recompiled_in_steps(const struct hwy_case *c,
					     const struct first_use_sum *sum)
{
	struct recompiled nothing = {.function = ""};
	if (!case_is_loop(c) || main_deed(sum) != COMPILED)
		return nothing;
	struct recompiled most = recompiled_in(c->flow, c->phase->process, c->phase->window);
	return most.is_again && most.ns >= most.all_ns / 2 ? most : nothing;
}

static const char *module_load_late_accusation(struct hwy_case *c, const struct claim *claim,
					       const struct first_use_sum *sum)
{
	struct hwy_arena *arena = &c->diagnosis->arena;
	struct recompiled again = recompiled_in_steps(c, sum);
	if (*again.function)
		return hwy_arena_say(
			arena,
			"%s is compiled again %s in the steady steps, %s in all: its inputs change in shape or "
			"type. The GPU idles %s a step, %s of the time, meanwhile.",
			again.function, hwy_say_count_times(again.times).text,
			hwy_say_time3(again.ns).text,
			hwy_say_time3(case_per_step(c, claim->total)).text,
			hwy_say_share(claim_share(c, claim)).text);
	const char *longest = "";
	if (sum->longest != CLAIM_NOBODY)
		longest = hwy_arena_say(
			arena,
			sum->is_made_before ? " The longest gap, before %.80s, takes %s."
					    : " The longest, %.80s, takes %s.",
			name_of_longest(c, sum), hwy_say_time3(sum->longest_ns).text);
	return hwy_arena_say(
		arena,
		"Code is used for the first time and has to be %s; the GPU idles %s%s, %s of "
		"the time, meanwhile.%s",
		what_was_done(c, sum), hwy_say_time3(case_per_step(c, claim->total)).text,
		case_a_step(c), hwy_say_share(claim_share(c, claim)).text, longest);
}

/* How much of the claimed time lies in the second half of the window, in ns. */
static int64_t claimed_late(const struct hwy_case *c, const struct claim *claim)
{
	struct hwy_interval window = c->phase->window;
	int64_t middle = window.from + (window.to - window.from) / 2, late = 0;
	for (uint32_t i = 0; i < claim->n; i++) {
		const struct claim_item *item = &claim->items[i];
		if (item->purse == CLAIM_GAP &&
		    c->measures->gaps.gaps[item->index].at.from >= middle)
			late += item->ns;
	}
	return late;
}

/* Whether the span is a call of the vendor's library: no range, operator or process names what
 * was compiled. */
static bool is_call(const struct hwy_case *c, uint32_t span)
{
	uint32_t row;
	return span != CLAIM_NOBODY && hwy_strip_of(c->trace, span, &row)->kind == HWY_API;
}

/* Whether a function whose name says attention made the call, by the call's stack. */
static bool is_in_attention(const struct hwy_case *c, uint32_t span)
{
	const struct hwy_trace *trace = c->trace;
	uint32_t stack;
	bool has_stack = hwy_ref_to_index(case_get(c, span, HWY_STACK), &stack);
	/* The loop ends because, in the trie of stacks, a caller's entry stands before the
	 * entries of its callees. */
	while (has_stack && stack < trace->n_stacks) {
		const char *function =
			hwy_str(trace, trace->frames[trace->stacks[stack].frame].function);
		if (strcasestr(function, "attention") || strcasestr(function, "sdpa"))
			return true;
		has_stack = hwy_ref_to_index(trace->stacks[stack].parent, &stack);
	}
	return false;
}

/* Yields the advice for what was mostly done; for a start-up the advice to record a longer run. */
static const char *module_load_late_advice(struct hwy_case *c, const struct claim *claim,
					   const struct first_use_sum *sum)
{
	static const struct advice *const advice[DEEDS] = {&load, &compile, &tune, &capture};
	bool goes_on = case_is_loop(c) ||
		       (!c->phase->has_start_up &&
			(double)claimed_late(c, claim) >= GOES_ON_SHARE * (double)claim->total);
	if (*recompiled_in_steps(c, sum).function)
		return case_advice(c, &compile_again);
	const char *text = case_advice(c, goes_on ? advice[main_deed(sum)] : &once);
	bool is_library = text == hwy_tr(compile.by_framework[HWY_PYTORCH]) &&
			  is_call(c, sum->longest) && !c->diagnosis->habits.has_compiled;
	if (!is_library)
		return text;
	return is_in_attention(c, sum->longest) ? attention_compiles : library_compiles;
}

/* ---- whose the time of a gap is -------------------------------------------------------------- */

enum { MOST_USES = 64 }; /* a gap with more first uses goes to the longest one as a whole */

/* The first uses of the process that overlap a gap, in order of start; MOST_USES + 1: too many. */
static uint32_t uses_of_gap(const struct hwy_case *c, struct hwy_interval gap,
			    const struct first_use *found[MOST_USES])
{
	const struct first_uses *uses = &c->flow->first_uses;
	uint32_t n = 0;
	for (uint32_t i = 0; i < uses->n && n <= MOST_USES; i++) {
		const struct first_use *use = &uses->uses[i];
		if (use->process != c->phase->process || use->time.from >= gap.to ||
		    use->time.to <= gap.from)
			continue;
		if (n < MOST_USES)
			found[n] = use;
		n++;
	}
	return n;
}

/* How much of a gap uses[i] takes that no first use inside of it takes, in ns. */
static int64_t own_time(const struct first_use *const *uses, uint32_t n, uint32_t i,
			struct hwy_interval gap)
{
	struct hwy_interval at = uses[i]->time, fresh;
	struct hwy_cover inner = {0};
	at.from = at.from > gap.from ? at.from : gap.from;
	at.to = at.to < gap.to ? at.to : gap.to;
	for (uint32_t k = i + 1; k < n; k++) {
		int64_t from = uses[k]->time.from > at.from ? uses[k]->time.from : at.from;
		int64_t to = uses[k]->time.to < at.to ? uses[k]->time.to : at.to;
		if (to > from)
			cover_add(&inner, from, to, &fresh);
	}
	return at.to - at.from - inner.total;
}

/* Claims a gap part by part for its first uses, where these are several calls: none is charged
 * with what another one took. What is between them is nobody's. A range or a function that
 * compiles names the whole gap, whatever it calls. */
static void claim_parts(struct hwy_case *c, struct claim *claim, uint32_t g)
{
	const struct hwy_gap *gap = &c->measures->gaps.gaps[g];
	const struct first_use *uses[MOST_USES];
	uint32_t n = uses_of_gap(c, gap->at, uses);
	if (n < 2 || n > MOST_USES)
		return;
	for (uint32_t i = 0; i < n; i++)
		if (uses[i]->span == UINT32_MAX || !is_call(c, uses[i]->span))
			return;
	for (uint32_t i = 0; i < n; i++)
		claim_gap(c, claim, g, own_time(uses, n, i, gap->at), uses[i]->span);
	/* Where most of the gap lies between them, code was made there for what follows. */
	if (c->gap_left[g] <= (gap->at.to - gap->at.from) / 2)
		claim_gap(c, claim, g, CLAIM_ALL, CLAIM_NOBODY);
}

static void finding_module_load_late_look(struct hwy_case *c)
{
	struct claim claim = {0};
	for (uint32_t g = 0; g < c->measures->gaps.n; g++)
		if (c->measures->gaps.gaps[g].cause == GAP_FIRST_USE)
			claim_parts(c, &claim, g);
	claim_cause(c, &claim, GAP_FIRST_USE);
	int64_t first_use = claim.total;
	claim_cause(c, &claim, GAP_MODULE);
	claim_roles(c, &claim, 1u << HWY_ROLE_MODULE, CLAIM_CPU_CAUSES);
	if (claim_is_worth(c, &claim)) {
		struct first_use_sum sum = add_up(c, &claim);
		bool is_replayed = case_is_loop(c) && first_use <= claim.total / 2;
		struct hwy_finding *finding = claim_accuse(
			c, &claim, HWY_HIGH, module_load_late_accusation(c, &claim, &sum),
			module_load_late_advice(c, &claim, &sum));
		/* The edit takes out calls that load modules, and no other first use. */
		if (!is_replayed)
			finding->edit = NULL;
	}
	claim_drop(c, &claim);
}

const struct hwy_finding_kind finding_module_load_late = {
	.id = "module-load-late",
	.title = "code is used for the first time",
	.edit = "no-module",
	.look = finding_module_load_late_look,
};
