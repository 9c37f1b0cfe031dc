/* SPDX-License-Identifier: Apache-2.0 */
/* python_layout.h - where CPython keeps what a stack is made of; one place a version.
 *
 * Read from inside the program (collect/python/python.c: the thread's own stack) and from
 * outside (run/perf/perf_python.c: any thread's, found through the runtime).
 */
#ifndef HWY_SPOOL_PYTHON_LAYOUT_H
#define HWY_SPOOL_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Offsets are in bytes, for 64-bit Linux. 0: the Python version does not have the field, unless
 * the field's comment says otherwise. */
struct python_layout {
	uint32_t version; /* PY_VERSION_HEX */
	/* thread_frame: offset in a thread state of the innermost frame, or of the cframe. */
	uint16_t thread_frame;
	/* has_cframe: the field at thread_frame points to a cframe, which points to the frame. */
	bool has_cframe;
	uint16_t cframe_frame; /* offset of the frame in the cframe */
	/* frame_code: offset of a frame's code object; 3.14 keeps a tag in the low bits of the
	 * pointer. */
	uint16_t frame_code;
	uint16_t frame_previous;
	/* frame_instruction: offset of the frame's current instruction: a pointer; in 3.10 an
	 * int that counts instructions. */
	uint16_t frame_instruction;
	uint16_t frame_locals; /* offset of the frame's first local variable */
	uint16_t frame_owner;  /* offset of the byte that says who owns the frame */
	/* frame_bytecode: only with free threading: offset of an int, the index of the thread's
	 * copy of the bytecode. */
	uint16_t frame_bytecode;
	uint8_t foreign_owner; /* frames whose owner is this number or above are not Python's */
	uint16_t code_first_line;
	uint16_t code_filename;
	/* code_name: offset of the qualified name where the version has one, else of the name. */
	uint16_t code_name;
	uint16_t code_table;
	uint16_t code_bytecode; /* offset of the first byte of the bytecode */
	/* code_bytecodes: only with free threading: offset of the pointer to the threads' copies
	 * of the bytecode. */
	uint16_t code_bytecodes;
	uint16_t object_size; /* size of an object's head; the length of a str or bytes follows */
	uint16_t object_type;
	uint16_t ascii_text; /* where the characters begin in an ASCII str and in any other str */
	uint16_t other_text;
	/* The following offsets lead from the runtime to its threads. */
	/* runtime_interpreters: offset in _PyRuntime of the pointer to the first interpreter. */
	uint32_t runtime_interpreters;
	uint32_t interpreter_next;
	/* interpreter_threads: offset in an interpreter of the pointer to its first thread
	 * state. */
	uint32_t interpreter_threads;
	uint16_t thread_next;
	/* thread_native: offset of the thread's kernel tid; 0: the version keeps only the
	 * pthread_t, at thread_handle. */
	uint16_t thread_native;
	uint16_t thread_handle; /* offset of the thread's pthread_t */
};

/* How many bytes of _PyRuntime python_layout_of reads. */
enum { PYTHON_RUNTIME_BYTES = 52 * 8 };

/* False for a version that is not known. 'runtime' is &_PyRuntime, or NULL; from 3.13 on it
 * begins with the offsets. */
bool python_layout_of(uint32_t version, const void *runtime, struct python_layout *into);

/* Yields the kind of a str (bytes per character) by its state, and whether the str is ASCII; 0:
 * the str cannot be read. */
unsigned python_text_kind(const struct python_layout *layout, uint32_t state, bool *ascii);
/* Writes characters of a kind as UTF-8 to 'into', which has room for four bytes per character;
 * yields the text's length in bytes. */
size_t python_utf8(char *into, const unsigned char *raw, size_t length, unsigned kind);

#endif
