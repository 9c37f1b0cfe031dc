/* build.h - what the parts of the graph's building share. */
#ifndef HWY_WHATIF_BUILD_H
#define HWY_WHATIF_BUILD_H

#include "base/hash.h"
#include "base/heap.h"
#include "whatif/graph.h"

struct sequence {      /* of a process or a thread */
	uint32_t last; /* its last node, the return of a call that waited, or GRAPH_NONE */
	uint32_t call; /* the node of its last call */
	int64_t end;   /* that call's measured end */
};

struct lane_ops {                     /* of a stream lane */
	uint32_t first, n;            /* its ops: building.lane_ops[first …] in order of start */
	uint32_t enqueued;            /* calls so far */
	uint32_t last;                /* node of the last op that began */
	uint32_t next_wait, end_wait; /* its stream waits to come, in building.stream_waits */
	uint32_t next_fresh;          /* lane after it among the process's fresh ones, plus one */
	bool is_fresh;                /* work was added since the process's last wait for all */
	uint8_t order;                /* enum lane_order */
};

struct awaited {        /* by the waits of a process for all of its streams */
	uint32_t found; /* what the last one found: the node that ended last, or GRAPH_NONE */
	uint32_t call;  /* that one */
	uint32_t fresh; /* lane that may have something later, plus one */
};

/* How a stream stands to the legacy default stream of its context. */
enum lane_order { LANE_ALONE, LANE_BLOCKING, LANE_LEGACY, LANE_ORDERS };

struct stream_wait { /* later work of a lane waits for an op of another */
	uint32_t lane, call, op;
};

struct building {
	struct hwy_graph *graph;
	const struct hwy_flow *flow;
	int64_t *ends; /* measured, by node */
	int64_t begin; /* of the node that is being made: graph->nodes[graph->n] */
	uint32_t *call_node, *op_node;
	struct sequence *processes, *threads; /* the last of each: not known */
	struct awaited *awaited;              /* by process */
	uint32_t n_processes, n_threads;
	struct hwy_heap open; /* calls whose return is to come, by it */
	/* graph_order.c */
	struct lane_ops *lanes; /* by lane */
	uint32_t *lane_ops;
	uint32_t *used; /* lanes that have ops */
	uint32_t n_used;
	uint32_t *barriers[LANE_ORDERS], n_barriers[LANE_ORDERS]; /* of them, by order */
	uint32_t *lane_of_stream;         /* by stream; the number of lanes: it has no work */
	struct hwy_map waited;            /* call -> lane it waits for, where the driver said so */
	struct hwy_map waited_op;         /* call -> op, of waits for an event */
	struct stream_wait *stream_waits; /* by lane, then call */
	uint32_t n_stream_waits, cap_stream_waits;
	uint32_t *engines; /* by device and direction: node of the last copy */
};

/* Adds a predecessor to the node that is being made, unless the trace contradicts it: then it is counted. */
void build_edge(struct building *b, enum graph_place place, uint32_t before, bool from_begin,
		int64_t fitted);

/* graph_order.c */
bool build_order_start(struct building *b, struct hwy_err *err);
void build_order(struct building *b, uint32_t op);
void build_order_free(struct building *b);

#endif
