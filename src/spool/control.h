/* SPDX-License-Identifier: Apache-2.0 */
/* control.h - what the parent of a run tells the targets, and how it is read from the run
 * directory. */
#ifndef HWY_SPOOL_CONTROL_H
#define HWY_SPOOL_CONTROL_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spool/record.h"

/* What the parent tells the targets, and the little that targets tell one another. It lies in
 * two files of the run directory, because a process that gives up its rights (setuid) keeps what
 * it has mapped:
 *   control  the settings. Written by the parent before the first target starts. Every target copies them once, checks
 *            them, and makes its copy read-only; no target has the file open for writing or mapped.
 *   state    the fields from 'recording' on, which are atomic and change during the run. Every target has this file
 *            mapped for writing, so that no target may do with a value in it anything but record, not record, or count.
 * The files must be two: remap_file_pages lets a process move a mapping that it may write to any
 * page of its file. In memory the state lies REC_STATE_OFFSET bytes behind the settings, which
 * is a multiple of every page size. */
enum {
	REC_TRACE_CUDA = 1,
	REC_TRACE_NVTX = 2,
	REC_TRACE_OPENCL = 4,
	REC_TRACE_OSRT = 8,
	REC_TRACE_PYTORCH = 16, /* operators and modules of PyTorch */
	REC_TRACE_PYTHON = 32,  /* Python's garbage collector, and waits for its global lock */
	REC_TRACE_MPI = 64,
	REC_TRACE_NCCL = 128,
	/* calls of CUDA's libraries */
	REC_TRACE_CUBLAS = 256,
	REC_TRACE_CUDNN = 512,
	REC_TRACE_CUSPARSE = 1024,
	REC_TRACE_CUSOLVER = 2048,
	REC_TRACE_CUFFT = 4096,
	REC_TRACE_CUBLAS_SHAPES = 16384, /* the shapes of products, beside REC_TRACE_CUBLAS */
	/* NCCL tells when each channel of its kernels begins and ends, also where CUDA is
	 * recorded */
	REC_TRACE_NCCL_CHANNELS = 8192,
};
enum { REC_CAPTURE_NONE, REC_CAPTURE_PROFILER_API, REC_CAPTURE_NVTX };
enum { REC_CAPTURE_END_STOP, REC_CAPTURE_END_REPEAT, REC_CAPTURE_END_NONE };
enum { REC_CONTROL_VERSION = 2, REC_CONTROL_BYTES = 2048, REC_STATE_OFFSET = 64 * 1024 };
struct rec_control {
	union {
		struct {
			uint64_t magic;
			uint32_t version; /* REC_CONTROL_VERSION */
			uint32_t traces;  /* the sources that are recorded: bits REC_TRACE_… */
			/* 1: record each node of a graph, 0: record a graph as a whole */
			uint32_t graph_nodes;
			uint32_t all_apis;
			uint32_t memory_usage;
			uint32_t leave_cupti;
			uint32_t capture; /* what begins and ends recording: REC_CAPTURE_… */
			/* capture_end: what happens at the end of a capture range
			 * (REC_CAPTURE_END_…): recording stops for good, or waits for the next
			 * range ('repeats' ranges at most, 0: any number), or goes on. */
			uint32_t capture_end;
			/* launch_stacks: how many stacks of launches are taken per second in each
			 * thread; 0: none. */
			uint32_t launch_stacks;
			uint32_t flush_ms; /* how often the collector asks CUPTI for its buffers */
			/* keep_s: not 0: spools are rings, and chunks older than so many seconds
			 * are overwritten. */
			uint32_t keep_s;
			/* seccomp_filters: how many seccomp filters the parent runs under; a
			 * program that starts with more is one that restricts its own system
			 * calls. */
			uint32_t seccomp_filters;
			/* has_driver: 1: there may be a CUDA driver here, which must find
			 * CUDA_INJECTION64_PATH in the environment. */
			uint32_t has_driver;
			/* operator_inputs: 1: record shapes and types of the inputs of operators */
			uint32_t operator_inputs;
			/* measures: 1: nothing is recorded; counters of kernels are measured as the
			 * plan in the run directory says (spool/kernels_plan.h). */
			uint32_t measures;
			/* every_rank: 1: whoever started the program sees to it that every rank
			 * of its MPI job is recorded, so that ranks may exchange messages of
			 * their own. */
			uint32_t every_rank;
			int64_t stack_threshold; /* ns; a call that takes longer gets a stack */
			/* steps: recording stops after so many steady steps; 0: no limit */
			int64_t steps;
			int64_t started; /* ns when the run began */
			/* os_threshold: ns; OS calls shorter than this are not recorded */
			int64_t os_threshold;
			/* os_stack_threshold: ns; OS calls longer than this get a stack; below 0:
			 * no OS call gets a stack. */
			int64_t os_stack_threshold;
			/* time_namespace: inode of the parent's time namespace; 0: not known. A
			 * process of another namespace has another clock. */
			uint64_t time_namespace;
			/* A spool grows only where so many bytes of its file system stay free;
			 * 0: no limit. */
			uint64_t keep_free;
			/* max_bytes: how many bytes all spools of the run may have; 0: no limit */
			uint64_t max_bytes;
			char nvtx_range[256]; /* the NVTX range to record, as "range@domain" */
			/* Path of the collect library, which a target preloads again after exec. */
			char library[1024];
		};
		uint8_t settings[REC_STATE_OFFSET];
	};
	/* ---- the state: all fields from here on are atomic ---- */
	/* 1: record, 0: do not record; with a capture range the targets set 'recording' too. */
	uint32_t recording;
	/* 1: the recording is over, so that targets finalise CUPTI and record nothing more. */
	uint32_t finished;
	uint32_t repeats;   /* how many capture ranges are still to be recorded, see capture_end */
	uint32_t capturing; /* how many NVTX capture ranges are open in all processes */
	/* Records lost in threads that had no chunk in which to count the loss. */
	uint64_t dropped;
	/* Why no spool may grow at present (enum rec_full); written by the parent. */
	uint32_t full;
	uint32_t reserved;
	/* Counted by whoever starts or becomes such a program: programs inside which nothing is
	 * recorded, because ... */
	/* they have not the rights, or not the files, to reach the run directory */
	uint32_t unreached;
	uint32_t unfit;    /* the collect library cannot be loaded into them (spool/preload.h) */
	uint32_t sealed;   /* their system calls are restricted (seccomp) */
	uint32_t elsewhen; /* they have a clock of their own (a time namespace) */
	uint8_t spare[80];
};
static_assert(offsetof(struct rec_control, library) + 1024 <= REC_CONTROL_BYTES, "fits its file");
static_assert(offsetof(struct rec_control, recording) == REC_STATE_OFFSET, "the state's own pages");
#define REC_STATE_BYTES (sizeof(struct rec_control) - REC_STATE_OFFSET)
static_assert(sizeof(struct rec_control) % 64 == 0, "whole cache lines");

#define CONTROL_FILE "control"
#define STATE_FILE "state"

/* Opens a regular file of the run directory; -1: there is none, or it is a link, a pipe or a
 * device. */
int control_open(int directory, const char *file, int flags);

/* Reads the settings into 'control', which has zeros in it, and checks them: false where the
 * file is not of this version, was cut, or has a text without an end. Leaves the state alone. */
bool control_read_settings(int fd, struct rec_control *control);

/* Reads settings and state of a run into 'control', which has zeros in it. A state that is
 * missing stays 0. */
bool control_read(int directory, struct rec_control *control);

/* Under how many seccomp filters the calling process runs, as far as the kernel tells (before
 * Linux 5.9 only whether there is any: 2). Reads one file of /proc, by calls that the loader
 * makes too. */
uint32_t control_seccomp_filters(void);

/* The time namespace of the calling process, as an inode number; 0: not known. */
uint64_t control_time_namespace(void);
/* Names the CLOCK_MONOTONIC that this process reads: equal on all processes of one boot and one
 * time namespace. 0: cannot be told. */
uint64_t control_clock_id(void);

#endif
