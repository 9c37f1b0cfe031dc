/* SPDX-License-Identifier: Apache-2.0 */
/* make_spool.h - runs made by hand: a directory, a control page, and spools with any record. */
#ifndef HWY_TESTS_MAKE_SPOOL_H
#define HWY_TESTS_MAKE_SPOOL_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ingest/ingest.h"
#include "spool/control.h"
#include "spool/record.h"

#define SPOOL_EPOCH INT64_C(1000000000000) /* the run's start */

struct made_run {
	char path[256];
	struct rec_control control;
};

struct made_spool {
	FILE *file;
	uint32_t pid, tid, index;
	uint64_t process;
	uint32_t used;
	union {
		struct rec_chunk head;
		char bytes[REC_CHUNK_BYTES];
	} * chunk;
};

static inline struct made_run make_run(void)
{
	struct made_run run = {.control = {
				       .magic = REC_MAGIC,
				       .version = REC_CONTROL_VERSION,
				       .traces = REC_TRACE_CUDA | REC_TRACE_NVTX,
				       .started = SPOOL_EPOCH,
			       }};
	snprintf(run.path, sizeof run.path, "%s/made-run-XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(run.path))
		abort();
	return run;
}

static inline void write_run_file(const struct made_run *run, const char *name, const void *bytes,
				  size_t size)
{
	char path[512];
	snprintf(path, sizeof path, "%s/%s", run->path, name);
	FILE *file = fopen(path, "wb");
	fwrite(bytes, size, 1, file);
	fclose(file);
}

static inline void write_control(const struct made_run *run)
{
	write_run_file(run, "control", &run->control, REC_CONTROL_BYTES);
	write_run_file(run, "state", &run->control.recording, REC_STATE_BYTES);
}

static inline void remove_run(const struct made_run *run)
{
	char path[1024];
	DIR *listing = opendir(run->path);
	for (const struct dirent *entry; (entry = readdir(listing));) {
		snprintf(path, sizeof path, "%s/%s", run->path, entry->d_name);
		unlink(path);
	}
	closedir(listing);
	rmdir(run->path);
}

static inline void begin_chunk(struct made_spool *spool)
{
	memset(spool->chunk, 0, sizeof *spool->chunk);
	spool->chunk->head = (struct rec_chunk){
		.magic = REC_MAGIC,
		.version = REC_VERSION,
		.pid = spool->pid,
		.tid = spool->tid,
		.index = spool->index++,
		.opened = SPOOL_EPOCH,
		.process = spool->process,
	};
	spool->used = sizeof(struct rec_chunk) / REC_SLOT;
}

static inline void write_chunk(struct made_spool *spool)
{
	spool->chunk->head.used = spool->used;
	fwrite(spool->chunk, sizeof *spool->chunk, 1, spool->file);
}

/* pid 0: the parent's */
static inline struct made_spool make_spool(const struct made_run *run, uint32_t pid, uint32_t tid,
					   int number)
{
	struct made_spool spool = {.pid = pid, .tid = tid, .process = SPOOL_EPOCH + pid};
	char path[512];
	snprintf(path, sizeof path, pid ? "%s/%u.%u.%d.spool" : "%s/parent.spool", run->path, pid,
		 tid, number);
	spool.file = fopen(path, "wb");
	spool.chunk = malloc(sizeof *spool.chunk);
	begin_chunk(&spool);
	return spool;
}

/* Room for a record of so many bytes, zeroed; its head is set. */
static inline void *put_record(struct made_spool *spool, enum rec_type type, uint8_t flags,
			       uint32_t value, size_t bytes)
{
	uint32_t slots = (uint32_t)((bytes + REC_SLOT - 1) / REC_SLOT);
	if (spool->used + slots > REC_CHUNK_BYTES / REC_SLOT) {
		write_chunk(spool);
		begin_chunk(spool);
	}
	struct rec_head *head = (void *)(spool->chunk->bytes + (size_t)spool->used * REC_SLOT);
	*head = (struct rec_head){(uint8_t)type, flags, (uint16_t)slots, value};
	spool->used += slots;
	return head;
}

static inline void put_text(struct made_spool *spool, enum rec_type type, uint32_t value,
			    const char *text, size_t length)
{
	struct rec_string *record = put_record(spool, type, 0, value, 12 + length);
	record->length = (uint32_t)length;
	memcpy(record->text, text, length);
}

static inline void put_string(struct made_spool *spool, uint32_t id, const char *text)
{
	put_text(spool, REC_STRING, id, text, strlen(text));
}

static inline void end_spool(struct made_spool *spool)
{
	write_chunk(spool);
	fclose(spool->file);
	free(spool->chunk);
}

#endif
