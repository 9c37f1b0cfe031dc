/* SPDX-License-Identifier: Apache-2.0 */
/* step_counter.c - see step_counter.h.
 *
 * A step is a push/pop range that comes again and again: of the ranges that ended at least three
 * times in one thread, the outermost, and of these the one that ended most often. Names that differ
 * only in their numbers ("step_7", "step_8") are one name. The first steps of a run are slow
 * (compilers, caches, allocators); steady steps begin where a step first takes no longer than one
 * and a half times the median.
 *
 * Spools are read as they grow, each record once. They may be written at the same time: records
 * before 'used' are complete. They are copied before they are looked at.
 */
#include "run/step_counter.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/index.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/quantile.h"
#include "base/strings.h"
#include "spool/record.h"

enum {
	DEEPEST = 64,
	LEAST_STEPS = 3,
	MOST_NAMES = 1000,
	HEAD_SLOTS = sizeof(struct rec_chunk) / REC_SLOT
};

/* The key of a range's name: the same text in another domain is another name. */
struct range_name {
	/* Id in 'texts' of the text without its digits; or UNREAD | text id of the process. */
	uint64_t text;
	uint64_t domain;
};
static const uint64_t UNREAD = UINT64_C(1) << 32;

struct name { /* the ranges of one name, in one thread at one depth */
	struct range_name name;
	uint32_t file, depth;
	int64_t last; /* ns when a range of this name last ended */
	/* periods: ns from one end to the next end; the first period is counted from the range's
	 * own beginning. */
	int64_t *periods;
	uint32_t n, cap;
};

struct file {
	char *path;
	uint64_t chunk; /* index of the chunk that is being read */
	uint32_t slot;  /* index of the next slot of the chunk that is read */
	uint32_t depth; /* how many ranges are open, of all domains together */
	struct open_range {
		struct range_name name;
		int64_t time;
	} open[DEEPEST];
};

struct step_counter {
	const char *directory;
	struct rec_chunk *chunk; /* a copy of the chunk that is being read */
	struct file *files;
	uint32_t n_files, cap_files;
	struct hwy_index text_of; /* maps a struct text_key to an id in 'texts' */
	struct hwy_strings texts; /* the names of ranges, without the digits in them */
	struct name *names;
	uint32_t n_names, cap_names;
};

struct step_counter *step_counter_open(const char *directory)
{
	struct step_counter *counter = hwy_zalloc(sizeof *counter);
	counter->directory = directory;
	counter->chunk = hwy_alloc(REC_CHUNK_BYTES);
	hwy_strings_init(&counter->texts);
	return counter;
}

void step_counter_close(struct step_counter *counter)
{
	if (!counter)
		return;
	for (uint32_t i = 0; i < counter->n_files; i++)
		free(counter->files[i].path);
	for (uint32_t i = 0; i < counter->n_names; i++)
		free(counter->names[i].periods);
	free(counter->files);
	free(counter->chunk);
	free(counter->names);
	hwy_index_free(&counter->text_of);
	hwy_strings_free(&counter->texts);
	free(counter);
}

/* ---- names
 * ------------------------------------------------------------------------------------- */

/* The key of a text: a text id means something in one process only. The struct has no padding. */
struct text_key {
	uint64_t process;
	uint32_t pid, id;
};

static struct text_key text_key(const struct rec_chunk *chunk, uint32_t id)
{
	return (struct text_key){chunk->process, chunk->pid, id};
}

static void note_text(struct step_counter *counter, const struct rec_chunk *chunk,
		      const struct rec_string *record)
{
	char plain[256];
	size_t n = 0;
	for (uint32_t i = 0; i < record->length && n < sizeof plain; i++)
		if (!isdigit((unsigned char)record->text[i]))
			plain[n++] = record->text[i];
	struct text_key key = text_key(chunk, record->head.value);
	*hwy_index_put(&counter->text_of, &key, sizeof key, NULL) =
		hwy_intern(&counter->texts, plain, n);
}

/* Yields the name of a range. A text whose definition was not read yet counts as a name of its
 * own. */
static struct range_name range_name(struct step_counter *counter, const struct rec_chunk *chunk,
				    const struct rec_range *push)
{
	struct text_key key = text_key(chunk, push->head.value);
	const uint32_t *text = hwy_index_get(&counter->text_of, &key, sizeof key);
	return (struct range_name){text ? *text : UNREAD | push->head.value, push->domain};
}

static struct name *find_name(struct step_counter *counter, struct range_name wanted, uint32_t file,
			      uint32_t depth)
{
	for (uint32_t i = 0; i < counter->n_names; i++) {
		struct name *name = &counter->names[i];
		if (name->name.text == wanted.text && name->name.domain == wanted.domain &&
		    name->file == file && name->depth == depth)
			return name;
	}
	/* A program with so many names of ranges gets no further names: they are hardly steps. */
	if (counter->n_names == MOST_NAMES)
		return NULL;
	HWY_GROW(counter->names, counter->n_names, counter->cap_names);
	counter->names[counter->n_names] =
		(struct name){.name = wanted, .file = file, .depth = depth};
	return &counter->names[counter->n_names++];
}

/* ---- ranges
 * ------------------------------------------------------------------------------------ */

static void step_counter_push(struct step_counter *counter, const struct rec_chunk *chunk,
			      struct file *file, const struct rec_range *record)
{
	if (file->depth < DEEPEST)
		file->open[file->depth] =
			(struct open_range){range_name(counter, chunk, record), record->time};
	file->depth++;
}

static void step_counter_pop(struct step_counter *counter, struct file *file,
			     const struct rec_range *record)
{
	if (file->depth == 0 || --file->depth >= DEEPEST)
		return;
	const struct open_range *open = &file->open[file->depth];
	uint32_t index = (uint32_t)(file - counter->files);
	struct name *name = find_name(counter, open->name, index, file->depth);
	if (!name)
		return;
	HWY_GROW(name->periods, name->n, name->cap);
	name->periods[name->n] = record->time - (name->n ? name->last : open->time);
	name->n++;
	name->last = record->time;
}

static void read_record(struct step_counter *counter, const struct rec_chunk *chunk,
			struct file *file, const struct rec_head *head)
{
	size_t bytes = (size_t)head->slots * REC_SLOT;
	switch (head->type) {
	case REC_STRING: {
		const struct rec_string *text = (const void *)head;
		if (text->length <= bytes - offsetof(struct rec_string, text))
			note_text(counter, chunk, text);
		break;
	}
	case REC_PUSH: step_counter_push(counter, chunk, file, (const void *)head); break;
	case REC_POP: step_counter_pop(counter, file, (const void *)head); break;
	case REC_OWNER: file->depth = 0; break; /* another thread's ranges follow */
	default: break;
	}
}

/* ---- files
 * ------------------------------------------------------------------------------------- */

/* Reads the rest of one chunk; false when the chunk's head is damaged. */
static bool step_counter_read_chunk(struct step_counter *counter, struct file *file,
				    const struct rec_chunk *chunk, size_t room)
{
	uint32_t used = chunk->used;
	if (chunk->magic != REC_MAGIC || used > room / REC_SLOT)
		return false;
	uint32_t slot = file->slot < HEAD_SLOTS ? HEAD_SLOTS : file->slot;
	while (slot < used) {
		const struct rec_head *head =
			(const void *)((const char *)chunk + (size_t)slot * REC_SLOT);
		if (head->slots == 0 || head->slots > used - slot)
			break;
		read_record(counter, chunk, file, head);
		slot += head->slots;
	}
	file->slot = slot;
	return true;
}

/* Reads the chunk at this offset of the file into counter->chunk, up to its last record. Yields
 * how many bytes of it are there; 0: there is no whole chunk. The copy is private: the program
 * could change a mapping while it is being read. */
static size_t copy_chunk(struct step_counter *counter, const struct file *file, int fd, size_t room)
{
	struct rec_chunk *chunk = counter->chunk;
	off_t from = (off_t)(file->chunk * REC_CHUNK_BYTES);
	if (room < sizeof *chunk ||
	    pread(fd, chunk, sizeof *chunk, from) != (ssize_t)sizeof *chunk ||
	    chunk->used > room / REC_SLOT)
		return 0;
	if (chunk->used <= HEAD_SLOTS)
		return sizeof *chunk;
	size_t rest = (size_t)chunk->used * REC_SLOT - sizeof *chunk;
	ssize_t n = pread(fd, chunk + 1, rest, from + (off_t)sizeof *chunk);
	return n == (ssize_t)rest ? rest + sizeof *chunk : 0;
}

static void read_file(struct step_counter *counter, struct file *file)
{
	struct stat about;
	int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return;
	bool more = fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
	while (more) {
		uint64_t from = file->chunk * REC_CHUNK_BYTES, size = (uint64_t)about.st_size;
		size_t room = size > from ? (size_t)(size - from) : 0;
		room = copy_chunk(counter, file, fd,
				  room < REC_CHUNK_BYTES ? room : REC_CHUNK_BYTES);
		/* A thread begins the next chunk only when a record found no room in this chunk. */
		more = room && step_counter_read_chunk(counter, file, counter->chunk, room) &&
		       size > from + REC_CHUNK_BYTES;
		if (more) {
			file->chunk++;
			file->slot = 0;
		}
	}
	close(fd);
}

static void find_files(struct step_counter *counter)
{
	DIR *listing = opendir(counter->directory);
	for (const struct dirent *entry; listing && (entry = readdir(listing));) {
		size_t n = strlen(entry->d_name);
		if (n < 6 || strcmp(entry->d_name + n - 6, ".spool") != 0)
			continue;
		bool is_listed = false;
		for (uint32_t i = 0; i < counter->n_files && !is_listed; i++)
			is_listed =
				strcmp(hwy_basename(counter->files[i].path), entry->d_name) == 0;
		if (is_listed)
			continue;
		size_t length = strlen(counter->directory);
		char *path = hwy_alloc(length + n + 2);
		stpcpy(stpcpy(stpcpy(path, counter->directory), "/"), entry->d_name);
		HWY_GROW(counter->files, counter->n_files, counter->cap_files);
		memset(&counter->files[counter->n_files], 0, sizeof *counter->files);
		counter->files[counter->n_files++].path = path;
	}
	if (listing)
		closedir(listing);
}

/* ---- steps
 * ------------------------------------------------------------------------------------- */

static const struct name *find_step(const struct step_counter *counter)
{
	const struct name *best = NULL;
	for (uint32_t i = 0; i < counter->n_names; i++) {
		const struct name *name = &counter->names[i];
		if (name->n >= LEAST_STEPS && (!best || name->depth < best->depth ||
					       (name->depth == best->depth && name->n > best->n)))
			best = name;
	}
	return best;
}

static uint32_t count_steady(const struct name *name)
{
	int64_t *sorted = hwy_copy_array(name->periods, name->n, sizeof *sorted);
	hwy_sort(sorted, name->n);
	int64_t median = hwy_median_upper(sorted, name->n);
	free(sorted);
	uint32_t slow = 0;
	while (slow < name->n && name->periods[slow] > median + median / 2)
		slow++;
	return name->n - slow;
}

uint32_t step_counter_steady(struct step_counter *counter)
{
	find_files(counter);
	for (uint32_t i = 0; i < counter->n_files; i++)
		read_file(counter, &counter->files[i]);
	const struct name *step = find_step(counter);
	return step ? count_steady(step) : 0;
}
