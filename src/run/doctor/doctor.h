/* doctor.h - what can be recorded on this machine, and what would have to change for the rest.
 *
 *   struct doctor doctor;
 *   doctor_look(&doctor);
 *   puts(doctor.checks[DOCTOR_CUDA].says);
 *   doctor_free(&doctor);
 *
 * Nothing here can hang or be crashed: whatever is opened that others wrote (drivers, interpreters) is opened
 * in a child that has a few seconds. No GPU context is made and nothing is changed.
 */
#ifndef HWY_RUN_DOCTOR_DOCTOR_H
#define HWY_RUN_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/mem.h"

enum doctor_id {
	DOCTOR_PROGRAM,  /* processes, threads, NVTX: the collect library and a place for the run */
	DOCTOR_CUDA,     /* driver and CUPTI */
	DOCTOR_COUNTERS, /* the GPU's performance counters */
	DOCTOR_OPENCL,
	DOCTOR_OS,       /* calls into the OS */
	DOCTOR_SAMPLES,  /* CPU samples of the program */
	DOCTOR_SWITCHES, /* its scheduling */
	DOCTOR_MACHINE,  /* samples of all processes */
	DOCTOR_STACKS,   /* unwinding of native code */
	DOCTOR_PYTHON,   /* stacks of Python */
	DOCTOR_VIEW,     /* showing reports: the library that `headway view` opens */
	DOCTOR_CHECKS
};
enum doctor_verdict { DOCTOR_NO, DOCTOR_PARTLY, DOCTOR_YES };

struct doctor_check {
	const char *name;  /* for programs: "cuda" */
	const char *title; /* for people: "CUDA" */
	enum doctor_verdict verdict;
	char says[256];   /* what was found, or why it is not possible */
	char remedy[256]; /* what to do about it, "" where nothing is needed or possible */
};

struct doctor_platform { /* of OpenCL */
	char *name, *version;
	char **devices;
	uint32_t n_devices, cap_devices;
};
struct doctor_python {
	char *path, *version, *implementation; /* "3.11.2", "cpython" */
	uint32_t minor;                        /* of version 3; 0: another */
	bool stacks;                           /* can be read */
};

/* Texts are NULL where the thing is absent or not known. */
struct doctor {
	struct doctor_check checks[DOCTOR_CHECKS];
	bool any; /* something can be recorded */

	char *os, *kernel, *libc, *cpu;
	uint32_t cpus;

	char *driver;          /* of NVIDIA */
	char *libcuda;         /* its path */
	uint32_t cuda_version; /* of the driver: 13000; 0: not known */
	char **gpus;           /* names */
	uint32_t n_gpus, cap_gpus;
	int counters_for_all; /* 1, 0: for root only, -1: not known */
	char *cupti;          /* its path */
	uint32_t cupti_version;

	char *opencl; /* path of the loader */
	bool opencl_layers;
	struct doctor_platform *platforms;
	uint32_t n_platforms, cap_platforms;

	int paranoid;   /* kernel.perf_event_paranoid; -100: not known */
	int perf_error; /* errno of the attempt to sample ourselves; 0 */
	bool cycles, cpu_clock, kernel_side, switches, system_wide, wakeups;

	char *libdw, *libmicrohttpd;           /* paths */
	char *collect, *osrt, *opencl_library; /* our own libraries' paths */
	char *temporary;                       /* where the run directory would be */
	bool temporary_exec;
	uint64_t temporary_free; /* bytes */

	struct doctor_python *pythons;
	uint32_t n_pythons, cap_pythons;
	bool reads_memory; /* process_vm_readv is permitted */
	char **packages;   /* folders of their packages, NULL at the end */

	struct hwy_arena texts; /* all of the above */
};

void doctor_look(struct doctor *doctor);
void doctor_free(struct doctor *doctor);

/* ---- inside this room ---- */

char *doctor_text(struct doctor *doctor, const char *text); /* kept as long as the doctor */
void doctor_say(struct doctor *doctor, enum doctor_id id, enum doctor_verdict verdict,
		const char *format, ...) __attribute__((format(printf, 4, 5)));
void doctor_advise(struct doctor *doctor, enum doctor_id id, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* doctor_probe.c: runs 'look' in a child with nothing to read and nowhere to print; what it writes to 'out'
 * comes back in 'answer', cut to 'size'. The child and what it started are killed after 'timeout_ms'. */
enum doctor_probe_end { PROBE_DONE, PROBE_CRASHED, PROBE_LATE, PROBE_FAILED };
enum doctor_probe_end doctor_probe_run(void (*look)(FILE *out, const void *with), const void *with,
				       int timeout_ms, char *answer, size_t size);
/* The next line "key value" of an answer; false at its end. The answer is cut up. */
bool doctor_probe_line(char **answer, const char **key, const char **value);

/* One file each. */
void doctor_nvidia(struct doctor *doctor); /* after doctor_pythons: their wheels may hold CUPTI */
void doctor_opencl(struct doctor *doctor);
void doctor_perf(struct doctor *doctor);
void doctor_pythons(struct doctor *doctor);
void doctor_place(struct doctor *doctor);
void doctor_view(struct doctor *doctor);

/* How to install libmicrohttpd, by ID, ID_LIKE and VERSION_ID of /etc/os-release. */
const char *doctor_view_remedy(const char *id, const char *like, const char *version);

#endif
