/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_abi.c - our declarations of NVTX against NVIDIA's; that it compiles is the test. */
#include <assert.h>
#include <stddef.h>

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtSync.h>

#include "collect/abi/nvtx.h"

/* nvToolsExtCuda.h and nvToolsExtCudaRt.h want CUDA's own headers; their numbers are these. */
#define NVTX_RESOURCE_CLASS_CUDA 4
#define NVTX_RESOURCE_CLASS_CUDART 5

#define SAME(ours, theirs) static_assert((long)(ours) == (long)(theirs), #ours)
#define FIELD(ours, theirs)                                                                        \
	SAME(offsetof(struct abi_nvtx_event, ours), offsetof(nvtxEventAttributes_t, theirs))
#define RESOURCE(ours, theirs)                                                                     \
	SAME(offsetof(struct abi_nvtx_resource, ours), offsetof(nvtxResourceAttributes_t, theirs))

SAME(sizeof(struct abi_nvtx_event), sizeof(nvtxEventAttributes_t));
FIELD(size, size);
FIELD(category, category);
FIELD(color_type, colorType);
FIELD(color, color);
FIELD(payload_type, payloadType);
FIELD(payload, payload);
FIELD(message_type, messageType);
FIELD(message, message);
SAME(sizeof(struct abi_nvtx_resource), sizeof(nvtxResourceAttributes_t));
RESOURCE(size, size);
RESOURCE(type, identifierType);
RESOURCE(identifier, identifier);
RESOURCE(message_type, messageType);
RESOURCE(message, message);

SAME(ABI_NVTX_MESSAGE_ASCII, NVTX_MESSAGE_TYPE_ASCII);
SAME(ABI_NVTX_MESSAGE_WIDE, NVTX_MESSAGE_TYPE_UNICODE);
SAME(ABI_NVTX_MESSAGE_REGISTERED, NVTX_MESSAGE_TYPE_REGISTERED);
SAME(ABI_NVTX_COLOR_ARGB, NVTX_COLOR_ARGB);
SAME(1, NVTX_PAYLOAD_TYPE_UNSIGNED_INT64);
SAME(2, NVTX_PAYLOAD_TYPE_INT64);
SAME(3, NVTX_PAYLOAD_TYPE_DOUBLE);
SAME(4, NVTX_PAYLOAD_TYPE_UNSIGNED_INT32);
SAME(5, NVTX_PAYLOAD_TYPE_INT32);
SAME(ABI_NVTX_PAYLOAD_LAST, NVTX_PAYLOAD_TYPE_FLOAT);
SAME(ABI_NVTX_THREAD_NATIVE, NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE);
SAME(ABI_NVTX_CUDA_STREAM, NVTX_RESOURCE_MAKE_TYPE(CUDA, 3));
SAME(ABI_NVTX_CUDART_STREAM, NVTX_RESOURCE_MAKE_TYPE(CUDART, 1));

SAME(ABI_NVTX_CORE, NVTX_CB_MODULE_CORE);
SAME(ABI_NVTX_CUDA, NVTX_CB_MODULE_CUDA);
SAME(ABI_NVTX_CUDART, NVTX_CB_MODULE_CUDART);
SAME(ABI_NVTX_CORE2, NVTX_CB_MODULE_CORE2);
SAME(ABI_NVTX_MARK_EX, NVTX_CBID_CORE_MarkEx);
SAME(ABI_NVTX_RANGE_START_A, NVTX_CBID_CORE_RangeStartA);
SAME(ABI_NVTX_RANGE_END, NVTX_CBID_CORE_RangeEnd);
SAME(ABI_NVTX_RANGE_PUSH_W, NVTX_CBID_CORE_RangePushW);
SAME(ABI_NVTX_RANGE_POP, NVTX_CBID_CORE_RangePop);
SAME(ABI_NVTX_NAME_CATEGORY_A, NVTX_CBID_CORE_NameCategoryA);
SAME(ABI_NVTX_NAME_OS_THREAD_W, NVTX_CBID_CORE_NameOsThreadW);
SAME(ABI_NVTX_DOMAIN_MARK_EX, NVTX_CBID_CORE2_DomainMarkEx);
SAME(ABI_NVTX_DOMAIN_RANGE_POP, NVTX_CBID_CORE2_DomainRangePop);
SAME(ABI_NVTX_DOMAIN_RESOURCE_CREATE, NVTX_CBID_CORE2_DomainResourceCreate);
SAME(ABI_NVTX_DOMAIN_REGISTER_STRING_A, NVTX_CBID_CORE2_DomainRegisterStringA);
SAME(ABI_NVTX_DOMAIN_CREATE_W, NVTX_CBID_CORE2_DomainCreateW);
SAME(ABI_NVTX_DOMAIN_DESTROY, NVTX_CBID_CORE2_DomainDestroy);
SAME(ABI_NVTX_NAME_CU_STREAM_W, NVTX_CBID_CUDA_NameCuStreamW);
SAME(ABI_NVTX_NAME_CUDA_STREAM_W, NVTX_CBID_CUDART_NameCudaStreamW);
SAME(ABI_NVTX_CALLBACKS, NVTX_ETID_CALLBACKS);
SAME(ABI_NVTX_VERSION_INFO, NVTX_ETID_VERSIONINFO);
SAME(sizeof(struct abi_nvtx_callbacks), sizeof(NvtxExportTableCallbacks));
SAME(offsetof(struct abi_nvtx_callbacks, module_table),
     offsetof(NvtxExportTableCallbacks, GetModuleFunctionTable));
SAME(sizeof(struct abi_nvtx_version_info), sizeof(NvtxExportTableVersionInfo));
SAME(offsetof(struct abi_nvtx_version_info, set_injection_version),
     offsetof(NvtxExportTableVersionInfo, SetInjectionNvtxVersion));

int main(void)
{
	return 0;
}
