/* SPDX-License-Identifier: Apache-2.0 */
/* graph_internal.h - the state while a graph is built, shared by graph.c, graph_order.c and
 * graph_launches.c. */
#ifndef HWY_WHATIF_GRAPH_INTERNAL_H
#define HWY_WHATIF_GRAPH_INTERNAL_H

#include "base/hash.h"
#include "base/heap.h"
#include "whatif/graph.h"

struct sequence { /* the nodes of a process, or of a thread, so far */
	/* the newest node of this sequence: a call, or the return of a call that waited; or
	 * GRAPH_NONE */
	uint32_t last;
	uint32_t call; /* the node of the last call */
	int64_t end;   /* the last call's measured end */
};

struct lane_ops { /* a lane with the ops of a stream */
	/* The lane's ops are building.lane_ops[first … first + n - 1], in order of start. */
	uint32_t first, n;
	uint32_t enqueued;            /* calls that have enqueued work for the lane so far */
	uint32_t last;                /* the node of the last op that began */
	uint32_t next_wait, end_wait; /* the stream waits still to come, in building.stream_waits */
	uint32_t next_fresh; /* reference to the next lane of the process's list of fresh lanes */
	bool is_fresh;       /* the lane got work since the process last waited for all streams */
	uint8_t order;       /* enum lane_order */
};

struct awaited {        /* what the last wait of a process for all of its streams has found */
	uint32_t found; /* the node that ended last before that wait returned, or GRAPH_NONE */
	uint32_t call;  /* the call that waited */
	uint32_t fresh; /* reference to the first lane that got work since that wait */
};

/* How a stream is ordered against the legacy default stream of its context. */
enum lane_order { LANE_ALONE, LANE_BLOCKING, LANE_LEGACY, LANE_ORDERS };

/* work enqueued on 'lane' after 'call' waits for 'op', which is on another lane */
struct stream_wait {
	uint32_t lane, call, op;
};

struct building {
	struct hwy_graph *graph;
	const struct hwy_flow *flow;
	int64_t *ends; /* measured end of each node */
	int64_t begin; /* measured begin of the node that is being made: graph->nodes[graph->n] */
	uint32_t *call_node, *op_node; /* the node of each call, of each op */
	/* For each process; element n_processes is for calls of no known process. */
	struct sequence *processes;
	/* For each thread; element n_threads is for calls of no known thread. */
	struct sequence *threads;
	struct awaited *awaited; /* for each process, the result of its last wait for all streams */
	uint32_t n_processes, n_threads;
	/* Calls that have not returned yet, ordered by the time of their return. */
	struct hwy_heap open;
	/* The members from here on are used by graph_order.c. */
	struct lane_ops *lanes; /* for each lane, the state of its ops */
	uint32_t *lane_ops;
	uint32_t *used; /* the lanes that have ops */
	uint32_t n_used;
	uint32_t *barriers[LANE_ORDERS]; /* the lanes that have ops, by enum lane_order */
	uint32_t n_barriers[LANE_ORDERS];
	/* For each stream its lane; trace->n_lanes where the stream has no work. */
	uint32_t *lane_of_stream;
	/* Maps a call to the lane that, by the driver's record, the call waits for. */
	struct hwy_map waited;
	/* Maps a call that waits for an event to the op before the event. */
	struct hwy_map waited_op;
	struct stream_wait *stream_waits; /* in order of lane, then of call */
	uint32_t n_stream_waits, cap_stream_waits;
	uint32_t *engines; /* for each device and direction, the node of the last copy */
	/* The state of graph_launches.c; NULL where the recording has no edges of CUDA graphs. */
	struct graph_launches *launches;
};

/* Adds a predecessor to the node that is being made. An edge that the trace contradicts is only
 * counted. fitted: the usual lag of such an edge in ns; the observed lag is taken where it is
 * smaller. */
void graph_build_edge(struct building *b, enum graph_place place, uint32_t before, bool from_begin,
		      int64_t fitted);

/* Adds the edge from the op 'before', which is ahead of the op that is being made on its stream
 * or in its CUDA graph. */
void graph_build_stream_order(struct building *b, uint32_t before);

/* graph_order.c: edges that come from events, the legacy default stream and copy engines. */
bool graph_order_open(struct building *b, struct hwy_err *err);
void graph_order_edges(struct building *b, uint32_t op);
void graph_order_close(struct building *b);

/* graph_launches.c: edges between the nodes of a launched CUDA graph. */
bool graph_launches_open(struct building *b, struct hwy_err *err);
/* Adds the edges that order the op against other work of its stream; false where the stream's
 * own order holds. */
bool graph_launches_order(struct building *b, uint32_t op);
/* Adds to a return that waits for the op 'found' edges from what else ends the launch of that
 * op. */
void graph_launches_await(struct building *b, uint32_t found);
void graph_launches_close(struct building *b);

#endif
