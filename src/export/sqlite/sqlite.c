/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite.c - a trace as Nsight Systems' export writes it: for every tool that queries those files.
 *
 * The inverse of import/nsys/: what that reader keeps of an nsys export is written again, so a file
 * that went through Headway answers queries as it did before. Operators, Python calls and OpenCL
 * have no place in the schema and are left out. The database is written without a journal: the
 * caller gives a temporary name.
 */
#include "export/sqlite/sqlite.h"

#include <stdlib.h>
#include <string.h>

#define WORK "start! end! deviceId! contextId! greenContextId streamId! correlationId globalPid "
#define CHAIN                                                                                      \
	"id! symbol! module! kernelMode thumbCode unresolved specialEntry originalIP "             \
	"unwindMethod stackDepth!"

/* After the name of a column: '!' may not be NULL, ':' is a text, '.' is a real number, '*' is
 * the primary key. */
static const struct {
	const char *name;
	bool always;
	const char *columns, *key;
} tables[SQL_TABLES] = {
	[SQL_STRINGS] = {"StringIds", true, "id* value!:", NULL},
	[SQL_RUNTIME] =
		{"CUPTI_ACTIVITY_KIND_RUNTIME", true,
		 "start! end! eventClass! globalTid correlationId nameId! returnValue! callchainId",
		 NULL},
	[SQL_KERNEL] =
		{"CUPTI_ACTIVITY_KIND_KERNEL", true,
		 WORK
		 "demangledName! shortName! mangledName launchType cacheConfig registersPerThread! gridX! "
		 "gridY! gridZ! blockX! blockY! blockZ! staticSharedMemory! dynamicSharedMemory! "
		 "localMemoryPerThread! localMemoryTotal! gridId! sharedMemoryExecuted graphNodeId "
		 "sharedMemoryLimitConfig graphId clusterX clusterY clusterZ",
		 NULL},
	[SQL_MEMCPY] =
		{"CUPTI_ACTIVITY_KIND_MEMCPY", true,
		 WORK
		 "bytes! copyKind! deprecatedSrcId srcKind dstKind srcDeviceId srcContextId dstDeviceId "
		 "dstContextId migrationCause graphNodeId virtualAddress copyCount",
		 NULL},
	[SQL_MEMSET] = {"CUPTI_ACTIVITY_KIND_MEMSET", true,
			WORK "value! bytes! graphNodeId memKind", NULL},
	[SQL_GRAPH] = {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", false, WORK "graphId! graphExecId!",
		       NULL},
	[SQL_GRAPH_NODE] =
		{"CUDA_GRAPH_NODE_EVENTS", false,
		 "start! end! eventClass! globalTid nameId! graphNodeId! originalGraphNodeId",
		 NULL},
	[SQL_SYNC] = {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", false,
		      WORK "deprecatedSyncType syncType! eventId! eventSyncId", NULL},
	[SQL_EVENT] =
		{"CUPTI_ACTIVITY_KIND_CUDA_EVENT", false,
		 "timestamp deviceId! contextId! greenContextId streamId! correlationId globalPid eventId! "
		 "eventSyncId",
		 NULL},
	[SQL_MEMORY] =
		{"CUDA_GPU_MEMORY_USAGE_EVENTS", false,
		 "start! globalPid! deviceId! contextId! address! pc! bytes! memKind! memoryOperationType! "
		 "name: correlationId streamId localMemoryPoolAddress localMemoryPoolReleaseThreshold "
		 "localMemoryPoolSize localMemoryPoolUtilizedSize importedMemoryPoolAddress "
		 "importedMemoryPoolProcessId",
		 NULL},
	[SQL_PROFILER] = {"PROFILER_OVERHEAD", false, "start! end! globalTid nameId! returnValue!",
			  NULL},
	[SQL_OVERHEAD] = {"CUPTI_ACTIVITY_KIND_OVERHEAD", false,
			  "start! end! eventClass! globalTid correlationId nameId overheadType!",
			  NULL},
	[SQL_NVTX] =
		{"NVTX_EVENTS", true,
		 "start! end eventType! rangeId category color text: globalTid endGlobalTid textId domainId "
		 "uint64Value int64Value doubleValue. uint32Value int32Value floatValue. jsonTextId jsonText: "
		 "binaryData:",
		 NULL},
	[SQL_OSRT] =
		{"OSRT_API", false,
		 "start! end! eventClass! globalTid nameId! returnValue! nestingLevel callchainId!",
		 NULL},
	[SQL_SYSCALL] = {"SYSCALL", false, "start! end! eventClass! globalTid nameId! callchainId!",
			 NULL},
	[SQL_CUDNN] = {"CUDNN_EVENTS", false, "start! end! eventClass! globalTid nameId!", NULL},
	[SQL_CUBLAS] = {"CUBLAS_EVENTS", false, "start! end! eventClass! globalTid nameId!", NULL},
	[SQL_MPI] = {"MPI_OTHER_EVENTS", false, "start! end globalTid textId", NULL},
	[SQL_MPI_P2P] = {"MPI_P2P_EVENTS", false,
			 "start! end globalTid textId commHandle tag remoteRank size requestHandle",
			 NULL},
	[SQL_MPI_COLLECTIVES] =
		{"MPI_COLLECTIVES_EVENTS", false,
		 "start! end globalTid textId commHandle rootRank size recvSize requestHandle",
		 NULL},
	[SQL_MPI_WAITS] = {"MPI_START_WAIT_EVENTS", false,
			   "start! end globalTid textId requestHandle", NULL},
	[SQL_CUDA_CHAINS] = {"CUDA_CALLCHAINS", false,
			     "id! symbol! module! unresolved originalIP stackDepth!",
			     "id,stackDepth"},
	[SQL_OS_CHAINS] = {"OSRT_CALLCHAINS", false, CHAIN, "id,stackDepth"},
	[SQL_SYSCALL_CHAINS] = {"SYSCALL_CALLCHAINS", false,
				"id! stackDepth! symbol! module! unresolved", "id,stackDepth"},
	[SQL_SAMPLE_CHAINS] = {"SAMPLING_CALLCHAINS", false, CHAIN, "id,stackDepth"},
	[SQL_SAMPLES] = {"COMPOSITE_EVENTS", false,
			 "id* start! cpu threadState globalTid cpuCycles!", NULL},
	[SQL_SCHED] = {"SCHED_EVENTS", false,
		       "start! cpu! isSchedIn! globalTid threadState threadBlock", NULL},
	[SQL_METRICS] = {"GPU_METRICS", false, "rawTimestamp! timestamp! typeId! metricId! value!",
			 NULL},
	[SQL_METRIC_NAMES] = {"TARGET_INFO_GPU_METRICS", false,
			      "typeId! sourceId! typeName!: metricId! metricName!:", NULL},
	[SQL_THREADS] = {"ThreadNames", true, "nameId! priority globalTid", NULL},
	[SQL_PROCESSES] = {"PROCESSES", true, "globalPid pid name:", NULL},
	[SQL_RANKS] = {"MPI_RANKS", false, "globalTid! rank!", NULL},
	[SQL_GPU] =
		{"TARGET_INFO_GPU", true,
		 "vmId! id! name: busLocation: isDiscrete l2CacheSize totalMemory memoryBandwidth clockRate smCount "
		 "pwGpuId uuid: luid chipName: cuDevice ctxswDevPath: ctrlDevPath: revision nodeMask "
		 "constantMemory maxIPC maxRegistersPerBlock maxShmemPerBlock maxShmemPerBlockOptin maxShmemPerSm "
		 "maxRegistersPerSm threadsPerWarp asyncEngines maxWarpsPerSm maxBlocksPerSm maxThreadsPerBlock "
		 "maxBlockDimX maxBlockDimY maxBlockDimZ maxGridDimX maxGridDimY maxGridDimZ computeMajor "
		 "computeMinor smMajor smMinor",
		 NULL},
	[SQL_DEVICE] = {"TARGET_INFO_CUDA_DEVICE", true, "gpuId cudaId! pid!", NULL},
	[SQL_CONTEXT] =
		{"TARGET_INFO_CUDA_CONTEXT_INFO", true,
		 "nullStreamId! hwId! vmId! processId! deviceId! contextId! parentContextId isGreenContext "
		 "numMultiprocessors",
		 NULL},
	[SQL_STREAM] = {"TARGET_INFO_CUDA_STREAM", true,
			"streamId! hwId! vmId! processId! contextId! priority! flag!", NULL},
	[SQL_STREAM_NAMES] = {"TARGET_INFO_NVTX_CUDA_STREAM", false,
			      "name!: hwId! vmId! processId! deviceId! contextId! streamId!", NULL},
	[SQL_ENVIRONMENT] = {"TARGET_INFO_SYSTEM_ENV", true,
			     "globalVid devStateName!: name!: nameEnum! value!:", NULL},
	[SQL_START_TIME] = {"TARGET_INFO_SESSION_START_TIME", true,
			    "utcEpochNs utcTime: localTime:", NULL},
	[SQL_DETAILS] = {"ANALYSIS_DETAILS", true, "globalVid! duration! startTime! stopTime!",
			 NULL},
	[SQL_DIAGNOSTIC] = {"DIAGNOSTIC_EVENT", true,
			    "timestamp! timestampType! source! severity! text!: globalPid", NULL},
	[SQL_CAPTURE] = {"META_DATA_CAPTURE", true, "name!: value:", NULL},
	[SQL_EXPORT] = {"META_DATA_EXPORT", true, "name!: value:", NULL},
};

/* ---- tables and rows ------------------------------------------------------------------------- */

bool sqlite_failed(struct sqlite *s, int code)
{
	if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE)
		return false;
	if (!s->x.failed)
		hwy_fail(s->x.err, "%s: %s", s->path,
			 code == SQLITE_FULL ? "no space left on the disk" : sqlite3_errmsg(s->db));
	return s->x.failed = true;
}

bool sqlite_run(struct sqlite *s, const char *statement)
{
	return !s->x.failed && !sqlite_failed(s, sqlite3_exec(s->db, statement, NULL, NULL, NULL));
}

static void write_definition(sqlite3_str *create, const char *columns, int *n)
{
	for (const char *at = columns; *at; at += *at == ' ') {
		size_t name = strcspn(at, "!:.* "), all = strcspn(at, " ");
		bool is_text = memchr(at, ':', all), is_real = memchr(at, '.', all);
		sqlite3_str_appendf(create, "%s\"%.*s\" %s%s%s", *n ? ", " : "", (int)name, at,
				    is_text   ? "TEXT"
				    : is_real ? "REAL"
					      : "INTEGER",
				    at[name] == '!' || at[name] == '*' ? " NOT NULL" : "",
				    at[name] == '*' ? " PRIMARY KEY" : "");
		++*n;
		at += all;
	}
}

/* Creates a table and prepares its INSERT. That of NVTX_EVENTS begins with the row id, because
 * tools print row ids. */
static void make_table(struct sqlite *s, enum sqlite_table_id id)
{
	struct sqlite_table *table = &s->tables[id];
	sqlite3_str *text = sqlite3_str_new(s->db);
	sqlite3_str_appendf(text, "CREATE TABLE %s (", tables[id].name);
	write_definition(text, tables[id].columns, &table->columns);
	if (tables[id].key)
		sqlite3_str_appendf(text, ", PRIMARY KEY(%s)", tables[id].key);
	sqlite3_str_appendall(text, ")");
	char *create = sqlite3_str_finish(text);
	sqlite_run(s, create);
	sqlite3_free(create);
	text = sqlite3_str_new(s->db);
	sqlite3_str_appendf(text, "INSERT INTO %s VALUES (?", tables[id].name);
	if (id == SQL_NVTX) {
		sqlite3_str_reset(text);
		sqlite3_str_appendall(text, "INSERT INTO NVTX_EVENTS (rowid");
		for (const char *at = tables[id].columns; *at; at += *at == ' ') {
			sqlite3_str_appendf(text, ", \"%.*s\"", (int)strcspn(at, "!:.* "), at);
			at += strcspn(at, " ");
		}
		sqlite3_str_appendall(text, ") VALUES (?,?");
	}
	for (int i = 1; i < table->columns; i++)
		sqlite3_str_appendall(text, ",?");
	sqlite3_str_appendall(text, ")");
	char *insert = sqlite3_str_finish(text);
	if (!s->x.failed)
		sqlite_failed(s, sqlite3_prepare_v3(s->db, insert, -1, SQLITE_PREPARE_PERSISTENT,
						    &table->insert, NULL));
	sqlite3_free(insert);
}

sqlite3_stmt *sqlite_row(struct sqlite *s, enum sqlite_table_id table)
{
	if (!s->tables[table].insert)
		make_table(s, table);
	if (s->tables[table].insert)
		sqlite3_clear_bindings(s->tables[table].insert);
	return s->tables[table].insert;
}

void sqlite_insert(struct sqlite *s, sqlite3_stmt *row)
{
	if (s->x.failed)
		return;
	sqlite3_step(row);
	sqlite_failed(s, sqlite3_reset(row));
}

void sqlite_integers(struct sqlite *s, enum sqlite_table_id table, const int64_t *values, int n)
{
	if (!s->tables[table].insert)
		make_table(s, table);
	sqlite3_stmt *row = s->tables[table].insert;
	if (s->x.failed)
		return;
	for (int i = 0; i < n; i++) {
		if (values[i] == SQL_NULL)
			sqlite3_bind_null(row, i + 1);
		else
			sqlite3_bind_int64(row, i + 1, values[i]);
	}
	sqlite_insert(s, row);
}

/* ---- texts ----------------------------------------------------------------------------------- */

int64_t sqlite_text(struct sqlite *s, int64_t text)
{
	if (text < 0 || text >= s->x.trace->strings.n)
		return text >= 0 ? text : 0;
	s->used[text] = 1;
	return text;
}

int64_t sqlite_own_text(struct sqlite *s, const char *text)
{
	return export_text_id(&s->x, text);
}

void sqlite_bind_text(struct sqlite *s, sqlite3_stmt *row, int column, int64_t text)
{
	struct hwy_text at = export_text(&s->x, text);
	if (row && text > 0)
		sqlite3_bind_text(row, column, at.at, (int)at.length, SQLITE_STATIC);
}

static void write_string(struct sqlite *s, int64_t id, struct hwy_text text)
{
	sqlite3_stmt *row = sqlite_row(s, SQL_STRINGS);
	if (!row || s->x.failed)
		return;
	sqlite3_bind_int64(row, 1, id);
	sqlite3_bind_text(row, 2, text.at, (int)text.length, SQLITE_STATIC);
	sqlite_insert(s, row);
}

static void write_strings(struct sqlite *s)
{
	const struct hwy_strings *strings = &s->x.trace->strings;
	s->used[0] = 1;
	for (uint32_t i = 0; i < strings->n && !s->x.failed; i++)
		if (s->used[i])
			write_string(s, i, strings->texts[i]);
	for (uint32_t i = 1; i < s->x.extra.n && !s->x.failed; i++)
		write_string(s, (int64_t)strings->n + i, s->x.extra.texts[i]);
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool open_file(struct sqlite *s)
{
	int code = sqlite3_open_v2(s->path, &s->db,
				   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
				   NULL);
	if (code != SQLITE_OK) {
		s->x.failed = true;
		return hwy_fail(s->x.err, "%s: %s", s->path,
				s->db ? sqlite3_errmsg(s->db) : sqlite3_errstr(code));
	}
	return sqlite_run(s,
			  "PRAGMA page_size=4096; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
			  "PRAGMA locking_mode=EXCLUSIVE; PRAGMA cache_size=-16384; BEGIN");
}

static bool sqlite_write_all(struct sqlite *s)
{
	struct export *x = &s->x;
	/* The tables that every tool looks for come first, and exist even where they are empty. */
	for (int i = 0; i < SQL_TABLES; i++)
		if (tables[i].always && !x->failed)
			make_table(s, (enum sqlite_table_id)i);
	for (uint32_t i = 0; i < x->trace->n_strips && !x->failed; i++) {
		const struct hwy_strip *strip = &x->trace->strips[i];
		if (export_keeps_strip(x, strip) && !sqlite_cuda_write(s, strip) &&
		    !sqlite_host_write(s, strip))
			x->result->left_out[strip->kind] += strip->rows;
	}
	sqlite_host_write_chains(s);
	sqlite_host_write_domains(s);
	sqlite_ids_write(s);
	sqlite_cuda_write_nodes(s);
	sqlite_meta_write(s);
	sqlite_enums_write(s);
	write_strings(s);
	return sqlite_run(s, "COMMIT");
}

static void close_file(struct sqlite *s)
{
	for (int i = 0; i < SQL_TABLES; i++)
		sqlite3_finalize(s->tables[i].insert);
	int code = sqlite3_close(s->db);
	if (code != SQLITE_OK && !s->x.failed) {
		s->x.failed = true;
		hwy_fail(s->x.err, "%s: %s", s->path, sqlite3_errstr(code));
	}
	free(s->used);
	free(s->pids);
	free(s->tids);
	for (int i = 0; i < SQLITE_CHAINS; i++)
		free(s->chains[i]);
	hwy_map_free(&s->domains);
	hwy_index_free(&s->categories);
	sqlite_libraries_close(s);
}

/* Linux gives pids and tids below 2^22. A pid or tid that does not fit, or is not known, is
 * replaced by a number from GLOBAL_OWN on. */
enum { GLOBAL_BITS = 24, GLOBAL_OWN = 1 << 23 };

static int64_t global_part(int64_t number, uint32_t index)
{
	return number >= 0 && number < (1 << GLOBAL_BITS) ? number : GLOBAL_OWN + index;
}

static void number_all(struct sqlite *s)
{
	const struct hwy_trace *trace = s->x.trace;
	s->pids = hwy_zarray(trace->n_processes, sizeof *s->pids);
	s->tids = hwy_zarray(trace->n_threads, sizeof *s->tids);
	for (uint32_t i = 0; i < trace->n_processes; i++) {
		const struct hwy_process *process = &trace->processes[i];
		int64_t host = process->host >= 0 && process->host < 254 ? process->host : 0;
		s->pids[i] = s->x.is_nsys && process->source_id != HWY_NONE
				     ? process->source_id
				     : (host + 1) << 48 | global_part(process->pid, i)
								  << GLOBAL_BITS;
	}
	for (uint32_t i = 0; i < trace->n_threads; i++) {
		int64_t process = trace->threads[i].process;
		int64_t pid = export_process(trace, process) ? s->pids[process] : INT64_C(1) << 48;
		s->tids[i] = pid | global_part(trace->threads[i].tid, i);
	}
}

int64_t sqlite_lane_pid(struct sqlite *s, const struct hwy_lane *lane)
{
	return export_process(s->x.trace, lane->process) ? s->pids[lane->process]
							 : INT64_C(1) << 48;
}

int64_t sqlite_lane_tid(struct sqlite *s, const struct hwy_lane *lane)
{
	if (export_thread(s->x.trace, lane->thread))
		return s->tids[lane->thread];
	return sqlite_lane_pid(s, lane); /* thread 0 of the process, which no real thread uses */
}

int64_t sqlite_device(struct sqlite *s, int64_t process, int64_t device)
{
	const struct hwy_trace *trace = s->x.trace;
	for (uint32_t i = 0; i < trace->n_streams; i++)
		if (trace->streams[i].process == process && trace->streams[i].device == device &&
		    trace->streams[i].ordinal != HWY_NONE)
			return trace->streams[i].ordinal;
	const struct hwy_device *recorded = export_device(trace, device);
	return !recorded ? 0 : recorded->ordinal != HWY_NONE ? recorded->ordinal : device;
}

bool export_sqlite(struct hwy_trace *trace, const char *path, const struct export_options *options,
		   const struct hwy_progress *progress, struct export_result *result,
		   struct hwy_err *err)
{
	struct sqlite s = {.path = path};
	if (!export_open(&s.x, trace, options, progress, result, err))
		return false;
	s.used = hwy_zarray(trace->strings.n, 1);
	for (int i = 0; i < SQLITE_CHAINS; i++)
		s.chains[i] = hwy_zarray(trace->n_stacks, 1);
	number_all(&s);
	if (open_file(&s))
		sqlite_write_all(&s);
	close_file(&s);
	bool ok = !s.x.failed;
	export_close(&s.x);
	return ok;
}
