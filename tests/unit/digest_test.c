/* SPDX-License-Identifier: Apache-2.0 */
/* digest_test.c - digests: bytes and back, joined in any order, and what thousands of ranks show. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <unistd.h>

#include "digest/digest_answer.h"
#include "digest/digest_file.h"
#include "digest/digest_outliers.h"
#include "make_digests.h"
#include "trace/codec.h"

enum { FEW = 256, MANY = 4096, STEPS = 200 };

/* ---- recorded ranks ------------------------------------------------------------------------------------------------- */

static struct digest_bytes bases[2];

static int make_bases(void **state)
{
	char path[1024];
	struct rank_digest *digests;
	struct hwy_err err;
	uint32_t n;
	snprintf(path, sizeof path, "%s/programs/ddp.hwy", getenv("DATA") ? getenv("DATA") : ".");
	if (!digest_make(&digests, &n, path, &err))
		fail_msg("%s", err.text);
	assert_int_equal(n, 2);
	for (uint32_t i = 0; i < n; i++)
		bases[i] = digest_encode(&digests[i]);
	digests_free(digests, n);
	return 0;
}

static int free_bases(void **state)
{
	free(bases[0].bytes);
	free(bases[1].bytes);
	return 0;
}

static void make_set(struct digest_set *set, uint32_t ranks, uint64_t seed,
		     const struct fault *faults, uint32_t n_faults)
{
	struct made_job job = {.ranks = ranks,
			       .steps = STEPS,
			       .seed = seed,
			       .noise = seed % 3,
			       .faults = faults,
			       .n_faults = n_faults,
			       .is_numbered = true};
	*set = (struct digest_set){0};
	make_digests(set, &job, bases, 2);
	digest_set_settle(set);
}

/* ---- bytes ---------------------------------------------------------------------------------------------------------------- */

static void a_digest_is_the_same_after_its_bytes_are_read(void **state)
{
	for (int i = 0; i < 2; i++) {
		struct rank_digest digest;
		struct hwy_err err;
		assert_true(digest_decode(&digest, bases[i].bytes, bases[i].n, &err));
		struct digest_bytes again = digest_encode(&digest);
		assert_int_equal(again.n, bases[i].n);
		assert_memory_equal(again.bytes, bases[i].bytes, again.n);
		assert_int_equal(digest.rank, i);
		assert_int_equal(digest.world, 2);
		assert_string_equal(digest.report, "ddp.hwy");
		assert_in_range(digest.steps.n, 12, 30);
		int64_t step = 0;
		for (unsigned p = 0; p < PARTS; p++)
			step += digest_phase(&digest)->parts[p];
		assert_int_equal(step, digest_phase(&digest)->step);
		free(again.bytes);
		digest_free(&digest);
	}
}

/* Takes a record apart, lets 'change' have its sections, and makes a record again. */
static struct digest_bytes with_section(uint64_t id, uint64_t version)
{
	struct hwy_bytes_reader reader = hwy_bytes_reader(bases[0].bytes, bases[0].n);
	uint64_t length = hwy_bytes_read_varint(&reader);
	struct hwy_bytes plain = {0}, record = {0};
	struct codec *codec = codec_new();
	assert_null(codec_decompress(codec, reader.next, (size_t)(reader.end - reader.next),
				     hwy_bytes_add(&plain, length), length));
	hwy_bytes_put_varint(&plain, id);
	hwy_bytes_put_varint(&plain, version);
	hwy_bytes_put_varint(&plain, 3);
	hwy_bytes_put(&plain, "new", 3);
	size_t stored;
	const void *packed = codec_compress(codec, 3, plain.bytes, plain.n, &stored);
	hwy_bytes_put_varint(&record, plain.n);
	hwy_bytes_put(&record, packed, stored);
	codec_free(codec);
	hwy_bytes_free(&plain);
	return (struct digest_bytes){record.bytes, record.n};
}

static void unknown_sections_are_skipped_and_newer_ones_refused(void **state)
{
	struct rank_digest digest;
	struct hwy_err err;
	struct digest_bytes unknown = with_section(77, 5), again = with_section(1, 1);
	assert_true(digest_decode(&digest, unknown.bytes, unknown.n, &err));
	assert_int_equal(digest.rank, 0);
	digest_free(&digest);
	assert_false(digest_decode(&digest, again.bytes, again.n, &err));
	assert_string_equal(err.text, "its sections are damaged");
	free(unknown.bytes);
	free(again.bytes);
}

static void any_damage_of_a_file_is_refused(void **state)
{
	char path[] = "/tmp/digest_test_XXXXXX";
	struct digest_record records[2] = {{bases[0].bytes, bases[0].n},
					   {bases[1].bytes, bases[1].n}};
	struct digest_records read;
	struct hwy_err err;
	close(mkstemp(path));
	assert_true(digest_file_write(path, records, 2, true, &err));
	assert_true(digest_file_is(path));
	assert_true(digest_file_read(&read, path, &err));
	assert_int_equal(read.n, 2);
	FILE *file = fopen(path, "rb");
	uint8_t bytes[16384];
	size_t n = fread(bytes, 1, sizeof bytes, file);
	fclose(file);
	unlink(path);
	for (size_t i = 0; i < n; i++) {
		struct digest_set set = {0};
		bytes[i] ^= 0x20;
		assert_false(digest_set_add_bytes(&set, bytes, n, "x.hwd", &err));
		assert_memory_equal(err.text, "x.hwd: ", 7);
		bytes[i] ^= 0x20;
		assert_false(digest_set_add_bytes(&set, bytes, i, "x.hwd", &err));
		digest_set_free(&set);
	}
	digest_records_free(&read);
}

/* ---- joining ---------------------------------------------------------------------------------------------------------------- */

static void add_copy(struct digest_set *to, const struct digest_of_rank *from)
{
	struct rank_digest digest;
	struct hwy_err err;
	assert_true(digest_decode(&digest, from->record.bytes, from->record.n, &err));
	digest_set_put(to, &digest);
}

static void assert_same_sets(const struct digest_set *a, const struct digest_set *b)
{
	assert_int_equal(a->n, b->n);
	for (uint32_t i = 0; i < a->n; i++) {
		assert_int_equal(a->ranks[i].record.n, b->ranks[i].record.n);
		assert_memory_equal(a->ranks[i].record.bytes, b->ranks[i].record.bytes,
				    a->ranks[i].record.n);
	}
}

/* Joins a shuffled list in one go, or in two parts that are each joined in the same way. */
static void join(struct digest_set *to, const struct digest_of_rank *const *list, uint32_t n,
		 bool in_a_tree)
{
	if (in_a_tree && n > 3) {
		struct digest_set parts[2] = {{0}, {0}};
		join(&parts[0], list, n / 3, true);
		join(&parts[1], list + n / 3, n - n / 3, true);
		for (int side = 1; side >= 0; side--) {
			for (uint32_t i = 0; i < parts[side].n; i++)
				add_copy(to, &parts[side].ranks[i]);
			digest_set_free(&parts[side]);
		}
	} else {
		for (uint32_t i = 0; i < n; i++)
			add_copy(to, list[i]);
	}
	digest_set_settle(to);
}

static void joining_in_any_order_and_in_a_tree_gives_the_same_bytes(void **state)
{
	enum { RANKS = 24, VERSIONS = 3, SEEDS = 12 };
	struct digest_set made[VERSIONS], whole = {0};
	const struct digest_of_rank *list[RANKS * VERSIONS + RANKS];
	uint32_t n = 0;
	/* Each rank three times, by recordings of other lengths and noise, and one of them twice. */
	for (uint32_t v = 0; v < VERSIONS; v++) {
		struct made_job job = {.ranks = RANKS, .steps = 20 + 5 * (v % 2), .seed = v + 1};
		made[v] = (struct digest_set){0};
		make_digests(&made[v], &job, bases, 2);
		for (uint32_t i = 0; i < RANKS; i++)
			list[n++] = &made[v].ranks[i];
	}
	for (uint32_t i = 0; i < RANKS; i++)
		list[n++] = &made[0].ranks[i];
	join(&whole, list, n, false);
	assert_int_equal(whole.n, RANKS);
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct digest_set other = {0};
		uint64_t dice = seed;
		for (uint32_t i = n - 1; i > 0; i--) {
			uint32_t k = (uint32_t)(dice_next(&dice) % (i + 1));
			const struct digest_of_rank *swapped = list[i];
			list[i] = list[k];
			list[k] = swapped;
		}
		join(&other, list, n, seed % 2);
		assert_same_sets(&whole, &other);
		/* Once more: nothing changes. */
		for (uint32_t i = 0; i < whole.n; i++)
			add_copy(&other, &whole.ranks[i]);
		digest_set_settle(&other);
		assert_same_sets(&whole, &other);
		digest_set_free(&other);
	}
	for (uint32_t v = 0; v < VERSIONS; v++)
		digest_set_free(&made[v]);
	digest_set_free(&whole);
}

/* ---- chance ------------------------------------------------------------------------------------------------------------------ */

static double draw(uint64_t *dice, int kind)
{
	double share = dice_share(dice);
	return kind == 0   ? dice_normal(dice)
	       : kind == 1 ? -log(share > 0 ? share : 1e-300)
			   : exp(0.5 * dice_normal(dice));
}

static void chance_hardly_exceeds_the_threshold_of_many(void **state)
{
	enum { TRIALS = 60 };
	int64_t values[MANY], sorted[MANY];
	uint64_t dice = 99;
	for (int kind = 0; kind < 3; kind++) {
		uint32_t accused = 0;
		for (uint32_t trial = 0; trial < TRIALS; trial++) {
			for (uint32_t i = 0; i < MANY; i++)
				values[i] = sorted[i] = llround(1e6 * draw(&dice, kind));
			int64_t most = outliers_threshold(sorted, MANY, 1);
			for (uint32_t i = 0; i < MANY; i++)
				accused += values[i] > most;
		}
		/* Normal: never. Exponential: in one of a hundred jobs. Log-normal has a longer tail; still under one in ten. */
		assert_in_range(accused, 0, kind == 0 ? 0 : kind == 1 ? 4 : 6);
	}
}

static void the_threshold_of_few_and_of_many_finds_what_is_planted(void **state)
{
	int64_t few[] = {100, 101, 99, 100, 150}, many[FEW];
	uint64_t dice = 3;
	assert_in_range(outliers_threshold(few, 5, 1), 101, 149);
	for (uint32_t i = 0; i < FEW; i++)
		many[i] = llround(1000 * dice_normal(&dice)) + (i < FEW / 12 ? 20000 : 0);
	assert_in_range(outliers_threshold(many, FEW, 1), 4000, 20000 - 4000);
	double rising[16], flat[16], at_0;
	for (int i = 0; i < 16; i++) {
		rising[i] = 3 + 2 * i;
		flat[i] = i % 2;
	}
	assert_true(outliers_rises(rising, 16) < 1e-7 && outliers_rises(flat, 16) > 0.1);
	assert_true(fabs(outliers_slope(rising, 16, &at_0) - 2) < 1e-9 && fabs(at_0 - 3) < 1e-9);
	assert_true(fabs(outliers_drawn(10, 4, 3, 1) - (1 - 20.0 / 120)) < 1e-9);
	assert_true(fabs(outliers_binomial(4, 2, 0.5) - 11.0 / 16) < 1e-9);
}

/* ---- what a job shows ---------------------------------------------------------------------------------------------------------- */

/* What is accused, as a text: "late 611 612; slowing 3001; link 1702-1703; trend". */
static const char *accused(const struct digest_answer *answer)
{
	static char text[512];
	size_t n = 0;
	text[0] = '\0';
	for (uint32_t i = 0; i < answer->job.ranks.n_late_ranks && n < 400; i++)
		n += (size_t)snprintf(
			text + n, sizeof text - n, "%s %lld", i ? "" : "late",
			(long long)answer->ranks[answer->job.ranks.late_ranks[i]].digest->rank);
	for (uint32_t i = 0; i < answer->n_slowing && n < 400; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "; slowing %lld",
				      (long long)answer->ranks[answer->slowing[i]].digest->rank);
	for (uint32_t i = 0; i < answer->n_slow && n < 400; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "; link %lld-%lld",
				      (long long)answer->ranks[answer->links[i].from].digest->rank,
				      (long long)answer->ranks[answer->links[i].to].digest->rank);
	if (answer->trend.is_sure)
		snprintf(text + n, sizeof text - n, "; trend");
	return text;
}

static void assert_accused(uint32_t ranks, uint64_t seed, const struct fault *faults, uint32_t n,
			   const char *wanted)
{
	struct digest_set set;
	struct digest_answer answer;
	make_set(&set, ranks, seed, faults, n);
	digest_answer_make(&answer, &set);
	assert_string_equal(accused(&answer), wanted);
	/* Rare long steps, here and there, are turns: they cost, and accuse nobody. */
	if (n == 0 && seed % 3 != NOISE_LONG)
		assert_int_equal(answer.job.ranks.lateness, RANKS_IN_TIME);
	digest_answer_free(&answer);
	digest_set_free(&set);
}

static void everything_planted_in_4096_ranks_is_found_and_nothing_else_accused(void **state)
{
	static const struct fault faults[] = {{FAULT_CLOCK, 611, 0.08},
					      {FAULT_CLOCK, 612, 0.06},
					      {FAULT_DRIFT, 3001, 0.1},
					      {FAULT_LINK, 1702, 0.3}};
	struct digest_set set;
	struct digest_answer answer;
	make_set(&set, MANY, 1, faults, 4);
	int64_t sizes[MANY];
	for (uint32_t i = 0; i < set.n; i++)
		sizes[i] = (int64_t)set.ranks[i].record.n;
	hwy_sort(sizes, MANY);
	assert_in_range(sizes[MANY / 2], 200, 6000);
	digest_answer_make(&answer, &set);
	assert_string_equal(accused(&answer), "late 611 612; slowing 3001; link 1702-1703");
	assert_int_equal(answer.job.ranks.lateness, RANKS_REPEAT);
	assert_int_equal(answer.n_common, 1);
	assert_int_equal(answer.common[0].what, DIGEST_HOST);
	assert_string_equal(answer.common[0].value, "n076");
	assert_non_null(strstr(answer.job.late_says, "Both are on host n076."));
	assert_non_null(strstr(answer.clock_says, "rank 611 runs at 1.62 GHz"));
	assert_int_equal(answer.job.ranks.cause.part, RANK_COMPUTE);
	/* The parts of every rank add up to its step. */
	for (uint32_t r = 0; r < answer.n; r++) {
		int64_t sum = 0;
		for (unsigned p = 0; p < RANK_PARTS; p++)
			sum += answer.job.ranks.rows[r].parts[p];
		assert_int_equal(sum, answer.job.ranks.rows[r].step);
	}
	digest_answer_free(&answer);
	digest_set_free(&set);
}

static void even_jobs_accuse_nobody(void **state)
{
	static const uint32_t sizes[] = {2, 3, 8, 40, 256, 1024};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		for (uint64_t seed = 1; seed <= (sizes[i] < 256 ? 12 : 3); seed++)
			assert_accused(sizes[i], 100 * seed + sizes[i], NULL, 0, "");
}

static void each_fault_is_found_alone(void **state)
{
	static const struct {
		struct fault fault;
		uint32_t ranks;
		const char *wanted;
	} cases[] = {
		{{FAULT_LATE, 3, 0.2}, 4, "late 3"},
		{{FAULT_LATE, 5, 0.06}, 8, "late 5"},
		{{FAULT_LATE, 77, 0.06}, FEW, "late 77"},
		{{FAULT_INPUT, 77, 0.06}, FEW, "late 77"},
		{{FAULT_SOMETIMES, 100, 0.3}, FEW, "late 100"},
		{{FAULT_DRIFT, 9, 0.1}, FEW, "; slowing 9"},
		{{FAULT_LINK, 9, 0.3}, FEW, "; link 9-10"},
		{{FAULT_TREND, 0, 0.06}, FEW, "; trend"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_accused(cases[i].ranks, 7 + i, &cases[i].fault, 1, cases[i].wanted);
}

static void a_slow_host_and_a_slow_switch_are_found_as_such(void **state)
{
	enum { RANKS = 1024, PER_SWITCH = FAULT_PER_HOST * FAULT_HOSTS_PER_SWITCH };
	static struct fault faults[PER_SWITCH];
	struct digest_set set;
	struct digest_answer answer;
	/* A quarter of the ranks: too many for outliers among ranks, but one of four switches. */
	for (uint32_t i = 0; i < PER_SWITCH; i++)
		faults[i] = (struct fault){FAULT_LATE, PER_SWITCH + i, 0.06};
	make_set(&set, RANKS, 4, faults, PER_SWITCH);
	digest_answer_make(&answer, &set);
	assert_int_equal(answer.job.ranks.n_late_ranks, PER_SWITCH);
	assert_int_equal(answer.n_common, 1);
	assert_int_equal(answer.common[0].what, DIGEST_SWITCH);
	assert_string_equal(answer.common[0].value, "core.leaf01");
	digest_answer_free(&answer);
	digest_set_free(&set);
	for (uint32_t i = 0; i < FAULT_PER_HOST; i++)
		faults[i] = (struct fault){FAULT_LATE, 40 + i, 0.05};
	make_set(&set, FEW, 5, faults, FAULT_PER_HOST);
	digest_answer_make(&answer, &set);
	assert_string_equal(accused(&answer), "late 40 41 42 43 44 45 46 47");
	assert_string_equal(answer.common[0].value, "n005");
	digest_answer_free(&answer);
	digest_set_free(&set);
}

/* Ranks whose recordings began later, without marks: matched by the date. */
static void steps_without_numbers_are_matched_by_the_date(void **state)
{
	enum { RANKS = 40, LATER = 6 };
	static const struct fault fault = {FAULT_SOMETIMES, 7, 0.3};
	struct made_job job = {
		.ranks = RANKS, .steps = STEPS, .seed = 2, .faults = &fault, .n_faults = 1};
	struct digest_set set = {0}, moved = {0};
	struct digest_answer answer;
	make_digests(&set, &job, bases, 2);
	int64_t step = digest_step_of(&set.ranks[0].digest);
	for (uint32_t i = 0; i < set.n; i++) {
		struct rank_digest digest;
		struct hwy_err err;
		assert_true(digest_decode(&digest, set.ranks[i].record.bytes, set.ranks[i].record.n,
					  &err));
		if (i % 3 == 1) { /* the first steps are missing, and what is first is number 10 */
			struct digest_steps *steps = &digest.steps;
			int64_t *own = hwy_copy_array(steps->own + LATER, steps->n - LATER,
						      sizeof *own),
				*length = hwy_copy_array(steps->step + LATER, steps->n - LATER,
							 sizeof *length);
			for (uint32_t k = 0; k < LATER; k++)
				steps->wall += steps->step[k];
			digest_fill_buckets(&digest, length, own, steps->n - LATER, 10);
			free(own);
			free(length);
		}
		digest.steps.wall += (int64_t)(i % 5) * step / 50; /* clocks are not exact */
		digest_set_put(&moved, &digest);
	}
	digest_set_settle(&moved);
	digest_answer_make(&answer, &moved);
	assert_true(answer.matrix.is_by_clock);
	assert_string_equal(accused(&answer), "late 7");
	assert_int_equal(answer.matrix.n_buckets, STEPS);
	for (uint32_t b = 0; b < 2 * LATER; b++) /* rank 1 began later */
		assert_int_equal(answer.matrix.own[STEPS + b] == HWY_NONE, b < LATER);
	digest_answer_free(&answer);
	digest_set_free(&set);
	digest_set_free(&moved);
}

/* Half of the ranks have another role, with less to do. */
static void give_half_less_to_do(struct digest_set *set)
{
	for (uint32_t i = 1; i < set->n; i += 2) {
		struct rank_digest *digest = &set->ranks[i].digest;
		digest->summary.phases[0].counts[COUNT_KERNELS] /= 2;
		for (uint32_t b = 0; b < digest->steps.n_buckets; b++)
			digest->steps.own[b] = digest->steps.own[b] * 7 / 10;
	}
}

static void roles_are_compared_with_their_own_and_count_where_they_keep_others_waiting(void **state)
{
	static const struct {
		struct fault fault;
		const char *wanted;
	} cases[] = {
		{{FAULT_LATE, 100, 0.06}, "late 100"}, /* of the slower role */
		{{FAULT_LATE, 101, 0.06}, ""},         /* of the faster one: nobody waits for it */
		{{FAULT_LATE, 101, 0.6}, "late 101"},  /* now they do */
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct digest_set set;
		struct digest_answer answer;
		make_set(&set, FEW, 20 + i, &cases[i].fault, 1);
		give_half_less_to_do(&set);
		digest_answer_make(&answer, &set);
		assert_int_equal(answer.n_roles, 2);
		assert_string_equal(accused(&answer), cases[i].wanted);
		assert_non_null(strstr(answer.role_says, "ranks that work like rank"));
		digest_answer_free(&answer);
		digest_set_free(&set);
	}
}

static void missing_and_stale_ranks_are_named(void **state)
{
	struct digest_set set;
	struct digest_answer answer;
	make_set(&set, 40, 1, NULL, 0);
	set.ranks[5].is_stale = true;
	free(set.ranks[39].record.bytes);
	digest_free(&set.ranks[39].digest);
	set.n--;
	digest_answer_make(&answer, &set);
	assert_int_equal(answer.n, 38);
	assert_int_equal(answer.n_problems, 2);
	assert_string_equal(answer.problems[0], "1 rank has no digest here: 39");
	assert_string_equal(answer.problems[1],
			    "1 left out, because the report is newer than the digest: 5");
	digest_answer_free(&answer);
	digest_set_free(&set);
}

/* ---- buckets ----------------------------------------------------------------------------------------------------------------------- */

static void buckets_keep_the_sum_of_all_steps(void **state)
{
	uint64_t dice = 11;
	for (int trial = 0; trial < 40; trial++) {
		struct rank_digest digest = {0};
		uint32_t n = 1 + (uint32_t)(dice_next(&dice) % 5000);
		int64_t first = (int64_t)(dice_next(&dice) % 100000), sum = 0, kept = 0;
		int64_t *lengths = hwy_array(n, sizeof *lengths), *own = hwy_array(n, sizeof *own);
		for (uint32_t i = 0; i < n; i++) {
			lengths[i] = 1000000 + (int64_t)(dice_next(&dice) % 100000);
			own[i] = lengths[i] / 2;
			sum += lengths[i];
		}
		digest_fill_buckets(&digest, lengths, own, n, first);
		assert_in_range(digest.steps.n_buckets, 1, DIGEST_BUCKETS);
		uint32_t steps = 0;
		for (uint32_t b = 0; b < digest.steps.n_buckets; b++) {
			steps += digest_bucket_steps(&digest.steps, b);
			kept += digest.steps.step[b] * digest_bucket_steps(&digest.steps, b);
		}
		assert_int_equal(steps, n);
		/* Each mean is rounded to 1/8192 of a step. */
		assert_in_range(llabs(kept - sum), 0, (uint64_t)n * 130);
		free(lengths);
		free(own);
		hwy_arena_free(&digest.arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_digest_is_the_same_after_its_bytes_are_read),
		cmocka_unit_test(unknown_sections_are_skipped_and_newer_ones_refused),
		cmocka_unit_test(any_damage_of_a_file_is_refused),
		cmocka_unit_test(joining_in_any_order_and_in_a_tree_gives_the_same_bytes),
		cmocka_unit_test(chance_hardly_exceeds_the_threshold_of_many),
		cmocka_unit_test(the_threshold_of_few_and_of_many_finds_what_is_planted),
		cmocka_unit_test(
			everything_planted_in_4096_ranks_is_found_and_nothing_else_accused),
		cmocka_unit_test(even_jobs_accuse_nobody),
		cmocka_unit_test(each_fault_is_found_alone),
		cmocka_unit_test(a_slow_host_and_a_slow_switch_are_found_as_such),
		cmocka_unit_test(steps_without_numbers_are_matched_by_the_date),
		cmocka_unit_test(
			roles_are_compared_with_their_own_and_count_where_they_keep_others_waiting),
		cmocka_unit_test(missing_and_stale_ranks_are_named),
		cmocka_unit_test(buckets_keep_the_sum_of_all_steps),
	};
	return cmocka_run_group_tests(tests, make_bases, free_bases);
}
