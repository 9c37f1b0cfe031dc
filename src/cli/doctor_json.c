/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_json.c - `headway doctor --format json`. The keys are promised in docs/doctor.md. */
#include "base/json_fields.h"
#include "cli/doctor_print.h"

/* Writes a version number; null for 0, which means unknown. */
static void put_version(struct hwy_json *json, const void *version)
{
	uint32_t number = *(const uint32_t *)version;
	if (number)
		json_int(json, number);
	else
		json_null(json);
}

/* Writes true or false, or null for a number below 0, which means unknown. */
static void put_answer(struct hwy_json *json, const void *answer)
{
	int number = *(const int *)answer;
	if (number < 0)
		json_null(json);
	else
		json_bool(json, number);
}

static void put_paranoid(struct hwy_json *json, const void *paranoid)
{
	int number = *(const int *)paranoid;
	if (number == DOCTOR_PARANOID_UNKNOWN)
		json_null(json);
	else
		json_int(json, number);
}

static void put_free_bytes(struct hwy_json *json, const void *object)
{
	const struct doctor *doctor = object;
	if (doctor->temporary)
		json_int(json, (int64_t)doctor->temporary_free);
	else
		json_null(json);
}

static void put_verdict(struct hwy_json *json, const void *verdict)
{
	json_textz(json, doctor_verdict_word(*(const enum doctor_verdict *)verdict));
}

static const struct json_field check_fields[] = {
	{JSON_FIELD_CALL(struct doctor_check, verdict, "can", put_verdict)},
	{JSON_FIELD_TEXT(struct doctor_check, says, "says")},
	{JSON_FIELD_TEXT_OR_NULL(struct doctor_check, remedy, "remedy")},
};

static void put_checks(struct hwy_json *json, const void *object)
{
	const struct doctor *doctor = object;
	json_begin_object(json);
	for (int i = 0; i < DOCTOR_CHECKS; i++) {
		json_key(json, doctor->checks[i].name);
		json_put_object(json, JSON_FIELDS(check_fields), &doctor->checks[i]);
	}
	json_end_object(json);
}

static const struct json_field machine_fields[] = {
	{JSON_FIELD_TEXT(struct doctor, os, "os")},
	{JSON_FIELD_TEXT(struct doctor, kernel, "kernel")},
	{JSON_FIELD_TEXT(struct doctor, libc, "libc")},
	{JSON_FIELD_TEXT(struct doctor, cpu, "cpu")},
	{JSON_FIELD_INT(struct doctor, cpus, "cpus")},
};

static const struct json_field nvidia_fields[] = {
	{JSON_FIELD_TEXT(struct doctor, driver, "driver")},
	{JSON_FIELD_TEXT(struct doctor, libcuda, "libcuda")},
	{JSON_FIELD_CALL(struct doctor, cuda_version, "cuda_version", put_version)},
	{JSON_FIELD_TEXT_ARRAY(struct doctor, gpus, n_gpus, "gpus")},
	{JSON_FIELD_CALL(struct doctor, counters_for_all, "counters_for_all", put_answer)},
	{JSON_FIELD_INT(struct doctor, gpm, "gpm_gpus")},
	{JSON_FIELD_TEXT(struct doctor, cupti, "cupti")},
	{JSON_FIELD_CALL(struct doctor, cupti_version, "cupti_version", put_version)},
};

static const struct json_field platform_fields[] = {
	{JSON_FIELD_TEXT(struct doctor_platform, name, "name")},
	{JSON_FIELD_TEXT(struct doctor_platform, version, "version")},
	{JSON_FIELD_TEXT_ARRAY(struct doctor_platform, devices, n_devices, "devices")},
};

static const struct json_field opencl_fields[] = {
	{JSON_FIELD_TEXT(struct doctor, opencl, "loader")},
	{JSON_FIELD_BOOL(struct doctor, opencl_layers, "layers")},
	{JSON_FIELD_ARRAY(struct doctor, platforms, n_platforms, "platforms", platform_fields)},
};

static const struct json_field perf_fields[] = {
	{JSON_FIELD_CALL(struct doctor, paranoid, "paranoid", put_paranoid)},
	{JSON_FIELD_BOOL(struct doctor, cycles, "cycles")},
	{JSON_FIELD_BOOL(struct doctor, cpu_clock, "cpu_clock")},
	{JSON_FIELD_BOOL(struct doctor, kernel_side, "kernel")},
	{JSON_FIELD_BOOL(struct doctor, switches, "context_switches")},
	{JSON_FIELD_BOOL(struct doctor, wakeups, "wakeups")},
	{JSON_FIELD_BOOL(struct doctor, system_wide, "system_wide")},
};

static const struct json_field python_fields[] = {
	{JSON_FIELD_TEXT(struct doctor_python, path, "path")},
	{JSON_FIELD_TEXT(struct doctor_python, version, "version")},
	{JSON_FIELD_TEXT(struct doctor_python, implementation, "implementation")},
	{JSON_FIELD_BOOL(struct doctor_python, stacks, "stacks")},
};

static const struct json_field library_fields[] = {
	{JSON_FIELD_TEXT(struct doctor, collect, "collect")},
	{JSON_FIELD_TEXT(struct doctor, osrt, "osrt")},
	{JSON_FIELD_TEXT(struct doctor, opencl_library, "opencl")},
	{JSON_FIELD_TEXT(struct doctor, libdw, "libdw")},
	{JSON_FIELD_TEXT(struct doctor, libmicrohttpd, "libmicrohttpd")},
};

static const struct json_field temporary_fields[] = {
	{JSON_FIELD_TEXT(struct doctor, temporary, "path")},
	{JSON_FIELD_CALL_OBJECT("free_bytes", put_free_bytes)},
	{JSON_FIELD_BOOL(struct doctor, temporary_exec, "exec")},
};

/* A row of a JSON table for an object whose members are members of struct doctor. */
#define GROUP(name, table)                                                                         \
	{                                                                                          \
		.key = (name), .type = JSON_AS_OBJECT, JSON_TABLE(table)                           \
	}

static const struct json_field doctor_fields[] = {
	{JSON_FIELD_BOOL(struct doctor, any, "can_record")},
	{JSON_FIELD_CALL_OBJECT("checks", put_checks)},
	GROUP("machine", machine_fields),
	GROUP("nvidia", nvidia_fields),
	GROUP("opencl", opencl_fields),
	GROUP("perf", perf_fields),
	{JSON_FIELD_ARRAY(struct doctor, pythons, n_pythons, "pythons", python_fields)},
	GROUP("libraries", library_fields),
	GROUP("temporary", temporary_fields),
};

void doctor_print_json(const struct doctor *doctor, FILE *out)
{
	struct hwy_json json = {.out = out, .pretty = true};
	json_begin_object(&json);
	json_put_text(&json, "headway", HEADWAY_VERSION);
	json_put_fields(&json, JSON_FIELDS(doctor_fields), doctor);
	json_end_object(&json);
	fputc('\n', out);
}
