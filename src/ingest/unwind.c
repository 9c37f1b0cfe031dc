/* SPDX-License-Identifier: Apache-2.0 */
/* unwind.c - see unwind.h.
 *
 * libdw follows the call frame information of the modules; where a module has none, we follow frame
 * pointers. Calls in a loop have the same stack thousands of times, so an unwound stack is kept
 * together with the positions of its return addresses in the copied memory. Another copy with the
 * same registers and with the same return addresses in the same positions has the same stack.
 * x86-64 only, like the registers in the records.
 */
#include "ingest/unwind.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/ref.h"
#include "ingest/binaries.h"
#include "ingest/dw.h"
#include "ingest/symbol_names.h"

enum { RIP, RSP, RBP, RBX, R12, R13, R14, R15 }; /* indexes into unwind_copy.registers */
enum { NOT_FOUND = UINT16_MAX };

struct module {
	uint64_t bias;      /* an address in the process minus the same address in the file */
	uint64_t low, high; /* the module's addresses in the process: [low, high) */
	char *path;
	struct binary *binary;
};

struct memo {                  /* a stack that was unwound before */
	uint64_t registers[3]; /* the values of rip, rsp and rbp */
	uint32_t bytes, n;
	uint64_t *addresses;
	/* slots: the index of the 8-byte word of the copy in which each address stood; not used
	 * for the first address, which was rip. */
	uint16_t *slots;
	uint32_t next_ref; /* ref of unwinder.memos: another memo with the same hash */
};

struct unwinder {
	struct module *modules;
	uint32_t n_modules, cap_modules;
	struct binaries *binaries;
	const struct dw *dw;
	Dwfl *dwfl;
	bool attached, refused;
	/* now: the copy that libdw's callbacks read, and the addresses that libdw finds. */
	const struct unwind_copy *now;
	uint64_t *into;
	uint32_t n_into;
	/* 'memo_of' maps a memo_hash to a ref of 'memos'; memo_holds compares the rest. */
	struct hwy_map memo_of;
	struct memo *memos;
	uint32_t n_memos, cap_memos;
	struct hwy_map place_of; /* maps an address to an index into 'places' */
	struct unwind_place **places;
	uint32_t n_places, cap_places;
	struct hwy_arena texts;
};

struct unwinder *unwind_open(struct binaries *binaries)
{
	struct unwinder *u = hwy_zalloc(sizeof *u);
	u->binaries = binaries;
	u->dw = dw_open();
	return u;
}

void unwind_close(struct unwinder *u)
{
	if (!u)
		return;
	if (u->dwfl)
		u->dw->dwfl_end(u->dwfl);
	for (uint32_t i = 0; i < u->n_modules; i++)
		free(u->modules[i].path);
	for (uint32_t i = 0; i < u->n_memos; i++) {
		free(u->memos[i].addresses);
		free(u->memos[i].slots);
	}
	for (uint32_t i = 0; i < u->n_places; i++)
		free(u->places[i]);
	free(u->modules);
	free(u->memos);
	free(u->places);
	hwy_map_free(&u->memo_of);
	hwy_map_free(&u->place_of);
	hwy_arena_free(&u->texts);
	free(u);
}

bool unwind_has_module(const struct unwinder *u, const char *path)
{
	for (uint32_t i = 0; i < u->n_modules; i++)
		if (strcmp(u->modules[i].path, path) == 0)
			return true;
	return false;
}

void unwind_add_module(struct unwinder *u, const struct rec_module *module, const char *path)
{
	if (module->size == 0 || module->base + module->size < module->base)
		return;
	HWY_GROW(u->modules, u->n_modules, u->cap_modules);
	u->modules[u->n_modules++] = (struct module){
		.bias = module->base,
		.low = module->low,
		.high = module->base + module->size,
		.path = hwy_copy(path, strlen(path) + 1),
		.binary = binaries_get(u->binaries, path),
	};
}

/* ---- modules
 * ----------------------------------------------------------------------------------- */

/* Of several modules at an address the one that was added last counts: the others were unloaded
 * before. */
static struct module *module_at(struct unwinder *u, uint64_t address)
{
	for (uint32_t i = u->n_modules; i-- > 0;)
		if (address >= u->modules[i].low && address < u->modules[i].high)
			return &u->modules[i];
	return NULL;
}

static void report_modules(struct unwinder *u)
{
	u->dwfl = u->dw->dwfl_begin(&u->dw->callbacks);
	if (!u->dwfl)
		return;
	u->dw->dwfl_report_begin(u->dwfl);
	for (uint32_t i = 0; i < u->n_modules; i++)
		if (binaries_is_file(u->modules[i].path))
			u->dw->dwfl_report_elf(u->dwfl, u->modules[i].path, u->modules[i].path, -1,
					       u->modules[i].bias, true);
	u->dw->dwfl_report_end(u->dwfl, NULL, NULL);
}

/* ---- callbacks of libdw
 * -------------------------------------------------------------------------- */

static pid_t next_thread(Dwfl *dwfl, void *unwinder, void **thread)
{
	(void)dwfl;
	if (*thread)
		return 0;
	*thread = unwinder;
	return 1;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *unwinder, void **thread)
{
	(void)dwfl;
	(void)tid;
	*thread = unwinder;
	return true;
}

static bool memory_read(Dwfl *dwfl, uint64_t address, uint64_t *word, void *unwinder)
{
	(void)dwfl;
	const struct unwinder *u = unwinder;
	uint64_t from = u->now->registers[RSP], bytes = u->now->count;
	if (bytes < sizeof *word || address < from || address - from > bytes - sizeof *word)
		return false;
	memcpy(word, u->now->bytes + (address - from), sizeof *word);
	return true;
}

static bool set_initial_registers(Dwfl_Thread *thread, void *unwinder)
{
	/* DWARF numbers registers: 3 is rbx, 6 rbp, 7 rsp, 12 to 15 are r12 to r15, 16 is the
	 * return address (rip). */
	static const struct {
		int dwarf, ours;
	} map[] = {{3, RBX},  {6, RBP},  {7, RSP},  {12, R12},
		   {13, R13}, {14, R14}, {15, R15}, {16, RIP}};
	const struct unwinder *u = unwinder;
	const uint64_t *registers = u->now->registers;
	for (size_t i = 0; i < sizeof map / sizeof *map; i++)
		if (!u->dw->dwfl_thread_state_registers(thread, map[i].dwarf, 1,
							&registers[map[i].ours]))
			return false;
	return true;
}

static int take_frame(Dwfl_Frame *frame, void *unwinder)
{
	struct unwinder *u = unwinder;
	uint64_t address;
	bool is_activation;
	if (!u->dw->dwfl_frame_pc(frame, &address, &is_activation) || address == 0 ||
	    u->n_into == UNWIND_FRAMES)
		return 1;
	u->into[u->n_into++] = address;
	return 0;
}

static uint32_t unwind_by_dwarf(struct unwinder *u, const struct unwind_copy *copy,
				uint64_t *addresses)
{
	static const struct dw_thread_callbacks callbacks = {
		.next_thread = next_thread,
		.get_thread = get_thread,
		.memory_read = memory_read,
		.set_initial_registers = set_initial_registers,
	};
	u->now = copy;
	u->into = addresses;
	u->n_into = 0;
	if (!u->dw || u->refused)
		return 0;
	if (!u->dwfl)
		report_modules(u);
	if (u->dwfl && !u->attached)
		u->attached = u->dw->dwfl_attach_state(u->dwfl, NULL, 1, &callbacks, u);
	u->refused = !u->attached;
	if (u->attached)
		u->dw->dwfl_getthread_frames(u->dwfl, 1, take_frame, u);
	return u->n_into;
}

/* ---- frame pointers
 * ---------------------------------------------------------------------------- */

static uint32_t unwind_by_frame_pointer(struct unwinder *u, const struct unwind_copy *copy,
					uint64_t *addresses)
{
	uint64_t frame = copy->registers[RBP], n = 0;
	addresses[n++] = copy->registers[RIP];
	u->now = copy;
	while (n < UNWIND_FRAMES) {
		uint64_t next, caller;
		if (!memory_read(NULL, frame, &next, u) ||
		    !memory_read(NULL, frame + 8, &caller, u) || !module_at(u, caller - 1))
			break;
		addresses[n++] = caller;
		if (next <= frame)
			break;
		frame = next;
	}
	return (uint32_t)n;
}

/* ---- stacks that were seen before
 * -------------------------------------------------------------- */

static uint64_t memo_hash(const struct unwind_copy *copy)
{
	const uint64_t *registers = copy->registers;
	return hwy_mix(registers[RIP] ^ hwy_mix(registers[RSP])) ^ hwy_mix(registers[RBP]);
}

static bool memo_holds(const struct memo *memo, const struct unwind_copy *copy)
{
	const uint64_t *registers = copy->registers;
	if (memo->registers[0] != registers[RIP] || memo->registers[1] != registers[RSP] ||
	    memo->registers[2] != registers[RBP] || memo->bytes != copy->count)
		return false;
	for (uint32_t i = 1; i < memo->n; i++)
		if (memcmp(copy->bytes + (size_t)memo->slots[i] * 8, &memo->addresses[i], 8) != 0)
			return false;
	return true;
}

/* The first 8-byte word of the copy, from word number 'from' on, that holds the address; NOT_FOUND:
 * none does. */
static uint16_t unwind_slot_of(const struct unwind_copy *copy, uint64_t address, uint32_t from)
{
	uint32_t words = copy->count / 8 < NOT_FOUND ? copy->count / 8 : NOT_FOUND;
	for (uint32_t i = from; i < words; i++)
		if (memcmp(copy->bytes + (size_t)i * 8, &address, 8) == 0)
			return (uint16_t)i;
	return NOT_FOUND;
}

static void memo_add(struct unwinder *u, const struct unwind_copy *copy, uint64_t hash,
		     const uint64_t *addresses, uint32_t n)
{
	uint16_t *slots = hwy_array(n, sizeof *slots);
	uint32_t from = 0;
	for (uint32_t i = 1; i < n; i++) {
		slots[i] = unwind_slot_of(copy, addresses[i], from);
		if (slots[i] == NOT_FOUND) {
			free(slots);
			return;
		}
		from = slots[i] + 1u;
	}
	const uint64_t *registers = copy->registers;
	uint32_t *head = hwy_map_put(&u->memo_of, hash, NULL);
	HWY_GROW(u->memos, u->n_memos, u->cap_memos);
	u->memos[u->n_memos] = (struct memo){
		.registers = {registers[RIP], registers[RSP], registers[RBP]},
		.bytes = copy->count,
		.n = n,
		.addresses = hwy_copy_array(addresses, n, sizeof *addresses),
		.slots = slots,
		.next_ref = *head,
	};
	*head = hwy_ref32(u->n_memos++);
}

uint32_t unwind_stack(struct unwinder *u, const struct unwind_copy *copy,
		      uint64_t addresses[UNWIND_FRAMES])
{
	uint64_t hash = memo_hash(copy);
	const uint32_t *head = hwy_map_get(&u->memo_of, hash);
	uint32_t ref = head ? *head : HWY_REF_NONE;
	while (hwy_ref32_is_set(ref)) {
		const struct memo *memo = &u->memos[hwy_ref32_index(ref)];
		if (memo_holds(memo, copy)) {
			memcpy(addresses, memo->addresses, memo->n * sizeof *addresses);
			return memo->n;
		}
		ref = memo->next_ref;
	}
	uint64_t found[UNWIND_FRAMES] = {0};
	uint32_t n = unwind_by_dwarf(u, copy, found);
	if (n < 2)
		n = unwind_by_frame_pointer(u, copy, found);
	memo_add(u, copy, hash, found, n);
	memcpy(addresses, found, n * sizeof *addresses);
	return n;
}

/* ---- places
 * ------------------------------------------------------------------------------------ */

static bool is_interpreter(const char *function)
{
	static const char *const names[] = {"_PyEval_EvalFrame", "PyEval_EvalFrame", "_TAIL_CALL_"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strncmp(function, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static const char *unwind_keep(struct unwinder *u, const char *text)
{
	return hwy_arena_text(&u->texts, text, strlen(text));
}

static void find_function(struct unwinder *u, const struct module *module, uint64_t address,
			  struct unwind_place *place)
{
	const char *name = binaries_function(u->binaries, module->binary, address - module->bias);
	if (!name)
		return;
	char *demangled = symbol_names_demangle(name);
	place->function = unwind_keep(u, demangled ? demangled : name);
	place->interpreter = is_interpreter(name);
	free(demangled);
}

/* For every kernel nvcc makes a host function that calls the launch stub. Its line is the line of
 * the kernel, and it is inlined where the kernel is launched: there the line of the call is the one
 * that a user looks for. */
static bool is_stub(const struct unwind_place *place)
{
	return place && place->function && strstr(place->function, "__device_stub__");
}

void unwind_line(struct unwinder *u, struct unwind_place *place, const struct unwind_place *callee,
		 bool is_sample)
{
	if (place->lined || !place->module)
		return;
	place->lined = true;
	enum line_wanted wanted = is_sample ? LINE_PLAIN : is_stub(callee) ? LINE_CALL : LINE_OWN;
	const char *file = binaries_line(u->binaries, binaries_get(u->binaries, place->module),
					 place->offset, wanted, &place->line);
	place->file = file ? unwind_keep(u, file) : NULL;
}

struct unwind_place *unwind_place(struct unwinder *u, uint64_t address, bool is_return)
{
	bool fresh;
	address -= is_return;
	uint32_t *index = hwy_map_put(&u->place_of, address, &fresh);
	if (!fresh)
		return u->places[*index];
	struct unwind_place *place = hwy_zalloc(sizeof *place);
	HWY_GROW(u->places, u->n_places, u->cap_places);
	*index = u->n_places;
	u->places[u->n_places++] = place;
	struct module *module = module_at(u, address);
	if (module) {
		place->module = module->path[0] ? module->path : NULL;
		place->offset = address - module->bias;
		find_function(u, module, address, place);
	}
	return place;
}
