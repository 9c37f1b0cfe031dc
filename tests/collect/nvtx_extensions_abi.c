/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_extensions_abi.c - our declarations of NVTX's extensions against NVIDIA's; that it compiles is the test. */
#include <assert.h>
#include <stddef.h>

#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>
#include <nvtx3/nvToolsExtSemanticsTime.h>

#include "collect/abi/nvtx_extensions.h"
#include "spool/record_nvtx.h"

#define SAME(ours, theirs) static_assert((long long)(ours) == (long long)(theirs), #ours)
#define SIZE(ours, theirs) SAME(sizeof(struct ours), sizeof(theirs))
#define AT(ours, field, theirs, other) SAME(offsetof(struct ours, field), offsetof(theirs, other))

SAME(ABI_NVTX_PAYLOAD_EXT, NVTX_PAYLOAD_TYPE_EXT);
SAME(ABI_NVTX_EXT_PAYLOAD, NVTX_EXT_PAYLOAD_MODULEID);
SAME(ABI_NVTX_EXT_COUNTERS, NVTX_EXT_COUNTERS_MODULEID);
SAME(ABI_NVTX_SCHEMA_REGISTER, NVTX3EXT_CBID_nvtxPayloadSchemaRegister);
SAME(ABI_NVTX_ENUM_REGISTER, NVTX3EXT_CBID_nvtxPayloadEnumRegister);
SAME(ABI_NVTX_MARK_PAYLOAD, NVTX3EXT_CBID_nvtxMarkPayload);
SAME(ABI_NVTX_RANGE_PUSH_PAYLOAD, NVTX3EXT_CBID_nvtxRangePushPayload);
SAME(ABI_NVTX_RANGE_POP_PAYLOAD, NVTX3EXT_CBID_nvtxRangePopPayload);
SAME(ABI_NVTX_RANGE_START_PAYLOAD, NVTX3EXT_CBID_nvtxRangeStartPayload);
SAME(ABI_NVTX_RANGE_END_PAYLOAD, NVTX3EXT_CBID_nvtxRangeEndPayload);
SAME(ABI_NVTX_DOMAIN_IS_ENABLED, NVTX3EXT_CBID_nvtxDomainIsEnabled);
SAME(ABI_NVTX_TIMESTAMP_GET, NVTX3EXT_CBID_nvtxTimestampGet);
SAME(ABI_NVTX_TIME_DOMAIN_REGISTER, NVTX3EXT_CBID_nvtxTimeDomainRegister);
SAME(ABI_NVTX_SCOPE_REGISTER, NVTX3EXT_CBID_nvtxScopeRegister);
SAME(ABI_NVTX_EVENT_SUBMIT, NVTX3EXT_CBID_nvtxEventSubmit);
SAME(ABI_NVTX_EVENT_BATCH_SUBMIT, NVTX3EXT_CBID_nvtxEventBatchSubmit);
SAME(ABI_NVTX_COUNTER_REGISTER, NVTX3EXT_CBID_nvtxCounterRegister);
SAME(ABI_NVTX_COUNTER_INT64, NVTX3EXT_CBID_nvtxCounterSampleInt64);
SAME(ABI_NVTX_COUNTER_FLOAT64, NVTX3EXT_CBID_nvtxCounterSampleFloat64);
SAME(ABI_NVTX_COUNTER_SAMPLE, NVTX3EXT_CBID_nvtxCounterSample);
SAME(ABI_NVTX_COUNTER_NO_VALUE, NVTX3EXT_CBID_nvtxCounterSampleNoValue);
SAME(ABI_NVTX_COUNTER_BATCH, NVTX3EXT_CBID_nvtxCounterBatchSubmit);

SIZE(abi_nvtx_segment, nvtxExtModuleSegment_t);
AT(abi_nvtx_segment, slots, nvtxExtModuleSegment_t, functionSlots);
SIZE(abi_nvtx_extension_info, nvtxExtModuleInfo_t);
AT(abi_nvtx_extension_info, module, nvtxExtModuleInfo_t, moduleId);
AT(abi_nvtx_extension_info, segments, nvtxExtModuleInfo_t, segments);
SIZE(abi_nvtx_payload, nvtxPayloadData_t);
AT(abi_nvtx_payload, bytes, nvtxPayloadData_t, payload);
SIZE(abi_nvtx_semantics, nvtxSemanticsHeader_t);
AT(abi_nvtx_semantics, id, nvtxSemanticsHeader_t, semanticId);
SIZE(abi_nvtx_semantics_counter, nvtxSemanticsCounter_t);
AT(abi_nvtx_semantics_counter, unit, nvtxSemanticsCounter_t, unit);
AT(abi_nvtx_semantics_counter, denominator, nvtxSemanticsCounter_t, unitScaleDenominator);
SIZE(abi_nvtx_semantics_time, nvtxSemanticsTime_t);
AT(abi_nvtx_semantics_time, time_domain, nvtxSemanticsTime_t, timeDomainId);
SAME(ABI_NVTX_SEMANTICS_TIME, NVTX_SEMANTIC_ID_TIME_V1);
SAME(ABI_NVTX_SEMANTICS_COUNTER, NVTX_SEMANTIC_ID_COUNTERS_V1);
SIZE(abi_nvtx_schema_entry, nvtxPayloadSchemaEntry_t);
AT(abi_nvtx_schema_entry, type, nvtxPayloadSchemaEntry_t, type);
AT(abi_nvtx_schema_entry, detail, nvtxPayloadSchemaEntry_t, arrayOrUnionDetail);
AT(abi_nvtx_schema_entry, semantics, nvtxPayloadSchemaEntry_t, semantics);
SIZE(abi_nvtx_schema, nvtxPayloadSchemaAttr_t);
AT(abi_nvtx_schema, entries, nvtxPayloadSchemaAttr_t, entries);
AT(abi_nvtx_schema, size, nvtxPayloadSchemaAttr_t, payloadStaticSize);
AT(abi_nvtx_schema, id, nvtxPayloadSchemaAttr_t, schemaId);
SAME(ABI_NVTX_SCHEMA_SIZE, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE);
SAME(ABI_NVTX_SCHEMA_ID, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID);
SAME(ABI_NVTX_SCHEMA_COUNT, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES);
SIZE(abi_nvtx_enum_value, nvtxPayloadEnum_t);
AT(abi_nvtx_enum_value, value, nvtxPayloadEnum_t, value);
SIZE(abi_nvtx_enum, nvtxPayloadEnumAttr_t);
AT(abi_nvtx_enum, size, nvtxPayloadEnumAttr_t, sizeOfEnum);
AT(abi_nvtx_enum, id, nvtxPayloadEnumAttr_t, schemaId);
SAME(ABI_NVTX_ENUM_SIZE, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE);
SAME(ABI_NVTX_ENUM_ID, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID);
SIZE(abi_nvtx_scope, nvtxScopeAttr_t);
AT(abi_nvtx_scope, id, nvtxScopeAttr_t, scopeId);
SIZE(abi_nvtx_time_domain, nvtxTimeDomainAttr_t);
AT(abi_nvtx_time_domain, type, nvtxTimeDomainAttr_t, timestampTypeId);
SIZE(abi_nvtx_counter, nvtxCounterAttr_t);
AT(abi_nvtx_counter, semantics, nvtxCounterAttr_t, semantics);
AT(abi_nvtx_counter, id, nvtxCounterAttr_t, counterId);
SIZE(abi_nvtx_counter_batch, nvtxCounterBatch_t);
AT(abi_nvtx_counter_batch, times, nvtxCounterBatch_t, timestamps);

SAME(REC_NVTX_TYPE_CSTRING, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING);
SAME(REC_NVTX_TYPE_CSTRING_LAST, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32);
SAME(REC_NVTX_TYPE_REGISTERED, NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE);
SAME(REC_NVTX_FLAG_POINTER, NVTX_PAYLOAD_ENTRY_FLAG_POINTER);
SAME(REC_NVTX_FLAG_FROM,
     NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE | NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE);
SAME(REC_NVTX_FLAG_MESSAGE, NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE);

int main(void)
{
	return 0;
}
