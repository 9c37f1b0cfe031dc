/* SPDX-License-Identifier: Apache-2.0 */
/* doctor.c - see doctor.h. */
#include "run/doctor/doctor.h"

#include <gnu/libc-version.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/lang.h"
#include "run/host_facts.h"

static const struct {
	const char *name, *title;
} checks[DOCTOR_CHECKS] = {
	[DOCTOR_PROGRAM] = {"program", HWY_KEY("programs, NVTX")},
	[DOCTOR_CUDA] = {"cuda", "CUDA"},
	[DOCTOR_COUNTERS] = {"gpu_counters", HWY_KEY("GPU counters")},
	[DOCTOR_CLOCKS] = {"gpu_clocks", HWY_KEY("GPU clocks")},
	[DOCTOR_OPENCL] = {"opencl", "OpenCL"},
	[DOCTOR_OS] = {"osrt", HWY_KEY("OS calls")},
	[DOCTOR_SAMPLES] = {"cpu_samples", HWY_KEY("CPU samples")},
	[DOCTOR_SWITCHES] = {"scheduling", HWY_KEY("scheduling")},
	[DOCTOR_MACHINE] = {"system_wide", HWY_KEY("whole machine")},
	[DOCTOR_STACKS] = {"native_stacks", HWY_KEY("native stacks")},
	[DOCTOR_PYTHON] = {"python_stacks", HWY_KEY("Python stacks")},
	[DOCTOR_VIEW] = {"viewer", HWY_KEY("viewer")},
};

char *doctor_text(struct doctor *doctor, const char *text)
{
	return hwy_arena_text(&doctor->texts, text, strlen(text));
}

void doctor_say(struct doctor *doctor, enum doctor_id id, enum doctor_verdict verdict,
		const char *format, ...)
{
	va_list arguments;
	struct doctor_check *check = &doctor->checks[id];
	va_start(arguments, format);
	vsnprintf(check->says, sizeof check->says, hwy_tr(format), arguments);
	va_end(arguments);
	check->verdict = verdict;
}

void doctor_advise(struct doctor *doctor, enum doctor_id id, const char *format, ...)
{
	va_list arguments;
	struct doctor_check *check = &doctor->checks[id];
	va_start(arguments, format);
	vsnprintf(check->remedy, sizeof check->remedy, hwy_tr(format), arguments);
	va_end(arguments);
}

/* Yields a value of a file of facts (host_facts.h), or NULL. */
static char *fact_in_file(struct doctor *doctor, const char *path, const char *key)
{
	char value[512];
	return host_facts_value(path, key, value, sizeof value) ? doctor_text(doctor, value) : NULL;
}

static void look_at_machine(struct doctor *doctor)
{
	struct utsname about;
	char text[300];
	doctor->os = fact_in_file(doctor, "/etc/os-release", "PRETTY_NAME");
	doctor->cpu = fact_in_file(doctor, "/proc/cpuinfo", "model name");
	doctor->cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	if (uname(&about) == 0) {
		snprintf(text, sizeof text, "%s %s", about.sysname, about.release);
		doctor->kernel = doctor_text(doctor, text);
	}
	snprintf(text, sizeof text, "glibc %s", gnu_get_libc_version());
	doctor->libc = doctor_text(doctor, text);
}

void doctor_look(struct doctor *doctor)
{
	*doctor = (struct doctor){0};
	for (int i = 0; i < DOCTOR_CHECKS; i++) {
		doctor->checks[i].name = checks[i].name;
		doctor->checks[i].title = checks[i].title;
	}
	look_at_machine(doctor);
	doctor_place(doctor);
	doctor_pythons(doctor);
	doctor_nvidia(doctor);
	doctor_clocks(doctor);
	doctor_opencl(doctor);
	doctor_perf(doctor);
	doctor_view(doctor);
	/* Without the collect library, or without a place for the run, nothing else can be
	 * recorded. */
	doctor->any = doctor->checks[DOCTOR_PROGRAM].verdict != DOCTOR_NO;
}

void doctor_free(struct doctor *doctor)
{
	for (uint32_t i = 0; i < doctor->n_platforms; i++)
		free(doctor->platforms[i].devices);
	free(doctor->platforms);
	free(doctor->gpus);
	free(doctor->pythons);
	hwy_arena_free(&doctor->texts);
	*doctor = (struct doctor){0};
}
