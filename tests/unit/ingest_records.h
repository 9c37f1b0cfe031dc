/* SPDX-License-Identifier: Apache-2.0 */
/* ingest_records.h - records of runs made by hand, and what is looked for in their traces. */
#ifndef HWY_TESTS_INGEST_RECORDS_H
#define HWY_TESTS_INGEST_RECORDS_H

#include "make_trace.h"

#include "read_spool.h"

static const int64_t epoch = SPOOL_EPOCH;

static inline uint32_t count(const struct hwy_trace *trace, enum hwy_kind kind)
{
	uint32_t n = 0;
	for (uint32_t s = 0; s < trace->n_strips; s++)
		n += trace->strips[s].kind == (uint32_t)kind ? trace->strips[s].rows : 0;
	return n;
}

static inline const char *name_of(const struct hwy_trace *trace, const struct hwy_strip *strip,
			   uint32_t row)
{
	return hwy_str(trace, hwy_get(strip, HWY_NAME, row));
}

static inline uint64_t lost(const struct hwy_trace *trace)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < trace->n_drops; i++)
		n += (uint64_t)trace->drops[i].count;
	return n;
}

static inline bool was_said(const struct hwy_trace *trace, const char *text)
{
	for (uint32_t i = 0; i < trace->n_diagnostics; i++)
		if (strstr(hwy_str(trace, trace->diagnostics[i].text), text))
			return true;
	return false;
}

static inline void put_process(struct made_spool *spool, uint32_t parent, int64_t start)
{
	put_string(spool, 900, "/usr/bin/python3.11");
	put_text(spool, REC_STRING, 901, "python3\0train.py\0--name=it's", 28);
	struct rec_process *process =
		put_record(spool, REC_PROCESS, 0, 0, sizeof(struct rec_process));
	process->start = epoch + start;
	process->pid = spool->pid;
	process->parent = parent;
	process->exe = 900;
	process->command = 901;
	process->rank = process->local_rank = process->world = -1;
}

static inline void put_range(struct made_spool *spool, enum rec_type type, uint32_t name,
			     int64_t time, uint32_t domain)
{
	struct rec_range *range = put_record(spool, type, 0, name, REC_SLOT);
	range->time = epoch + time;
	range->domain = domain;
}

static inline void put_exit(struct made_spool *spool, uint8_t flags, int64_t time)
{
	struct rec_time *exit = put_record(spool, REC_EXIT, flags, 0, sizeof *exit);
	exit->time = epoch + time;
}

static inline struct rec_api *put_call(struct made_spool *spool, uint32_t cbid, int64_t start,
				       uint32_t correlation)
{
	struct rec_api *api = put_record(spool, REC_API, cbid == 119 ? REC_API_DRIVER : 0,
					 cbid | 3 << 16, sizeof *api);
	api->start = epoch + start;
	api->duration = 50;
	api->correlation = correlation;
	api->tid = spool->tid;
	return api;
}

static inline void put_cuda(struct made_spool *spool)
{
	put_string(spool, 1, "_Z3addILi4EEvPfi");
	put_string(spool, 2, "cudaLaunchKernel_v7000");
	put_string(spool, 3, "cuEventRecord");
	struct rec_naming *name = put_record(spool, REC_NAME, REC_NAMED_CALL, 2, sizeof *name);
	name->domain = 2;
	name->number = 211;
	name = put_record(spool, REC_NAME, REC_NAMED_CALL, 3, sizeof *name);
	name->domain = 1;
	name->number = 119;
	struct rec_shape *shape = put_record(spool, REC_SHAPE, 0, 5, sizeof *shape);
	shape->grid[0] = 80;
	shape->block[2] = 3;
	shape->local_total = 99;
	struct rec_context *context = put_record(spool, REC_CONTEXT, 0, 1, sizeof *context);
	context->null_stream = 7;
	struct rec_stream *stream = put_record(spool, REC_STREAM, 2, 13, sizeof *stream);
	stream->context = 1;
	stream->priority = -5;
}

static inline struct rec_work *put_work(struct made_spool *spool, enum rec_type type,
					uint32_t value, int64_t start, uint32_t correlation,
					uint32_t stream)
{
	struct rec_work *work = put_record(spool, type, 0, value, sizeof *work);
	work->start = epoch + start;
	work->duration = 20;
	work->correlation = correlation;
	work->stream = stream;
	work->context = 1;
	return work;
}

#endif
