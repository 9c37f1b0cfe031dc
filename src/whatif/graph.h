/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h - the program as tasks that wait for each other: what a fix changes, and what follows
 * from it.
 *
 * Nodes stand in the order of their measured times, which is a topological order: every edge
 * leads from an earlier node to a later one. A call is one node; a call that waits for the
 * device is two, its own work and its return. A call that communicates with other ranks
 * (comm_calls.h) is two, too: its begin, where the rank comes, and its end, where the rank
 * leaves. A device op is one node. A node begins when all its predecessors are there, plus the
 * lags of the edges from them, plus its own delay:
 *
 *   begin = max over its predecessors (end, or begin, of the predecessor + lag) + delay
 *   end   = begin + length
 *
 * A lag is the smaller of the fitted and the observed one, so that the trace contradicts no
 * edge; an edge whose node began before its predecessor allows is left out and counted. The
 * delay of a device op or of a return is its residual: the time that the graph does not explain.
 * The delay of a call is the CPU's work since the call before it. So replaying the unedited
 * graph gives back every begin and end exactly.
 *
 * A kernel may begin shortly before the kernel ahead of it on its stream has ended (programmatic
 * dependent launch). Its edge counts from that end, less the overlap that was seen: whatever an
 * edit changes, the two keep their order, and overlap by no more than they did.
 *
 * Where wake-ups between threads were not recorded the calls of one process are one sequence, in
 * order of start: Python programs hand over between the main and the backward thread.
 */
#ifndef HWY_WHATIF_GRAPH_H
#define HWY_WHATIF_GRAPH_H

#include "analyze/flow.h"

#define GRAPH_NONE UINT32_MAX

enum graph_kind {
	GRAPH_CALL, /* a call; its length is the call's own work, without waiting for the device */
	GRAPH_RETURN, /* the return of a call that waited for the device; its length is 0 */
	GRAPH_OP,     /* a device op */
	/* The end of a call that communicates, whose GRAPH_CALL has length 0; its length is 0,
	 * and its delay is the call's length, or what is left of it once others have come
	 * (rank_links.h). */
	GRAPH_LEAVE,
	GRAPH_KINDS
};

/* A node has up to three predecessors in fixed places; further predecessors are in graph.extras. */
enum graph_place {
	GRAPH_ORDER, /* the previous node on the same thread, process or stream */
	GRAPH_CAUSE, /* of an op: its call; of a return: the op waited for; of a call: the call before
		      * it on its own thread */
	GRAPH_OTHER, /* of an op: an event, a barrier, a copy engine; of a call: room in the launch
		      * queue */
	GRAPH_PLACES
};

/* Bits of graph_node.flags. */
#define GRAPH_FROM_BEGIN(place)                                                                    \
	(1                                                                                         \
	 << (place)) /* the edge at this place is measured from its predecessor's begin, not from its end */
enum {
	GRAPH_WAIT_REMOVED = 0x80, /* flag of a return node: an edit has removed the wait */
	/* An edit has taken the node out of its collective: it waits for no rank, and none waits
	 * for it. */
	GRAPH_ALONE = 0x40,
	/* Flag of an op: it began before its predecessor in GRAPH_ORDER ended. The lag of that
	 * edge is the overlap in ns. */
	GRAPH_OVERLAPS = 0x20,
};

/* Whether a call communicates with other ranks on the CPU: only comm_calls.h makes such calls. */
static inline bool graph_is_comm_call(const struct flow_call *call)
{
	return call->role == HWY_ROLE_COMM && call->blocks && call->op == FLOW_NONE;
}

struct graph_node {
	int64_t length, delay; /* ns: the node's own length, and the delay that no edge explains */
	uint32_t before[GRAPH_PLACES]; /* predecessors: nodes, or GRAPH_NONE */
	uint32_t flow_index;           /* the call or op, in flow->calls or flow->ops by the kind */
	uint16_t lag[GRAPH_PLACES];    /* ns from the predecessor's end or begin to this node */
	uint8_t kind;                  /* enum graph_kind */
	/* GRAPH_FROM_BEGIN of each place, GRAPH_WAIT_REMOVED, GRAPH_ALONE, GRAPH_OVERLAPS */
	uint8_t flags;
};

static inline bool graph_counts_from_begin(const struct graph_node *node, int place)
{
	return node->flags & GRAPH_FROM_BEGIN(place);
}

/* Whether the op began before the end of the op ahead of it on its stream, as its edge tells. */
static inline bool graph_overlaps(const struct graph_node *node)
{
	return node->flags & GRAPH_OVERLAPS;
}

/* The ns before the predecessor's end from which the edge at this place counts. 'length' is the
 * predecessor's own: no edge counts from before its begin. */
static inline int64_t graph_ahead_of_end(const struct graph_node *node, int place, int64_t length)
{
	if (graph_counts_from_begin(node, place))
		return length;
	if (place != GRAPH_ORDER || !graph_overlaps(node))
		return 0;
	return node->lag[place] < length ? node->lag[place] : length;
}

/* The ns from the moment from which the edge at this place counts to the begin of the node. */
static inline int64_t graph_lag(const struct graph_node *node, int place)
{
	return place == GRAPH_ORDER && graph_overlaps(node) ? 0 : node->lag[place];
}

/* The op no longer follows the op that it overlapped: the edge in GRAPH_ORDER counts from an
 * end. */
static inline void graph_forget_overlap(struct graph_node *node)
{
	if (graph_overlaps(node))
		node->lag[GRAPH_ORDER] = 0;
	node->flags &= (uint8_t)~GRAPH_OVERLAPS;
}

/* One more predecessor of a node; the edge counts from the end of 'before'. */
struct graph_extra {
	uint32_t node, before;
	uint32_t lag; /* ns from the end of 'before' to the begin of 'node' */
};

/* Times in ns that are fitted to a trace: lower quartiles over the work that nothing else held
 * up. */
struct graph_fit {
	int64_t launch; /* ns from a call's begin to the begin of its work on an idle stream */
	/* The ns from an op's end to the begin of the stream's next op, where that op was
	 * launched in time. */
	int64_t next;
	/* The ns from the end of the work that a call waits for to the return of the call. */
	int64_t wake;
	int64_t sync;   /* ns of a synchronise call that finds nothing pending */
	uint32_t queue; /* launches that a stream's queue holds; a call that adds one more waits */
};

struct hwy_graph {
	const struct hwy_flow *flow;
	struct graph_node *nodes;
	uint32_t n;
	struct graph_extra *extras; /* further predecessors of nodes, in order of 'node' */
	uint32_t n_extras, cap_extras;
	struct graph_fit fit;
	uint64_t n_edges; /* how many edges the graph has */
	/* How many edges were left out because the trace contradicts them. */
	uint64_t n_contradicted;
	bool has_stream_waits; /* the source says which work waits for an event of another stream */
	bool is_unwaited;      /* set by an edit: other ranks do not wait for this rank */
};

bool graph_build(struct hwy_graph *graph, const struct hwy_flow *flow, struct hwy_err *err);
void graph_free(struct hwy_graph *graph);
/* A copy that may be edited; it shares the flow with the original. */
struct hwy_graph graph_copy(const struct hwy_graph *graph);

/* Adds an edge from the end of the node 'before' to the begin of the later node 'node', in the
 * place GRAPH_OTHER where it is free, else among the extras. Extras are in order again only after
 * graph_settle. */
void graph_add_edge(struct hwy_graph *graph, uint32_t node, uint32_t before, uint32_t lag);
void graph_settle(struct hwy_graph *graph);

/* defined in graph_fit.c */
void graph_fit(struct graph_fit *fit, const struct hwy_flow *flow);

/* The node of a call, of a call's return (GRAPH_NONE where the call did not wait), of an op. */
uint32_t graph_call(const struct hwy_graph *graph, uint32_t call);
uint32_t graph_return(const struct hwy_graph *graph, uint32_t call);
uint32_t graph_op(const struct hwy_graph *graph, uint32_t op);
/* The node at which a call that communicates ends, or GRAPH_NONE. */
uint32_t graph_leave(const struct hwy_graph *graph, uint32_t call);

/* The measured begin of a call or an op, or the measured end of a call that returned. Nodes are in
 * this order. */
int64_t graph_measured(const struct hwy_graph *graph, uint32_t node);

#endif
