/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_advice.c - what to do about a kernel: by what bounds it, by what its counters show
 * beside that, and by who wrote it.
 *
 * A kernel's name tells who made it: a library's GEMM is changed by its inputs (types, sizes),
 * an elementwise kernel of PyTorch by fusing it, a kernel of one's own in its source. Advice
 * that the counters do not support is not given.
 */
#include <math.h>
#include <string.h>

#include "analyze/kernel_table.h"
#include "base/lang.h"
#include "base/say.h"

#define SPILL_SHARE 0.1    /* of L1's bytes that are local memory */
#define CONFLICT_SHARE 0.2 /* of accesses to shared memory that are made again */
#define TAIL_SHARE 0.15    /* of the time, lost in the last wave */
#define TAIL_MOST_WAVES 8
#define FEW_WAVES 2
#define SHORT_NS 5000        /* of a launch */
#define SCATTERED_SHARE 0.5  /* of the bytes of a sector that are used */
#define NEAR_PEAK_SHARE 0.75 /* what good GEMMs reach */
#define MANY_FMAS_SHARE 0.3  /* of the peak in fp32 */
/* Sectors of one request for global memory: 32 threads with 16 bytes each need 16; more is
 * scattered for sure. */
#define SCATTERED_SECTORS 16.5

enum kernel_maker {
	MAKER_OWN,
	MAKER_GEMM,
	MAKER_CONVOLUTION,
	MAKER_ATTENTION,
	MAKER_TORCH,
	MAKER_TRITON,
	MAKER_XLA
};

static bool has_any(const char *name, const char *const *parts)
{
	for (; *parts; parts++)
		if (strcasestr(name, *parts))
			return true;
	return false;
}

static enum kernel_maker maker_of(const char *name)
{
	static const char *const attention[] = {"fmha",    "sdpa",      "_flash_", "flash_fwd",
						"flash::", "attention", NULL};
	static const char *const convolution[] = {
		"cudnn", "convolve", "implicit_gemm", "dgrad", "wgrad", "fprop", NULL};
	static const char *const gemm[] = {"gemm", "cublas", "nvjet", "cutlass", "splitK", NULL};
	static const char *const xla[] = {"loop_fusion", "input_fusion", "wrapped_",
					  "loop_",       "input_reduce", NULL};
	if (strncmp(name, "triton_", 7) == 0 || strstr(name, "_kernel_0d1d"))
		return MAKER_TRITON;
	if (has_any(name, attention))
		return MAKER_ATTENTION;
	if (has_any(name, convolution))
		return MAKER_CONVOLUTION;
	if (has_any(name, gemm))
		return MAKER_GEMM;
	/* ncu's demangler leaves "native" out. */
	if (strstr(name, "at::native") || strncmp(name, "void at::", 9) == 0)
		return MAKER_TORCH;
	return has_any(name, xla) ? MAKER_XLA : MAKER_OWN;
}

static void advise(struct known_kernel *kernel, const char *text)
{
	if (kernel->n_advice < KERNEL_MOST_ADVICE)
		kernel->advice[kernel->n_advice++] = hwy_tr(text);
}

static bool is_library(enum kernel_maker maker)
{
	return maker == MAKER_GEMM || maker == MAKER_CONVOLUTION || maker == MAKER_ATTENTION;
}

static const char another_attention[] = HWY_KEY(
	"another kernel may suit these shapes better: torch.nn.attention.sdpa_kernel chooses between flash, cuDNN and "
	"others; a newer library");

/* ---- by bound -------------------------------------------------------------------------------- */

static void advise_compute(struct known_kernel *kernel, enum kernel_maker maker)
{
	const struct roofline_point *point = &kernel->point;
	bool plain = !point->tensor && point->flop > 0;
	if (is_library(maker) && plain && point->precision == HWY_FP32)
		advise(kernel,
		       HWY_KEY("let it use the tensor cores: torch.set_float32_matmul_precision(\"high\") "
			       "or torch.backends.cudnn.allow_tf32 = True, or bf16 with torch.autocast; it "
			       "changes numerics"));
	else if (is_library(maker) && point->of_peak >= NEAR_PEAK_SHARE)
		advise(kernel,
		       HWY_KEY("near what the device can do: only fewer operations or a narrower type (fp8) "
			       "make it faster"));
	else if (maker == MAKER_ATTENTION)
		advise(kernel, another_attention);
	else if (is_library(maker))
		advise(kernel,
		       HWY_KEY("give it sizes that are multiples of 64, a larger batch, or several of these as "
			       "one batched call"));
	else if (plain && point->precision == HWY_FP64)
		advise(kernel,
		       HWY_KEY("it computes in fp64: use fp32 where the accuracy allows it"));
	else
		advise(kernel,
		       HWY_KEY("spend fewer instructions on each result: vector loads, less index arithmetic, fast "
			       "math functions (-use_fast_math) where the accuracy allows it"));
	/* Many FMAs in fp32 are what products of matrices are made of. */
	if (maker == MAKER_OWN && plain && point->precision == HWY_FP32 &&
	    point->flop_per_s > MANY_FMAS_SHARE * kernel->peak[PATH_FP32])
		advise(kernel,
		       HWY_KEY("if this is a product of matrices, the tensor cores (cuBLAS, CUTLASS, wmma) do it "
			       "several times faster"));
}

static void advise_dram(struct known_kernel *kernel, enum kernel_maker maker)
{
	switch (maker) {
	case MAKER_TORCH:
		advise(kernel,
		       HWY_KEY("fuse it with its neighbours: torch.compile(model), or one kernel of Triton; each "
			       "kernel that is fused away saves a read and a write of its tensor"));
		advise(kernel,
		       HWY_KEY("move fewer bytes: bf16 instead of fp32, in-place operators, no copies between layouts"));
		break;
	case MAKER_TRITON:
		advise(kernel,
		       HWY_KEY("it is fused already: move fewer bytes (bf16), or keep what is read twice on the chip"));
		break;
	case MAKER_XLA:
		advise(kernel,
		       HWY_KEY("XLA has fused what it can: move fewer bytes (bf16), or use jax.checkpoint less"));
		break;
	case MAKER_OWN:
		advise(kernel,
		       HWY_KEY("move fewer bytes: fuse it with the kernel that writes or reads the same data, narrower "
			       "types, each byte read once"));
		break;
	default:
		advise(kernel,
		       HWY_KEY("its matrices are too small or too thin for the tensor cores to be the limit: a larger "
			       "batch reuses the same weights; quantized weights (fp8, int4) are fewer bytes"));
	}
}

static void advise_memory(struct known_kernel *kernel, enum kernel_maker maker)
{
	if (kernel->level == LEVEL_DRAM)
		advise_dram(kernel, maker);
	else if (kernel->level == LEVEL_L2)
		advise(kernel,
		       is_library(maker)
			       ? HWY_KEY("another tile size reuses more in shared memory: let torch.compile(mode="
					 "\"max-autotune\") or cuBLASLt's heuristics choose")
			       : HWY_KEY("reuse more before going to L2: tiles in shared memory, several results a "
					 "thread"));
	else if (kernel->n_advice == 0 && !is_library(maker))
		advise(kernel,
		       HWY_KEY("fewer and wider accesses to L1 and shared memory: vector loads (float4), values kept in "
			       "registers, warp shuffles instead of shared memory"));
}

static const char *const stall_advice[COUNTERS_STALLS] = {
	[STALL_LONG_SCOREBOARD] = HWY_KEY(
		"have more loads in flight: unroll the loop, load before the values are needed, vector "
		"loads (float4), cp.async or TMA into shared memory"),
	[STALL_SHORT_SCOREBOARD] = HWY_KEY(
		"wait less for shared memory: remove conflicts, keep values in registers; fewer special "
		"functions (exp, sin, division)"),
	[STALL_BARRIER] =
		"wait less at barriers: smaller blocks, fewer __syncthreads(), equal work for all warps of a block",
	[STALL_MATH_PIPE] = "mix the instructions: one kind of unit is busy in bursts",
	[STALL_LG_THROTTLE] =
		"make fewer and wider requests to global memory: vector loads, local arrays kept in registers",
	[STALL_MIO_THROTTLE] = "make fewer and wider accesses to shared memory",
	[STALL_WAIT] =
		"give the compiler independent work: several results a thread, unrolled loops",
	[STALL_NO_INSTRUCTION] =
		"make the code smaller: less unrolling, less inlining; it does not fit the instruction cache",
	[STALL_BRANCH] = "branch less, or the same way in all threads of a warp",
	[STALL_GMMA] =
		"overlap loads with the tensor cores: a deeper pipeline, warp specialization",
	[STALL_MEMBAR] = "use fewer or narrower memory fences (__threadfence_block)",
	[STALL_DRAIN] = "write less at the end, or coalesced",
	[STALL_IMC_MISS] = "read constants with one index in all threads of a warp",
	[STALL_SLEEPING] = "it sleeps by itself (__nanosleep): look at what it waits for",
};

static void advise_latency(struct known_kernel *kernel, enum kernel_maker maker)
{
	const struct kernel_counters *c = &kernel->counters;
	double per_launch =
		kernel->point.count ? (double)kernel->point.ns / kernel->point.count : 0;
	if (per_launch > 0 && per_launch < SHORT_NS)
		advise(kernel,
		       maker == MAKER_TORCH
			       ? HWY_KEY("it is short: beginning and ending it costs as much as its work; torch.compile fuses it with its "
					 "neighbours, or give it more data")
			       : HWY_KEY("it is short: beginning and ending it costs as much as its work; fuse it with its neighbours, or "
					 "give it more data"));
	if (is_library(maker)) {
		bool is_small = kernel->has_occupancy && kernel->occupancy.waves < FEW_WAVES;
		advise(kernel,
		       is_small
			       ? HWY_KEY("its inputs are too small to keep the device busy: a larger batch, or several as one "
					 "batched call")
		       : maker == MAKER_ATTENTION
			       ? another_attention
			       : HWY_KEY("another kernel of the library may suit these shapes better: torch.compile(mode="
					 "\"max-autotune\"), cuBLASLt's heuristics, a newer library"));
		return;
	}
	enum counters_stall worst = kernel_counters_worst_stall(c);
	if (worst == COUNTERS_STALLS || !stall_advice[worst])
		return;
	if (maker == MAKER_TRITON)
		advise(kernel,
		       HWY_KEY("try other num_warps, num_stages and block sizes: @triton.autotune, or torch.compile(mode="
			       "\"max-autotune\")"));
	else
		advise(kernel, stall_advice[worst]);
}

static void advise_occupancy(struct known_kernel *kernel, enum kernel_maker maker,
			     struct hwy_arena *arena)
{
	const struct hwy_occupancy *o = &kernel->occupancy;
	bool is_small = kernel->has_occupancy && o->waves > 0 && o->waves * o->blocks < 1;
	if (is_small || (kernel->counters.blocks < kernel->counters.sms)) {
		advise(kernel,
		       maker == MAKER_TORCH
			       ? HWY_KEY("its tensor is too small for the device: a larger batch, several tensors in one call "
					 "(torch._foreach_*, a stacked tensor), or torch.compile, which fuses it with its neighbours")
		       : maker == MAKER_ATTENTION
			       ? HWY_KEY("it has too few heads and rows for the device: a larger batch, or a kernel that splits the keys, too (flash decoding)")
		       : is_library(maker)
			       ? HWY_KEY("it has too few tiles for the device: a larger batch, or split-K (cuBLASLt chooses it "
					 "with a workspace: CUBLAS_WORKSPACE_CONFIG)")
			       : HWY_KEY("launch more blocks: a larger batch, less work a block, or two such kernels at the same "
					 "time on two streams"));
		return;
	}
	if (!kernel->has_occupancy)
		return;
	if (maker == MAKER_TRITON)
		advise(kernel,
		       HWY_KEY("try smaller blocks, fewer num_stages or other num_warps: @triton.autotune"));
	else if (o->limit == OCCUPANCY_REGISTERS)
		advise(kernel,
		       hwy_arena_say(
			       arena,
			       "use fewer registers: __launch_bounds__(threads, blocks), fewer results a "
			       "thread; they allow %u blocks an SM",
			       o->blocks));
	else if (o->limit == OCCUPANCY_SHARED)
		advise(kernel,
		       hwy_arena_say(
			       arena,
			       "use less shared memory a block: smaller tiles; it allows %u blocks an SM",
			       o->blocks));
	else if (o->limit == OCCUPANCY_BLOCKS)
		advise(kernel,
		       HWY_KEY("use larger blocks: an SM holds no more of these small ones"));
	else
		advise(kernel,
		       HWY_KEY("give all blocks equal work: fewer warps are there than the launch allows"));
}

/* ---- beside the bound ------------------------------------------------------------------------ */

/* Threads of a warp that take scattered addresses. How much of the sectors they use is known for
 * sure; without that, only what is more than the widest loads need. */
static void advise_sectors(struct known_kernel *kernel, struct hwy_arena *arena)
{
	const struct kernel_counters *c = &kernel->counters;
	double used = fmin(c->load_used, c->store_used),
	       most = fmax(c->load_sectors, c->store_sectors);
	const char *remedy = hwy_tr(
		"let neighbouring threads take neighbouring addresses, or gather through shared memory");
	if (used < SCATTERED_SHARE)
		advise(kernel,
		       hwy_arena_say(
			       arena,
			       "accesses are scattered: %s of the bytes that are moved from and to global memory are used; %s",
			       hwy_say_share(used).text, remedy));
	else if (isnan(used) && most > SCATTERED_SECTORS)
		advise(kernel,
		       hwy_arena_say(
			       arena,
			       "accesses are scattered: a request of a warp touches %.0f sectors where 4 hold 32 floats; %s",
			       most, remedy));
}

static void advise_beside(struct known_kernel *kernel, enum kernel_maker maker,
			  struct hwy_arena *arena)
{
	const struct kernel_counters *c = &kernel->counters;
	const struct hwy_occupancy *o = &kernel->occupancy;
	if (is_library(maker) || maker == MAKER_TORCH)
		return;
	if (c->local_bytes > 0 && c->l1_bytes > 0 && c->local_bytes >= SPILL_SHARE * c->l1_bytes)
		advise(kernel,
		       hwy_arena_say(
			       arena,
			       "registers spill: %s of L1's bytes are local memory; allow more registers "
			       "(__launch_bounds__, -maxrregcount), smaller arrays, fewer results a thread",
			       hwy_say_share(c->local_bytes / c->l1_bytes).text));
	if (c->conflicts >= CONFLICT_SHARE)
		advise(kernel,
		       hwy_arena_say(
			       arena,
			       "shared memory has conflicts: %s of the accesses are made again; pad rows by one "
			       "element (tile[32][33]) or swizzle the index",
			       hwy_say_share(c->conflicts).text));
	advise_sectors(kernel, arena);
	if (kernel->has_occupancy && o->waves > 1 && o->waves < TAIL_MOST_WAVES &&
	    o->tail >= TAIL_SHARE)
		advise(kernel,
		       hwy_arena_say(
			       arena,
			       "%.2f waves: the last one is not full, up to %s of the time; choose a grid that "
			       "is a multiple of %.0f blocks, or smaller blocks",
			       o->waves, hwy_say_share(o->tail).text,
			       (double)o->grid_blocks / o->waves));
}

void kernel_advise(struct known_kernel *kernel, struct hwy_arena *arena)
{
	enum kernel_maker maker = maker_of(kernel->point.name);
	if (kernel->is_endless) {
		advise(kernel,
		       HWY_KEY("look at what the host does meanwhile: the kernel's length is that of its waiting; GPU metrics over "
			       "time (--gpu-metrics-devices=all) show when it works"));
		return;
	}
	/* Few blocks and idle units are how a kernel communicates: it waits for the link and for
	 * other ranks. */
	if (hwy_name_is_comm(kernel->point.name))
		return;
	/* What the counters show to be wrong comes first: it is often why the bound is what it
	 * is. */
	if (kernel->is_measured)
		advise_beside(kernel, maker, arena);
	switch (kernel->point.bound) {
	case ROOFLINE_COMPUTE: advise_compute(kernel, maker); break;
	case ROOFLINE_MEMORY: advise_memory(kernel, maker); break;
	case ROOFLINE_LATENCY: advise_latency(kernel, maker); break;
	case ROOFLINE_OCCUPANCY: advise_occupancy(kernel, maker, arena); break;
	default: break;
	}
}
