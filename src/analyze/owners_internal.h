/* SPDX-License-Identifier: Apache-2.0 */
/* owners_internal.h - what owners.c, owners_sweep.c and owners_names.c share. */
#ifndef HWY_ANALYZE_OWNERS_INTERNAL_H
#define HWY_ANALYZE_OWNERS_INTERNAL_H

#include "analyze/owners.h"
#include "analyze/xla_lines.h"
#include "base/hash.h"

/* ---- what names mean (owners_names.c) -------------------------------------------------------- */

enum owner_name_kind {
	OWNER_NAME_SKIPPED,  /* the mark of a step, or a range that repeats an operator */
	OWNER_NAME_SCOPE,    /* what a user marked */
	OWNER_NAME_OPERATOR, /* an operator of a framework */
	OWNER_NAME_ENGINE,   /* autograd's node around one backward operator */
};
struct owner_name { /* the name of an operator or a range */
	enum owner_name_kind kind;
	uint32_t text;    /* id of the text to show, in the owners' texts */
	int64_t sequence; /* the number that a range of emit_nvtx has behind its name, or -1 */
	uint32_t module;  /* id of the text of the module that the name tells (XLA); 0: none */
	uint32_t line; /* index of the line that calls the function of this name (XLA); 0: none */
	bool is_backward; /* the name says that the operator is of a backward pass */
};

/* the module and the line that a stack, or the functions around a moment, tell; 0: none */
struct owner_context {
	uint32_t module, line;
};

struct owner_names {
	struct hwy_owners *owners;
	/* By text of the trace and whether it names what a user marked (2 * text + 1) or an
	 * operator (2 * text): a reference into 'names'. */
	uint32_t *name_of;
	struct owner_name *names;
	uint32_t n, cap;
	/* by stack of the trace: the module; NULL where no stack has modules */
	uint32_t *module_of_stack;
	/* by stack of the trace: a reference to its line, 0 until asked for */
	uint32_t *line_of_stack;
	struct hwy_nests nests; /* of ranges; opened where the program is XLA's */
	struct xla_lines lines;
	uint32_t *line_of_call; /* by text that names a traced function: as line_of_stack */
};

void owner_names_open(struct owner_names *names, struct hwy_owners *owners);
void owner_names_close(struct owner_names *names);
/* What the name of an operator means, or that of a mark: a range, or a scope among the operators
 * (HWY_FLAG_SCOPE). */
const struct owner_name *owner_name_of(struct owner_names *names, int64_t text, bool is_mark);
/* What a stack (a reference to its innermost node) tells. */
struct owner_context owner_context_of_stack(struct owner_names *names, int64_t stack);
/* What a function that a tracer recorded adds to the context around it. */
struct owner_context owner_context_of_call(struct owner_names *names, struct owner_context outer,
					   int64_t text);

/* Yield the index of the record with these values, which is made where it is new. */
uint32_t owners_put(struct hwy_owners *owners, struct hwy_owner owner);
uint32_t owners_put_link(struct hwy_owners *owners, struct owner_link link);
uint32_t owners_put_line(struct hwy_owners *owners, struct owner_line line);
/* Yields the module with a path, called from inside another module (0: none). A path that begins
 * with the same part as the other module's recorded path stands for itself; another path is
 * appended. 'type' may be 0. */
uint32_t owners_put_path(struct hwy_owners *owners, uint32_t outer, struct hwy_text path,
			 uint32_t type);
/* Yields the module 'called' as a part of the model that 'known' belongs to: where the outermost
 * part of its path is also a part of the path of 'known', what is around it there is put around
 * it. Else yields 'called'. */
uint32_t owners_graft(struct hwy_owners *owners, uint32_t called, uint32_t known);
void owners_records_free(struct hwy_owners *owners);

/* ---- the sweep (owners_sweep.c) -------------------------------------------------------------- */

/* Sets owner_of and op_of of operators and calls, and the owners of the moments, which are in
 * order of time. START, DUR, NAME and STACK of operators, ranges and calls are loaded, and
 * START, DUR and NAME of functions. */
void owners_sweep(struct hwy_owners *owners, struct owner_names *names,
		  struct owner_moment *moments, uint32_t n_moments);

#endif
