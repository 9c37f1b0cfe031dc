/* SPDX-License-Identifier: Apache-2.0 */
/* diagnose.c - runs every kind of finding over every phase, and puts the findings in order.
 *
 * Kinds look at a phase in the order of the table, nearest the cause first, so that time which two
 * kinds could claim goes to the one whose fix makes the other's superfluous. Findings are ordered
 * by phase (the longest phase first); of the main phase those come first whose time counts for the
 * verdict's word; then the CPU side comes before what is inside the device, then the larger cost
 * before the smaller one.
 */
#include "diagnose/diagnose.h"

#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/say.h"
#include "diagnose/case.h"
#include "diagnose/fix_worth.h"
#include "diagnose/habits.h"

const char *const hwy_confidence_names[] = {HWY_KEY("low"), HWY_KEY("medium"), HWY_KEY("high")};
const char *const hwy_framework_names[] = {"CUDA C", "PyTorch", "CuPy", "OpenCL", "JAX"};

/* Where one op lasts for this share of the window, "busy" does not prove that the device works. */
#define PERSISTENT_SHARE 0.9
/* Where this share of the idle time has no known cause, no finding explains the phase. */
#define UNEXPLAINED_SHARE 0.5
/* A phase whose devices are idle for this share of the time is not healthy, even without a
 * finding. */
#define STARVED_SHARE 0.05

/* ---- what the program is written in ---------------------------------------------------------- */

static bool any_text(const struct hwy_trace *trace, uint32_t kinds, const char *part)
{
	/* Every step has the same names, so the first rows of each strip are enough. (The table of
	 * all texts would not do: it holds texts of every kind.) */
	enum { ROWS_LOOKED_AT = 256 };
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (!(kinds & HWY_KIND_BIT(strip->kind)))
			continue;
		for (uint32_t row = 0; row < strip->rows && row < ROWS_LOOKED_AT; row++)
			if (strstr(hwy_str(trace, hwy_get(strip, HWY_NAME, row)), part))
				return true;
	}
	return false;
}

static bool calls_begin_with_cl(const struct hwy_flow *flow)
{
	uint32_t seen = 0, cl = 0;
	for (uint32_t i = 0; i < flow->n_calls && seen < 64; i++, seen++) {
		uint32_t row;
		const struct hwy_strip *strip =
			hwy_strip_of(flow->trace, flow->calls[i].span, &row);
		const char *name = hwy_str(flow->trace, hwy_get(strip, HWY_NAME, row));
		cl += name[0] == 'c' && name[1] == 'l' && name[2] >= 'A' && name[2] <= 'Z';
	}
	return cl * 2 > seen;
}

static bool find_framework(struct hwy_analysis *analysis, struct hwy_diagnosis *diagnosis,
			   struct hwy_err *err)
{
	struct hwy_trace *trace = analysis->trace;
	const uint32_t ops = HWY_KIND_BIT(HWY_OP), kernels = HWY_KIND_BIT(HWY_KERNEL);
	if (!hwy_need(trace, ops | kernels | HWY_KIND_BIT(HWY_API), HWY_COL_BIT(HWY_NAME), err))
		return false;
	if (!habits_find(&analysis->flow, &diagnosis->habits, err))
		return false;
	diagnosis->infers = any_text(trace, ops, "aten::") && !any_text(trace, ops, "ackward") &&
			    !any_text(trace, ops, "Optimizer");
	diagnosis->framework = any_text(trace, ops, "aten::") ||
					       any_text(trace, kernels, "at::native") ||
					       any_text(trace, kernels, "at_cuda_detail")
				       ? HWY_PYTORCH
			       : any_text(trace, kernels, "cupy_")    ? HWY_CUPY
			       : diagnosis->habits.is_xla             ? HWY_JAX
			       : calls_begin_with_cl(&analysis->flow) ? HWY_OPENCL_C
								      : HWY_CUDA_C;
	return true;
}

/* Finds who launched what, where PyTorch's operators are recorded, by themselves or as ranges
 * that emit_nvtx made. */
static bool find_owners(struct hwy_analysis *analysis, const struct hwy_diagnosis *diagnosis,
			struct hwy_owners *owners, struct hwy_err *err)
{
	struct hwy_trace *trace = analysis->trace;
	const uint32_t ops = HWY_KIND_BIT(HWY_OP), ranges = HWY_KIND_BIT(HWY_RANGE);
	*owners = (struct hwy_owners){0};
	if (!hwy_need(trace, ranges, HWY_COL_BIT(HWY_NAME), err))
		return false;
	bool has_operators = any_text(trace, ops, "aten::") ||
			     any_text(trace, ranges, ", seq = ") ||
			     any_text(trace, ranges, ", op_id = ");
	if (diagnosis->framework != HWY_PYTORCH || !has_operators)
		return true;
	return owners_open(owners, trace, NULL, 0, err);
}

/* ---- what cannot be told --------------------------------------------------------------------- */

void diagnose_cannot_tell(struct hwy_diagnosis *diagnosis, const char *what, const char *because)
{
	for (uint32_t i = 0; i < diagnosis->n_cannot; i++)
		if (strcmp(diagnosis->cannot[i].what, hwy_tr(what)) == 0)
			return;
	HWY_GROW(diagnosis->cannot, diagnosis->n_cannot, diagnosis->cap_cannot);
	diagnosis->cannot[diagnosis->n_cannot++] =
		(struct hwy_cannot){hwy_tr(what), hwy_tr(because)};
}

static void doubt_trust(struct hwy_analysis *analysis, struct hwy_diagnosis *diagnosis)
{
	/* What may forbid an answer. Whole sentences: languages count in different places. */
	static const char *const counted[HWY_LACKS] = {
		[HWY_LACK_WORK] = HWY_KEY("%llu of %llu launches have no device work"),
		[HWY_LACK_LAUNCH] = HWY_KEY("%llu of %llu device ops have no launch"),
		[HWY_LACK_NODES] = HWY_KEY("%llu of %llu graph launches have no recorded nodes"),
		[HWY_LACK_CLOCK] =
			HWY_KEY("%llu of %llu linked ops start before the call that launched them"),
		[HWY_LACK_CLOCKS] = HWY_KEY("%llu of %llu recordings had the GPU's clocks changed "
					    "by sampling its counters"),
	};
	for (unsigned i = 0; i < HWY_LACKS; i++) {
		const struct hwy_lack *lack = &analysis->trust.lacks[i];
		if (lack->count == 0 || lack->effect != HWY_EFFECT_FORBIDS)
			continue;
		const char *says = counted[i] ? counted[i] : "%llu of %llu";
		diagnose_cannot_tell(diagnosis, lack->measures,
				     hwy_arena_say(&diagnosis->arena, says,
						   (unsigned long long)lack->count,
						   (unsigned long long)lack->total));
	}
}

/* Yields the span of an op that runs through the whole phase, or HWY_NONE: then "busy" says
 * nothing about its inside. Such an op may have begun long before the phase. */
static int64_t persistent_op(const struct hwy_case *c)
{
	int64_t window = c->phase->window.to - c->phase->window.from;
	uint32_t first = flow_op_unfinished(c->flow, c->phase->window.from);
	for (uint32_t i = first; window > 0 && i < c->end_op; i++) {
		const struct flow_op *op = &c->flow->ops[i];
		int64_t from =
			op->start > c->phase->window.from ? op->start : c->phase->window.from;
		int64_t to = op->end < c->phase->window.to ? op->end : c->phase->window.to;
		if (case_op_is_ours(c, i) && (op->kind == HWY_KERNEL || op->kind == HWY_GRAPH) &&
		    (double)(to - from) >= PERSISTENT_SHARE * (double)window)
			return op->span;
	}
	return HWY_NONE;
}

static void doubt_persistent(struct hwy_case *c, struct hwy_outlook *verdict)
{
	int64_t span = persistent_op(c);
	if (span == HWY_NONE)
		return;
	/* Counters see through a kernel that never ends. */
	struct inside inside = inside_from_metrics(analysis_metrics(c->analysis), c->flow,
						   c->phase->window, c->uses);
	if (inside.source == INSIDE_METRICS)
		return;
	uint32_t row;
	verdict->opaque = span;
	diagnose_cannot_tell(
		c->diagnosis, "whether the device works or waits",
		hwy_arena_say(
			&c->diagnosis->arena,
			"one %s, %.60s, runs through the whole phase: busy says nothing about its "
			"inside. Counters do: record with --gpu-metrics-devices=all",
			hwy_tr(hwy_strip_of(c->trace, (uint32_t)span, &row)->kind == HWY_GRAPH
				       ? "graph"
				       : "kernel"),
			case_name(c, (uint32_t)span)));
}

static void doubt_graphs(struct hwy_case *c)
{
	uint64_t graphs = 0;
	int64_t ns = 0;
	for (uint32_t i = c->first_op; c->counts.any_graph && i < c->end_op; i++) {
		const struct flow_op *op = &c->flow->ops[i];
		if (op->kind != HWY_GRAPH || !case_op_is_ours(c, i))
			continue;
		graphs++;
		ns += op->end - op->start;
	}
	if (graphs && case_share(c, ns) >= HWY_WORTH_SHARE)
		diagnose_cannot_tell(
			c->diagnosis, "what happens inside CUDA graphs",
			hwy_arena_say(&c->diagnosis->arena,
				      "%llu graph launches were recorded without their nodes; "
				      "they count as busy",
				      (unsigned long long)graphs));
}

/* Says how much of the device's work is missing, and where the longest piece of it would be. */
static void doubt_missing(struct hwy_case *c)
{
	const struct hwy_gaps *gaps = &c->measures->gaps;
	int64_t missing = case_states(c).causes[GAP_MISSING];
	const struct hwy_gap *longest = NULL;
	if (case_share(c, missing) < HWY_WORTH_SHARE)
		return;
	for (uint32_t g = 0; g < gaps->n; g++) {
		const struct hwy_gap *gap = &gaps->gaps[g];
		if (gap->cause == GAP_MISSING && c->uses[gap->device] &&
		    (!longest || gap->at.to - gap->at.from > longest->at.to - longest->at.from))
			longest = gap;
	}
	if (!longest)
		return;
	const char *work = longest->op == FLOW_NONE
				   ? hwy_tr("the next work")
				   : case_name_said(c, c->flow->ops[longest->op].span);
	diagnose_cannot_tell(
		c->diagnosis, "what the device did all of that time",
		hwy_arena_say(
			&c->diagnosis->arena,
			"for %s a step it looks idle although work was queued and nothing ran that it could wait "
			"for: records are missing. The longest such gap, %s, is at %s of the recording, before %.60s",
			hwy_say_time3(case_per_step(c, missing)).text,
			hwy_say_time3(longest->at.to - longest->at.from).text,
			hwy_say_time3(longest->at.from).text, work));
}

static void doubt_idle(struct hwy_case *c, struct hwy_outlook *verdict)
{
	struct gap_states states = case_states(c);
	int64_t unknown = states.causes[GAP_UNKNOWN];
	verdict->is_known = (double)unknown <= UNEXPLAINED_SHARE * (double)states.idle ||
			    case_share(c, unknown) < HWY_WORTH_SHARE;
	for (uint32_t i = 0; i < c->diagnosis->n_cannot; i++)
		verdict->is_known &=
			strcmp(c->diagnosis->cannot[i].what, "why the device idles") != 0;
	verdict->is_known &= verdict->opaque == HWY_NONE;
	if (case_share(c, unknown) >= HWY_WORTH_SHARE)
		diagnose_cannot_tell(
			c->diagnosis, "why the device idles all of that time",
			hwy_arena_say(&c->diagnosis->arena,
				      "%s of a step's idle time end with work whose launch was "
				      "not recorded",
				      hwy_say_time3(case_per_step(c, unknown)).text));
}

/* ---- one phase ------------------------------------------------------------------------------- */

/* Whether a phase is worth a graph of its own: it is the main one, or takes a tenth of all phases'
 * time. */
static bool is_long(const struct hwy_analysis *analysis, uint32_t phase)
{
	const struct hwy_phases *all = &analysis->phases;
	double whole = 0;
	for (uint32_t i = 0; i < all->n; i++)
		whole += (double)all->phases[i].mean * all->phases[i].n_steps;
	return phase == all->main ||
	       (double)all->phases[phase].mean * all->phases[phase].n_steps >= whole / 10;
}

static bool look_at_phase(struct hwy_analysis *analysis, uint32_t phase,
			  struct hwy_diagnosis *diagnosis, struct hwy_err *err)
{
	struct hwy_case c;
	struct hwy_outlook *verdict = &diagnosis->outlooks[phase];
	*verdict = (struct hwy_outlook){
		.ncu = "", .inside = "", .own_cost = HWY_NONE, .opaque = HWY_NONE};
	if (!case_open(&c, analysis, phase, diagnosis, err)) {
		case_close(&c);
		return false;
	}
	uint32_t before = diagnosis->n, acquitted = diagnosis->n_acquitted;
	if (c.n_devices && c.phase->n_steady) {
		for (uint32_t k = 0; hwy_finding_kinds[k]; k++) {
			c.kind = hwy_finding_kinds[k];
			if (c.kind->look)
				c.kind->look(&c);
		}
		if (is_long(analysis, phase))
			fix_worth_judge_phase(analysis, phase, diagnosis, before, acquitted);
		doubt_persistent(&c, verdict);
		doubt_graphs(&c);
		doubt_missing(&c);
		doubt_idle(&c, verdict);
		outliers_find(&c, verdict);
		int64_t own;
		if (machine_limits_recording_cost(&c, &own))
			verdict->own_cost = own / c.phase->n_steady;
		verdict->reachable = case_share(&c, case_states(&c).idle);
	}
	int64_t starved = case_states(&c).idle - case_states(&c).causes[GAP_DEPENDENCY];
	verdict->is_healthy =
		c.n_devices && c.phase->n_steady && case_share(&c, starved) < STARVED_SHARE;
	for (uint32_t i = before; i < diagnosis->n; i++)
		verdict->is_healthy &= diagnosis->findings[i].kind->is_inside;
	if (c.n_devices && c.phase->n_steady)
		kernels_top(&c, verdict);
	case_close(&c);
	return true;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* A finding with its sort key, because qsort passes no context to the comparison. */
struct ranked {
	struct hwy_finding finding;
	int64_t length;  /* ns that the finding's phase takes */
	bool is_verdict; /* the finding is about what the verdict says */
	uint32_t order;  /* index of the finding before sorting, which keeps the order of equals */
};

/* Findings inside the device come after those of the CPU side, unless they cost half of the step
 * or more. A fix that changes the program's results comes after them in any case. */
static bool comes_late(const struct hwy_finding *finding)
{
	return finding->kind->is_inside && (finding->share < 0.5 || finding->kind->changes_results);
}

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	if (x->length != y->length)
		return x->length < y->length ? 1 : -1;
	if (x->finding.phase != y->finding.phase)
		return x->finding.phase < y->finding.phase ? -1 : 1;
	if (x->is_verdict != y->is_verdict)
		return x->is_verdict ? -1 : 1;
	if (comes_late(&x->finding) != comes_late(&y->finding))
		return comes_late(&x->finding) ? 1 : -1;
	if (x->finding.cost != y->finding.cost)
		return x->finding.cost < y->finding.cost ? 1 : -1;
	return x->order < y->order ? -1 : 1;
}

/* Whether a finding is about what the verdict says. The verdict 'gpu' puts no finding first:
 * what the CPU side can still gain is cheaper to have than faster kernels. */
static bool fits_verdict(const struct hwy_finding *finding, enum verdict_word word)
{
	return word != VERDICT_GPU && finding->word == word &&
	       (!finding->kind->is_inside || finding->share >= 0.5);
}

static void diagnose_put_in_order(const struct hwy_analysis *analysis, struct hwy_finding *findings,
				  uint32_t n, enum verdict_word word)
{
	struct ranked *ranked = hwy_array(n, sizeof *ranked);
	for (uint32_t i = 0; i < n; i++) {
		const struct hwy_phase *phase = &analysis->phases.phases[findings[i].phase];
		const struct phase_step *steps = phase->steps;
		int64_t length =
			phase->n_steps ? steps[phase->n_steps - 1].device.to - steps[0].device.from
				       : 0;
		if (findings[i].phase == analysis->phases.main)
			length = INT64_MAX;
		bool is_verdict = findings[i].phase == analysis->phases.main &&
				  fits_verdict(&findings[i], word);
		ranked[i] = (struct ranked){findings[i], length, is_verdict, i};
	}
	qsort(ranked, n, sizeof *ranked, compare_ranked);
	for (uint32_t i = 0; i < n; i++)
		findings[i] = ranked[i].finding;
	free(ranked);
}

/* Looks for a straggler among several ranks in one recording, from the view of the rank with the
 * main phase. */
static void look_at_ranks(struct hwy_analysis *analysis, struct hwy_diagnosis *diagnosis)
{
	uint32_t n, own = 0;
	struct joint_rank *ranks = joint_ranks_of(analysis, &n);
	while (ranks && own < n && ranks[own].phase != analysis->phases.main)
		own++;
	if (ranks && own < n)
		diagnose_ranks(ranks, n, own, diagnosis);
	free(ranks);
}

bool diagnose(struct hwy_analysis *analysis, struct hwy_diagnosis *diagnosis, struct hwy_err *err)
{
	*diagnosis = (struct hwy_diagnosis){0};
	diagnosis->outlooks =
		hwy_arena_array(&diagnosis->arena, analysis->phases.n, sizeof *diagnosis->outlooks);
	if (!find_framework(analysis, diagnosis, err))
		return false;
	doubt_trust(analysis, diagnosis);
	struct hwy_owners owners;
	bool is_done = find_owners(analysis, diagnosis, &owners, err);
	diagnosis->owners = owners.n_owners ? &owners : NULL;
	for (uint32_t phase = 0; is_done && phase < analysis->phases.n; phase++)
		is_done = look_at_phase(analysis, phase, diagnosis, err);
	if (is_done) {
		diagnosis->verdict =
			verdict_find(analysis, analysis->phases.main, &diagnosis->arena);
		verdict_look_inside(analysis, diagnosis);
	}
	diagnosis->owners = NULL;
	owners_close(&owners);
	if (!is_done)
		return false;
	diagnose_put_in_order(analysis, diagnosis->findings, diagnosis->n, diagnosis->verdict.word);
	look_at_ranks(analysis, diagnosis);
	fix_worth_cut_costs(analysis, diagnosis);
	diagnose_put_in_order(analysis, diagnosis->acquitted, diagnosis->n_acquitted, VERDICTS);
	return true;
}

void diagnosis_free(struct hwy_diagnosis *diagnosis)
{
	free(diagnosis->findings);
	free(diagnosis->acquitted);
	free(diagnosis->cannot);
	hwy_arena_free(&diagnosis->arena);
	*diagnosis = (struct hwy_diagnosis){0};
}

const struct hwy_finding_kind *hwy_finding_kind(const char *id)
{
	for (uint32_t k = 0; hwy_finding_kinds[k]; k++)
		if (strcmp(hwy_finding_kinds[k]->id, id) == 0)
			return hwy_finding_kinds[k];
	return NULL;
}
