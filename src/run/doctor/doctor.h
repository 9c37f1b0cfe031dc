/* SPDX-License-Identifier: Apache-2.0 */
/* doctor.h - what can be recorded on this machine, and what would have to change for the rest.
 *
 *   struct doctor doctor;
 *   doctor_look(&doctor);
 *   puts(doctor.checks[DOCTOR_CUDA].says);
 *   doctor_free(&doctor);
 *
 * Nothing on the machine can hang or crash these functions: drivers, interpreters and other
 * people's libraries are opened in a child that has a few seconds. No GPU context is made and
 * nothing is changed.
 */
#ifndef HWY_RUN_DOCTOR_DOCTOR_H
#define HWY_RUN_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/mem.h"

enum doctor_id {
	/* DOCTOR_PROGRAM: whether processes, threads and NVTX can be recorded: the collect
	 * library, and a folder for the run. */
	DOCTOR_PROGRAM,
	DOCTOR_CUDA,     /* whether NVIDIA's driver and CUPTI can be used */
	DOCTOR_COUNTERS, /* whether the GPU's performance counters can be read */
	DOCTOR_CLOCKS,   /* whether NVML tells the clocks of the GPUs */
	DOCTOR_OPENCL,
	DOCTOR_OS,       /* whether calls into the operating system can be recorded */
	DOCTOR_SAMPLES,  /* whether the CPU samples of the program can be taken */
	DOCTOR_SWITCHES, /* whether the scheduling of the program can be recorded */
	DOCTOR_MACHINE,  /* whether CPU samples of all processes can be taken */
	DOCTOR_STACKS,   /* whether the stacks of native code can be unwound */
	DOCTOR_PYTHON,   /* whether the stacks of Python can be read */
	DOCTOR_VIEW,     /* whether reports can be shown: the library that `headway view` opens */
	DOCTOR_CHECKS
};
enum { DOCTOR_PARANOID_UNKNOWN = -100 };
enum doctor_verdict { DOCTOR_NO, DOCTOR_PARTLY, DOCTOR_YES };

struct doctor_check {
	const char *name;  /* the check's key in JSON, such as "cuda" */
	const char *title; /* the check's name in text, such as "CUDA": a key of base/lang.h */
	enum doctor_verdict verdict;
	char says[256]; /* a sentence: what was found, or why recording is not possible */
	/* remedy: what the user can do to make the recording possible; "" where nothing is
	 * needed or possible. */
	char remedy[256];
};

struct doctor_platform { /* one installed platform of OpenCL */
	char *name, *version;
	char **devices;
	uint32_t n_devices, cap_devices;
};
struct doctor_python {
	/* 'version' is like "3.11.2", 'implementation' like "cpython". */
	char *path, *version, *implementation;
	uint32_t minor; /* N of Python 3.N; 0: the version is not 3.N */
	bool stacks;    /* stacks of this Python can be read */
};

/* What the doctor found on the machine. Texts are NULL where a thing is absent or unknown. */
struct doctor {
	struct doctor_check checks[DOCTOR_CHECKS];
	bool any; /* at least one source can be recorded */

	char *os, *kernel, *libc, *cpu;
	uint32_t cpus;

	char *driver;          /* version of NVIDIA's driver */
	char *libcuda;         /* path of libcuda.so.1 */
	uint32_t cuda_version; /* CUDA version of the driver: 13000 is 13.0; 0: unknown */
	char **gpus;           /* names of the GPUs */
	uint32_t n_gpus, cap_gpus;
	/* counters_for_all: who may read GPU counters: 1: everybody, 0: root only, -1: unknown. */
	int counters_for_all;
	uint32_t gpm; /* how many GPUs have metrics that need no rights (NVML's GPM) */
	char *cupti;  /* path of libcupti */
	uint32_t cupti_version;

	char *opencl; /* path of libOpenCL.so.1, the loader */
	bool opencl_layers;
	struct doctor_platform *platforms;
	uint32_t n_platforms, cap_platforms;

	int paranoid;   /* kernel.perf_event_paranoid; DOCTOR_PARANOID_UNKNOWN: unknown */
	int perf_error; /* errno of the attempt to sample this process; 0: it worked */
	bool cycles, cpu_clock, kernel_side, switches, system_wide, wakeups;

	char *libdw, *libmicrohttpd;           /* paths of libdw and libmicrohttpd */
	char *collect, *osrt, *opencl_library; /* paths of Headway's own libraries */
	/* temporary: the folder in which a recording would make its run directory. */
	char *temporary;
	bool temporary_exec;
	uint64_t temporary_free; /* bytes free in the folder 'temporary' */

	struct doctor_python *pythons;
	uint32_t n_pythons, cap_pythons;
	bool memory_can_be_read; /* the kernel permits process_vm_readv */
	char **packages; /* package folders of the Pythons that were found, NULL at the end */

	struct hwy_arena texts; /* the arena that holds all texts of the doctor */
};

void doctor_look(struct doctor *doctor);
void doctor_free(struct doctor *doctor);

/* ---- inside this room ---- */

/* Yields a copy of a text that lives as long as the doctor. */
char *doctor_text(struct doctor *doctor, const char *text);
/* Both take their sentence in English and keep it in the reader's language (base/lang.h). */
void doctor_say(struct doctor *doctor, enum doctor_id id, enum doctor_verdict verdict,
		const char *format, ...) __attribute__((format(printf, 4, 5)));
void doctor_advise(struct doctor *doctor, enum doctor_id id, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* doctor_probe.c: runs 'look' in a child that can read nothing and print nothing; what it writes to
 * 'out' comes back in 'answer', cut to 'size' bytes. The child and the processes that it started
 * are killed after 'timeout_ms'. */
enum doctor_probe_end { PROBE_DONE, PROBE_CRASHED, PROBE_LATE, PROBE_FAILED };
enum doctor_probe_end doctor_probe_run(void (*look)(FILE *out, const void *with), const void *with,
				       int timeout_ms, char *answer, size_t size);
/* Yields the next line "key value" of a probe's answer, which it cuts into pieces; false at the
 * answer's end. */
bool doctor_probe_line(char **answer, const char **key, const char **value);

/* The checks of the doctor; each check has a file of its own. */
/* Checks CUDA. Is called after doctor_pythons, because the packages of a Python may hold CUPTI. */
void doctor_nvidia(struct doctor *doctor);
/* Is called after doctor_nvidia, which finds the driver. */
void doctor_clocks(struct doctor *doctor);
void doctor_opencl(struct doctor *doctor);
void doctor_perf(struct doctor *doctor);
void doctor_pythons(struct doctor *doctor);
void doctor_place(struct doctor *doctor);
void doctor_view(struct doctor *doctor);

/* Yields how to install libmicrohttpd, by ID, ID_LIKE and VERSION_ID of /etc/os-release. */
const char *doctor_view_remedy(const char *id, const char *like, const char *version);

#endif
