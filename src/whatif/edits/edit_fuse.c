/* SPDX-License-Identifier: Apache-2.0 */
/* edit_fuse.c - one kernel for each chain of elementwise kernels: what lies between them is
 * neither written nor read. */
#include "base/lang.h"
#include "whatif/edits/edits.h"
#include "whatif/fusion.h"

struct fusing {
	struct editing *e;
	uint32_t found;
};

static uint32_t step_of_op(void *self, uint32_t op)
{
	return ((struct fusing *)self)->e->w->step_of[op];
}

/* The first kernel does all of the work; the others, and the pauses before them, are gone. Their
 * launches stay: a fused kernel saves these, too, but here only the device's time counts. */
static void fuse_chain(void *self, const struct fusion_chain *chain)
{
	struct fusing *fusing = self;
	struct hwy_graph *graph = fusing->e->graph;
	int64_t length = 0;
	for (uint32_t i = 0; i < chain->n; i++) {
		struct graph_node *node = &graph->nodes[graph_op(graph, chain->ops[i])];
		length += node->length;
		node->length = 0;
		if (i == 0)
			continue;
		node->delay = 0;
		node->lag[GRAPH_ORDER] = 0;
	}
	graph->nodes[graph_op(graph, chain->ops[0])].length =
		(int64_t)((double)length * ((double)chain->fused / (double)chain->ns));
	fusing->found++;
}

static bool edit_fuse_apply(struct editing *e, const char *arguments, struct hwy_err *err)
{
	(void)arguments;
	struct fusing fusing = {.e = e};
	struct fusion_plan plan = {.flow = e->flow,
				   .end = e->flow->n_ops,
				   .step = step_of_op,
				   .take = fuse_chain,
				   .self = &fusing};
	fusion_find(&plan);
	return fusing.found > 0 ||
	       hwy_fail(
		       err,
		       hwy_tr("no two elementwise kernels of the phase, by their names, follow each other on a "
			      "stream"));
}

const struct edit_kind edit_fuse = {
	.id = "fuse",
	.arguments = "",
	.about = HWY_KEY("a chain of elementwise kernels becomes one that reads and writes once"),
	.only_removes = true,
	.apply = edit_fuse_apply,
};
