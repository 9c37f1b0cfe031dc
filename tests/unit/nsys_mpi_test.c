/* SPDX-License-Identifier: Apache-2.0 */
/* nsys_mpi_test.c - what ranks exchange, as exports of nsys tell it: calls of MPI, and payloads of NCCL's ranges. */
#include "nsys_sql.h"
#include "trace/trace.h"

#define MPI_TABLES                                                                                 \
	STRINGS                                                                                    \
	"CREATE TABLE MPI_RANKS(globalTid, rank);"                                                 \
	"CREATE TABLE MPI_P2P_EVENTS(start, end, globalTid, textId, commHandle, tag, remoteRank, " \
	"size, requestHandle);"                                                                    \
	"CREATE TABLE MPI_COLLECTIVES_EVENTS(start, end, globalTid, textId, commHandle, "          \
	"rootRank, size, recvSize, requestHandle);"                                                \
	"CREATE TABLE MPI_START_WAIT_EVENTS(start, end, globalTid, textId, requestHandle);"        \
	"CREATE TABLE MPI_OTHER_EVENTS(start, end, globalTid, textId);"                            \
	"INSERT INTO StringIds VALUES(1, 'MPI_Send'), (2, 'MPI_Irecv'), (3, 'MPI_Wait'), "         \
	"(4, 'MPI_Allreduce'), (5, 'MPI_Bcast'), (6, 'MPI_Barrier'), (7, 'MPI_Sendrecv'), "        \
	"(8, 'MPI_Send_init'), (9, 'MPI_Start'), (10, 'MPI_Init'), (11, 'MPI_Waitall'), "          \
	"(12, 'MPI_Iallreduce'), (13, 'MPI_File_write_all');"                                      \
	"INSERT INTO MPI_RANKS VALUES(" TID(10, 10) ", 0), (" TID(20, 20) ", 1);"
#define THREAD TID(10, 10)

static uint32_t calls_named(const struct hwy_trace *trace, const char *name)
{
	uint32_t n = 0;
	for (uint32_t s = 0; s < trace->n_strips; s++)
		for (uint32_t row = 0; row < trace->strips[s].rows; row++)
			n += trace->strips[s].kind == HWY_CALL &&
			     hwy_lane_is_library(trace, trace->strips[s].lane) &&
			     strcmp(hwy_str(trace, hwy_get(&trace->strips[s], HWY_NAME, row)),
				    name) == 0;
	return n;
}

static const char *name_of_span(const struct hwy_trace *trace, int64_t span)
{
	uint32_t row;
	assert_true(span != HWY_NONE);
	const struct hwy_strip *strip = hwy_strip_of(trace, (uint32_t)span, &row);
	return hwy_str(trace, hwy_get(strip, HWY_NAME, row));
}

static void a_row_of_mpi_is_a_call_and_a_message(void **state)
{
	(void)state;
	struct hwy_trace *trace =
		opened(MPI_TABLES "INSERT INTO MPI_P2P_EVENTS VALUES(100, 200, " THREAD
				  ", 1, 0x44000000, 7, 1, 4096, NULL);"
				  "INSERT INTO MPI_COLLECTIVES_EVENTS VALUES(300, 400, " THREAD
				  ", 4, 0x44000000, -1, 80, 80, NULL), (500, 600, " THREAD
				  ", 5, 0x44000000, 1, 0, 24, NULL), (700, 800, " THREAD
				  ", 6, 0x44000000, NULL, NULL, NULL, NULL), (810, 820, " THREAD
				  ", 13, 0x44000000, NULL, 99, 0, NULL);"
				  "INSERT INTO MPI_OTHER_EVENTS VALUES(1, 90, " THREAD
				  ", 10), (1, 90, " TID(20, 20) ", 10);");
	assert_int_equal(trace->n_messages, 4);
	const struct hwy_message *m = trace->messages;
	assert_int_equal(m[0].kind, HWY_MESSAGE_SEND);
	assert_string_equal(hwy_str(trace, m[0].name), "Send");
	assert_string_equal(hwy_str(trace, m[0].library), "MPI");
	assert_int_equal(m[0].peer, 1);
	assert_int_equal(m[0].tag, 7);
	assert_int_equal(m[0].sent, 4096);
	assert_int_equal(m[0].received, 0);
	assert_int_equal(m[0].start, 100);
	assert_int_equal(m[0].end, 200);
	assert_int_equal(m[0].sequence, HWY_NONE);
	assert_string_equal(hwy_str(trace, m[1].name), "AllReduce");
	assert_int_equal(m[1].peer, HWY_NONE);
	assert_int_equal(m[1].received, 80);
	assert_int_equal(m[1].sequence, 0);
	assert_string_equal(hwy_str(trace, m[2].name), "Broadcast");
	assert_int_equal(m[2].peer, 1);
	assert_int_equal(m[2].sent, 0);
	assert_int_equal(m[2].received, 24);
	assert_string_equal(hwy_str(trace, m[3].name), "Barrier");
	assert_int_equal(m[3].sent, 0);
	assert_int_equal(m[3].sequence, 2);
	assert_int_equal(calls_named(trace, "MPI_File_write_all"), 1);
	assert_int_equal(calls_named(trace, "MPI_Init"), 2);
	/* Both ranks are in the export: the world has two. */
	const struct hwy_group *world = &trace->groups[m[0].group];
	assert_string_equal(hwy_str(trace, world->name), "MPI_COMM_WORLD");
	assert_string_equal(hwy_str(trace, world->ranks), "0-1");
	assert_int_equal(world->size, 2);
	hwy_trace_free(trace);
}

static void a_request_joins_who_asks_and_who_waits(void **state)
{
	(void)state;
	struct hwy_trace *trace = opened(
		MPI_TABLES "INSERT INTO MPI_P2P_EVENTS VALUES(10, 20, " THREAD
			   ", 2, 1, 7, 1, 8, 900), (30, 40, " THREAD ", 2, 1, 7, 2, 16, 901);"
			   "INSERT INTO MPI_COLLECTIVES_EVENTS VALUES(45, 46, " THREAD
			   ", 12, 1, NULL, 80, 80, 902);"
			   "INSERT INTO MPI_START_WAIT_EVENTS VALUES(100, 200, " THREAD
			   ", 11, 900), (100, 200, " THREAD ", 11, 901), (300, 400, " THREAD
			   ", 3, 902);");
	assert_int_equal(trace->n_messages, 3);
	assert_int_equal(calls_named(trace, "MPI_Waitall"), 1);
	for (uint32_t i = 0; i < 3; i++) {
		const struct hwy_message *m = &trace->messages[i];
		assert_string_equal(name_of_span(trace, m->done),
				    i < 2 ? "MPI_Waitall" : "MPI_Wait");
		assert_string_equal(name_of_span(trace, m->span),
				    i < 2 ? "MPI_Irecv" : "MPI_Iallreduce");
		assert_int_equal(m->end, i < 2 ? 200 : 400);
	}
	assert_int_equal(trace->messages[0].received, 8);
	assert_int_equal(trace->messages[0].peer, 1);
	assert_int_equal(trace->messages[2].sequence, 0);
	hwy_trace_free(trace);
}

static void a_prepared_message_is_sent_each_time_it_is_started(void **state)
{
	(void)state;
	struct hwy_trace *trace =
		opened(MPI_TABLES "INSERT INTO MPI_P2P_EVENTS VALUES(10, 20, " THREAD
				  ", 8, 1, 7, 1, 8, 900);"
				  "INSERT INTO MPI_START_WAIT_EVENTS VALUES(100, 110, " THREAD
				  ", 9, 900), (120, 130, " THREAD ", 3, 900), (200, 210, " THREAD
				  ", 9, 900), (220, 230, " THREAD ", 3, 900);");
	assert_int_equal(trace->n_messages, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct hwy_message *m = &trace->messages[i];
		assert_int_equal(m->kind, HWY_MESSAGE_SEND);
		assert_int_equal(m->sent, 8);
		assert_int_equal(m->start, i ? 200 : 100);
		assert_int_equal(m->end, i ? 230 : 130);
		assert_string_equal(name_of_span(trace, m->span), "MPI_Start");
	}
	hwy_trace_free(trace);
}

static void a_sendrecv_is_two_messages_of_one_call(void **state)
{
	(void)state;
	/* The first call has one row, for both; the second has a row for each. */
	struct hwy_trace *trace =
		opened(MPI_TABLES "INSERT INTO MPI_P2P_EVENTS VALUES(10, 20, " THREAD
				  ", 7, 1, 5, 1, 8, NULL), (30, 40, " THREAD
				  ", 7, 1, 5, 1, 100, NULL), (30, 40, " THREAD
				  ", 7, 1, 6, 2, 200, NULL);");
	assert_int_equal(calls_named(trace, "MPI_Sendrecv"), 2);
	assert_int_equal(trace->n_messages, 4);
	const struct hwy_message *m = trace->messages;
	static const int64_t sent[] = {8, 0, 100, 0}, received[] = {0, 8, 0, 200},
			     peers[] = {1, 1, 1, 2}, tags[] = {5, 5, 5, 6};
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(m[i].sent, sent[i]);
		assert_int_equal(m[i].received, received[i]);
		assert_int_equal(m[i].peer, peers[i]);
		assert_int_equal(m[i].tag, tags[i]);
		assert_int_equal(m[i].kind, i % 2 ? HWY_MESSAGE_RECEIVE : HWY_MESSAGE_SEND);
	}
	hwy_trace_free(trace);
}

static void a_communicator_whose_members_are_not_told_is_no_other_processs(void **state)
{
	(void)state;
	struct hwy_trace *trace = opened(
		MPI_TABLES
		"INSERT INTO MPI_COLLECTIVES_EVENTS VALUES(1, 2, " THREAD
		", 6, 0x44000000, NULL, 0, 0, NULL), (3, 4, " THREAD
		", 6, 0x84000001, NULL, 0, 0, NULL), (3, 4, " TID(
			20,
			20) ", 6, 0x84000001, NULL, 0, 0, NULL), (1, 2, " TID(20,
									      20) ", 6, 0x44000000, NULL, 0, 0, NULL);");
	assert_int_equal(trace->n_groups, 4);
	int worlds = 0;
	for (uint32_t i = 0; i < 4; i++) {
		worlds += strcmp(hwy_str(trace, trace->groups[i].name), "MPI_COMM_WORLD") == 0;
		for (uint32_t k = 0; k < i; k++)
			assert_true(trace->groups[i].name != trace->groups[k].name ||
				    strcmp(hwy_str(trace, trace->groups[i].name),
					   "MPI_COMM_WORLD") == 0);
	}
	assert_int_equal(worlds, 2);
	hwy_trace_free(trace);
}

#define SCHEMAS                                                                                                         \
	"CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES(domainId, schemaId, idx, flags, type, name, "                         \
	"description, arrayOrUnionDetail, offset);"                                                                     \
	"INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES(1, 5, 0, NULL, 18, 'NCCL communicator ID', NULL, NULL, NULL), " \
	"(1, 5, 1, NULL, 22, 'Message size [bytes]', NULL, NULL, 8), (1, 5, 2, NULL, 5, 'Peer rank', NULL, NULL, 16);"
/* domain 1, schema 5, 24 bytes of payload, 56 in all; communicator 0xabc, 4096 bytes, rank 3. */
#define HEADER                                                                                     \
	"0100000000000000"                                                                         \
	"0500000000000000"                                                                         \
	"1800000000000000"                                                                         \
	"3800000000000000"
#define BODY                                                                                       \
	"bc0a000000000000"                                                                         \
	"0010000000000000"                                                                         \
	"0300000000000000"

static struct hwy_trace *nccl_send(const char *payload)
{
	char sql[4096];
	snprintf(
		sql, sizeof sql,
		STRINGS CALLS KERNELS NVTX SCHEMAS
		"INSERT INTO StringIds VALUES(1, 'cudaLaunchKernel'), (2, 'ncclDevKernel_SendRecv'), (3, 'ncclSend');"
		"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(10, 20, 0, %s, 7, 1, 0, 0);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, contextId, streamId, correlationId, globalPid, "
		"demangledName, shortName) VALUES(30, 90, 0, 1, 7, 7, %s, 2, 2);"
		"INSERT INTO NVTX_EVENTS(start, end, eventType, globalTid, textId, domainId, binaryData) VALUES(5, 25, 59, %s, "
		"3, 1, %s);",
		THREAD, PID(10), THREAD, payload);
	return opened(sql);
}

static void the_payload_of_a_range_of_nccl_tells_its_kernels_bytes(void **state)
{
	(void)state;
	static const char *const forms[] = {"x'" HEADER BODY "'", "'" HEADER BODY "'"};
	for (int i = 0; i < 2; i++) {
		struct hwy_trace *trace = nccl_send(forms[i]);
		assert_int_equal(trace->n_messages, 1);
		const struct hwy_message *m = &trace->messages[0];
		assert_int_equal(m->kind, HWY_MESSAGE_SEND);
		assert_int_equal(m->sent, 4096);
		assert_int_equal(m->peer, 3);
		assert_int_equal(m->start, 30);
		assert_string_equal(hwy_str(trace, trace->groups[m->group].name), "abc");
		assert_string_equal(name_of_span(trace, m->asked), "ncclSend");
		hwy_trace_free(trace);
	}
}

static void a_payload_whose_sizes_do_not_agree_is_not_decoded(void **state)
{
	(void)state;
	static const char *const damaged[] = {
		"x'" HEADER "bc0a'",
		"x'0100'",
		"'" HEADER "'",
		"x''",
		"x'0100000000000000050000000000000018000000000000003900000000000000" BODY "'",
		"x'01000000000000000500000000000000ffffffffffffffff1f00000000000000" BODY "'",
	};
	for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
		struct hwy_trace *trace = nccl_send(damaged[i]);
		assert_int_equal(trace->n_messages, 1);
		assert_int_equal(trace->messages[0].sent, HWY_NONE);
		assert_int_equal(trace->messages[0].group, HWY_NONE);
		hwy_trace_free(trace);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_of_mpi_is_a_call_and_a_message),
		cmocka_unit_test(a_request_joins_who_asks_and_who_waits),
		cmocka_unit_test(a_prepared_message_is_sent_each_time_it_is_started),
		cmocka_unit_test(a_sendrecv_is_two_messages_of_one_call),
		cmocka_unit_test(a_communicator_whose_members_are_not_told_is_no_other_processs),
		cmocka_unit_test(the_payload_of_a_range_of_nccl_tells_its_kernels_bytes),
		cmocka_unit_test(a_payload_whose_sizes_do_not_agree_is_not_decoded),
	};
	return cmocka_run_group_tests(tests, make_path, remove_path);
}
