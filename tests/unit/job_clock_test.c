/* SPDX-License-Identifier: Apache-2.0 */
/* job_clock_test.c - clocks that were put apart are brought together, within the error that is claimed; nothing is
 * received before it was sent. Clocks, jitter and programs are random, by seed. */
#include <math.h>

#include "job/clock_line.h"
#include "job/clock_repair.h"
#include "job/job_meetings.h"
#include "make_trace.h"

#define SECOND INT64_C(1000000000)

/* ---- a clock that is wrong in a known way ---- */

struct wrong_clock {
	int64_t offset;
	double drift; /* how much faster it runs than the true time */
};

static struct wrong_clock roll_clock(struct dice *dice)
{
	return (struct wrong_clock){roll_below(dice, INT64_C(1) << 50) - (INT64_C(1) << 49),
				    (double)(roll_below(dice, 160) - 80) * 1e-6};
}

static int64_t reads(struct wrong_clock clock, int64_t truth)
{
	return truth + clock.offset + (int64_t)((double)truth * clock.drift);
}

/* Whether the line gives back the true time of every moment, but for what it claims. */
static void assert_within_claim(const struct job_clock *line, struct wrong_clock clock,
				int64_t from, int64_t to)
{
	assert_true(line->error >= 0);
	for (int64_t i = 0; i <= 50; i++) {
		int64_t truth = from + (to - from) / 50 * i;
		int64_t wrong = llabs(job_clock_map(line, reads(clock, truth)) - truth);
		if (wrong > line->error + 2)
			fail_msg("wrong by %lld ns, claimed are %lld", (long long)wrong,
				 (long long)line->error);
	}
}

/* ---- the map ---- */

static void a_later_time_never_becomes_an_earlier_one(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct dice dice = {seed};
		struct job_repair repairs[8];
		int64_t time = roll_below(&dice, 2000), later = 0;
		for (int i = 0; i < 8; i++) {
			/* 'later' may fall only by less than the time that passes. */
			int64_t passed = 1 + roll_below(&dice, 500);
			int64_t fall = passed - 1 < later ? passed - 1 : later;
			later += roll(&dice) % 2 ? roll_below(&dice, 300) : -fall;
			time += passed;
			repairs[i] = (struct job_repair){time, later};
		}
		struct job_clock clock = {.at = roll_below(&dice, 1000),
					  .shift = roll_below(&dice, 1000) - 500,
					  .drift = roll_below(&dice, 2000000000) - 1000000000,
					  .repairs = repairs,
					  .n_repairs = seed % 2 ? 8 : 0};
		int64_t before = INT64_MIN;
		for (int64_t t = -3000; t < 8000; t++) {
			int64_t now = job_clock_map(&clock, t);
			assert_true(now >= before);
			before = now;
		}
	}
}

static void a_clock_without_drift_is_moved_exactly(void **state)
{
	(void)state;
	struct job_clock clock = {.at = 5, .shift = -INT64_C(1234567890123)};
	assert_int_equal(job_clock_map(&clock, INT64_C(1234567890124)), 1);
	clock.drift = 1000000; /* 1 ppm */
	assert_int_equal(job_clock_map(&clock, 5), 5 + clock.shift);
	assert_int_equal(job_clock_map(&clock, 5 + 1000000), 5 + 1000001 + clock.shift);
	assert_int_equal(job_clock_map(&clock, 5 - 1000000), 5 - 1000001 + clock.shift);
}

/* ---- lines ---- */

static void pings_at_both_ends_give_offset_and_drift_within_their_claim(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 3000; seed++) {
		struct dice dice = {seed};
		struct wrong_clock clock = roll_clock(&dice);
		int64_t length = SECOND / 100 + roll_below(&dice, 600 * SECOND);
		struct clock_bound bounds[40];
		uint32_t n = 0;
		for (int end = 0; end < 2 && (end == 0 || seed % 4); end++)
			for (int i = 0; i < 20; i++) {
				int64_t truth = (end ? length : 0) + i * 20000;
				int64_t error = 200 + roll_below(&dice, 30000);
				int64_t wrong = roll_below(&dice, 2 * error + 1) - error;
				int64_t offset = truth + wrong - reads(clock, truth);
				bounds[n++] = (struct clock_bound){reads(clock, truth),
								   offset - error, offset + error};
			}
		int64_t from = -roll_below(&dice, SECOND), to = length + roll_below(&dice, SECOND);
		struct job_clock line;
		assert_true(clock_line_of_bounds(
			&line, bounds, n,
			(struct hwy_interval){reads(clock, from), reads(clock, to)}));
		assert_within_claim(&line, clock, from, to);
	}
}

static void two_ends_are_surer_than_one(void **state)
{
	(void)state;
	struct clock_bound bounds[] = {{0, -400, 600},
				       {100 * SECOND, -400 + 2000000, 600 + 2000000}};
	struct hwy_interval extent = {0, 100 * SECOND};
	struct job_clock one, both;
	assert_true(clock_line_of_bounds(&one, bounds, 1, extent));
	assert_true(clock_line_of_bounds(&both, bounds, 2, extent));
	assert_in_range(one.error, 500 + 10000000, 510 + 10000000); /* 100 ppm of 100 s */
	assert_in_range(both.error, 500, 510);
	assert_in_range(both.drift, 19990000, 20010000); /* 2 ms in 100 s: 20 ppm */
	assert_false(clock_line_of_bounds(&one, bounds, 0, extent));
}

static void bounds_that_no_clock_keeps_within_are_refused(void **state)
{
	(void)state;
	struct clock_bound bounds[] = {{0, 0, 10}, {1000, 1000000, 1000010}, {2000, 0, 10}};
	struct clock_bound open[] = {{0, 0, CLOCK_OPEN_HIGH}, {1000, 5, CLOCK_OPEN_HIGH}};
	struct job_clock line;
	assert_false(clock_line_of_bounds(&line, bounds, 3, (struct hwy_interval){0, 2000}));
	assert_false(clock_line_of_bounds(&line, open, 2, (struct hwy_interval){0, 2000}));
}

/* More bounds than are looked at one by one. */
static void many_bounds_are_thinned_out_and_the_claim_still_holds(void **state)
{
	(void)state;
	enum { MANY = 50000 };
	struct dice dice = {7};
	struct wrong_clock clock = roll_clock(&dice);
	struct clock_bound *bounds = hwy_array(MANY, sizeof *bounds);
	for (uint32_t i = 0; i < MANY; i++) {
		int64_t truth = roll_below(&dice, 60 * SECOND);
		int64_t offset = truth - reads(clock, truth), slack = roll_below(&dice, MS(1));
		bounds[i] = (struct clock_bound){reads(clock, truth),
						 i % 2 ? offset - slack : CLOCK_OPEN_LOW,
						 i % 2 ? CLOCK_OPEN_HIGH : offset + slack};
	}
	struct job_clock line;
	assert_true(clock_line_of_bounds(
		&line, bounds, MANY,
		(struct hwy_interval){reads(clock, 0), reads(clock, 60 * SECOND)}));
	assert_true(line.error < US(5));
	assert_within_claim(&line, clock, 0, 60 * SECOND);
	free(bounds);
}

static void ends_of_collectives_give_the_clock_within_their_claim(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 3000; seed++) {
		struct dice dice = {seed};
		struct wrong_clock clock = roll_clock(&dice);
		int64_t length = SECOND / 50 + roll_below(&dice, 100 * SECOND);
		int64_t jitter = 1 + roll_below(&dice, 50000);
		uint32_t n = 10 + (uint32_t)roll_below(&dice, 300);
		struct clock_point *points = hwy_array(n, sizeof *points);
		for (uint32_t i = 0; i < n; i++) {
			int64_t truth = roll_below(&dice, length);
			int64_t wrong = roll_below(&dice, 2 * jitter + 1) - jitter;
			/* Now and then a rank leaves much later, as its CPU was taken away. */
			if (roll(&dice) % 30 == 0)
				wrong += 20 * jitter;
			points[i] = (struct clock_point){reads(clock, truth),
							 truth + wrong - reads(clock, truth)};
		}
		struct job_clock line;
		assert_true(clock_line_of_points(
			&line, points, n,
			(struct hwy_interval){reads(clock, 0), reads(clock, length)}));
		assert_within_claim(&line, clock, 0, length);
		free(points);
	}
}

static void one_collective_tells_nothing(void **state)
{
	(void)state;
	struct clock_point point = {0, 0};
	struct job_clock line;
	assert_false(clock_line_of_points(&line, &point, 1, (struct hwy_interval){0, 1}));
}

/* ---- whole jobs ---- */

struct toy_rank {
	struct small small;
	uint32_t lane, group;
	struct wrong_clock clock;
};

static struct toy_rank toy_rank_new(int64_t rank, int64_t world, struct wrong_clock clock)
{
	struct toy_rank toy = {.small = small_new(), .clock = clock};
	struct hwy_builder *b = toy.small.builder;
	struct hwy_trace *trace = hwy_builder_trace(b);
	trace->processes[0].rank = rank;
	trace->processes[0].world = world;
	struct hwy_lane lane = hwy_lane_of(HWY_LANE_CALL, 0, 0);
	lane.name = hwy_text_id(b, "MPI");
	toy.lane = hwy_add_lane(b, lane);
	toy.group = hwy_new_groups(b);
	trace->groups[toy.group].process = 0;
	trace->groups[toy.group].name = hwy_text_id(b, "world");
	trace->groups[toy.group].ranks = hwy_text_id(b, "0-7");
	return toy;
}

/* A call of MPI [from, to) in true time, and the message that it is. */
static void toy_message(struct toy_rank *toy, int64_t kind, const char *name, int64_t peer,
			int64_t from, int64_t to, int64_t sequence)
{
	struct hwy_builder *b = toy->small.builder;
	struct hwy_row row = {0};
	row.v[HWY_START] = reads(toy->clock, from);
	row.v[HWY_DUR] = reads(toy->clock, to) - row.v[HWY_START];
	row.v[HWY_NAME] = hwy_text_id(b, name);
	struct hwy_message message = hwy_message_none();
	message.process = 0;
	message.group = toy->group;
	message.library = hwy_text_id(b, "MPI");
	message.kind = kind;
	message.name = hwy_text_id(b, name);
	message.peer = peer;
	message.tag = kind == HWY_MESSAGE_COLLECTIVE ? HWY_NONE : 1;
	message.sequence = sequence;
	message.posted = message.start = row.v[HWY_START];
	message.end = row.v[HWY_START] + row.v[HWY_DUR];
	hwy_message_at(&message.span, hwy_add_span(b, toy->lane, HWY_CALL, &row));
	hwy_add_message(b, &message);
}

static struct hwy_job toy_job(struct toy_rank *toys, uint32_t n)
{
	struct hwy_job job = {.ranks = hwy_zarray(n, sizeof *job.ranks), .n = n, .cap = n};
	for (uint32_t r = 0; r < n; r++) {
		job.ranks[r].trace = hwy_builder_finish(toys[r].small.builder, false);
		job.ranks[r].rank = r;
		job.ranks[r].path = hwy_copy("toy", 4);
	}
	return job;
}

enum { RANKS = 4 };

/* Random sends and receives; a message takes 1 to 20 us. */
static void exchange_messages(struct toy_rank *toys, struct dice *dice, int n)
{
	int64_t free_at[RANKS] = {0};
	for (int i = 0; i < n; i++) {
		int64_t a = roll_below(dice, RANKS),
			b = (a + 1 + roll_below(dice, RANKS - 1)) % RANKS;
		int64_t sent = free_at[a] + US(1) + roll_below(dice, US(100));
		int64_t asked = free_at[b] + US(1) + roll_below(dice, US(100));
		int64_t arrives = (sent > asked ? sent : asked) + US(1) + roll_below(dice, US(19));
		toy_message(&toys[a], HWY_MESSAGE_SEND, "Send", b, sent, sent + 500, HWY_NONE);
		toy_message(&toys[b], HWY_MESSAGE_RECEIVE, "Receive", a, asked, arrives, HWY_NONE);
		free_at[a] = sent + 500;
		free_at[b] = arrives;
	}
}

static uint32_t count_early(struct hwy_job *job)
{
	struct hwy_err err;
	struct job_meetings meetings;
	uint32_t early = 0;
	assert_true(job_meetings_find(&meetings, job, false, &err));
	assert_true(meetings.p2p.n > 0);
	for (uint32_t i = 0; i < meetings.p2p.n; i++) {
		const struct p2p_pair *pair = &meetings.p2p.pairs[i];
		const struct job_recording *s = &job->ranks[pair->sender],
					   *r = &job->ranks[pair->receiver];
		early += job_clock_map(&s->clock, s->trace->messages[pair->send].posted) >
			 job_clock_map(&r->clock, r->trace->messages[pair->receive].end);
	}
	job_meetings_free(&meetings);
	return early;
}

static void nothing_is_received_before_it_was_sent(void **state)
{
	(void)state;
	uint32_t before = 0;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct dice dice = {seed};
		struct hwy_err err;
		struct toy_rank toys[RANKS];
		for (int r = 0; r < RANKS; r++)
			toys[r] = toy_rank_new(r, RANKS, (struct wrong_clock){0});
		exchange_messages(toys, &dice, 400);
		struct hwy_job job = toy_job(toys, RANKS);
		/* Clocks that are wrong by up to 100 us, and say so. */
		for (int r = 1; r < RANKS; r++)
			job.ranks[r].clock = (struct job_clock){
				.source = JOB_CLOCK_PINGS,
				.shift = roll_below(&dice, US(200)) - US(100),
				.drift = roll_below(&dice, 200000000) - 100000000,
				.error = US(100)};
		before += count_early(&job);
		assert_true(clock_repair(&job, &err));
		assert_int_equal(count_early(&job), 0);
		for (int r = 0; r < RANKS; r++) {
			int64_t last = INT64_MIN;
			for (int64_t t = 0; t < MS(20); t += 777) {
				int64_t now = job_clock_map(&job.ranks[r].clock, t);
				assert_true(now >= last);
				last = now;
			}
		}
		job_close(&job);
	}
	assert_true(before > 100); /* else nothing was repaired, and nothing tested */
}

static void add_clock(struct toy_rank *toy, const char *id, int64_t epoch)
{
	char text[32];
	snprintf(text, sizeof text, "%lld", (long long)epoch);
	hwy_add_property(toy->small.builder, "clock.id", id);
	hwy_add_property(toy->small.builder, "clock.epoch_ns", text);
}

/* Two hosts with two ranks each: only the first rank of the second host makes pings. */
static void ranks_are_placed_by_their_clock_or_by_pings_of_a_rank_that_shares_it(void **state)
{
	(void)state;
	struct hwy_err err;
	struct toy_rank toys[RANKS];
	const int64_t apart = INT64_C(987654321), epochs[RANKS] = {1000, 5000, 300, 77};
	for (int r = 0; r < RANKS; r++) {
		/* A report's times count from its epoch on the clock of its host. */
		toys[r] = toy_rank_new(r, RANKS,
				       (struct wrong_clock){(r < 2 ? 0 : apart) - epochs[r], 0});
		add_clock(&toys[r], r < 2 ? "aaaa" : "bbbb", epochs[r]);
		toy_message(&toys[r], HWY_MESSAGE_COLLECTIVE, "Barrier", HWY_NONE, US(10 + r),
			    US(20), 0);
	}
	for (int i = 0; i < 3; i++) {
		uint32_t index = hwy_new_pings(toys[2].small.builder);
		hwy_builder_trace(toys[2].small.builder)->pings[index] = (struct hwy_ping){
			.process = 0,
			.peer = 0,
			.time = reads(toys[2].clock, US(i * 10)),
			.peer_time = US(i * 10), /* on the monotonic clock of the first host */
			.error = 40 + i,
		};
	}
	struct hwy_job job = toy_job(toys, RANKS);
	assert_true(job_clocks_find(&job, &err));
	static const enum job_clock_source sources[] = {JOB_CLOCK_SAME, JOB_CLOCK_SAME,
							JOB_CLOCK_PINGS, JOB_CLOCK_PINGS};
	for (int r = 0; r < RANKS; r++) {
		assert_int_equal(job.ranks[r].clock.source, sources[r]);
		assert_int_equal(job_clock_map(&job.ranks[r].clock, reads(toys[r].clock, US(15))),
				 US(15) - epochs[0]);
	}
	assert_int_equal(job.ranks[1].clock.error, 0);
	assert_true(job.ranks[3].clock.error >= 40 && job.ranks[3].clock.error < 50);
	assert_int_equal(job.n_problems, 0);
	job_close(&job);
}

static void ranks_without_pings_are_placed_by_the_ends_of_their_collectives(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct dice dice = {seed};
		struct hwy_err err;
		struct toy_rank toys[RANKS];
		for (int r = 0; r < RANKS; r++)
			toys[r] = toy_rank_new(r, RANKS,
					       r ? roll_clock(&dice) : (struct wrong_clock){0});
		int64_t time = 0;
		for (int i = 0; i < 200; i++) {
			int64_t arrival[RANKS], last = 0;
			for (int r = 0; r < RANKS; r++) {
				arrival[r] = time + roll_below(&dice, MS(20));
				last = arrival[r] > last ? arrival[r] : last;
			}
			for (int r = 0; r < RANKS; r++)
				toy_message(&toys[r], HWY_MESSAGE_COLLECTIVE, "AllReduce", HWY_NONE,
					    arrival[r], last + US(30) + roll_below(&dice, US(10)),
					    i);
			time = last + MS(1);
		}
		struct wrong_clock clocks[RANKS];
		for (int r = 0; r < RANKS; r++)
			clocks[r] = toys[r].clock;
		struct hwy_job job = toy_job(toys, RANKS);
		assert_true(job_clocks_find(&job, &err));
		for (int r = 1; r < RANKS; r++) {
			assert_int_equal(job.ranks[r].clock.source, JOB_CLOCK_COLLECTIVES);
			assert_true(job.ranks[r].clock.n >= 190);
			assert_true(job.ranks[r].clock.error < US(30));
			assert_within_claim(&job.ranks[r].clock, clocks[r], 0, time);
		}
		job_close(&job);
	}
}

static void a_rank_that_nothing_ties_to_the_others_is_named(void **state)
{
	(void)state;
	struct hwy_err err;
	struct toy_rank toys[2] = {toy_rank_new(0, 2, (struct wrong_clock){0}),
				   toy_rank_new(1, 2, (struct wrong_clock){0})};
	struct hwy_job job = toy_job(toys, 2);
	assert_true(job_clocks_find(&job, &err));
	assert_int_equal(job.ranks[1].clock.source, JOB_CLOCK_UNKNOWN);
	assert_int_equal(job.ranks[1].clock.error, HWY_NONE);
	assert_int_equal(job.n_problems, 1);
	job_close(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_later_time_never_becomes_an_earlier_one),
		cmocka_unit_test(a_clock_without_drift_is_moved_exactly),
		cmocka_unit_test(pings_at_both_ends_give_offset_and_drift_within_their_claim),
		cmocka_unit_test(two_ends_are_surer_than_one),
		cmocka_unit_test(bounds_that_no_clock_keeps_within_are_refused),
		cmocka_unit_test(many_bounds_are_thinned_out_and_the_claim_still_holds),
		cmocka_unit_test(ends_of_collectives_give_the_clock_within_their_claim),
		cmocka_unit_test(one_collective_tells_nothing),
		cmocka_unit_test(nothing_is_received_before_it_was_sent),
		cmocka_unit_test(
			ranks_are_placed_by_their_clock_or_by_pings_of_a_rank_that_shares_it),
		cmocka_unit_test(ranks_without_pings_are_placed_by_the_ends_of_their_collectives),
		cmocka_unit_test(a_rank_that_nothing_ties_to_the_others_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
