/* SPDX-License-Identifier: Apache-2.0 */
/* ingest_mpi_test.c - runs made by hand with calls of MPI: which message was awaited by which call, and by whom. */
#include "ingest_records.h"

#include "spool/record_mpi.h"

enum { NAME_ISEND = 1, NAME_IRECV, NAME_WAIT, NAME_START, NAME_MPROBE, WORLD = 1 };

static void put_names(struct made_spool *spool)
{
	put_process(spool, 1, 0);
	put_string(spool, NAME_ISEND, "MPI_Isend");
	put_string(spool, NAME_IRECV, "MPI_Irecv");
	put_string(spool, NAME_WAIT, "MPI_Wait");
	put_string(spool, NAME_START, "MPI_Start");
	put_string(spool, NAME_MPROBE, "MPI_Mprobe");
}

static struct rec_communicator *put_communicator(struct made_spool *spool, uint32_t number,
						 uint32_t size, uint32_t runs)
{
	struct rec_communicator *record = put_record(spool, REC_COMMUNICATOR, 0, number,
						     sizeof *record + runs * sizeof record->run[0]);
	record->identity = 0x1234;
	record->size = size;
	record->runs = runs;
	return record;
}

/* The ranks 0, 1, … of a world. */
static void put_world(struct made_spool *spool, int32_t size)
{
	struct rec_communicator *record = put_communicator(spool, WORLD, (uint32_t)size, 1);
	record->head.flags = REC_COMMUNICATOR_WORLD;
	record->rank = 1;
	record->run[0] = (struct rec_communicator_run){0, 1, size};
}

static struct rec_mpi *put_mpi(struct made_spool *spool, uint32_t name, uint8_t flags,
			       int64_t start, int64_t end, size_t rest)
{
	struct rec_mpi *record = put_record(spool, REC_MPI, flags, name, sizeof *record + rest);
	record->start = epoch + start;
	record->duration = end - start;
	record->communicator = WORLD;
	return record;
}

static void put_part(struct made_spool *spool, uint32_t name, int64_t start, int64_t end,
		     struct rec_mpi_part part)
{
	struct rec_mpi *record = put_mpi(spool, name, REC_MPI_PARTS, start, end, sizeof part);
	memcpy(record + 1, &part, sizeof part);
}

static void put_done(struct made_spool *spool, uint32_t name, uint8_t flags, int64_t start,
		     int64_t end, struct rec_mpi_done done)
{
	struct rec_mpi *record = put_mpi(spool, name, flags, start, end, sizeof done);
	memcpy(record + 1, &done, sizeof done);
}

static struct rec_mpi_part a_send(uint64_t request, int32_t peer, int32_t tag)
{
	return (struct rec_mpi_part){.op = REC_MPI_SEND,
				     .flags = REC_MPI_REQUESTED,
				     .peer = peer,
				     .tag = tag,
				     .sent = 8,
				     .request = request};
}

static struct hwy_message *with_tag(struct hwy_trace *trace, int64_t tag)
{
	for (uint32_t i = 0; i < trace->n_messages; i++)
		if (trace->messages[i].tag == tag)
			return &trace->messages[i];
	fail_msg("no message with tag %lld", (long long)tag);
	return NULL;
}

/* ---- requests ------------------------------------------------------------------------------------ */

static void requests_of_one_value_are_done_in_the_order_in_which_they_were_made(void **state)
{
	struct made_run run = make_run();
	struct made_spool spool = make_spool(&run, 80, 80, 0);
	put_names(&spool);
	put_world(&spool, 4);
	for (int i = 0; i < 3; i++)
		put_part(&spool, NAME_ISEND, 10 * i, 10 * i + 5, a_send(7, 2, i));
	for (int i = 0; i < 3; i++)
		put_done(&spool, NAME_WAIT, REC_MPI_DONE, 100 * i + 100, 100 * i + 150,
			 (struct rec_mpi_done){.request = 7});
	/* Nobody made this one. */
	put_done(&spool, NAME_WAIT, REC_MPI_DONE, 900, 950, (struct rec_mpi_done){.request = 7});
	end_spool(&spool);
	struct hwy_trace *trace = ingest(&run);
	assert_int_equal(trace->n_messages, 3);
	assert_int_equal(count(trace, HWY_CALL), 7);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(with_tag(trace, i)->start, 10 * i);
		assert_int_equal(with_tag(trace, i)->end, 100 * i + 150);
		assert_int_equal(with_tag(trace, i)->peer, 2);
	}
	hwy_trace_free(trace);
	(void)state;
}

static void a_receive_has_what_came_and_a_cancelled_one_is_none(void **state)
{
	struct made_run run = make_run();
	struct made_spool spool = make_spool(&run, 80, 80, 0);
	put_names(&spool);
	put_world(&spool, 4);
	struct rec_mpi_part awaited = {.op = REC_MPI_RECEIVE,
				       .flags = REC_MPI_REQUESTED,
				       .peer = REC_MPI_NO_RANK,
				       .tag = -1,
				       .received = REC_MPI_UNKNOWN,
				       .count = REC_MPI_UNKNOWN,
				       .request = 5};
	put_part(&spool, NAME_IRECV, 10, 20, awaited);
	put_done(&spool, NAME_WAIT, REC_MPI_DONE, 30, 40,
		 (struct rec_mpi_done){.request = 5, .bytes = 24, .source = 3, .tag = 9});
	put_part(&spool, NAME_IRECV, 50, 60, awaited);
	put_done(&spool, NAME_WAIT, REC_MPI_DONE, 70, 80,
		 (struct rec_mpi_done){.request = 5, .flags = REC_MPI_CANCELLED});
	put_part(&spool, NAME_IRECV, 90, 95, awaited);
	end_spool(&spool);
	struct hwy_trace *trace = ingest(&run);
	assert_int_equal(trace->n_messages, 2);
	const struct hwy_message *came = with_tag(trace, 9);
	assert_int_equal(came->peer, 3);
	assert_int_equal(came->received, 24);
	assert_int_equal(came->end, 40);
	/* Nobody awaited the last one. */
	const struct hwy_message *open = &trace->messages[1];
	assert_true(open->end == HWY_NONE && open->done == HWY_NONE && open->peer == HWY_NONE);
	assert_true(open->received == HWY_NONE);
	hwy_trace_free(trace);
	(void)state;
}

static void a_persistent_request_is_a_message_for_each_start(void **state)
{
	struct made_run run = make_run();
	struct made_spool spool = make_spool(&run, 80, 80, 0);
	put_names(&spool);
	put_world(&spool, 4);
	struct rec_mpi_part prepared = a_send(3, 2, 4);
	prepared.flags = REC_MPI_PERSISTENT;
	put_part(&spool, NAME_ISEND, 1, 2, prepared);
	for (int i = 0; i < 2; i++) {
		put_done(&spool, NAME_START, REC_MPI_START, 10 + 20 * i, 12 + 20 * i,
			 (struct rec_mpi_done){.request = 3});
		put_done(&spool, NAME_WAIT, REC_MPI_DONE, 15 + 20 * i, 18 + 20 * i,
			 (struct rec_mpi_done){.request = 3});
	}
	put_done(&spool, NAME_WAIT, REC_MPI_FREE, 60, 61, (struct rec_mpi_done){.request = 3});
	put_done(&spool, NAME_START, REC_MPI_START, 70, 71, (struct rec_mpi_done){.request = 3});
	end_spool(&spool);
	struct hwy_trace *trace = ingest(&run);
	assert_int_equal(trace->n_messages, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(trace->messages[i].posted, 10 + 20 * i);
		assert_int_equal(trace->messages[i].end, 18 + 20 * i);
	}
	hwy_trace_free(trace);
	(void)state;
}

/* Threads make requests and await those of others; values are used again as soon as they are free. */
static void whoever_awaits_a_request_its_message_ends_with_that_call(void **state)
{
	enum { THREADS = 4, CALLS = 3000, VALUES = 12 };
	struct made_run run = make_run();
	struct made_spool spools[THREADS];
	int64_t ends[CALLS], tag_of[VALUES], time = 0;
	int n = 0;
	unsigned seed = 4711;
	for (uint32_t t = 0; t < THREADS; t++)
		spools[t] = make_spool(&run, 80, 80 + t, 0);
	put_names(&spools[0]);
	put_world(&spools[0], 4);
	for (int v = 0; v < VALUES; v++)
		tag_of[v] = -1;
	for (int i = 0; i < CALLS; i++) {
		int v = rand_r(&seed) % VALUES;
		struct made_spool *spool = &spools[rand_r(&seed) % THREADS];
		int64_t start = ++time, end = start + rand_r(&seed) % 3;
		if (tag_of[v] < 0) {
			put_part(spool, NAME_ISEND, start, end, a_send((uint64_t)v + 1, 2, n));
			tag_of[v] = n;
			ends[n++] = HWY_NONE;
		} else {
			put_done(spool, NAME_WAIT, REC_MPI_DONE, start, end,
				 (struct rec_mpi_done){.request = (uint64_t)v + 1});
			ends[tag_of[v]] = end;
			tag_of[v] = -1;
		}
		time = end;
	}
	for (int t = 0; t < THREADS; t++)
		end_spool(&spools[t]);
	struct hwy_trace *trace = ingest(&run);
	assert_int_equal(trace->n_messages, n);
	for (uint32_t i = 0; i < trace->n_messages; i++)
		assert_int_equal(trace->messages[i].end, ends[trace->messages[i].tag]);
	hwy_trace_free(trace);
	(void)state;
}

/* ---- communicators -------------------------------------------------------------------------------- */

static void ranks_of_a_communicator_become_ranks_of_the_world(void **state)
{
	struct made_run run = make_run();
	struct made_spool spool = make_spool(&run, 80, 80, 0);
	put_names(&spool);
	put_world(&spool, 64);
	struct rec_communicator *odd = put_communicator(&spool, 2, 5, 2);
	odd->run[0] = (struct rec_communicator_run){9, -2, 3}; /* 9, 7, 5 */
	odd->run[1] = (struct rec_communicator_run){40, 0, 1};
	odd->run[1].count = 1;
	struct rec_mpi_part part = a_send(0, 1, 1);
	part.flags = 0;
	put_part(&spool, NAME_ISEND, 10, 20, part);
	part = a_send(0, 3, 2);
	part.flags = 0;
	put_part(&spool, NAME_ISEND, 30, 40, part);
	((struct rec_mpi *)((char *)spool.chunk + (size_t)(spool.used - 3) * REC_SLOT))
		->communicator = 2;
	part = a_send(0, 4, 3); /* it has four members */
	part.flags = 0;
	put_part(&spool, NAME_ISEND, 50, 60, part);
	((struct rec_mpi *)((char *)spool.chunk + (size_t)(spool.used - 3) * REC_SLOT))
		->communicator = 2;
	end_spool(&spool);
	struct hwy_trace *trace = ingest(&run);
	assert_int_equal(with_tag(trace, 1)->peer, 1);
	assert_int_equal(with_tag(trace, 2)->peer, 40);
	assert_true(with_tag(trace, 3)->peer == HWY_NONE);
	assert_string_equal(hwy_str(trace, trace->groups[with_tag(trace, 1)->group].ranks), "0-63");
	assert_string_equal(hwy_str(trace, trace->groups[with_tag(trace, 2)->group].ranks),
			    "9,7,5,40");
	/* No variable of a launcher told the rank. */
	assert_int_equal(trace->processes[0].rank, 1);
	assert_int_equal(trace->processes[0].world, 64);
	hwy_trace_free(trace);
	(void)state;
}

static void damaged_records_of_mpi_harm_nothing(void **state)
{
	for (unsigned seed = 1; seed <= 200; seed++) {
		unsigned random = seed;
		struct made_run run = make_run();
		struct made_spool spool = make_spool(&run, 80, 80, 0);
		put_names(&spool);
		put_world(&spool, 4);
		for (int i = 0; i < 60; i++) {
			enum rec_type type = rand_r(&random) % 3 == 0   ? REC_COMMUNICATOR
					     : rand_r(&random) % 8 == 0 ? REC_PING
									: REC_MPI;
			size_t slots = 1 + (size_t)rand_r(&random) % 6;
			struct rec_head *head =
				put_record(&spool, type, (uint8_t)rand_r(&random),
					   (uint32_t)rand_r(&random) % 4, slots * REC_SLOT);
			char *bytes = (char *)head;
			for (size_t b = sizeof *head; b < slots * REC_SLOT; b++)
				bytes[b] = rand_r(&random) % 3 ? 0 : (char)rand_r(&random);
			if (type == REC_MPI && rand_r(&random) % 2)
				((struct rec_mpi *)head)->start = epoch + i;
		}
		end_spool(&spool);
		struct hwy_trace *trace = ingest(&run);
		for (uint32_t i = 0; i < trace->n_messages; i++)
			assert_true(trace->messages[i].name >= 0);
		hwy_trace_free(trace);
	}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			requests_of_one_value_are_done_in_the_order_in_which_they_were_made),
		cmocka_unit_test(a_receive_has_what_came_and_a_cancelled_one_is_none),
		cmocka_unit_test(a_persistent_request_is_a_message_for_each_start),
		cmocka_unit_test(whoever_awaits_a_request_its_message_ends_with_that_call),
		cmocka_unit_test(ranks_of_a_communicator_become_ranks_of_the_world),
		cmocka_unit_test(damaged_records_of_mpi_harm_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
