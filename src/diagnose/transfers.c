/* SPDX-License-Identifier: Apache-2.0 */
/* transfers.c - copies and communication of the steady steps, and how much of each is exposed.
 *
 * The exposed time of a transfer is covered neither by compute, nor (of a copy) by communication,
 * nor by an earlier transfer of the same class. So the exposed times of a class add up to the
 * device's exposed time of that class.
 */
#include <stdlib.h>

#include "analyze/lanes.h"
#include "diagnose/case.h"

struct cover_list { /* disjoint intervals in order of time */
	struct hwy_interval *list;
	uint32_t n, cap;
	uint32_t next; /* index of the first interval that does not end before the current piece */
};

static void list_add(struct cover_list *list, struct hwy_interval piece)
{
	if (list->n && list->list[list->n - 1].to >= piece.from) {
		list->list[list->n - 1].to = piece.to;
		return;
	}
	HWY_GROW(list->list, list->n, list->cap);
	list->list[list->n++] = piece;
}

/* Yields how many ns of a piece the list's intervals cover. From call to call the pieces must
 * come in order of time. */
static int64_t list_overlap(struct cover_list *list, struct hwy_interval piece)
{
	int64_t sum = 0;
	while (list->next < list->n && list->list[list->next].to <= piece.from)
		list->next++;
	for (uint32_t i = list->next; i < list->n && list->list[i].from < piece.to; i++) {
		int64_t from = list->list[i].from > piece.from ? list->list[i].from : piece.from;
		int64_t to = list->list[i].to < piece.to ? list->list[i].to : piece.to;
		sum += to > from ? to - from : 0;
	}
	return sum;
}

/* Copies from or to arrays (textures) are what the program wanted: no finding claims their time. */
static bool is_claimable(const struct case_transfer *transfer)
{
	return transfer->direction != HWY_A2A && transfer->direction != HWY_A2D &&
	       transfer->direction != HWY_D2A;
}

static void transfers_note(struct hwy_case *c, uint32_t op, int64_t exposed)
{
	const struct flow_op *one = &c->flow->ops[op];
	HWY_GROW(c->transfers, c->n_transfers, c->cap_transfers);
	struct case_transfer *transfer = &c->transfers[c->n_transfers++];
	*transfer = (struct case_transfer){.op = op, .exposed = exposed, .left = exposed};
	transfer->is_comm = one->class == HWY_COMM;
	if (one->kind != HWY_COPY)
		return;
	int64_t bytes = case_get(c, one->span, HWY_BYTES);
	transfer->bytes = bytes > 0 ? (uint64_t)bytes : 0;
	transfer->direction = (uint8_t)case_get(c, one->span, HWY_DIRECTION);
	transfer->source = (uint8_t)case_get(c, one->span, HWY_SRC_MEMORY);
	transfer->target = (uint8_t)case_get(c, one->span, HWY_DST_MEMORY);
	if (!is_claimable(transfer))
		transfer->left = 0;
}

struct pass {
	struct cover_list compute, comm;
	struct hwy_cover covers[HWY_CLASSES]; /* the time that each class covers so far */
};

/* Goes over a device's ops of one class. Classes come in the order compute, communication, copies:
 * each looks at what the classes before it cover. */
static void pass_class(struct hwy_case *c, struct pass *pass, uint32_t device, enum hwy_class class)
{
	const struct flow_device *all = &c->flow->devices[device];
	const uint32_t *order = c->flow->by_device ? c->flow->by_device + all->first : NULL;
	uint32_t first = flow_op_unfinished(c->flow, c->phase->window.from);
	pass->compute.next = pass->comm.next = 0;
	for (uint32_t i = lanes_place(order, all->n, first); i < all->n; i++) {
		uint32_t index = order ? order[i] : i;
		const struct flow_op *op = &c->flow->ops[index];
		if (op->start >= c->phase->window.to)
			break;
		if (op->class != class || op->kind == HWY_FILL)
			continue;
		/* An op that began before the window covers the part of the window that it reaches
		 * into. */
		struct hwy_interval fresh = {0};
		int64_t end = op->end < c->phase->window.to ? op->end : c->phase->window.to;
		bool any = cover_add(&pass->covers[class], op->start, end, &fresh);
		int64_t exposed = 0;
		if (any && class == HWY_COMPUTE)
			list_add(&pass->compute, fresh);
		if (any && class != HWY_COMPUTE)
			exposed = fresh.to - fresh.from - list_overlap(&pass->compute, fresh);
		if (any && class == HWY_COMM)
			list_add(&pass->comm, fresh);
		if (any && class == HWY_MEMCLASS)
			exposed -= list_overlap(&pass->comm, fresh);
		bool inside = op->start >= c->phase->window.from;
		if (inside && case_is_transfer(op) && case_op_is_ours(c, index))
			transfers_note(c, index, exposed > 0 ? exposed : 0);
	}
}

static int compare_transfers(const void *a, const void *b)
{
	const struct case_transfer *x = a, *y = b;
	return (x->op > y->op) - (x->op < y->op);
}

void transfers_find(struct hwy_case *c)
{
	if (!c->counts.any_transfer)
		return;
	for (uint32_t d = 0; d < c->flow->n_devices; d++) {
		struct pass pass = {0};
		if (!c->uses[d])
			continue;
		pass_class(c, &pass, d, HWY_COMPUTE);
		pass_class(c, &pass, d, HWY_COMM);
		pass_class(c, &pass, d, HWY_MEMCLASS);
		free(pass.compute.list);
		free(pass.comm.list);
	}
	if (c->n_transfers)
		qsort(c->transfers, c->n_transfers, sizeof *c->transfers, compare_transfers);
	for (uint32_t i = 0; i < c->n_transfers; i++) {
		c->counts.h2d += c->transfers[i].direction == HWY_H2D;
		c->counts.d2h += c->transfers[i].direction == HWY_D2H;
	}
}
