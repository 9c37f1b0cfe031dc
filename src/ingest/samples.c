/* samples.c - CPU samples: a mark on the thread's lane, with the stack it had.
 *
 * A stack is what the kernel was at, then what the thread was at: unwound by DWARF from the copy of its stack
 * where there is one, else the kernel's own chain of frame pointers; where the copy ends before the chain
 * does, the chain goes on. Python's frames stand in for the interpreter's, as for calls (stacks.c). The same
 * chain of addresses is looked up once: a program is sampled thousands of times in the same place.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/ingest_internal.h"
#include "ingest/kernel_functions.h"
#include "ingest/unwind.h"

struct chain { /* what is known already */
	uint64_t *key;
	uint32_t words, stack, next; /* next: with the same hash, plus one */
};

struct samples {
	struct hwy_map copies; /* file, number -> index in 'copied' plus one */
	struct ingest_list copied;
	struct hwy_map chain_of; /* hash -> index in 'chains' plus one */
	struct chain *chains;
	uint32_t n_chains, cap_chains;
	struct hwy_arena keys;
	struct kernel *kernel;
	bool looked;
	struct hwy_row row;
};

struct view { /* a record, its parts found */
	const struct rec_sample *record;
	const uint64_t *addresses;
	uint32_t depth, kernel;
	const uint64_t *registers; /* NULL: none */
	const uint8_t *bytes;
	const struct rec_frame *frames;
};

static struct view view_of(const struct rec_sample *record)
{
	struct view view = {.record = record, .depth = record->depth};
	view.kernel = record->kernel < record->depth ? record->kernel : record->depth;
	view.addresses = (const uint64_t *)(record + 1);
	const uint64_t *at = view.addresses + record->depth;
	if (record->stack) {
		view.registers = at;
		at += REC_STACK_REGS;
	}
	view.bytes = (const uint8_t *)at;
	view.frames = (const struct rec_frame *)(view.bytes + ((size_t)record->bytes + 7) / 8 * 8);
	return view;
}

static struct samples *samples_of(struct ingest *in)
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
	struct samples *samples = samples_of(in);
	if (!record->stack || !record->bytes)
		return;
	ingest_list_add(&samples->copied, record);
	*hwy_map_put(&samples->copies, copy_key(file, record->stack), NULL) = samples->copied.n;
}

/* ---- addresses --------------------------------------------------------------------------------- */

/* False: there is nothing to unwind. */
static bool find_copy(const struct samples *samples, uint32_t file, const struct view *view,
		      struct unwind_copy *copy)
{
	if (!view->registers)
		return false;
	*copy = (struct unwind_copy){view->registers, view->bytes, view->record->bytes};
	if (copy->count)
		return true;
	const uint32_t *at =
		samples->copies.count
			? hwy_map_get(&samples->copies, copy_key(file, view->record->stack))
			: NULL;
	if (!at)
		return true; /* no bytes: the registers are all there is */
	struct view told = view_of(samples->copied.at[*at - 1]);
	if (told.registers[1] != view->registers[1]) /* not where this one's was: it cannot be */
		return true;
	copy->bytes = told.bytes;
	copy->count = told.record->bytes;
	return true;
}

/* The thread's own addresses, innermost first. */
static uint32_t find_addresses(struct ingest *in, struct ingest_process *process, uint32_t file,
			       const struct view *view, uint64_t *addresses)
{
	const uint64_t *chain = view->addresses + view->kernel;
	uint32_t n_chain = view->depth - view->kernel, n = 0;
	struct unwind_copy copy;
	if (find_copy(in->samples, file, view, &copy))
		n = unwind_stack(stacks_unwinder(in, process), &copy, addresses);
	if (n < 2 && n_chain > n) { /* it came nowhere */
		n = n_chain < INGEST_MOST_CHAIN ? n_chain : INGEST_MOST_CHAIN;
		memcpy(addresses, chain, n * sizeof *addresses);
		return n;
	}
	for (uint32_t i = n_chain; n && i-- > 0;) {
		if (chain[i] != addresses[n - 1])
			continue;
		while (++i < n_chain && n < INGEST_MOST_CHAIN)
			addresses[n++] = chain[i];
		break;
	}
	return n;
}

/* ---- stacks ------------------------------------------------------------------------------------ */

/* Another boot's addresses mean nothing here. */
static struct kernel *kernel_of(struct ingest *in)
{
	struct samples *samples = in->samples;
	char id[64] = "";
	if (samples->looked)
		return samples->kernel;
	samples->looked = true;
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	if (file && fgets(id, sizeof id, file))
		id[strcspn(id, "\n")] = '\0';
	if (file)
		fclose(file);
	int64_t boot = in->trace->hosts[in->host].boot_id;
	if (boot != HWY_NONE && *id && strcmp(hwy_str(in->trace, boot), id) == 0)
		samples->kernel = kernel_open();
	return samples->kernel;
}

static void add_kernel(struct ingest *in, const struct view *view, struct ingest_frames *frames)
{
	for (uint32_t i = 0; i < view->kernel; i++) {
		const char *module;
		uint64_t at = view->addresses[i] - (i > 0);
		const char *name = kernel_at(kernel_of(in), at, &module);
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
	/* The parent read them, so their code is defined in its spools. */
	stacks_add_python(in, &in->run, view->frames, python, &frames);
	return stacks_join(in, &frames);
}

static uint32_t stack_of(struct ingest *in, uint32_t process, uint32_t file,
			 const struct view *view)
{
	struct samples *samples = in->samples;
	uint64_t key[2 + 3 * INGEST_MOST_CHAIN];
	uint32_t python =
		view->record->frames < REC_MAX_FRAMES ? view->record->frames : REC_MAX_FRAMES;
	uint32_t kernel = view->kernel < INGEST_MOST_CHAIN ? view->kernel : INGEST_MOST_CHAIN;
	uint32_t n = find_addresses(in, &in->processes[process], file, view, key + 2), words;
	key[0] = process;
	key[1] = (uint64_t)n << 32 | kernel << 16 | python;
	words = 2 + n;
	memcpy(key + words, view->addresses, kernel * sizeof *key);
	words += kernel;
	memcpy(key + words, view->frames, python * sizeof *key);
	words += python;
	static_assert(sizeof(struct rec_frame) == sizeof *key, "a word each");
	uint32_t *head = hwy_map_put(&samples->chain_of, hwy_hash(key, words * sizeof *key), NULL);
	for (uint32_t at = *head; at; at = samples->chains[at - 1].next) {
		const struct chain *known = &samples->chains[at - 1];
		if (known->words == words && memcmp(known->key, key, words * sizeof *key) == 0)
			return known->stack;
	}
	struct chain chain = {
		.key = hwy_arena_alloc(&samples->keys, words * sizeof *key),
		.words = words,
		.next = *head,
		.stack = samples_make(in, &in->processes[process], view, key + 2, n),
	};
	memcpy(chain.key, key, words * sizeof *key);
	HWY_GROW(samples->chains, samples->n_chains, samples->cap_chains);
	samples->chains[samples->n_chains++] = chain;
	*head = samples->n_chains;
	return chain.stack;
}

void samples_add(struct ingest *in, uint32_t file, const struct rec_sample *record)
{
	struct samples *samples = samples_of(in);
	struct hwy_row *row = &samples->row;
	if (!task_lifetimes_is_recorded(in, record->time) ||
	    !ingest_times(in, record->time, 0, row))
		return;
	uint32_t process = task_lifetimes_image(in, record->pid, record->time);
	if (process == UINT32_MAX)
		return;
	struct view view = view_of(record);
	uint32_t thread = target_thread(in, process, record->tid);
	row->v[HWY_FLAGS] = HWY_FLAG_MARK;
	row->v[HWY_CPU] = (int64_t)record->head.value + 1;
	row->v[HWY_WEIGHT] = record->weight < INT64_MAX ? (int64_t)record->weight : 0;
	row->v[HWY_STACK] = stack_of(in, process, file, &view);
	hwy_add_span(in->b, task_lifetimes_lane(in, HWY_LANE_SAMPLES, thread), HWY_SAMPLE, row);
}

void samples_free(struct ingest *in)
{
	struct samples *samples = in->samples;
	if (!samples)
		return;
	hwy_map_free(&samples->copies);
	hwy_map_free(&samples->chain_of);
	free(samples->copied.at);
	free(samples->chains);
	hwy_arena_free(&samples->keys);
	kernel_close(samples->kernel);
	free(samples);
}
