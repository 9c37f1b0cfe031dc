/* SPDX-License-Identifier: Apache-2.0 */
/* self_record.c - the functions by which a program asks for its own recording; the Python
 * package calls them.
 *
 * A program that was started without Headway, as the kernel of a notebook is, loads this library
 * when it wants to be recorded. A headway process beside it has made the run directory, and
 * makes the report when the program has left the run (cli/profile_within.c). The library stays
 * loaded; the program may join another run later. What replaces functions of libc in a preloaded
 * library replaces nothing here: the program's calls are bound already.
 *
 * In a program that `headway profile` runs the same functions only mark ranges and begin and end
 * a capture range.
 *
 * The caller calls join and leave from one thread at a time, outside of signal handlers. Nothing
 * here fails loudly: what could not be done is yielded as a number.
 */
#include <stdatomic.h>

#include "collect/collect.h"
#include "collect/cuda/cuda.h"
#include "collect/late.h"
#include "collect/nvtx/nvtx.h"
#include "collect/process.h"
#include "collect/python/collection.h"
#include "collect/python/inside.h"

/* Tests build the collector without the files of cuda/. */
#pragma weak cuda
#pragma weak cuda_begin_late
#pragma weak cuda_flush_drain

#define EXPORT __attribute__((visibility("default")))

/* What headway_collect_tells is asked for. */
enum {
	TELLS_HAS_RUN,     /* 1: the process is part of a run */
	TELLS_CUDA_STAGE,  /* enum cuda_stage */
	TELLS_NVTX_COPIES, /* how many copies of NVTX have the collector's functions */
	TELLS_TRACES,      /* the sources that the run records: REC_TRACE_… */
	TELLS_RECORDING,   /* 1: events are recorded now */
	/* 1: the process has asked for its recording; 0: headway profile started it */
	TELLS_JOINED_ITSELF,
};

EXPORT int headway_collect_expect(void);
EXPORT int headway_collect_join(const char *run);
EXPORT void headway_collect_leave(void);
EXPORT void headway_collect_capture(int on);
EXPORT uint32_t headway_collect_tells(uint32_t what);
EXPORT int headway_collect_push(const char *text);
EXPORT int headway_collect_pop(void);
EXPORT uint64_t headway_collect_start(const char *text);
EXPORT void headway_collect_end(uint64_t id);

/* The program may ask for recordings later: libraries that begin before the first one (NVTX,
 * OpenCL) find the collector then. */
int headway_collect_expect(void)
{
	return process_expect_run();
}

/* Begins to record into a run directory. 0: that cannot be, or the process is being recorded. */
int headway_collect_join(const char *run)
{
	if (!run || !process_join(run))
		return 0;
	process.joined_itself = true;
	/* Called by the interpreter: it is alive, in a forked child too. */
	inside_is_alive();
	/* The replaced opendir is not the program's: nobody else would look for the interpreter
	 * and for libtorch. */
	late_look_patiently();
	if (cuda_begin_late && (collect_control->traces & REC_TRACE_CUDA))
		cuda_begin_late();
	collect_set_recording(true);
	return 1;
}

/* Ends the recording; when this comes back, everything that was recorded is in the run
 * directory. */
void headway_collect_leave(void)
{
	if (!process.joined_itself || !process.has_run)
		return;
	collect_set_recording(false);
	if (cuda_flush_drain)
		cuda_flush_drain();
	nvtx_exit();
	process_leave();
}

/* Begins or ends a capture range, as cudaProfilerStart and cudaProfilerStop do (headway profile
 * -c cudaProfilerApi). */
void headway_collect_capture(int on)
{
	if (process.has_run && collect_control->capture == REC_CAPTURE_PROFILER_API)
		collect_set_recording(on);
}

uint32_t headway_collect_tells(uint32_t what)
{
	switch (what) {
	case TELLS_HAS_RUN: return process.has_run;
	case TELLS_CUDA_STAGE: return &cuda ? (uint32_t)atomic_load(&cuda.stage) : 0;
	case TELLS_NVTX_COPIES: return nvtx_copies();
	case TELLS_TRACES: return process.has_run ? collect_control->traces : 0;
	case TELLS_RECORDING: return collect_is_on(UINT32_MAX);
	case TELLS_JOINED_ITSELF: return process.joined_itself;
	default: return 0;
	}
}

int headway_collect_push(const char *text)
{
	return collect_control && text ? nvtx_range_push_a(text) : 0;
}

int headway_collect_pop(void)
{
	return collect_control ? nvtx_range_pop() : 0;
}

uint64_t headway_collect_start(const char *text)
{
	return collect_control && text ? nvtx_range_start_a(text) : 0;
}

void headway_collect_end(uint64_t id)
{
	if (collect_control && id)
		nvtx_range_end(id);
}
