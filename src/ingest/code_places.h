/* SPDX-License-Identifier: Apache-2.0 */
/* code_places.h - names the code at an address of a binary: function, source file and line.
 *
 * Each place is looked up once for all processes: the same program started ten thousand times has
 * its code at ten thousand addresses, but only once in its file. */
#ifndef HWY_INGEST_CODE_PLACES_H
#define HWY_INGEST_CODE_PLACES_H

#include <stdbool.h>
#include <stdint.h>

struct binaries;
struct binary;

struct code_line {
	const char *file; /* path of the source file; NULL: not known */
	int line;
	bool is_known; /* the line was looked for */
};

struct code_place {           /* its texts live as long as the places */
	const char *function; /* the function's name, demangled; NULL: not known */
	const char *module;   /* path of the binary; NULL: the address is in no module */
	struct binary *binary;
	uint64_t offset;  /* offset of the address in the module */
	bool interpreter; /* the function is CPython's interpreter loop */
	/* The line for a call, and the line for a CPU sample: see code_places_line. */
	struct code_line of_call, of_sample;
};

struct code_places;

/* The binaries must outlive the places. */
struct code_places *code_places_open(struct binaries *binaries);
void code_places_close(struct code_places *places); /* 'places' may be NULL */

/* Yields the place at an offset of a binary; 'binary' NULL: the place of code that is in no
 * module. */
struct code_place *code_places_find(struct code_places *places, struct binary *binary,
				    uint64_t offset);
/* Yields file and line, which may take milliseconds at the first call for a place. 'callee', or
 * NULL, is the place of the function that is called there. 'is_sample': the place is of a CPU
 * sample, of which there are too many to search for inlined calls. */
const struct code_line *code_places_line(struct code_places *places, struct code_place *place,
					 const struct code_place *callee, bool is_sample);

#endif
