/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - how fast a dependency graph is built and replayed, and what a node takes.
 *
 * replay FILE ROUNDS: prints nodes, the median ns of building and of one replay in CPU time, and the graph's
 * bytes, the replayed times included. Reading the file and putting calls and work in order is not in it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "import/import.h"
#include "whatif/replay.h"

static int64_t cpu_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	struct hwy_err err;
	enum { MOST = 64 };
	int64_t building[MOST], replaying[MOST];
	int rounds = argc > 2 ? atoi(argv[2]) : 1;
	if (argc < 2 || rounds < 1 || rounds > MOST)
		return fprintf(stderr, "usage: replay FILE [ROUNDS]\n"), 2;
	struct hwy_trace *trace = hwy_open(argv[1], NULL, &err);
	struct hwy_flow flow;
	if (!trace || !flow_open(&flow, trace, &err))
		return fprintf(stderr, "replay: %s\n", err.text), 2;
	uint64_t nodes = 0, bytes = 0;
	for (int i = 0; i < rounds; i++) {
		struct hwy_graph graph;
		int64_t begin = cpu_now();
		if (!graph_build(&graph, &flow, &err))
			return fprintf(stderr, "replay: %s\n", err.text), 2;
		building[i] = cpu_now() - begin;
		int64_t *ends = hwy_zalloc((graph.n + 1) * sizeof *ends);
		replay_run(&graph, ends); /* the pages are there now */
		begin = cpu_now();
		replay_run(&graph, ends);
		replaying[i] = cpu_now() - begin;
		nodes = graph.n;
		bytes = graph.n * (sizeof *graph.nodes + sizeof *ends) +
			graph.n_extras * sizeof *graph.extras;
		free(ends);
		graph_free(&graph);
	}
	qsort(building, (size_t)rounds, sizeof *building, ascending);
	qsort(replaying, (size_t)rounds, sizeof *replaying, ascending);
	printf("%" PRIu64 " %" PRId64 " %" PRId64 " %" PRIu64 "\n", nodes, building[rounds / 2],
	       replaying[rounds / 2], bytes);
	return 0;
}
