/* SPDX-License-Identifier: Apache-2.0 */
/* jax_program.h - what a JAX program looks like in a recording: executions of compiled functions with their operations, and
 * compilations that try candidates on the device. */
#ifndef HWY_TESTS_JAX_PROGRAM_H
#define HWY_TESTS_JAX_PROGRAM_H

#include "program.h"

/* One execution of a compiled function: 'kernels' kernels of 'us' microseconds each. */
static inline void jax_execute(struct program *p, const char *function, int program, int kernels,
			       int64_t us)
{
	char name[128];
	int64_t from = p->cpu;
	p->cpu += 500;
	for (int i = 0; i < kernels; i++) {
		int64_t thunk = p->cpu;
		p->cpu += 100;
		program_launch(p, 0, i % 2 ? "loop_add_fusion" : "gemm_fusion_dot", us);
		snprintf(
			name, sizeof name,
			"Thunk:#name=jit(%s)/jvp(Net)/layer_%d/add,hlo_op=%s.%d,unique_hlo_op_id=%d#",
			function, i, i % 2 ? "loop_add_fusion" : "gemm_fusion_dot", i, 4000 + i);
		program_span(p, p->range, HWY_RANGE, thunk, p->cpu, name);
		p->cpu += 100;
	}
	snprintf(name, sizeof name, "XlaModule:#hlo_module=jit_%s,program_id=%d#", function,
		 program);
	program_span(p, p->range, HWY_RANGE, from, p->cpu, name);
}

/* One compilation of 'ms' milliseconds, which runs candidates on the device for half of that time. */
static inline void jax_compile(struct program *p, const char *function, int64_t ms)
{
	char name[128];
	int64_t from = p->cpu, to = from + US(1000 * ms);
	p->cpu += US(100);
	for (int64_t i = 0; i < ms; i++) {
		int64_t trial = p->cpu;
		program_launch(p, 0, "gemm_fusion_dot", 500);
		program_span(p, p->range, HWY_RANGE, trial, p->cpu,
			     "XlaModule:#hlo_module=gemm_fusion_dot#");
		p->cpu += US(500);
	}
	p->cpu = to;
	snprintf(name, sizeof name, "XlaPass:#name=autotuner,module=jit_%s,program_id=1#",
		 function);
	program_span(p, p->range, HWY_RANGE, from + US(50), to - US(50), name);
	snprintf(name, sizeof name, "XlaCompile:#module=jit_%s#", function);
	program_span(p, p->range, HWY_RANGE, from, to, name);
}

/* float(x): a thread of XLA copies 4 bytes to pinned memory, on a stream of its own, when the work so far is done. Yields the copy's
 * end. The program's clock does not move. */
static inline int64_t jax_fetch(struct program *p, struct program *pool)
{
	pool->cpu = p->cpu + US(10);
	int64_t done = p->stream_free[0] > pool->cpu ? p->stream_free[0] : pool->cpu;
	struct hwy_row row = program_copy_row(HWY_D2H, 4, HWY_MEM_PINNED);
	row.v[HWY_START] = done + US(2);
	row.v[HWY_DUR] = US(2);
	program_call(pool, "cuMemcpyDtoHAsync_v2", 8);
	row.v[HWY_CORR] = pool->corr;
	hwy_add_span(p->builder, p->lanes[1], HWY_COPY, &row);
	return done + US(4);
}

#endif
