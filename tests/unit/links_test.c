/* SPDX-License-Identifier: Apache-2.0 */
/* links_test.c - ranks that exchange messages on their CPUs, joined to one graph: replayed, edited, and their path. */
#include "mpi_job.h"

#include "whatif/run_path.h"

struct opened {
	struct hwy_flow flows[MPI_MOST];
	struct run_graphs run;
};

static void open_job(struct opened *opened, struct mpi_job *job)
{
	struct hwy_err err;
	mpi_job_finish(job);
	for (uint32_t r = 0; r < job->n; r++) {
		assert_true(flow_open(&opened->flows[r], job->traces[r], &err));
		job->members[r].flow = &opened->flows[r];
	}
	if (!run_graphs_open(&opened->run, job->members, job->n, &err))
		fail_msg("%s", err.text);
}

static void close_job(struct opened *opened, struct mpi_job *job)
{
	run_graphs_close(&opened->run);
	for (uint32_t r = 0; r < job->n; r++)
		flow_close(&opened->flows[r]);
	mpi_job_free(job);
}

static void exchange_something(struct mpi_job *job, uint64_t *rolls)
{
	static const char *const names[] = {"Barrier", "AllReduce", "Broadcast", "Reduce", "Scan"};
	uint32_t which = mpi_dice(rolls) % 5, from = mpi_dice(rolls) % job->n;
	uint32_t to = (from + 1 + mpi_dice(rolls) % (job->n - 1)) % job->n;
	int64_t transfer = 1 + mpi_dice(rolls) % 9000;
	switch (mpi_dice(rolls) % 4) {
	case 0:
		mpi_message(job, from, to, 64, which % 2 ? MPI_EAGER : MPI_RENDEZVOUS, transfer);
		break;
	case 1:
		mpi_nonblocking(job, from, to, 64, mpi_dice(rolls) % 40000, mpi_dice(rolls) % 40000,
				which % 2, transfer);
		break;
	default:
		mpi_collective(job, names[which], which == 2 || which == 3 ? (int64_t)from : -1,
			       transfer);
	}
}

/* Random work on CPU and device, and random exchanges. Every second seed has clocks that are apart. */
static struct mpi_job random_job(uint64_t seed, int exchanges)
{
	uint64_t rolls = seed;
	int64_t skew[MPI_MOST] = {0};
	uint32_t n = 2 + (uint32_t)(seed % 6);
	for (uint32_t r = 1; seed % 2 && r < n; r++)
		skew[r] = (int64_t)mpi_dice(&rolls) - 1000000000;
	struct mpi_job job = mpi_job_new(n, skew);
	mpi_collective(&job, "Barrier", -1, 100);
	for (int i = 0; i < exchanges; i++) {
		for (uint32_t r = 0; r < n; r++) {
			mpi_compute(&job, r, mpi_dice(&rolls) % 50000);
			if (seed % 3 == 0 && mpi_dice(&rolls) % 2)
				program_launch(&job.ranks[r], (int)(mpi_dice(&rolls) % 3), "k",
					       mpi_dice(&rolls) % 60);
			if (seed % 3 == 0 && mpi_dice(&rolls) % 3 == 0)
				program_sync(&job.ranks[r], (int)(mpi_dice(&rolls) % 3));
		}
		exchange_something(&job, &rolls);
	}
	return job;
}

static void ranks_come_out_as_recorded(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 150; seed++) {
		struct mpi_job job = random_job(seed, 60);
		struct opened opened;
		open_job(&opened, &job);
		assert_int_equal(opened.run.differ, 0);
		assert_true(opened.run.links.n_meetings > 0);
		assert_true(opened.run.links.n_messages > 0);
		close_job(&opened, &job);
	}
}

/* The last end of each rank, replayed after an edit. */
static void replay_ends(const struct run_graphs *run, struct hwy_graph *graphs, int64_t *last)
{
	struct links_times times = links_replay(&run->links, graphs);
	for (uint32_t r = 0; r < run->n; r++) {
		last[r] = INT64_MIN;
		for (uint32_t i = 0; i < graphs[r].n; i++)
			last[r] = times.ends[r][i] > last[r] ? times.ends[r][i] : last[r];
	}
	links_times_free(&times, run->n);
}

static void nothing_that_removes_work_or_waiting_makes_a_rank_later(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct mpi_job job = random_job(seed, 40);
		struct opened opened;
		open_job(&opened, &job);
		const struct run_graphs *run = &opened.run;
		for (int edit = 0; edit < 3; edit++) {
			struct hwy_graph graphs[MPI_MOST];
			int64_t before[MPI_MOST], after[MPI_MOST];
			uint64_t rolls = seed;
			for (uint32_t r = 0; r < run->n; r++)
				graphs[r] = graph_copy(&run->graphs[r]);
			replay_ends(run, graphs, before);
			for (uint32_t r = 0; r < run->n; r++) {
				graph_free(&graphs[r]);
				graphs[r] = graph_copy(&run->graphs[r]);
				for (uint32_t i = 0; edit > 0 && i < graphs[r].n; i++) {
					struct graph_node *node = &graphs[r].nodes[i];
					if (node->before[0] != GRAPH_NONE && mpi_dice(&rolls) % 2)
						node->delay /= 2;
					if (edit == 2 && node->kind == GRAPH_LEAVE &&
					    mpi_dice(&rolls) % 2)
						node->flags |= GRAPH_ALONE;
				}
			}
			graphs[seed % run->n].is_unwaited = edit == 0;
			replay_ends(run, graphs, after);
			for (uint32_t r = 0; r < run->n; r++) {
				assert_true(after[r] <= before[r]);
				graph_free(&graphs[r]);
			}
		}
		close_job(&opened, &job);
	}
}

static void a_rank_that_nobody_waits_for_costs_the_others_nothing(void **state)
{
	(void)state;
	struct mpi_job job = mpi_job_new(3, NULL);
	for (int i = 0; i < 10; i++) {
		for (uint32_t r = 0; r < 3; r++)
			mpi_compute(&job, r, r == 1 ? MS(3) : MS(1));
		mpi_collective(&job, "AllReduce", -1, US(10));
	}
	struct opened opened;
	open_job(&opened, &job);
	struct hwy_graph graphs[3];
	int64_t last[3];
	for (uint32_t r = 0; r < 3; r++)
		graphs[r] = graph_copy(&opened.run.graphs[r]);
	graphs[1].is_unwaited = true;
	replay_ends(&opened.run, graphs, last);
	/* Ten steps of 1 ms and a transfer; rank 1 keeps its own pace of 3 ms. */
	assert_int_equal(last[0] - US(1000), 10 * (MS(1) + US(10)));
	assert_int_equal(last[2], last[0]);
	assert_int_equal(last[1] - US(1000), 10 * (MS(3) + US(10)));
	for (uint32_t r = 0; r < 3; r++)
		graph_free(&graphs[r]);
	close_job(&opened, &job);
}

static void the_path_has_no_gap_and_goes_through_whoever_is_late(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct mpi_job job = random_job(seed, 40);
		struct opened opened;
		struct hwy_run_path path;
		open_job(&opened, &job);
		assert_true(run_path_find(&path, &opened.run, NULL));
		int64_t sum = 0, ranks = 0;
		for (int class = 0; class < PATH_CLASSES; class ++)
			sum += path.classes[class];
		for (uint32_t r = 0; r < path.n_ranks; r++)
			ranks += path.by_rank[r];
		assert_int_equal(sum, path.window.to - path.window.from);
		assert_int_equal(ranks, sum);
		assert_int_equal(path.pieces[0].at.from, path.window.from);
		for (uint32_t i = 1; i < path.n; i++)
			assert_int_equal(path.pieces[i].at.from, path.pieces[i - 1].at.to);
		run_path_free(&path);
		close_job(&opened, &job);
	}
}

/* The longest way through a job of collectives only: from one to the next along the rank that comes last. */
static void the_path_of_a_job_is_the_sum_of_the_latest_ranks(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		uint64_t rolls = seed;
		struct mpi_job job = mpi_job_new(4, NULL);
		int64_t comm = 0, cpu = 0, on_rank[4] = {0};
		mpi_collective(&job, "Barrier", -1, 1000);
		for (int i = 0; i < 20; i++) {
			int64_t work[4], transfer = 1 + mpi_dice(&rolls) % 5000;
			uint32_t late = 0;
			for (uint32_t r = 0; r < 4; r++) {
				/* no two ranks come together */
				work[r] = mpi_dice(&rolls) % 90000 * 4 + r;
				late = work[r] > work[late] ? r : late;
				mpi_compute(&job, r, work[r]);
			}
			mpi_collective(&job, "AllReduce", -1, transfer);
			comm += transfer;
			cpu += work[late];
			on_rank[late] += work[late];
		}
		struct opened opened;
		struct hwy_run_path path;
		open_job(&opened, &job);
		assert_true(run_path_find(&path, &opened.run, NULL));
		assert_int_equal(path.classes[PATH_CPU], cpu);
		assert_int_equal(path.classes[PATH_COMM], comm + 1000);
		int64_t on_cpu[4] = {0};
		for (uint32_t i = 0; i < path.n; i++)
			if (path.pieces[i].class == PATH_CPU)
				on_cpu[path.pieces[i].rank] +=
					path.pieces[i].at.to - path.pieces[i].at.from;
		for (uint32_t r = 0; r < 4; r++)
			assert_int_equal(on_cpu[r], on_rank[r]);
		run_path_free(&path);
		close_job(&opened, &job);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_come_out_as_recorded),
		cmocka_unit_test(nothing_that_removes_work_or_waiting_makes_a_rank_later),
		cmocka_unit_test(a_rank_that_nobody_waits_for_costs_the_others_nothing),
		cmocka_unit_test(the_path_has_no_gap_and_goes_through_whoever_is_late),
		cmocka_unit_test(the_path_of_a_job_is_the_sum_of_the_latest_ranks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
