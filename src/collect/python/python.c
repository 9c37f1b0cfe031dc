/* python.c - the Python stack of the calling thread, read without the interpreter's help.
 *
 * The GIL is neither taken nor needed: a thread's own chain of frames cannot change while the thread sits in
 * our code, and each frame owns its code object. Nothing is called but PyGILState_GetThisThreadState and
 * Py_IsFinalizing, which are safe in any state of the interpreter; no reference is counted, nothing is written.
 * An interpreter that is being finalized has freed the states of its other threads, and is left alone; so is one
 * that was unloaded.
 *
 * A wrong layout must not crash the program. The first stacks are read through the kernel, which fails where
 * a load would fault; only when PROVEN of them came out whole are pointers followed directly, but for the innermost
 * frame of an OS call, which may be gone (walk). What names a code object (texts, line table) is always read
 * through the kernel, once.
 *
 * The line table of REC_CODE is decoded by the parent: 3.10 has co_linetable of PEP 626, pairs (bytes of
 * bytecode, signed difference of lines; -128: no line); from 3.11 on it is the location table, entries
 * that begin with a byte 1cccclll: lll + 1 instructions of two bytes, kind cccc, then its bytes
 * (CPython's Objects/locations.md). Offsets of frames are bytes into the bytecode.
 */
#include "collect/python/python.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "collect/collect.h"
#include "collect/elf_symbols.h"
#include "collect/lock.h"
#include "collect/process.h"
#include "collect/sys.h"
#include "spool/python_layout.h"

enum {
	PROVEN = 16,
	CODES = 32768, /* places of the cache, a power of two */
	MOST_CODES = CODES / 4 * 3,
	MOST_TEXT = 4096,       /* characters of a name */
	MOST_TABLE = 64 * 1024, /* bytes of a line table */
	MOST_STEPS = 4096,      /* frames looked at, shown or not */
};

/* An interpreter that is being loaded by another thread is seen before it is relocated. */
static const int64_t settling = 20 * 1000 * 1000;

struct code {
	uintptr_t at;             /* of the code object */
	uintptr_t filename, name; /* to tell it from another that was put there later */
	int32_t first_line;
	uint32_t id;
};

/* Set last, when everything else is known; NULL: no Python yet, or no more. */
static void *(*_Atomic thread_state)(void);
static int (*is_finalizing)(void);
static int64_t
	ready_at; /* when the interpreter may be called, see 'settling'; 0: it was there from the start */
static struct { /* the object it is in; by whoever scans the modules */
	uint64_t base, name;
	bool seen; /* in this scan */
	bool gone;
} home;

static struct lock lock; /* guards all that is below */
static struct python_layout layout;
static bool unreadable;     /* the kernel does not let us read: no stacks */
static uint32_t whole;      /* stacks that came out whole */
static bool may_be_gone;    /* the frame that is read now: see walk */
static uintptr_t code_type; /* the type of code objects, 0: not seen yet */
static struct code *codes;  /* open addressing by 'at' */
static struct { /* a text on its way; not on the stack, which may be that of a small thread */
	unsigned char raw[MOST_TEXT * 4];
	char utf8[MOST_TEXT * 4];
} * room;
static uint32_t code_count;
static uint32_t last_code; /* id */

void python_after_fork(void)
{
	lock_give(&lock);
	code_count = 0;
	codes = NULL; /* left behind: to clear it would copy its pages */
}

/* ---- finding it --------------------------------------------------------------------------------- */

/* Nothing of the object is called: it may have been mapped just now, and not be relocated yet. */
static uint32_t version_in(const struct dl_phdr_info *object)
{
	const unsigned long *number = symbols_find(object, "Py_Version"); /* from 3.11 on */
	if (number)
		return (uint32_t)*number;
	return symbols_find(object, "PyModule_AddObjectRef") ? 0x030a00f0
							     : 0; /* 3.10; micro unknown */
}

void python_look(const struct dl_phdr_info *object, uint64_t name, bool is_new)
{
	static bool told;
	if (atomic_load_explicit(&thread_state, memory_order_relaxed)) {
		home.seen |= object->dlpi_addr == home.base && name == home.name;
		return;
	}
	void *get_state =
		is_new && !home.gone ? symbols_find(object, "PyGILState_GetThisThreadState") : NULL;
	if (!get_state)
		return;
	void *finalizing = symbols_find(object, "Py_IsFinalizing"); /* from 3.13 on */
	if (!finalizing)
		finalizing = symbols_find(object, "_Py_IsFinalizing");
	uint32_t version = version_in(object);
	if (!finalizing ||
	    !python_layout_of(version, symbols_find(object, "_PyRuntime"), &layout)) {
		if (!told && version)
			collect_note(2, "stacks of Python %u.%u cannot be read", version >> 24,
				     version >> 16 & 0xff);
		else if (!told)
			collect_note(2, "stacks of Python before 3.10 cannot be read");
		told = true;
		return;
	}
	ready_at = process.joined ? collect_now() + settling : 0;
	home.base = object->dlpi_addr;
	home.name = name;
	home.seen = true;
	*(void **)&is_finalizing = finalizing;
	void *(*function)(void);
	*(void **)&function = get_state;
	atomic_store_explicit(&thread_state, function, memory_order_release);
}

void python_looked(void)
{
	if (!home.seen && atomic_exchange(&thread_state, NULL))
		home.gone = true;
	home.seen = false;
}

/* ---- reading ------------------------------------------------------------------------------------ */

static bool peek(void *into, uintptr_t from, size_t size)
{
	if (from < 4096)
		return false;
	long got = sys_peek(process.pid, into, (const void *)from, size);
	if (got < 0 && (errno == EPERM || errno == ENOSYS))
		unreadable = true;
	return got == (long)size;
}

static bool fetch(void *into, uintptr_t from, size_t size)
{
	if (whole < PROVEN || may_be_gone)
		return peek(into, from, size);
	if (from < 4096)
		return false;
	memcpy(into, (const void *)from, size);
	return true;
}

/* The string id of a str object; false if it is none. */
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

/* ---- code objects ------------------------------------------------------------------------------- */

/* Whether a type is that of code objects: by its name, since its symbol may be copied elsewhere. */
static bool is_code_type(uintptr_t type)
{
	if (code_type)
		return type == code_type;
	uintptr_t name;
	char text[5];
	/* A type's own head is that of a sized object; its name comes next. */
	if (!peek(&name, type + layout.object_size + 8, sizeof name) ||
	    !peek(text, name, sizeof text) || memcmp(text, "code", 5) != 0)
		return false;
	code_type = type;
	return true;
}

/* Writes REC_CODE; the texts are told. */
static bool put_code(uint32_t id, const struct code *code, uint32_t filename, uint32_t name)
{
	uintptr_t table;
	int64_t length;
	if (!peek(&table, code->at + layout.code_table, sizeof table) ||
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
	/* bytes: length, hash, then the data */
	if (peek(record->table, table + layout.object_size + 16, (size_t)length))
		record->table_length = (uint32_t)length;
	collect_publish();
	return true;
}

static uint32_t define_code(const struct code *code)
{
	uint32_t filename, name;
	if (!python_read_text(code->filename, &filename) || !python_read_text(code->name, &name) ||
	    !put_code(last_code + 1, code, filename, name))
		return 0;
	return ++last_code;
}

static struct code *python_place_of(uintptr_t at)
{
	uint64_t hash = at * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t i = (uint32_t)(hash >> 40) & (CODES - 1);
	while (codes[i].at && codes[i].at != at)
		i = (i + 1) & (CODES - 1);
	return &codes[i];
}

/* The id of a code object, 0: it is none. */
static uint32_t code_id(uintptr_t at)
{
	struct code code = {.at = at};
	uintptr_t type;
	if ((at & 7) || !fetch(&type, at + layout.object_type, sizeof type) ||
	    !is_code_type(type) ||
	    !fetch(&code.filename, at + layout.code_filename, sizeof code.filename) ||
	    !fetch(&code.name, at + layout.code_name, sizeof code.name) ||
	    !fetch(&code.first_line, at + layout.code_first_line, sizeof code.first_line))
		return 0;
	struct code *known = python_place_of(at);
	if (known->at && known->filename == code.filename && known->name == code.name &&
	    known->first_line == code.first_line)
		return known->id;
	code.id = define_code(&code);
	if (!code.id)
		return 0;
	if (!known->at && ++code_count > MOST_CODES) {
		memset(codes, 0,
		       CODES * sizeof *codes); /* begin again rather than grow without end */
		code_count = 1;
		known = python_place_of(at);
	}
	*known = code;
	return code.id;
}

/* ---- frames ------------------------------------------------------------------------------------- */

/* Free threading: the bytecode that this frame runs is a copy of the thread's own. */
static bool own_bytecode(uintptr_t frame, uintptr_t code, uintptr_t *bytecode)
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

static bool python_offset_of(uintptr_t frame, uintptr_t code, int32_t *offset)
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
	if (layout.frame_bytecode && layout.code_bytecodes && !own_bytecode(frame, code, &bytecode))
		return false;
	int64_t distance = (int64_t)(instruction - bytecode);
	*offset = distance > 0 && distance < INT32_MAX ? (int32_t)distance : 0;
	return true;
}

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

/* Innermost first. False: something was not as it must be; what was read before stands.
 *
 * An interpreter that makes a generator gives back the frame's memory before it leaves the frame (3.11 to 3.13), and
 * the call that unmaps it is one that we may be in. So the innermost frame of an OS call is read through the kernel. */
static bool python_walk(uintptr_t state, struct rec_frame frames[REC_MAX_FRAMES], uint32_t *count)
{
	uintptr_t frame, code;
	if (!fetch(&frame, state + layout.thread_frame, sizeof frame))
		return false;
	if (layout.cframe_frame && !fetch(&frame, frame + layout.cframe_frame - 1u, sizeof frame))
		return false;
	for (unsigned steps = 0; frame && *count < REC_MAX_FRAMES && steps < MOST_STEPS; steps++) {
		bool foreign;
		if ((frame & 7) || !is_foreign(frame, &foreign))
			return false;
		if (!foreign) {
			struct rec_frame *out = &frames[*count];
			if (!fetch(&code, frame + layout.frame_code, sizeof code))
				return false;
			code &= ~(uintptr_t)7;
			out->code = code_id(code);
			if (!out->code || !python_offset_of(frame, code, &out->offset))
				return false;
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
	collect_publish();
}

void python_stack(enum rec_why why, int64_t start, uint32_t correlation)
{
	void *(*get_state)(void) = atomic_load_explicit(&thread_state, memory_order_acquire);
	/* OS calls come without a look at the modules (stack.c): what was opened may have been closed. */
	if (!get_state || start < ready_at || (why == REC_WHY_OS && ready_at) || is_finalizing())
		return;
	void *state = get_state();
	if (!state || unreadable || !lock_take(&lock))
		return;
	if (!codes)
		codes = sys_memory(CODES * sizeof *codes);
	if (!room)
		room = sys_memory(sizeof *room);
	struct rec_frame frames[REC_MAX_FRAMES];
	uint32_t count = 0;
	bool first = false;
	may_be_gone = why == REC_WHY_OS;
	if (codes && room) {
		bool good = python_walk((uintptr_t)state, frames, &count);
		first = good && count && whole == 0;
		if (good && count && whole < PROVEN)
			whole++;
	}
	lock_give(&lock);
	if (first)
		process_look_again(layout.version);
	if (count)
		python_put_stack(why, start, correlation, frames, count);
}
