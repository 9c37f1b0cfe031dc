/* SPDX-License-Identifier: Apache-2.0 */
/* joint_test.c - several ranks: their collectives matched, their clocks set, their graphs replayed as one. */
#include "mpi_job.h"

#include "analyze/collectives.h"
#include "whatif/joint.h"

enum { MOST = 4, STEPS = 12, TRANSFER_NS = 50000 };
#define ALL_REDUCE "ncclDevKernel_AllReduce_Sum_f32_RING_LL"

static uint32_t dice(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

/* Ranks of one run on clocks of their own: what a clock shows is the real time plus its skew. */
struct run {
	struct program ranks[MOST];
	int64_t skew[MOST];
	uint32_t n;
	struct hwy_trace *traces[MOST];
	struct hwy_analysis analyses[MOST];
};

static struct run run_new(uint32_t n, const int64_t *skew)
{
	struct run run = {.n = n};
	for (uint32_t r = 0; r < n; r++) {
		run.ranks[r] = program_new();
		run.skew[r] = skew ? skew[r] : 0;
		run.ranks[r].cpu += run.skew[r];
	}
	return run;
}

static int64_t arrival(const struct program *p, int stream)
{
	int64_t launched = p->cpu + US(LAUNCH_US + LATENCY_US);
	int64_t is_free = p->stream_free[stream] + 1000;
	return launched > is_free ? launched : is_free;
}

/* Ranks first … first + n - 1 meet: all end when the last has come and the data has travelled. */
static void all_reduce(struct run *run, uint32_t first, uint32_t n, int stream, const char *args,
		       int64_t transfer)
{
	int64_t last = INT64_MIN;
	for (uint32_t r = first; r < first + n; r++) {
		int64_t real = arrival(&run->ranks[r], stream) - run->skew[r];
		last = real > last ? real : last;
	}
	for (uint32_t r = first; r < first + n; r++) {
		struct program *p = &run->ranks[r];
		struct hwy_row row = {0};
		row.v[HWY_NAME] = hwy_text_id(p->builder, ALL_REDUCE);
		row.v[HWY_ARGS] = hwy_text_id(p->builder, args);
		program_work(p, stream, "cudaLaunchKernel", LAUNCH_US, HWY_KERNEL, row,
			     last + transfer + run->skew[r] - arrival(p, stream));
	}
}

static void analyse(struct run *run)
{
	struct hwy_err err;
	for (uint32_t r = 0; r < run->n; r++) {
		struct analysis_options options = {0};
		program_end_step(&run->ranks[r]);
		run->traces[r] = hwy_builder_finish(run->ranks[r].builder, false);
		assert_true(analysis_make(&run->analyses[r], run->traces[r], &options, &err));
		assert_true(run->analyses[r].phases.n > 0);
	}
}

static void join(struct run *run, struct joint *joint)
{
	struct joint_rank ranks[MOST];
	struct hwy_err err;
	analyse(run);
	for (uint32_t r = 0; r < run->n; r++)
		ranks[r] = (struct joint_rank){.rank = r,
					       .analysis = &run->analyses[r],
					       .phase = run->analyses[r].phases.main,
					       .process = FLOW_NO_PROCESS};
	if (!joint_open(joint, ranks, run->n, true, &err))
		fail_msg("%s", err.text);
}

static void run_free(struct run *run)
{
	for (uint32_t r = 0; r < run->n; r++) {
		analysis_free(&run->analyses[r]);
		hwy_trace_free(run->traces[r]);
	}
}

static int64_t predicted(const struct joint *joint, const char *text)
{
	struct whatif_edit edit;
	struct whatif_prediction p;
	struct hwy_err err;
	assert_true(edit_read(text, &edit));
	return whatif_predict(&joint->ranks[0], &edit, 1, &p, &err) ? p.step : -1;
}

/* ---- exactness ------------------------------------------------------------------------------------ */

/* Random work on three streams, waits, and collectives on two of them. Yields how many. */
static uint32_t random_steps(struct run *run, uint64_t seed)
{
	uint32_t meetings = 0;
	for (int step = 0; step < STEPS; step++) {
		for (uint32_t r = 0; r < run->n; r++)
			program_step(&run->ranks[r], step);
		for (int part = 0; part < 3; part++) {
			for (uint32_t r = 0; r < run->n; r++) {
				struct program *p = &run->ranks[r];
				program_compute(p, dice(&seed) % 40);
				for (uint32_t k = dice(&seed) % 4; k > 0; k--)
					program_launch(p, (int)(dice(&seed) % 3), "k",
						       dice(&seed) % 200);
				if (dice(&seed) % 4 == 0)
					program_sync(p, (int)(dice(&seed) % 3));
			}
			all_reduce(run, 0, run->n, (int)(dice(&seed) % 2), "",
				   1000 + dice(&seed) % 60000);
			meetings++;
		}
	}
	return meetings;
}

static void ranks_replayed_as_one_give_back_every_time(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		uint64_t rolls = seed;
		int64_t skew[MOST] = {0};
		for (int r = 1; seed % 2 && r < MOST; r++) /* 5 s: no clock keeps that */
			skew[r] = (int64_t)dice(&rolls) * 3 % 5000000000 - 2500000000;
		struct run run = run_new(2 + (uint32_t)(seed % 3), skew);
		uint32_t meetings = random_steps(&run, seed);
		struct joint joint;
		join(&run, &joint);
		assert_int_equal(joint.links.n_meetings, meetings);
		assert_int_equal(joint.collectives.n_contradicted, 0);
		for (uint32_t r = 0; r < run.n; r++)
			assert_int_equal(joint.collectives.shift[r], skew[0] - skew[r]);
		assert_int_equal(joint.ranks[0].quality.differ, 0);
		/* Whoever is taken to be in time, and whatever only removes, never makes it slower. */
		for (const char *const *edit =
			     (const char *const[]){"straggler:0", "straggler:1", "remove-wait",
						   "faster:gpu:0", NULL};
		     *edit; edit++)
			assert_true(predicted(&joint, *edit) <= joint.ranks[0].base.step);
		assert_int_equal(predicted(&joint, "faster:gpu:0"), joint.ranks[0].base.step);
		joint_close(&joint);
		run_free(&run);
	}
}

/* ---- what follows --------------------------------------------------------------------------------- */

/* One kernel a step, then the collective; rank 'late' has more to do. */
static struct run even_run(uint32_t n, uint32_t late, int64_t more_us)
{
	struct run run = run_new(n, NULL);
	for (int step = 0; step < STEPS; step++) {
		for (uint32_t r = 0; r < n; r++) {
			program_step(&run.ranks[r], step);
			program_launch(&run.ranks[r], 0, "k", 1000 + (r == late ? more_us : 0));
		}
		all_reduce(&run, 0, n, 0, "", TRANSFER_NS);
		for (uint32_t r = 0; r < n; r++)
			program_sync(&run.ranks[r], 0);
	}
	return run;
}

static int64_t step_without_straggler(uint32_t n)
{
	struct run run = even_run(n, n, 0);
	analyse(&run);
	int64_t step = run.analyses[0].phases.phases[run.analyses[0].phases.main].mean;
	run_free(&run);
	return step;
}

static void without_its_straggler_a_run_takes_its_peers_time(void **state)
{
	(void)state;
	for (uint32_t n = 2; n <= MOST; n++) {
		struct run run = even_run(n, 1, 300);
		struct joint joint;
		join(&run, &joint);
		int64_t peers = step_without_straggler(n);
		assert_in_range(joint.ranks[0].recorded, peers + US(290), peers + US(310));
		assert_in_range(predicted(&joint, "straggler"), peers - US(10), peers + US(10));
		assert_in_range(predicted(&joint, "straggler:1"), peers - US(10), peers + US(10));
		/* To wait for another one less gains nothing. */
		assert_int_equal(predicted(&joint, "straggler:0"), joint.ranks[0].base.step);
		assert_int_equal(predicted(&joint, "straggler:9"), -1);
		joint_close(&joint);
		run_free(&run);
	}
}

static void ranks_that_come_together_have_none(void **state)
{
	(void)state;
	struct run run = even_run(3, 3, 0);
	struct joint joint;
	join(&run, &joint);
	assert_int_equal(predicted(&joint, "straggler"), -1);
	joint_close(&joint);
	run_free(&run);
}

/* A collective's length is waiting and transfer: work that shrinks on all ranks takes the waiting along. */
static void an_edit_is_made_on_every_rank(void **state)
{
	(void)state;
	struct run run = even_run(2, 1, 1000);
	struct joint joint;
	join(&run, &joint);
	/* k takes 1 ms on one rank, 2 ms on the other; half of them is 1 ms on the later one. */
	int64_t step = predicted(&joint, "faster:k:50");
	assert_in_range(joint.ranks[0].base.step - step, US(980), US(1010));
	joint_close(&joint);
	run_free(&run);
}

/* ---- matching ------------------------------------------------------------------------------------- */

static void match(struct run *run, struct hwy_collectives *c)
{
	struct collectives_rank ranks[MOST];
	struct hwy_err err;
	analyse(run);
	for (uint32_t r = 0; r < run->n; r++)
		ranks[r] = (struct collectives_rank){.flow = &run->analyses[r].flow,
						     .process = FLOW_NO_PROCESS};
	assert_true(collectives_match(c, ranks, run->n, &err));
}

static void groups_meet_among_themselves(void **state)
{
	(void)state;
	struct run run = run_new(4, NULL);
	for (int step = 0; step < STEPS; step++) {
		for (uint32_t r = 0; r < 4; r++) {
			program_step(&run.ranks[r], step);
			program_launch(&run.ranks[r], 0, "k", 500);
		}
		/* Both at the same time, under the same name. */
		all_reduce(&run, 0, 2, 0, "{\"Process Group Ranks\":[0, 1],\"x\":1}", TRANSFER_NS);
		all_reduce(&run, 2, 2, 0, "{\"Process Group Ranks\":[2, 3],\"x\":2}", TRANSFER_NS);
		all_reduce(&run, 0, 4, 0, "{\"Process Group Ranks\":[0, 1, 2, 3]}", TRANSFER_NS);
	}
	struct hwy_collectives c;
	match(&run, &c);
	assert_int_equal(c.n, 3 * STEPS);
	uint32_t of[MOST + 1] = {0};
	for (uint32_t i = 0; i < c.n; i++)
		of[c.meetings[i].n]++;
	assert_int_equal(of[2], 2 * STEPS);
	assert_int_equal(of[4], STEPS);
	collectives_free(&c);
	run_free(&run);
}

/* Neither the clocks nor the numbers are alike: rank 1 was recorded from the fourth step on. */
static void recordings_that_began_at_different_steps_are_set_right(void **state)
{
	(void)state;
	uint64_t seed = 7;
	struct run run = run_new(2, (const int64_t[]){0, 3700000000});
	for (int step = 0; step < 2 * STEPS; step++) {
		for (uint32_t r = 0; r < 2; r++) {
			program_step(&run.ranks[r], step);
			program_launch(&run.ranks[r], 0, "k", 1000 + dice(&seed) % 4000);
		}
		if (step == 3) { /* what came before was not recorded */
			struct program fresh = program_new();
			fresh.cpu = run.ranks[1].cpu;
			fresh.stream_free[0] = run.ranks[1].stream_free[0];
			hwy_builder_free(run.ranks[1].builder);
			run.ranks[1] = fresh;
			program_step(&run.ranks[1], step);
			program_launch(&run.ranks[1], 0, "k", 1000);
		}
		all_reduce(&run, 0, 2, 0, "", TRANSFER_NS);
	}
	struct hwy_collectives c;
	match(&run, &c);
	assert_int_equal(c.n, 2 * STEPS - 3);
	assert_int_equal(c.shift[1], -3700000000);
	collectives_free(&c);
	run_free(&run);
}

static void ranks_without_collectives_are_refused(void **state)
{
	(void)state;
	struct run run = run_new(2, NULL);
	for (uint32_t r = 0; r < 2; r++)
		for (int step = 0; step < STEPS; step++) {
			program_step(&run.ranks[r], step);
			program_launch(&run.ranks[r], 0, "k", 100);
		}
	analyse(&run);
	struct joint_rank ranks[] = {{0, &run.analyses[0], 0, FLOW_NO_PROCESS, NULL},
				     {1, &run.analyses[1], 0, FLOW_NO_PROCESS, NULL}};
	struct joint joint;
	struct hwy_err err;
	assert_false(joint_open(&joint, ranks, 2, true, &err));
	assert_non_null(strstr(err.text, "no collective in common"));
	run_free(&run);
}

/* ---- calls that communicate ------------------------------------------------------------------------ */

/* Ranks with two kernels a step, which wait for them and then exchange on their CPUs; 'late' is the rank whose CPU takes
 * longer, 'collectives' how many exchanges follow each other. */
static void cpu_steps(struct mpi_job *job, uint32_t late, int collectives, int64_t transfer)
{
	for (int step = 0; step < STEPS; step++) {
		for (uint32_t r = 0; r < job->n; r++) {
			struct program *p = &job->ranks[r];
			program_step(p, step);
			program_launch(p, 0, "k", 300);
			program_launch(p, 0, "k", 300);
			program_sync(p, 0);
			mpi_compute(job, r, r == late ? US(400) : US(40));
		}
		for (int i = 0; i < collectives; i++)
			mpi_collective(job, "AllReduce", -1, transfer);
	}
}

struct cpu_run {
	struct mpi_job job;
	struct hwy_analysis analyses[MPI_MOST];
	struct joint joint;
};

static void join_cpus(struct cpu_run *run)
{
	struct joint_rank ranks[MPI_MOST];
	struct analysis_options options = {0};
	struct hwy_err err;
	for (uint32_t r = 0; r < run->job.n; r++)
		program_end_step(&run->job.ranks[r]);
	mpi_job_finish(&run->job);
	for (uint32_t r = 0; r < run->job.n; r++) {
		assert_true(analysis_make(&run->analyses[r], run->job.traces[r], &options, &err));
		ranks[r] = (struct joint_rank){.rank = r,
					       .analysis = &run->analyses[r],
					       .phase = run->analyses[r].phases.main,
					       .process = FLOW_NO_PROCESS};
	}
	if (!joint_open(&run->joint, ranks, run->job.n, true, &err))
		fail_msg("%s", err.text);
	assert_int_equal(run->joint.ranks[0].quality.differ, 0);
}

static void cpu_run_free(struct cpu_run *run)
{
	joint_close(&run->joint);
	for (uint32_t r = 0; r < run->job.n; r++)
		analysis_free(&run->analyses[r]);
	mpi_job_free(&run->job);
}

static void nobody_waits_for_a_straggler_on_the_cpu(void **state)
{
	(void)state;
	struct cpu_run run = {.job = mpi_job_new(3, NULL)};
	cpu_steps(&run.job, 1, 1, US(50));
	join_cpus(&run);
	int64_t base = run.joint.ranks[0].base.step;
	/* The other ranks would come 360 us earlier. */
	assert_int_equal(collectives_straggler(&run.joint.collectives, 3), 1);
	int64_t gain = base - predicted(&run.joint, "straggler");
	assert_true(gain > US(340) && gain <= US(365));
	assert_int_equal(predicted(&run.joint, "straggler:0"), base);
	cpu_run_free(&run);
}

static void a_faster_link_shortens_transfers_but_not_their_latency(void **state)
{
	(void)state;
	struct cpu_run run = {.job = mpi_job_new(3, NULL)};
	cpu_steps(&run.job, 3, 2, US(200));
	mpi_collective(&run.job, "Barrier", -1, US(20)); /* the latency */
	join_cpus(&run);
	int64_t base = run.joint.ranks[0].base.step;
	int64_t gain = base - predicted(&run.joint, "faster-link:2");
	assert_true(gain > US(170) && gain <= US(185)); /* 2 * (200 - 20) / 2 */
	assert_true(predicted(&run.joint, "faster-link:4") <
		    predicted(&run.joint, "faster-link:2"));
	assert_true(predicted(&run.joint, "faster-link:1") == base);
	cpu_run_free(&run);
}

static void collectives_in_a_bucket_pay_the_latency_once(void **state)
{
	(void)state;
	struct cpu_run run = {.job = mpi_job_new(3, NULL)};
	cpu_steps(&run.job, 3, 8, US(60));
	mpi_collective(&run.job, "Barrier", -1, US(40)); /* the latency */
	join_cpus(&run);
	int64_t base = run.joint.ranks[0].base.step;
	/* Eight become two, and six latencies go. */
	int64_t gain = base - predicted(&run.joint, "bucket:4");
	assert_true(gain > US(230) && gain <= US(245));
	gain = base - predicted(&run.joint, "bucket:100");
	assert_true(gain > US(270) && gain <= US(285));
	cpu_run_free(&run);
}

static void communication_beside_the_next_kernels_costs_nothing_while_they_are_longer(void **state)
{
	(void)state;
	struct cpu_run run = {.job = mpi_job_new(2, NULL)};
	for (int step = 0; step < STEPS; step++) {
		for (uint32_t r = 0; r < 2; r++) {
			program_step(&run.job.ranks[r], step);
			program_launch(&run.job.ranks[r], 0, "k", 300);
			program_sync(&run.job.ranks[r], 0);
		}
		mpi_collective(&run.job, "AllReduce", -1, US(100));
		for (uint32_t r = 0; r < 2; r++) {
			program_launch(&run.job.ranks[r], 0, "k", 300);
			program_sync(&run.job.ranks[r], 0);
		}
	}
	join_cpus(&run);
	int64_t gain = run.joint.ranks[0].base.step - predicted(&run.joint, "overlap-comm");
	assert_true(gain > US(85) && gain <= US(105));
	cpu_run_free(&run);
}

static void edits_that_only_remove_never_make_ranks_slower(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		uint64_t rolls = seed;
		struct cpu_run run = {.job = mpi_job_new(2 + (uint32_t)(seed % 3), NULL)};
		for (int step = 0; step < STEPS; step++)
			for (int part = 0; part < 3; part++) {
				for (uint32_t r = 0; r < run.job.n; r++) {
					struct program *p = &run.job.ranks[r];
					if (part == 0)
						program_step(p, step);
					program_launch(p, (int)(dice(&rolls) % 2), "k",
						       20 + dice(&rolls) % 200);
					if (dice(&rolls) % 2)
						program_sync(p, (int)(dice(&rolls) % 2));
					mpi_compute(&run.job, r, dice(&rolls) % 90000);
				}
				if (dice(&rolls) % 2)
					mpi_collective(&run.job, "AllReduce", -1,
						       1000 + dice(&rolls) % 90000);
				else
					mpi_message(&run.job, 0, 1, 8,
						    dice(&rolls) % 2 ? MPI_EAGER : MPI_RENDEZVOUS,
						    1000 + dice(&rolls) % 90000);
			}
		mpi_collective(&run.job, "Barrier", -1, US(5));
		join_cpus(&run);
		int64_t base = run.joint.ranks[0].base.step;
		for (const char *const *edit =
			     (const char *const[]){"straggler:0", "straggler:1", "faster-link:3",
						   "overlap-comm", "remove-wait", NULL};
		     *edit; edit++)
			assert_true(predicted(&run.joint, *edit) <= base);
		cpu_run_free(&run);
	}
}

static void a_job_without_device_work_is_predicted_as_a_whole(void **state)
{
	(void)state;
	struct cpu_run run = {.job = mpi_job_new(3, (const int64_t[]){0, MS(70), -MS(5)})};
	struct joint_rank ranks[3];
	struct analysis_options options = {0};
	struct whatif_edit edit;
	struct hwy_err err;
	int64_t length;
	mpi_collective(&run.job, "Barrier", -1, US(1));
	for (int i = 0; i < 20; i++) {
		for (uint32_t r = 0; r < 3; r++)
			mpi_compute(&run.job, r, r == 2 ? MS(3) : MS(1));
		mpi_collective(&run.job, "AllReduce", -1, US(101));
	}
	mpi_job_finish(&run.job);
	for (uint32_t r = 0; r < 3; r++) {
		assert_true(analysis_make(&run.analyses[r], run.job.traces[r], &options, &err));
		ranks[r] = (struct joint_rank){
			.rank = r, .analysis = &run.analyses[r], .process = FLOW_NO_PROCESS};
	}
	assert_true(joint_open_run(&run.joint, ranks, 3, &err));
	assert_int_equal(run.joint.differ, 0);
	const struct whatif *w = &run.joint.ranks[0];
	assert_true(whatif_run_length(w, NULL, 0, &length, &err));
	assert_int_equal(length, US(1) + 20 * (MS(3) + US(101)));
	assert_true(edit_read("straggler", &edit));
	assert_true(whatif_run_length(w, &edit, 1, &length, &err));
	assert_int_equal(length, US(1) + 20 * (MS(1) + US(101)));
	assert_true(edit_read("faster-link:2", &edit));
	assert_true(whatif_run_length(w, &edit, 1, &length, &err));
	assert_int_equal(length, US(1) + 20 * (MS(3) + US(51)));
	assert_true(edit_read("bucket:20", &edit)); /* 21 collectives: one carries 20 */
	assert_true(whatif_run_length(w, &edit, 1, &length, &err));
	assert_true(edit_read("pin", &edit));
	assert_false(whatif_run_length(w, &edit, 1, &length, &err));
	cpu_run_free(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_replayed_as_one_give_back_every_time),
		cmocka_unit_test(without_its_straggler_a_run_takes_its_peers_time),
		cmocka_unit_test(ranks_that_come_together_have_none),
		cmocka_unit_test(an_edit_is_made_on_every_rank),
		cmocka_unit_test(groups_meet_among_themselves),
		cmocka_unit_test(recordings_that_began_at_different_steps_are_set_right),
		cmocka_unit_test(ranks_without_collectives_are_refused),
		cmocka_unit_test(nobody_waits_for_a_straggler_on_the_cpu),
		cmocka_unit_test(a_faster_link_shortens_transfers_but_not_their_latency),
		cmocka_unit_test(collectives_in_a_bucket_pay_the_latency_once),
		cmocka_unit_test(
			communication_beside_the_next_kernels_costs_nothing_while_they_are_longer),
		cmocka_unit_test(edits_that_only_remove_never_make_ranks_slower),
		cmocka_unit_test(a_job_without_device_work_is_predicted_as_a_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
