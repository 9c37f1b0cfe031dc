/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_nodes.c - records how the nodes of CUDA graphs are made: by which thread, when, from
 * which Python stack; which node is a copy of which; and which node runs after which.
 *
 * CUPTI calls back on the thread that captures, adds, clones or instantiates. Instantiating
 * makes a graph of copies, and the records of device work name these copies: without the chain
 * of copies nobody can tell where a kernel was captured. For a copy CUPTI reports a creation and
 * then the cloning (CUDA 13.0); both are recorded, and the reader lets the cloning count.
 *
 * Only where graphs are recorded node by node; else no callback is enabled. Nodes are recorded
 * also while the recording pauses: a graph that is launched later may have been captured before.
 * Nothing here blocks or calls CUDA: only the two functions of CUPTI that yield the id of a
 * handle, which CUPTI permits inside callbacks.
 */
#include "collect/cuda/cuda.h"
#include "collect/python/stack_ids.h"
#include "spool/record_frameworks.h"

enum {
	/* Records of nodes are definitions, which no ring overwrites and nobody gives back: a
	 * process writes so many at most (64 bytes each, 64 MiB), and no more than the share of
	 * the run's bytes below. */
	MOST_RECORDS = 1 << 20,
	SHARE_OF_RUN = 8,
	RECORD_BYTES = sizeof(struct rec_node),
};

/* The graph that the thread's last event on a node was a cloning into, else 0. A creation in
 * that graph that follows at once is the next copy of an instantiation: no Python stack is taken
 * for it, since that of its original counts. */
static __thread uint32_t cloning_into __attribute__((tls_model("initial-exec")));

static struct {
	_Atomic uint64_t written; /* records that were asked for, those left out included */
	_Atomic uint64_t left_out;
} count;

void cuda_nodes_watch(void)
{
	static const uint32_t cbids[] = {CUPTI_NODE_CREATED, CUPTI_NODE_CLONED,
					 CUPTI_NODE_DEPENDENCY};
	if (!collect_control->graph_nodes || !cuda.cupti.cuptiGetGraphNodeId ||
	    !cuda.cupti.cuptiGetGraphId)
		return;
	for (unsigned i = 0; i < sizeof cbids / sizeof *cbids; i++)
		cuda.cupti.cuptiEnableCallback(1, cuda.subscriber, CUPTI_DOMAIN_RESOURCE, cbids[i]);
}

static bool node_records_have_room(void)
{
	uint64_t most = MOST_RECORDS;
	uint64_t run = collect_control->max_bytes;
	if (run && run / SHARE_OF_RUN / RECORD_BYTES < most)
		most = run / SHARE_OF_RUN / RECORD_BYTES;
	if (atomic_fetch_add_explicit(&count.written, 1, memory_order_relaxed) < most)
		return true;
	atomic_fetch_add_explicit(&count.left_out, 1, memory_order_relaxed);
	return false;
}

/* Yields the id of a graph; 0 where CUPTI does not know the handle. */
static uint32_t graph_id(void *graph)
{
	uint32_t id = 0;
	return graph && cuda.cupti.cuptiGetGraphId(graph, &id) == CUPTI_OK ? id : 0;
}

static bool node_id(void *node, uint64_t *id)
{
	return node && cuda.cupti.cuptiGetGraphNodeId(node, id) == CUPTI_OK;
}

static void cuda_nodes_put(enum rec_node_event event, const struct cupti_graph_data *data,
			   void *other, void *other_graph)
{
	uint64_t node = 0, other_node = 0;
	if (!node_id(data->node, &node) ||
	    (event != REC_NODE_CREATED && !node_id(other, &other_node)))
		return;
	if (!node_records_have_room())
		return;
	uint32_t graph = graph_id(data->graph), origin = graph_id(other_graph);
	bool has_place = event == REC_NODE_CREATED && collect_control->stack_threshold >= 0 &&
			 (graph == 0 || graph != cloning_into);
	cloning_into = event == REC_NODE_CLONED ? graph : 0;
	/* The place comes first: it may itself be recorded, which must not happen between
	 * reserving and publishing. */
	uint32_t place = has_place ? place_here() : 0;
	struct rec_node *record = collect_reserve(REC_NODE, 2);
	if (!record)
		return;
	record->head.flags = (uint8_t)event;
	record->head.value = data->node_type;
	record->time = collect_now();
	record->node = node;
	record->other = other_node;
	record->graph = graph;
	record->other_graph = origin;
	record->place = place;
	collect_publish(record);
}

void cuda_nodes_callback(uint32_t cbid, const struct cupti_resource *resource)
{
	const struct cupti_graph_data *data = resource->descriptor;
	if (!data)
		return;
	switch (cbid) {
	case CUPTI_NODE_CREATED: cuda_nodes_put(REC_NODE_CREATED, data, NULL, NULL); break;
	case CUPTI_NODE_CLONED:
		cuda_nodes_put(REC_NODE_CLONED, data, data->original_node, data->original_graph);
		break;
	case CUPTI_NODE_DEPENDENCY:
		cuda_nodes_put(REC_NODE_AFTER, data, data->dependency, NULL);
		break;
	default: break;
	}
}

void cuda_nodes_report_losses(void)
{
	uint64_t left_out = atomic_exchange(&count.left_out, 0);
	if (left_out > 0)
		collect_drop("more nodes of CUDA graphs were made than are recorded", left_out);
}
