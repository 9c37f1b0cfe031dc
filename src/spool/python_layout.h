/* python_layout.h - where CPython keeps what a stack is made of; one place a version.
 *
 * Read from inside the program (collect/python/python.c: the thread's own stack) and from outside (run/perf/perf_python.c:
 * any thread's, found through the runtime).
 */
#ifndef HWY_SPOOL_PYTHON_LAYOUT_H
#define HWY_SPOOL_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Offsets in bytes; LP64. 0 where a version does not have the thing, unless said otherwise. */
struct python_layout {
	uint32_t version;      /* PY_VERSION_HEX */
	uint16_t thread_frame; /* the thread's innermost frame, or its cframe */
	bool has_cframe;       /* thread_frame leads to a cframe, which leads to the frame */
	uint16_t cframe_frame; /* offset of the frame in the cframe */
	uint16_t frame_code;   /* 3.14 keeps a tag in the low bits of the pointer */
	uint16_t frame_previous;
	uint16_t frame_instruction; /* a pointer; 3.10: an int, in instructions */
	uint16_t frame_owner;       /* one byte: who owns the frame */
	uint16_t
		frame_bytecode; /* free threading: index of the thread's copy of the bytecode, an int */
	uint8_t foreign_owner; /* frames of this owner and above are not Python's */
	uint16_t code_first_line;
	uint16_t code_filename;
	uint16_t code_name; /* the qualified name where the version has one */
	uint16_t code_table;
	uint16_t code_bytecode;  /* the bytecode itself */
	uint16_t code_bytecodes; /* free threading: the threads' copies */
	uint16_t object_size; /* size of an object's head; the length of a str or bytes follows */
	uint16_t object_type;
	uint16_t ascii_text; /* where the characters begin in an ASCII str, and in any other */
	uint16_t other_text;
	/* The way from the runtime to its threads: */
	uint32_t runtime_interpreters; /* in _PyRuntime: the first interpreter */
	uint32_t interpreter_next;
	uint32_t interpreter_threads; /* in an interpreter: its first thread */
	uint16_t thread_next;
	uint16_t thread_native; /* the kernel's tid of the thread; 0: only thread_handle is kept */
	uint16_t thread_handle; /* the pthread_t of the thread */
};

/* So many bytes of _PyRuntime are read by python_layout_of. */
enum { PYTHON_RUNTIME_BYTES = 52 * 8 };

/* False for a version that is not known. 'runtime' is &_PyRuntime, or NULL; from 3.13 on it begins with
 * the offsets. */
bool python_layout_of(uint32_t version, const void *runtime, struct python_layout *into);

/* The kind of a str (bytes a character) by its state, and whether it is ASCII; 0: not one that can be read. */
unsigned python_text_kind(const struct python_layout *layout, uint32_t state, bool *ascii);
/* Characters of a kind as UTF-8; 'into' has room for four bytes each. Yields its length. */
size_t python_utf8(char *into, const unsigned char *raw, size_t length, unsigned kind);

#endif
