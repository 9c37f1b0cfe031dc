/* SPDX-License-Identifier: Apache-2.0 */
/* ingest_mpi_groups.c - communicators of MPI as groups of the trace; see ingest_mpi.h.
 *
 * The group's name is the communicator's identity in hexadecimal digits, which all members have in common.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory_text.h"
#include "ingest/ingest_mpi.h"
#include "trace/collective_args.h"

enum { MOST_RANKS = 1 << 24 }; /* more than any job has: a record with more is damaged */

/* ---- members ------------------------------------------------------------------------------------ */

/* Writes the ranks of 'n' runs one by one; false where the record is damaged. */
static bool expand(const struct rec_communicator_run *runs, uint32_t n, int32_t **ranks,
		   uint32_t *count)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (runs[i].count <= 0 || runs[i].count > MOST_RANKS ||
		    runs[i].step < -MOST_RANKS || runs[i].step > MOST_RANKS)
			return false;
		sum += (uint32_t)runs[i].count;
	}
	if (sum > MOST_RANKS)
		return false;
	*ranks = hwy_array(sum + 1, sizeof **ranks);
	*count = (uint32_t)sum;
	uint32_t at = 0;
	for (uint32_t i = 0; i < n; i++)
		for (int64_t k = 0; k < runs[i].count; k++) {
			int64_t rank = runs[i].first + k * runs[i].step;
			(*ranks)[at++] = rank >= 0 && rank < MOST_RANKS ? (int32_t)rank : -1;
		}
	return true;
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
	expand(record->run, record->runs, &group->ranks[0], &group->n[0]);
	expand(record->run + record->runs, record->remote_runs, &group->ranks[1], &group->n[1]);
}

void mpi_groups_read(struct mpi_groups *groups, const struct ingest_process *process)
{
	const struct ingest_list *list = &process->communicators;
	for (uint32_t i = 0; i < list->n; i++)
		mpi_groups_define(groups, list->items[i]);
}

void mpi_groups_free(struct mpi_groups *groups)
{
	for (uint32_t i = 0; i < groups->n; i++) {
		free(groups->list[i].ranks[0]);
		free(groups->list[i].ranks[1]);
	}
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
	if (!group || !group->record || rank < 0)
		return HWY_NONE;
	int side = group->record->remote_size > 0; /* peers are in the other group */
	if ((uint32_t)rank >= group->n[side] || group->ranks[side][rank] < 0)
		return HWY_NONE;
	return group->ranks[side][rank];
}

/* ---- rows --------------------------------------------------------------------------------------- */

/* The list of members as struct hwy_group has it, of both groups where there are two: the same list on all members. NULL: not
 * known. */
static const char *members_text(struct hwy_arena *arena, const struct mpi_group *group)
{
	struct memory_text memory;
	FILE *out = memory_text_begin(&memory);
	bool is_known = group->n[0] > 0;
	int first = group->n[1] && group->n[0] && group->ranks[1][0] < group->ranks[0][0];
	for (int turn = 0; turn < 2; turn++) {
		int side = turn ^ first;
		for (uint32_t i = 0; i < group->n[side]; i++) {
			is_known &= group->ranks[side][i] >= 0;
			fprintf(out, ",%d", group->ranks[side][i]);
		}
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
	const char *ranks =
		record->head.flags & REC_COMMUNICATOR_CUT ? NULL : members_text(&arena, group);
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
