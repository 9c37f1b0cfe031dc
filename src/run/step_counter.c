/* step_counter.c - see step_counter.h.
 *
 * A step is a push/pop range that comes again and again: of those that ended at least three times in one
 * thread, the outermost, and of these the one that ended most often. Names that differ in their numbers only
 * ("step_7", "step_8") are one. The first steps of a run are slow (compilers, caches, allocators); steady ones
 * begin where a step first takes no longer than one and a half times the median.
 *
 * Spools are read as they grow, each record once. They may be written at the same time: what lies before
 * 'used' is whole.
 */
#include "run/step_counter.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "spool/record.h"

enum { DEEPEST = 64, LEAST = 3, HEAD_SLOTS = sizeof(struct rec_chunk) / REC_SLOT };

struct name { /* of a range, in one thread */
	uint64_t key;
	uint32_t file, depth;
	int64_t last;     /* when it last ended */
	int64_t *periods; /* from end to end, the first from its own beginning */
	uint32_t n, cap;
};

struct file {
	char *path;
	uint64_t chunk; /* the one that is being read */
	uint32_t slot;  /* in it */
	uint32_t depth; /* open ranges, of all domains together */
	struct open_range {
		uint64_t key;
		int64_t time;
	} open[DEEPEST];
};

struct steps {
	const char *directory;
	struct file *files;
	uint32_t n_files, cap_files;
	struct hwy_map text_of; /* process, string id -> hash of the name without its numbers */
	struct name *names;
	uint32_t n_names, cap_names;
};

struct steps *steps_open(const char *directory)
{
	struct steps *steps = hwy_zalloc(sizeof *steps);
	steps->directory = directory;
	return steps;
}

void steps_close(struct steps *steps)
{
	if (!steps)
		return;
	for (uint32_t i = 0; i < steps->n_files; i++)
		free(steps->files[i].path);
	for (uint32_t i = 0; i < steps->n_names; i++)
		free(steps->names[i].periods);
	free(steps->files);
	free(steps->names);
	hwy_map_free(&steps->text_of);
	free(steps);
}

/* ---- names ------------------------------------------------------------------------------------- */

static uint64_t text_key(const struct rec_chunk *chunk, uint32_t id)
{
	return hwy_mix(chunk->process ^ (uint64_t)chunk->pid << 32) ^ id;
}

static void note_text(struct steps *steps, const struct rec_chunk *chunk,
		      const struct rec_string *record)
{
	char plain[256];
	size_t n = 0;
	for (uint32_t i = 0; i < record->length && n < sizeof plain; i++)
		if (!isdigit((unsigned char)record->text[i]))
			plain[n++] = record->text[i];
	*hwy_map_put(&steps->text_of, text_key(chunk, record->head.value), NULL) =
		(uint32_t)hwy_hash(plain, n);
}

/* A text that is defined in a spool not yet read counts as a name of its own until then. */
static uint64_t range_key(struct steps *steps, const struct rec_chunk *chunk,
			  const struct rec_range *push)
{
	const uint32_t *text = hwy_map_get(&steps->text_of, text_key(chunk, push->head.value));
	uint64_t name = text ? *text : hwy_mix(push->head.value);
	return hwy_mix(name) ^ push->domain;
}

static struct name *step_counter_name_of(struct steps *steps, uint64_t key, uint32_t file,
					 uint32_t depth)
{
	for (uint32_t i = 0; i < steps->n_names; i++) {
		struct name *name = &steps->names[i];
		if (name->key == key && name->file == file && name->depth == depth)
			return name;
	}
	if (steps->n_names == 1000) /* names without end: no steps will be told from them */
		return NULL;
	HWY_GROW(steps->names, steps->n_names, steps->cap_names);
	steps->names[steps->n_names] = (struct name){.key = key, .file = file, .depth = depth};
	return &steps->names[steps->n_names++];
}

/* ---- ranges ------------------------------------------------------------------------------------ */

static void step_counter_push(struct steps *steps, const struct rec_chunk *chunk, struct file *file,
			      const struct rec_range *record)
{
	if (file->depth < DEEPEST)
		file->open[file->depth] =
			(struct open_range){range_key(steps, chunk, record), record->time};
	file->depth++;
}

static void step_counter_pop(struct steps *steps, struct file *file, const struct rec_range *record)
{
	if (file->depth == 0 || --file->depth >= DEEPEST)
		return;
	const struct open_range *open = &file->open[file->depth];
	uint32_t index = (uint32_t)(file - steps->files);
	struct name *name = step_counter_name_of(steps, open->key, index, file->depth);
	if (!name)
		return;
	HWY_GROW(name->periods, name->n, name->cap);
	name->periods[name->n] = record->time - (name->n ? name->last : open->time);
	name->n++;
	name->last = record->time;
}

static void read_record(struct steps *steps, const struct rec_chunk *chunk, struct file *file,
			const struct rec_head *head)
{
	size_t bytes = (size_t)head->slots * REC_SLOT;
	switch (head->type) {
	case REC_STRING: {
		const struct rec_string *text = (const void *)head;
		if (text->length <= bytes - offsetof(struct rec_string, text))
			note_text(steps, chunk, text);
		break;
	}
	case REC_PUSH: step_counter_push(steps, chunk, file, (const void *)head); break;
	case REC_POP: step_counter_pop(steps, file, (const void *)head); break;
	default: break;
	}
}

/* ---- files ------------------------------------------------------------------------------------- */

/* The rest of one chunk; false when it may still grow, or is not there. */
static bool step_counter_read_chunk(struct steps *steps, struct file *file,
				    const struct rec_chunk *chunk, size_t room)
{
	uint32_t used =
		atomic_load_explicit((const _Atomic uint32_t *)&chunk->used, memory_order_acquire);
	if (chunk->magic != REC_MAGIC || used > room / REC_SLOT)
		return false;
	uint32_t slot = file->slot < HEAD_SLOTS ? HEAD_SLOTS : file->slot;
	while (slot < used) {
		const struct rec_head *head =
			(const void *)((const char *)chunk + (size_t)slot * REC_SLOT);
		if (head->slots == 0 || head->slots > used - slot)
			break;
		read_record(steps, chunk, file, head);
		slot += head->slots;
	}
	file->slot = slot;
	return true;
}

static void read_file(struct steps *steps, struct file *file)
{
	struct stat about;
	int fd = open(file->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	bool more = fstat(fd, &about) == 0;
	while (more) {
		uint64_t from = file->chunk * REC_CHUNK_BYTES, size = (uint64_t)about.st_size;
		size_t room = size > from ? (size_t)(size - from) : 0;
		room = room < REC_CHUNK_BYTES ? room : REC_CHUNK_BYTES;
		void *at = room >= sizeof(struct rec_chunk)
				   ? mmap(NULL, room, PROT_READ, MAP_SHARED, fd, (off_t)from)
				   : MAP_FAILED;
		if (at == MAP_FAILED)
			break;
		/* The next one is begun when a record found no room in this one. */
		more = step_counter_read_chunk(steps, file, at, room) &&
		       size > from + REC_CHUNK_BYTES;
		munmap(at, room);
		if (more) {
			file->chunk++;
			file->slot = 0;
		}
	}
	close(fd);
}

static void find_files(struct steps *steps)
{
	DIR *listing = opendir(steps->directory);
	for (const struct dirent *entry; listing && (entry = readdir(listing));) {
		size_t n = strlen(entry->d_name);
		if (n < 6 || strcmp(entry->d_name + n - 6, ".spool") != 0)
			continue;
		bool known = false;
		for (uint32_t i = 0; i < steps->n_files && !known; i++)
			known = strcmp(strrchr(steps->files[i].path, '/') + 1, entry->d_name) == 0;
		if (known)
			continue;
		size_t length = strlen(steps->directory);
		char *path = hwy_alloc(length + n + 2);
		stpcpy(stpcpy(stpcpy(path, steps->directory), "/"), entry->d_name);
		HWY_GROW(steps->files, steps->n_files, steps->cap_files);
		memset(&steps->files[steps->n_files], 0, sizeof *steps->files);
		steps->files[steps->n_files++].path = path;
	}
	if (listing)
		closedir(listing);
}

/* ---- steps ------------------------------------------------------------------------------------- */

static const struct name *step_of(const struct steps *steps)
{
	const struct name *best = NULL;
	for (uint32_t i = 0; i < steps->n_names; i++) {
		const struct name *name = &steps->names[i];
		if (name->n >= LEAST && (!best || name->depth < best->depth ||
					 (name->depth == best->depth && name->n > best->n)))
			best = name;
	}
	return best;
}

static uint32_t steady_of(const struct name *name)
{
	int64_t *sorted = hwy_copy(name->periods, name->n * sizeof *sorted);
	qsort(sorted, name->n, sizeof *sorted, hwy_ascending);
	int64_t median = sorted[name->n / 2];
	free(sorted);
	uint32_t slow = 0;
	while (slow < name->n && name->periods[slow] > median + median / 2)
		slow++;
	return name->n - slow;
}

uint32_t steps_steady(struct steps *steps)
{
	find_files(steps);
	for (uint32_t i = 0; i < steps->n_files; i++)
		read_file(steps, &steps->files[i]);
	const struct name *step = step_of(steps);
	return step ? steady_of(step) : 0;
}
