/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite_host.c - the CPU's side: NVTX, OS calls, libraries, samples, scheduling, allocations,
 * counters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/sqlite/sqlite.h"

static int64_t or_null(int64_t value)
{
	return value ? value : SQL_NULL;
}

/* ---- NVTX ------------------------------------------------------------------------------------ */

enum { /* the values of nsys's table ENUM_NSYS_EVENT_TYPE */
       NVTX_CATEGORY = 33,
       NVTX_MARK = 34,
       NVTX_PUSHPOP = 59,
       NVTX_STARTEND = 60,
       NVTX_DOMAIN = 75,
};
enum { /* columns of NVTX_EVENTS as sqlite3_bind counts them; 1 is the row id */
       AT_ROW = 1,
       AT_START,
       AT_END,
       AT_TYPE,
       AT_RANGE,
       AT_CATEGORY,
       AT_COLOR,
       AT_TEXT,
       AT_TID,
       AT_END_TID,
       AT_TEXT_ID,
       AT_DOMAIN,
       AT_U64,
       AT_I64,
       AT_DOUBLE,
       AT_U32,
       AT_I32,
       AT_FLOAT,
       AT_JSON_ID,
       AT_JSON,
       AT_BINARY,
};

/* Row ids of domains and categories begin here: tools print the row ids of ranges, which must
 * not change. */
#define NAMES_FROM (INT64_C(1) << 40)
/* NVTX categories that had no number in the program are numbered from here on. */
enum { CATEGORIES_FROM = 1000000 };

static uint64_t pair_key(int64_t high, int64_t low)
{
	return (uint64_t)high << 32 ^ (uint64_t)low;
}

/* Inserts a row of NVTX_EVENTS. Where its row id is taken already (a damaged file may use one
 * twice, or one of those for names), SQLite chooses another. */
static void insert_nvtx(struct sqlite *s, sqlite3_stmt *to)
{
	if (s->x.failed)
		return;
	sqlite3_step(to);
	int code = sqlite3_reset(to);
	if ((code & 0xff) == SQLITE_CONSTRAINT) {
		sqlite3_bind_null(to, AT_ROW);
		sqlite_insert(s, to);
	} else {
		sqlite_failed(s, code);
	}
}

/* Yields the number of a lane's NVTX domain; 0 is the default domain. The reader of nsys exports
 * calls domain 7 without a name "domain 7". */
static int64_t sqlite_host_domain_of(struct sqlite *s, const struct hwy_lane *lane)
{
	const char *name = hwy_str(s->x.trace, lane->name);
	char *end;
	if (!*name)
		return 0;
	if (strncmp(name, "domain ", 7) == 0 && name[7]) {
		long long number = strtoll(name + 7, &end, 10);
		if (!*end && number > 0)
			return number;
	}
	bool fresh;
	uint32_t *domain = hwy_map_put(&s->domains, pair_key(lane->process, lane->name), &fresh);
	if (fresh)
		*domain = ++s->n_domains;
	return *domain;
}

static int64_t category_of(struct sqlite *s, const struct hwy_lane *lane, int64_t domain,
			   int64_t text)
{
	char *end;
	const char *name = hwy_str(s->x.trace, text);
	long long number = strtoll(name, &end, 10);
	if (*name && !*end && number > 0)
		return number;
	struct sqlite_category {
		int64_t process, domain, text;
	} key = {lane->process, domain, text};
	bool fresh;
	uint32_t *category = hwy_index_put(&s->categories, &key, sizeof key, &fresh);
	if (!fresh)
		return *category;
	*category = CATEGORIES_FROM + ++s->n_categories;
	sqlite3_stmt *row = sqlite_row(s, SQL_NVTX);
	if (!row)
		return 0;
	sqlite3_bind_int64(row, AT_ROW, NAMES_FROM + ++s->n_names);
	sqlite3_bind_int64(row, AT_START, 0);
	sqlite3_bind_int64(row, AT_TYPE, NVTX_CATEGORY);
	sqlite3_bind_int64(row, AT_CATEGORY, *category);
	sqlite_bind_text(s, row, AT_TEXT, text);
	sqlite3_bind_int64(row, AT_TID, sqlite_lane_tid(s, lane));
	sqlite3_bind_int64(row, AT_DOMAIN, domain);
	insert_nvtx(s, row);
	return *category;
}

static void bind_payload(struct sqlite *s, sqlite3_stmt *to, int64_t type, int64_t value)
{
	static const int columns[] = {
		[HWY_PAYLOAD_U64] = AT_U64,       [HWY_PAYLOAD_I64] = AT_I64,
		[HWY_PAYLOAD_DOUBLE] = AT_DOUBLE, [HWY_PAYLOAD_U32] = AT_U32,
		[HWY_PAYLOAD_I32] = AT_I32,       [HWY_PAYLOAD_FLOAT] = AT_FLOAT,
		[HWY_PAYLOAD_JSON] = AT_JSON,     [HWY_PAYLOAD_BINARY] = AT_BINARY,
	};
	double real;
	switch (type) {
	case HWY_PAYLOAD_NONE: return;
	case HWY_PAYLOAD_DOUBLE:
	case HWY_PAYLOAD_FLOAT:
		memcpy(&real, &value, sizeof real);
		sqlite3_bind_double(to, columns[type], real);
		return;
	case HWY_PAYLOAD_JSON:
	case HWY_PAYLOAD_BINARY: sqlite_bind_text(s, to, columns[type], value); return;
	default:
		if (type > 0 && type < HWY_PAYLOAD_BINARY)
			sqlite3_bind_int64(to, columns[type], value);
	}
}

static void bind_details(struct sqlite *s, const struct hwy_strip *strip, uint32_t row,
			 sqlite3_stmt *to)
{
	uint32_t argb, thread;
	if (hwy_get_color(strip, row, &argb))
		sqlite3_bind_int64(to, AT_COLOR, argb);
	if (hwy_get_index(strip, HWY_END_THREAD, row, &thread))
		sqlite3_bind_int64(to, AT_END_TID, s->tids[thread]);
	bind_payload(s, to, hwy_get(strip, HWY_PAYLOAD_TYPE, row),
		     hwy_get(strip, HWY_PAYLOAD, row));
}

/* nsys writes names that were registered with NVTX into textId, other names into text. Where the
 * recording does not tell which is the case, both columns are filled: some tools read only one
 * of them. */
static void bind_name(struct sqlite *s, const struct hwy_strip *strip, uint32_t row,
		      sqlite3_stmt *to)
{
	int64_t name = hwy_get(strip, HWY_NAME, row);
	bool registered = hwy_get(strip, HWY_FLAGS, row) & HWY_FLAG_REGISTERED;
	if (name <= 0)
		return;
	if (!s->x.is_nsys || !registered)
		sqlite_bind_text(s, to, AT_TEXT, name);
	if (!s->x.is_nsys || registered)
		sqlite3_bind_int64(to, AT_TEXT_ID, sqlite_text(s, name));
}

static int64_t type_of(const struct hwy_strip *strip, uint32_t row)
{
	int64_t style = hwy_get(strip, HWY_STYLE, row);
	return style == HWY_MARK ? NVTX_MARK : style == HWY_STARTEND ? NVTX_STARTEND : NVTX_PUSHPOP;
}

static void write_range(struct sqlite *s, const struct hwy_strip *strip, uint32_t row, int64_t tid,
			int64_t domain)
{
	const struct hwy_lane *lane = &s->x.trace->lanes[strip->lane];
	int64_t flags = hwy_get(strip, HWY_FLAGS, row), id = hwy_get(strip, HWY_ROW, row);
	int64_t text = hwy_get(strip, HWY_CATEGORY, row);
	int64_t category = text > 0 && !s->x.is_kineto ? category_of(s, lane, domain, text) : 0;
	sqlite3_stmt *to = sqlite_row(s, SQL_NVTX);
	if (!to)
		return;
	sqlite3_bind_int64(to, AT_ROW, id > 0 ? id : (int64_t)strip->first + row + 1);
	sqlite3_bind_int64(to, AT_START, hwy_get(strip, HWY_START, row));
	if (!(flags & (HWY_FLAG_MARK | HWY_FLAG_UNFINISHED)))
		sqlite3_bind_int64(to, AT_END, hwy_end(strip, row));
	sqlite3_bind_int64(to, AT_TYPE, type_of(strip, row));
	sqlite3_bind_int64(to, AT_TID, tid);
	sqlite3_bind_int64(to, AT_DOMAIN, domain);
	if (category)
		sqlite3_bind_int64(to, AT_CATEGORY, category);
	bind_name(s, strip, row, to);
	bind_details(s, strip, row, to);
	insert_nvtx(s, to);
	export_wrote(&s->x);
}

static bool write_ranges(struct sqlite *s, const struct hwy_strip *strip)
{
	const struct hwy_lane *lane = &s->x.trace->lanes[strip->lane];
	if (lane->type == HWY_LANE_DEVICE_RANGE)
		return false;
	int64_t tid = sqlite_lane_tid(s, lane), domain = sqlite_host_domain_of(s, lane);
	struct export_rows rows = export_rows(&s->x, strip, UINT64_MAX);
	while (export_next(&rows))
		write_range(s, strip, rows.row, tid, domain);
	return true;
}

void sqlite_host_write_domains(struct sqlite *s)
{
	const struct hwy_trace *trace = s->x.trace;
	struct hwy_map done = {0};
	for (uint32_t i = 0; i < trace->n_lanes && !s->x.failed; i++) {
		const struct hwy_lane *lane = &trace->lanes[i];
		uint64_t key = pair_key(lane->process, lane->name);
		const uint32_t *number = hwy_map_get(&s->domains, key);
		bool fresh;
		if (!number || (lane->type != HWY_LANE_RANGE && lane->type != HWY_LANE_STARTEND))
			continue;
		hwy_map_put(&done, key, &fresh);
		sqlite3_stmt *row = fresh ? sqlite_row(s, SQL_NVTX) : NULL;
		if (!row)
			continue;
		sqlite3_bind_int64(row, AT_ROW, NAMES_FROM + ++s->n_names);
		sqlite3_bind_int64(row, AT_START, 0);
		sqlite3_bind_int64(row, AT_TYPE, NVTX_DOMAIN);
		sqlite_bind_text(s, row, AT_TEXT, lane->name);
		sqlite3_bind_int64(row, AT_TID, sqlite_lane_tid(s, lane));
		sqlite3_bind_int64(row, AT_DOMAIN, *number);
		insert_nvtx(s, row);
	}
	hwy_map_free(&done);
}

/* ---- OS calls, libraries, overheads ---------------------------------------------------------- */

enum { CLASS_OS = 27, CLASS_OVERHEAD = 103, CLASS_SYSCALL = 107 };

static void write_os(struct sqlite *s, const struct hwy_strip *strip, int64_t tid, bool is_syscall)
{
	struct export_rows rows = export_rows(&s->x, strip, UINT64_MAX);
	while (export_next(&rows)) {
		uint32_t row = rows.row;
		int64_t stack = hwy_get(strip, HWY_STACK, row);
		int64_t v[] = {
			hwy_get(strip, HWY_START, row),
			hwy_end(strip, row),
			is_syscall ? CLASS_SYSCALL : CLASS_OS,
			tid,
			sqlite_text(s, export_name(&s->x, strip, row)),
			hwy_get(strip, HWY_RESULT, row),
			hwy_get(strip, HWY_NESTING, row),
			stack,
		};
		if (hwy_ref_is_set(stack))
			s->chains[is_syscall ? SQLITE_SYSCALL_CHAINS : SQLITE_OS_CHAINS]
				 [hwy_ref_index(stack)] = 1;
		if (is_syscall)
			v[5] = stack;
		sqlite_integers(s, is_syscall ? SQL_SYSCALL : SQL_OSRT, v, is_syscall ? 6 : 8);
		export_wrote(&s->x);
	}
}

static void write_overhead(struct sqlite *s, const struct hwy_strip *strip, int64_t tid)
{
	const char *lane = hwy_str(s->x.trace, s->x.trace->lanes[strip->lane].name);
	bool own = strcmp(lane, "profiler") == 0;
	struct export_rows rows = export_rows(&s->x, strip, UINT64_MAX);
	while (export_next(&rows)) {
		uint32_t row = rows.row;
		int64_t text = sqlite_text(s, export_name(&s->x, strip, row));
		int64_t start = hwy_get(strip, HWY_START, row), end = hwy_end(strip, row);
		int64_t profiler[] = {start, end, tid, text, 0};
		int64_t corr = export_corr(&s->x, strip, row);
		int64_t cuda[] = {start, end, CLASS_OVERHEAD, tid, or_null(corr), text, 1};
		sqlite_integers(s, own ? SQL_PROFILER : SQL_OVERHEAD, own ? profiler : cuda,
				own ? 5 : 7);
		export_wrote(&s->x);
	}
}

/* ---- samples and stacks ---------------------------------------------------------------------- */

static int64_t frame_symbol(struct sqlite *s, const struct hwy_frame *frame)
{
	char number[24];
	if (frame->function > 0)
		return sqlite_text(s, frame->function);
	/* The reader of nsys exports recognises addresses in this form; %#x writes 0 as "0". */
	snprintf(number, sizeof number, "%#llx", (unsigned long long)frame->address);
	return sqlite_own_text(s, number);
}

static void write_chain(struct sqlite *s, enum sqlite_table_id table, int64_t id, int64_t stack)
{
	const struct hwy_trace *trace = s->x.trace;
	for (int64_t depth = 0; hwy_ref_is_set(stack) && !s->x.failed; depth++) {
		const struct hwy_frame *frame = hwy_stack_frame(trace, stack);
		int64_t symbol = frame_symbol(s, frame), module = sqlite_text(s, frame->module);
		int64_t unresolved = or_null((frame->flags & HWY_FRAME_UNRESOLVED) != 0);
		int64_t kernel = or_null((frame->flags & HWY_FRAME_KERNEL) != 0);
		/* Address 0 means "not recorded", except where the symbol itself is an address. */
		bool known = frame->address || !strncmp(hwy_str(trace, frame->function), "0x", 2);
		int64_t address = known ? frame->address : SQL_NULL;
		int64_t cuda[] = {id, symbol, module, unresolved, address, depth};
		int64_t syscall[] = {id, depth, symbol, module, unresolved};
		int64_t full[] = {id,         symbol,   module,  kernel,   SQL_NULL,
				  unresolved, SQL_NULL, address, SQL_NULL, depth};
		if (table == SQL_CUDA_CHAINS)
			sqlite_integers(s, table, cuda, 6);
		else if (table == SQL_SYSCALL_CHAINS)
			sqlite_integers(s, table, syscall, 5);
		else
			sqlite_integers(s, table, full, 10);
		stack = hwy_stack_caller(trace, stack);
	}
}

void sqlite_host_write_chains(struct sqlite *s)
{
	static const enum sqlite_table_id tables[] = {SQL_CUDA_CHAINS, SQL_OS_CHAINS,
						      SQL_SYSCALL_CHAINS};
	for (int i = 0; i < SQLITE_CHAINS; i++)
		for (uint32_t stack = 0; stack < s->x.trace->n_stacks && !s->x.failed; stack++)
			if (s->chains[i][stack])
				write_chain(s, tables[i], hwy_ref(stack), hwy_ref(stack));
}

static void write_samples(struct sqlite *s, const struct hwy_strip *strip, int64_t tid)
{
	enum { STATE_RUNNING = 1 };
	struct export_rows rows = export_rows(&s->x, strip, UINT64_MAX);
	while (export_next(&rows)) {
		uint32_t row = rows.row;
		int64_t cpu;
		bool has_cpu = hwy_get_number(strip, HWY_CPU, row, &cpu);
		int64_t v[] = {
			++s->sample,
			hwy_get(strip, HWY_START, row),
			has_cpu ? cpu : SQL_NULL,
			STATE_RUNNING,
			tid,
			hwy_get(strip, HWY_WEIGHT, row),
		};
		sqlite_integers(s, SQL_SAMPLES, v, 6);
		write_chain(s, SQL_SAMPLE_CHAINS, s->sample, hwy_get(strip, HWY_STACK, row));
		export_wrote(&s->x);
	}
}

/* ---- scheduling ------------------------------------------------------------------------------ */

static int64_t cpu_or_0(const struct hwy_strip *strip, uint32_t row)
{
	int64_t cpu;
	return hwy_get_number(strip, HWY_CPU, row, &cpu) ? cpu : 0;
}

/* Writes the switch with which a state of a thread begins: "in" where the thread runs, else
 * "out" with what the thread waits for. */
static void write_switch(struct sqlite *s, const struct hwy_strip *strip, uint32_t row, int64_t tid)
{
	const struct hwy_trace *trace = s->x.trace;
	const char *name = hwy_str(trace, hwy_get(strip, HWY_NAME, row));
	int64_t reason = hwy_get(strip, HWY_REASON, row);
	bool in = strcmp(name, "running") == 0;
	int state = in ? -1
		    : strcmp(name, "runnable") == 0
			    ? 1
			    : sqlite_enums_value("ENUM_SAMPLING_THREAD_STATE", name);
	int block = reason > 0 ? sqlite_enums_value("ENUM_SCHEDULING_THREAD_BLOCK",
						    hwy_str(trace, reason))
			       : -1;
	int64_t v[] = {
		hwy_get(strip, HWY_START, row), cpu_or_0(strip, row),         in, tid,
		state > 0 ? state : SQL_NULL,   block > 0 ? block : SQL_NULL,
	};
	sqlite_integers(s, SQL_SCHED, v, 6);
}

/* The time in which a thread ran last. Its end is a switch out, unless another state follows at
 * once. */
struct stretch {
	bool is_open;
	uint32_t row;
	int64_t end, cpu;
};

/* Writes the switch out with which a thread stopped running, where no other state followed at
 * once. */
static void write_end(struct sqlite *s, struct stretch *last, int64_t tid, bool is_last)
{
	enum { STATE_TERMINATED = 5 };
	int64_t v[] = {last->end, last->cpu, 0, tid, is_last ? SQL_NULL : STATE_TERMINATED,
		       SQL_NULL};
	if (last->is_open)
		sqlite_integers(s, SQL_SCHED, v, 6);
	last->is_open = false;
}

static void write_states(struct sqlite *s, const struct hwy_strip *strip, int64_t tid)
{
	struct export_rows rows = export_rows(&s->x, strip, UINT64_MAX);
	struct stretch last = {0};
	while (export_next(&rows)) {
		uint32_t row = rows.row;
		int64_t flags = hwy_get(strip, HWY_FLAGS, row);
		const char *name = hwy_str(s->x.trace, hwy_get(strip, HWY_NAME, row));
		bool follows = row == last.row + 1;
		if (!follows || hwy_get(strip, HWY_START, row) != last.end)
			write_end(s, &last, tid, !follows);
		write_switch(s, strip, row, tid);
		last = (struct stretch){
			.is_open = !(flags & HWY_FLAG_UNFINISHED) && strcmp(name, "running") == 0,
			.row = row,
			.end = hwy_end(strip, row),
			.cpu = cpu_or_0(strip, row),
		};
		export_wrote(&s->x);
	}
	write_end(s, &last, tid, true);
}

/* ---- allocations and counters ---------------------------------------------------------------- */

static void write_memory(struct sqlite *s, const struct hwy_strip *strip)
{
	const struct hwy_lane *lane = &s->x.trace->lanes[strip->lane];
	int64_t pid = sqlite_lane_pid(s, lane),
		device = sqlite_device(s, lane->process, lane->device);
	struct export_rows rows = export_rows(&s->x, strip, UINT64_MAX);
	while (export_next(&rows)) {
		uint32_t row = rows.row;
		int64_t kind = hwy_get(strip, HWY_DST_MEMORY, row);
		sqlite3_stmt *to = sqlite_row(s, SQL_MEMORY);
		if (!to)
			return;
		int64_t v[] = {
			hwy_get(strip, HWY_START, row),
			pid,
			device,
			0,
			hwy_get(strip, HWY_ADDRESS, row),
			0,
			hwy_get(strip, HWY_BYTES, row),
			(kind > 0 ? kind : HWY_MEM_UNKNOWN) - 1, /* nsys counts from 0, we from 1 */
			hwy_get(strip, HWY_OPERATION, row) == HWY_RELEASE,
		};
		for (int i = 0; i < 9; i++)
			sqlite3_bind_int64(to, i + 1, v[i]);
		sqlite_bind_text(s, to, 10, hwy_get(strip, HWY_NAME, row));
		sqlite3_bind_int64(to, 11, export_corr(&s->x, strip, row));
		if (hwy_get(strip, HWY_POOL, row))
			sqlite3_bind_int64(to, 13, hwy_get(strip, HWY_POOL, row));
		sqlite_insert(s, to);
		export_wrote(&s->x);
	}
}

static bool sqlite_host_write_counter(struct sqlite *s, const struct hwy_strip *strip)
{
	const struct hwy_trace *trace = s->x.trace;
	const struct hwy_lane *lane = &trace->lanes[strip->lane];
	const struct hwy_device *device = export_device(trace, lane->device);
	if (!device || lane->value_type != HWY_PAYLOAD_I64)
		return false;
	int64_t host = device->host >= 0 ? device->host + 1 : 1;
	int64_t gpu = device->ordinal >= 0 ? device->ordinal : lane->device;
	int64_t type = host << 48 | INT64_C(1) << 32 | (gpu & 0xff);
	sqlite3_stmt *name = sqlite_row(s, SQL_METRIC_NAMES);
	if (!name)
		return true;
	sqlite3_bind_int64(name, 1, type);
	sqlite3_bind_int64(name, 2, type);
	sqlite3_bind_text(name, 3, "", 0, SQLITE_STATIC);
	sqlite3_bind_int64(name, 4, strip->lane);
	sqlite3_bind_text(name, 5, hwy_str(trace, lane->name), -1, SQLITE_STATIC);
	sqlite_insert(s, name);
	struct export_rows rows = export_rows(&s->x, strip, UINT64_MAX);
	while (export_next(&rows)) {
		int64_t start = hwy_get(strip, HWY_START, rows.row);
		int64_t v[] = {start, start, type, strip->lane,
			       hwy_get(strip, HWY_VALUE, rows.row)};
		sqlite_integers(s, SQL_METRICS, v, 5);
		export_wrote(&s->x);
	}
	return true;
}

bool sqlite_host_write(struct sqlite *s, const struct hwy_strip *strip)
{
	const struct hwy_trace *trace = s->x.trace;
	const struct hwy_lane *lane = &trace->lanes[strip->lane];
	int64_t tid = sqlite_lane_tid(s, lane);
	switch (strip->kind) {
	case HWY_RANGE: return write_ranges(s, strip);
	case HWY_OS: write_os(s, strip, tid, *hwy_str(trace, lane->name) != 0); return true;
	case HWY_API:
	case HWY_CALL: return sqlite_libraries_write(s, strip, tid);
	case HWY_OVERHEAD: write_overhead(s, strip, tid); return true;
	case HWY_SAMPLE: write_samples(s, strip, tid); return true;
	case HWY_STATE: write_states(s, strip, tid); return true;
	case HWY_MEMORY: write_memory(s, strip); return true;
	case HWY_COUNTER: return sqlite_host_write_counter(s, strip);
	default: return false;
	}
}
