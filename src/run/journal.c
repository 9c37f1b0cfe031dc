/* SPDX-License-Identifier: Apache-2.0 */
/* journal.c - see journal.h. The spool has one chunk, as record.h describes it: records that do not
 * fit are counted as dropped.
 */
#include "run/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "run/run.h"
#include "spool/record.h"

struct journal {
	struct rec_chunk *chunk;
	uint32_t used; /* how many slots of the chunk are in use */
	/* How many texts were defined so far, which is also the id of the last text. */
	uint32_t texts;
};

struct journal *journal_open(const char *directory)
{
	char path[4096];
	if (snprintf(path, sizeof path, "%s/parent.spool", directory) >= (int)sizeof path)
		return NULL;
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return NULL;
	void *chunk = MAP_FAILED;
	int reason = posix_fallocate(fd, 0, REC_CHUNK_BYTES);
	if (reason == 0) {
		chunk = mmap(NULL, REC_CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		reason = errno;
	}
	close(fd);
	if (chunk == MAP_FAILED) {
		errno = reason;
		return NULL;
	}
	struct journal *journal = hwy_zalloc(sizeof *journal);
	journal->chunk = chunk;
	journal->used = sizeof *journal->chunk / REC_SLOT;
	*journal->chunk = (struct rec_chunk){
		.magic = REC_MAGIC,
		.version = REC_VERSION,
		.opened = run_now(),
		.used = journal->used,
	};
	return journal;
}

void journal_close(struct journal *journal)
{
	if (!journal)
		return;
	munmap(journal->chunk, REC_CHUNK_BYTES);
	free(journal);
}

/* Publishes a record of 'size' bytes, followed by 'rest' bytes of text. */
static void journal_put(struct journal *journal, enum rec_type type, uint8_t flags, void *record,
			size_t size, const char *text, size_t rest)
{
	uint32_t slots = (uint32_t)((size + rest + REC_SLOT - 1) / REC_SLOT);
	if (!journal)
		return;
	if (slots > REC_CHUNK_BYTES / REC_SLOT - journal->used) {
		journal->chunk->dropped++;
		return;
	}
	struct rec_head *head = record;
	head->type = (uint8_t)type;
	head->flags = flags;
	head->slots = (uint16_t)slots;
	char *to = (char *)journal->chunk + (size_t)journal->used * REC_SLOT;
	memcpy(to, record, size);
	if (rest)
		memcpy(to + size, text, rest);
	journal->used += slots;
	atomic_store_explicit((_Atomic uint32_t *)&journal->chunk->used, journal->used,
			      memory_order_release);
}

static void journal_put_text(struct journal *journal, enum rec_type type, uint32_t value,
			     const char *text, size_t length)
{
	if (length > REC_MAX_TEXT)
		length = REC_MAX_TEXT;
	struct {
		struct rec_head head;
		uint32_t length;
	} record = {.head.value = value, .length = (uint32_t)length};
	static_assert(sizeof record == offsetof(struct rec_string, text), "the fixed part");
	journal_put(journal, type, 0, &record, sizeof record, text, length);
}

void journal_property(struct journal *journal, const char *name, const char *value, size_t length)
{
	if (!journal || !value || !length)
		return;
	journal_put_text(journal, REC_STRING, ++journal->texts, name, strlen(name));
	journal_put_text(journal, REC_PROPERTY, journal->texts, value, length);
}

void journal_note(struct journal *journal, int severity, const char *text)
{
	journal_put_text(journal, REC_NOTE, (uint32_t)severity, text, strlen(text));
}

void journal_status(struct journal *journal, uint32_t pid, int status, int64_t time)
{
	struct rec_status record = {.head.value = pid, .time = time, .status = status};
	journal_put(journal, REC_STATUS, 0, &record, sizeof record, NULL, 0);
}

void journal_recording(struct journal *journal, bool on, int64_t time)
{
	struct rec_time record = {.head.value = on, .time = time};
	journal_put(journal, REC_RECORDING, 0, &record, sizeof record, NULL, 0);
}

void journal_room(struct journal *journal, uint32_t why, int64_t time)
{
	struct rec_time record = {.head.value = why, .time = time};
	journal_put(journal, REC_ROOM, 0, &record, sizeof record, NULL, 0);
}

static int64_t clock_now(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t run_now(void)
{
	return clock_now(CLOCK_MONOTONIC);
}

void journal_clock(struct journal *journal)
{
	int64_t before = clock_now(CLOCK_MONOTONIC);
	struct rec_clock record = {
		.raw = clock_now(CLOCK_MONOTONIC_RAW),
		.realtime = clock_now(CLOCK_REALTIME),
	};
	record.monotonic = before + (clock_now(CLOCK_MONOTONIC) - before) / 2;
	journal_put(journal, REC_CLOCK, 0, &record, sizeof record, NULL, 0);
}
