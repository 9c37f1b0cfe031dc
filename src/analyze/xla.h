/* SPDX-License-Identifier: Apache-2.0 */
/* xla.h - what XLA's own annotations say: JAX and TensorFlow run their compiled functions
 * through XLA.
 *
 * XLA marks what it does with NVTX ranges of the domain TSL, whose names hold fields between two
 * '#':
 *     XlaModule:#prefix=jit(step)/add,hlo_module=jit_step,program_id=12#       one execution of a compiled function
 *     Thunk:#name=jit(step)/jvp(MLP)/Dense_0/dot_general,hlo_op=loop_add_fusion.3,unique_hlo_op_id=4294967298#
 *                                                              one HLO operation of an execution: a kernel, a copy, a graph
 *     XlaCompile:#module=jit_step#                             a compilation, from HLO to code
 *     XlaPass:#name=config-assigner,module=jit_step,program_id=12#             a part of a compilation
 * Texts in a result point into the name that was parsed, and are not terminated by a zero byte.
 */
#ifndef HWY_ANALYZE_XLA_H
#define HWY_ANALYZE_XLA_H

#include <stddef.h>

#include "base/strings.h"

enum xla_kind {
	XLA_NONE,      /* the range is not XLA's */
	XLA_EXECUTION, /* a compiled function is executed: its thunks lie inside the range */
	/* a candidate for one operation is executed while XLA tunes: part of a compilation */
	XLA_TRIAL,
	XLA_THUNK,        /* an operation of an execution */
	XLA_COMPILE,      /* a function is compiled */
	XLA_COMPILE_PART, /* a pass, a backend, or another part of a compilation */
};

struct xla_range {
	enum xla_kind kind;
	/* The HLO module: "jit_step". Empty for a thunk. */
	struct hwy_text module;
	/* The HLO operation of a thunk: "loop_add_fusion.3". Empty for the other kinds. */
	struct hwy_text op;
	/* Where the operation comes from in the program:
	 * "jit(step)/jvp(MLP)/Dense_0/dot_general". For an execution what all of its operations
	 * have in common. Empty where the range does not say it. */
	struct hwy_text path;
	/* number of the compiled program; it changes when the function is compiled again. -1:
	 * not said */
	int64_t program;
};

/* Parses the name of a range. A name that is not XLA's yields the kind XLA_NONE. */
struct xla_range xla_parse(struct hwy_text name);

/* Whether one of the texts names an execution: then the trace that they belong to is of a
 * program that uses XLA. */
bool xla_any_execution(const struct hwy_strings *texts);

/* Whether a range of this name is XLA's. */
bool xla_is_range(struct hwy_text name);

/* Writes the function that an HLO module was made from: "jit(step)" for "jit_step",
 * "jit(<lambda>)" for "jit__lambda_"; other names are written as they are. Cuts what does not
 * fit, and always writes a terminating zero byte if size > 0. */
void xla_function(struct hwy_text module, char *into, size_t size);

/* Writes what a user calls a range of XLA: "jit(step)" for an execution, the operation for a
 * thunk ("custom-call.3 (callback)" where it calls Python, "copy.1 (argument)" where it copies
 * an argument), "compile jit(step)" for a compilation and its parts. An empty text where the
 * range is not XLA's. */
void xla_label(struct hwy_text name, char *into, size_t size);

/* Writes the module or scope in a path, without transformations, inner functions and the
 * primitive at the end: "MLP.Dense_0" for "jit(step)/transpose(jvp(MLP))/Dense_0/dot_general".
 * Empty where the path names none. */
void xla_scope(struct hwy_text path, char *into, size_t size);

/* Whether an operation with this path calls a function of Python: pure_callback, io_callback,
 * jax.debug.print. */
bool xla_is_callback(struct hwy_text path);

/* Whether the operation copies an argument of the function as it is: its path is the argument's
 * name, "params['w']" or "args[0]". */
bool xla_copies_argument(const struct xla_range *range);

/* Whether an operation with this path belongs to a backward pass: JAX makes it with transpose(). */
bool xla_is_backward(struct hwy_text path);

/* Whether the kernel's name is of the kind that XLA gives to kernels which it generates:
 * "loop_add_fusion_3", "gemm_fusion_dot", "wrapped_transpose". Kernels of libraries that XLA
 * calls (cuBLAS, cuDNN) have other names. */
bool xla_is_kernel(const char *name);

/* Whether XLA runs the kernel only to choose between candidates, while it compiles. */
bool xla_is_tuning_kernel(const char *name);

#endif
