/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx.h - what an NVTX injection library meets: layouts and numbers of NVTX v3 (and v2), under our
 * own names.
 *
 * tests/collect/nvtx_abi.c compares each of them with the real headers where they are present.
 */
#ifndef HWY_COLLECT_ABI_NVTX_H
#define HWY_COLLECT_ABI_NVTX_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

enum abi_nvtx_message_type {
	ABI_NVTX_MESSAGE_NONE,
	ABI_NVTX_MESSAGE_ASCII,
	ABI_NVTX_MESSAGE_WIDE,
	/* ABI_NVTX_MESSAGE_REGISTERED: the text is given as a handle that the injection's
	 * register-string function returned. */
	ABI_NVTX_MESSAGE_REGISTERED,
};
enum { ABI_NVTX_COLOR_ARGB = 1 };
/* Payload types 1 to 6 are u64, i64, double, u32, i32, float: the same numbers as in record.h. */
enum { ABI_NVTX_PAYLOAD_LAST = 6 };

union abi_nvtx_message {
	const char *ascii;
	const wchar_t *wide;
	const void *registered;
};

struct abi_nvtx_event { /* the layout of nvtxEventAttributes_t */
	uint16_t version;
	uint16_t size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type;
	int32_t reserved;
	uint64_t payload; /* a union in NVTX; types of fewer than 8 bytes lie in the first bytes */
	int32_t message_type;
	union abi_nvtx_message message;
};

struct abi_nvtx_resource { /* the layout of nvtxResourceAttributes_t */
	uint16_t version;
	uint16_t size;
	int32_t type;
	uint64_t identifier;
	int32_t message_type;
	union abi_nvtx_message message;
};
enum abi_nvtx_resource_type { /* each number is resource class << 16 | number in the class */
			      ABI_NVTX_THREAD_NATIVE = 0x10003,
			      ABI_NVTX_CUDA_DEVICE = 0x40001,
			      ABI_NVTX_CUDA_CONTEXT = 0x40002,
			      ABI_NVTX_CUDA_STREAM = 0x40003,
			      ABI_NVTX_CUDART_DEVICE = 0x50000,
			      ABI_NVTX_CUDART_STREAM = 0x50001,
};

/* Tables (modules) of functions that an injection may set; the enums below are indexes into
 * them. */
enum abi_nvtx_module {
	ABI_NVTX_CORE = 1,
	ABI_NVTX_CUDA = 2,
	ABI_NVTX_CUDART = 4,
	ABI_NVTX_CORE2 = 5,
};
enum abi_nvtx_core {
	ABI_NVTX_MARK_EX = 1,
	ABI_NVTX_MARK_A,
	ABI_NVTX_MARK_W,
	ABI_NVTX_RANGE_START_EX,
	ABI_NVTX_RANGE_START_A,
	ABI_NVTX_RANGE_START_W,
	ABI_NVTX_RANGE_END,
	ABI_NVTX_RANGE_PUSH_EX,
	ABI_NVTX_RANGE_PUSH_A,
	ABI_NVTX_RANGE_PUSH_W,
	ABI_NVTX_RANGE_POP,
	ABI_NVTX_NAME_CATEGORY_A,
	ABI_NVTX_NAME_CATEGORY_W,
	ABI_NVTX_NAME_OS_THREAD_A,
	ABI_NVTX_NAME_OS_THREAD_W,
};
enum abi_nvtx_core2 {
	ABI_NVTX_DOMAIN_MARK_EX = 1,
	ABI_NVTX_DOMAIN_RANGE_START_EX,
	ABI_NVTX_DOMAIN_RANGE_END,
	ABI_NVTX_DOMAIN_RANGE_PUSH_EX,
	ABI_NVTX_DOMAIN_RANGE_POP,
	ABI_NVTX_DOMAIN_RESOURCE_CREATE,
	ABI_NVTX_DOMAIN_RESOURCE_DESTROY,
	ABI_NVTX_DOMAIN_NAME_CATEGORY_A,
	ABI_NVTX_DOMAIN_NAME_CATEGORY_W,
	ABI_NVTX_DOMAIN_REGISTER_STRING_A,
	ABI_NVTX_DOMAIN_REGISTER_STRING_W,
	ABI_NVTX_DOMAIN_CREATE_A,
	ABI_NVTX_DOMAIN_CREATE_W,
	ABI_NVTX_DOMAIN_DESTROY,
};
enum abi_nvtx_cuda {
	ABI_NVTX_NAME_CU_DEVICE_A = 1,
	ABI_NVTX_NAME_CU_DEVICE_W,
	ABI_NVTX_NAME_CU_CONTEXT_A,
	ABI_NVTX_NAME_CU_CONTEXT_W,
	ABI_NVTX_NAME_CU_STREAM_A,
	ABI_NVTX_NAME_CU_STREAM_W,
};
enum abi_nvtx_cudart {
	ABI_NVTX_NAME_CUDA_DEVICE_A = 1,
	ABI_NVTX_NAME_CUDA_DEVICE_W,
	ABI_NVTX_NAME_CUDA_STREAM_A,
	ABI_NVTX_NAME_CUDA_STREAM_W,
};

typedef void (*abi_nvtx_function)(void);

enum abi_nvtx_export { ABI_NVTX_CALLBACKS = 1, ABI_NVTX_VERSION_INFO = 3 };
typedef const void *(*abi_nvtx_get_export)(uint32_t id);

struct abi_nvtx_callbacks {
	size_t struct_size;
	/* Yields an array of pointers to a module's function pointers; returns 0: there is no such
	 * module. */
	int (*module_table)(int module, abi_nvtx_function ***table, unsigned *size);
};
struct abi_nvtx_version_info {
	size_t struct_size;
	uint32_t version;
	uint32_t reserved;
	void (*set_injection_version)(uint32_t version);
};

#endif
