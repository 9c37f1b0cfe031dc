/* SPDX-License-Identifier: Apache-2.0 */
/* python.c - the Python stack of the calling thread, read without the interpreter's help.
 *
 * The GIL is neither taken nor needed: a thread's own chain of frames cannot change while the
 * thread sits in our code, and each frame owns its code object. Nothing is called but
 * PyGILState_GetThisThreadState and Py_IsFinalizing, which are safe in any state of the
 * interpreter; no reference is counted, nothing is written. An interpreter that is being
 * finalized has freed the states of its other threads, and is left alone; so is one that was
 * unloaded.
 *
 * A wrong layout must not crash the program. The first stacks are read through the kernel, which
 * fails where a load would fault; only when PROVEN of them came out whole are pointers followed
 * directly, but for the innermost frame of an OS call, which may be gone (python_walk). What
 * names a code object (texts, line table) is always read through the kernel, once.
 *
 * The line table of REC_CODE is decoded by the parent: 3.10 has co_linetable of PEP 626, pairs
 * (bytes of bytecode, signed difference of lines; -128: no line); from 3.11 on it is the
 * location table, entries that begin with a byte 1cccclll: lll + 1 instructions of two bytes,
 * kind cccc, then its bytes (CPython's Objects/locations.md). Offsets of frames are bytes into
 * the bytecode.
 */
#include "collect/python/python.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "collect/collect.h"
#include "collect/lock.h"
#include "collect/process.h"
#include "collect/python/inside.h"
#include "collect/python/served.h"
#include "collect/python/stack_ids.h"
#include "collect/sys.h"
#include "collect/text_ids.h"

enum {
	/* PROVEN: how many stacks must have been read whole before pointers are followed
	 * directly. */
	PROVEN = 16,
	CODES = 32768, /* size of the cache of code objects, a power of two */
	MOST_CODES = CODES / 4 * 3,
	MOST_TEXT = 4096,       /* how many characters of a name are read at most */
	MOST_TABLE = 64 * 1024, /* bytes; a longer line table is not recorded */
	MOST_STEPS = 4096, /* how many frames of one stack are visited at most, recorded or not */
};

/* The collector may see an interpreter that another thread is loading before the loader has
 * relocated it: it is not called for so long. */
static const int64_t SETTLING_NS = 20 * 1000 * 1000;

struct code {
	uintptr_t address; /* address of the code object */
	/* Addresses of the code object's texts: another code object at the same address has
	 * others. */
	uintptr_t filename, name;
	int32_t first_line;
	uint32_t id;
	enum python_caller caller;
};

/* PyGILState_GetThisThreadState of the interpreter, set after everything else; NULL: no Python yet,
 * or no more. */
static void *(*_Atomic thread_state)(void);
static int (*is_finalizing)(void);
/* When the interpreter may be called (SETTLING_NS after it was found); 0: it was loaded
 * from the start. */
static int64_t ready_at;
/* The object that holds the interpreter. Only the thread that scans the modules reads or writes
 * it. */
static struct {
	uint64_t base, name;
	bool seen; /* the present scan found the object that holds the interpreter */
	bool gone; /* the interpreter was unloaded, and nobody looks for it again */
} home;

_Atomic uint64_t python_runtime[2];

static struct lock lock; /* guards all variables below */
static struct python_layout layout;
static bool unreadable; /* the kernel does not permit reading memory, so that no stacks are taken */
static _Atomic uint32_t whole; /* how many stacks were read whole, up to PROVEN */
static bool may_be_gone;       /* the frame that is being read may be unmapped: see python_walk */
static bool is_others; /* the frames that are being read are of another thread, which may run */
/* Address of the type of code objects; 0: no code object was seen yet. */
static uintptr_t code_type;
static struct code *codes; /* cache of code objects, open addressing by address */
/* Room for one text while it is read and converted. Not on the stack: a thread's stack may be
 * small. */
static struct {
	unsigned char raw[MOST_TEXT * 4];
	char utf8[MOST_TEXT * 4];
} * room;
static uint32_t code_count;
static uint32_t last_code; /* the highest id given to a code object */

void python_after_fork(void)
{
	lock_give(&lock);
	code_count = 0;
	/* The cache is not freed: writing to its pages in the child would copy them. */
	codes = NULL;
	place_after_fork();
}

void python_begin_again(void)
{
	if (lock_take(&lock)) {
		code_count = 0;
		if (codes)
			memset(codes, 0, CODES * sizeof *codes);
		lock_give(&lock);
	}
	place_begin_again();
}

/* Reads memory through the kernel; false where it cannot be read. */
static bool peek(void *into, uintptr_t from, size_t size)
{
	if (from < 4096)
		return false;
	long got = sys_peek(process.pid, into, (const void *)from, size);
	if (got < 0 && (errno == EPERM || errno == ENOSYS))
		unreadable = true;
	return got == (long)size;
}

/* ---- finding the interpreter ----------------------------------------------------------------- */

/* The interpreter's version, 0: unknown. No function of the object is called: the object may have
 * been mapped just now, and not be relocated yet. */
static uint32_t version_in(const struct elf_object *object)
{
	/* Python exports Py_Version from 3.11 on. */
	uint64_t at = elf_symbols_find(object, "Py_Version"), number;
	if (at)
		return peek(&number, at, sizeof number) ? (uint32_t)number : 0;
	/* Python 3.10 does not export the last part of its version. */
	return elf_symbols_find(object, "PyModule_AddObjectRef") ? 0x030a00f0 : 0;
}

/* The layout of the interpreter in the object; false if it is not known. */
static bool layout_in(const struct elf_object *object, uint32_t version)
{
	char runtime[PYTHON_RUNTIME_BYTES];
	uint64_t at = elf_symbols_find(object, "_PyRuntime");
	bool is_read = at && peek(runtime, at, sizeof runtime);
	return python_layout_of(version, is_read ? runtime : NULL, &layout);
}

/* Notes where the interpreter's runtime lies. A free-threaded build is known by the size of its
 * objects' heads. */
static void note_runtime(const struct elf_object *object)
{
	enum { HEAD_WITH_GIL = 16 };
	uint64_t size, at = elf_symbols_find_sized(object, "_PyRuntime", &size);
	if (!at)
		return;
	atomic_store_explicit(&python_runtime[0], at, memory_order_relaxed);
	atomic_store_explicit(&python_runtime[1], at + size, memory_order_release);
	if (layout.object_size > HEAD_WITH_GIL && (collect_control->traces & REC_TRACE_PYTHON))
		collect_note(1, "this Python has no global interpreter lock (GIL) to wait for, "
				"unless the program turns it on");
}

void python_look_at_object(const struct elf_object *object, uint64_t name, bool is_new)
{
	static bool was_reported;
	if (atomic_load_explicit(&thread_state, memory_order_relaxed)) {
		home.seen |= object->base == home.base && name == home.name;
		return;
	}
	uint64_t get_state = is_new && !home.gone
				     ? elf_symbols_find(object, "PyGILState_GetThisThreadState")
				     : 0;
	if (!get_state)
		return;
	/* Python exports Py_IsFinalizing from 3.13 on. */
	uint64_t finalizing = elf_symbols_find(object, "Py_IsFinalizing");
	if (!finalizing)
		finalizing = elf_symbols_find(object, "_Py_IsFinalizing");
	uint32_t version = version_in(object);
	if (!finalizing || !layout_in(object, version)) {
		if (!was_reported && version)
			collect_note(2, "stacks of Python %u.%u cannot be read", version >> 24,
				     version >> 16 & 0xff);
		else if (!was_reported)
			collect_note(2, "stacks of Python before 3.10 cannot be read");
		was_reported = true;
		return;
	}
	ready_at = process.joined ? collect_now() + SETTLING_NS : 0;
	home.base = object->base;
	home.name = name;
	home.seen = true;
	*(void **)&is_finalizing = (void *)(uintptr_t)finalizing;
	void *(*function)(void);
	*(void **)&function = (void *)(uintptr_t)get_state;
	note_runtime(object);
	inside_look_at_object(object, &layout);
	atomic_store_explicit(&thread_state, function, memory_order_release);
}

void python_end_look(bool complete)
{
	if (complete && !home.seen && atomic_exchange(&thread_state, NULL)) {
		home.gone = true;
		atomic_store_explicit(&python_runtime[1], 0, memory_order_relaxed);
		inside_look_at_object(NULL, NULL);
	}
	home.seen = false;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool fetch(void *into, uintptr_t from, size_t size)
{
	if (whole < PROVEN || may_be_gone || is_others)
		return peek(into, from, size);
	if (from < 4096)
		return false;
	memcpy(into, (const void *)from, size);
	return true;
}

/* Yields the text id of a Python str object; false if the object is no str. */
static bool python_read_text(uintptr_t object, uint32_t *id)
{
	struct {
		int64_t length, hash;
		uint32_t state;
	} head;
	bool ascii;
	if (!peek(&head, object + layout.object_size, sizeof head))
		return false;
	unsigned kind = python_text_kind(&layout, head.state, &ascii);
	if (!kind || head.length < 0 || head.length > 1 << 20)
		return false;
	size_t length = head.length > MOST_TEXT ? MOST_TEXT : (size_t)head.length;
	*id = 0;
	if (length == 0)
		return true;
	if (!peek(room->raw, object + (ascii ? layout.ascii_text : layout.other_text),
		  length * kind))
		return false;
	*id = collect_string(room->utf8, python_utf8(room->utf8, room->raw, length, kind));
	return true;
}

/* ---- code objects ---------------------------------------------------------------------------- */

/* Whether a type is that of code objects. The type's name decides: its symbol may have been copied
 * elsewhere. */
static bool is_code_type(uintptr_t type)
{
	if (code_type)
		return type == code_type;
	uintptr_t name;
	char text[5];
	/* A type object begins like a sized object; the pointer to the type's name comes next. */
	if (!peek(&name, type + layout.object_size + 8, sizeof name) ||
	    !peek(text, name, sizeof text) || memcmp(text, "code", 5) != 0)
		return false;
	code_type = type;
	return true;
}

/* Writes REC_CODE for a code object whose texts have ids already. */
static bool put_code(uint32_t id, const struct code *code, uint32_t filename, uint32_t name)
{
	uintptr_t table;
	int64_t length;
	if (!peek(&table, code->address + layout.code_table, sizeof table) ||
	    !peek(&length, table + layout.object_size, sizeof length) || length < 0)
		return false;
	if (length > MOST_TABLE)
		length = 0;
	size_t bytes = offsetof(struct rec_code, table) + (size_t)length;
	struct rec_code *record =
		collect_reserve(REC_CODE, (unsigned)((bytes + REC_SLOT - 1) / REC_SLOT));
	if (!record)
		return false;
	record->head.value = id;
	record->filename = filename;
	record->name = name;
	record->first_line = code->first_line;
	record->python = layout.version;
	/* A bytes object has its length, its hash, then the data. */
	if (peek(record->table, table + layout.object_size + 16, (size_t)length))
		record->table_length = (uint32_t)length;
	collect_publish(record);
	return true;
}

static bool text_ends_with(uint32_t id, const char *end)
{
	size_t length, n = strlen(end);
	const char *text = text_ids_text(id, &length);
	return length >= n && memcmp(text + length - n, end, n) == 0;
}

/* Whether a code object is one of PyTorch's functions through which every nn.Module is called. */
static enum python_caller caller_of(uint32_t filename, uint32_t name)
{
	if (!text_ends_with(filename, "torch/nn/modules/module.py"))
		return PYTHON_CALLS_OTHER;
	if (text_ends_with(name, "_wrapped_call_impl"))
		return PYTHON_CALLS_LAYER_WRAPPED;
	return text_ends_with(name, "_call_impl") ? PYTHON_CALLS_LAYER : PYTHON_CALLS_OTHER;
}

static uint32_t define_code(struct code *code)
{
	uint32_t filename, name;
	if (!python_read_text(code->filename, &filename) || !python_read_text(code->name, &name) ||
	    !put_code(last_code + 1, code, filename, name))
		return 0;
	code->caller = caller_of(filename, name);
	return ++last_code;
}

static struct code *python_code_place(uintptr_t address)
{
	uint64_t hash = address * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t i = (uint32_t)(hash >> 40) & (CODES - 1);
	while (codes[i].address && codes[i].address != address)
		i = (i + 1) & (CODES - 1);
	return &codes[i];
}

/* Yields the entry of the code object at an address, which is defined if need be; NULL: there is
 * no code object. */
static const struct code *code_entry(uintptr_t address)
{
	struct code code = {.address = address};
	uintptr_t type;
	if ((address & 7) || !fetch(&type, address + layout.object_type, sizeof type) ||
	    !is_code_type(type) ||
	    !fetch(&code.filename, address + layout.code_filename, sizeof code.filename) ||
	    !fetch(&code.name, address + layout.code_name, sizeof code.name) ||
	    !fetch(&code.first_line, address + layout.code_first_line, sizeof code.first_line))
		return NULL;
	struct code *cached = python_code_place(address);
	if (cached->address && cached->filename == code.filename && cached->name == code.name &&
	    cached->first_line == code.first_line)
		return cached;
	code.id = define_code(&code);
	if (!code.id)
		return NULL;
	if (!cached->address && ++code_count > MOST_CODES) {
		/* The cache is full, and is emptied instead of growing without end. */
		memset(codes, 0, CODES * sizeof *codes);
		code_count = 1;
		cached = python_code_place(address);
	}
	*cached = code;
	return cached;
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* Free-threaded Python: this frame runs the thread's own copy of the bytecode, whose address is
 * yielded. */
static bool thread_bytecode(uintptr_t frame, uintptr_t code, uintptr_t *bytecode)
{
	uintptr_t copies, mine;
	int32_t index;
	int64_t count;
	if (!fetch(&index, frame + layout.frame_bytecode, sizeof index) ||
	    !fetch(&copies, code + layout.code_bytecodes, sizeof copies) ||
	    !fetch(&count, copies, sizeof count) || index < 0 || index >= count ||
	    !fetch(&mine, copies + 8 + (uintptr_t)index * 8, sizeof mine))
		return false;
	*bytecode = mine;
	return true;
}

static bool frame_offset(uintptr_t frame, uintptr_t code, int32_t *offset)
{
	if (!layout.code_bytecode) {
		int32_t instruction;
		if (!fetch(&instruction, frame + layout.frame_instruction, sizeof instruction))
			return false;
		*offset = instruction < 0 ? 0 : instruction * 2;
		return true;
	}
	uintptr_t instruction, bytecode = code + layout.code_bytecode;
	if (!fetch(&instruction, frame + layout.frame_instruction, sizeof instruction))
		return false;
	if (layout.frame_bytecode && layout.code_bytecodes &&
	    !thread_bytecode(frame, code, &bytecode))
		return false;
	int64_t distance = (int64_t)(instruction - bytecode);
	*offset = distance > 0 && distance < INT32_MAX ? (int32_t)distance : 0;
	return true;
}

/* False when the frame cannot be read. *foreign: the frame stands for a call of C code, and has
 * no code object of Python. */
static bool is_foreign(uintptr_t frame, bool *foreign)
{
	uint8_t owner = 0;
	*foreign = false;
	if (!layout.frame_owner)
		return true;
	if (!fetch(&owner, frame + layout.frame_owner, sizeof owner))
		return false;
	*foreign = owner >= layout.foreign_owner;
	return true;
}

/* The innermost frame of a thread; 0: there is none, or it cannot be read. */
static uintptr_t innermost_frame(uintptr_t state)
{
	uintptr_t frame;
	if (!fetch(&frame, state + layout.thread_frame, sizeof frame) ||
	    (layout.has_cframe && !fetch(&frame, frame + layout.cframe_frame, sizeof frame)))
		return 0;
	return frame;
}

/* Reads the frames of a thread, innermost first. False: some memory was not as it must be; the
 * frames read before that are valid.
 *
 * An interpreter that makes a generator gives back the frame's memory before it leaves the frame
 * (3.11 to 3.13), and the call that unmaps that memory may be the one that is being recorded. So
 * the innermost frame of an OS call is read through the kernel. */
static bool python_walk(uintptr_t state, struct rec_frame frames[REC_MAX_FRAMES], uint32_t *count)
{
	uintptr_t frame = innermost_frame(state), code;
	for (unsigned steps = 0; frame && *count < REC_MAX_FRAMES && steps < MOST_STEPS; steps++) {
		bool foreign;
		if ((frame & 7) || !is_foreign(frame, &foreign))
			return false;
		if (!foreign) {
			struct rec_frame *out = &frames[*count];
			if (!fetch(&code, frame + layout.frame_code, sizeof code))
				return false;
			code &= ~(uintptr_t)7;
			const struct code *entry = code_entry(code);
			if (!entry || !frame_offset(frame, code, &out->offset))
				return false;
			out->code = entry->id;
			++*count;
		}
		if (!fetch(&frame, frame + layout.frame_previous, sizeof frame))
			return false;
		may_be_gone &= foreign;
	}
	return true;
}

static void python_put_stack(enum rec_why why, int64_t start, uint32_t correlation,
			     const struct rec_frame *frames, uint32_t count)
{
	size_t bytes = sizeof(struct rec_stack) + count * sizeof *frames;
	struct rec_stack *record =
		collect_reserve(REC_PYTHON_STACK, (unsigned)((bytes + REC_SLOT - 1) / REC_SLOT));
	if (!record)
		return;
	record->head.flags = (uint8_t)why;
	record->head.value = count;
	record->time = start;
	record->tid = collect_tid();
	record->correlation = correlation;
	record->count = count;
	memcpy(record + 1, frames, count * sizeof *frames);
	collect_publish(record);
}

bool python_may_be_unloaded(void)
{
	return atomic_load_explicit(&thread_state, memory_order_acquire) && ready_at;
}

bool python_is_usable(void)
{
	return atomic_load_explicit(&thread_state, memory_order_acquire) &&
	       (!ready_at || collect_now() >= ready_at) && !is_finalizing();
}

/* The state of the calling thread in the interpreter; NULL: there is none, or the interpreter is
 * to be left alone. */
static void *own_state(int64_t now)
{
	void *(*get_state)(void) = atomic_load_explicit(&thread_state, memory_order_acquire);
	if (!get_state || now < ready_at || is_finalizing())
		return NULL;
	return get_state();
}

static bool has_memory(void)
{
	if (!codes)
		codes = sys_memory(CODES * sizeof *codes);
	if (!room)
		room = sys_memory(sizeof *room);
	return codes && room;
}

/* Reads a thread's frames, and yields their number. *is_first becomes true where no stack had
 * been read whole before. */
static uint32_t read_stack(uintptr_t state, bool is_os_call, struct rec_frame *frames,
			   bool *is_first)
{
	uint32_t count = 0;
	*is_first = false;
	if (!lock_take(&lock))
		return 0;
	may_be_gone = is_os_call;
	if (has_memory()) {
		bool good = python_walk(state, frames, &count) && count;
		*is_first = good && whole == 0;
		if (good && whole < PROVEN)
			atomic_store_explicit(&whole, whole + 1, memory_order_release);
	}
	lock_give(&lock);
	return count;
}

uint32_t python_read_others(uintptr_t state, struct rec_frame frames[REC_MAX_FRAMES])
{
	uint32_t count = 0;
	if (atomic_load_explicit(&whole, memory_order_acquire) < PROVEN || !lock_take(&lock))
		return 0;
	is_others = true;
	uintptr_t frame = innermost_frame(state);
	if (!has_memory() || !python_walk(state, frames, &count) || innermost_frame(state) != frame)
		count = 0;
	is_others = false;
	lock_give(&lock);
	return count;
}

void python_stack(enum rec_why why, int64_t start, uint32_t correlation)
{
	struct rec_frame frames[REC_MAX_FRAMES];
	bool first = false;
	/* A stack of an OS call may be taken in a signal handler that interrupts the unloading of
	 * an interpreter that was loaded late. */
	if (unreadable || (why == REC_WHY_OS && ready_at))
		return;
	uintptr_t state = (uintptr_t)own_state(start);
	uint32_t count = state ? read_stack(state, why == REC_WHY_OS, frames, &first)
			 : ready_at || !python_is_usable() ? 0
							   : served_stack(why, frames);
	if (state && count)
		served_note(why, state);
	if (first)
		process_look_again(layout.version);
	if (count)
		python_put_stack(why, start, correlation, frames, count);
}

/* ---- frames by plain loads ------------------------------------------------------------------- */

/* Reads the stack once more through the kernel, until enough stacks have proven the layout. */
static bool python_prove(uintptr_t state)
{
	struct rec_frame frames[REC_MAX_FRAMES];
	bool first;
	uint64_t signals = sys_hold_signals();
	read_stack(state, false, frames, &first);
	sys_restore_signals(signals);
	if (first)
		process_look_again(layout.version);
	return atomic_load_explicit(&whole, memory_order_acquire) >= PROVEN;
}

bool python_view_own(struct python_view *view)
{
	if (unreadable)
		return false;
	uintptr_t state = (uintptr_t)own_state(ready_at ? collect_now() : INT64_MAX);
	if (!state)
		return false;
	if (atomic_load_explicit(&whole, memory_order_acquire) < PROVEN && !python_prove(state))
		return false;
	view->layout = &layout;
	memcpy(&view->frame, (const void *)(state + layout.thread_frame), sizeof view->frame);
	if (layout.has_cframe)
		memcpy(&view->frame, (const void *)(view->frame + layout.cframe_frame),
		       sizeof view->frame);
	return view->frame != 0;
}

bool python_define_frame(uintptr_t frame, struct rec_frame *into, enum python_caller *caller)
{
	uintptr_t code;
	bool good = false;
	if (!lock_take(&lock))
		return false;
	/* A daemon thread's frames are gone once the main thread finalizes the interpreter,
	 * which may happen now. */
	may_be_gone = collect_tid() != process.pid;
	if (has_memory() && fetch(&code, frame + layout.frame_code, sizeof code)) {
		code &= ~(uintptr_t)7;
		const struct code *entry = code_entry(code);
		good = entry && frame_offset(frame, code, &into->offset);
		into->code = good ? entry->id : 0;
		*caller = good ? entry->caller : PYTHON_CALLS_OTHER;
	}
	lock_give(&lock);
	return good;
}

bool python_type_name(uintptr_t type, char *into, size_t size)
{
	uintptr_t name;
	/* A type object begins like a sized object; the pointer to the type's name comes next. */
	if (!peek(&name, type + layout.object_size + 8, sizeof name))
		return false;
	long got = sys_peek(process.pid, into, (const void *)name, size);
	return got > 0 && memchr(into, 0, (size_t)got);
}
