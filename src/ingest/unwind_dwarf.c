/* SPDX-License-Identifier: Apache-2.0 */
/* unwind_dwarf.c - see unwind_dwarf.h.
 *
 * libdw keeps 1 to 3 MB for each file whose call frame information it reads, and the kernel
 * loads a library at another address in each process. So there is one session of libdw for all
 * processes, in which every file has one place, its slot, at addresses that no process has.
 * Addresses of a process are moved into the slots before libdw sees them, and back when it has
 * found a frame. libdw then follows stacks as it would in the process: whatever lies in no file,
 * such as the stack itself, keeps its address.
 */
#include "ingest/unwind_dwarf.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/search.h"
#include "ingest/binaries.h"
#include "ingest/dw.h"
#include "ingest/maps.h"
#include "ingest/unwind_modules.h"

/* x86-64 has no addresses between 2^47 and 2^64 - 2^47, so that slots are no process's
 * addresses. */
#define SLOTS_FROM (UINT64_C(1) << 48)
#define SLOTS_TO (UINT64_C(1) << 62)
/* A file that asks for more addresses than this is damaged. */
#define MOST_EXTENT (UINT64_C(1) << 46)
#define LEAST_ALIGNMENT (UINT64_C(1) << 21)

struct slot { /* the place of one file in the session */
	/* bias: an address in the slot minus the same address in the file; 0: the file has no
	 * slot. */
	uint64_t bias;
	uint64_t high; /* end of the file's addresses */
	/* process_bias: where the process whose stack is being unwound has the file. */
	uint64_t process_bias;
	bool is_tried;
};

struct unwind_dwarf {
	const struct dw *dw;
	struct dw_callbacks callbacks;
	Dwfl *dwfl;
	bool attached;
	struct slot *slots; /* by the number of the file, see binaries_file */
	uint32_t n_slots, cap_slots;
	uint32_t *order; /* indexes of the slots that have a place, ascending by place */
	uint32_t n_order, cap_order;
	uint64_t next; /* the first address that no slot has */
	/* The stack that libdw's callbacks read, and the addresses that libdw finds. */
	struct unwind_modules *modules;
	const struct unwind_copy *copy;
	uint64_t *into;
	uint32_t n_into;
};

/* ---- slots
 * ------------------------------------------------------------------------------------- */

/* Opens the file of a module for libdw; the module's name is the file's path. */
static int find_elf(Dwfl_Module *module, void **user, const char *path, uint64_t base, char **name,
		    Elf **elf)
{
	(void)module;
	(void)user;
	(void)base;
	(void)elf;
	struct stat about;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 && (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))) {
		close(fd);
		fd = -1;
	}
	if (fd >= 0)
		*name = strdup(path); /* libdw frees the name */
	return fd;
}

static struct slot *slot_of(struct unwind_dwarf *dwarf, const struct binary *binary)
{
	uint32_t file = binaries_file(binary);
	while (dwarf->n_slots <= file) {
		HWY_GROW(dwarf->slots, dwarf->n_slots, dwarf->cap_slots);
		dwarf->slots[dwarf->n_slots++] = (struct slot){0};
	}
	return &dwarf->slots[file];
}

/* Gives a file its slot and tells libdw, which opens the file when it first needs it. */
static void make_slot(struct unwind_dwarf *dwarf, struct binary *binary)
{
	struct slot *slot = slot_of(dwarf, binary);
	const struct maps_segments *segments = slot->is_tried ? NULL : binaries_segments(binary);
	slot->is_tried = true;
	if (!segments || segments->high > MOST_EXTENT)
		return;
	const Elf64_Phdr *first = &segments->list[0];
	/* libdw takes the start of a module for this address of the file (elfutils,
	 * dwfl_module_getdwarf.c, open_elf); an executable of fixed address may then be moved like
	 * a library. */
	uint64_t start = first->p_vaddr & -first->p_align;
	uint64_t alignment = LEAST_ALIGNMENT;
	while (alignment < first->p_align && alignment < MOST_EXTENT)
		alignment *= 2;
	uint64_t bias = (dwarf->next + alignment - 1) & ~(alignment - 1);
	if (bias > SLOTS_TO || start >= segments->high ||
	    !dwarf->dw->dwfl_report_module(dwarf->dwfl, binaries_path(binary), bias + start,
					   bias + segments->high))
		return;
	slot->bias = bias;
	slot->high = segments->high;
	dwarf->next = bias + segments->high;
	HWY_GROW(dwarf->order, dwarf->n_order, dwarf->cap_order);
	dwarf->order[dwarf->n_order++] = binaries_file(binary);
}

static void report_modules(struct unwind_dwarf *dwarf, struct unwind_modules *modules)
{
	if (modules->reported == modules->n)
		return;
	dwarf->dw->dwfl_report_begin_add(dwarf->dwfl);
	for (; modules->reported < modules->n; modules->reported++)
		make_slot(dwarf, modules->list[modules->reported].binary);
	dwarf->dw->dwfl_report_end(dwarf->dwfl, NULL, NULL);
}

/* An address of the process as libdw knows it. */
static uint64_t to_slot(struct unwind_dwarf *dwarf, uint64_t address)
{
	const struct unwind_module *module = unwind_modules_at(dwarf->modules, address);
	struct slot *slot = module ? slot_of(dwarf, module->binary) : NULL;
	if (!slot || !slot->bias || address - module->bias >= slot->high)
		return address;
	slot->process_bias = module->bias;
	return address - module->bias + slot->bias;
}

/* An address that libdw found, as the process has it. */
static uint64_t to_process(const struct unwind_dwarf *dwarf, uint64_t address)
{
	if (address < SLOTS_FROM || address >= dwarf->next)
		return address;
	uint32_t next =
		HWY_FIRST(i, 0u, dwarf->n_order, dwarf->slots[dwarf->order[i]].bias > address);
	if (next == 0)
		return address;
	const struct slot *slot = &dwarf->slots[dwarf->order[next - 1]];
	return address - slot->bias + slot->process_bias;
}

/* ---- callbacks of libdw
 * -------------------------------------------------------------------------- */

static pid_t next_thread(Dwfl *dwfl, void *dwarf, void **thread)
{
	(void)dwfl;
	if (*thread)
		return 0;
	*thread = dwarf;
	return 1;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *dwarf, void **thread)
{
	(void)dwfl;
	(void)tid;
	*thread = dwarf;
	return true;
}

static bool memory_read(Dwfl *dwfl, uint64_t address, uint64_t *word, void *state)
{
	(void)dwfl;
	struct unwind_dwarf *dwarf = state;
	uint64_t found;
	if (!unwind_copy_word(dwarf->copy, to_process(dwarf, address), &found))
		return false;
	*word = to_slot(dwarf, found);
	return true;
}

static bool set_initial_registers(Dwfl_Thread *thread, void *state)
{
	/* DWARF numbers registers: 3 is rbx, 6 rbp, 7 rsp, 12 to 15 are r12 to r15, 16 is the
	 * return address (rip). */
	static const struct {
		int dwarf, ours;
	} map[] = {{3, UNWIND_RBX},  {6, UNWIND_RBP},  {7, UNWIND_RSP},  {12, UNWIND_R12},
		   {13, UNWIND_R13}, {14, UNWIND_R14}, {15, UNWIND_R15}, {16, UNWIND_RIP}};
	struct unwind_dwarf *dwarf = state;
	for (size_t i = 0; i < sizeof map / sizeof *map; i++) {
		uint64_t value = dwarf->copy->registers[map[i].ours];
		if (map[i].ours == UNWIND_RIP)
			value = to_slot(dwarf, value);
		if (!dwarf->dw->dwfl_thread_state_registers(thread, map[i].dwarf, 1, &value))
			return false;
	}
	return true;
}

/* libdw reads the return address of a frame after the frame's other registers, and asks here before
 * it reads on: the slot's process_bias is that of the return address. */
static int take_frame(Dwfl_Frame *frame, void *state)
{
	struct unwind_dwarf *dwarf = state;
	uint64_t address;
	bool is_activation;
	if (!dwarf->dw->dwfl_frame_pc(frame, &address, &is_activation) || address == 0 ||
	    dwarf->n_into == UNWIND_FRAMES)
		return 1;
	dwarf->into[dwarf->n_into++] = to_process(dwarf, address);
	return 0;
}

/* ---- stacks
 * ------------------------------------------------------------------------------------ */

struct unwind_dwarf *unwind_dwarf_open(const struct dw *dw)
{
	struct unwind_dwarf *dwarf = hwy_zalloc(sizeof *dwarf);
	dwarf->dw = dw;
	dwarf->next = SLOTS_FROM;
	if (!dw)
		return dwarf;
	dwarf->callbacks = dw->callbacks;
	dwarf->callbacks.find_elf = (void *)find_elf;
	dwarf->dwfl = dw->dwfl_begin(&dwarf->callbacks);
	return dwarf;
}

void unwind_dwarf_close(struct unwind_dwarf *dwarf)
{
	if (!dwarf)
		return;
	if (dwarf->dwfl)
		dwarf->dw->dwfl_end(dwarf->dwfl);
	free(dwarf->slots);
	free(dwarf->order);
	free(dwarf);
}

uint32_t unwind_dwarf_stack(struct unwind_dwarf *dwarf, struct unwind_modules *modules,
			    const struct unwind_copy *copy, uint64_t addresses[UNWIND_FRAMES])
{
	static const struct dw_thread_callbacks callbacks = {
		.next_thread = next_thread,
		.get_thread = get_thread,
		.memory_read = memory_read,
		.set_initial_registers = set_initial_registers,
	};
	dwarf->modules = modules;
	dwarf->copy = copy;
	dwarf->into = addresses;
	dwarf->n_into = 0;
	if (!dwarf->dwfl)
		return 0;
	report_modules(dwarf, modules);
	/* libdw takes the machine from the first file that it can open, so that this fails until
	 * there is one. */
	if (!dwarf->attached)
		dwarf->attached =
			dwarf->dw->dwfl_attach_state(dwarf->dwfl, NULL, 1, &callbacks, dwarf);
	if (dwarf->attached)
		dwarf->dw->dwfl_getthread_frames(dwarf->dwfl, 1, take_frame, dwarf);
	return dwarf->n_into;
}
