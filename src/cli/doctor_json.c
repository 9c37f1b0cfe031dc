/* doctor_json.c - `headway doctor --format json`. The keys are promised in docs/doctor.md. */
#include "base/json.h"
#include "cli/doctor_print.h"

static void doctor_json_put_known(struct hwy_json *json, const char *key, int64_t value, bool known)
{
	json_key(json, key);
	if (known)
		json_int(json, value);
	else
		json_null(json);
}

static void doctor_json_begin(struct hwy_json *json, const char *key)
{
	json_key(json, key);
	json_begin_object(json);
}

static void put_checks(struct hwy_json *json, const struct doctor *doctor)
{
	doctor_json_begin(json, "checks");
	for (int i = 0; i < DOCTOR_CHECKS; i++) {
		const struct doctor_check *check = &doctor->checks[i];
		doctor_json_begin(json, check->name);
		json_put_text(json, "can", doctor_verdict_word(check->verdict));
		json_put_text(json, "says", check->says);
		json_put_text(json, "remedy", *check->remedy ? check->remedy : NULL);
		json_end_object(json);
	}
	json_end_object(json);
}

static void put_machine(struct hwy_json *json, const struct doctor *doctor)
{
	doctor_json_begin(json, "machine");
	json_put_text(json, "os", doctor->os);
	json_put_text(json, "kernel", doctor->kernel);
	json_put_text(json, "libc", doctor->libc);
	json_put_text(json, "cpu", doctor->cpu);
	json_put_int(json, "cpus", doctor->cpus);
	json_end_object(json);
}

static void put_nvidia(struct hwy_json *json, const struct doctor *doctor)
{
	doctor_json_begin(json, "nvidia");
	json_put_text(json, "driver", doctor->driver);
	json_put_text(json, "libcuda", doctor->libcuda);
	doctor_json_put_known(json, "cuda_version", doctor->cuda_version, doctor->cuda_version);
	json_key(json, "gpus");
	json_begin_array(json);
	for (uint32_t i = 0; i < doctor->n_gpus; i++)
		json_textz(json, doctor->gpus[i]);
	json_end_array(json);
	json_key(json, "counters_for_all");
	if (doctor->counters_for_all < 0)
		json_null(json);
	else
		json_bool(json, doctor->counters_for_all);
	json_put_text(json, "cupti", doctor->cupti);
	doctor_json_put_known(json, "cupti_version", doctor->cupti_version, doctor->cupti_version);
	json_end_object(json);
}

static void put_opencl(struct hwy_json *json, const struct doctor *doctor)
{
	doctor_json_begin(json, "opencl");
	json_put_text(json, "loader", doctor->opencl);
	json_put_bool(json, "layers", doctor->opencl_layers);
	json_key(json, "platforms");
	json_begin_array(json);
	for (uint32_t i = 0; i < doctor->n_platforms; i++) {
		const struct doctor_platform *platform = &doctor->platforms[i];
		json_begin_object(json);
		json_put_text(json, "name", platform->name);
		json_put_text(json, "version", platform->version);
		json_key(json, "devices");
		json_begin_array(json);
		for (uint32_t d = 0; d < platform->n_devices; d++)
			json_textz(json, platform->devices[d]);
		json_end_array(json);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
}

static void put_perf(struct hwy_json *json, const struct doctor *doctor)
{
	doctor_json_begin(json, "perf");
	doctor_json_put_known(json, "paranoid", doctor->paranoid,
			      doctor->paranoid != DOCTOR_PARANOID_UNKNOWN);
	json_put_bool(json, "cycles", doctor->cycles);
	json_put_bool(json, "cpu_clock", doctor->cpu_clock);
	json_put_bool(json, "kernel", doctor->kernel_side);
	json_put_bool(json, "context_switches", doctor->switches);
	json_put_bool(json, "wakeups", doctor->wakeups);
	json_put_bool(json, "system_wide", doctor->system_wide);
	json_end_object(json);
}

static void put_pythons(struct hwy_json *json, const struct doctor *doctor)
{
	json_key(json, "pythons");
	json_begin_array(json);
	for (uint32_t i = 0; i < doctor->n_pythons; i++) {
		json_begin_object(json);
		json_put_text(json, "path", doctor->pythons[i].path);
		json_put_text(json, "version", doctor->pythons[i].version);
		json_put_text(json, "implementation", doctor->pythons[i].implementation);
		json_put_bool(json, "stacks", doctor->pythons[i].stacks);
		json_end_object(json);
	}
	json_end_array(json);
}

static void put_places(struct hwy_json *json, const struct doctor *doctor)
{
	doctor_json_begin(json, "libraries");
	json_put_text(json, "collect", doctor->collect);
	json_put_text(json, "osrt", doctor->osrt);
	json_put_text(json, "opencl", doctor->opencl_library);
	json_put_text(json, "libdw", doctor->libdw);
	json_put_text(json, "libmicrohttpd", doctor->libmicrohttpd);
	json_end_object(json);
	doctor_json_begin(json, "temporary");
	json_put_text(json, "path", doctor->temporary);
	doctor_json_put_known(json, "free_bytes", (int64_t)doctor->temporary_free,
			      doctor->temporary);
	json_put_bool(json, "exec", doctor->temporary_exec);
	json_end_object(json);
}

void doctor_print_json(const struct doctor *doctor, FILE *out)
{
	struct hwy_json json = {.out = out, .pretty = true};
	json_begin_object(&json);
	json_put_text(&json, "headway", HEADWAY_VERSION);
	json_put_bool(&json, "can_record", doctor->any);
	put_checks(&json, doctor);
	put_machine(&json, doctor);
	put_nvidia(&json, doctor);
	put_opencl(&json, doctor);
	put_perf(&json, doctor);
	put_pythons(&json, doctor);
	put_places(&json, doctor);
	json_end_object(&json);
	fputc('\n', out);
}
