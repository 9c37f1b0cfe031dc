/* SPDX-License-Identifier: Apache-2.0 */
/* edit_tensor.c - fp32 multiplications and convolutions run on the device's tensor cores. Which
 * kernels these are, their names tell; with an argument, all kernels whose name has it. */
#include <string.h>

#include "base/lang.h"
#include "whatif/edits/edits.h"
#include "whatif/tensor_cores.h"

static const struct hwy_device *device_of(const struct editing *e, const struct flow_op *op)
{
	int64_t device = e->w->analysis->flow.devices[op->device].device;
	return device == HWY_NONE ? NULL : &e->flow->trace->devices[device];
}

static bool edit_tensor_apply(struct editing *e, const char *arguments, struct hwy_err *err)
{
	uint32_t found = 0;
	for (uint32_t i = 0; i < e->graph->n; i++) {
		struct graph_node *node = &e->graph->nodes[i];
		if (node->kind != GRAPH_OP || !e->w->step_of[node->flow_index])
			continue;
		const struct flow_op *op = &e->flow->ops[node->flow_index];
		uint32_t row;
		const struct hwy_strip *strip = hwy_strip_of(e->flow->trace, op->span, &row);
		const char *name = hwy_str(e->flow->trace, hwy_get(strip, HWY_NAME, row));
		if (op->kind != HWY_KERNEL ||
		    !(*arguments ? strstr(name, arguments) != NULL : tensor_cores_are_unused(name)))
			continue;
		found++;
		double speedup = tensor_cores_speedup(device_of(e, op), name, node->length);
		node->length = (int64_t)((double)node->length / speedup);
	}
	if (*arguments && !found)
		return hwy_fail(err, hwy_tr("no kernel of the phase is called '%s'"), arguments);
	return found > 0 ||
	       hwy_fail(err, hwy_tr("no kernel of the phase multiplies in fp32 without tensor "
				    "cores, by its name"));
}

const struct edit_kind edit_tensor = {
	.id = "tensor-cores",
	.arguments = "[:KERNEL]",
	.about = HWY_KEY(
		"fp32 multiplications and convolutions use the tensor cores (TF32, or half precision)"),
	.only_removes = true,
	.apply = edit_tensor_apply,
};
