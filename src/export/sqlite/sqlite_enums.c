/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite_enums.c - the tables that say what numbers mean, with the numbers and names of schema
 * 3.20.
 *
 * Of event types and classes only those this export writes, and their neighbours, are listed.
 */
#include <stdlib.h>
#include <string.h>

#include "export/sqlite/sqlite.h"

/* Entries are "number|name|label"; the label is missing where it equals the name. 'prefix' goes
 * before every name. */
static const struct {
	const char *table, *prefix, *values;
} enums[] = {
	{"ENUM_NSYS_EVENT_TYPE", "",
	 "25|SchedSwitch;31|Composite;33|NvtxCategory;34|NvtxMark;35|NvtxPushRange;"
	 "36|NvtxPopRange;37|NvtxStartRange;38|NvtxEndRange;39|NvtxThread;41|Sched;45|Cuda;"
	 "46|CudaDevice;59|NvtxPushPopRange;60|NvtxStartEndRange;70|NvtxtPushPopRange;"
	 "71|NvtxtStartEndRange;75|NvtxDomainCreate;76|NvtxDomainDestroy;79|CudaDeviceKernel;"
	 "80|CudaDeviceMemory;85|OS runtime libraries;97|NvtxNameCudaDevice;"
	 "98|NvtxNameCudaContext;99|NvtxNameCudaStream;106|CudaSyncEvent;"
	 "117|CudaDeviceMemoryUsage;127|CudaEventRecord;130|CudaDeviceGraph;"},
	{"ENUM_NSYS_EVENT_CLASS", "TRACE_PROCESS_EVENT_",
	 "0|CUDA_RUNTIME|CUDA runtime;1|CUDA_DRIVER|CUDA driver;6|NVTX_START|NVTX start;"
	 "7|NVTX_FINISH|NVTX finish;10|CUDA_START|CUDA start;11|CUDA_FINISH|CUDA finish;"
	 "26|CUDA_API|CUDA API;27|OS_RUNTIME|OSRT runtime;28|CUDNN|cuDNN;29|CUBLAS|cuBLAS;"
	 "31|OS_RUNTIME_START|OSRT start;32|OS_RUNTIME_FINISH|OSRT finish;"
	 "33|CUDNN_START|cuDNN start;34|CUDNN_FINISH|cuDNN finish;"
	 "35|CUBLAS_START|cuBLAS start;36|CUBLAS_FINISH|cuBLAS finish;"
	 "67|CUDABACKTRACE|CUDA backtrace;107|SYSCALL|Syscall;"},
	{"ENUM_CUDA_MEMCPY_OPER", "CUDA_MEMCPY_KIND_",
	 "0|UNKNOWN|Unknown;1|HTOD|Host-to-Device;2|DTOH|Device-to-Host;3|HTOA|Host-to-Array;"
	 "4|ATOH|Array-to-Host;5|ATOA|Array-to-Array;6|ATOD|Array-to-Device;"
	 "7|DTOA|Device-to-Array;8|DTOD|Device-to-Device;9|HTOH|Host-to-Host;"
	 "10|PTOP|Peer-to-Peer;11|UVM_HTOD|Unified Host-to-Device;"
	 "12|UVM_DTOH|Unified Device-to-Host;13|UVM_DTOD|Unified Device-to-Device;"},
	{"ENUM_CUDA_MEM_KIND", "CUDA_MEMOPR_MEMORY_KIND_",
	 "0|PAGEABLE|Pageable;1|PINNED|Pinned;2|DEVICE|Device;3|ARRAY|Array;4|MANAGED|Managed;"
	 "5|DEVICE_STATIC|Device Static;6|MANAGED_STATIC|Managed Static;7|UNKNOWN|Unknown;"},
	{"ENUM_CUDA_MEMPOOL_TYPE", "CUDA_MEMPOOL_TYPE_",
	 "0|INVALID|Invalid;1|LOCAL|Local;2|IMPORTED|Imported;"},
	{"ENUM_CUDA_MEMPOOL_OPER", "CUDA_MEMPOOL_OPERATION_TYPE_",
	 "0|INVALID|Invalid;1|CREATED|Created;2|DESTROYED|Destroyed;3|TRIMMED|Trimmed;"},
	{"ENUM_CUDA_DEV_MEM_EVENT_OPER", "CUDA_DEV_MEM_EVENT_OPR_",
	 "0|ALLOCATION|Allocation;1|DEALLOCATION|Deallocation;"},
	{"ENUM_CUDA_KERNEL_LAUNCH_TYPE", "CUDA_KERNEL_LAUNCH_TYPE_",
	 "0|UNKNOWN|Unknown;1|REGULAR|Regular;2|COOPERATIVE_SINGLE_DEVICE|Coop Single Device;"
	 "3|COOPERATIVE_MULTI_DEVICE|Coop Multi Device;"},
	{"ENUM_CUDA_SHARED_MEM_LIMIT_CONFIG", "CUDA_SHARED_MEM_LIMIT_",
	 "0|DEFAULT|Default;1|OPTIN|Opt in;"},
	{"ENUM_CUDA_UNIF_MEM_MIGRATION", "CUDA_UNIFIED_MEMORY_MIGRATION_CAUSE_",
	 "0|UNKNOWN|Unknown;1|USER|User prefetch;2|COHERENCE|Page fault;"
	 "3|PREFETCH|Speculative prefecth;4|EVICTION|Eviction;"
	 "5|ACCESS_COUNTERS|Access counters;"},
	{"ENUM_CUDA_UNIF_MEM_ACCESS_TYPE", "CUDA_UNIFIED_MEMORY_ACCESS_TYPE_",
	 "0|UNKNOWN|Unknown;1|READ|Read;2|WRITE|Write;3|ATOMIC|Atomic;4|PREFETCH|Prefetch;"},
	{"ENUM_CUDA_FUNC_CACHE_CONFIG", "CU_FUNC_CACHE_PREFER_",
	 "0|NONE|None;1|SHARED|Shared;2|L1;3|EQUAL|Equal;"},
	{"ENUM_CUPTI_STREAM_TYPE", "CUPTI_ACTIVITY_STREAM_CREATE_FLAG_",
	 "0|UNKNOWN|Unknown stream type;1|DEFAULT|Default stream;"
	 "2|NON_BLOCKING|Non-blocking stream;3|NULL|Null stream;"},
	{"ENUM_CUPTI_SYNC_TYPE", "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_",
	 "0|UNKNOWN|Unknown;1|EVENT_SYNCHRONIZE|Event sync;"
	 "2|STREAM_WAIT_EVENT|Stream wait sync;3|STREAM_SYNCHRONIZE|Stream sync;"
	 "4|CONTEXT_SYNCHRONIZE|Context sync;"},
	{"ENUM_CUPTI_OVERHEAD_TYPE", "OVERHEAD_",
	 "0|UNDEFINED|Undefined;1|UNKNOWN|Unknown;"
	 "2|DRIVER_COMPILER|Driver JIT compiler (CUDA);"
	 "3|CUPTI_BUFFER_FLUSH|Buffer flush (Profiler);"
	 "4|CUPTI_INSTRUMENTATION|Instrumentation (Profiler);"
	 "5|CUPTI_RESOURCE|Resource creation/destruction (Profiler);"
	 "6|RUNTIME_TRIGGERED_MODULE_LOADING|Runtime module loading (CUDA);"
	 "7|LAZY_FUNCTION_LOADING|Lazy function loading (CUDA);"
	 "8|COMMAND_BUFFER_FULL|Command buffer full (CUDA);"},
	{"ENUM_STACK_UNWIND_METHOD", "",
	 "0|Unknown;1|FramePointer|Frame pointer;2|UnwindTable|Unwind table;"
	 "3|LR_FramePointer|LR frame pointer;4|LR_UnwindTable|LR unwind table;"
	 "5|KernelContext|Kernel context;6|DWARF_EH|DWARF EH;7|DWARF_DF|DWARF DF;8|LBR;"
	 "1000|Undefined;"},
	{"ENUM_SAMPLING_THREAD_STATE", "",
	 "0|Unknown;1|Running;2|Interruptible;3|Uninterruptible;4|Stopped;5|Terminated;"
	 "6|Unscheduled;7|Waiting;8|OSRuntime|OS runtime;9|Initialized;10|Transition;"},
	{"ENUM_SCHEDULING_THREAD_BLOCK", "",
	 "0|NonBlocked;1|Unknown;2|SigSuspend;3|Stopped;4|Nanosleep;5|Intr;6|Mutex;7|CondVar;"
	 "8|Sem;9|Join;10|SigWaitInfo;11|WaitCtx;12|Send;13|Receive;14|Reply;15|Stack;"
	 "16|WaitThread;17|WaitPage;18|NetSend;19|NetReply;20|FreePage;21|PageIn;"
	 "22|PoolAllocation;23|DelayExecution;24|Suspended;25|UserRequest;26|EventPair;"
	 "27|Queue;28|LPCReceive;29|LPCReply;30|VirtualMemory;31|PageOut;32|Rendezvous;"
	 "33|KeyedEvent;34|Terminated;35|ProcessInSwap;36|CPURateControl;37|WrCalloutStack;"
	 "38|Kernel;39|Resource;40|PushLock;41|WindowsMutex;42|QuantumEnd;43|DispatchInt;"
	 "44|Preempted;45|YieldExecution;46|FastMutex;47|GuardedMutex;48|Rundown;"
	 "49|ReadyToRun;50|AlertByThreadId;51|DeferredPreempt;52|PhysicalFault;"},
	{"ENUM_DIAGNOSTIC_SEVERITY_LEVEL", "",
	 "0|UnknownLevel|Unknown;1|Info;2|Warning;3|Error;4|Verbose;"},
	{"ENUM_DIAGNOSTIC_SOURCE_TYPE", "",
	 "0|UnknownSource|Unknown source;1|Injection;2|Daemon;3|Analysis;"},
	{"ENUM_DIAGNOSTIC_TIMESTAMP_SOURCE", "",
	 "0|UnknownTimestamp|Unknown timestamp;1|TargetTimestamp|Target timestamp;"
	 "2|HostTimestamp|Host timestamp;"},
};
enum { N_ENUMS = sizeof enums / sizeof *enums };

struct entry {
	int64_t id;
	struct hwy_text name, label;
};

/* Reads the entry at *at, and moves *at behind it. */
static struct entry read_entry(const char **at)
{
	struct entry entry = {.id = strtoll(*at, NULL, 10)};
	const char *name = strchr(*at, '|') + 1, *end = strchr(name, ';');
	uint32_t length = (uint32_t)strcspn(name, "|;");
	entry.name = (struct hwy_text){name, length};
	entry.label = entry.name;
	if (name[length] == '|')
		entry.label =
			(struct hwy_text){name + length + 1, (uint32_t)(end - name) - length - 1};
	*at = end + 1;
	return entry;
}

int sqlite_enums_value(const char *table, const char *label)
{
	size_t length = strlen(label);
	for (int i = 0; i < N_ENUMS; i++) {
		if (strcmp(enums[i].table, table) != 0)
			continue;
		for (const char *at = enums[i].values; *at;) {
			struct entry entry = read_entry(&at);
			if (entry.label.length == length &&
			    memcmp(entry.label.at, label, length) == 0)
				return (int)entry.id;
		}
	}
	return -1;
}

static void write_enum(struct sqlite *s, int index)
{
	sqlite3_stmt *insert = NULL;
	char *create = sqlite3_mprintf(
		"CREATE TABLE %s (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT)",
		enums[index].table);
	char *text = sqlite3_mprintf("INSERT INTO %s VALUES (?, ? || ?, ?)", enums[index].table);
	if (sqlite_run(s, create))
		sqlite_failed(s, sqlite3_prepare_v2(s->db, text, -1, &insert, NULL));
	for (const char *at = enums[index].values; insert && *at && !s->x.failed;) {
		struct entry entry = read_entry(&at);
		sqlite3_bind_int64(insert, 1, entry.id);
		sqlite3_bind_text(insert, 2, enums[index].prefix, -1, SQLITE_STATIC);
		sqlite3_bind_text(insert, 3, entry.name.at, (int)entry.name.length, SQLITE_STATIC);
		sqlite3_bind_text(insert, 4, entry.label.at, (int)entry.label.length,
				  SQLITE_STATIC);
		sqlite_insert(s, insert);
	}
	sqlite3_finalize(insert);
	sqlite3_free(create);
	sqlite3_free(text);
}

void sqlite_enums_write(struct sqlite *s)
{
	for (int i = 0; i < N_ENUMS && !s->x.failed; i++)
		write_enum(s, i);
}
