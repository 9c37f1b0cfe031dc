/* SPDX-License-Identifier: Apache-2.0 */
/* python_layout.c - see python_layout.h.
 *
 * Up to 3.12 the offsets are those of CPython's own headers, compiled; they do not change within
 * a minor version. From 3.13 on CPython tells them itself: _PyRuntime begins with
 * _Py_DebugOffsets, an array of 64-bit numbers whose order is fixed in a minor version. The
 * versions are told in spool/places.h too.
 */
#include "spool/python_layout.h"

#include <string.h>

static const struct python_layout python_3_10 = {
	.thread_frame = 24,
	.frame_code = 32,
	.frame_previous = 24,
	.frame_instruction = 96,
	.frame_locals = 352,
	.code_first_line = 40,
	.code_filename = 104,
	.code_name = 112,
	.code_table = 120,
	.object_size = 16,
	.object_type = 8,
	.ascii_text = 48,
	.other_text = 72,
	.runtime_interpreters = 32,
	.interpreter_next = 0,
	.interpreter_threads = 8,
	.thread_next = 8,
	.thread_handle = 176,
};

static const struct python_layout python_3_11 = {
	.thread_frame = 56,
	.has_cframe = true,
	.cframe_frame = 8,
	.frame_code = 32,
	.frame_previous = 48,
	.frame_instruction = 56,
	.frame_locals = 72,
	.frame_owner = 69,
	.foreign_owner = 3,
	.code_first_line = 72,
	.code_filename = 112,
	.code_name = 128,
	.code_table = 136,
	.code_bytecode = 184,
	.object_size = 16,
	.object_type = 8,
	.ascii_text = 48,
	.other_text = 72,
	.runtime_interpreters = 40,
	.interpreter_next = 0,
	.interpreter_threads = 16,
	.thread_next = 8,
	.thread_native = 160,
	.thread_handle = 152,
};

static const struct python_layout python_3_12 = {
	.thread_frame = 56,
	.has_cframe = true,
	.cframe_frame = 0,
	.frame_code = 0,
	.frame_previous = 8,
	.frame_instruction = 56,
	.frame_locals = 72,
	.frame_owner = 70,
	.foreign_owner = 3,
	.code_first_line = 68,
	.code_filename = 112,
	.code_name = 128,
	.code_table = 136,
	.code_bytecode = 192,
	.object_size = 16,
	.object_type = 8,
	.ascii_text = 40,
	.other_text = 56,
	.runtime_interpreters = 40,
	.interpreter_next = 0,
	.interpreter_threads = 72,
	.thread_next = 8,
	.thread_native = 144,
	.thread_handle = 136,
};

/* The indexes in _Py_DebugOffsets, an array of 8-byte numbers, at which the groups of offsets
 * that Headway needs begin. */
struct told {
	unsigned thread, frame, code, object;
	bool has_copies; /* the groups have the fields for free threading */
};
static const struct told told_3_13 = {.thread = 19, .frame = 28, .code = 34, .object = 44};
static const struct told told_3_14 = {
	.thread = 22, .frame = 31, .code = 39, .object = 50, .has_copies = true};
/* The groups of the runtime and of the interpreter come first, at the same indexes in Python
 * 3.13 and 3.14. */
enum { TOLD_INTERPRETERS = 5, TOLD_NEXT = 8, TOLD_THREADS = 9 };
enum { TOLD_NUMBERS = PYTHON_RUNTIME_BYTES / 8, MOST_BYTES = 1024 };

static bool read_debug_offsets(const uint64_t *told, const struct told *order,
			       struct python_layout *into)
{
	const uint64_t *thread = told + order->thread, *frame = told + order->frame;
	const uint64_t *code = told + order->code, *object = told + order->object;
	/* Each group begins with the size of its struct, so that a wrong order of the groups
	 * shows in an impossible size. */
	if (frame[0] > MOST_BYTES || code[0] > MOST_BYTES || object[0] > 64 || object[0] < 16)
		return false;
	for (unsigned i = 1; i < 6; i++)
		if (frame[i] >= frame[0] + 8 || code[i] >= code[0])
			return false;
	if (thread[2] >= thread[0] || thread[6] >= thread[0])
		return false;
	if (thread[4] >= thread[0] || code[9] > code[0] || object[1] >= object[0])
		return false;
	*into = (struct python_layout){
		.thread_frame = (uint16_t)thread[4],
		.frame_previous = (uint16_t)frame[1],
		.frame_code = (uint16_t)frame[2],
		.frame_instruction = (uint16_t)frame[3],
		.frame_locals = (uint16_t)frame[4],
		.frame_owner = (uint16_t)frame[5],
		.frame_bytecode = order->has_copies ? (uint16_t)frame[7] : 0,
		.foreign_owner = 3,
		.code_filename = (uint16_t)code[1],
		.code_name = (uint16_t)code[3],
		.code_table = (uint16_t)code[4],
		.code_first_line = (uint16_t)code[5],
		.code_bytecode = (uint16_t)code[9],
		.code_bytecodes = order->has_copies ? (uint16_t)code[10] : 0,
		.object_size = (uint16_t)object[0],
		.object_type = (uint16_t)object[1],
		/* A str has its length, its hash and its padded state behind the head; then, if
		 * it is not ASCII, a pointer to UTF-8 text and the length of that text. */
		.ascii_text = (uint16_t)(object[0] + 24),
		.other_text = (uint16_t)(object[0] + 24 + 16),
		.runtime_interpreters = (uint32_t)told[TOLD_INTERPRETERS],
		.interpreter_next = (uint32_t)told[TOLD_NEXT],
		.interpreter_threads = (uint32_t)told[TOLD_THREADS],
		.thread_next = (uint16_t)thread[2],
		.thread_handle = (uint16_t)thread[5],
		.thread_native = (uint16_t)thread[6],
	};
	return true;
}

static bool layout_by_debug_offsets(const void *runtime, const struct told *order,
				    struct python_layout *into)
{
	uint64_t told[TOLD_NUMBERS];
	if (!runtime || memcmp(runtime, "xdebugpy", 8) != 0)
		return false;
	memcpy(told, runtime, sizeof told);
	return read_debug_offsets(told, order, into);
}

bool python_layout_of(uint32_t version, const void *runtime, struct python_layout *into)
{
	bool known = true;
	switch (version >> 16) {
	case 0x030a: *into = python_3_10; break;
	case 0x030b: *into = python_3_11; break;
	case 0x030c: *into = python_3_12; break;
	case 0x030d: known = layout_by_debug_offsets(runtime, &told_3_13, into); break;
	case 0x030e: known = layout_by_debug_offsets(runtime, &told_3_14, into); break;
	default: known = false;
	}
	into->version = version;
	return known;
}

/* From 3.14 on the upper half of 'state' has the bits that before come after two of 'interned';
 * the rest of the word may hold anything. */
unsigned python_text_kind(const struct python_layout *layout, uint32_t state, bool *ascii)
{
	uint32_t bits = layout->version >= 0x030e0000 ? state >> 16 : state >> 2;
	*ascii = bits >> 4 & 1;
	bool compact = bits >> 3 & 1;
	unsigned kind = bits & 7;
	return compact && (kind == 1 || kind == 2 || kind == 4) ? kind : 0;
}

static size_t put_utf8(char *into, uint32_t c)
{
	if (c < 0x80) {
		into[0] = (char)c;
		return 1;
	}
	size_t more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	static const uint8_t lead[] = {0, 0xc0, 0xe0, 0xf0};
	into[0] = (char)(lead[more] | c >> (6 * more));
	for (size_t i = 1; i <= more; i++)
		into[i] = (char)(0x80 | (c >> (6 * (more - i)) & 0x3f));
	return more + 1;
}

size_t python_utf8(char *into, const unsigned char *raw, size_t length, unsigned kind)
{
	size_t n = 0;
	for (size_t i = 0; i < length; i++) {
		uint32_t c = 0;
		memcpy(&c, raw + i * kind, kind);
		n += put_utf8(into + n, c > 0x10ffff ? '?' : c);
	}
	return n;
}
