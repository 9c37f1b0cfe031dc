/* SPDX-License-Identifier: Apache-2.0 */
/* flame.h - where time goes, by call path, as a trie for flame graphs.
 *
 * There are three of them: CPU samples by their stacks; CPU, GPU and idle time by modules and
 * operators (tree.h); GPU time by the stacks of the calls that enqueued the work. What is counted
 * is counted at exactly one node, as its own weight: the total of the root is the sum of the own
 * weights of all nodes, to the nanosecond, also after flame_prune has merged small nodes.
 *
 *   struct hwy_flame flame;
 *   struct flame_options options = {.kind = FLAME_STACKS,
 *                                   .device = {HWY_NONE, HWY_NONE},
 *                                   .cpu = {HWY_NONE, HWY_NONE}};
 *   if (!flame_make(&flame, flow, &options, err))
 *           return false;
 *   flame_prune(&flame, 8192, 1e-5);
 *   printf("%lld ns\n", (long long)flame.nodes[0].total[0]);
 *   flame_free(&flame);
 */
#ifndef HWY_ANALYZE_FLAME_H
#define HWY_ANALYZE_FLAME_H

#include "analyze/tree.h"

enum flame_kind {
	FLAME_SAMPLES,   /* CPU samples by stack */
	FLAME_OPERATORS, /* modules, operators, kernels: as tree.h */
	FLAME_STACKS,    /* device work by the stack of the call that enqueued it */
	FLAME_KINDS
};
extern const char *const flame_kind_names[FLAME_KINDS + 1]; /* "samples", …, NULL */

/* What a node is. Docs and the page know these numbers: append only. The first ones are those of
 * tree.h. */
enum flame_node_kind {
	FLAME_NODE_OF_TREE = TREE_KINDS - 1, /* the last kind that is an enum tree_kind */
	FLAME_PROCESS,
	FLAME_THREAD,
	FLAME_PYTHON,         /* a function of the program, in Python */
	FLAME_PYTHON_LIBRARY, /* a function of a package or of Python itself */
	FLAME_NATIVE,         /* a function of a shared object */
	FLAME_OS,             /* a function of the operating system's kernel */
	FLAME_MERGED,         /* nodes that were too small to be listed */
	FLAME_NODE_KINDS
};

enum { FLAME_WEIGHTS = 3 };

struct flame_node {
	/* index of the caller, which is smaller than the node's own; the root is its own */
	uint32_t outer;
	uint32_t kind; /* enum flame_node_kind */
	uint32_t name; /* id of a text of the flame */
	/* id of a text: the file, the shared object or the class of a module; 0: not known */
	uint32_t place;
	uint32_t count;  /* samples, pieces of device work, or calls of operators, here and below */
	uint32_t merged; /* of FLAME_MERGED: how many nodes this one stands for */
	/* Own weight, and that of all nodes below too. See flame_weight_names. */
	int64_t self[FLAME_WEIGHTS], total[FLAME_WEIGHTS];
	/* The longest span that was counted here or below: a reference (ref.h), and its length
	 * in ns. */
	uint32_t span;
	int64_t longest;
};

/* Which lanes count. A span counts where its own lane is chosen, or where any lane of the thread
 * is chosen that it runs on or was launched from. */
struct flame_lanes {
	const uint8_t *lanes;   /* by lane: 1 where it is chosen; NULL: all lanes are */
	const uint8_t *threads; /* by thread: 1 where one of its lanes is chosen */
};

/* The longest spans below one node. */
struct flame_spans {
	struct flame_span {
		uint32_t span;
		int64_t start, ns;
	} * v; /* in order of their starts once flame_make has returned */
	uint32_t n, most;
	uint64_t all; /* how many there are, listed or not */
};

struct flame_options {
	enum flame_kind kind;
	struct hwy_interval device, cpu; /* the windows; HWY_NONE: no limit */
	struct flame_lanes lanes;
	/* Of a stack that has functions of Python, list only these. Other stacks are listed as
	 * they are. */
	bool only_python;
	/* Collects the spans below this node of a flame that was made with the same options.
	 * NULL: none are wanted. */
	struct flame_spans *spans;
	uint32_t of_node;
};

struct hwy_flame {
	enum flame_kind kind;
	struct flame_node *nodes; /* nodes[0] is the root */
	uint32_t n;
	uint32_t n_weights;
	struct hwy_strings texts;
	uint64_t unknown; /* samples or pieces of work without a stack */
	/* After flame_prune: how many nodes there were, how many of them were merged into
	 * others, and for each node its index before. */
	uint32_t n_before, n_merged, *before;
	/* The rest is for flame_*.c. */
	uint32_t cap;
	struct hwy_index by_key;
};

/* The names of a flame's weights: "samples", "period"; "gpu", "cpu", "idle"; "gpu". */
extern const char *const flame_weight_names[FLAME_KINDS][FLAME_WEIGHTS];

bool flame_make(struct hwy_flame *flame, const struct hwy_flow *flow,
		const struct flame_options *options, struct hwy_err *err);
/* Merges what a picture cannot show: under each node, the inner nodes whose share of every total
 * of the root is less than 'least' become one node; one alone stays. Where more than 'most'
 * nodes are left, 'least' is raised. Sums stay exact. */
void flame_prune(struct hwy_flame *flame, uint32_t most, double least);
void flame_free(struct hwy_flame *flame);

/* ---- for flame_*.c --------------------------------------------------------------------------- */

/* A flame that is being filled. */
struct flame_filling {
	struct hwy_flame *flame;
	const struct flame_options *options;
	struct hwy_trace *trace;
	const struct hwy_flow *flow;
	struct flame_frame { /* by frame of the trace: what its nodes are called */
		uint32_t is_known, kind, name, place;
	} * frames;
	uint8_t *has_python; /* by stack: 1 where it or a caller is a function of Python */
	/* by thread, then one more for no thread: a reference to its node */
	uint32_t *thread_nodes;
	/* from (node, whether only Python counts, stack) to a reference to a node */
	struct hwy_map stacks;
};

/* Yields the inner node of this kind, name and place, which is made where it is new. */
uint32_t flame_put(struct hwy_flame *flame, uint32_t outer, enum flame_node_kind kind,
		   uint32_t name, uint32_t place);
/* Notes that a span of this length is counted at a node. The caller adds the weights and the
 * count. */
void flame_note_span(struct flame_filling *filling, uint32_t node, uint32_t span, int64_t start,
		     int64_t ns);
/* Yields the node of a stack (a reference, ref.h) inside of a node; that node itself where the
 * stack is empty. */
uint32_t flame_put_stack(struct flame_filling *filling, uint32_t outer, int64_t stack);
/* Yields the node of a thread; one for all where the thread is not known. */
uint32_t flame_put_thread(struct flame_filling *filling, int64_t thread);
/* Whether what is on this lane counts, or what this thread launched (HWY_NONE: no thread). */
bool flame_wants(const struct flame_filling *filling, uint32_t lane, int64_t thread);

bool flame_fill_samples(struct flame_filling *filling, struct hwy_err *err); /* flame_samples.c */
bool flame_fill_stacks(struct flame_filling *filling, struct hwy_err *err);  /* flame_work.c */
bool flame_fill_tree(struct flame_filling *filling, struct hwy_err *err);    /* flame_tree.c */

#endif
