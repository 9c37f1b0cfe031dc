/* SPDX-License-Identifier: Apache-2.0 */
/* owners.h - who launched each piece of device work: the thread, the operator, the scopes around
 * it, the module of the model and the line of the program.
 *
 * Work belongs to the moment at which the call that enqueued it began. Its operator is the
 * innermost operator of a framework that runs on the call's thread at that moment (start <=
 * moment < end, as in the table op_sum); its chain is that operator with all operators and
 * scopes around it. A scope is what a user marked: record_function, Optimizer.step, push/pop
 * ranges of NVTX's default domain. Marks of steps and epochs are left out: they are around
 * everything.
 *
 * The module is that of the innermost call of an nn.Module around the operator: a frame of the
 * operator's stack (HWY_FRAME_LAYER), or a function of Kineto's named "nn.Module: X_n". A
 * backward operator has the module and the line of the forward operator from which an edge
 * (HWY_EDGE_FORWARD) leads to it, and so do operators inside of it. The line is that of the
 * innermost frame of the user's own code (place.h).
 *
 * A node of a CUDA graph belongs to the moment at which it was captured, where the recording
 * knows that moment (graph_nodes.h). Where a recording has no operators, ranges that
 * torch.autograd.profiler.emit_nvtx makes and operations of XLA (xla.h) serve as operators.
 *
 *   struct hwy_owners owners;
 *   if (!owners_open(&owners, trace, NULL, 0, err))
 *           return false;
 *   const struct hwy_owner *owner = owners_of(&owners, strip, row); // of a kernel
 *   puts(owners_text(&owners, owners.chain[owner->op].name)); // "aten::mm"
 *   owners_close(&owners);
 *
 * Opening sweeps over all operators and calls once, in order of time; questions then cost an
 * array access.
 */
#ifndef HWY_ANALYZE_OWNERS_H
#define HWY_ANALYZE_OWNERS_H

#include "base/index.h"
#include "trace/trace.h"

/* Why work has no operator. */
enum owner_why {
	OWNER_KNOWN,        /* it has one */
	OWNER_OUTSIDE,      /* it was launched outside of operators, by the program itself */
	OWNER_NO_OPERATORS, /* the recording has no operators of that process */
	OWNER_NO_CALL,      /* the call that launched it was not recorded */
	OWNER_NO_THREAD,    /* the thread of the call is not known */
	OWNER_WHYS
};
extern const char *const owner_why_texts[OWNER_WHYS]; /* "outside of operators", … */

#define OWNERS_NO_THREAD UINT32_MAX

/* Who launched work. Equal owners share one record. Members that are indexes into chain, modules
 * and lines are 0 where there is none. */
struct hwy_owner {
	uint32_t thread; /* index into the trace's threads, or OWNERS_NO_THREAD */
	uint32_t chain;  /* the innermost operator or scope */
	uint32_t op;     /* the innermost operator */
	/* The outermost operator or scope of the chain that began inside the module; 0 without a
	 * module: the whole chain. */
	uint32_t inside;
	uint32_t module;
	uint32_t line;
	uint8_t why;         /* enum owner_why */
	uint8_t is_backward; /* the operator runs in a backward pass */
	uint8_t is_captured; /* work of a CUDA graph: this is who captured its node */
	/* Work of a CUDA graph whose capture is not known: this is who launched the whole graph. */
	uint8_t is_replayed;
};

struct owner_link {     /* an operator or a scope in a chain; equal chains share their links */
	uint32_t outer; /* index of the link around this one; 0: none */
	uint32_t name;  /* id of a text of the owners */
	uint32_t is_operator;
};

/* a part of the path of a module; parts that are not called themselves are listed too */
struct owner_module {
	uint32_t outer; /* index of the module that holds this one; 0: none */
	uint32_t name; /* the last part of the path: "attn", "3", of Kineto's modules "Linear_12" */
	uint32_t type; /* the class: "Linear"; 0: not known */
	uint32_t root; /* index of the module that the path, as it was recorded, begins with */
};

struct owner_line {   /* a line of the program */
	int64_t line; /* > 0; of a function that Kineto traced: the line where it begins */
	uint32_t file, function;
};

/* A call of a module, as Kineto traced it; Headway's own recorder notes modules in stacks only. */
struct owner_module_call {
	int64_t start;
	uint32_t module, thread; /* indexes into the owners' modules and the trace's threads */
};

/* A moment of a thread whose owner is wanted, beside those of calls. */
struct owner_moment {
	int64_t time;
	uint32_t thread; /* index into the trace's threads */
	uint32_t owner;  /* owners_open sets this index */
	uint32_t op; /* owners_open sets this reference (ref.h) to the innermost operator's span */
};

struct hwy_owners {
	struct hwy_trace *trace;
	struct hwy_owner *owners; /* owners[0] is work whose call was not recorded */
	struct owner_link *chain;
	struct owner_module *modules;
	struct owner_line *lines;
	struct owner_module_call *module_calls;
	uint32_t n_module_calls, cap_module_calls;
	uint32_t n_owners, n_chain, n_modules, n_lines;
	struct hwy_strings texts;
	/* By strip of the trace, for strips of device work, calls and operators, and NULL for
	 * others: of each row the index of its owner, and a reference (ref.h) to the span of the
	 * innermost operator. An operator owns itself; its reference is to the operator around
	 * it. */
	uint32_t **owner_of, **op_of;
	/* The rest is for owners_*.c. */
	uint32_t cap_owners, cap_chain, cap_modules, cap_lines;
	struct hwy_index by_owner, by_link, by_module, by_line;
};

/* Finds the owners of all device work, calls and operators, and of the given moments. */
bool owners_open(struct hwy_owners *owners, struct hwy_trace *trace, struct owner_moment *moments,
		 uint32_t n_moments, struct hwy_err *err);
void owners_close(struct hwy_owners *owners);

/* The owner of a span of device work, of a call or of an operator. */
static inline const struct hwy_owner *owners_of(const struct hwy_owners *owners,
						const struct hwy_strip *strip, uint32_t row)
{
	const uint32_t *of = owners->owner_of[strip - owners->trace->strips];
	return &owners->owners[of ? of[row] : 0];
}
const struct hwy_owner *owners_of_span(const struct hwy_owners *owners, uint32_t span);

static inline const char *owners_text(const struct hwy_owners *owners, uint32_t text)
{
	return owners->texts.texts[text].at;
}
/* Writes the path of a module: "GPT.blocks.3.attn"; "" for 0. Cuts what does not fit. */
void owners_module_path(const struct hwy_owners *owners, uint32_t module, char *into, size_t size);
/* owners_module_path without numbers, so that all layers have one name: "GPT.blocks.*.attn", of
 * Kineto's modules "Block.Linear". */
void owners_module_label(const struct hwy_owners *owners, uint32_t module, char *into, size_t size);
/* Writes a line as people write it: "train.py:16 step()", with the last part of the file's path;
 * "" for 0. */
void owners_line_text(const struct hwy_owners *owners, uint32_t line, char *into, size_t size);
/* The outermost operator of a chain, the one that the program called; 0 where the chain has
 * none. */
uint32_t owners_outermost_op(const struct hwy_owners *owners, uint32_t chain);
/* The innermost scope around a chain's innermost operator, as a link; 0 where there is none. */
uint32_t owners_scope(const struct hwy_owners *owners, uint32_t chain);

#endif
