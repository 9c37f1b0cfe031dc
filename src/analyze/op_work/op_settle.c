/* SPDX-License-Identifier: Apache-2.0 */
/* op_settle.c - see op_settle.h. */
#include "analyze/op_work/op_settle.h"

#include <math.h>
#include <stdlib.h>

void op_results_learn(struct op_results *results, const struct op_work *work)
{
	bool fresh;
	if (!work->pair || work->results <= 0)
		return;
	uint32_t *index = hwy_map_put(&results->of_pair, work->pair, &fresh);
	if (fresh) {
		HWY_GROW(results->elements, results->n, results->cap);
		results->elements[results->n] = work->results;
		*index = results->n++;
	} else if (results->elements[*index] != work->results) {
		results->elements[*index] = NAN;
	}
}

void op_results_free(struct op_results *results)
{
	hwy_map_free(&results->of_pair);
	free(results->elements);
	*results = (struct op_results){0};
}

/* Skips one argument of a template: up to the ',' or '>' that is not inside of it. */
static const char *settle_skip(const char *at)
{
	for (int depth = 0; *at; at++) {
		if (depth == 0 && (*at == ',' || *at == '>'))
			return at;
		depth += (*at == '<' || *at == '(') - (*at == '>' || *at == ')');
	}
	return at;
}

/* The kernels of flash-attn, PyTorch's copy too, have the mask among the arguments of their
 * template, as "true" or "(bool)1": behind the traits, and behind dropout where there is that;
 * then whether a window is. */
static bool settle_mask(struct op_work *work, const char *kernel)
{
	static const struct {
		const char *name;
		int causal; /* which argument */
	} kernels[] = {
		{"flash_fwd_kernel<", 2},
		{"flash_fwd_splitkv_kernel<", 1},
		{"flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<", 2},
		{"flash_bwd_dq_dk_dv_loop_kernel<", 2},
	};
	for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
		const char *at = strstr(kernel, kernels[i].name);
		bool flags[2] = {false, false};
		if (!at)
			continue;
		at += strlen(kernels[i].name);
		for (int argument = 0; argument <= kernels[i].causal + 1; argument++) {
			const char *end = settle_skip(at);
			while (at < end && *at == ' ')
				at++;
			if (argument >= kernels[i].causal)
				flags[argument - kernels[i].causal] =
					strncmp(at, "true", 4) == 0 ||
					strncmp(at, "(bool)1", 7) == 0;
			if (*end != ',')
				return false;
			at = end + 1;
		}
		if (flags[1])
			return false;
		work->flop = flags[0] ? work->masked_flop : work->flop;
		return true;
	}
	return false;
}

bool op_settle(struct op_work *work, const struct op_results *results, const char *kernel)
{
	if (work->open == OP_OPEN_MASK && !settle_mask(work, kernel))
		return false;
	if (work->open == OP_OPEN_RESULTS) {
		const uint32_t *index = hwy_map_get(&results->of_pair, work->pair);
		double elements = index ? results->elements[*index] : NAN;
		if (isnan(elements))
			return false;
		work->flop *= elements;
		work->bytes += elements * work->result_size;
	}
	work->open = OP_OPEN_NOTHING;
	return true;
}
