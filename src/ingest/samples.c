/* SPDX-License-Identifier: Apache-2.0 */
/* samples.c - adds CPU samples: marks on the lane of their thread, each with the stack that the
 * thread had.
 *
 * A stack has the frames inside the kernel first, then those of the thread. The thread's frames
 * come from the copy of its stack memory, unwound by DWARF, where the sample has a copy; else from
 * the chain of frame pointers that the kernel followed. Where the copy ends before the chain does,
 * the rest of the chain is added. Python frames replace the interpreter's, as for calls (stacks.c).
 * A program is sampled thousands of times in the same place, so each list of addresses is turned
 * into frames once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/ingest_internal.h"
#include "ingest/kernel_functions.h"
#include "ingest/unwind.h"

struct samples {
	struct ingest_list copies; /* samples that have a copy of the stack */
	struct hwy_map copy_of; /* maps spool file and number of a copy to an index into 'copies' */
	/* 'stack_of' maps process, addresses and Python frames to the ref of a stack of the
	 * trace. */
	struct hwy_index stack_of;
	struct kernel_functions *kernel;
	bool kernel_is_read;
	struct hwy_row row;
};

struct view { /* a sample's record, and where the parts of variable length begin in it */
	const struct rec_sample *record;
	const uint64_t *addresses;
	uint32_t depth, kernel;
	const uint64_t *registers; /* NULL: the sample has no registers */
	const uint8_t *bytes;
	const struct rec_frame *frames;
};

static struct view parts_of(const struct rec_sample *record)
{
	struct view view = {.record = record, .depth = record->depth};
	view.kernel = record->kernel < record->depth ? record->kernel : record->depth;
	view.addresses = (const uint64_t *)(record + 1);
	const uint64_t *next = view.addresses + record->depth;
	if (record->stack) {
		view.registers = next;
		next += REC_STACK_REGS;
	}
	view.bytes = (const uint8_t *)next;
	view.frames = (const struct rec_frame *)(view.bytes + ((size_t)record->bytes + 7) / 8 * 8);
	return view;
}

static struct samples *samples_state(struct ingest *in)
{
	if (!in->samples)
		in->samples = hwy_zalloc(sizeof *in->samples);
	return in->samples;
}

static uint64_t copy_key(uint32_t file, uint32_t number)
{
	return (uint64_t)file << 32 | number;
}

void samples_note(struct ingest *in, uint32_t file, const struct rec_sample *record)
{
	struct samples *samples = samples_state(in);
	if (!record->stack || !record->bytes || in->wanted_stacks == INGEST_STACKS_NONE)
		return;
	*hwy_map_put(&samples->copy_of, copy_key(file, record->stack), NULL) = samples->copies.n;
	ingest_list_add(&samples->copies, record);
}

/* ---- addresses
 * --------------------------------------------------------------------------------- */

/* The registers of a sample and the copy of its stack, which may stand in an earlier record. False:
 * the sample has no registers. */
static bool find_copy(const struct samples *samples, uint32_t file, const struct view *view,
		      struct unwind_copy *copy)
{
	if (!view->registers)
		return false;
	*copy = (struct unwind_copy){view->registers, view->bytes, view->record->bytes};
	if (copy->count)
		return true;
	const uint32_t *index =
		samples->copy_of.count
			? hwy_map_get(&samples->copy_of, copy_key(file, view->record->stack))
			: NULL;
	/* No earlier sample has the bytes of the stack: only the registers are known. */
	if (!index)
		return true;
	struct view earlier = parts_of(samples->copies.items[*index]);
	/* Another value of rsp means that the stack is not the same: the spool is damaged. */
	if (!earlier.registers || earlier.registers[1] != view->registers[1])
		return true;
	copy->bytes = earlier.bytes;
	copy->count = earlier.record->bytes;
	return true;
}

/* Writes the addresses of the thread, without those inside the kernel, innermost first; yields
 * their number. */
static uint32_t find_addresses(struct ingest *in, struct ingest_process *process, uint32_t file,
			       const struct view *view, uint64_t *addresses)
{
	const uint64_t *chain = view->addresses + view->kernel;
	uint32_t n_chain = view->depth - view->kernel, n = 0;
	struct unwind_copy copy;
	if (find_copy(in->samples, file, view, &copy))
		n = unwind_stack(stacks_unwinder(in, process), &copy, addresses);
	if (n < 2 && n_chain > n) { /* unwinding found no caller: take the kernel's chain */
		n = n_chain < INGEST_MOST_CHAIN ? n_chain : INGEST_MOST_CHAIN;
		memcpy(addresses, chain, n * sizeof *addresses);
		return n;
	}
	/* Where the last address also stands in the chain, the chain goes on from there. */
	for (uint32_t i = n_chain; n && i-- > 0;) {
		if (chain[i] != addresses[n - 1])
			continue;
		while (++i < n_chain && n < INGEST_MOST_CHAIN)
			addresses[n++] = chain[i];
		break;
	}
	return n;
}

/* ---- stacks
 * ------------------------------------------------------------------------------------ */

/* The functions of the running kernel; NULL where the recording is of another boot, which had other
 * addresses. */
static struct kernel_functions *kernel_of(struct ingest *in)
{
	struct samples *samples = in->samples;
	char id[64] = "";
	if (samples->kernel_is_read)
		return samples->kernel;
	samples->kernel_is_read = true;
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	if (file && fgets(id, sizeof id, file))
		id[strcspn(id, "\n")] = '\0';
	if (file)
		fclose(file);
	int64_t boot = in->trace->hosts[in->host].boot_id;
	if (boot != HWY_NONE && *id && strcmp(hwy_str(in->trace, boot), id) == 0)
		samples->kernel = kernel_functions_open();
	return samples->kernel;
}

static void add_kernel(struct ingest *in, const struct view *view, struct ingest_frames *frames)
{
	for (uint32_t i = 0; i < view->kernel; i++) {
		const char *module;
		/* Subtracts 1 because the call stands before its return address. */
		uint64_t address = view->addresses[i] - (i > 0);
		const char *name = kernel_functions_find(kernel_of(in), address, &module);
		struct hwy_frame frame = {
			.function = hwy_text_id(in->b, name ? name : module),
			.module = hwy_text_id(in->b, module),
			.flags = HWY_FRAME_KERNEL | (name ? 0 : HWY_FRAME_UNRESOLVED),
		};
		stacks_add_frame(in, frames, &frame);
	}
}

static uint32_t samples_make(struct ingest *in, struct ingest_process *process,
			     const struct view *view, const uint64_t *addresses, uint32_t n)
{
	struct ingest_frames frames = {.is_sample = true};
	uint32_t python = view->record->frames;
	add_kernel(in, view, &frames);
	stacks_add_native(in, process, addresses, n, python > 0, &frames);
	/* The parent process read the Python frames, so their code is defined in the parent's spool
	 * (in->run). */
	stacks_add_python(in, &in->run, view->frames, python, &frames);
	return stacks_join(in, &frames);
}

/* Yields the ref of the trace's stack for a sample. */
static uint32_t sample_stack(struct ingest *in, uint32_t process, uint32_t file,
			     const struct view *view)
{
	uint64_t key[2 + 3 * INGEST_MOST_CHAIN];
	uint32_t python =
		view->record->frames < REC_MAX_FRAMES ? view->record->frames : REC_MAX_FRAMES;
	uint32_t kernel = view->kernel < INGEST_MOST_CHAIN ? view->kernel : INGEST_MOST_CHAIN;
	uint32_t n = find_addresses(in, &in->processes[process], file, view, key + 2), words;
	key[0] = process;
	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): 32 bits of 64 */
	key[1] = (uint64_t)n << 32 | kernel << 16 | python;
	words = 2 + n;
	memcpy(key + words, view->addresses, kernel * sizeof *key);
	words += kernel;
	memcpy(key + words, view->frames, python * sizeof *key);
	words += python;
	static_assert(sizeof(struct rec_frame) == sizeof *key, "a frame is one word of the key");
	bool fresh;
	uint32_t *ref = hwy_index_put(&in->samples->stack_of, key, words * sizeof *key, &fresh);
	if (fresh)
		*ref = samples_make(in, &in->processes[process], view, key + 2, n);
	return *ref;
}

void samples_add(struct ingest *in, uint32_t file, const struct rec_sample *record)
{
	struct samples *samples = samples_state(in);
	struct hwy_row *row = &samples->row;
	if (!task_lifetimes_is_recorded(in, record->time) ||
	    !ingest_times(in, record->time, 0, row))
		return;
	uint32_t process = task_lifetimes_find(in, record->pid, record->time);
	if (process == UINT32_MAX)
		return;
	struct view view = parts_of(record);
	uint32_t thread = target_thread(in, process, record->tid);
	row->v[HWY_FLAGS] = HWY_FLAG_MARK;
	row->v[HWY_CPU] = hwy_ref(record->head.value);
	row->v[HWY_WEIGHT] = record->weight < INT64_MAX ? (int64_t)record->weight : 0;
	row->v[HWY_STACK] = in->wanted_stacks == INGEST_STACKS_NONE
				    ? HWY_REF_NONE
				    : sample_stack(in, process, file, &view);
	hwy_add_span(in->b, hwy_add_thread_lane(in->b, HWY_LANE_SAMPLES, thread), HWY_SAMPLE, row);
}

void samples_free(struct ingest *in)
{
	struct samples *samples = in->samples;
	if (!samples)
		return;
	hwy_map_free(&samples->copy_of);
	hwy_index_free(&samples->stack_of);
	free(samples->copies.items);
	kernel_functions_close(samples->kernel);
	free(samples);
}
