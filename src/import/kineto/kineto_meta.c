/* SPDX-License-Identifier: Apache-2.0 */
/* kineto_meta.c - reads the members of the file beside its events: devices, versions, the
 * distributed run, the log.
 *
 * Members that we do not know become properties with the name "kineto.MEMBER": users may have added
 * them. Secrets in them never become texts of the trace: a password may be a word that is also a
 * span's name, which stays.
 */
#include <stdio.h>
#include <string.h>

#include "base/secrets.h"
#include "import/kineto/kineto.h"
#include "trace/collective_args.h"

enum { PROPERTY_MOST = 64 * 1024 }; /* how many bytes of one property's value are kept at most */

static bool text_is(struct hwy_text key, const char *name)
{
	return key.length == strlen(name) && memcmp(key.at, name, key.length) == 0;
}

static void add_property(struct kineto *k, const char *name, const struct scan_value *value)
{
	uint32_t index = hwy_new_properties(k->b);
	struct scan_value kept = *value;
	if (kept.length > PROPERTY_MOST)
		kept.length = PROPERTY_MOST;
	struct hwy_text text = kineto_text(k, &kept);
	struct hwy_bytes masked = {0};
	if (secrets_mask_property(name, text.at, text.length, &masked))
		text = (struct hwy_text){(const char *)masked.bytes, (uint32_t)masked.n};
	k->trace->properties[index] = (struct hwy_property){
		.name = hwy_text_id(k->b, name),
		.value = hwy_text_id_n(k->b, text.at, text.length),
	};
	hwy_bytes_free(&masked);
}

static void read_number(const struct scan_value *value, int64_t *number)
{
	int64_t read;
	if (scan_integer(value, &read))
		*number = read;
}

/* The base of all times, ns since 1970. A negative one is damage, and one above the limit could
 * overflow in sums. */
static void read_base(struct kineto *k, const struct scan_value *value)
{
	int64_t base;
	if (scan_integer(value, &base) && base >= 0 && base <= 4000000000000000000)
		k->base = base;
}

static void fill_device(struct kineto *k, struct hwy_device *device, struct hwy_text key,
			const struct scan_value *value)
{
	static const struct {
		const char *name;
		size_t field;
	} fields[] = {
#define FIELD(name, field) {name, offsetof(struct hwy_device, field)}
		FIELD("totalGlobalMem", memory_bytes), FIELD("computeMajor", compute_major),
		FIELD("computeMinor", compute_minor),
		FIELD("maxThreadsPerBlock", max_threads_per_block),
		FIELD("maxThreadsPerMultiprocessor", max_threads_per_sm),
		FIELD("regsPerBlock", registers_per_block), FIELD("warpSize", threads_per_warp),
		FIELD("sharedMemPerBlock", shared_per_block), FIELD("numSms", sms),
		FIELD("regsPerMultiprocessor", registers_per_sm),
		FIELD("sharedMemPerBlockOptin", shared_per_block_optin),
		FIELD("sharedMemPerMultiprocessor", shared_per_sm),
		/* ROCm's name of the property. */
		FIELD("maxSharedMemoryPerMultiProcessor", shared_per_sm),
		FIELD("maxComputeUnits", sms), /* Intel's name of the property */
#undef FIELD
	};
	if (text_is(key, "name") && value->type == SCAN_STRING)
		device->name = kineto_text_id(k, value);
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (text_is(key, fields[i].name))
			read_number(value, (int64_t *)(void *)((char *)device + fields[i].field));
}

/* Reads one object of deviceProperties. The member "id" usually is the first, but need not be. */
static void add_device(struct kineto *k, const struct scan_value *about)
{
	struct scan scan = scan_over(about->text, about->text + about->length);
	struct hwy_device found;
	struct hwy_text key;
	struct scan_value value;
	int64_t id = HWY_NONE, *fields = (int64_t *)(void *)&found;
	for (size_t i = 0; i < sizeof found / sizeof *fields; i++)
		fields[i] = HWY_NONE;
	if (!scan_enter(&scan, '{'))
		return;
	while (scan_key(&scan, &key) && scan_value(&scan, &value)) {
		if (text_is(key, "id"))
			read_number(&value, &id);
		else
			fill_device(k, &found, key, &value);
	}
	if (id == HWY_NONE)
		return;
	k->is_listing = true;
	uint32_t index = kineto_device(k, (struct kineto_id){.number = id});
	k->is_listing = false;
	int64_t *kept = (int64_t *)(void *)&k->trace->devices[index];
	for (size_t i = 0; i < sizeof found / sizeof *fields; i++)
		if (fields[i] != HWY_NONE)
			kept[i] = fields[i];
	struct hwy_device *device = &k->trace->devices[index];
	if (device->max_threads_per_sm > 0 && device->threads_per_warp > 0)
		device->max_warps_per_sm = device->max_threads_per_sm / device->threads_per_warp;
	if (!*hwy_str(k->trace, device->name) && device->threads_per_warp == AMD_WARP)
		device->name = hwy_text_id(k->b, "AMD GPU");
}

static bool is_described(const struct hwy_device *device)
{
	return device->threads_per_warp != HWY_NONE || device->sms != HWY_NONE;
}

/* The AMD GPU that stands for all devices that the file lists; NULL where it lists none, or
 * different ones. */
static const struct hwy_device *listed_device(const struct hwy_trace *trace)
{
	const struct hwy_device *listed = NULL;
	for (uint32_t i = 0; i < trace->n_devices; i++) {
		const struct hwy_device *one = &trace->devices[i];
		if (!is_described(one))
			continue;
		if (listed && listed->name != one->name)
			return NULL;
		listed = one;
	}
	return listed && listed->threads_per_warp == AMD_WARP ? listed : NULL;
}

void kineto_describe_devices(struct kineto *k)
{
	struct hwy_trace *trace = k->trace;
	const struct hwy_device *listed = listed_device(trace);
	for (uint32_t i = 0; listed && i < trace->n_devices; i++) {
		struct hwy_device *device = &trace->devices[i];
		if (is_described(device) || device->ordinal == HWY_NONE)
			continue;
		int64_t ordinal = device->ordinal;
		*device = *listed;
		device->ordinal = ordinal;
		device->uuid = device->bus = HWY_NONE;
	}
}

/* "cuda:nccl" is the library that communicates; a group with a library for each kind of device
 * keeps the whole text. */
static uint32_t backend_text(struct kineto *k, const struct scan_value *value)
{
	static const struct {
		const char *part, *name;
	} libraries[] = {{"nccl", "NCCL"}, {"gloo", "gloo"}, {"mpi", "MPI"}, {"ucc", "UCC"}};
	const char *found = NULL;
	for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
		if (memmem(value->text, value->length, libraries[i].part,
			   strlen(libraries[i].part))) {
			if (found)
				return kineto_text_id(k, value);
			found = libraries[i].name;
		}
	return found ? hwy_text_id(k->b, found) : kineto_text_id(k, value);
}

/* The list of ranks as struct hwy_group has it; where the list is no list of numbers, its text. */
static uint32_t ranks_text(struct kineto *k, const struct scan_value *value)
{
	struct hwy_arena arena = {0};
	const char *list = hwy_arena_text(&arena, value->text, value->length);
	const char *ranks = collective_ranks(&arena, list);
	uint32_t text = ranks ? hwy_text_id(k->b, ranks) : kineto_text_id(k, value);
	hwy_arena_free(&arena);
	return text;
}

static void add_group(struct kineto *k, const struct scan_value *about)
{
	struct scan scan = scan_over(about->text, about->text + about->length);
	struct hwy_text key;
	struct scan_value value;
	if (!scan_enter(&scan, '{'))
		return;
	uint32_t index = hwy_new_groups(k->b);
	while (scan_key(&scan, &key) && scan_value(&scan, &value)) {
		struct hwy_group *group = &k->trace->groups[index];
		if (text_is(key, "pg_name"))
			group->name = kineto_text_id(k, &value);
		else if (text_is(key, "pg_desc"))
			group->description = kineto_text_id(k, &value);
		else if (text_is(key, "backend_config"))
			group->backend = backend_text(k, &value);
		else if (text_is(key, "ranks"))
			group->ranks = ranks_text(k, &value);
		else if (text_is(key, "pg_size"))
			read_number(&value, &group->size);
	}
}

static void add_log(struct kineto *k, const struct scan_value *line, int64_t severity)
{
	if (line->type != SCAN_STRING)
		return;
	uint32_t text = kineto_text_id(k, line), index = hwy_new_diagnostics(k->b);
	k->trace->diagnostics[index].severity = severity;
	k->trace->diagnostics[index].text = text;
}

enum list { DEVICES, GROUPS, INFO, WARNING, ERROR };

static void add_list(struct kineto *k, const struct scan_value *value, enum list list)
{
	struct scan scan = scan_over(value->text, value->text + value->length);
	struct scan_value element;
	if (value->type != SCAN_ARRAY || !scan_enter(&scan, '['))
		return;
	while (scan_element(&scan) && scan_value(&scan, &element)) {
		if (list == DEVICES)
			add_device(k, &element);
		else if (list == GROUPS)
			add_group(k, &element);
		else
			add_log(k, &element, 1 + (list - INFO));
	}
}

static void add_distributed(struct kineto *k, const struct scan_value *about)
{
	struct scan scan = scan_over(about->text, about->text + about->length);
	struct hwy_text key;
	struct scan_value value;
	if (about->type != SCAN_OBJECT || !scan_enter(&scan, '{'))
		return;
	while (scan_key(&scan, &key) && scan_value(&scan, &value)) {
		if (text_is(key, "rank"))
			read_number(&value, &k->rank);
		else if (text_is(key, "world_size"))
			read_number(&value, &k->world);
		else if (text_is(key, "pg_config"))
			add_list(k, &value, GROUPS);
		else if (text_is(key, "backend"))
			add_property(k, "distributed.backend", &value);
		else if (text_is(key, "nccl_version"))
			add_property(k, "nccl.version", &value);
	}
}

static void add_named_property(struct kineto *k, struct hwy_text key,
			       const struct scan_value *value)
{
	static const char *const renamed[][2] = {
		{"schemaVersion", "source.schema"},
		{"cupti_version", "cupti.version"},
		{"cuda_runtime_version", "cuda.runtime"},
		{"cuda_driver_version", "driver"},
		{"roctracer_version", "roctracer.version"},
		{"hip_runtime_version", "hip.runtime"},
		{"hip_driver_version", "driver"},
		{"traceName", "trace.name"},
		{"trace_id", "trace.id"},
	};
	for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
		if (text_is(key, renamed[i][0])) {
			add_property(k, renamed[i][1], value);
			return;
		}
	char name[128];
	snprintf(name, sizeof name, "kineto.%.*s", (int)(key.length < 100 ? key.length : 100),
		 key.at);
	add_property(k, name, value);
}

void kineto_add_member(struct kineto *k, struct hwy_text key, const struct scan_value *value)
{
	if (k->collecting)
		return;
	if (text_is(key, "baseTimeNanoseconds"))
		read_base(k, value);
	else if (text_is(key, "deviceProperties"))
		add_list(k, value, DEVICES);
	else if (text_is(key, "distributedInfo"))
		add_distributed(k, value);
	else if (value->type == SCAN_ARRAY && text_is(key, "INFO"))
		add_list(k, value, INFO);
	else if (value->type == SCAN_ARRAY && text_is(key, "WARNING"))
		add_list(k, value, WARNING);
	else if (value->type == SCAN_ARRAY && text_is(key, "ERROR"))
		add_list(k, value, ERROR);
	else
		add_named_property(k, key, value);
	if (text_is(key, "host_name") && value->type == SCAN_STRING)
		k->trace->hosts[0].name = kineto_text_id(k, value);
}

void kineto_add_diagnostic(struct kineto *k, int64_t severity, const char *text)
{
	uint32_t index = hwy_new_diagnostics(k->b);
	k->trace->diagnostics[index].severity = severity;
	k->trace->diagnostics[index].text = hwy_text_id(k->b, text);
}

void kineto_add_drops(struct kineto *k)
{
	static const char *const reasons[DROPS] = {
		[DROP_NOT_JSON] = "event is not JSON",
		[DROP_NO_PHASE] = "event has no ph",
		[DROP_NO_TIME] = "event has no ts or dur",
		[DROP_TIME_RANGE] = "event's time is out of range",
		[DROP_PHASE] = "event of an unknown ph",
		[DROP_NO_PAIR] = "event begins and does not end, or ends and did not begin",
	};
	for (int i = 0; i < DROPS; i++) {
		if (k->drops[i] == 0)
			continue;
		uint32_t index = hwy_new_drops(k->b);
		struct hwy_drop *drop = &k->trace->drops[index];
		drop->source = hwy_text_id(k->b, "kineto");
		drop->reason = hwy_text_id(k->b, reasons[i]);
		drop->count = (int64_t)k->drops[i];
	}
}
