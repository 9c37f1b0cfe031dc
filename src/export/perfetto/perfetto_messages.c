/* SPDX-License-Identifier: Apache-2.0 */
/* perfetto_messages.c - what spans exchange with other ranks: arguments of the spans, and arrows
 * between ranks of a job.
 *
 * An arrow (flow) of Perfetto goes from the slice that began first to the one that began later:
 * an arrow to a rank that already waits begins there.
 */
#include <stdlib.h>

#include "base/search.h"
#include "export/message_args.h"
#include "export/perfetto/perfetto.h"

static int by_span_and_edge(const void *left, const void *right)
{
	const struct perfetto_rank_edge *a = left, *b = right;
	if (a->span != b->span)
		return a->span < b->span ? -1 : 1;
	return a->edge < b->edge ? -1 : a->edge > b->edge;
}

void perfetto_messages_find_edges(struct perfetto *p)
{
	const struct hwy_trace *trace = p->x.trace;
	uint32_t n = 0, cap = 0;
	/* An arrow with one end only is an error to readers, so a cut export has none. */
	for (uint32_t i = 0; i < trace->n_edges && !export_is_cut(&p->x); i++) {
		const struct hwy_edge *edge = &trace->edges[i];
		if (edge->kind != HWY_EDGE_MESSAGE && edge->kind != HWY_EDGE_COLLECTIVE)
			continue;
		const int64_t spans[] = {edge->from, edge->to};
		for (int k = 0; k < 2; k++) {
			HWY_GROW(p->rank_edges, n, cap);
			p->rank_edges[n++] = (struct perfetto_rank_edge){spans[k], i};
		}
	}
	p->n_rank_edges = n;
	if (n > 0)
		qsort(p->rank_edges, n, sizeof *p->rank_edges, by_span_and_edge);
}

void perfetto_messages_put_flows(struct perfetto *p, int64_t span)
{
	/* The ids of arrows from calls to their work have less bits. */
	const uint64_t rank_arrow = UINT64_C(1) << 63;
	if (p->n_rank_edges == 0)
		return;
	uint32_t i = HWY_FIRST(k, 0u, p->n_rank_edges, p->rank_edges[k].span >= span);
	for (; i < p->n_rank_edges && p->rank_edges[i].span == span; i++)
		pb_fixed64(&p->event, 47, rank_arrow | p->rank_edges[i].edge); /* flow_ids */
}

static void put_known(struct perfetto *p, enum perfetto_arg name, int64_t value)
{
	if (value != HWY_NONE)
		perfetto_arg_int(p, name, value);
}

void perfetto_messages_put_args(struct perfetto *p, int64_t span)
{
	struct export_exchange exchange;
	if (p->x.messages.n == 0 || !export_exchange_of(&p->x, span, &exchange))
		return;
	if (exchange.operation > 0)
		perfetto_arg_text(p, PERFETTO_OPERATION, exchange.operation);
	if (exchange.n > 1)
		perfetto_arg_int(p, PERFETTO_MESSAGES, exchange.n);
	put_known(p, PERFETTO_PEER, exchange.peer);
	put_known(p, PERFETTO_TAG, exchange.tag);
	put_known(p, PERFETTO_SENT, exchange.sent);
	put_known(p, PERFETTO_RECEIVED, exchange.received);
	put_known(p, PERFETTO_NUMBER, exchange.sequence);
	int64_t communicator = export_communicator(p->x.trace, exchange.group);
	if (communicator > 0)
		perfetto_arg_text(p, PERFETTO_COMMUNICATOR, communicator);
}
