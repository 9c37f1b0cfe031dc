/* SPDX-License-Identifier: Apache-2.0 */
/* graphs.c - launched graphs: how often, how long on the device, what is inside.
 *
 * The device time of a launch runs from the first start to the last end of its work. Where the
 * nodes were recorded, they are counted and their kernels summed up; where they were not, those
 * cells are empty. Two launches are of one graph where the number of the executable graph is the
 * same, else the number of the graph, else (some recorders give neither) the nodes. All launches
 * of a process without recorded work are one row.
 */
#include <stdlib.h>

#include "base/hash.h"
#include "base/index.h"
#include "stats/families.h"
#include "stats/launches.h"
#include "stats/sums.h"

enum identity { BY_NOTHING, BY_EXEC, BY_GRAPH, BY_NODES };

struct line { /* the launches of one graph */
	struct line_key {
		int64_t process;
		int64_t identity; /* enum identity: tells what kind of number 'number' is */
		uint64_t number;
	} key;
	/* The numbers of the graph and of the executable graph; 0 where they were not recorded. */
	int64_t graph, exec;
	int64_t launches, api_ns, kernels, kernel_ns, nodes;
	bool has_nodes;  /* the graph's nodes were recorded */
	int64_t longest; /* id of the text of the longest kernel's name */
	int64_t longest_ns;
	/* Decides the order of lines with equal totals and equal numbers of launches. */
	uint64_t tie;
	struct sums_result sums;
};
struct graphs {
	struct report_run *run;
	struct launches launches;
	struct hwy_index by_key; /* finds the elements of 'lines' by their keys */
	struct line *lines;
	uint32_t n, cap;
	struct sums sums;
	bool counting; /* true in the first of two rounds, which only counts the values (sums.h) */
};

struct launch { /* the work of one launch, summed up; the fields are those of struct line */
	int64_t start, end, graph, exec, kernels, kernel_ns, nodes, longest, longest_ns;
	uint64_t node_hash; /* a hash of all nodes that does not depend on their order */
};

static struct launch sum_launch(const struct graphs *graphs, struct launched work)
{
	const struct hwy_trace *trace = graphs->run->trace;
	struct launch launch = {.start = INT64_MAX, .end = INT64_MIN};
	for (uint32_t i = 0; i < work.n; i++) {
		uint32_t row;
		const struct hwy_strip *strip = hwy_strip_of(trace, work.spans[i], &row);
		int64_t start = hwy_get(strip, HWY_START, row), dur = hwy_get(strip, HWY_DUR, row);
		launch.start = start < launch.start ? start : launch.start;
		launch.end = start + dur > launch.end ? start + dur : launch.end;
		launch.graph = launch.graph ? launch.graph : hwy_get(strip, HWY_GRAPH_ID, row);
		launch.exec = launch.exec ? launch.exec : hwy_get(strip, HWY_GRAPH_EXEC, row);
		if (strip->kind == HWY_GRAPH)
			continue;
		launch.nodes++;
		/* The hashes of the nodes are summed, because two launches of one graph may run its
		 * nodes in another order. */
		launch.node_hash += hwy_mix((uint64_t)hwy_get(strip, HWY_GRAPH_NODE, row) << 32 ^
					    (uint64_t)hwy_get(strip, HWY_NAME, row));
		if (strip->kind != HWY_KERNEL)
			continue;
		launch.kernels++;
		hwy_add_saturating(&launch.kernel_ns, dur);
		if (dur > launch.longest_ns) {
			launch.longest_ns = dur;
			launch.longest = hwy_get(strip, HWY_NAME, row);
		}
	}
	return launch;
}

static uint64_t tie_of(const struct line_key *key)
{
	uint64_t number =
		key->identity == BY_NOTHING ? 0 : hwy_mix(key->number) ^ (uint64_t)key->identity;
	return hwy_mix((uint64_t)key->process + 1) ^ number;
}

static uint32_t graphs_line_of(struct graphs *graphs, int64_t process, const struct launch *launch,
			       bool has_work)
{
	struct line_key key = {.process = process};
	if (launch->exec) {
		key.identity = BY_EXEC;
		key.number = (uint64_t)launch->exec;
	} else if (launch->graph) {
		key.identity = BY_GRAPH;
		key.number = (uint64_t)launch->graph;
	} else if (has_work) {
		key.identity = BY_NODES;
		key.number = launch->node_hash + (uint64_t)launch->nodes;
	}
	bool fresh;
	uint32_t *line = hwy_index_put_element(&graphs->by_key, graphs->lines,
					       sizeof *graphs->lines, &key, sizeof key, &fresh);
	if (fresh) {
		HWY_GROW(graphs->lines, graphs->n, graphs->cap);
		*line = graphs->n;
		graphs->lines[graphs->n++] = (struct line){.key = key,
							   .graph = launch->graph,
							   .exec = launch->exec,
							   .tie = tie_of(&key)};
	}
	return *line;
}

static void graphs_add(struct graphs *graphs, const struct hwy_strip *call, uint32_t row)
{
	const struct hwy_trace *trace = graphs->run->trace;
	struct launched work = launches_by_call(&graphs->launches, trace, call, row);
	struct launch launch = sum_launch(graphs, work);
	uint32_t index =
		graphs_line_of(graphs, trace->lanes[call->lane].process, &launch, work.n > 0);
	struct line *line = &graphs->lines[index];
	if (!graphs->counting) {
		if (work.n)
			sums_put(&graphs->sums, index, launch.end - launch.start);
		return;
	}
	sums_expect(&graphs->sums, index, work.n > 0);
	line->launches++;
	hwy_add_saturating(&line->api_ns, hwy_get(call, HWY_DUR, row));
	line->has_nodes = line->has_nodes || launch.nodes > 0;
	line->nodes += launch.nodes;
	line->kernels += launch.kernels;
	hwy_add_saturating(&line->kernel_ns, launch.kernel_ns);
	if (launch.longest_ns > line->longest_ns) {
		line->longest_ns = launch.longest_ns;
		line->longest = launch.longest;
	}
}

static void graphs_visit(struct graphs *graphs)
{
	struct hwy_trace *trace = graphs->run->trace;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		/* The correlation id of the previous graph launch, because a call may be
		 * recorded twice. */
		int64_t last = 0;
		for (uint32_t row = 0; strip->kind == HWY_API && row < strip->rows; row++) {
			if (HWY_ROLE_OF(hwy_role(trace, hwy_get(strip, HWY_NAME, row))) !=
			    HWY_ROLE_GRAPH_LAUNCH)
				continue;
			int64_t corr = hwy_get(strip, HWY_CORR, row);
			bool is_second_record = corr && corr == last;
			last = corr;
			if (!is_second_record && report_keeps(graphs->run, strip, row))
				graphs_add(graphs, strip, row);
		}
	}
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int graphs_by_total(const void *left, const void *right)
{
	const struct line *a = left, *b = right;
	if (a->sums.total != b->sums.total)
		return a->sums.total < b->sums.total ? 1 : -1;
	if (a->launches != b->launches)
		return a->launches < b->launches ? 1 : -1;
	return (a->tie > b->tie) - (a->tie < b->tie);
}

static struct stats_cell cell_if(bool is_recorded, struct stats_cell cell)
{
	return is_recorded ? cell : cell_empty();
}

static void graphs_yield(struct graphs *graphs, const struct line *line, int64_t total)
{
	const struct hwy_trace *trace = graphs->run->trace;
	const struct sums_result *sums = &line->sums;
	bool timed = sums->count > 0;
	double n = timed ? sums->count : 1;
	int64_t process = line->key.process;
	int64_t pid = process >= 0 && process < trace->n_processes ? trace->processes[process].pid
								   : HWY_NONE;
	struct stats_cell cells[] = {
		cell_share(sums->total, total),
		cell_if(timed, cell_number(sums->total)),
		cell_number(line->launches),
		cell_if(timed, cell_real(sums->mean)),
		cell_if(timed, cell_real(sums->median)),
		cell_if(timed, cell_number(sums->min)),
		cell_if(timed, cell_number(sums->max)),
		cell_real((double)line->api_ns / (double)line->launches),
		cell_if(line->has_nodes, cell_real((double)line->nodes / n)),
		cell_if(line->has_nodes, cell_real((double)line->kernels / n)),
		cell_if(line->has_nodes, cell_number(line->kernel_ns)),
		cell_number_or_empty(pid),
		cell_if(line->graph != 0, cell_number(line->graph)),
		cell_if(line->exec != 0, cell_number(line->exec)),
		cell_if(line->longest != 0, cell_from_text(hwy_text(trace, line->longest))),
	};
	report_row(graphs->run, cells);
}

static void graphs_summarise(struct graphs *graphs)
{
	graphs->counting = true;
	graphs_visit(graphs);
	sums_open(&graphs->sums);
	graphs->counting = false;
	graphs_visit(graphs);
	int64_t total = 0;
	for (uint32_t i = 0; i < graphs->n; i++) {
		graphs->lines[i].sums = sums_get(&graphs->sums, i);
		hwy_add_saturating(&total, graphs->lines[i].sums.total);
	}
	if (graphs->n)
		qsort(graphs->lines, graphs->n, sizeof *graphs->lines, graphs_by_total);
	for (uint32_t i = 0; i < graphs->n; i++)
		graphs_yield(graphs, &graphs->lines[i], total);
}

bool make_graph_sum(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {
		{"Time", STATS_PERCENT},       {"Total Time", STATS_TIME},
		{"Launches", STATS_COUNT},     {"Avg", STATS_TIME_MEAN},
		{"Med", STATS_TIME_MEAN},      {"Min", STATS_TIME},
		{"Max", STATS_TIME},           {"API Avg", STATS_TIME_MEAN},
		{"Nodes", STATS_MEAN},         {"Kernels", STATS_MEAN},
		{"Kernel Time", STATS_TIME},   {"PID", STATS_ID},
		{"Graph", STATS_ID},           {"Exec", STATS_ID},
		{"Longest Kernel", STATS_TEXT}};
	struct graphs graphs = {.run = run};
	uint64_t timed = HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME);
	bool ok = hwy_need(run->trace, HWY_DEVICE_KINDS,
			   timed | HWY_COL_BIT(HWY_GRAPH_ID) | HWY_COL_BIT(HWY_GRAPH_EXEC) |
				   HWY_COL_BIT(HWY_GRAPH_NODE),
			   err) &&
		  hwy_need(run->trace, HWY_KIND_BIT(HWY_API), timed, err) &&
		  launches_open(&graphs.launches, run, HWY_DEVICE_KINDS, err);
	if (ok) {
		report_columns(run, columns, STATS_LENGTH(columns));
		graphs_summarise(&graphs);
	}
	launches_close(&graphs.launches);
	sums_free(&graphs.sums);
	hwy_index_free(&graphs.by_key);
	free(graphs.lines);
	return ok;
}
