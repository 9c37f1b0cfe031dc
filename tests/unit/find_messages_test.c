/* SPDX-License-Identifier: Apache-2.0 */
/* find_messages_test.c - what ranks exchange, as PyTorch's traces tell it. */
#include "kineto_text.h"
#include "trace/collective_args.h"

static const struct hwy_message *only_message(const struct hwy_trace *trace)
{
	assert_int_equal(trace->n_messages, 1);
	return &trace->messages[0];
}

#define INFO                                                                                                               \
	", 'distributedInfo': {'backend': 'nccl', 'rank': 2, 'world_size': 4, 'pg_config': [{'pg_name': 'tp', 'pg_desc': " \
	"'tensor', 'backend_config': 'cuda:nccl', 'pg_size': 2, 'ranks': [2, 3]}]}"
#define RUN(events) "{'traceEvents': [" events "]" INFO "}"
#define LAUNCH(ts, correlation)                                                                    \
	"{'ph':'X','cat':'cuda_runtime','name':'cudaLaunchKernel','pid':9,'tid':8,'ts':" #ts       \
	",'dur':2,'args':{'correlation':" #correlation "}},"
#define KERNEL(name, ts, correlation, args)                                                        \
	"{'ph':'X','cat':'kernel','name':'" name "','pid':0,'tid':7,'ts':" #ts                     \
	",'dur':30,'args':{'stream':7,'context':1,'correlation':" #correlation args "}}"

static void a_kernel_with_collective_arguments_is_a_message(void **state)
{
	(void)state;
	struct hwy_trace *trace = import(RUN(LAUNCH(10, 5) KERNEL(
		"ncclDevKernel_Generic(x)", 20, 5,
		",'Collective name':'_allgather_base','In msg nelems':100,'Out msg nelems':200,"
		"'Group size':2,'dtype':'BFloat16','Process Group Name':'tp','Process Group "
		"Ranks':'[2, 3]','Seq':41")));
	const struct hwy_message *m = only_message(trace);
	assert_string_equal(hwy_str(trace, m->name), "AllGather");
	assert_string_equal(hwy_str(trace, m->library), "NCCL");
	assert_string_equal(hwy_str(trace, m->datatype), "bfloat16");
	assert_int_equal(m->kind, HWY_MESSAGE_COLLECTIVE);
	assert_int_equal(m->sent, 200);
	assert_int_equal(m->received, 400);
	assert_int_equal(m->count, 100);
	assert_int_equal(m->sequence, 41);
	assert_int_equal(m->peer, HWY_NONE);
	assert_int_equal(m->span, span_of(trace, HWY_KERNEL, "ncclDevKernel_Generic(x)").id);
	assert_int_equal(m->asked, span_of(trace, HWY_API, "cudaLaunchKernel").id);
	assert_int_equal(m->end - m->start, 30000);
	/* The group of the file's list of groups is found, not made again. */
	assert_int_equal(trace->n_groups, 1);
	assert_int_equal(m->group, 0);
	assert_string_equal(hwy_str(trace, trace->groups[0].ranks), "2,3");
	assert_string_equal(hwy_str(trace, trace->groups[0].description), "tensor");
	hwy_trace_free(trace);
}

static void a_kernel_is_told_by_the_scopes_in_which_it_was_launched(void **state)
{
	(void)state;
	struct hwy_trace *trace = import(RUN(
		"{'ph':'X','cat':'cpu_op','name':'c10d::alltoall_base_','pid':9,'tid':8,'ts':1,'dur':30,'args':{'Input Dims':"
		"[[50],[40],[],[]],'Input type':['long int','long int','','']}},"
		"{'ph':'X','cat':'cpu_op','name':'record_param_comms','pid':9,'tid':8,'ts':2,'dur':28,'args':{'Input Dims':"
		"[[40],[]],'Input type':['long int','Scalar']}},"
		"{'ph':'X','cat':'user_annotation','name':'nccl:all_to_all','pid':9,'tid':8,'ts':3,'dur':20,'args':{'Input "
		"Dims':[[40]],'Input type':['long int']}}," LAUNCH(5, 1) LAUNCH(8, 2)
			KERNEL("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)", 20, 1,
			       "") "," KERNEL("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)", 60,
					      2, "")));
	/* Two kernels of one scope are one message. */
	const struct hwy_message *m = only_message(trace);
	assert_string_equal(hwy_str(trace, m->name), "AllToAll");
	assert_int_equal(m->sent, 320);
	assert_int_equal(m->received, 400);
	assert_int_equal(m->sequence, 0);
	assert_int_equal(m->group, HWY_NONE);
	assert_int_equal(m->asked, span_of(trace, HWY_RANGE, "nccl:all_to_all").id);
	assert_int_equal(m->end - m->start, 70000);
	hwy_trace_free(trace);
}

static void a_broadcast_gives_only_at_its_root(void **state)
{
	(void)state;
	/* "Rank" is the root as a rank of the group: the group's rank 1 is the job's rank 3, and this is rank 2. */
	struct hwy_trace *trace = import(RUN(LAUNCH(10, 5) KERNEL(
		"ncclDevKernel_Broadcast_RING_LL(x)", 20, 5,
		",'Collective name':'broadcast','In msg nelems':10,'Out msg nelems':10,'dtype':"
		"'Float','Rank':1,'Process Group Name':'tp'")));
	const struct hwy_message *m = only_message(trace);
	assert_int_equal(m->peer, 3);
	assert_int_equal(m->sent, 0);
	assert_int_equal(m->received, 40);
	hwy_trace_free(trace);
}

static void a_message_of_two_ranks_knows_the_other(void **state)
{
	(void)state;
	struct hwy_trace *trace = import(RUN(LAUNCH(10, 5) KERNEL(
		"ncclDevKernel_SendRecv(x)", 20, 5,
		",'Collective name':'send','In msg nelems':10,'Out msg nelems':10,'dtype':'Half',"
		"'Rank':1,'Dst Rank':3,'Process Group Name':'tp'") "," KERNEL("ncclDevKernel_SendRecv(x)",
									      70, 6,
									      ",'Collective name':'recv','In msg nelems':8,'Out msg nelems':8,'dtype':'Half',"
									      "'Rank':1,'Process Group Name':'tp'")));
	assert_int_equal(trace->n_messages, 2);
	const struct hwy_message *m = trace->messages;
	assert_int_equal(m[0].kind, HWY_MESSAGE_SEND);
	assert_int_equal(m[0].peer, 3);
	assert_int_equal(m[0].sent, 20);
	assert_int_equal(m[0].received, 0);
	assert_int_equal(m[0].sequence, HWY_NONE);
	assert_int_equal(m[1].kind, HWY_MESSAGE_RECEIVE);
	assert_int_equal(m[1].peer, 3);
	assert_int_equal(m[1].sent, 0);
	assert_int_equal(m[1].received, 16);
	hwy_trace_free(trace);
}

static void a_scope_of_gloo_is_the_exchange_itself(void **state)
{
	(void)state;
	struct hwy_trace *trace = import(EVENTS(
		"{'ph':'X','cat':'cpu_op','name':'c10d::allreduce_','pid':9,'tid':8,'ts':1,'dur':5,'args':{}},"
		"{'ph':'X','cat':'user_annotation','name':'gloo:all_reduce','pid':9,'tid':8,'ts':3,'dur':200,'args':{'Input "
		"Dims':[[10, 10]],'Input type':['double']}},"
		"{'ph':'X','cat':'user_annotation','name':'gloo:barrier','pid':9,'tid':8,'ts':300,'dur':20,'args':{}}"));
	assert_int_equal(trace->n_messages, 2);
	const struct hwy_message *m = trace->messages;
	assert_string_equal(hwy_str(trace, m[0].library), "gloo");
	assert_string_equal(hwy_str(trace, m[0].name), "AllReduce");
	assert_int_equal(m[0].span, span_of(trace, HWY_RANGE, "gloo:all_reduce").id);
	assert_int_equal(m[0].sent, 800);
	assert_int_equal(m[0].received, 800);
	assert_int_equal(m[0].end - m[0].start, 200000);
	assert_string_equal(hwy_str(trace, m[1].name), "Barrier");
	assert_int_equal(m[1].sent, 0);
	assert_int_equal(m[1].sequence, 1);
	hwy_trace_free(trace);
}

static void what_was_asked_for_and_has_no_kernel_is_no_message(void **state)
{
	(void)state;
	struct hwy_trace *trace = import(EVENTS(
		"{'ph':'X','cat':'cpu_op','name':'record_param_comms','pid':9,'tid':8,'ts':2,'dur':28,'args':{'Collective "
		"name':'allreduce','In msg nelems':5,'dtype':'Float'}},"
		"{'ph':'X','cat':'user_annotation','name':'nccl:all_reduce','pid':9,'tid':8,'ts':3,'dur':20},"
		"{'ph':'X','cat':'kernel','name':'gemm','pid':0,'tid':7,'ts':9,'dur':5,'args':{'stream':7}}"));
	assert_int_equal(trace->n_messages, 0);
	hwy_trace_free(trace);
}

static void a_thunk_of_xla_names_the_collective_of_its_kernel(void **state)
{
	(void)state;
	struct hwy_trace *trace = import(EVENTS(
		"{'ph':'X','cat':'user_annotation','name':'Thunk:#hlo_op=all-to-all.3#','pid':9,'tid':8,'ts':3,'dur':20}," LAUNCH(
			5, 1) KERNEL("ncclDevKernel_SendRecv(x)", 20, 1, "")));
	const struct hwy_message *m = only_message(trace);
	assert_string_equal(hwy_str(trace, m->name), "AllToAll");
	assert_int_equal(m->sent, HWY_NONE);
	hwy_trace_free(trace);
}

static void a_kernel_nobody_tells_of_has_the_operation_of_its_name(void **state)
{
	(void)state;
	static const char *const names[][3] = {
		{"ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "AllReduce", "NCCL"},
		{"ncclKernel_Broadcast_RING_LL_Sum_int8_t(x)", "Broadcast", "NCCL"},
		{"ncclDevKernel_Generic(x)", "Collective", "NCCL"},
		{"void vllm::cross_device_reduce_2stage<float, 8>(x)", "AllReduce", ""},
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char text[512];
		snprintf(
			text, sizeof text,
			EVENTS("{'ph':'X','cat':'kernel','name':'%s','pid':0,'tid':7,'ts':1,'dur':3,'args':{'stream':7}},"
			       "{'ph':'X','cat':'cpu_op','name':'aten::mm','pid':9,'tid':8,'ts':1,'dur':1}"),
			names[i][0]);
		struct hwy_trace *trace = import(text);
		const struct hwy_message *m = only_message(trace);
		assert_string_equal(hwy_str(trace, m->name), names[i][1]);
		assert_string_equal(hwy_str(trace, m->library), names[i][2]);
		/* A name tells neither type nor algorithm: NCCL's kernels run others too. */
		assert_int_equal(m->datatype, HWY_NONE);
		assert_int_equal(m->algorithm, HWY_NONE);
		hwy_trace_free(trace);
	}
}

static void calls_of_a_library_come_back_from_our_own_export(void **state)
{
	(void)state;
	struct hwy_trace *trace = import(EVENTS(
		"{'ph':'X','cat':'MPI','name':'MPI_Barrier','pid':9,'tid':8,'ts':3,'dur':20}"));
	struct span span = span_of(trace, HWY_CALL, "MPI_Barrier");
	assert_true(hwy_lane_is_library(trace, span.strip->lane));
	assert_null(hwy_property(trace, "device.events_not_understood"));
	hwy_trace_free(trace);
}

static void damaged_numbers_are_not_told(void **state)
{
	(void)state;
	struct hwy_trace *trace = import(RUN(LAUNCH(10, 5) KERNEL(
		"ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 20, 5,
		",'Collective name':'allreduce','In msg nelems':-4,'Out msg "
		"nelems':99999999999999999999,'dtype':'Float','Rank':-1,'Process Group Name':7,"
		"'Process Group Ranks':'[0, 1, ...]','Group size':'many'")));
	const struct hwy_message *m = only_message(trace);
	assert_string_equal(hwy_str(trace, m->name), "AllReduce");
	assert_int_equal(m->sent, HWY_NONE);
	assert_int_equal(m->received, HWY_NONE);
	assert_int_equal(trace->groups[m->group].ranks, HWY_NONE);
	assert_int_equal(trace->groups[m->group].size, HWY_NONE);
	hwy_trace_free(trace);
}

static void assert_exchange(const char *name, const char *expected)
{
	const struct hwy_exchange *found = hwy_exchange_of(name, strlen(name));
	if (!expected)
		assert_null(found);
	else if (!found)
		fail_msg("%s is no exchange", name);
	else
		assert_string_equal(found->name, expected);
}

static void an_operation_has_one_name_whatever_the_library_calls_it(void **state)
{
	(void)state;
	static const char *const names[][2] = {
		{"all_reduce", "AllReduce"},
		{"allreduce_coalesced", "AllReduce"},
		{"_reduce_scatter_base", "ReduceScatter"},
		{"MPI_Reduce_scatter_block", "ReduceScatter"},
		{"MPI_Iallgatherv", "AllGather"},
		{"MPI_Ineighbor_alltoallw", "AllToAll"},
		{"MPI_Exscan", "Scan"},
		{"MPI_Irecv", "Receive"},
		{"MPI_Send_init", "Send"},
		{"ncclBcast", "Broadcast"},
		{"all-gather-start.12", "AllGather"},
		{"send 0->1", "Send"},
		{"MPI_Wait", NULL},
		{"MPI_Init", NULL},
		{"wait", NULL},
		{"coalesced", NULL},
		{"", NULL},
		{"reduced", NULL},
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		assert_exchange(names[i][0], names[i][1]);
}

static void the_ranks_of_a_group_are_written_in_one_way(void **state)
{
	(void)state;
	struct hwy_arena arena = {0};
	char list[4096] = "[";
	assert_string_equal(collective_ranks(&arena, "[0, 1, 5]"), "0,1,5");
	assert_string_equal(collective_ranks(&arena, "7"), "7");
	assert_null(collective_ranks(&arena, "[]"));
	assert_null(collective_ranks(&arena, "[0, ..., 63]"));
	for (int i = 0; i < 512; i += 8)
		sprintf(list + strlen(list), "%d, ", i);
	strcat(list, "512]");
	const char *ranks = collective_ranks(&arena, list);
	assert_string_equal(ranks, "0-512:8");
	assert_string_equal(collective_ranks(&arena, "[0-512:8]"), "0-512:8");
	assert_string_equal(collective_ranks(&arena, "0-3"), "0,1,2,3");
	assert_null(collective_ranks(&arena, "0-"));
	assert_null(collective_ranks(&arena, "5-2"));
	assert_null(collective_ranks(&arena, "0-99:0"));
	assert_null(collective_ranks(&arena, "0-2147483647"));
	assert_int_equal(collective_rank_at(ranks, 3), 24);
	assert_int_equal(collective_rank_at(ranks, 64), 512);
	assert_int_equal(collective_rank_at(ranks, 65), HWY_NONE);
	assert_int_equal(collective_rank_at("0,1,5", 2), 5);
	assert_int_equal(collective_rank_at("0,1,5", 3), HWY_NONE);
	assert_int_equal(collective_rank_at("", 0), HWY_NONE);
	hwy_arena_free(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_with_collective_arguments_is_a_message),
		cmocka_unit_test(a_kernel_is_told_by_the_scopes_in_which_it_was_launched),
		cmocka_unit_test(a_broadcast_gives_only_at_its_root),
		cmocka_unit_test(a_message_of_two_ranks_knows_the_other),
		cmocka_unit_test(a_scope_of_gloo_is_the_exchange_itself),
		cmocka_unit_test(what_was_asked_for_and_has_no_kernel_is_no_message),
		cmocka_unit_test(a_thunk_of_xla_names_the_collective_of_its_kernel),
		cmocka_unit_test(a_kernel_nobody_tells_of_has_the_operation_of_its_name),
		cmocka_unit_test(calls_of_a_library_come_back_from_our_own_export),
		cmocka_unit_test(damaged_numbers_are_not_told),
		cmocka_unit_test(an_operation_has_one_name_whatever_the_library_calls_it),
		cmocka_unit_test(the_ranks_of_a_group_are_written_in_one_way),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
