/* SPDX-License-Identifier: Apache-2.0 */
/* find_messages.c - see find_messages.h.
 *
 * Names of spans are judged once per text. Scopes (spans that tell of an exchange) are sorted by
 * what they are, thread and start, so that those around a call are found by a search; kernels
 * are looked at in order of their start. Texts are added to the trace only after all names are
 * judged.
 */
#include "trace/find_messages.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/search.h"
#include "trace/message_fill.h"

enum scope_type {
	SCOPE_NONE,
	SCOPE_DEVICE, /* "nccl:all_reduce", NCCL's "ncclAllReduce": asks for work of a device */
	SCOPE_HOST,   /* "gloo:all_reduce": is the exchange */
	SCOPE_PARAMS, /* "record_param_comms" */
	SCOPE_C10D,   /* "c10d::allreduce_" */
	SCOPE_THUNK,  /* XLA's "Thunk:#hlo_op=all-reduce.1#" */
	SCOPE_TYPES
};
enum library { LIBRARY_NONE, LIBRARY_NCCL, LIBRARY_GLOO, LIBRARY_MPI, LIBRARY_UCC, LIBRARIES };
static const char *const library_names[] = {NULL, "NCCL", "gloo", "MPI", "UCC"};

/* Of a text that is the name of spans. */
struct judged_name {
	bool is_judged, is_comm_kernel;
	uint8_t scope, library; /* enum scope_type, enum library */
	const struct hwy_exchange *operation;
};

struct scope {
	uint8_t type;
	uint32_t thread;
	int64_t start, end;
	uint32_t span;
	int64_t name, args; /* texts */
	uint32_t process;
};

struct comm_kernel {
	uint32_t span, process, lane;
	int64_t start, end, name, args;
	uint32_t call; /* hwy_ref32 of the call that launched it */
	bool is_of_graph;
};

struct finding {
	struct hwy_trace *trace;
	struct hwy_arena arena; /* texts of one message */
	struct judged_name *names;
	uint32_t n_names;
	struct scope *scopes;
	uint32_t n_scopes, cap_scopes;
	struct comm_kernel *kernels;
	uint32_t n_kernels, cap_kernels;
	uint8_t *told;           /* by process: bits of the libraries that have messages */
	struct hwy_map shown;    /* a set: the spans that these messages stand for */
	struct hwy_map by_scope; /* span of a scope -> index of its message */
	struct hwy_map
		asked;  /* span of a scope that is an exchange -> index of the scope that asked */
	uint32_t first; /* the first message that is ours */
};

/* ---- names ----------------------------------------------------------------------------------- */

static bool starts(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

static void judge_thunk(struct judged_name *name, const char *text)
{
	const char *op = strstr(text, "hlo_op=");
	if (!op)
		return;
	op += strlen("hlo_op=");
	name->operation = hwy_exchange_of(op, strcspn(op, "#,"));
	name->scope = name->operation ? SCOPE_THUNK : SCOPE_NONE;
}

static void judge_scope(struct judged_name *name, const char *text)
{
	static const struct {
		const char *start;
		enum scope_type scope;
		enum library library;
	} starts_of[] = {
		{"nccl:", SCOPE_DEVICE, LIBRARY_NCCL},   {"rccl:", SCOPE_DEVICE, LIBRARY_NCCL},
		{"gloo:", SCOPE_HOST, LIBRARY_GLOO},     {"mpi:", SCOPE_HOST, LIBRARY_MPI},
		{"ucc:", SCOPE_HOST, LIBRARY_UCC},       {"c10d::", SCOPE_C10D, LIBRARY_NONE},
		{"ncclGroup", SCOPE_NONE, LIBRARY_NONE}, {"nccl", SCOPE_DEVICE, LIBRARY_NCCL},
	};
	if (strcmp(text, "record_param_comms") == 0)
		name->scope = SCOPE_PARAMS;
	else if (starts(text, "Thunk:#"))
		judge_thunk(name, text);
	for (size_t i = 0; i < sizeof starts_of / sizeof *starts_of; i++) {
		if (!starts(text, starts_of[i].start))
			continue;
		const char *rest = text + strlen(starts_of[i].start);
		name->operation = hwy_exchange_of(rest, strlen(rest));
		name->library = (uint8_t)starts_of[i].library;
		/* "nccl:coalesced" is a scope of which the operation is not known. */
		bool is_scope = name->operation || strchr(text, ':');
		name->scope = (uint8_t)(is_scope ? starts_of[i].scope : SCOPE_NONE);
		return;
	}
}

static const struct judged_name *judge(struct finding *f, int64_t text, enum hwy_kind kind)
{
	static const struct judged_name none = {0};
	if (text <= 0 || text >= f->n_names)
		return &none;
	struct judged_name *name = &f->names[text];
	if (name->is_judged)
		return name;
	name->is_judged = true;
	const char *at = hwy_str(f->trace, text);
	if (kind != HWY_KERNEL)
		judge_scope(name, at);
	else if ((name->is_comm_kernel = hwy_name_is_comm(at)))
		name->operation = hwy_exchange_of_kernel(at);
	return name;
}

/* ---- spans ----------------------------------------------------------------------------------- */

static void list_scopes(struct finding *f, const struct hwy_strip *strip)
{
	const struct hwy_lane *lane = &f->trace->lanes[strip->lane];
	bool is_thread = lane->type == HWY_LANE_OP || lane->type == HWY_LANE_RANGE ||
			 hwy_lane_is_library(f->trace, strip->lane);
	if (lane->process == HWY_NONE || !(is_thread || lane->type == HWY_LANE_STARTEND))
		return;
	for (uint32_t row = 0; row < strip->rows; row++) {
		const struct judged_name *name =
			judge(f, hwy_get(strip, HWY_NAME, row), (enum hwy_kind)strip->kind);
		if (name->scope == SCOPE_NONE || hwy_get(strip, HWY_FLAGS, row) & HWY_FLAG_MARK)
			continue;
		HWY_GROW(f->scopes, f->n_scopes, f->cap_scopes);
		f->scopes[f->n_scopes++] = (struct scope){
			.type = name->scope,
			.thread = lane->thread == HWY_NONE ? UINT32_MAX : (uint32_t)lane->thread,
			.start = hwy_get(strip, HWY_START, row),
			.end = hwy_end(strip, row),
			.span = strip->first + row,
			.name = hwy_get(strip, HWY_NAME, row),
			.args = hwy_get(strip, HWY_ARGS, row),
			.process = (uint32_t)lane->process,
		};
	}
}

static void list_kernels(struct finding *f, const struct hwy_strip *strip)
{
	const struct hwy_lane *lane = &f->trace->lanes[strip->lane];
	if (lane->process == HWY_NONE)
		return;
	for (uint32_t row = 0; row < strip->rows; row++) {
		int64_t name = hwy_get(strip, HWY_NAME, row);
		uint32_t call;
		if (!judge(f, name, HWY_KERNEL)->is_comm_kernel)
			continue;
		HWY_GROW(f->kernels, f->n_kernels, f->cap_kernels);
		f->kernels[f->n_kernels++] = (struct comm_kernel){
			.span = strip->first + row,
			.process = (uint32_t)lane->process,
			.lane = strip->lane,
			.start = hwy_get(strip, HWY_START, row),
			.end = hwy_end(strip, row),
			.name = name,
			.args = hwy_get(strip, HWY_ARGS, row),
			.call = hwy_get_index(strip, HWY_LINK, row, &call) ? hwy_ref32(call)
									   : HWY_REF_NONE,
			.is_of_graph = hwy_get(strip, HWY_GRAPH_NODE, row) != 0,
		};
	}
}

static int by_type_and_start(const void *left, const void *right)
{
	const struct scope *a = left, *b = right;
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	/* Of scopes that begin together, the inner one stands last. */
	return a->end != b->end ? (a->end > b->end ? -1 : 1)
				: (a->span > b->span) - (a->span < b->span);
}

static int by_kernel_start(const void *left, const void *right)
{
	const struct comm_kernel *a = left, *b = right;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->span > b->span) - (a->span < b->span);
}

/* Yields the innermost scope of a type around a moment of a thread, or NULL. */
static const struct scope *scope_around(const struct finding *f, enum scope_type type,
					uint32_t thread, int64_t time)
{
	enum {
		MOST_BACK = 64
	}; /* scopes that ended stand between a moment and the scope around it */
	struct scope key = {.type = (uint8_t)type,
			    .thread = thread,
			    .start = time,
			    .end = INT64_MIN,
			    .span = UINT32_MAX};
	uint32_t from = HWY_FIRST(i, 0u, f->n_scopes, by_type_and_start(&f->scopes[i], &key) > 0);
	for (uint32_t i = from; i-- > 0 && from - i <= MOST_BACK;) {
		const struct scope *scope = &f->scopes[i];
		if (scope->type != type || scope->thread != thread)
			return NULL;
		if (scope->end >= time)
			return scope;
	}
	return NULL;
}

/* ---- what is known of one exchange ----------------------------------------------------------- */

struct told { /* each may be NULL */
	const struct scope *scope, *params, *c10d;
};

static struct told scopes_around(const struct finding *f, uint32_t thread, int64_t time)
{
	struct told told = {
		.scope = scope_around(f, SCOPE_DEVICE, thread, time),
		.params = scope_around(f, SCOPE_PARAMS, thread, time),
		.c10d = scope_around(f, SCOPE_C10D, thread, time),
	};
	if (!told.scope)
		told.scope = scope_around(f, SCOPE_THUNK, thread, time);
	return told;
}

static void take_missing(struct collective_args *to, const struct collective_args *from)
{
	int64_t *const numbers[] = {&to->in,         &to->out,        &to->rank, &to->sequence,
				    &to->world_peer, &to->group_size, &to->bytes};
	const int64_t others[] = {from->in,         from->out,        from->rank, from->sequence,
				  from->world_peer, from->group_size, from->bytes};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (*numbers[i] == HWY_NONE)
			*numbers[i] = others[i];
	to->operation = to->operation ? to->operation : from->operation;
	to->datatype = to->datatype ? to->datatype : from->datatype;
	to->group = to->group ? to->group : from->group;
	to->description = to->description ? to->description : from->description;
	to->ranks = to->ranks ? to->ranks : from->ranks;
}

/* c10d's operators with one tensor for each direction take the output first: [output, input]. */
static void take_tensors(struct collective_args *to, const struct collective_args *scope,
			 const struct collective_args *c10d)
{
	const struct hwy_datatype *type =
		scope->tensor_type ? scope->tensor_type : c10d->tensor_type;
	if (to->datatype || !type)
		return;
	to->datatype = type;
	if (to->in == HWY_NONE)
		to->in = scope->tensors[0] != HWY_NONE ? scope->tensors[0] : c10d->tensors[1];
	if (to->out == HWY_NONE && c10d->tensors[1] != HWY_NONE)
		to->out = c10d->tensors[0];
}

/* Everything that is told about an exchange; the nearer to the work, the more it counts. */
static void gather_args(struct finding *f, struct collective_args *args, int64_t own,
			const struct told *told)
{
	struct collective_args more, scope, c10d;
	struct hwy_trace *trace = f->trace;
	collective_args_read(args, &f->arena, hwy_text(trace, own));
	if (told->params &&
	    collective_args_read(&more, &f->arena, hwy_text(trace, told->params->args)))
		take_missing(args, &more);
	collective_args_read(&scope, &f->arena,
			     hwy_text(trace, told->scope ? told->scope->args : 0));
	collective_args_read(&c10d, &f->arena, hwy_text(trace, told->c10d ? told->c10d->args : 0));
	take_missing(args, &scope);
	take_tensors(args, &scope, &c10d);
	if (!args->operation && told->scope)
		args->operation = judge(f, told->scope->name, HWY_RANGE)->operation;
	if (!args->operation && told->c10d)
		args->operation = judge(f, told->c10d->name, HWY_RANGE)->operation;
}

/* ---- messages -------------------------------------------------------------------------------- */

static struct hwy_message *add_message(struct finding *f)
{
	struct hwy_trace *trace = f->trace;
	HWY_GROW(trace->messages, trace->n_messages, trace->cap_messages);
	struct hwy_message *m = &trace->messages[trace->n_messages++];
	int64_t *fields = (int64_t *)(void *)m;
	for (size_t i = 0; i < sizeof *m / sizeof *fields; i++)
		fields[i] = HWY_NONE;
	return m;
}

/* The library of a kernel. RCCL's kernels have NCCL's names; AMD's GPUs have warps of 64. */
static const char *library_of_kernel(const struct finding *f, const struct comm_kernel *kernel)
{
	enum { AMD_WARP_THREADS = 64 };
	const struct hwy_trace *trace = f->trace;
	const char *name = hwy_str(trace, kernel->name);
	int64_t device = trace->lanes[kernel->lane].device;
	if (strcasestr(name, "nvshmem"))
		return "NVSHMEM";
	if (!strcasestr(name, "nccl") && !strcasestr(name, "rccl"))
		return NULL;
	bool is_amd = device != HWY_NONE &&
		      (trace->devices[device].threads_per_warp == AMD_WARP_THREADS ||
		       strstr(hwy_str(trace, trace->devices[device].name), "AMD"));
	return is_amd ? "RCCL" : "NCCL";
}

/* Whether the kernel is a further one of a scope that has its message; the message then lasts as
 * long as its kernels. */
static bool joins_message(struct finding *f, const struct scope *scope,
			  const struct comm_kernel *kernel)
{
	bool fresh;
	if (!scope)
		return false;
	uint32_t *index = hwy_map_put(&f->by_scope, scope->span, &fresh);
	if (fresh) {
		*index = f->trace->n_messages;
		return false;
	}
	struct hwy_message *m = &f->trace->messages[*index];
	m->end = kernel->end > m->end ? kernel->end : m->end;
	return true;
}

static void add_kernel_message(struct finding *f, const struct comm_kernel *kernel)
{
	struct hwy_trace *trace = f->trace;
	struct told told = {0};
	int64_t posted = HWY_NONE, asked = HWY_NONE;
	if (hwy_ref32_is_set(kernel->call)) {
		uint32_t row;
		const struct hwy_strip *strip =
			hwy_strip_of(trace, hwy_ref32_index(kernel->call), &row);
		int64_t thread = trace->lanes[strip->lane].thread;
		posted = hwy_get(strip, HWY_START, row);
		asked = hwy_ref32_index(kernel->call);
		if (thread != HWY_NONE)
			told = scopes_around(f, (uint32_t)thread, posted);
	}
	const struct scope *nearest = told.scope    ? told.scope
				      : told.params ? told.params
						    : told.c10d;
	const char *library = library_of_kernel(f, kernel);
	bool is_nccl = library && strcmp(library, "NVSHMEM") != 0;
	/* NCCL tells its plugin nothing of what graphs run, unless it needs the network. */
	if (is_nccl && f->told[kernel->process] & 1u << LIBRARY_NCCL &&
	    (!kernel->is_of_graph || (f->shown.count && hwy_map_get(&f->shown, kernel->span))))
		return;
	struct collective_args args;
	gather_args(f, &args, kernel->args, &told);
	const struct hwy_exchange *operation =
		args.operation ? args.operation : judge(f, kernel->name, HWY_KERNEL)->operation;
	if (!operation && is_nccl)
		operation = &hwy_exchange_unknown;
	if (!operation || joins_message(f, nearest, kernel))
		return;
	struct hwy_message *m = add_message(f);
	m->span = kernel->span;
	m->process = kernel->process;
	m->asked = nearest ? nearest->span : asked;
	m->posted = nearest ? nearest->start : posted;
	m->start = kernel->start;
	m->end = kernel->end;
	message_fill(trace, m, &args, operation, library);
}

struct asking { /* a scope that is an exchange, or an operator that asks for one */
	const struct hwy_exchange *operation;
	const struct scope *scope;
};

static int by_operation_and_start(const void *left, const void *right)
{
	const struct asking *a = left, *b = right;
	const struct scope *x = a->scope, *y = b->scope;
	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (a->operation != b->operation)
		return (uintptr_t)a->operation < (uintptr_t)b->operation ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->span > y->span) - (x->span < y->span);
}

static bool is_same_operation(const struct asking *a, const struct asking *b)
{
	return a->operation == b->operation && a->scope->process == b->scope->process;
}

/* Pairs the scopes [h, h_end) with the operators [o, o_end), which are of one operation and
 * process, if they can be pairs. */
static void pair_asked(struct finding *f, const struct asking *h, const struct asking *h_end,
		       const struct asking *o, const struct asking *o_end)
{
	bool is_order = h_end - h == o_end - o;
	for (ptrdiff_t i = 0; is_order && i < h_end - h; i++)
		is_order = o[i].scope->start <= h[i].scope->start;
	for (ptrdiff_t i = 0; is_order && i < h_end - h; i++)
		*hwy_map_put(&f->asked, h[i].scope->span, NULL) =
			(uint32_t)(o[i].scope - f->scopes);
}

/* Finds which operator asked for an exchange that a thread of the library carried out. These
 * threads take exchanges in the order in which they were asked for, so the n-th scope of an
 * operation belongs to its n-th operator, where there are as many. */
static void find_asked(struct finding *f)
{
	struct asking *list = hwy_array(f->n_scopes, sizeof *list);
	uint32_t n = 0, n_hosts = 0;
	for (uint32_t i = 0; i < f->n_scopes; i++) {
		const struct scope *scope = &f->scopes[i];
		const struct hwy_exchange *operation = judge(f, scope->name, HWY_RANGE)->operation;
		if (operation && (scope->type == SCOPE_HOST || scope->type == SCOPE_C10D))
			list[n++] = (struct asking){operation, scope};
		n_hosts += operation && scope->type == SCOPE_HOST;
	}
	if (n_hosts > 0)
		qsort(list, n, sizeof *list, by_operation_and_start);
	const struct asking *end = list + n;
	for (const struct asking *h = list, *next; h < list + n_hosts; h = next) {
		for (next = h; next < list + n_hosts && is_same_operation(next, h);)
			next++;
		const struct asking *o = list + n_hosts;
		for (; o < end && !is_same_operation(o, h);)
			o++;
		const struct asking *o_end = o;
		while (o_end < end && is_same_operation(o_end, h))
			o_end++;
		pair_asked(f, h, next, o, o_end);
	}
	free(list);
}

static void add_scope_message(struct finding *f, const struct scope *scope)
{
	const struct judged_name *name = judge(f, scope->name, HWY_RANGE);
	struct collective_args args;
	/* The operator that asks is still running when the scope begins. */
	struct told told = {
		.scope = scope,
		.params = scope_around(f, SCOPE_PARAMS, scope->thread, scope->start),
		.c10d = scope_around(f, SCOPE_C10D, scope->thread, scope->start),
	};
	const uint32_t *asked = hwy_map_get(&f->asked, scope->span);
	if (!told.c10d && asked)
		told.c10d = &f->scopes[*asked];
	if (f->told[scope->process] & 1u << name->library)
		return;
	gather_args(f, &args, 0, &told);
	struct hwy_message *m = add_message(f);
	m->span = scope->span;
	m->process = scope->process;
	m->start = scope->start;
	m->end = scope->end;
	m->posted = told.c10d ? told.c10d->start : scope->start;
	m->asked = told.c10d ? told.c10d->span : HWY_NONE;
	message_fill(f->trace, m, &args, args.operation ? args.operation : &hwy_exchange_unknown,
		     library_names[name->library]);
}

/* ---- all ------------------------------------------------------------------------------------- */

static void note_told(struct finding *f)
{
	const struct hwy_trace *trace = f->trace;
	f->told = hwy_zarray(trace->n_processes, 1);
	for (uint32_t i = 0; i < trace->n_messages; i++) {
		const struct hwy_message *m = &trace->messages[i];
		const char *name = hwy_str(trace, m->library);
		if (m->process == HWY_NONE)
			continue;
		if (m->span != HWY_NONE)
			hwy_map_put(&f->shown, (uint64_t)m->span, NULL);
		for (int k = LIBRARY_NCCL; k < LIBRARIES; k++)
			if (strcmp(name, library_names[k]) == 0 ||
			    (k == LIBRARY_NCCL && strcmp(name, "RCCL") == 0))
				f->told[m->process] |= (uint8_t)(1u << k);
	}
}

static void list_spans(struct finding *f)
{
	const struct hwy_trace *trace = f->trace;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (strip->kind == HWY_KERNEL)
			list_kernels(f, strip);
		else if (strip->kind == HWY_OP || strip->kind == HWY_RANGE ||
			 strip->kind == HWY_CALL)
			list_scopes(f, strip);
	}
	if (f->n_scopes > 0)
		qsort(f->scopes, f->n_scopes, sizeof *f->scopes, by_type_and_start);
	if (f->n_kernels > 0)
		qsort(f->kernels, f->n_kernels, sizeof *f->kernels, by_kernel_start);
}

void hwy_find_messages(struct hwy_trace *trace)
{
	struct finding f = {
		.trace = trace, .n_names = trace->strings.n, .first = trace->n_messages};
	f.names = hwy_zarray(f.n_names, sizeof *f.names);
	note_told(&f);
	list_spans(&f);
	for (uint32_t i = 0; i < f.n_kernels; i++) {
		add_kernel_message(&f, &f.kernels[i]);
		hwy_arena_free(&f.arena);
	}
	find_asked(&f);
	for (uint32_t i = 0; i < f.n_scopes; i++) {
		if (f.scopes[i].type == SCOPE_HOST)
			add_scope_message(&f, &f.scopes[i]);
		hwy_arena_free(&f.arena);
	}
	message_number_collectives(trace, f.first);
	hwy_map_free(&f.by_scope);
	hwy_map_free(&f.asked);
	hwy_map_free(&f.shown);
	free(f.names);
	free(f.scopes);
	free(f.kernels);
	free(f.told);
}
