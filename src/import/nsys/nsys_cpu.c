/* SPDX-License-Identifier: Apache-2.0 */
/* nsys_cpu.c - reads calls into the operating system and into libraries, and CPU samples.
 *
 * Calls of libraries (cuDNN, cuBLAS; nsys_mpi.c reads those of MPI) are call spans on a lane
 * with the library's name. In the same way, system calls are os spans on a lane with the name
 * "syscall".
 */
#include "import/nsys/nsys.h"

static uint32_t named_lane(struct nsys *n, uint32_t thread, enum hwy_lane_type type,
			   const char *name)
{
	struct hwy_lane lane = hwy_lane_of(type, n->trace->threads[thread].process, thread);
	lane.name = hwy_text_id(n->b, name);
	return hwy_add_lane(n->b, lane);
}

uint32_t nsys_library_lane(struct nsys *n, uint32_t thread, const char *library)
{
	return named_lane(n, thread, HWY_LANE_CALL, library);
}

/* Classes of ENUM_NSYS_EVENT_CLASS that are no calls: when tracing began and when it ended. */
enum { OSRT_STARTED = 31, OSRT_FINISHED = 32 };

static void add_os(struct nsys_query *q)
{
	struct nsys *n = q->nsys;
	int64_t class = nsys_int(q, 7);
	if (class == OSRT_STARTED || class == OSRT_FINISHED || !nsys_times(q))
		return;
	uint32_t thread = nsys_thread(n, nsys_int(q, 2));
	q->row.v[HWY_NAME] = nsys_string_of(q, 3);
	q->row.v[HWY_RESULT] = nsys_int(q, 4);
	q->row.v[HWY_NESTING] = nsys_int(q, 5);
	q->row.v[HWY_STACK] = hwy_ids_get(&n->os_chains, (uint64_t)nsys_int(q, 6));
	hwy_add_span(n->b, hwy_add_thread_lane(n->b, HWY_LANE_OS, thread), HWY_OS, &q->row);
}

static void add_syscall(struct nsys_query *q)
{
	struct nsys *n = q->nsys;
	if (!nsys_times(q))
		return;
	uint32_t thread = nsys_thread(n, nsys_int(q, 2));
	q->row.v[HWY_NAME] = nsys_string_of(q, 3);
	q->row.v[HWY_STACK] = hwy_ids_get(&n->syscall_chains, (uint64_t)nsys_int(q, 4));
	hwy_add_span(n->b, named_lane(n, thread, HWY_LANE_OS, q->user), HWY_OS, &q->row);
}

static void add_library_call(struct nsys_query *q)
{
	struct nsys *n = q->nsys;
	if (!nsys_times(q))
		return;
	uint32_t thread = nsys_thread(n, nsys_int(q, 2));
	q->row.v[HWY_NAME] = nsys_string_of(q, nsys_null(q, 3) ? 4 : 3);
	hwy_add_span(n->b, nsys_library_lane(n, thread, q->user), HWY_CALL, &q->row);
}

/* The call chain of a sample has the same id as the sample. */
static void add_sample(struct nsys_query *q)
{
	struct nsys *n = q->nsys;
	if (!nsys_moment(q))
		return;
	uint32_t thread = nsys_thread(n, nsys_int(q, 2));
	q->row.v[HWY_FLAGS] = HWY_FLAG_MARK;
	q->row.v[HWY_STACK] = hwy_ids_get(&n->sample_chains, (uint64_t)nsys_int(q, 1));
	q->row.v[HWY_CPU] = nsys_ref(q, 3);
	q->row.v[HWY_WEIGHT] = nsys_int(q, 4);
	uint32_t lane = hwy_add_thread_lane(n->b, HWY_LANE_SAMPLES, thread);
	hwy_add_span(n->b, lane, HWY_SAMPLE, &q->row);
}

void nsys_read_cpu(struct nsys *n)
{
	static const struct {
		const char *table, *library;
	} libraries[] = {
		{"CUDNN_EVENTS", "cuDNN"},
		{"CUBLAS_EVENTS", "cuBLAS"},
	};
	nsys_each(n, "OSRT_API",
		  "~start ~end globalTid nameId returnValue nestingLevel callchainId eventClass",
		  NULL, add_os, NULL);
	nsys_each(n, "SYSCALL", "~start ~end globalTid nameId callchainId", NULL, add_syscall,
		  (void *)"syscall");
	for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
		nsys_each(n, libraries[i].table, "~start ~end globalTid nameId textId", NULL,
			  add_library_call, (void *)libraries[i].library);
	nsys_each(n, "COMPOSITE_EVENTS", "~start id globalTid cpu cpuCycles", NULL, add_sample,
		  NULL);
}
