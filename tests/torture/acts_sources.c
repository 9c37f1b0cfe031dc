/* SPDX-License-Identifier: Apache-2.0 */
/* acts_sources.c - NVTX and OpenCL, where they can be had. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "torture.h"

#include "../collect/nvtx_shim.h"

void nvtx_init(void)
{
	shim_begin();
}

void nvtx_push(const char *text)
{
	shim_push(text);
}

void nvtx_pop(void)
{
	shim_pop();
}

void nvtx_mark(const char *text)
{
	shim_mark(text);
}

static void *mark_much(void *argument)
{
	char name[32];
	for (unsigned i = 0; i < 300; i++) {
		snprintf(name, sizeof name, "range %u", i % 50);
		nvtx_push(name);
		if (i % 3 == 0)
			nvtx_mark("third");
		if (i % 64 == 0)
			pass_us(30);
		nvtx_pop();
	}
	nvtx_pop(); /* one too many */
	return argument;
}

static void act_nvtx(void)
{
	unsigned long threads[4];
	unsigned n = 1 + chance(4);
	for (unsigned i = 0; i < n; i++)
		start_thread(&threads[i], 0, mark_much, NULL);
	pid_t child = fork();
	if (child == 0) {
		mark_much(NULL);
		_exit(13);
	}
	say(" %d", status_of(child));
	for (unsigned i = 0; i < n; i++)
		end_thread(threads[i]);
	nvtx_push("left open");
	say(" %u", n);
}

/* The functions of NVTX's extensions for payloads and counters; 0: nobody has them. */
static intptr_t payload_slots[63], counter_slots[63];

struct told { /* what a range is told with */
	uint64_t bytes;
	const char *text;
};

/* Ranges with payloads, samples of a counter. */
static void *tell_much(void *argument)
{
	uint64_t (*schema)(void *, const struct abi_nvtx_schema *) =
		(void *)payload_slots[ABI_NVTX_SCHEMA_REGISTER];
	int (*push)(void *, const struct abi_nvtx_payload *, size_t) =
		(void *)payload_slots[ABI_NVTX_RANGE_PUSH_PAYLOAD];
	int (*pop)(void *, const struct abi_nvtx_payload *, size_t) =
		(void *)payload_slots[ABI_NVTX_RANGE_POP_PAYLOAD];
	uint64_t (*counter)(void *, const struct abi_nvtx_counter *) =
		(void *)counter_slots[ABI_NVTX_COUNTER_REGISTER];
	void (*sample)(void *, uint64_t, int64_t) = (void *)counter_slots[ABI_NVTX_COUNTER_INT64];
	if (!schema || !push || !pop || !counter || !sample)
		return argument;
	const struct abi_nvtx_schema_entry entries[] = {
		{.type = 18, .name = "bytes"},
		{.type = 75, .name = "text", .offset = offsetof(struct told, text)},
	};
	const struct abi_nvtx_schema given = {
		.fields = ABI_NVTX_SCHEMA_ENTRIES | ABI_NVTX_SCHEMA_COUNT | ABI_NVTX_SCHEMA_SIZE,
		.entries = entries,
		.count = 2,
		.size = sizeof(struct told),
	};
	const struct abi_nvtx_counter queue = {
		.struct_size = sizeof queue, .schema = 17, .name = "queue"};
	uint64_t id = schema(NULL, &given), values = counter(NULL, &queue);
	for (unsigned i = 0; i < 200; i++) {
		/* Every fifth pointer points to nothing. */
		struct told told = {i, i % 5 ? "told" : (const char *)(uintptr_t)i};
		struct abi_nvtx_payload payload = {id, i % 7 ? sizeof told : SIZE_MAX, &told};
		push(NULL, &payload, 1);
		sample(NULL, values, (int64_t)i);
		if (i % 64 == 0)
			pass_us(30);
		pop(NULL, i % 2 ? &payload : NULL, i % 2);
	}
	return argument;
}

static void act_payloads(void)
{
	unsigned long threads[4];
	unsigned n = 1 + chance(4);
	shim_begin_extension(ABI_NVTX_EXT_PAYLOAD, payload_slots);
	shim_begin_extension(ABI_NVTX_EXT_COUNTERS, counter_slots);
	for (unsigned i = 0; i < n; i++)
		start_thread(&threads[i], 0, tell_much, NULL);
	pid_t child = fork();
	if (child == 0) {
		tell_much(NULL);
		_exit(14);
	}
	say(" %d", status_of(child));
	for (unsigned i = 0; i < n; i++)
		end_thread(threads[i]);
	say(" %u", n);
}

/* As much of OpenCL as fills a buffer on the first device; no headers are needed for that. */
static void act_opencl(void)
{
	typedef void *(*create_context)(void *, unsigned, void **, void *, void *, int *);
	typedef void *(*create_queue)(void *, void *, unsigned long, int *);
	typedef void *(*create_buffer)(void *, unsigned long, size_t, void *, int *);
	typedef int (*enqueue_write)(void *, void *, unsigned, size_t, size_t, const void *,
				     unsigned, void *, void *);
	void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL), *platform = NULL,
	     *device = NULL;
	if (!library) {
		say(" none");
		return;
	}
#define FIND(type, name) ((type)(uintptr_t)dlsym(library, name))
	int error = -1;
	if (FIND(int (*)(unsigned, void **, void *), "clGetPlatformIDs")(1, &platform, NULL) != 0 ||
	    FIND(int (*)(void *, unsigned long, unsigned, void **, void *),
		 "clGetDeviceIDs")(platform, 0xffffffff, 1, &device, NULL) != 0) {
		say(" no device");
		return;
	}
	void *context =
		FIND(create_context, "clCreateContext")(NULL, 1, &device, NULL, NULL, &error);
	void *queue = FIND(create_queue, "clCreateCommandQueue")(context, device, 0, &error);
	void *buffer = FIND(create_buffer, "clCreateBuffer")(context, 1, 64, NULL, &error);
	char data[64] = "data";
	for (unsigned i = 0; i < 20; i++)
		error |= FIND(enqueue_write, "clEnqueueWriteBuffer")(queue, buffer, i % 2, 0, 64,
								     data, 0, NULL, NULL);
	say(" %d", error);
	int (*finish)(void *) = FIND(int (*)(void *), "clFinish");
	say(" %d", finish(queue));
	if (chance(2))
		say(" %d", FIND(int (*)(void *), "clReleaseCommandQueue")(queue));
	if (chance(2)) {
		pid_t child = fork();
		if (child == 0)
			_exit(3);
		say(" %d", status_of(child));
	}
}

const struct act source_acts[] = {
	{"nvtx", act_nvtx, 0},
	{"payloads", act_payloads, 0},
	{"opencl", act_opencl, NEEDS_IMAGE | NEEDS_CALM | IS_SLOW},
	{NULL, NULL, 0},
};
