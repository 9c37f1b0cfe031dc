/* SPDX-License-Identifier: Apache-2.0 */
/* launch_bound.c - the CPU launches all the time and cannot keep up: the kernels are shorter than
 * their launches, framework included.
 *
 * Cost: gaps with the cause 'launch'. A GPU-bound program whose queue is full has no such gaps.
 * Where nothing repeats, fewer than FEW_LAUNCHES_IN_ALL launches prove nothing: the first launches
 * take long in every program.
 */
#include "base/lang.h"
#include "base/say.h"
#include "diagnose/case.h"
#include "diagnose/findings/findings.h"
#include "diagnose/launchers.h"

/* With fewer launches a step a graph does not help: the CPU's time between the launches is the
 * cause. */
#define FEW_LAUNCHES_PER_STEP 2
/* Fewer waits a step than this are the exception: the steps themselves do not wait. */
#define WAITS_PER_STEP 0.5
#define FEW_LAUNCHES_IN_ALL 20
/* Where the gaps take this share of the step, the CPU launches all the time. */
#define MAINLY_SHARE 0.4

static const struct advice fix = {
	.any = "Launch less often: capture the step as a CUDA graph, fuse kernels, or give each kernel more data.\n"
	       "  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal); step(s); cudaStreamEndCapture(s, &graph);\n"
	       "  cudaGraphInstantiate(&exec, graph, 0); for (…) cudaGraphLaunch(exec, s);\n"
	       "Shapes and addresses must stay the same, and nothing in the step may wait.",
	.by_framework =
		{
			[HWY_PYTORCH] =
				"Launch less often: compile the step, or capture it as a CUDA graph.\n"
				"  step = torch.compile(step, mode=\"reduce-overhead\")\n"
				"  # or: g = torch.cuda.CUDAGraph(); with torch.cuda.graph(g): out = model(x); …; g.replay()",
			[HWY_CUPY] =
				"Fuse element-wise expressions, or capture the step as a graph.\n"
				"  @cupy.fuse()\n  def update(x, y, a): return a * x + y",
			[HWY_JAX] =
				"Every operation outside jit is launched by itself: put the whole step, its update included, into "
				"one jitted function; several steps into one with lax.scan.\n"
				"  step = jax.jit(step, donate_argnums=0)",
			[HWY_OPENCL_C] =
				"Enqueue fewer, larger kernels; flush the queue only when a result is needed; record the sequence "
				"with cl_khr_command_buffer where the device has it.\n"
				"  clEnqueueNDRangeKernel(q, fused, 1, NULL, &all, NULL, 0, NULL, NULL);   // once, not per row",
		},
	.captured =
		"The step consists of graph launches already: put all of it into one graph, several steps into one where they "
		"need nothing from the CPU, or launch the next graph before the one before has ended.",
	.compiled =
		"The step is compiled already; what is left are its launches. Let the compiler capture them as graphs, and close "
		"graph breaks, so that Python launches nothing between the compiled pieces.\n"
		"  step = torch.compile(step, mode=\"reduce-overhead\")     # TORCH_LOGS=graph_breaks shows the breaks",
	.rocm = "Launch less often: compile the step, or capture it as a hipGraph (torch.cuda.CUDAGraph makes one).\n"
		"  step = torch.compile(step, mode=\"reduce-overhead\")\n"
		"  # or: g = torch.cuda.CUDAGraph(); with torch.cuda.graph(g): out = model(x); …; g.replay()",
};

/* The advice for recordings in which graphs are being captured. */
static const char capturing[] =
	"Graphs are captured while this was recorded, and their replay launches less: judge launching in a recording "
	"that begins after the capture.";

/* What is added to the advice where a cache grows. */
static const char growing[] =
	"\nA graph needs shapes that stay, and what aten::cat puts together grows from step to step: use a static cache.\n"
	"  model.generation_config.cache_implementation = \"static\"     # Hugging Face's generate()";

/* Yields the advice; where a PyTorch program waits in its steps, with the line that a graph
 * cannot hold a wait. */
static const char *launch_bound_advice(struct hwy_case *c)
{
	const char *text = case_advice(c, &fix);
	bool is_pytorch = text == hwy_tr(fix.by_framework[HWY_PYTORCH]) || text == hwy_tr(fix.rocm);
	const char *first = is_pytorch ? launchers_compile_advice(c) : "";
	bool grows = is_pytorch && operator_cures_cache_grows(c);
	if (*first || grows)
		text = hwy_arena_format(&c->diagnosis->arena, "%s%s%s", text, first,
					hwy_tr(grows ? growing : ""));
	if (!is_pytorch || case_count_per_step(c, c->counts.calls[HWY_ROLE_SYNC]) < WAITS_PER_STEP)
		return text;
	return hwy_arena_say(
		&c->diagnosis->arena,
		"%s\nA graph cannot hold a wait: first move what reads values, such as .item(), out of the step.",
		text);
}

static const char *launch_bound_accusation(struct hwy_case *c, const struct claim *claim)
{
	const struct case_counts *counts = &c->counts;
	struct hwy_arena *arena = &c->diagnosis->arena;
	int64_t steady = (int64_t)c->phase->n_steady;
	uint64_t ops = counts->kernels ? counts->kernels : counts->launches;
	int64_t idle = case_per_step(c, claim->total);
	if (case_count_per_step(c, counts->launches) < FEW_LAUNCHES_PER_STEP)
		return hwy_arena_say(
			arena,
			"The GPU idles %s a step because the CPU launches each piece of work only after "
			"the one before has ended.",
			hwy_say_time3(idle).text);
	if (claim_share(c, claim) < MAINLY_SHARE)
		return hwy_arena_say(
			arena,
			"At times the CPU launches too slowly: the GPU idles %s%s while it does, over "
			"%s.%s",
			hwy_say_time3(idle).text, case_a_step(c),
			hwy_say_count_of(case_count_per_step(c, ops), "kernel", "kernels").text,
			launchers_sentence(c));
	return hwy_arena_say(
		arena,
		"%s%s are worth %s of GPU time, and %s pass until the CPU has called them one by one; the GPU "
		"idles %s of that.%s",
		hwy_say_count_of(case_count_per_step(c, ops), "kernel", "kernels").text,
		case_a_step(c), hwy_say_time3(counts->kernel_ns / steady).text,
		hwy_say_time3(c->phase->mean).text, hwy_say_time3(idle).text,
		launchers_sentence(c));
}

static void finding_launch_bound_look(struct hwy_case *c)
{
	struct claim claim = {0};
	claim_cause(c, &claim, GAP_LAUNCH);
	if (!claim_is_worth(c, &claim) ||
	    (!case_is_loop(c) && c->counts.launches < FEW_LAUNCHES_IN_ALL)) {
		claim_drop(c, &claim);
		return;
	}
	bool sure = claim_share(c, &claim) >= 0.1;
	bool is_capturing = c->diagnosis->habits.is_capturing && !case_is_loop(c);
	claim_accuse(c, &claim, sure ? HWY_HIGH : HWY_MEDIUM, launch_bound_accusation(c, &claim),
		     is_capturing ? capturing : launch_bound_advice(c));
}

const struct hwy_finding_kind finding_launch_bound = {
	.id = "launch-bound",
	.title = "the CPU cannot launch as fast as the GPU computes",
	.edit = "graph",
	.look = finding_launch_bound_look,
};
