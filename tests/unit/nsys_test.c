/* SPDX-License-Identifier: Apache-2.0 */
/* nsys_test.c - what the reader of nsys exports makes of tables of many ages. */
#include "nsys_sql.h"

static const struct hwy_strip *strip_of(const struct hwy_trace *trace, enum hwy_kind kind,
					uint32_t nth)
{
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		if (trace->strips[s].kind == kind && nth-- == 0)
			return &trace->strips[s];
	}
	return NULL;
}

static uint32_t count_of(const struct hwy_trace *trace, enum hwy_kind kind)
{
	uint32_t count = 0;
	for (uint32_t s = 0; s < trace->n_strips; s++)
		count += trace->strips[s].kind == kind ? trace->strips[s].rows : 0;
	return count;
}

static const char *name_of(const struct hwy_trace *trace, const struct hwy_strip *strip,
			   uint32_t row)
{
	return hwy_str(trace, hwy_get(strip, HWY_NAME, row));
}

static void an_export_of_schema_2_opens(void **state)
{
	struct hwy_trace *trace = opened(
		STRINGS KERNELS CALLS
		"CREATE TABLE EXPORT_META_DATA(name TEXT, value TEXT);"
		"INSERT INTO EXPORT_META_DATA VALUES('EXPORT_SCHEMA_VERSION', '2.9.1');"
		"CREATE TABLE TARGET_INFO_CUDA_NULL_STREAM(streamId, hwId, vmId, processId, deviceId, contextId);"
		"INSERT INTO TARGET_INFO_CUDA_NULL_STREAM VALUES(7, 0, 1, 10, 0, 1);"
		"INSERT INTO StringIds VALUES(1, 'f(int)'), (2, 'f'), (3, '_Z1fi'), (4, 'cudaLaunchKernel_v7000');"
		"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(-5, 20, 0, " TID(
			10,
			11) ", 9, 4, 700, NULL);"
			    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(30, 40, 0, 1, 7, 9, " PID(
				    10) ", 1, 2, 3,"
					" 4, 5, 6, 128, 1, 1, 32, 16, 8);");
	assert_string_equal(hwy_property(trace, "source.schema"), "2.9.1");
	const struct hwy_strip *call = strip_of(trace, HWY_API, 0),
			       *kernel = strip_of(trace, HWY_KERNEL, 0);
	assert_int_equal(hwy_get(call, HWY_START, 0), -5);
	assert_int_equal(hwy_get(call, HWY_DUR, 0), 25);
	assert_int_equal(hwy_get(call, HWY_RESULT, 0), 700);
	assert_int_equal(hwy_get(kernel, HWY_LINK, 0), call->first + 1);
	assert_string_equal(name_of(trace, kernel, 0), "f(int)");
	const struct hwy_symbol *symbol = &trace->symbols[hwy_get(kernel, HWY_SYMBOL, 0) - 1];
	assert_string_equal(hwy_str(trace, symbol->mangled), "_Z1fi");
	assert_int_equal(trace->shapes[hwy_get(kernel, HWY_SHAPE, 0) - 1].grid_z, 6);
	const struct hwy_stream *stream = &trace->streams[trace->lanes[kernel->lane].stream];
	assert_int_equal(stream->number, 7);
	assert_int_equal(stream->flags, 3);
	assert_int_equal(stream->green, HWY_NONE);
	assert_int_equal(trace->contexts[0].null_stream, 7);
	assert_int_equal(trace->threads[0].tid, 11);
	assert_int_equal(trace->processes[0].pid, 10);
	hwy_trace_free(trace);
}

static int64_t sync_type_of(const struct hwy_trace *trace, int64_t start)
{
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		for (uint32_t r = 0; trace->strips[s].kind == HWY_SYNC && r < trace->strips[s].rows;
		     r++) {
			if (hwy_get(&trace->strips[s], HWY_START, r) == start)
				return hwy_get(&trace->strips[s], HWY_SYNC_TYPE, r);
		}
	}
	return -1;
}

static void a_wait_is_classified_by_its_call_and_never_by_its_number(void **state)
{
	struct hwy_trace *trace = opened(
		STRINGS CALLS SYNCS
		"INSERT INTO StringIds VALUES(1, 'cudaDeviceSynchronize_v3020'), (2, 'cudaStreamSynchronize_v3020'),"
		" (3, 'cudaStreamWaitEvent_v3020'), (4, 'cudaEventQuery_v3020');"
		"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT value, value + 5, 0, " TID(
			10,
			10) ", value, value,"
			    " 0, NULL FROM (SELECT 1 AS value UNION SELECT 2 UNION SELECT 3 UNION SELECT 4);"
			    "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES"
			    /* the numbers and the 0 in place of "none" are those of old schemas */
			    "(10, 11, 0, 1, " NONE ", 1, " PID(
				    10) ", 1, 0, NULL),"
					"(20, 21, 0, 1, 7, 2, " PID(
						10) ", 2, " NONE ", " NONE "),"
						    "(30, 31, 0, 1, 7, 3, " PID(
							    10) ", 3, 5, 6),"
								"(40, 41, 0, 1, " NONE ", 4, " PID(
									10) ", 0, 5, 6),"
									    /* no call recorded: what the row names decides */
									    "(50, 51, 0, 1, 7, 99, " PID(
										    10) ", 1, " NONE
											", " NONE
											"),"
											"(60, 61, 0, 1, " NONE
											", 99, " PID(
												10) ", 1, " NONE
												    ", " NONE
												    "),"
												    "(70, 71, 0, 1, " NONE
												    ", 0, " PID(
													    10) ", 4, 3, 4),"
														/* the same correlation id in another process is another call */
														"(80, 81, 0, 1, 7, 1, " PID(
															20) ", 4, " NONE
															    ", " NONE
															    ");");
	assert_int_equal(sync_type_of(trace, 10), HWY_SYNC_CONTEXT);
	assert_int_equal(sync_type_of(trace, 20), HWY_SYNC_STREAM);
	assert_int_equal(sync_type_of(trace, 30), HWY_SYNC_STREAM_WAIT);
	assert_int_equal(sync_type_of(trace, 40), HWY_SYNC_EVENT);
	assert_int_equal(sync_type_of(trace, 50), HWY_SYNC_STREAM);
	assert_int_equal(sync_type_of(trace, 60), HWY_SYNC_CONTEXT);
	assert_int_equal(sync_type_of(trace, 70), HWY_SYNC_EVENT);
	assert_int_equal(sync_type_of(trace, 80), HWY_SYNC_STREAM);
	hwy_trace_free(trace);
}

static void an_event_is_joined_to_its_waits_by_the_id_they_share(void **state)
{
	struct hwy_trace *trace = opened(
		STRINGS CALLS SYNCS
		"CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT(timestamp, deviceId, contextId, streamId,"
		" correlationId, globalPid, eventId, eventSyncId);"
		"INSERT INTO StringIds VALUES(1, 'cudaEventRecord_v3020');"
		"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(3, 4, 0, " TID(
			10,
			10) ", 1, 1, 0, NULL);"
			    /* handle 2 is used twice; the first time was not collected and comes from the call */
			    "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES(0, 0, 1, 7, 1, " PID(
				    10) ", 2, 5),"
					" (50, 0, 1, 7, 2, " PID(10) ", 2, 6), (0, 0, 1, 7, 77, " PID(
						10) ", 2, 7);"
						    "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES"
						    "(20, 21, 0, 1, 8, 2, " PID(10) ", 2, 2, 5), (60, 61, 0, 1, 8, 2, " PID(
							    10) ", 2, 2, 6),"
								"(70, 71, 0, 1, 8, 2, " PID(
									20) ", 2, 2, 6);");
	const struct hwy_strip *events = strip_of(trace, HWY_EVENT, 0);
	assert_int_equal(events->rows, 2);
	assert_int_equal(hwy_get(events, HWY_START, 0), 3);
	assert_int_equal(hwy_get(events, HWY_START, 1), 50);
	assert_int_equal(trace->n_edges, 2);
	for (uint32_t e = 0; e < 2; e++) {
		uint32_t row;
		const struct hwy_strip *wait =
			hwy_strip_of(trace, (uint32_t)trace->edges[e].to, &row);
		assert_int_equal(trace->edges[e].from, events->first + e);
		assert_int_equal(hwy_get(wait, HWY_START, row), e ? 60 : 20);
	}
	/* the third has neither a time nor a call */
	assert_int_equal(trace->n_drops, 1);
	assert_int_equal(trace->drops[0].count, 1);
	hwy_trace_free(trace);
}

static void a_device_is_the_machines_gpu_whatever_its_process_calls_it(void **state)
{
	struct hwy_trace *trace = opened(
		STRINGS KERNELS
		"CREATE TABLE TARGET_INFO_CUDA_DEVICE(gpuId, cudaId, pid);"
		"INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES(3, 0, 10), (3, 1, 20);"
		"CREATE TABLE TARGET_INFO_GPU(vmId, id, name, smCount);"
		"INSERT INTO TARGET_INFO_GPU VALUES((1 << 48), 2, 'idle', 1), ((1 << 48), 3, 'busy', 132);"
		"CREATE TABLE TARGET_INFO_CUDA_STREAM(streamId, hwId, vmId, processId, contextId, priority, flag);"
		"INSERT INTO TARGET_INFO_CUDA_STREAM VALUES(7, 0, 1, 10, 1, 4294967291, 2);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, contextId, streamId, globalPid)"
		" VALUES(1, 2, 0, 1, 7, " PID(10) "), (3, 4, 1, 1, 7, " PID(20) ");");
	assert_int_equal(trace->n_devices, 1);
	assert_string_equal(hwy_str(trace, trace->devices[0].name), "busy");
	assert_int_equal(trace->devices[0].ordinal, 3);
	assert_int_equal(trace->n_streams, 2);
	assert_int_equal(trace->streams[0].ordinal, 0);
	assert_int_equal(trace->streams[0].priority, -5);
	assert_int_equal(trace->streams[0].flags, 2);
	assert_int_equal(trace->streams[1].ordinal, 1);
	assert_int_equal(trace->streams[1].priority, HWY_NONE);
	hwy_trace_free(trace);
}

static void unified_memory_moves_are_copies_with_a_cause(void **state)
{
	struct hwy_trace *trace = opened(
		STRINGS
		"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start, end, deviceId, contextId, streamId,"
		" correlationId, globalPid, bytes, copyKind, srcKind, dstKind, migrationCause, virtualAddress);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES"
		"(1, 2, 0, 0, 0, 0, " PID(10) ", 65536, 11, 7, 7, 2, 140000000000000),"
					      "(3, 4, 0, 0, 0, 0, " PID(
						      10) ", 8, 99, 0, 55, NULL, NULL);");
	const struct hwy_strip *copy = strip_of(trace, HWY_COPY, 0);
	assert_int_equal(hwy_get(copy, HWY_DIRECTION, 0), HWY_UM_H2D);
	assert_int_equal(hwy_get(copy, HWY_CAUSE, 0), HWY_CAUSE_FAULT);
	assert_int_equal(hwy_get(copy, HWY_ADDRESS, 0), 140000000000000);
	assert_int_equal(hwy_get(copy, HWY_SRC_MEMORY, 0), HWY_MEM_UNKNOWN);
	assert_int_equal(hwy_get(copy, HWY_DIRECTION, 1), HWY_DIR_UNKNOWN);
	assert_int_equal(hwy_get(copy, HWY_SRC_MEMORY, 1), HWY_MEM_PAGEABLE);
	assert_int_equal(hwy_get(copy, HWY_DST_MEMORY, 1), HWY_MEM_UNKNOWN);
	assert_int_equal(hwy_get(copy, HWY_CAUSE, 1), HWY_CAUSE_NONE);
	hwy_trace_free(trace);
}

static void a_kernel_of_a_graph_leads_to_the_node_that_was_captured(void **state)
{
	struct hwy_trace *trace = opened(
		STRINGS
		"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, contextId, streamId, "
		"correlationId, globalPid, shortName, graphNodeId);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(90, 95, 0, 1, 7, 1, " PID(
			10) ", 0, 21),"
			    " (96, 97, 0, 1, 7, 1, " PID(
				    10) ", 0, 22);"
					"CREATE TABLE CUDA_GRAPH_NODE_EVENTS(start, end, eventClass, globalTid, nameId, "
					"graphNodeId, originalGraphNodeId);"
					"INSERT INTO CUDA_GRAPH_NODE_EVENTS VALUES(30, 30, 77, " TID(
						10,
						11) ", 0, 1, NULL),"
						    " (40, 40, 77, " TID(10, 12) ", 0, 21, NULL), (41, 41, 77, " TID(
							    10,
							    12) ", 0, 21, 1),"
								" (42, 42, 77, " TID(10, 12) ", 0, 22, NULL), (43, 43, 77, " TID(
									10, 12) ", 0, 22, 2);");
	assert_int_equal(trace->n_nodes,
			 1); /* nobody knows where node 2, and so its copy, was made */
	assert_int_equal(trace->nodes[0].node, 21);
	assert_int_equal(trace->nodes[0].time, 30);
	assert_int_equal(trace->threads[trace->nodes[0].thread].tid, 11);
	hwy_trace_free(trace);
}

static void ranges_have_domains_registered_names_and_the_row_nsys_prints(void **state)
{
	struct hwy_trace *trace = opened(
		STRINGS NVTX
		"INSERT INTO StringIds VALUES(5, 'registered');"
		"INSERT INTO NVTX_EVENTS(rowid, start, end, eventType, text, globalTid, textId, domainId) VALUES"
		"(4, 10, 20, 59, 'plain', " TID(
			10, 11) ", NULL, 0),"
				"(6, 12, 18, 59, NULL, " TID(
					10, 11) ", 5, 3),"
						/* the domain's creation may come last */
						"(8, -9, NULL, 75, 'late', " TID(10,
										 10) ", NULL, 3);");
	assert_int_equal(count_of(trace, HWY_RANGE), 2);
	const struct hwy_strip *plain = strip_of(trace, HWY_RANGE, 0),
			       *other = strip_of(trace, HWY_RANGE, 1);
	assert_string_equal(name_of(trace, plain, 0), "plain");
	assert_string_equal(hwy_str(trace, trace->lanes[plain->lane].name), "");
	assert_int_equal(hwy_get(plain, HWY_ROW, 0), 4);
	assert_int_equal(hwy_get(plain, HWY_STYLE, 0), HWY_PUSHPOP);
	assert_string_equal(name_of(trace, other, 0), "registered");
	assert_string_equal(hwy_str(trace, trace->lanes[other->lane].name), "late");
	assert_int_equal(hwy_get(other, HWY_ROW, 0), 6);
	hwy_trace_free(trace);
}

static void a_range_keeps_its_category_colour_payload_and_other_thread(void **state)
{
	struct hwy_trace *trace = opened(
		STRINGS NVTX
		"INSERT INTO NVTX_EVENTS(start, end, eventType, text, globalTid, endGlobalTid, domainId,"
		" category, color, int64Value, doubleValue, jsonText) VALUES"
		"(1, 2, 59, 'brief', " TID(
			10,
			11) ", NULL, 0, NULL, NULL, NULL, NULL, NULL),"
			    "(10, 20, 60, 'a', " TID(10, 11) ", " TID(
				    10,
				    12) ", 0, 7, 0, -3, NULL, NULL),"
					"(11, 20, 60, 'b', " TID(
						10,
						11) ", NULL, 0, 8, NULL, NULL, 0.5, NULL),"
						    "(12, NULL, 34, 'c', " TID(
							    10,
							    11) ", NULL, 0, NULL, NULL, NULL, NULL, '{}'),"
								"(0, NULL, 33, 'io', " TID(
									10,
									11) ", NULL, 0, 7, NULL, NULL, NULL, NULL);");
	double half = 0.5;
	int64_t bits;
	memcpy(&bits, &half, sizeof bits);
	assert_int_equal(count_of(trace, HWY_RANGE), 4);
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (trace->lanes[strip->lane].type == HWY_LANE_STARTEND) {
			assert_string_equal(hwy_str(trace, hwy_get(strip, HWY_CATEGORY, 0)), "io");
			assert_int_equal(hwy_get(strip, HWY_COLOR, 0), INT64_C(1) << 32);
			assert_int_equal(hwy_get(strip, HWY_PAYLOAD_TYPE, 0), HWY_PAYLOAD_I64);
			assert_int_equal(hwy_get(strip, HWY_PAYLOAD, 0), -3);
			assert_int_equal(trace->threads[hwy_get(strip, HWY_END_THREAD, 0) - 1].tid,
					 12);
			assert_string_equal(hwy_str(trace, hwy_get(strip, HWY_CATEGORY, 1)), "8");
			assert_int_equal(hwy_get(strip, HWY_PAYLOAD, 1), bits);
			assert_int_equal(hwy_get(strip, HWY_END_THREAD, 1), 0);
		} else {
			assert_int_equal(hwy_get(strip, HWY_STYLE, 1), HWY_MARK);
			assert_int_equal(hwy_get(strip, HWY_FLAGS, 1), HWY_FLAG_MARK);
			assert_int_equal(hwy_get(strip, HWY_PAYLOAD_TYPE, 1), HWY_PAYLOAD_JSON);
			assert_int_equal(hwy_get(strip, HWY_PAYLOAD_TYPE, 0), HWY_PAYLOAD_NONE);
		}
	}
	hwy_trace_free(trace);
}

static void an_open_range_reaches_to_the_last_event_of_its_lane(void **state)
{
	struct hwy_trace *trace = opened(
		STRINGS NVTX
		"INSERT INTO NVTX_EVENTS(start, end, eventType, text, globalTid, domainId) VALUES"
		"(10, NULL, 59, 'open', " TID(10, 11) ", 0), (20, 90, 59, 'done', " TID(
			10, 11) ", 0);");
	const struct hwy_strip *strip = strip_of(trace, HWY_RANGE, 0);
	assert_int_equal(strip->rows, 2);
	assert_string_equal(name_of(trace, strip, 0), "open");
	assert_int_equal(hwy_get(strip, HWY_DUR, 0), 80);
	assert_int_equal(hwy_get(strip, HWY_FLAGS, 0), HWY_FLAG_UNFINISHED);
	assert_int_equal(hwy_get(strip, HWY_FLAGS, 1), 0);
	hwy_trace_free(trace);
}

static void unusable_times_are_counted_not_believed(void **state)
{
	struct hwy_trace *trace = opened(
		STRINGS CALLS "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(10, 5, 0, " TID(
			1,
			1) ", 1, 1, 0, NULL),"
			   "(NULL, 5, 0, " TID(1, 1) ", 2, 1, 0, NULL), ('soon', 5, 0, " TID(
				   1,
				   1) ", 3, 1, 0, NULL),"
				      "(1, 9223372036854775807, 0, " TID(
					      1,
					      1) ", 4, 1, 0, NULL),"
						 "(-9223372036854775808, 5, 0, " TID(
							 1,
							 1) ", 5, 1, 0, NULL),"
							    "(20, 30, 0, NULL, NULL, 12345, NULL, NULL);");
	assert_int_equal(count_of(trace, HWY_API), 3);
	assert_int_equal(trace->n_drops, 2);
	assert_int_equal(trace->drops[0].count, 3); /* left out */
	assert_int_equal(trace->drops[1].count, 2); /* kept with duration 0 */
	assert_string_equal(hwy_str(trace, trace->drops[0].source), "CUPTI_ACTIVITY_KIND_RUNTIME");
	hwy_trace_free(trace);
}

static void the_longest_and_the_farthest_span_fit(void **state)
{
	struct hwy_trace *trace =
		opened(STRINGS CALLS "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES"
				     "(1 - (1 << 61), (1 << 61) - 1, 0, 0, 1, 1, 0, NULL),"
				     "(1 - (1 << 62), (1 << 62) - 1, 0, 0, 2, 1, 0, NULL);");
	const struct hwy_strip *calls = strip_of(trace, HWY_API, 0);
	assert_int_equal(calls->rows, 1);
	assert_true(hwy_get(calls, HWY_START, 0) == 1 - HWY_TIME_LIMIT);
	assert_true(hwy_end(calls, 0) == HWY_TIME_LIMIT - 1);
	hwy_trace_free(trace);
}

static void only_who_occurs_is_named_and_the_environment_is_never_read(void **state)
{
	struct hwy_trace *trace = opened(
		STRINGS CALLS
		"CREATE TABLE PROCESSES(globalPid, pid, name);"
		"INSERT INTO PROCESSES VALUES(" PID(10) ", 10, 'mine'), (" PID(
			20) ", 20, 'bystander');"
			    "CREATE TABLE ThreadNames(nameId, priority, globalTid);"
			    "INSERT INTO StringIds VALUES(1, 'first'), (2, 'renamed'), (3, 'SECRET=strings');"
			    "INSERT INTO ThreadNames VALUES(1, 10, " TID(10, 11) "), (2, 20, " TID(
				    10,
				    11) ");"
					"CREATE TABLE META_DATA_CAPTURE(name, value);"
					"INSERT INTO META_DATA_CAPTURE VALUES('PROCESS_0:COMMAND', 'python3'),"
					" ('PROCESS_0:ARGUMENT_0', 'a b.py'), ('PROCESS_0:ENVIRONMENT_VARIABLE', 'SECRET=meta');"
					"CREATE TABLE TARGET_INFO_SYSTEM_ENV(globalVid, devStateName, name, nameEnum, value);"
					"INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES((1 << 48), '', 'DeviceEnvironment', 610, 'SECRET=env'),"
					" ((1 << 48), '', 'CudaDriverVersion', 611, '12080'), ((1 << 48), '', 'CpuCores', 1, '16');"
					"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(1, 2, 0, " TID(
						10, 11) ", 1, 99, 0, NULL);");
	assert_int_equal(trace->n_processes, 1);
	assert_string_equal(hwy_str(trace, trace->processes[0].name), "mine");
	assert_string_equal(hwy_str(trace, trace->threads[0].name), "renamed");
	assert_int_equal(trace->threads[0].priority, 20);
	assert_string_equal(hwy_property(trace, "command"), "python3 'a b.py'");
	assert_string_equal(hwy_property(trace, "cuda.version"), "12.8");
	assert_int_equal(trace->hosts[0].cpus, 16);
	for (uint32_t i = 0; i < trace->strings.n; i++) {
		assert_null(strstr(trace->strings.texts[i].at, "SECRET"));
		assert_string_not_equal(trace->strings.texts[i].at, "bystander");
	}
	hwy_trace_free(trace);
}

static void call_chains_come_in_any_order_and_number_0_is_one(void **state)
{
	struct hwy_trace *trace = opened(
		STRINGS CALLS
		"CREATE TABLE CUDA_CALLCHAINS(id, symbol, module, unresolved, originalIP, stackDepth);"
		"INSERT INTO StringIds VALUES(1, '0x1f'), (2, 'middle'), (3, 'root'), (4, 'lib.so');"
		"INSERT INTO CUDA_CALLCHAINS VALUES(0, 3, 4, NULL, 30, 2), (5, 3, 4, NULL, 30, 0),"
		" (0, 1, 4, 1, 31, 0), (0, 2, 4, NULL, 20, 1);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(1, 2, 67, " TID(
			10, 11) ", 1, 1, 0, 0),"
				" (3, 4, 67, " TID(10, 11) ", 2, 1, 0, NULL), (5, 6, 67, " TID(
					10, 11) ", 3, 1, 0, 77);");
	const struct hwy_strip *calls = strip_of(trace, HWY_API, 0);
	/* A name that says nothing but the address is not kept. */
	const char *expected[] = {"", "middle", "root"};
	const int64_t addresses[] = {0x1f, 20, 30};
	int64_t at = hwy_get(calls, HWY_STACK, 0);
	for (uint32_t i = 0; i < 3; i++) {
		const struct hwy_frame *frame = &trace->frames[trace->stacks[at - 1].frame];
		assert_string_equal(hwy_str(trace, frame->function), expected[i]);
		assert_int_equal(frame->address, addresses[i]);
		assert_int_equal(frame->flags, i == 0 ? HWY_FRAME_UNRESOLVED : 0);
		at = trace->stacks[at - 1].parent;
	}
	assert_int_equal(at, 0);
	assert_int_equal(hwy_get(calls, HWY_STACK, 1), 0);
	assert_int_equal(hwy_get(calls, HWY_STACK, 2), 0);
	hwy_trace_free(trace);
}

static void switches_become_stretches_of_running_and_waiting(void **state)
{
	struct hwy_trace *trace = opened(
		STRINGS
		"CREATE TABLE SCHED_EVENTS(start, cpu, isSchedIn, globalTid, threadState, threadBlock);"
		"CREATE TABLE ENUM_SAMPLING_THREAD_STATE(id INTEGER PRIMARY KEY, name, label);"
		"INSERT INTO ENUM_SAMPLING_THREAD_STATE VALUES(3, 'Uninterruptible', 'Uninterruptible');"
		/* out of order, two threads mixed */
		"INSERT INTO SCHED_EVENTS VALUES(50, 1, 1, " TID(1, 2) ", 0, NULL), (30, 1, 0, " TID(
			1, 2) ", 3, NULL),"
			      " (40, 2, 1, " TID(1, 3) ", 0, NULL), (10, 0, 1, " TID(
				      1,
				      2) ", 0, NULL),"
					 " (60, 2, 0, " TID(1, 3) ", 5, NULL), (90, 1, 0, " TID(
						 1,
						 2) ", 0, NULL), (95, 1, 1, " TID(1,
										  2) ", 0, NULL);");
	const struct hwy_strip *first = strip_of(trace, HWY_STATE, 0);
	static const struct {
		int64_t start, dur, flags;
		const char *name;
	} expected[] = {{10, 20, 0, "running"},
			{30, 20, 0, "Uninterruptible"},
			{50, 40, 0, "running"},
			{90, 5, 0, "waiting"},
			{95, 0, HWY_FLAG_UNFINISHED, "running"}};
	assert_int_equal(first->rows, 5);
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(hwy_get(first, HWY_START, i), expected[i].start);
		assert_int_equal(hwy_get(first, HWY_DUR, i), expected[i].dur);
		assert_int_equal(hwy_get(first, HWY_FLAGS, i), expected[i].flags);
		assert_string_equal(name_of(trace, first, i), expected[i].name);
	}
	assert_int_equal(strip_of(trace, HWY_STATE, 1)->rows, 1);
	hwy_trace_free(trace);
}

static void a_metric_is_a_counter_of_its_gpu(void **state)
{
	struct hwy_trace *trace = opened(
		STRINGS
		"CREATE TABLE GPU_METRICS(rawTimestamp, timestamp, typeId, metricId, value);"
		"CREATE TABLE TARGET_INFO_GPU_METRICS(typeId, sourceId, typeName, metricId, metricName);"
		"INSERT INTO TARGET_INFO_GPU_METRICS VALUES(281479271677953, 0, '', 4, 'SM Issue [Throughput %]');"
		"INSERT INTO GPU_METRICS VALUES(-5, -5, 281479271677953, 4, 77), (5, 5, 281479271677953, 4, 0),"
		" (5, 5, 281479271677953, 9, 1);");
	assert_int_equal(count_of(trace, HWY_COUNTER), 3);
	const struct hwy_strip *counter = strip_of(trace, HWY_COUNTER, 0);
	const struct hwy_lane *lane = &trace->lanes[counter->lane];
	assert_string_equal(hwy_str(trace, lane->name), "SM Issue [Throughput %]");
	assert_string_equal(hwy_str(trace, lane->unit), "%");
	assert_int_equal(trace->devices[lane->device].ordinal, 1);
	assert_int_equal(hwy_get(counter, HWY_START, 0), -5);
	assert_int_equal(hwy_get(counter, HWY_VALUE, 0), 77);
	hwy_trace_free(trace);
}

static void a_metric_that_is_no_number_is_not_zero(void **state)
{
	struct hwy_trace *trace =
		opened(STRINGS "CREATE TABLE GPU_METRICS(timestamp, typeId, metricId, value);"
			       "INSERT INTO GPU_METRICS VALUES(1, 1, 4, 'abc'), (2, 1, 4, NULL),"
			       " (3, 1, 4, x'00ff'), (4, 1, 4, '77'), (5, 1, 4, 8.0);");
	assert_int_equal(count_of(trace, HWY_COUNTER), 2);
	assert_int_equal(hwy_get(strip_of(trace, HWY_COUNTER, 0), HWY_VALUE, 0), 77);
	hwy_trace_free(trace);
	trace = opened(STRINGS "CREATE TABLE GPU_METRICS(timestamp, typeId, metricId);"
			       "INSERT INTO GPU_METRICS VALUES(1, 1, 4);");
	assert_int_equal(count_of(trace, HWY_COUNTER), 0);
	assert_int_equal(trace->n_diagnostics, 1);
	hwy_trace_free(trace);
}

static void calls_of_other_libraries_stand_on_lanes_with_their_name(void **state)
{
	struct hwy_trace *trace = opened(
		STRINGS
		"CREATE TABLE MPI_COLLECTIVES_EVENTS(start, end, globalTid, textId, size);"
		"CREATE TABLE CUDNN_EVENTS(start, end, eventClass, globalTid, nameId);"
		"CREATE TABLE MPI_RANKS(globalTid, rank);"
		"INSERT INTO StringIds VALUES(1, 'MPI_Allreduce'), (2, 'cudnnConvolutionForward');"
		"INSERT INTO MPI_RANKS VALUES(" TID(
			10, 10) ", 6);"
				"INSERT INTO MPI_COLLECTIVES_EVENTS VALUES(1, 2, " TID(
					10, 10) ", 1, 8);"
						"INSERT INTO CUDNN_EVENTS VALUES(3, 4, 28, " TID(
							10, 10) ", 2);");
	const struct hwy_strip *cudnn = strip_of(trace, HWY_CALL, 0),
			       *mpi = strip_of(trace, HWY_CALL, 1);
	assert_string_equal(hwy_str(trace, trace->lanes[cudnn->lane].name), "cuDNN");
	assert_string_equal(hwy_str(trace, trace->lanes[mpi->lane].name), "MPI");
	assert_string_equal(name_of(trace, mpi, 0), "MPI_Allreduce");
	assert_int_equal(trace->processes[0].rank, 6);
	hwy_trace_free(trace);
}

static void a_reduced_file_without_processes_still_links(void **state)
{
	struct hwy_trace *trace = opened(
		"CREATE TABLE StringIds(id INT, value TEXT);" /* not the row id */
		"INSERT INTO StringIds VALUES(900, 'cudaLaunchKernel'), (-4, 'k');"
		"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, correlationId, shortName);"
		"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, correlationId, nameId);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(1, 2, " TID(
			10,
			11) ", 5, 900);"
			    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(3, 4, 0, 7, 5, -4);");
	const struct hwy_strip *call = strip_of(trace, HWY_API, 0),
			       *kernel = strip_of(trace, HWY_KERNEL, 0);
	assert_string_equal(name_of(trace, call, 0), "cudaLaunchKernel");
	assert_string_equal(name_of(trace, kernel, 0), "k");
	assert_int_equal(hwy_get(kernel, HWY_LINK, 0), call->first + 1);
	hwy_trace_free(trace);
}

static void a_file_that_another_tool_rewrote_still_opens(void **state)
{
	struct hwy_trace *trace = opened(
		"CREATE TABLE stringids(id INTEGER PRIMARY KEY, value TEXT) WITHOUT ROWID;"
		"INSERT INTO stringids VALUES(1, 'k');"
		"CREATE TABLE cupti_activity_kind_kernel(start REAL, end REAL, deviceId, shortName);"
		"INSERT INTO cupti_activity_kind_kernel VALUES(30.0, 40.0, 0, 1);"
		"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start TEXT, end TEXT, deviceId);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES('50', '53', 0), ('soon', '53', 0);");
	const struct hwy_strip *kernel = strip_of(trace, HWY_KERNEL, 0),
			       *copy = strip_of(trace, HWY_COPY, 0);
	assert_string_equal(name_of(trace, kernel, 0), "k");
	assert_int_equal(hwy_get(kernel, HWY_START, 0), 30);
	assert_int_equal(hwy_get(kernel, HWY_DUR, 0), 10);
	assert_int_equal(copy->rows, 1);
	assert_int_equal(hwy_get(copy, HWY_DUR, 0), 3);
	assert_int_equal(trace->n_drops, 1);
	hwy_trace_free(trace);
}

static void a_gpu_is_described_by_files_of_2020_and_by_those_without_a_host(void **state)
{
	struct hwy_trace *trace = opened(
		STRINGS KERNELS
		"CREATE TABLE TARGET_INFO_CUDA_GPU(deviceId, name, numMultiprocessors, globalMemorySize);"
		"INSERT INTO TARGET_INFO_CUDA_GPU VALUES(1, 'Old GPU', 80, 1000);"
		"CREATE TABLE TARGET_INFO_GPU(id, name, smCount);"
		"INSERT INTO TARGET_INFO_GPU VALUES(0, 'New GPU', 132);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, globalPid) VALUES"
		"(1, 2, 0, " PID(10) "), (3, 4, 1, " PID(10) ");");
	assert_int_equal(trace->n_devices, 2);
	assert_string_equal(hwy_str(trace, trace->devices[0].name), "New GPU");
	assert_int_equal(trace->devices[0].sms, 132);
	assert_string_equal(hwy_str(trace, trace->devices[1].name), "Old GPU");
	assert_int_equal(trace->devices[1].sms, 80);
	assert_int_equal(trace->devices[1].memory_bytes, 1000);
	hwy_trace_free(trace);
}

static void rows_in_a_log_beside_the_file_are_not_passed_over(void **state)
{
	char log[sizeof path + 4];
	snprintf(log, sizeof log, "%s-wal", path);
	FILE *file = fopen(log, "w");
	hwy_trace_free(opened(STRINGS)); /* an empty one holds nothing */
	fputs("rows", file);
	fclose(file);
	assert_null(import_nsys(path, NULL, &err));
	unlink(log);
	assert_non_null(strstr(err.text, "wal_checkpoint"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_export_of_schema_2_opens),
		cmocka_unit_test(a_wait_is_classified_by_its_call_and_never_by_its_number),
		cmocka_unit_test(an_event_is_joined_to_its_waits_by_the_id_they_share),
		cmocka_unit_test(a_device_is_the_machines_gpu_whatever_its_process_calls_it),
		cmocka_unit_test(unified_memory_moves_are_copies_with_a_cause),
		cmocka_unit_test(a_kernel_of_a_graph_leads_to_the_node_that_was_captured),
		cmocka_unit_test(ranges_have_domains_registered_names_and_the_row_nsys_prints),
		cmocka_unit_test(a_range_keeps_its_category_colour_payload_and_other_thread),
		cmocka_unit_test(an_open_range_reaches_to_the_last_event_of_its_lane),
		cmocka_unit_test(unusable_times_are_counted_not_believed),
		cmocka_unit_test(the_longest_and_the_farthest_span_fit),
		cmocka_unit_test(only_who_occurs_is_named_and_the_environment_is_never_read),
		cmocka_unit_test(call_chains_come_in_any_order_and_number_0_is_one),
		cmocka_unit_test(switches_become_stretches_of_running_and_waiting),
		cmocka_unit_test(a_metric_is_a_counter_of_its_gpu),
		cmocka_unit_test(a_metric_that_is_no_number_is_not_zero),
		cmocka_unit_test(calls_of_other_libraries_stand_on_lanes_with_their_name),
		cmocka_unit_test(a_reduced_file_without_processes_still_links),
		cmocka_unit_test(a_file_that_another_tool_rewrote_still_opens),
		cmocka_unit_test(a_gpu_is_described_by_files_of_2020_and_by_those_without_a_host),
		cmocka_unit_test(rows_in_a_log_beside_the_file_are_not_passed_over),
	};
	return cmocka_run_group_tests(tests, make_path, remove_path);
}
