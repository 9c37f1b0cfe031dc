/* SPDX-License-Identifier: Apache-2.0 */
/* perf_python.c - the Python stack of another process's thread, read through the kernel.
 *
 * The thread was interrupted a moment ago and runs on while it is read, so whatever is found is
 * verified: the thread's state bears the kernel's number of the thread; every frame's code is an
 * object of the type "code"; the chain of frames ends. A stack that fails any of this yields no
 * frames, without a note. Layouts are those that the collect library uses inside the program
 * (spool/python_layout.h).
 */
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/mem.h"
#include "base/path.h"
#include "run/perf/perf_internal.h"
#include "spool/python_layout.h"

enum {
	MOST_TEXT = 4096,
	MOST_TABLE = 64 * 1024,
	MOST_STEPS = 1024, /* how many frames of one stack are visited at most, recorded or not */
	MOST_THREADS = 4096,
	TRIES = 3,
	FRAME_BYTES = 128,
	CODE_BYTES = 256,
	/* GLIBC_TID: offset of the tid in glibc's struct pthread on x86-64: needed for 3.10,
	 * which knows its threads by pthread_t. */
	GLIBC_TID = 720,
};

struct code {
	uint64_t address, filename, name; /* addresses of the code object and its texts */
	int32_t first_line;
	uint32_t id;
};

struct perf_python {
	struct python_layout layout;
	pid_t pid;
	uint64_t runtime;
	/* code_type: address of the type of code objects; 0: no code object was seen yet. */
	uint64_t code_type;
	struct hwy_map state_of; /* maps a tid to the hwy_ref32 of a state in 'states' */
	uint64_t *states;
	uint32_t n_states, cap_states;
	struct hwy_map code_of; /* maps an address to the hwy_ref32 of a code object in 'codes' */
	struct code *codes;
	uint32_t n_codes, cap_codes;
};

static bool peek(const struct perf_python *python, void *into, uint64_t from, size_t size)
{
	struct iovec here = {into, size}, there = {(void *)(uintptr_t)from, size};
	return from >= 4096 &&
	       process_vm_readv(python->pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

static bool peek_pointer(const struct perf_python *python, uint64_t from, uint64_t *pointer)
{
	return peek(python, pointer, from, sizeof *pointer);
}

/* ---- finding the interpreter ----------------------------------------------------------------- */

static struct perf_python *find_interpreter(const struct perf_process *process,
					    const struct perf_map *map)
{
	enum { RUNTIME, VERSION, NEWER_THAN_39, SYMBOLS };
	struct perf_symbol symbols[SYMBOLS] = {
		{"_PyRuntime", 0}, {"Py_Version", 0}, {"PyModule_AddObjectRef", 0}};
	uint64_t address, version = 0;
	char runtime[PYTHON_RUNTIME_BYTES];
	if (!perf_elf_find(map->path, map->offset, symbols, SYMBOLS, &address) ||
	    !symbols[RUNTIME].value)
		return NULL;
	struct perf_python found = {.pid = (pid_t)process->pid};
	uint64_t bias = map->start - address;
	found.runtime = bias + symbols[RUNTIME].value;
	if (symbols[VERSION].value)
		peek(&found, &version, bias + symbols[VERSION].value, sizeof version);
	else if (symbols[NEWER_THAN_39].value)
		version = 0x030a00f0;
	if (!peek(&found, runtime, found.runtime, sizeof runtime) ||
	    !python_layout_of((uint32_t)version, runtime, &found.layout))
		return NULL;
	return hwy_copy(&found, sizeof found);
}

void perf_python_look(struct perf *perf, struct perf_process *process)
{
	for (; !process->python && process->searched_maps < process->n_maps;
	     process->searched_maps++) {
		const struct perf_map *map = &process->maps[process->searched_maps];
		/* Searched are the program's own file, which may contain the interpreter, and
		 * libraries with "python" in their names. */
		if (map->path &&
		    (process->searched_maps == 0 || strstr(hwy_basename(map->path), "python")))
			process->python = find_interpreter(process, map);
		perf->pythons += process->python != NULL;
	}
}

void perf_python_free(struct perf *perf, struct perf_process *process)
{
	struct perf_python *python = process->python;
	process->python = NULL;
	if (!python)
		return;
	perf->pythons--;
	hwy_map_free(&python->state_of);
	hwy_map_free(&python->code_of);
	free(python->states);
	free(python->codes);
	free(python);
}

/* ---- threads
 * ------------------------------------------------------------------------------------ */

/* Yields the kernel's tid of the thread that an interpreter's thread state belongs to; 0:
 * unknown. */
static uint32_t tid_of(const struct perf_python *python, uint64_t state)
{
	const struct python_layout *layout = &python->layout;
	uint64_t number = 0, handle;
	uint32_t tid = 0;
	if (layout->thread_native)
		return peek_pointer(python, state + layout->thread_native, &number)
			       ? (uint32_t)number
			       : 0;
	if (!peek_pointer(python, state + layout->thread_handle, &handle) ||
	    !peek(python, &tid, handle + GLIBC_TID, sizeof tid))
		return 0;
	return tid;
}

static void remember_state(struct perf_python *python, uint32_t tid, uint64_t state)
{
	uint32_t *ref = hwy_map_put(&python->state_of, tid, NULL);
	if (!hwy_ref32_is_set(*ref)) {
		HWY_GROW(python->states, python->n_states, python->cap_states);
		*ref = hwy_ref32(python->n_states++);
	}
	python->states[hwy_ref32_index(*ref)] = state;
}

/* Keeps the states of all threads of all interpreters that can be reached from 'head'. */
static void list_threads(struct perf_python *python, uint64_t head)
{
	const struct python_layout *layout = &python->layout;
	uint64_t interpreter, state;
	uint32_t steps = 0;
	if (!peek_pointer(python, head, &interpreter))
		return;
	while (interpreter && steps++ < MOST_THREADS) {
		if (!peek_pointer(python, interpreter + layout->interpreter_threads, &state))
			return;
		while (state && steps++ < MOST_THREADS) {
			uint32_t tid = tid_of(python, state);
			if (tid)
				remember_state(python, tid, state);
			if (!peek_pointer(python, state + layout->thread_next, &state))
				return;
		}
		if (!peek_pointer(python, interpreter + layout->interpreter_next, &interpreter))
			return;
	}
}

/* Yields the state of a thread that was met before, if the state still belongs to this thread;
 * 0: none. */
static uint64_t remembered_state(const struct perf_python *python, uint32_t tid)
{
	const uint32_t *ref = python->state_of.count ? hwy_map_get(&python->state_of, tid) : NULL;
	uint64_t state = ref ? python->states[hwy_ref32_index(*ref)] : 0;
	return state && tid_of(python, state) == tid ? state : 0;
}

/* Yields the address of the interpreter's state of a thread; 0: no state of the thread was
 * found. */
static uint64_t thread_state(struct perf_python *python, uint32_t tid)
{
	uint64_t state = remembered_state(python, tid);
	uint64_t head = python->runtime + python->layout.runtime_interpreters;
	/* Releases of Python 3.12 differ by one word in what comes before the list of
	 * interpreters. */
	for (int i = 0; !state && i < 2; i++) {
		list_threads(python, head + (uint64_t)i * 8);
		state = remembered_state(python, tid);
	}
	return state;
}

/* ---- code objects
 * ------------------------------------------------------------------------------- */

static uint64_t word_at(const char *bytes, uint32_t offset)
{
	uint64_t word = 0;
	memcpy(&word, bytes + offset, sizeof word);
	return word;
}

static bool is_code_type(struct perf_python *python, uint64_t type)
{
	uint64_t name;
	char text[5];
	if (python->code_type)
		return type == python->code_type;
	if (!peek_pointer(python, type + python->layout.object_size + 8, &name) ||
	    !peek(python, text, name, sizeof text) || memcmp(text, "code", 5) != 0)
		return false;
	python->code_type = type;
	return true;
}

static bool read_text(struct perf *perf, struct perf_python *python, uint64_t object, uint32_t *id)
{
	const struct python_layout *layout = &python->layout;
	struct {
		int64_t length, hash;
		uint32_t state;
	} head;
	bool ascii;
	unsigned char raw[MOST_TEXT * 4];
	char text[MOST_TEXT * 4];
	if (!peek(python, &head, object + layout->object_size, sizeof head))
		return false;
	unsigned kind = python_text_kind(layout, head.state, &ascii);
	if (!kind || head.length <= 0 || head.length > 1 << 20)
		return false;
	size_t length = head.length > MOST_TEXT ? MOST_TEXT : (size_t)head.length;
	if (!peek(python, raw, object + (ascii ? layout->ascii_text : layout->other_text),
		  length * kind))
		return false;
	*id = perf_spool_text(perf, text, python_utf8(text, raw, length, kind));
	return *id != 0;
}

static uint32_t define_code(struct perf *perf, struct perf_python *python, const struct code *code)
{
	const struct python_layout *layout = &python->layout;
	uint32_t filename, name;
	uint64_t table;
	int64_t length;
	if (!read_text(perf, python, code->filename, &filename) ||
	    !read_text(perf, python, code->name, &name) ||
	    !peek_pointer(python, code->address + layout->code_table, &table) ||
	    !peek(python, &length, table + layout->object_size, sizeof length) || length < 0)
		return 0;
	if (length > MOST_TABLE)
		length = 0;
	struct rec_code *record = perf_spool_reserve(
		perf->definitions, REC_CODE, offsetof(struct rec_code, table) + (size_t)length);
	if (!record)
		return 0;
	record->head.value = ++perf->n_codes;
	record->filename = filename;
	record->name = name;
	record->first_line = code->first_line;
	record->python = layout->version;
	if (length && peek(python, record->table, table + layout->object_size + 16, (size_t)length))
		record->table_length = (uint32_t)length;
	perf_spool_publish(perf->definitions);
	return perf->n_codes;
}

/* Yields the id of the code object at an address; 0: there is no code object. */
static uint32_t code_id(struct perf *perf, struct perf_python *python, uint64_t address)
{
	const struct python_layout *layout = &python->layout;
	char bytes[CODE_BYTES];
	if ((address & 7) || !peek(python, bytes, address, layout->code_name + 8u) ||
	    !is_code_type(python, word_at(bytes, layout->object_type)))
		return 0;
	struct code code = {
		.address = address,
		.filename = word_at(bytes, layout->code_filename),
		.name = word_at(bytes, layout->code_name),
		.first_line = (int32_t)word_at(bytes, layout->code_first_line),
	};
	uint32_t *ref = hwy_map_put(&python->code_of, address, NULL);
	if (hwy_ref32_is_set(*ref)) {
		const struct code *old = &python->codes[hwy_ref32_index(*ref)];
		if (old->filename == code.filename && old->name == code.name &&
		    old->first_line == code.first_line)
			return old->id;
	} else {
		HWY_GROW(python->codes, python->n_codes, python->cap_codes);
		*ref = hwy_ref32(python->n_codes++);
	}
	code.id = define_code(perf, python, &code);
	python->codes[hwy_ref32_index(*ref)] = code;
	return code.id;
}

/* ---- frames
 * ------------------------------------------------------------------------------------- */

/* Free-threaded Python: this frame runs the thread's own copy of the bytecode, whose address is
 * yielded. */
static bool thread_bytecode(const struct perf_python *python, const char *frame, uint64_t code,
			    uint64_t *bytecode)
{
	uint64_t copies, count;
	int32_t index = (int32_t)word_at(frame, python->layout.frame_bytecode);
	return peek_pointer(python, code + python->layout.code_bytecodes, &copies) &&
	       peek_pointer(python, copies, &count) && index >= 0 && (uint64_t)index < count &&
	       peek_pointer(python, copies + 8 + (uint64_t)index * 8, bytecode);
}

static int32_t frame_offset(const struct perf_python *python, const char *frame, uint64_t code)
{
	const struct python_layout *layout = &python->layout;
	uint64_t instruction = word_at(frame, layout->frame_instruction);
	if (!layout->code_bytecode) {
		int32_t number = (int32_t)instruction;
		return number < 0 || number > INT32_MAX / 2 ? 0 : number * 2;
	}
	uint64_t bytecode = code + layout->code_bytecode;
	if (layout->frame_bytecode && layout->code_bytecodes &&
	    !thread_bytecode(python, frame, code, &bytecode))
		return 0;
	int64_t distance = (int64_t)(instruction - bytecode);
	return distance > 0 && distance < INT32_MAX ? (int32_t)distance : 0;
}

/* Reads the frames of a chain. False: some memory was not as it must be, or the chain has no
 * end. */
static bool perf_python_walk(struct perf *perf, struct perf_python *python, uint64_t frame,
			     struct rec_frame frames[REC_MAX_FRAMES], uint32_t *count)
{
	const struct python_layout *layout = &python->layout;
	char bytes[FRAME_BYTES];
	*count = 0;
	for (unsigned steps = 0; frame && steps < MOST_STEPS; steps++) {
		if ((frame & 7) || !peek(python, bytes, frame, 104))
			return false;
		bool foreign = layout->frame_owner &&
			       (uint8_t)bytes[layout->frame_owner] >= layout->foreign_owner;
		if (!foreign && *count < REC_MAX_FRAMES) {
			uint64_t code = word_at(bytes, layout->frame_code) & ~UINT64_C(7);
			struct rec_frame *out = &frames[*count];
			out->code = code_id(perf, python, code);
			out->offset = frame_offset(python, bytes, code);
			if (!out->code)
				return false;
			++*count;
		}
		if (*count == REC_MAX_FRAMES)
			return true;
		frame = word_at(bytes, layout->frame_previous);
	}
	return !frame;
}

static bool innermost(const struct perf_python *python, uint64_t state, uint64_t *frame)
{
	const struct python_layout *layout = &python->layout;
	return peek_pointer(python, state + layout->thread_frame, frame) &&
	       (!layout->has_cframe || peek_pointer(python, *frame + layout->cframe_frame, frame));
}

uint32_t perf_python_stack(struct perf *perf, struct perf_process *process, uint32_t tid,
			   struct rec_frame frames[REC_MAX_FRAMES])
{
	struct perf_python *python = process->python;
	uint64_t state = thread_state(python, tid), before, after;
	uint32_t count = 0;
	bool whole = false;
	/* A program that calls functions all the time is never still: the last try counts if it
	 * found a whole stack. */
	for (int i = 0; state && i < TRIES; i++) {
		if (!innermost(python, state, &before))
			return 0;
		whole = perf_python_walk(perf, python, before, frames, &count);
		if (!innermost(python, state, &after))
			return 0;
		if (whole && before == after)
			break;
	}
	return whole && tid_of(python, state) == tid ? count : 0;
}
