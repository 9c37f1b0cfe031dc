/* SPDX-License-Identifier: Apache-2.0 */
/* ingest_mpi_groups.c - communicators of MPI as groups of the trace; see ingest_mpi.h.
 *
 * The group's name is the communicator's identity in hexadecimal digits, which all members have
 * in common.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory_text.h"
#include "ingest/ingest_mpi.h"
#include "trace/collective_args.h"

enum { MOST_RANKS = 1 << 20 }; /* more than any job has: a record with more is damaged */

/* ---- members --------------------------------------------------------------------------------- */

/* The runs of the group (side 0), or of the other group of an intercommunicator (side 1); *n
 * gets their number. */
static const struct rec_communicator_run *runs_of(const struct rec_communicator *record, int side,
						  uint32_t *n)
{
	*n = side ? record->remote_runs : record->runs;
	return side ? record->run + record->runs : record->run;
}

/* The world's rank of number i of a run; HWY_NONE: a rank of another world, or the record is
 * damaged. */
static int64_t rank_in_run(const struct rec_communicator_run *run, int64_t i)
{
	int64_t rank = run->first + i * run->step;
	return run->first >= 0 && rank >= 0 && rank < MOST_RANKS ? rank : HWY_NONE;
}

static void mpi_groups_define(struct mpi_groups *groups, const struct rec_communicator *record)
{
	struct mpi_group *group = mpi_groups_find(groups, record->head.value);
	if (!group) {
		*hwy_ids_put(&groups->refs, record->head.value) = hwy_ref32(groups->n);
		HWY_GROW(groups->list, groups->n, groups->cap);
		group = &groups->list[groups->n++];
		*group = (struct mpi_group){.group = UINT32_MAX};
	}
	if (record->head.flags & REC_COMMUNICATOR_NAMED) {
		group->label = record->label;
		return;
	}
	if (group->record)
		return;
	group->record = record;
	if (!group->label)
		group->label = record->label;
}

void mpi_groups_read(struct mpi_groups *groups, const struct ingest_process *process)
{
	const struct ingest_list *list = &process->communicators;
	for (uint32_t i = 0; i < list->n; i++)
		mpi_groups_define(groups, list->items[i]);
}

void mpi_groups_free(struct mpi_groups *groups)
{
	free(groups->list);
	hwy_ids_free(&groups->refs);
}

struct mpi_group *mpi_groups_find(struct mpi_groups *groups, uint32_t number)
{
	uint32_t ref = number ? hwy_ids_get(&groups->refs, number) : HWY_REF_NONE;
	return hwy_ref32_is_set(ref) ? &groups->list[hwy_ref32_index(ref)] : NULL;
}

int64_t mpi_groups_world_rank(const struct mpi_group *group, int32_t rank)
{
	uint32_t n;
	int64_t left = rank;
	if (!group || !group->record || rank < 0)
		return HWY_NONE;
	/* Peers of an intercommunicator are in the other group. */
	const struct rec_communicator_run *runs =
		runs_of(group->record, group->record->remote_size > 0, &n);
	for (uint32_t i = 0; i < n; i++) {
		if (left < runs[i].count)
			return rank_in_run(&runs[i], left);
		left -= runs[i].count > 0 ? runs[i].count : 0;
	}
	return HWY_NONE;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Writes the ranks of a run, "4", "0-6:2" or one by one; false where they are not known. */
static bool put_run(FILE *out, const struct rec_communicator_run *run)
{
	int64_t last = run->count > 0 && run->count <= MOST_RANKS ? rank_in_run(run, run->count - 1)
								  : HWY_NONE;
	if (run->first < 0 || last == HWY_NONE)
		return false;
	if (run->count > 1 && run->step > 0) {
		fprintf(out, ",%d-%lld:%d", run->first, (long long)last, run->step);
		return true;
	}
	for (int32_t i = 0; i < run->count && (run->step || !i); i++)
		fprintf(out, ",%lld", (long long)rank_in_run(run, i));
	return run->step || run->count == 1;
}

static int64_t first_rank(const struct rec_communicator *record, int side)
{
	uint32_t n;
	const struct rec_communicator_run *runs = runs_of(record, side, &n);
	return n ? runs[0].first : INT64_MAX;
}

/* The list of members as struct hwy_group has it, of both groups where there are two: the same
 * list on all members. NULL: not known. */
static const char *members_text(struct hwy_arena *arena, const struct rec_communicator *record)
{
	struct memory_text memory;
	FILE *out = memory_text_begin(&memory);
	bool is_known = !(record->head.flags & REC_COMMUNICATOR_CUT);
	int first = first_rank(record, 1) < first_rank(record, 0);
	for (int turn = 0; turn < 2; turn++) {
		uint32_t n;
		const struct rec_communicator_run *runs = runs_of(record, turn ^ first, &n);
		for (uint32_t i = 0; i < n && is_known; i++)
			is_known = put_run(out, &runs[i]);
	}
	char *text = memory_text_end(&memory);
	const char *list = is_known ? collective_ranks(arena, text) : NULL;
	free(text);
	return list;
}

uint32_t mpi_groups_row(struct ingest *in, struct ingest_process *process, struct mpi_group *group)
{
	if (group->group != UINT32_MAX || !group->record)
		return group->group;
	const struct rec_communicator *record = group->record;
	struct hwy_arena arena = {0};
	char name[32];
	const char *ranks = members_text(&arena, record);
	snprintf(name, sizeof name, "%016llx", (unsigned long long)record->identity);
	group->group = hwy_new_groups(in->b);
	struct hwy_group *row = &in->trace->groups[group->group];
	row->process = process->record;
	row->name = hwy_text_id(in->b, name);
	row->backend = hwy_text_id(in->b, "MPI");
	row->size = (int64_t)record->size + record->remote_size;
	if (group->label)
		row->description = ingest_text(in, process, group->label);
	if (ranks)
		row->ranks = hwy_text_id(in->b, ranks);
	hwy_arena_free(&arena);
	return group->group;
}
