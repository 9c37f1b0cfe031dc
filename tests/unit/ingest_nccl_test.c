/* SPDX-License-Identifier: Apache-2.0 */
/* ingest_nccl_test.c - operations of NCCL, from the records of a run to messages that know their kernel and their times. */
#include "ingest_records.h"

#include "spool/record_nccl.h"
#include "stats/stats.h"

enum { PID = 40, OTHER_PID = 50, MAIN = 41, PROXY = 42, CALLBACK = 43, COMM = 1 };
enum {
	T_KERNEL = 10,
	T_ALL_REDUCE,
	T_ALL_GATHER,
	T_SEND,
	T_FLOAT32,
	T_INT8,
	T_RING,
	T_LL,
	T_OTHER_KERNEL
};
/* The GPU's clock is ahead of ours by this, ns. */
static const int64_t AHEAD = INT64_C(5000000000000);

struct made {
	struct made_run run;
	struct made_spool main, proxy;
};

static void put_texts(struct made_spool *spool)
{
	put_string(spool, T_KERNEL, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
	put_string(spool, T_OTHER_KERNEL, "gemm");
	put_string(spool, T_ALL_REDUCE, "AllReduce");
	put_string(spool, T_ALL_GATHER, "AllGather");
	put_string(spool, T_SEND, "Send");
	put_string(spool, T_FLOAT32, "ncclFloat32");
	put_string(spool, T_INT8, "ncclInt8");
	put_string(spool, T_RING, "RING");
	put_string(spool, T_LL, "LL");
}

static void put_comm(struct made_spool *spool, uint32_t number, int ranks, int rank)
{
	struct rec_nccl_comm *comm =
		put_record(spool, REC_NCCL_COMM, 0, number, sizeof(struct rec_nccl_comm));
	comm->time = epoch + 1;
	comm->hash = 0xabc;
	comm->nodes = 1;
	comm->ranks = ranks;
	comm->rank = rank;
	comm->interface = 5;
}

static struct made begin_of(int32_t rank, int32_t world)
{
	struct made made = {.run = make_run()};
	made.run.control.traces |= REC_TRACE_NCCL;
	made.main = make_spool(&made.run, PID, MAIN, 0);
	made.proxy = make_spool(&made.run, PID, PROXY, 1);
	put_process(&made.main, 1, 5);
	struct rec_process *process =
		put_record(&made.main, REC_PROCESS, 0, 0, sizeof(struct rec_process));
	*process = (struct rec_process){.head = process->head,
					.start = epoch + 5,
					.pid = PID,
					.parent = 1,
					.rank = rank,
					.local_rank = rank,
					.world = world};
	put_cuda(&made.main);
	put_texts(&made.main);
	return made;
}
static struct made begin(void)
{
	struct made made = begin_of(0, 4);
	put_comm(&made.main, COMM, 4, 0);
	return made;
}

static struct hwy_trace *end(struct made *made)
{
	end_spool(&made->main);
	end_spool(&made->proxy);
	return ingest(&made->run);
}

static struct rec_nccl_event *put_event(struct made_spool *spool, enum rec_nccl_kind kind,
					int64_t start, uint64_t id, uint32_t function)
{
	struct rec_nccl_event *event = put_record(spool, REC_NCCL_EVENT, (uint8_t)kind, COMM,
						  sizeof(struct rec_nccl_event));
	event->start = epoch + start;
	event->id = id;
	event->function = function;
	event->datatype = T_FLOAT32;
	event->count = 256;
	event->peer = -1;
	return event;
}

static struct rec_nccl_event *put_collective(struct made_spool *spool, int64_t start, uint64_t id,
					     uint64_t plan, uint64_t sequence)
{
	struct rec_nccl_event *event =
		put_event(spool, REC_NCCL_COLLECTIVE, start, id, T_ALL_REDUCE);
	event->plan = plan;
	event->sequence = sequence;
	event->algorithm = T_RING;
	event->protocol = T_LL;
	event->channels = 2;
	return event;
}

static void put_nccl_end(struct made_spool *spool, uint64_t id, int64_t time)
{
	struct rec_nccl_end *record = put_record(spool, REC_NCCL_END, 0, 0, sizeof *record);
	record->time = epoch + time;
	record->id = id;
}

static void put_kernel(struct made_spool *spool, uint32_t name, uint32_t correlation,
		       int64_t launched, int64_t start, int64_t duration)
{
	if (launched)
		put_call(spool, 211, launched, correlation);
	struct rec_work *work = put_work(spool, REC_KERNEL, name, start, correlation, 13);
	work->duration = duration;
}

/* The kernel worked at an operation on one channel; NCCL's thread saw both ends 'late' ns later. */
static void put_channel(struct made_spool *spool, uint64_t operation, uint32_t channel,
			int64_t start, int64_t finish, int64_t late)
{
	struct rec_nccl_channel *record =
		put_record(spool, REC_NCCL_CHANNEL, 0, channel, sizeof *record);
	record->start = epoch + start + late;
	record->duration = finish - start;
	record->operation = operation;
	record->gpu_start = (uint64_t)(epoch + start + AHEAD);
	record->gpu_end = (uint64_t)(epoch + finish + AHEAD);
}

static struct rec_nccl_proxy *put_proxy(struct made_spool *spool, uint64_t operation, uint32_t pid,
					int64_t start, int64_t duration)
{
	struct rec_nccl_proxy *record =
		put_record(spool, REC_NCCL_PROXY, REC_NCCL_SEND, 1, sizeof *record);
	record->start = epoch + start;
	record->duration = duration;
	record->operation = operation;
	record->pid = pid;
	return record;
}

static int64_t kernel_start(const struct hwy_trace *trace, const struct hwy_message *m)
{
	uint32_t row;
	assert_true(m->span >= 0);
	const struct hwy_strip *strip = hwy_strip_of(trace, (uint32_t)m->span, &row);
	assert_int_equal(strip->kind, HWY_KERNEL);
	return hwy_get(strip, HWY_START, row);
}

/* ---- kernels ---------------------------------------------------------------------------------------- */

static void a_collective_is_joined_to_the_kernel_that_its_thread_launched_before(void **s)
{
	(void)s;
	struct made made = begin();
	put_kernel(&made.main, T_KERNEL, 2, 1000, 2000, 700);
	put_kernel(&made.main, T_OTHER_KERNEL, 1, 1005, 1500, 10);
	put_collective(&made.main, 1010, 1, 100, 0);
	put_kernel(&made.main, T_KERNEL, 3, 1100, 3000, 800);
	put_collective(&made.main, 1110, 2, 101, 1);
	struct hwy_trace *trace = end(&made);
	assert_int_equal(trace->n_messages, 2);
	const struct hwy_message *m = trace->messages;
	assert_int_equal(kernel_start(trace, &m[0]), 2000);
	assert_int_equal(kernel_start(trace, &m[1]), 3000);
	assert_int_equal(m[0].start, 2000);
	assert_int_equal(m[0].end, 2700);
	assert_int_equal(m[0].posted, 1000);
	assert_int_equal(m[1].sequence, 1);
	assert_string_equal(hwy_str(trace, m[0].name), "AllReduce");
	assert_string_equal(hwy_str(trace, m[0].library), "NCCL");
	assert_string_equal(hwy_str(trace, m[0].algorithm), "Ring");
	assert_string_equal(hwy_str(trace, m[0].protocol), "LL");
	assert_string_equal(hwy_str(trace, m[0].datatype), "float32");
	assert_int_equal(m[0].sent, 1024);
	assert_int_equal(m[0].received, 1024);
	assert_int_equal(m[0].channels, 2);
	const struct hwy_group *group = &trace->groups[m[0].group];
	assert_string_equal(hwy_str(trace, group->name), "abc");
	assert_string_equal(hwy_str(trace, group->ranks), "0-3");
	assert_int_equal(group->size, 4);
	hwy_trace_free(trace);
}

static void an_operation_whose_kernel_was_not_recorded_does_not_take_that_of_another(void **s)
{
	(void)s;
	struct made made = begin();
	put_kernel(&made.main, T_KERNEL, 3, 990, 3000, 800);
	put_collective(&made.main, 1000, 1, 100, 0);
	put_collective(&made.main, 1100, 2, 101, 1); /* its kernel is lost */
	put_event(&made.main, REC_NCCL_COLLECTIVE_CALL, 1200, 5, T_ALL_REDUCE);
	put_collective(&made.main, 1300, 3, 102, 2)->parent = 5; /* so is this one's */
	struct hwy_trace *trace = end(&made);
	assert_int_equal(kernel_start(trace, &trace->messages[0]), 3000);
	for (int i = 1; i < 3; i++) {
		assert_int_equal(trace->messages[i].span, HWY_NONE);
		assert_int_equal(trace->messages[i].start, HWY_NONE);
	}
	hwy_trace_free(trace);
}

static void operations_of_one_kernel_have_the_times_of_their_channels(void **s)
{
	(void)s;
	struct made made = begin();
	/* Kernels that do one operation tell how far the GPU's clock is ahead. */
	for (uint32_t i = 0; i < 8; i++) {
		int64_t at = 10000 * (int64_t)(i + 1);
		put_kernel(&made.main, T_KERNEL, 10 + i, at, at + 1000, 4);
		put_collective(&made.main, at + 10, 10 + i, 100 + i, i);
		put_channel(&made.proxy, 10 + i, 0, at + 1001, at + 1003, 20000);
	}
	put_kernel(&made.main, T_KERNEL, 50, 200000, 201000, 5000);
	put_collective(&made.main, 200010, 50, 200, 8);
	put_collective(&made.main, 200011, 51, 200, 9);
	put_channel(&made.proxy, 50, 0, 201100, 203000, 20000);
	put_channel(&made.proxy, 50, 1, 201050, 202900, 20000);
	put_channel(&made.proxy, 51, 0, 203100, 205900, 20000);
	struct hwy_trace *trace = end(&made);
	assert_int_equal(trace->n_messages, 10);
	const struct hwy_message *a = &trace->messages[8], *b = &trace->messages[9];
	assert_int_equal(a->span, b->span);
	assert_in_range(a->start - 201050 + 5, 0, 10);
	assert_in_range(a->end - 203000 + 5, 0, 10);
	assert_in_range(b->start - 203100 + 5, 0, 10);
	assert_in_range(b->end - 205900 + 5, 0, 10);
	hwy_trace_free(trace);
}

/* Any offset and drift of the GPU's clock: short kernels of one operation tell it, to within their length. */
static void times_of_channels_are_right_whatever_the_clock_of_the_gpu(void **s)
{
	(void)s;
	enum { LONGEST = 2000, OPERATIONS = 60 };
	uint64_t dice = 99;
#define ROLL(n) (int64_t)((dice = dice * 6364136223846793005u + 1442695040888963407u) >> 33) % (n)
	for (int round = 0; round < 50; round++) {
		struct made made = begin();
		int64_t offset = ROLL(INT64_C(1) << 30) * 1000000, ppm = ROLL(201) - 100;
#define GPU(t) (uint64_t)(epoch + offset + (t) + (t)*ppm / 1000000)
		int64_t at = 10000, truth[OPERATIONS][2];
		uint32_t id = 1;
		for (uint32_t i = 0; i < OPERATIONS; i++) {
			bool is_pair = ROLL(3) == 0;
			int64_t start = at + 500 + ROLL(20000), first = 100 + ROLL(LONGEST - 100);
			int64_t second = is_pair ? 50000 + ROLL(100000) : 0;
			put_kernel(&made.main, T_KERNEL, i + 1, at, start, first + second);
			for (int k = 0; k <= is_pair; k++, id++) {
				int64_t from = start + (k ? first : 0),
					to = k ? start + first + second : start + first;
				put_collective(&made.main, at + 100 + k, id, i + 1, id);
				put_channel(&made.proxy, id, 0, from, to, 5000 + ROLL(5000));
				struct rec_nccl_channel *last =
					(void *)(made.proxy.chunk->bytes +
						 (size_t)(made.proxy.used - 2) * REC_SLOT);
				last->gpu_start = GPU(from);
				last->gpu_end = GPU(to);
				if (k) {
					truth[i][0] = from;
					truth[i][1] = to;
				}
			}
			if (!is_pair)
				truth[i][0] = HWY_NONE;
			at = start + first + second + 1000;
		}
		struct hwy_trace *trace = end(&made);
		assert_int_equal(trace->n_messages, id - 1);
		for (uint32_t i = 0, k = 0; i < OPERATIONS; i++, k++) {
			if (truth[i][0] == HWY_NONE)
				continue;
			k++; /* the second of a pair */
			assert_true(llabs(trace->messages[k].start - truth[i][0]) <= LONGEST);
			assert_true(llabs(trace->messages[k].end - truth[i][1]) <= LONGEST);
		}
		hwy_trace_free(trace);
	}
}

static void what_a_graph_runs_is_joined_to_its_kernel_by_the_time_of_its_channels(void **s)
{
	(void)s;
	struct made made = begin();
	struct made_spool callback = make_spool(&made.run, PID, CALLBACK, 2);
	for (uint32_t i = 0; i < 4; i++) {
		int64_t at = 10000 * (int64_t)(i + 1);
		put_collective(&callback, at, 10 + i, 100 + i, i);
		put_kernel(&made.main, T_KERNEL, 1, i == 0 ? 5000 : 0, at + 1000, 500);
		put_channel(&made.proxy, 10 + i, 0, at + 1010, at + 1490, 2000);
	}
	end_spool(&callback);
	struct hwy_trace *trace = end(&made);
	assert_int_equal(trace->n_messages, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(kernel_start(trace, &trace->messages[i]),
				 10000 * (int64_t)(i + 1) + 1000);
	hwy_trace_free(trace);
}

static void a_kernel_of_a_graph_that_nobody_told_of_is_known_by_its_name(void **s)
{
	(void)s;
	struct made made = begin();
	put_kernel(&made.main, T_KERNEL, 2, 1000, 2000, 700);
	put_collective(&made.main, 1010, 1, 100, 0);
	put_kernel(&made.main, T_KERNEL, 3, 1100, 3000, 800); /* no graph: its operation was lost */
	put_call(&made.main, 211, 1200, 4);
	struct rec_work *work = put_work(&made.main, REC_KERNEL, T_KERNEL, 4000, 4, 13);
	work->graph = 7;
	work->node = 8;
	struct hwy_trace *trace = end(&made);
	assert_int_equal(trace->n_messages, 2);
	const struct hwy_message *m = &trace->messages[1];
	assert_int_equal(kernel_start(trace, m), 4000);
	assert_string_equal(hwy_str(trace, m->name), "AllReduce");
	assert_int_equal(m->sent, HWY_NONE);
	hwy_trace_free(trace);
}

static void without_kernels_the_channels_tell_when_an_operation_ran(void **s)
{
	(void)s;
	struct made made = begin();
	for (uint32_t i = 0; i < 4; i++) {
		int64_t at = 100000 * (int64_t)(i + 1);
		put_event(&made.main, REC_NCCL_COLLECTIVE_CALL, at, 50 + i, T_ALL_REDUCE);
		put_collective(&made.main, at + 10, 10 + i, 100 + i, i)->parent = 50 + i;
		put_channel(&made.proxy, 10 + i, 0, at + 100, at + 500, 100);
	}
	struct hwy_trace *trace = end(&made);
	for (uint32_t i = 0; i < 4; i++) {
		const struct hwy_message *m = &trace->messages[i];
		int64_t at = 100000 * (int64_t)(i + 1);
		assert_int_equal(m->span, HWY_NONE);
		assert_in_range(m->start, at, at + 200);
		assert_in_range(m->end - m->start, 399, 401);
	}
	hwy_trace_free(trace);
}

/* ---- calls ------------------------------------------------------------------------------------------ */

static void a_call_that_stands_alone_lasts_as_long_as_its_group(void **s)
{
	(void)s;
	struct made made = begin();
	put_event(&made.main, REC_NCCL_GROUP_CALL, 900, 1, 0)->depth = 1;
	struct rec_nccl_event *call =
		put_event(&made.main, REC_NCCL_COLLECTIVE_CALL, 910, 2, T_ALL_GATHER);
	call->parent = 1;
	put_nccl_end(&made.main, 2, 920);
	put_kernel(&made.main, T_KERNEL, 5, 925, 2000, 700);
	struct rec_nccl_event *operation =
		put_event(&made.main, REC_NCCL_COLLECTIVE, 930, 3, T_ALL_GATHER);
	operation->parent = 2;
	operation->plan = 100;
	operation->count = 1024; /* NCCL made bytes of it */
	operation->datatype = T_INT8;
	put_nccl_end(&made.main, 1, 990);
	struct hwy_trace *trace = end(&made);
	assert_int_equal(count(trace, HWY_CALL), 1);
	const struct hwy_message *m = trace->messages;
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(trace, (uint32_t)m->asked, &row);
	assert_string_equal(name_of(trace, strip, row), "ncclAllGather");
	assert_string_equal(hwy_str(trace, trace->lanes[strip->lane].name), "NCCL");
	assert_int_equal(hwy_get(strip, HWY_START, row), 910);
	assert_int_equal(hwy_get(strip, HWY_DUR, row), 80);
	assert_int_equal(m->posted, 910);
	assert_int_equal(m->count, 256);
	assert_string_equal(hwy_str(trace, m->datatype), "float32");
	assert_int_equal(m->sent, 1024);
	assert_int_equal(m->received, 4096);
	hwy_trace_free(trace);
}

static void calls_of_a_group_stand_inside_of_it(void **s)
{
	(void)s;
	struct made made = begin();
	put_event(&made.main, REC_NCCL_GROUP_CALL, 900, 1, 0)->depth = 2;
	for (uint64_t i = 0; i < 2; i++) {
		put_event(&made.main, REC_NCCL_MESSAGE_CALL, 910 + 10 * (int64_t)i, 2 + i, T_SEND)
			->parent = 1;
		put_nccl_end(&made.main, 2 + i, 915 + 10 * (int64_t)i);
	}
	put_nccl_end(&made.main, 1, 990);
	struct hwy_trace *trace = end(&made);
	assert_int_equal(count(trace, HWY_CALL), 3);
	for (uint32_t i = 0; i < trace->n_strips; i++)
		if (trace->strips[i].kind == HWY_CALL) {
			assert_string_equal(name_of(trace, &trace->strips[i], 0), "ncclGroup");
			assert_int_equal(hwy_get(&trace->strips[i], HWY_DUR, 0), 90);
			assert_string_equal(name_of(trace, &trace->strips[i], 1), "ncclSend");
		}
	hwy_trace_free(trace);
}

static void a_call_that_nvtx_told_is_the_one_that_asked(void **s)
{
	(void)s;
	struct made made = begin();
	put_string(&made.main, 60, "NCCL");
	put_string(&made.main, 61, "ncclAllReduce");
	struct rec_naming *domain =
		put_record(&made.main, REC_NAME, REC_NAMED_DOMAIN, 60, sizeof *domain);
	domain->domain = 5;
	put_range(&made.main, REC_PUSH, 61, 890, 5);
	put_event(&made.main, REC_NCCL_GROUP_CALL, 900, 1, 0)->depth = 1;
	put_event(&made.main, REC_NCCL_COLLECTIVE_CALL, 910, 2, T_ALL_REDUCE)->parent = 1;
	put_nccl_end(&made.main, 2, 920);
	put_collective(&made.main, 930, 3, 100, 0)->parent = 2;
	put_nccl_end(&made.main, 1, 990);
	put_range(&made.main, REC_POP, 0, 1000, 5);
	struct hwy_trace *trace = end(&made);
	assert_int_equal(count(trace, HWY_CALL), 1);
	uint32_t row;
	const struct hwy_strip *strip =
		hwy_strip_of(trace, (uint32_t)trace->messages[0].asked, &row);
	assert_string_equal(name_of(trace, strip, row), "ncclAllReduce");
	assert_int_equal(hwy_get(strip, HWY_START, row), 890);
	assert_int_equal(hwy_get(strip, HWY_DUR, row), 110);
	hwy_trace_free(trace);
}

/* ---- ranks ------------------------------------------------------------------------------------------ */

static void peers_of_a_communicator_with_other_members_than_the_job_are_not_known(void **s)
{
	(void)s;
	for (int is_world = 0; is_world < 2; is_world++) {
		struct made made = begin_of(2, is_world ? 4 : 8);
		put_comm(&made.main, COMM, 4, is_world ? 2 : 1);
		put_event(&made.main, REC_NCCL_MESSAGE, 1000, 1, T_SEND)->peer = 3;
		struct hwy_trace *trace = end(&made);
		const struct hwy_message *m = trace->messages;
		const struct hwy_group *group = &trace->groups[m->group];
		assert_int_equal(m->kind, HWY_MESSAGE_SEND);
		assert_int_equal(m->peer, is_world ? 3 : HWY_NONE);
		assert_int_equal(m->received, 0);
		assert_int_equal(group->ranks == HWY_NONE, !is_world);
		hwy_trace_free(trace);
	}
}

/* ---- proxies ---------------------------------------------------------------------------------------- */

static void the_proxy_that_ends_last_tells_what_an_operation_waited_for(void **s)
{
	(void)s;
	struct made made = begin();
	put_kernel(&made.main, T_KERNEL, 2, 990, 2000, 700);
	put_collective(&made.main, 1000, 1, 100, 0);
	struct rec_nccl_proxy *early = put_proxy(&made.proxy, 1, PID, 1100, 500);
	early->wait_gpu = 400;
	struct rec_nccl_proxy *late = put_proxy(&made.proxy, 1, PID, 1100, 1500);
	late->wait_gpu = 100;
	late->wait_peer = 200;
	late->wait_network = 300;
	/* Ids are those of a process: this one belongs to a process that is not in the run. */
	put_proxy(&made.proxy, 1, OTHER_PID, 1100, 9000)->wait_peer = 8000;
	struct hwy_trace *trace = end(&made);
	const struct hwy_message *m = trace->messages;
	assert_int_equal(m->wait_gpu, 100);
	assert_int_equal(m->wait_peer, 200);
	assert_int_equal(m->wait_network, 300);
	assert_true(was_said(trace, "NCCL sent or received 1 times for processes"));
	hwy_trace_free(trace);
}

static void a_proxy_that_works_for_another_process_of_the_run_tells_of_its_operation(void **s)
{
	(void)s;
	struct made made = begin();
	struct made_spool other = make_spool(&made.run, OTHER_PID, OTHER_PID, 2);
	put_process(&other, 1, 6);
	put_texts(&other);
	put_comm(&other, COMM, 4, 1);
	put_collective(&other, 1000, 7, 100, 0);
	put_proxy(&made.proxy, 7, OTHER_PID, 1100, 900)->wait_network = 600;
	end_spool(&other);
	struct hwy_trace *trace = end(&made);
	assert_int_equal(trace->n_messages, 1);
	assert_int_equal(trace->messages[0].wait_network, 600);
	assert_int_equal(trace->messages[0].start, 1100);
	assert_int_equal(trace->messages[0].end, 2000);
	hwy_trace_free(trace);
}

/* ---- damage ----------------------------------------------------------------------------------------- */

static void records_without_their_operation_are_left_out(void **s)
{
	(void)s;
	struct made made = begin();
	put_channel(&made.proxy, 77, 0, 1000, 2000, 10);
	put_proxy(&made.proxy, 0, PID, 1000, 2000);
	put_nccl_end(&made.main, 99, 1000);
	struct rec_nccl_event *event = put_collective(&made.main, 1000, 1, 100, 0);
	event->head.value = 1234; /* a communicator that nobody defined */
	put_collective(&made.main, 2000, 0, 0, 0)->start = INT64_MAX;
	put_collective(&made.main, 3000, 5, 0, 0)->head.flags = 200;
	struct hwy_trace *trace = end(&made);
	assert_int_equal(trace->n_messages, 0);
	hwy_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_of_channels_are_right_whatever_the_clock_of_the_gpu),
		cmocka_unit_test(
			a_collective_is_joined_to_the_kernel_that_its_thread_launched_before),
		cmocka_unit_test(
			an_operation_whose_kernel_was_not_recorded_does_not_take_that_of_another),
		cmocka_unit_test(operations_of_one_kernel_have_the_times_of_their_channels),
		cmocka_unit_test(
			what_a_graph_runs_is_joined_to_its_kernel_by_the_time_of_its_channels),
		cmocka_unit_test(a_kernel_of_a_graph_that_nobody_told_of_is_known_by_its_name),
		cmocka_unit_test(without_kernels_the_channels_tell_when_an_operation_ran),
		cmocka_unit_test(a_call_that_stands_alone_lasts_as_long_as_its_group),
		cmocka_unit_test(calls_of_a_group_stand_inside_of_it),
		cmocka_unit_test(a_call_that_nvtx_told_is_the_one_that_asked),
		cmocka_unit_test(
			peers_of_a_communicator_with_other_members_than_the_job_are_not_known),
		cmocka_unit_test(the_proxy_that_ends_last_tells_what_an_operation_waited_for),
		cmocka_unit_test(
			a_proxy_that_works_for_another_process_of_the_run_tells_of_its_operation),
		cmocka_unit_test(records_without_their_operation_are_left_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
