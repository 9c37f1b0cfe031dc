/* SPDX-License-Identifier: Apache-2.0 */
/* kineto_test.c - PyTorch traces as they should be, and as they were. */
#include "kineto_text.h"

static void times_are_exact_and_the_base_may_come_last(void **state)
{
	struct hwy_trace *trace = import(
		"{'traceEvents': ["
		"{'ph':'X','cat':'cpu_op','name':'a','pid':1,'tid':2,'ts':3852612618201.770,'dur':14751.865},"
		"{'ph':'X','cat':'cpu_op','name':'b','pid':1,'tid':2,'ts':3852612618201.771,'dur':0.0005},"
		"{'ph':'X','cat':'cpu_op','name':'c','pid':1,'tid':2,'ts':'3852612618202','dur':-3}],"
		"'baseTimeNanoseconds': 1790857026000000000}");
	assert_int_equal(trace->wall, 1790857026000000000 + 3852612618201770);
	assert_int_equal(get(span_of(trace, HWY_OP, "a"), HWY_START), 0);
	assert_int_equal(get(span_of(trace, HWY_OP, "a"), HWY_DUR), 14751865);
	assert_int_equal(get(span_of(trace, HWY_OP, "b"), HWY_START), 1);
	assert_int_equal(get(span_of(trace, HWY_OP, "b"), HWY_DUR), 1);
	assert_int_equal(get(span_of(trace, HWY_OP, "c"), HWY_START), 230);
	assert_int_equal(get(span_of(trace, HWY_OP, "c"), HWY_DUR), 0);
	hwy_trace_free(trace);
}

static void times_since_the_epoch_need_no_base(void **state)
{
	struct hwy_trace *trace = import(EVENTS(
		"{'ph':'X','cat':'Operator','name':'a','pid':1,'tid':2,'ts':1623212388426902,'dur':35}"));
	assert_int_equal(trace->wall, 1623212388426902000);
	hwy_trace_free(trace);
	trace = import(
		EVENTS("{'ph':'X','cat':'cpu_op','name':'a','pid':1,'tid':2,'ts':100,'dur':35}"));
	assert_int_equal(trace->wall, HWY_NONE); /* nobody knows since when */
	hwy_trace_free(trace);
}

static void members_of_an_event_come_in_any_order(void **state)
{
	struct hwy_trace *trace = import(EVENTS(
		"{'args': {'stream': 7, 'context': 1, 'correlation': 5, 'grid': [4, 2, 1], 'block': [128, 1, 1],"
		" 'registers per thread': 32, 'shared memory': 1024, 'graph node id': 9, 'graph id': 3,"
		" 'blocks per SM': 0.5, 'External id': 77, 'channel': 0, 'queued': 0, 'priority': -5},"
		" 'dur': 2, 'ts': 30, 'tid': 7, 'pid': 0, 'name': 'k', 'cat': 'kernel', 'ph': 'X'},"
		"{'tid':11,'args':{'cbid':211,'correlation':5},'name':'cudaLaunchKernel','ts':20,'dur':1,"
		" 'cat':'cuda_runtime','pid':10,'ph':'X'}"));
	struct span kernel = span_of(trace, HWY_KERNEL, "k"),
		    call = span_of(trace, HWY_API, "cudaLaunchKernel");
	assert_int_equal(get(kernel, HWY_LINK), call.id + 1);
	assert_int_equal(get(kernel, HWY_START), 10000);
	assert_int_equal(get(kernel, HWY_GRAPH_ID), 3);
	assert_int_equal(get(kernel, HWY_GRAPH_NODE), 9);
	assert_int_equal(get(kernel, HWY_CHANNEL), 1);
	assert_int_equal(get(kernel, HWY_EXTERNAL), 77);
	assert_string_equal(hwy_str(trace, get(kernel, HWY_ARGS)), "{\"blocks per SM\":0.5}");
	struct hwy_shape *shape = &trace->shapes[get(kernel, HWY_SHAPE) - 1];
	assert_int_equal(shape->grid_x * 100 + shape->grid_y * 10 + shape->grid_z, 421);
	assert_int_equal(shape->block_x, 128);
	assert_int_equal(shape->registers, 32);
	assert_int_equal(shape->dynamic_shared, 1024);
	struct hwy_lane lane = lane_of(trace, kernel);
	assert_int_equal(lane.type, HWY_LANE_STREAM);
	assert_int_equal(trace->processes[lane.process].pid, 10);
	assert_int_equal(trace->devices[lane.device].ordinal, 0);
	assert_int_equal(trace->streams[lane.stream].number, 7);
	assert_int_equal(trace->streams[lane.stream].context, 1);
	assert_int_equal(trace->streams[lane.stream].priority, -5);
	hwy_trace_free(trace);
}

static void what_2021_wrote_is_read(void **state)
{
	struct hwy_trace *trace = import(
		"[{'ph':'X','cat':'Operator','name':'op','pid':5,'tid':'5','ts':1,'dur':9,'args':{'External id':2}},"
		"{'ph':'X','cat':'Runtime','name':'cudaLaunchKernel','pid':5,'tid':5,'ts':2,'dur':1,"
		" 'args':{'correlation':8,'external id':2}},"
		"{'ph':'X','cat':'Kernel','name':'k','pid':0,'tid':'stream 7','ts':3,'dur':4,"
		" 'args':{'correlation':8,'external id':2}},"
		"{'ph':'X','cat':'Memcpy','name':'Memcpy HtoD (Pageable -> Device)','pid':0,'tid':'stream 7','ts':9,"
		" 'dur':4,'args':{'stream':7,'bytes':4096,'memory bandwidth (GB/s)':1.024}},"
		"{'ph':'X','cat':'Memset','name':'Memset (Device)','pid':0,'tid':7,'ts':19,'dur':1,"
		" 'args':{'stream':7,'bytes':64}}]");
	struct span copy = span_of(trace, HWY_COPY, "Memcpy HtoD (Pageable -> Device)");
	struct span fill = span_of(trace, HWY_FILL, "Memset (Device)");
	assert_int_equal(get(copy, HWY_DIRECTION), HWY_H2D);
	assert_int_equal(get(copy, HWY_SRC_MEMORY), HWY_MEM_PAGEABLE);
	assert_int_equal(get(copy, HWY_DST_MEMORY), HWY_MEM_DEVICE);
	assert_int_equal(get(copy, HWY_BYTES), 4096);
	assert_int_equal(get(copy, HWY_ARGS), 0);
	assert_int_equal(get(fill, HWY_DST_MEMORY), HWY_MEM_DEVICE);
	assert_int_equal(get(fill, HWY_BYTES), 64);
	assert_int_equal(trace->n_threads, 1); /* '5' and 5 are one */
	assert_int_equal(trace->n_streams, 1); /* so are 'stream 7' and 7 */
	assert_int_equal(count_linked(trace), 1);
	assert_int_equal(get(span_of(trace, HWY_KERNEL, "k"), HWY_EXTERNAL), 2);
	hwy_trace_free(trace);
}

static void kernels_of_a_graph_share_their_launch(void **state)
{
	struct hwy_trace *trace = import(EVENTS(
		"{'ph':'X','cat':'kernel','name':'k1','pid':2,'tid':7,'ts':12,'dur':1,'args':{'stream':7,'correlation':5}},"
		"{'ph':'X','cat':'kernel','name':'k2','pid':2,'tid':7,'ts':13,'dur':1,'args':{'stream':7,'correlation':5}},"
		"{'ph':'X','cat':'kernel','name':'early','pid':2,'tid':7,'ts':1,'dur':1,'args':{'stream':7,'correlation':3}},"
		"{'ph':'X','cat':'kernel','name':'none','pid':2,'tid':7,'ts':2,'dur':1},"
		"{'ph':'X','cat':'cuda_runtime','name':'hipGraphLaunch','pid':9,'tid':9,'ts':10,'dur':1,'args':{'cid':4,'correlation':5}}"));
	assert_int_equal(count_linked(trace), 2);
	assert_int_equal(get(span_of(trace, HWY_KERNEL, "early"), HWY_CORR), 3);
	assert_int_equal(get(span_of(trace, HWY_KERNEL, "none"), HWY_CORR), 0);
	assert_int_equal(trace->n_processes, 1);
	hwy_trace_free(trace);
}

static void a_triton_operator_with_a_stream_is_no_device_work(void **state)
{
	struct hwy_trace *trace = import(EVENTS(
		"{'ph':'X','cat':'cpu_op','name':'triton','pid':0,'tid':1,'ts':1,'dur':1,"
		" 'args':{'stream':0,'grid':'grid(100,)','Ev Idx':4,'Record function id':0,'Sequence number':0}}"));
	struct span op = span_of(trace, HWY_OP, "triton");
	assert_int_equal(trace->n_devices, 0);
	assert_int_equal(get(op, HWY_SEQUENCE), 1);
	assert_string_equal(hwy_str(trace, get(op, HWY_ARGS)),
			    "{\"stream\":0,\"grid\":\"grid(100,)\"}");
	hwy_trace_free(trace);
}

static void waits_know_their_stream_and_the_record_they_wait_for(void **state)
{
	struct hwy_trace *trace = import(EVENTS(
		"{'ph':'X','cat':'cuda_sync','name':'Stream Wait Event','pid':0,'tid':24,'ts':20,'dur':2,"
		" 'args':{'cuda_sync_kind':'Stream Wait Event','wait_on_stream':20,"
		" 'wait_on_cuda_event_record_corr_id':62,'wait_on_cuda_event_id':19,'stream':24,'correlation':70,"
		" 'device':0,'context':1}},"
		"{'ph':'X','cat':'cuda_sync','name':'Event Sync','pid':0,'tid':-1,'ts':30,'dur':2,"
		" 'args':{'cuda_sync_kind':'Event Sync','wait_on_stream':20,'wait_on_cuda_event_record_corr_id':-1,"
		" 'wait_on_cuda_event_id':9,'stream':4294967295,'correlation':71,'device':0,'context':1}},"
		"{'ph':'X','cat':'cuda_sync','name':'Stream Sync','pid':0,'tid':1000020,'ts':40,'dur':2,"
		" 'args':{'cuda_sync_kind':'Stream Sync','context':1}},"
		"{'ph':'X','cat':'cuda_event','name':'ev','pid':0,'tid':20,'ts':11,'dur':0.001,"
		" 'args':{'event_id':19,'stream':20,'correlation':62,'context':1}},"
		"{'ph':'X','cat':'cuda_runtime','name':'cudaEventRecord','pid':3,'tid':3,'ts':10,'dur':1,'args':{'correlation':62}},"
		"{'ph':'X','cat':'cuda_runtime','name':'cudaStreamWaitEvent','pid':3,'tid':3,'ts':19,'dur':1,'args':{'correlation':70}}"));
	struct span wait = span_of(trace, HWY_SYNC, "Stream Wait Event");
	struct span sync = span_of(trace, HWY_SYNC, "Event Sync"),
		    stream = span_of(trace, HWY_SYNC, "Stream Sync");
	struct span record = span_of(trace, HWY_API, "cudaEventRecord"),
		    mark = span_of(trace, HWY_EVENT, "ev");
	assert_int_equal(get(wait, HWY_SYNC_TYPE), HWY_SYNC_STREAM_WAIT);
	assert_int_equal(trace->streams[get(wait, HWY_WAITED) - 1].number, 24);
	assert_int_equal(get(wait, HWY_EVENT_ID), 20);
	assert_int_equal(get(wait, HWY_LINK),
			 span_of(trace, HWY_API, "cudaStreamWaitEvent").id + 1);
	assert_int_equal(trace->n_edges, 1);
	assert_int_equal(trace->edges[0].kind, HWY_EDGE_EVENT);
	assert_int_equal(trace->edges[0].from, record.id);
	assert_int_equal(trace->edges[0].to, wait.id);
	assert_int_equal(get(sync, HWY_SYNC_TYPE), HWY_SYNC_EVENT);
	assert_int_equal(lane_of(trace, sync).stream, HWY_NONE);
	assert_int_equal(trace->streams[get(sync, HWY_WAITED) - 1].number, 20);
	assert_int_equal(get(sync, HWY_EVENT_SYNC), 0);
	assert_int_equal(get(stream, HWY_SYNC_TYPE), HWY_SYNC_STREAM);
	assert_int_equal(trace->streams[lane_of(trace, stream).stream].number, 20);
	assert_int_equal(get(mark, HWY_LINK), record.id + 1);
	assert_int_equal(get(mark, HWY_FLAGS), HWY_FLAG_MARK);
	assert_int_equal(get(mark, HWY_EVENT_SYNC), get(wait, HWY_EVENT_SYNC));
	hwy_trace_free(trace);
}

static void forward_arrows_bind_to_the_innermost_operators(void **state)
{
	struct hwy_trace *trace = import(EVENTS(
		"{'ph':'f','cat':'fwdbwd','id':1,'pid':1,'tid':9,'ts':50,'bp':'e','name':'fwdbwd'},"
		"{'ph':'X','cat':'cpu_op','name':'bwd outer','pid':1,'tid':9,'ts':49,'dur':10},"
		"{'ph':'X','cat':'cpu_op','name':'bwd','pid':1,'tid':9,'ts':50,'dur':5},"
		"{'ph':'X','cat':'cpu_op','name':'fwd outer','pid':1,'tid':8,'ts':1,'dur':10},"
		"{'ph':'X','cat':'cpu_op','name':'before','pid':1,'tid':8,'ts':2,'dur':1},"
		"{'ph':'X','cat':'cpu_op','name':'fwd','pid':1,'tid':8,'ts':4,'dur':2},"
		"{'ph':'s','cat':'fwdbwd','id':1,'pid':1,'tid':8,'ts':5,'name':'fwdbwd'},"
		"{'ph':'s','cat':'fwdbwd','id':2,'pid':1,'tid':8,'ts':500,'name':'fwdbwd'},"
		"{'ph':'f','cat':'fwdbwd','id':2,'pid':1,'tid':9,'ts':51,'name':'fwdbwd'}"));
	assert_int_equal(trace->n_edges, 1);
	assert_int_equal(trace->edges[0].kind, HWY_EDGE_FORWARD);
	assert_int_equal(trace->edges[0].from, span_of(trace, HWY_OP, "fwd").id);
	assert_int_equal(trace->edges[0].to, span_of(trace, HWY_OP, "bwd").id);
	assert_int_equal(trace->edges[0].id, 1);
	hwy_trace_free(trace);
}

static void allocations_and_totals_are_kept_by_device(void **state)
{
	struct hwy_trace *trace = import(EVENTS(
		"{'ph':'i','cat':'cpu_instant_event','s':'t','name':'[memory]','pid':1,'tid':1,'ts':5,'args':{"
		" 'Device Type':1,'Device Id':0,'Addr':137877174353920,'Bytes':-512,'Total Allocated':1024,"
		" 'Total Reserved':2048,'Ev Idx':3}},"
		"{'ph':'i','s':'t','name':'[memory]','pid':1,'tid':1,'ts':4,'args':{'Device Type':0,'Device Id':-1,'Bytes':4}}"));
	assert_int_equal(count(trace, HWY_MEMORY), 2);
	assert_int_equal(count(trace, HWY_COUNTER), 2);
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		struct hwy_strip *strip = &trace->strips[s];
		struct hwy_lane *lane = &trace->lanes[strip->lane];
		if (strip->kind == HWY_COUNTER) {
			bool allocated = strcmp(hwy_str(trace, lane->name), "Total Allocated") == 0;
			assert_int_equal(hwy_get(strip, HWY_VALUE, 0), allocated ? 1024 : 2048);
			assert_int_equal(lane->value_type, HWY_PAYLOAD_I64);
		} else if (lane->device == HWY_NONE) {
			assert_int_equal(hwy_get(strip, HWY_OPERATION, 0), HWY_ALLOCATE);
			assert_int_equal(hwy_get(strip, HWY_BYTES, 0), 4);
		} else {
			assert_int_equal(hwy_get(strip, HWY_OPERATION, 0), HWY_RELEASE);
			assert_int_equal(hwy_get(strip, HWY_BYTES, 0), 512);
			assert_int_equal(hwy_get(strip, HWY_ADDRESS, 0), 137877174353920);
		}
	}
	hwy_trace_free(trace);
}

static void a_counter_with_one_real_value_is_real(void **state)
{
	struct hwy_trace *trace = import(EVENTS(
		"{'ph':'C','cat':'hardware_counters','name':'sm','pid':'GPU 1 Counters','tid':0,'ts':1,'args':{'':0}},"
		"{'ph':'C','cat':'hardware_counters','name':'sm','pid':'GPU 1 Counters','tid':0,'ts':2,'args':{'':0.5}},"
		"{'ph':'C','name':'n','pid':1,'ts':2,'args':{'a':3,'b':4}}"));
	uint32_t reals = 0;
	assert_int_equal(count(trace, HWY_COUNTER), 4);
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		struct hwy_lane *lane = &trace->lanes[trace->strips[s].lane];
		if (lane->value_type != HWY_PAYLOAD_DOUBLE)
			continue;
		int64_t bits = hwy_get(&trace->strips[s], HWY_VALUE, 1);
		double value;
		memcpy(&value, &bits, sizeof value);
		assert_true(value == 0.5);
		assert_int_equal(trace->devices[lane->device].ordinal, 1);
		assert_string_equal(hwy_str(trace, lane->name), "sm");
		reals++;
	}
	assert_int_equal(reals, 1);
	hwy_trace_free(trace);
}

static void python_calls_keep_their_ids(void **state)
{
	struct hwy_trace *trace = import(EVENTS(
		"{'ph':'X','cat':'python_function','name':'a.py(1): f','pid':1,'tid':1,'ts':1,'dur':9,"
		" 'args':{'Python parent id':null,'Python id':1,'Ev Idx':0}},"
		"{'ph':'X','cat':'python_function','name':'nn.Module: L_0','pid':1,'tid':1,'ts':2,'dur':3,"
		" 'args':{'Python parent id':1,'Python id':2,'Python module id':0}}"));
	struct span call = span_of(trace, HWY_CALL, "nn.Module: L_0");
	assert_int_equal(get(call, HWY_ROW), 2);
	assert_int_equal(get(call, HWY_PARENT), 2);
	assert_string_equal(hwy_str(trace, get(call, HWY_ARGS)), "{\"Python module id\":0}");
	assert_int_equal(get(span_of(trace, HWY_CALL, "a.py(1): f"), HWY_PARENT), 0);
	assert_int_equal(lane_of(trace, call).type, HWY_LANE_CALL);
	hwy_trace_free(trace);
}

static void the_only_amd_gpu_is_one_device_whatever_its_events_call_it(void **state)
{
	static const char kernel[] =
		"'traceEvents': [{'ph':'X','cat':'kernel','name':'k','pid':2,'tid':0,'ts':1,'dur':1,"
		"'args':{'stream':0}}]}";
	char text[1024];
	snprintf(
		text, sizeof text,
		"{'deviceProperties': [{'id': 0, 'name': 'AMD Instinct MI300X', 'numSms': 304, 'warpSize': 64}],%s",
		kernel);
	struct hwy_trace *trace = import(text);
	assert_int_equal(trace->n_devices, 1);
	assert_int_equal(trace->devices[0].ordinal, 2); /* as in the events */
	assert_string_equal(hwy_str(trace, trace->devices[0].name), "AMD Instinct MI300X");
	assert_int_equal(trace->streams[0].device, 0);
	hwy_trace_free(trace);
	snprintf(text, sizeof text,
		 "{'deviceProperties': [{'id': 0, 'name': '', 'numSms': 304, 'warpSize': 64},"
		 "{'id': 1, 'name': '', 'numSms': 304, 'warpSize': 64}],%s",
		 kernel);
	trace = import(text);
	assert_int_equal(trace->n_devices, 3);
	assert_string_equal(hwy_str(trace, trace->devices[2].name), "AMD GPU");
	assert_int_equal(trace->devices[2].sms, 304);
	hwy_trace_free(trace);
}

static void the_file_tells_about_devices_ranks_and_names(void **state)
{
	struct hwy_trace *trace = import(
		"{'schemaVersion': 1, 'deviceProperties': [{'id': 0, 'name': 'NVIDIA H200', 'numSms': 132,"
		" 'warpSize': 32, 'maxThreadsPerMultiprocessor': 2048}, {'id': 1, 'name': 'other'}],"
		"'cupti_version': 130001, 'record_shapes': 1, 'INFO': ['line one'], 'ERROR': ['bad'],"
		"'traceEvents': ["
		"{'ph':'X','cat':'gpu_user_annotation','name':'step','pid':0,'tid':7,'ts':1,'dur':5,'args':{'External id':4}},"
		"{'ph':'X','cat':'kernel','name':'k','pid':0,'tid':7,'ts':1,'dur':1,'args':{'stream':7,'context':1}},"
		"{'ph':'X','cat':'user_annotation','name':'step','pid':9,'tid':8,'ts':0,'dur':5},"
		"{'ph':'X','cat':'overhead','name':'Buffer Flush','pid':-1,'tid':8,'ts':2,'dur':1},"
		"{'ph':'X','cat':'Trace','name':'PyTorch Profiler (0)','pid':'Spans','tid':'PyTorch Profiler','ts':0,'dur':9,'args':{'Op count':0}},"
		"{'ph':'i','s':'g','name':'Record Window End','pid':'','tid':'','ts':9},"
		"{'ph':'M','name':'process_name','pid':9,'tid':0,'ts':0,'args':{'name':'python3'}},"
		"{'ph':'M','name':'process_labels','pid':9,'tid':0,'args':{'labels':'CPU'}},"
		"{'ph':'M','name':'process_name','pid':0,'tid':0,'args':{'name':'python3'}},"
		"{'ph':'M','name':'thread_name','pid':9,'tid':8,'args':{'name':'thread 8 (python3)'}},"
		"{'ph':'M','name':'thread_name','pid':0,'tid':7,'args':{'name':'stream 7 '}},"
		"{'ph':'M','name':'thread_sort_index','pid':0,'tid':7,'args':{'sort_index':7}}],"
		"'host_name': 'node1', 'username': 'x\\ty', 'distributedInfo': {'backend': 'nccl', 'rank': 3, 'world_size': 8,"
		" 'pg_config': [{'pg_name': '0', 'pg_desc': 'default_pg', 'backend_config': 'cuda:nccl',"
		" 'pg_size': 8, 'ranks': [0, 1]}], 'nccl_version': '2.22.3'}}");
	assert_int_equal(trace->n_devices, 2);
	assert_string_equal(hwy_str(trace, trace->devices[0].name), "NVIDIA H200");
	assert_int_equal(trace->devices[0].sms, 132);
	assert_int_equal(trace->devices[0].max_warps_per_sm, 64);
	assert_int_equal(trace->n_processes, 1);
	assert_int_equal(trace->processes[0].rank, 3);
	assert_int_equal(trace->processes[0].world, 8);
	assert_string_equal(hwy_str(trace, trace->processes[0].name), "python3");
	assert_string_equal(hwy_str(trace, trace->processes[0].labels), "CPU");
	assert_int_equal(trace->n_threads, 1);
	assert_string_equal(hwy_str(trace, trace->threads[0].name), "thread 8 (python3)");
	assert_int_equal(trace->n_streams, 1);
	assert_int_equal(trace->streams[0].context, 1);
	assert_string_equal(hwy_str(trace, trace->streams[0].name), "stream 7 ");
	assert_int_equal(trace->n_groups, 1);
	assert_string_equal(hwy_str(trace, trace->groups[0].ranks), "0,1");
	assert_string_equal(hwy_str(trace, trace->groups[0].backend), "NCCL");
	assert_int_equal(trace->groups[0].process, 0);
	assert_string_equal(hwy_str(trace, trace->hosts[0].name), "node1");
	assert_string_equal(hwy_property(trace, "source.format"), "kineto");
	assert_string_equal(hwy_property(trace, "source.schema"), "1");
	assert_string_equal(hwy_property(trace, "cupti.version"), "130001");
	assert_string_equal(hwy_property(trace, "kineto.username"), "x\ty");
	assert_int_equal(trace->n_diagnostics, 2);
	assert_int_equal(trace->diagnostics[1].severity, 3);
	struct hwy_lane overhead = lane_of(trace, span_of(trace, HWY_OVERHEAD, "Buffer Flush"));
	assert_int_equal(overhead.process, 0);
	assert_int_equal(overhead.thread, 0);
	assert_int_equal(get(span_of(trace, HWY_RANGE, "Record Window End"), HWY_STYLE), HWY_MARK);
	assert_int_equal(lane_of(trace, span_of(trace, HWY_RANGE, "PyTorch Profiler (0)")).type,
			 HWY_LANE_STARTEND);
	hwy_trace_free(trace);
}

static void work_belongs_to_the_process_that_launched_it(void **state)
{
	struct hwy_trace *trace = import(EVENTS(
		"{'ph':'X','cat':'kernel','name':'a','pid':0,'tid':7,'ts':11,'dur':1,'args':{'stream':7,'correlation':5}},"
		"{'ph':'X','cat':'kernel','name':'b','pid':1,'tid':7,'ts':11,'dur':1,'args':{'stream':7,'correlation':6}},"
		"{'ph':'X','cat':'kernel','name':'a shared','pid':0,'tid':7,'ts':21,'dur':1,'args':{'stream':7,'correlation':9}},"
		"{'ph':'X','cat':'kernel','name':'b shared','pid':1,'tid':7,'ts':21,'dur':1,'args':{'stream':7,'correlation':9}},"
		"{'ph':'X','cat':'cuda_runtime','name':'cudaLaunchKernel','pid':100,'tid':1,'ts':10,'dur':1,'args':{'correlation':5}},"
		"{'ph':'X','cat':'cuda_runtime','name':'cudaLaunchKernel','pid':101,'tid':1,'ts':10,'dur':1,'args':{'correlation':6}},"
		"{'ph':'X','cat':'cuda_runtime','name':'cudaLaunchKernel','pid':100,'tid':1,'ts':20,'dur':1,'args':{'correlation':9}},"
		"{'ph':'X','cat':'cuda_driver','name':'cuLaunchKernel','pid':101,'tid':1,'ts':20,'dur':1,'args':{'correlation':9}}"));
	assert_int_equal(count_linked(trace), 4);
	static const char *const names[] = {"a", "a shared", "b", "b shared"};
	for (int i = 0; i < 4; i++) {
		struct span kernel = span_of(trace, HWY_KERNEL, names[i]);
		int64_t process = lane_of(trace, kernel).process;
		assert_int_equal(trace->processes[process].pid, 100 + i / 2);
		uint32_t row;
		const struct hwy_strip *calls =
			hwy_strip_of(trace, (uint32_t)get(kernel, HWY_LINK) - 1, &row);
		assert_int_equal(trace->lanes[calls->lane].process, process);
	}
	hwy_trace_free(trace);
}

static void arrows_link_work_that_has_no_correlation(void **state)
{
	struct hwy_trace *trace = import(EVENTS(
		"{'ph':'X','cat':'Kernel','name':'k','pid':0,'tid':'stream 7','ts':11.5,'dur':1,'args':{'stream':7}},"
		"{'ph':'X','cat':'Runtime','name':'cudaLaunchKernel','pid':5,'tid':5,'ts':10.25,'dur':1},"
		"{'ph':'s','cat':'async','id':77,'pid':5,'tid':'5','ts':10.25,'name':'launch'},"
		"{'ph':'f','cat':'async','id':77,'pid':0,'tid':'stream 7','ts':11.5,'name':'launch','bp':'e'}"));
	assert_int_equal(count_linked(trace), 1);
	hwy_trace_free(trace);
}

static void categories_of_other_vendors_find_their_place(void **state)
{
	struct hwy_trace *trace = import(EVENTS(
		"{'ph':'X','cat':'xpu_runtime','name':'zeKernelLaunch','pid':1,'tid':1,'ts':1,'dur':1},"
		"{'ph':'X','cat':'mtia_ccp_events','name':'m','pid':1,'tid':1,'ts':1,'dur':1,'args':{'x':1}}"));
	assert_int_equal(lane_of(trace, span_of(trace, HWY_API, "zeKernelLaunch")).type,
			 HWY_LANE_API);
	struct span other = span_of(trace, HWY_RANGE, "m");
	assert_string_equal(hwy_str(trace, lane_of(trace, other).name), "mtia_ccp_events");
	hwy_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_exact_and_the_base_may_come_last),
		cmocka_unit_test(times_since_the_epoch_need_no_base),
		cmocka_unit_test(members_of_an_event_come_in_any_order),
		cmocka_unit_test(what_2021_wrote_is_read),
		cmocka_unit_test(kernels_of_a_graph_share_their_launch),
		cmocka_unit_test(a_triton_operator_with_a_stream_is_no_device_work),
		cmocka_unit_test(waits_know_their_stream_and_the_record_they_wait_for),
		cmocka_unit_test(forward_arrows_bind_to_the_innermost_operators),
		cmocka_unit_test(allocations_and_totals_are_kept_by_device),
		cmocka_unit_test(a_counter_with_one_real_value_is_real),
		cmocka_unit_test(python_calls_keep_their_ids),
		cmocka_unit_test(the_only_amd_gpu_is_one_device_whatever_its_events_call_it),
		cmocka_unit_test(the_file_tells_about_devices_ranks_and_names),
		cmocka_unit_test(work_belongs_to_the_process_that_launched_it),
		cmocka_unit_test(arrows_link_work_that_has_no_correlation),
		cmocka_unit_test(categories_of_other_vendors_find_their_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
