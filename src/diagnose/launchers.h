/* SPDX-License-Identifier: Apache-2.0 */
/* launchers.h - who launches the kernels of a phase: optimizers, modules of the model, scopes
 * and operators, by their numbers of launches in the steady steps. For src/diagnose only.
 *
 * Only kernels that are launched one by one count: a CUDA graph is one launch, whoever captured
 * its nodes. Everything here needs recorded operators (hwy_case.owners); without them there is
 * nothing to find.
 */
#ifndef HWY_DIAGNOSE_LAUNCHERS_H
#define HWY_DIAGNOSE_LAUNCHERS_H

#include "diagnose/case.h"

struct launcher { /* the kernels of one owner in the steady steps */
	uint64_t n;
	uint64_t pointwise; /* how many of the n are element-wise kernels, which a compiler fuses */
	int64_t ns;
};

enum launcher_kind {
	LAUNCHER_MODULE,
	LAUNCHER_SCOPE,    /* also optimizers */
	LAUNCHER_BACKWARD, /* the backward pass of work without a known module */
	LAUNCHER_OPERATOR,
};
/* the kernels of a module and of all modules in it, of a scope, or of an operator */
struct launcher_group {
	/* The path of a module with "*" for every number, "GPT.blocks.*"; of modules that Kineto
	 * recorded their classes, "GPT.Block". */
	const char *name;
	enum launcher_kind kind;
	/* of modules: a reference (ref.h) to the group of the module around this one */
	uint32_t outer;
	bool is_classes; /* the name has classes of modules, not names of attributes */
	uint64_t n, pointwise;
	uint64_t backward; /* how many of the n belong to a backward pass */
};

struct launchers {
	struct launcher *by_owner; /* parallel to the owners' records */
	uint64_t n;                /* kernels of the steady steps that are launched one by one */
	struct launcher_group *groups;
	uint32_t n_groups, cap_groups;
	struct hwy_index by_name;
	/* launchers_sentence has said it: a second finding of the phase does not repeat it. */
	bool is_said;
	uint32_t *group_of_module; /* by index of the owners' modules: a reference to its group */
};

/* Yields who launches in the case's phase; NULL where the recording has no operators. The result
 * belongs to the case. */
const struct launchers *launchers_find(struct hwy_case *c);
void launchers_free(struct launchers *launchers);

/* The innermost link of a chain whose name begins with 'lead'; 0 where there is none. */
uint32_t launchers_link(const struct hwy_owners *owners, uint32_t chain, const char *lead);
/* Whether an op is a kernel that was launched by itself, not as part of a graph. */
bool launchers_is_single(const struct hwy_case *c, uint32_t op);
/* Writes a module's path without its numbers: "GPT.blocks.*.attn" for "GPT.blocks.3.attn",
 * "GPT.Block" for Kineto's "GPT_0.Block_3". Cuts what does not fit. */
void launchers_fold_path(const char *path, char *into, size_t size);

/* A sentence about who launches most, with a blank before it: " Of 1,204 kernels a step
 * Optimizer.step#Adam.step launches 840, GPT.blocks.* 250."; "" where that is not known, nobody
 * stands out, or it was said before. In the diagnosis' arena. */
const char *launchers_sentence(struct hwy_case *c);
/* Two lines of advice, with a line feed before them: which module to compile first; "" where no
 * module stands out. */
const char *launchers_compile_advice(struct hwy_case *c);

#endif
