/* SPDX-License-Identifier: Apache-2.0 */
/* torch.c - the operators of PyTorch: libtorch calls us at the beginning and at the end of each.
 *
 * libtorch has an interface for observers, at::addGlobalCallback(RecordFunctionCallback), which
 * its own profiler uses too. It is C++, but what crosses it is plain: a struct of two function
 * pointers and some flags, and a pointer to an at::RecordFunction, whose name libtorch's own
 * function yields. The functions are found by their symbols.
 *
 * What is not exported is where a RecordFunction keeps its sequence number and its scope.
 * torch_try finds out on an object of our own: it is made, begun and ended by libtorch's
 * functions with values that we know, and these values are looked for in it. The same try shows
 * that the callbacks are called as we think they are. A libtorch that does not pass is left
 * alone, and the report says so. So no list of versions is needed; it was seen to pass in
 * PyTorch 1.13 and 2.11.
 *
 * An operator is one record, written at its end: what a thread has begun is kept in the thread.
 * A record_function of Python may end on another thread than it began on, or after one that it
 * is inside of: its beginning is then forgotten, and a note says so. Libraries that communicate
 * on threads of their own (gloo) begin a scope on the thread that asks and end it on theirs:
 * such scopes are known by their names, and kept in a table of the process. With '-t nccl' and
 * without '-t pytorch' only these are recorded: libtorch then calls us for scopes, and for no
 * operator.
 */
#include "collect/torch/torch.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "collect/collect.h"
#include "collect/decimal.h"
#include "collect/late.h"
#include "collect/process.h"
#include "collect/python/stack_ids.h"
#include "collect/spool.h"
#include "collect/sys.h"
#include "collect/torch/torch_exchanges.h"
#include "collect/torch/torch_inputs.h"
#include "spool/record_frameworks.h"

/* at::RecordFunctionCallback of PyTorch 1.10 to 2.11: passed by value, on the stack. What
 * libtorch does not know of our struct it does not read; fields of a later version that we do
 * not know are 0. */
struct torch_callback {
	void **(*start)(void **context, const void *function);
	void (*end)(const void *function, void *context);
	double probability; /* of a call being observed */
	bool scopes[10];    /* by at::RecordScope: whether its functions are observed */
	bool needs_inputs, needs_outputs, needs_ids;
	char later[88];
};
static_assert(offsetof(struct torch_callback, needs_ids) == 36, "as in at::RecordFunctionCallback");

/* The sources that need libtorch. */
enum { TORCH_TRACES = REC_TRACE_PYTORCH | REC_TRACE_NCCL };

enum torch_scope { SCOPE_FUNCTION = 0, SCOPE_BACKWARD = 1, SCOPE_TORCHSCRIPT = 2, SCOPE_USER = 7 };

/* std::variant<std::string_view, …> as PyTorch from 2.6 on takes the name of a function. */
struct torch_text {
	size_t length;
	const char *text;
	uint64_t alternative;
};

enum torch_stage {
	TORCH_NONE,   /* there is no libtorch */
	TORCH_FOUND,  /* libtorch is loaded */
	TORCH_TRYING, /* one thread tries libtorch out */
	TORCH_ON,     /* operators are recorded */
	TORCH_REFUSED /* this libtorch cannot be observed */
};
static _Atomic int stage;
static struct late_object
	library; /* libtorch; written before 'stage' is TORCH_FOUND, then by late steps */

static struct {
	uint64_t (*add)(struct torch_callback callback);
	void (*remove)(uint64_t handle);
	bool (*is_observed)(void); /* NULL: not known */
	const char *(*name)(const void *function);
	/* construct, begin, destroy: the constructor of at::RecordFunction, its function
	 * 'before' in one of two shapes, and its destructor, which ends it. */
	void (*construct)(void *function, uint8_t scope);
	void (*begin_z)(void *function, const char *name, int64_t sequence);
	void (*begin_text)(void *function, struct torch_text name, int64_t sequence);
	void (*destroy)(void *function);
	/* Offsets in bytes in an at::RecordFunction. */
	unsigned sequence_at, scope_at;
} torch;

/* ---- operators ------------------------------------------------------------------------------ */

enum { MOST_OPEN = 256, NAMES = 64, MOST_NAME = 52 };

struct open_operator {
	const void *function; /* address of the at::RecordFunction */
	int64_t start;
	uint32_t name, sequence, place;
	uint32_t inputs; /* text id of their shapes and types; 0: not recorded */
	uint8_t scope;
	struct place_mark mark; /* where Python was */
};

/* The text id of an operator's name, found again by the name's address: the names of operators
 * stay where they are, those of scopes do not. One line of the CPU's cache. */
struct known_name {
	const char *at;
	uint32_t id;
	char text[MOST_NAME];
};
static_assert(sizeof(struct known_name) == 64, "one line of the cache");

/* What a thread has begun. It belongs to the thread's spool, which a forked child does not
 * share. */
struct operators {
	struct known_name names[NAMES];
	uint32_t generation; /* process.generation that the names are defined in */
	uint32_t depth;
	bool is_measured; /* the operators are our own, and are not to be kept */
	struct open_operator open[MOST_OPEN];
};

static struct operators *operators_own(void)
{
	struct spool *spool = spool_own();
	if (spool && !spool->operators && !process.sealed)
		spool->operators = sys_memory(sizeof *spool->operators);
	struct operators *own = spool ? spool->operators : NULL;
	if (own && own->generation != spool->generation) {
		/* Another run: the names are not defined in it, and what is open began before
		 * it. */
		memset(own->names, 0, sizeof own->names);
		own->depth = 0;
		own->generation = spool->generation;
	}
	return own;
}

void torch_forget(struct spool *spool)
{
	if (spool->operators)
		sys_unmap(spool->operators, sizeof *spool->operators);
	spool->operators = NULL;
}

static struct { /* what the callbacks saw while libtorch is tried out */
	_Atomic uint32_t tid;
	const void *function;
	bool began, ended;
} trial;

static bool needs_inputs; /* shapes and types of inputs are recorded */

static uint32_t sequence_of(const void *function)
{
	int64_t number;
	memcpy(&number, (const char *)function + torch.sequence_at, sizeof number);
	return number >= 0 ? (uint32_t)number : UINT32_MAX;
}

static uint32_t name_id(struct operators *own, const char *name)
{
	if (!name)
		return 0;
	struct known_name *known =
		&own->names[(uintptr_t)name * UINT64_C(0x9e3779b97f4a7c15) >> 58];
	if (known->at == name && strcmp(known->text, name) == 0)
		return known->id;
	size_t length = strlen(name);
	uint32_t id = collect_string(name, length);
	if (id && length < MOST_NAME) {
		known->at = name;
		known->id = id;
		memcpy(known->text, name, length + 1);
	}
	return id;
}

/* Keeps a scope that may end on another thread; false: it is none. */
static bool exchange_begin(struct operators *own, const void *function)
{
	if (!own || ((const uint8_t *)function)[torch.scope_at] != SCOPE_USER)
		return false;
	const char *name = torch.name(function);
	if (!name || !torch_exchanges_has_name(name))
		return false;
	struct place_mark mark;
	torch_exchanges_begin(function,
			      &(struct torch_exchange){
				      .name = name_id(own, name),
				      .inputs = needs_inputs ? torch_inputs_text(function) : 0,
				      .place = place_here_unless(NULL, &mark),
				      .tid = collect_tid(),
				      .start = collect_now(),
			      });
	return true;
}

static void operator_begin(const void *function)
{
	struct operators *own = operators_own();
	if (!own || exchange_begin(own, function))
		return;
	if (own->depth == MOST_OPEN) {
		/* The older half is forgotten: most of a full list ended on other threads. */
		own->depth = MOST_OPEN / 2;
		memcpy(own->open, own->open + MOST_OPEN / 2, own->depth * sizeof *own->open);
	}
	struct open_operator *now = &own->open[own->depth];
	/* An operator that another one calls has the same place. A scope of record_function is
	 * no call: the function that began it has ended, and the frame of the same function that
	 * begins the next scope may be at the same address. */
	bool is_inside = own->depth && now[-1].scope != SCOPE_USER;
	now->function = function;
	now->name = name_id(own, torch.name(function));
	now->sequence = sequence_of(function);
	now->inputs = needs_inputs ? torch_inputs_text(function) : 0;
	now->scope = ((const uint8_t *)function)[torch.scope_at];
	now->place = place_here_unless(is_inside ? &now[-1].mark : NULL, &now->mark);
	own->depth++;
	now->start = collect_now(); /* last: an operator's time does not have ours in it */
}

/* Says once that scopes are lacking: those in the list from 'first' on are forgotten. */
static void note_forgotten_scopes(const struct operators *own, uint32_t first)
{
	static atomic_flag is_told = ATOMIC_FLAG_INIT;
	for (uint32_t i = first; i < own->depth; i++)
		if (own->open[i].scope == SCOPE_USER && !atomic_flag_test_and_set(&is_told))
			collect_note(
				1,
				"some scopes of record_function are not recorded: those that end "
				"on another thread, or after a scope that they began in");
}

/* Takes an operator, and those that it is around, off the thread's list; NULL: it did not begin
 * on this thread. */
static const struct open_operator *operator_take(struct operators *own, const void *function)
{
	for (uint32_t i = own->depth; i-- > 0;)
		if (own->open[i].function == function) {
			if (__builtin_expect(i + 1 < own->depth, 0))
				note_forgotten_scopes(own, i + 1);
			own->depth = i;
			return &own->open[i];
		}
	return NULL;
}

static void exchange_end(const void *function, int64_t now)
{
	struct torch_exchange began;
	if (!torch_exchanges_take(function, &began))
		return;
	struct rec_operator_inputs *record = collect_reserve(REC_OPERATOR, 2);
	if (!record)
		return;
	record->inputs = began.inputs;
	record->thread = began.tid;
	record->operator.head.value = began.name;
	record->operator.head.flags = SCOPE_USER;
	record->operator.start = began.start;
	record->operator.duration = now - began.start;
	record->operator.sequence = UINT32_MAX;
	record->operator.place = began.place;
	collect_publish(record);
}

static void operator_end(const void *function)
{
	int64_t now = collect_now();
	struct operators *own = operators_own();
	const struct open_operator *open = own ? operator_take(own, function) : NULL;
	if (!open && own)
		exchange_end(function, now);
	if (!open)
		return;
	struct rec_operator *record = collect_reserve(REC_OPERATOR, open->inputs ? 2 : 1);
	if (!record)
		return;
	if (open->inputs)
		((struct rec_operator_inputs *)record)->inputs = open->inputs;
	record->head.value = open->name;
	record->head.flags = open->scope;
	record->start = open->start;
	record->duration = now - open->start;
	record->sequence = open->sequence;
	record->place = open->place;
	collect_publish(record);
	if (own->is_measured)
		spool_withdraw(&record->head);
}

/* ---- libtorch's calls ------------------------------------------------------------------------ */

static bool is_trial(const void *function)
{
	return atomic_load_explicit(&stage, memory_order_acquire) == TORCH_TRYING &&
	       function == trial.function && atomic_load(&trial.tid) == collect_tid();
}

/* Returns a std::unique_ptr<ObserverContext>: the caller passes its address first, and expects
 * it back. */
static void **torch_on_start(void **context, const void *function)
{
	int saved = errno;
	*context = NULL;
	if (atomic_load_explicit(&stage, memory_order_acquire) == TORCH_ON) {
		if (collect_is_on(REC_TRACE_PYTORCH))
			operator_begin(function);
		else if (collect_is_on(REC_TRACE_NCCL))
			exchange_begin(operators_own(), function);
	} else if (is_trial(function)) {
		trial.began = true;
	}
	errno = saved;
	return context;
}

static void torch_on_end(const void *function, void *context)
{
	(void)context;
	int saved = errno;
	if (atomic_load_explicit(&stage, memory_order_acquire) == TORCH_ON) {
		operator_end(function);
	} else if (is_trial(function)) {
		trial.ended = true;
	}
	errno = saved;
}

/* ---- trying libtorch out --------------------------------------------------------------------- */

/* SEQUENCE: a number that is found nowhere in the object by chance. OBJECT: more bytes than an
 * at::RecordFunction has; 344 in PyTorch 2.11. */
enum { OBJECT = 4096, ROUNDS = 256 };
static const int64_t SEQUENCE = INT64_C(0x6865616477617921);
static const char trial_name[] = "headway::a_name_that_is_longer_than_a_short_string";

static void torch_begin_object(void *object, const char *name)
{
	if (torch.begin_z)
		torch.begin_z(object, name, SEQUENCE);
	else
		torch.begin_text(object, (struct torch_text){strlen(name), name, 0}, SEQUENCE);
}

/* Offset of the only byte that differs between an object of one scope and one of another; 0:
 * there is no such byte. */
static unsigned find_scope(unsigned char *object, unsigned char *other)
{
	unsigned found = 0, count = 0;
	torch.construct(object, SCOPE_USER);
	memcpy(other, object, OBJECT);
	torch.destroy(object);
	memset(object, 0, OBJECT);
	torch.construct(object, SCOPE_BACKWARD);
	for (unsigned i = 0; i < OBJECT; i++)
		if (object[i] != other[i]) {
			count++;
			if (other[i] == SCOPE_USER && object[i] == SCOPE_BACKWARD)
				found = i;
		}
	torch.destroy(object);
	return count == 1 ? found : 0;
}

static unsigned find_sequence(const unsigned char *object)
{
	for (unsigned i = 0; i + sizeof SEQUENCE <= OBJECT; i += 8)
		if (memcmp(object + i, &SEQUENCE, sizeof SEQUENCE) == 0)
			return i;
	return 0;
}

/* Begins and ends an object of our own; false where something is not as expected. */
static bool torch_try(unsigned char *object, unsigned char *other)
{
	torch.scope_at = find_scope(object, other);
	memset(object, 0, OBJECT);
	torch.construct(object, SCOPE_USER);
	trial.began = trial.ended = false;
	torch_begin_object(object, trial_name);
	torch.sequence_at = find_sequence(object);
	const char *name = trial.began ? torch.name(object) : NULL;
	bool good = name && strcmp(name, trial_name) == 0 && torch.sequence_at && torch.scope_at;
	torch.destroy(object);
	return good && trial.ended;
}

static void torch_run_one(void *object)
{
	torch.construct(object, SCOPE_FUNCTION);
	torch_begin_object(object, "headway");
}

/* Records what an operator costs more because it is recorded, in ps: predictions subtract that.
 * Measured is an operator that Python calls and that calls two others, which is common. */
static void torch_measure(void *outer, void *inner)
{
	int64_t best = INT64_MAX;
	struct operators *own = operators_own();
	if (!own)
		return;
	own->is_measured = true;
	for (int round = 0; round < 4; round++) {
		int64_t before = collect_now();
		for (int i = 0; i < ROUNDS; i++) {
			torch_run_one(outer);
			for (int k = 0; k < 2; k++) {
				torch_run_one(inner);
				torch.destroy(inner);
			}
			torch.destroy(outer);
		}
		int64_t took = collect_now() - before;
		best = took < best ? took : best;
	}
	own->is_measured = false;
	char text[16];
	*decimal_put(text, "", (uint32_t)(best * 1000 / (3 * ROUNDS))) = '\0';
	collect_property("cost.operator_ps", text);
}

static void torch_refuse(const char *why)
{
	collect_note(2, "%s are not recorded: this version of PyTorch %s",
		     collect_control->traces & REC_TRACE_PYTORCH ? "operators"
								 : "PyTorch's collectives",
		     why);
}

static void torch_set_up(void)
{
	static _Alignas(64) unsigned char object[OBJECT], other[OBJECT];
	trial.function = object;
	atomic_store(&trial.tid, collect_tid());
	bool all = collect_control->traces & REC_TRACE_PYTORCH;
	struct torch_callback callback = {
		.start = torch_on_start,
		.end = torch_on_end,
		.probability = 1.0,
		.scopes[SCOPE_FUNCTION] = true,
		.scopes[SCOPE_BACKWARD] = true,
		.scopes[SCOPE_TORCHSCRIPT] = true,
		.scopes[SCOPE_USER] = true,
		/* Of a collective the shapes tell the bytes; there are few of them. */
		.needs_inputs =
			(collect_control->operator_inputs || !all) && torch_inputs_are_found(),
	};
	if (collect_control->operator_inputs && all && !callback.needs_inputs)
		collect_note(2,
			     "shapes of operators are not recorded: this version of PyTorch lacks "
			     "a function that is needed for it");
	uint64_t handle = torch.add(callback);
	if (!torch_try(object, other)) {
		torch.remove(handle);
		atomic_store(&stage, TORCH_REFUSED);
		torch_refuse("calls observers in another way");
		return;
	}
	if (!all) {
		/* The trial needed every scope; from now on libtorch calls us for none but
		 * these. */
		torch.remove(handle);
		callback.scopes[SCOPE_FUNCTION] = callback.scopes[SCOPE_BACKWARD] =
			callback.scopes[SCOPE_TORCHSCRIPT] = false;
		torch.add(callback);
	}
	needs_inputs = callback.needs_inputs;
	atomic_store(&stage, TORCH_ON);
	if (collect_is_on(REC_TRACE_PYTORCH))
		torch_measure(object, other);
}

bool torch_begin(void)
{
	int found = TORCH_FOUND;
	if (!(collect_control->traces & TORCH_TRACES))
		return true;
	/* While another observer is there, such as the program's own profiler, that one would
	 * see the trial. */
	if (atomic_load(&stage) == TORCH_FOUND &&
	    (!late_may_call(&library) || (torch.is_observed && torch.is_observed())))
		return false;
	if (atomic_compare_exchange_strong(&stage, &found, TORCH_TRYING))
		torch_set_up();
	return atomic_load(&stage) != TORCH_NONE;
}

/* ---- finding libtorch ------------------------------------------------------------------------ */

static void find_function(void *function, const struct elf_object *object, const char *name)
{
	uint64_t at = elf_symbols_find(object, name);
	memcpy(function, &at, sizeof at);
}

void torch_look_at_object(const struct elf_object *object)
{
	if (!collect_control || !(collect_control->traces & TORCH_TRACES))
		return;
	if (collect_control->operator_inputs || !(collect_control->traces & REC_TRACE_PYTORCH))
		torch_inputs_look_at_object(object);
	if (atomic_load(&stage) != TORCH_NONE)
		return;
	find_function(&torch.add, object, "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE");
	if (!torch.add)
		return;
	find_function(&torch.remove, object, "_ZN2at14removeCallbackEm");
	find_function(&torch.is_observed, object, "_ZN2at12hasCallbacksEv");
	find_function(&torch.name, object, "_ZNK2at14RecordFunction4nameEv");
	find_function(&torch.construct, object, "_ZN2at14RecordFunctionC1ENS_11RecordScopeE");
	find_function(&torch.destroy, object, "_ZN2at14RecordFunctionD1Ev");
	find_function(&torch.begin_z, object, "_ZN2at14RecordFunction6beforeEPKcl");
	find_function(&torch.begin_text, object,
		      "_ZN2at14RecordFunction6beforeESt7variantIJSt17basic_string_viewIcSt11char_"
		      "traitsIcEESt17reference_wrapperIKN3c1014FunctionSchemaEEEEl");
	library = (struct late_object){.address = (uintptr_t)torch.add,
				       .found = process.joined ? collect_now() : 0};
	bool complete = torch.remove && torch.name && torch.construct && torch.destroy &&
			(torch.begin_z || torch.begin_text);
	atomic_store(&stage, complete ? TORCH_FOUND : TORCH_REFUSED);
	if (!complete)
		torch_refuse("lacks a function that is needed for it");
}
