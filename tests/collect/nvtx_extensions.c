/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_extensions.c - payloads and counters of NVTX's extensions, through NVIDIA's headers.
 *
 * nvtx_extensions payloads | counters | fork | rough. Exits with 1 if NVTX answers otherwise than it must.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>
#include <nvtx3/nvToolsExtSemanticsTime.h>

static int bad;

static void expect(int holds, const char *what)
{
	if (!holds) {
		printf("not so: %s\n", what);
		bad = 1;
	}
}

struct inner {
	int16_t x, y;
};
struct sample {
	uint64_t bytes;
	int32_t peer;
	int32_t mode;
	double ratio;
	const char *text;
	char tag[8];
	struct inner at;
	uint8_t list[3];
	nvtxStringHandle_t registered;
};
enum { MODE_ID = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 7 };

static uint64_t register_schema(nvtxDomainHandle_t domain, const char *name,
				const nvtxPayloadSchemaEntry_t *entries, size_t n, size_t size,
				uint64_t type)
{
	nvtxPayloadSchemaAttr_t attr = {0};
	attr.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
			 NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
			 NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
			 (size ? NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE : 0);
	attr.name = name;
	attr.type = type;
	attr.entries = entries;
	attr.numEntries = n;
	attr.payloadStaticSize = size;
	return nvtxPayloadSchemaRegister(domain, &attr);
}

static uint64_t register_sample(nvtxDomainHandle_t domain)
{
	static const nvtxPayloadEnum_t modes[] = {{"slow", 1, 0}, {"fast", 2, 0}};
	nvtxPayloadEnumAttr_t mode = {0};
	mode.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
			 NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
			 NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID;
	mode.entries = modes;
	mode.numEntries = 2;
	mode.sizeOfEnum = 4;
	mode.schemaId = MODE_ID;
	uint64_t id = nvtxPayloadEnumRegister(domain, &mode);
	expect(id == MODE_ID || !getenv("NVTX_INJECTION64_PATH"), "an enumeration keeps its id");
	const nvtxPayloadSchemaEntry_t at[] = {
		{0, NVTX_PAYLOAD_ENTRY_TYPE_INT16, "x", NULL, 0, 0, NULL, NULL},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_INT16, "y", NULL, 0, 0, NULL, NULL},
	};
	uint64_t nested = register_schema(domain, "inner", at, 2, sizeof(struct inner),
					  NVTX_PAYLOAD_SCHEMA_TYPE_STATIC);
	const nvtxPayloadSchemaEntry_t entries[] = {
		{0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "bytes", NULL, 0, 0, NULL, NULL},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "peer", NULL, 0, 0, NULL, NULL},
		{0, MODE_ID, "mode", NULL, 0, offsetof(struct sample, mode), NULL, NULL},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "ratio", NULL, 0,
		 offsetof(struct sample, ratio), NULL, NULL},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "text", NULL, 0, offsetof(struct sample, text),
		 NULL, NULL},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "tag", NULL, 8, offsetof(struct sample, tag),
		 NULL, NULL},
		{0, nested, "at", NULL, 0, offsetof(struct sample, at), NULL, NULL},
		{NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "list",
		 NULL, 3, offsetof(struct sample, list), NULL, NULL},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, "registered", NULL, 0,
		 offsetof(struct sample, registered), NULL, NULL},
	};
	return register_schema(domain, "sample", entries, 9, sizeof(struct sample),
			       NVTX_PAYLOAD_SCHEMA_TYPE_STATIC);
}

static struct sample make(nvtxDomainHandle_t domain, const char *text)
{
	struct sample sample = {1ull << 40, -3,          2,
				2.5,        text,        "inside",
				{-1, 1000}, {1, 2, 255}, nvtxDomainRegisterStringA(domain, "kept")};
	return sample;
}

static nvtxEventAttributes_t event_with(const char *name, nvtxPayloadData_t *payloads, int n)
{
	nvtxEventAttributes_t event = {0};
	event.version = NVTX_VERSION;
	event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	event.messageType = NVTX_MESSAGE_TYPE_ASCII;
	event.message.ascii = name;
	event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
	event.reserved0 = n;
	event.payload.ullValue = (uint64_t)(uintptr_t)payloads;
	return event;
}

static void payloads(nvtxDomainHandle_t domain, int injected)
{
	uint64_t schema = register_sample(domain);
	expect((schema != 0) == injected, "a schema gets an id");
	expect(!injected || nvtxDomainIsEnabled(domain), "the domain is enabled");
	struct sample sample = make(domain, "pointed to");
	nvtxPayloadData_t data[] = {{schema, sizeof sample, &sample}};
	nvtxEventAttributes_t event = event_with("range", data, 1);
	expect(nvtxDomainRangePushEx(domain, &event) == (injected ? 0 : -2), "the first level");
	sample.bytes = 7;
	sample.text = NULL;
	sample.mode = 9;
	event = event_with("mark", data, 1);
	nvtxDomainMarkEx(domain, &event);
	expect(nvtxRangePushPayload(domain, data, 1) == (injected ? 1 : -2), "the second level");
	expect(nvtxDomainRangePop(domain) == (injected ? 1 : -2), "the second pop");
	int64_t end = 42;
	nvtxPayloadData_t at_end[] = {{NVTX_PAYLOAD_ENTRY_TYPE_INT64, sizeof end, &end}};
	expect(nvtxRangePopPayload(domain, at_end, 1) == (injected ? 0 : -2), "the first pop");
	nvtxRangeId_t id = nvtxRangeStartPayload(domain, data, 1);
	nvtxRangeEndPayload(domain, id, at_end, 1);

	/* a message inside the payload, and a length that an entry tells */
	const nvtxPayloadSchemaEntry_t entries[] = {
		{0, NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "length", NULL, 0, 0, NULL, NULL},
		{NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX | NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE,
		 NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "name", NULL, 0, 0, NULL, NULL},
	};
	uint64_t dynamic =
		register_schema(domain, "dynamic", entries, 2, 0, NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC);
	nvtxPayloadData_t named[] = {{dynamic, 6, "\005named"}};
	nvtxMarkPayload(domain, named, 1);
	expect(injected ? nvtxTimestampGet() > 0 : nvtxTimestampGet() == 0, "the tool's clock");
}

static void counters(nvtxDomainHandle_t domain, int injected)
{
	nvtxSemanticsCounter_t unit = {0};
	unit.header.structSize = sizeof unit;
	unit.header.semanticId = NVTX_SEMANTIC_ID_COUNTERS_V1;
	unit.header.version = NVTX_COUNTER_SEMANTIC_VERSION;
	unit.unit = "B";
	unit.unitScaleNumerator = unit.unitScaleDenominator = 1;
	nvtxCounterAttr_t attr = {0};
	attr.structSize = sizeof attr;
	attr.schemaId = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
	attr.name = "memory";
	attr.semantics = &unit.header;
	uint64_t whole = nvtxCounterRegister(domain, &attr);
	expect((whole != 0) == injected, "a counter gets an id");
	nvtxCounterSampleInt64(domain, whole, 5);
	nvtxCounterSampleNoValue(domain, whole, NVTX_COUNTER_SAMPLE_UNCHANGED);
	nvtxCounterSampleNoValue(domain, whole, NVTX_COUNTER_SAMPLE_UNAVAILABLE);
	nvtxCounterSampleInt64(domain, whole, -6);
	attr.schemaId = NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE;
	attr.name = "share";
	attr.semantics = NULL;
	uint64_t real = nvtxCounterRegister(domain, &attr);
	nvtxCounterSampleFloat64(domain, real, 0.25);

	static const nvtxPayloadSchemaEntry_t entries[] = {
		{0, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "hits", NULL, 0, 0, NULL, NULL},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, "rate", NULL, 0, 4, NULL, NULL},
	};
	struct group {
		uint32_t hits;
		float rate;
	} values[3] = {{1, 1.5f}, {2, 2.5f}, {3, 3.5f}};
	nvtxSemanticsTime_t time = {0};
	time.header.structSize = sizeof time;
	time.header.semanticId = NVTX_SEMANTIC_ID_TIME_V1;
	time.timeDomainId = NVTX_TIMESTAMP_TYPE_TOOL_PROVIDED;
	attr.schemaId = register_schema(domain, "group", entries, 2, sizeof *values,
					NVTX_PAYLOAD_SCHEMA_TYPE_STATIC);
	attr.name = "cache";
	attr.semantics = &time.header;
	uint64_t group = nvtxCounterRegister(domain, &attr);
	nvtxCounterSample(domain, group, &values[0], sizeof *values);
	int64_t times[2] = {nvtxTimestampGet(), nvtxTimestampGet()};
	nvtxCounterBatch_t batch = {0};
	batch.counterId = group;
	batch.counters = &values[1];
	batch.countersSize = 2 * sizeof *values;
	batch.timestamps = times;
	batch.timestampsSize = sizeof times;
	nvtxCounterBatchSubmit(domain, &batch);
	batch.counterId = whole; /* nobody told the clock of this one */
	nvtxCounterBatchSubmit(domain, &batch);
}

/* Handles and ids of the parent are good in the child. */
static void in_child(nvtxDomainHandle_t domain)
{
	uint64_t schema = register_sample(domain);
	struct sample sample = make(domain, "of the child");
	nvtxPayloadData_t data[] = {{schema, SIZE_MAX, &sample}};
	nvtxEventAttributes_t event = event_with("forked", data, 1);
	if (fork() == 0) {
		nvtxDomainMarkEx(domain, &event);
		_exit(0);
	}
	wait(NULL);
}

/* What no program should do must do it no harm. */
static void rough(nvtxDomainHandle_t domain)
{
	uint64_t schema = register_sample(domain);
	struct sample sample = make(domain, (const char *)8);
	nvtxPayloadData_t data[] = {{schema, sizeof sample, &sample},
				    {schema, 3, &sample},
				    {12345, 8, &sample},
				    {schema, sizeof sample, NULL},
				    {schema, 0, &sample}};
	nvtxEventAttributes_t event = event_with("rough", data, 5);
	nvtxDomainMarkEx(domain, &event);
	event = event_with("nothing", NULL, 3);
	nvtxDomainMarkEx(domain, &event);
	event = event_with("negative", data, -1);
	nvtxDomainMarkEx(domain, &event);
	nvtxPayloadSchemaRegister(domain, NULL);
	nvtxPayloadEnumRegister(domain, NULL);
	nvtxScopeRegister(domain, NULL);
	nvtxCounterRegister(domain, NULL);
	nvtxCounterSample(domain, 77, NULL, 8);
	nvtxCounterSampleInt64(domain, 99, 1);
	nvtxCounterBatchSubmit(domain, NULL);
	nvtxRangePopPayload(domain, data, 1);
	nvtxMarkPayload(domain, NULL, 4);
	for (int i = 0; i < 3000; i++)
		register_schema(domain, "many", NULL, 0, 0, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC);
	static const nvtxPayloadSchemaEntry_t entry[] = {
		{0, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "n", NULL, 0, 0, NULL, NULL}};
	for (int i = 0; i < 3000; i++)
		register_schema(domain, "many", entry, 1, 4, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "payloads";
	int injected = getenv("NVTX_INJECTION64_PATH") != NULL;
	nvtxDomainHandle_t domain = nvtxDomainCreateA("lib");
	if (strcmp(what, "payloads") == 0)
		payloads(domain, injected);
	else if (strcmp(what, "counters") == 0)
		counters(domain, injected);
	else if (strcmp(what, "fork") == 0)
		in_child(domain);
	else
		rough(domain);
	return bad;
}
