/* SPDX-License-Identifier: Apache-2.0 */
/* p2p.c - see p2p.h. All halves of messages are sorted by what must be equal on both sides, then
 * sends before receives, then by time: the halves of one stream of messages are then neighbours. */
#include "analyze/p2p.h"

#include <stdlib.h>

#include "base/index.h"

struct half {
	uint32_t key; /* equal for all messages of one sender, receiver, communicator and tag */
	uint32_t rank, message;
	bool is_receive;
	int64_t post, bytes;
};

struct halves {
	struct half *items;
	uint32_t n, cap;
	struct hwy_index keys;
	struct hwy_bytes buffer;
};

static void add_half(struct halves *halves, const struct collectives_rank *rank, uint32_t index,
		     uint32_t message)
{
	const struct hwy_trace *trace = collectives_trace(rank);
	const struct hwy_message *m = &trace->messages[message];
	bool is_receive = m->kind == HWY_MESSAGE_RECEIVE;
	int64_t own = collectives_number(rank, index, m);
	halves->buffer.n = 0;
	exchange_put_group(&halves->buffer, trace, m);
	hwy_bytes_put_zigzag(&halves->buffer, is_receive ? m->peer : own);
	hwy_bytes_put_zigzag(&halves->buffer, is_receive ? own : m->peer);
	hwy_bytes_put_zigzag(&halves->buffer, m->tag);
	bool fresh;
	uint32_t next = halves->keys.count;
	uint32_t *key =
		hwy_index_put(&halves->keys, halves->buffer.bytes, halves->buffer.n, &fresh);
	if (fresh)
		*key = next;
	HWY_GROW(halves->items, halves->n, halves->cap);
	halves->items[halves->n++] = (struct half){
		.key = *key,
		.rank = index,
		.message = message,
		.is_receive = is_receive,
		.post = exchange_times(trace, m).post,
		.bytes = is_receive ? m->received : m->sent,
	};
}

static int by_key_and_post(const void *a, const void *b)
{
	const struct half *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->is_receive != y->is_receive)
		return x->is_receive ? 1 : -1;
	if (x->post != y->post)
		return x->post < y->post ? -1 : 1;
	return (x->message > y->message) - (x->message < y->message);
}

/* Whether the first n sends and receives can be pairs: a receive may be larger than its message,
 * which is not known where sizes are missing. */
static bool sizes_agree(const struct half *sends, const struct half *receives, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (sends[i].bytes != HWY_NONE && receives[i].bytes != HWY_NONE &&
		    sends[i].bytes != receives[i].bytes)
			return false;
	return true;
}

static void pair_halves(struct hwy_p2p *p2p, const struct halves *halves)
{
	p2p->pairs = hwy_array(halves->n / 2 + 1, sizeof *p2p->pairs);
	for (uint32_t first = 0, end; first < halves->n; first = end) {
		uint32_t middle = first;
		const struct half *at = halves->items;
		while (middle < halves->n && at[middle].key == at[first].key &&
		       !at[middle].is_receive)
			middle++;
		for (end = middle; end < halves->n && at[end].key == at[first].key;)
			end++;
		uint32_t sends = middle - first, receives = end - middle;
		uint32_t n = sends < receives ? sends : receives;
		if (sends != receives && !sizes_agree(&at[first], &at[middle], n))
			n = 0;
		for (uint32_t i = 0; i < n; i++)
			p2p->pairs[p2p->n++] =
				(struct p2p_pair){at[first + i].rank, at[first + i].message,
						  at[middle + i].rank, at[middle + i].message};
		p2p->n_unpaired += sends + receives - 2 * n;
	}
}

bool p2p_match(struct hwy_p2p *p2p, const struct collectives_rank *ranks, uint32_t n,
	       struct hwy_err *err)
{
	*p2p = (struct hwy_p2p){0};
	struct halves halves = {0};
	bool done = true;
	for (uint32_t r = 0; r < n && done; r++) {
		const struct hwy_trace *trace = collectives_trace(&ranks[r]);
		done = exchange_need(collectives_trace(&ranks[r]), err);
		for (uint32_t i = 0; i < trace->n_messages && done; i++) {
			const struct hwy_message *m = &trace->messages[i];
			if (m->kind == HWY_MESSAGE_COLLECTIVE ||
			    !collectives_is_of(&ranks[r], m->process))
				continue;
			if (m->peer == HWY_NONE)
				p2p->n_unpaired++;
			else
				add_half(&halves, &ranks[r], r, i);
		}
	}
	if (halves.n > 0)
		qsort(halves.items, halves.n, sizeof *halves.items, by_key_and_post);
	if (done)
		pair_halves(p2p, &halves);
	free(halves.items);
	hwy_index_free(&halves.keys);
	hwy_bytes_free(&halves.buffer);
	return done;
}

void p2p_free(struct hwy_p2p *p2p)
{
	free(p2p->pairs);
	*p2p = (struct hwy_p2p){0};
}
