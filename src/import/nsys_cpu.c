/* nsys_cpu.c - the CPU's side: calls into the OS and into libraries, and samples.
 *
 * Calls of libraries other than CUDA (MPI, cuDNN, cuBLAS) are api spans on a lane of their own that bears
 * the library's name; CUDA's own lane has none. System calls likewise stand on an os lane named "syscall".
 */
#include "import/nsys.h"

static uint32_t named_lane(struct nsys *n, uint32_t thread, enum hwy_lane_type type, uint32_t name)
{
	struct hwy_lane lane = hwy_lane_of(type, n->threads[thread].process, thread);
	lane.name = name;
	return hwy_add_lane(n->b, lane);
}

/* ENUM_NSYS_EVENT_CLASS: when tracing began and ended, not calls */
enum { OSRT_STARTED = 31, OSRT_FINISHED = 32 };

static void read_os(struct nsys *n)
{
	struct nsys_query q;
	struct hwy_row row = {0};
	if (!nsys_select(n, &q, "OSRT_API",
			 "!start !end globalTid nameId returnValue nestingLevel callchainId eventClass",
			 NULL))
		return;
	while (nsys_next(&q)) {
		int64_t class = nsys_int(&q, 7);
		if (class == OSRT_STARTED || class == OSRT_FINISHED || !nsys_times(&q, &row))
			continue;
		uint32_t thread = nsys_thread(n, nsys_int(&q, 2));
		row.v[HWY_NAME] = nsys_string_of(&q, 3);
		row.v[HWY_RESULT] = nsys_int(&q, 4);
		row.v[HWY_NESTING] = nsys_int(&q, 5);
		row.v[HWY_STACK] = nsys_ids_get(&n->os_chains, nsys_int(&q, 6));
		uint32_t lane = nsys_thread_lane(n, thread, HWY_LANE_OS, &n->threads[thread].os);
		hwy_add_span(n->b, lane, HWY_OS, &row);
	}
}

static void read_syscalls(struct nsys *n)
{
	struct nsys_query q;
	struct hwy_row row = {0};
	if (!nsys_select(n, &q, "SYSCALL", "!start !end globalTid nameId callchainId", NULL))
		return;
	uint32_t name = hwy_text_id(n->b, "syscall");
	while (nsys_next(&q)) {
		if (!nsys_times(&q, &row))
			continue;
		uint32_t thread = nsys_thread(n, nsys_int(&q, 2));
		row.v[HWY_NAME] = nsys_string_of(&q, 3);
		row.v[HWY_STACK] = nsys_ids_get(&n->syscall_chains, nsys_int(&q, 4));
		hwy_add_span(n->b, named_lane(n, thread, HWY_LANE_OS, name), HWY_OS, &row);
	}
}

static void read_library(struct nsys *n, const char *table, const char *library)
{
	struct nsys_query q;
	struct hwy_row row = {0};
	if (!nsys_select(n, &q, table, "!start !end globalTid nameId textId", NULL))
		return;
	uint32_t name = hwy_text_id(n->b, library);
	while (nsys_next(&q)) {
		if (!nsys_times(&q, &row))
			continue;
		uint32_t thread = nsys_thread(n, nsys_int(&q, 2));
		row.v[HWY_NAME] = nsys_string_of(&q, nsys_null(&q, 3) ? 4 : 3);
		hwy_add_span(n->b, named_lane(n, thread, HWY_LANE_API, name), HWY_API, &row);
	}
}

/* The chain of a sample has the sample's id. */
static void read_samples(struct nsys *n)
{
	struct nsys_query q;
	struct hwy_row row = {0};
	if (!nsys_select(n, &q, "COMPOSITE_EVENTS", "!start id globalTid cpu cpuCycles", NULL))
		return;
	while (nsys_next(&q)) {
		if (!nsys_moment(&q, &row))
			continue;
		uint32_t thread = nsys_thread(n, nsys_int(&q, 2));
		row.v[HWY_FLAGS] = HWY_FLAG_MARK;
		row.v[HWY_STACK] = nsys_ids_get(&n->sample_chains, nsys_int(&q, 1));
		row.v[HWY_CPU] = nsys_int_plus_one(&q, 3);
		row.v[HWY_WEIGHT] = nsys_int(&q, 4);
		uint32_t lane =
			nsys_thread_lane(n, thread, HWY_LANE_SAMPLES, &n->threads[thread].samples);
		hwy_add_span(n->b, lane, HWY_SAMPLE, &row);
	}
}

void nsys_read_cpu(struct nsys *n)
{
	static const struct {
		const char *table, *library;
	} libraries[] = {
		{"CUDNN_EVENTS", "cuDNN"},        {"CUBLAS_EVENTS", "cuBLAS"},
		{"MPI_P2P_EVENTS", "MPI"},        {"MPI_COLLECTIVES_EVENTS", "MPI"},
		{"MPI_START_WAIT_EVENTS", "MPI"}, {"MPI_OTHER_EVENTS", "MPI"},
	};
	read_os(n);
	read_syscalls(n);
	for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
		read_library(n, libraries[i].table, libraries[i].library);
	read_samples(n);
}
