/* graph.h - the program as tasks that wait for each other: what a fix changes, and what follows from it.
 *
 * Nodes stand in the order of their measured times, which is a topological order: every edge leads from an
 * earlier node to a later one. A call is one node; one that waits for the device is two, its own work and
 * its return. A device op is one node. A node begins when all it depends on is there, plus the lags of those
 * edges, plus its own delay:
 *
 *   begin = max over its predecessors (end, or begin, of the predecessor + lag) + delay
 *   end   = begin + length
 *
 * A lag is the smaller of the fitted and the observed one, so no edge is ever contradicted by the trace; an
 * edge that would be (its work began too early) is left out and counted. The delay of a device op or of a
 * return is its residual: what the graph does not explain. The delay of a call is the CPU's work since the
 * call before it. So replaying the unedited graph gives back every begin and end exactly.
 *
 * Where wake-ups between threads were not recorded the calls of one process are one sequence, in order of
 * start: Python programs hand over between the main and the backward thread.
 */
#ifndef HWY_WHATIF_GRAPH_H
#define HWY_WHATIF_GRAPH_H

#include "analyze/flow.h"

#define GRAPH_NONE UINT32_MAX

enum graph_kind {
	GRAPH_CALL,   /* of: a call; length: its own work */
	GRAPH_RETURN, /* of: a call; length: 0; it had waited for the device */
	GRAPH_OP,     /* of: an op */
};

/* Predecessors have places. The edge in a place counts from the predecessor's begin where its bit is set in
 * 'from_begin'. Further ones are in graph.extras. */
enum graph_place {
	GRAPH_ORDER, /* the one before on the same thread, process or stream */
	GRAPH_CAUSE, /* op: its call; return: the op waited for; call: the one before on its own thread */
	GRAPH_OTHER, /* op: an event, a barrier, a copy engine; call: room in the launch queue */
	GRAPH_PLACES
};
enum { GRAPH_GONE = 0x80 }; /* in 'from_begin' of a return: an edit has taken its wait out */

struct graph_node {
	int64_t length, delay;
	uint32_t before[GRAPH_PLACES]; /* nodes, or GRAPH_NONE */
	uint32_t of;
	uint16_t lag[GRAPH_PLACES]; /* ns */
	uint8_t kind;               /* enum graph_kind */
	uint8_t from_begin;         /* a bit for each place, and GRAPH_GONE */
};

struct graph_extra {
	uint32_t node, before;
	uint32_t lag;
};

/* Times that are fitted to a trace: low quantiles over the work where nothing else binds. */
struct graph_fit {
	int64_t launch; /* from a call's begin to the begin of its work on an idle stream */
	int64_t next;   /* from the end of an op to the next on its stream that was there in time */
	int64_t wake;   /* from the end of the work waited for to the return of the wait */
	int64_t sync;   /* a synchronise call that finds nothing pending */
	uint32_t queue; /* launches a stream holds; one more waits */
};

struct hwy_graph {
	const struct hwy_flow *flow;
	struct graph_node *nodes;
	uint32_t n;
	struct graph_extra *extras; /* in order of 'node' */
	uint32_t n_extras, cap_extras;
	struct graph_fit fit;
	uint64_t n_edges, n_contradicted; /* edges kept; edges the trace contradicts, left out */
	bool is_unwaited;                 /* edited: other ranks do not wait for this one */
};

bool graph_build(struct hwy_graph *graph, const struct hwy_flow *flow, struct hwy_err *err);
void graph_free(struct hwy_graph *graph);
/* A copy to edit; shares the flow. */
struct hwy_graph graph_copy(const struct hwy_graph *graph);

/* Adds an edge from the end of 'before' to the begin of 'node' (a later one); a free place is used, or an
 * extra. Extras are in order again after graph_settle. */
void graph_add_edge(struct hwy_graph *graph, uint32_t node, uint32_t before, uint32_t lag);
void graph_settle(struct hwy_graph *graph);

/* graph_fit.c */
void graph_fit(struct graph_fit *fit, const struct hwy_flow *flow);

/* The node of a call, its return (GRAPH_NONE: it has none), an op. */
uint32_t graph_call(const struct hwy_graph *graph, uint32_t call);
uint32_t graph_return(const struct hwy_graph *graph, uint32_t call);
uint32_t graph_op(const struct hwy_graph *graph, uint32_t op);

/* When a node's time was measured: its begin, and of a return its end. Nodes are in this order. */
int64_t graph_measured(const struct hwy_graph *graph, uint32_t node);

#endif
