/* graphs.c - launched graphs: how often, how long on the device, what is inside.
 *
 * The device time of a launch runs from its first start to its last end. Where the nodes were recorded, they
 * are counted and their kernels summed up; where they were not, those cells are empty: nothing is known about
 * the inside. A graph is told by its executable's number, else by its graph's, else (some recorders give
 * neither) by the nodes it launches. Launches without recorded work are one row.
 */
#include <stdlib.h>

#include "base/hash.h"
#include "stats/families.h"
#include "stats/launches.h"
#include "stats/sums.h"

struct line {
	uint64_t key;
	int64_t process, graph, exec; /* graph, exec: 0 where they are not known */
	int64_t launches, api_ns, kernels, kernel_ns, nodes;
	bool inside;     /* the nodes were recorded */
	int64_t longest; /* the longest kernel: its text */
	int64_t longest_ns;
	struct sums_of of;
};
struct graphs {
	struct stats_run *run;
	struct launches launches;
	struct hwy_map map; /* key -> line */
	struct line *lines;
	uint32_t n, cap;
	struct sums sums;
	bool counting;
};

struct launch { /* one, as its work tells it */
	int64_t start, end, graph, exec, kernels, kernel_ns, nodes, longest, longest_ns;
	uint64_t shape; /* of its nodes */
};

static struct launch graphs_look_at(const struct graphs *graphs, struct launched work)
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
		/* The same nodes in another order are the same graph: streams may change places. */
		launch.shape += hwy_mix((uint64_t)hwy_get(strip, HWY_GRAPH_NODE, row) << 32 ^
					(uint64_t)hwy_get(strip, HWY_NAME, row));
		if (strip->kind != HWY_KERNEL)
			continue;
		launch.kernels++;
		add_to(&launch.kernel_ns, dur);
		if (dur > launch.longest_ns) {
			launch.longest_ns = dur;
			launch.longest = hwy_get(strip, HWY_NAME, row);
		}
	}
	return launch;
}

static uint32_t graphs_line_of(struct graphs *graphs, int64_t process, const struct launch *launch,
			       bool any)
{
	uint64_t told = launch->exec    ? hwy_mix((uint64_t)launch->exec) ^ 1
			: launch->graph ? hwy_mix((uint64_t)launch->graph) ^ 2
			: any           ? hwy_mix(launch->shape + (uint64_t)launch->nodes) ^ 3
					: 0;
	uint64_t key = hwy_mix((uint64_t)process + 1) ^ told;
	bool fresh;
	uint32_t *at = hwy_map_put(&graphs->map, key, &fresh);
	if (fresh) {
		HWY_GROW(graphs->lines, graphs->n, graphs->cap);
		*at = graphs->n;
		graphs->lines[graphs->n++] = (struct line){.key = key,
							   .process = process,
							   .graph = launch->graph,
							   .exec = launch->exec};
	}
	return *at;
}

static void graphs_add(struct graphs *graphs, const struct hwy_strip *call, uint32_t row)
{
	const struct hwy_trace *trace = graphs->run->trace;
	struct launched work = launches_of(&graphs->launches, trace, call, row);
	struct launch launch = graphs_look_at(graphs, work);
	uint32_t at = graphs_line_of(graphs, trace->lanes[call->lane].process, &launch, work.n > 0);
	struct line *line = &graphs->lines[at];
	if (!graphs->counting) {
		if (work.n)
			sums_put(&graphs->sums, at, launch.end - launch.start);
		return;
	}
	sums_expect(&graphs->sums, at, work.n > 0);
	line->launches++;
	add_to(&line->api_ns, hwy_get(call, HWY_DUR, row));
	line->inside = line->inside || launch.nodes > 0;
	line->nodes += launch.nodes;
	line->kernels += launch.kernels;
	add_to(&line->kernel_ns, launch.kernel_ns);
	if (launch.longest_ns > line->longest_ns) {
		line->longest_ns = launch.longest_ns;
		line->longest = launch.longest;
	}
}

static void graphs_visit(struct graphs *graphs)
{
	struct hwy_trace *trace = graphs->run->trace;
	const struct filter *filter = &graphs->run->filter;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		int64_t last =
			0; /* the call before, when it launched a graph: a second record of it */
		for (uint32_t row = 0; strip->kind == HWY_API && row < strip->rows; row++) {
			if (HWY_ROLE_OF(hwy_role(trace, hwy_get(strip, HWY_NAME, row))) !=
			    HWY_ROLE_GRAPH_LAUNCH)
				continue;
			int64_t corr = hwy_get(strip, HWY_CORR, row);
			bool again = corr && corr == last;
			last = corr;
			if (!again &&
			    (!filter_is_on(filter) || filter_keeps(filter, trace, strip, row)))
				graphs_add(graphs, strip, row);
		}
	}
}

/* ---- rows ----------------------------------------------------------------------------------------- */

static int graphs_by_total(const void *left, const void *right)
{
	const struct line *a = left, *b = right;
	if (a->of.total != b->of.total)
		return a->of.total < b->of.total ? 1 : -1;
	if (a->launches != b->launches)
		return a->launches < b->launches ? 1 : -1;
	return (a->key > b->key) - (a->key < b->key);
}

static struct stats_cell when(bool known, struct stats_cell cell)
{
	return known ? cell : cell_empty();
}

static void graphs_yield(struct graphs *graphs, const struct line *line, int64_t total)
{
	const struct hwy_trace *trace = graphs->run->trace;
	const struct sums_of *of = &line->of;
	bool timed = of->count > 0;
	double n = timed ? of->count : 1;
	int64_t pid = line->process >= 0 && line->process < trace->n_processes
			      ? trace->processes[line->process].pid
			      : HWY_NONE;
	struct stats_cell cells[] = {
		cell_real(total ? 100.0 * (double)of->total / (double)total : 0),
		when(timed, cell_number(of->total)),
		cell_number(line->launches),
		when(timed, cell_real(of->mean)),
		when(timed, cell_real(of->median)),
		when(timed, cell_number(of->min)),
		when(timed, cell_number(of->max)),
		cell_real((double)line->api_ns / (double)line->launches),
		when(line->inside, cell_real((double)line->nodes / n)),
		when(line->inside, cell_real((double)line->kernels / n)),
		when(line->inside, cell_number(line->kernel_ns)),
		cell_known(pid),
		when(line->graph != 0, cell_number(line->graph)),
		when(line->exec != 0, cell_number(line->exec)),
		when(line->longest != 0, cell_text(hwy_text(trace, line->longest))),
	};
	run_row(graphs->run, cells);
}

static void summarise(struct graphs *graphs)
{
	graphs->counting = true;
	graphs_visit(graphs);
	sums_open(&graphs->sums);
	graphs->counting = false;
	graphs_visit(graphs);
	int64_t total = 0;
	for (uint32_t i = 0; i < graphs->n; i++) {
		graphs->lines[i].of = sums_get(&graphs->sums, i);
		add_to(&total, graphs->lines[i].of.total);
	}
	if (graphs->n)
		qsort(graphs->lines, graphs->n, sizeof *graphs->lines, graphs_by_total);
	for (uint32_t i = 0; i < graphs->n; i++)
		graphs_yield(graphs, &graphs->lines[i], total);
}

bool make_graph_sum(struct stats_run *run, struct hwy_err *err)
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
		run_columns(run, columns, STATS_LENGTH(columns));
		summarise(&graphs);
	}
	launches_close(&graphs.launches);
	sums_free(&graphs.sums);
	hwy_map_free(&graphs.map);
	free(graphs.lines);
	return ok;
}
