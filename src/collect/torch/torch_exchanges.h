/* SPDX-License-Identifier: Apache-2.0 */
/* torch_exchanges.h - scopes of libraries that communicate on threads of their own: begun on one
 * thread, ended on another. */
#ifndef HWY_COLLECT_TORCH_TORCH_EXCHANGES_H
#define HWY_COLLECT_TORCH_TORCH_EXCHANGES_H

#include <stdbool.h>
#include <stdint.h>

struct torch_exchange {
	int64_t start;
	uint32_t name, inputs, place; /* as in struct rec_operator_inputs */
	uint32_t tid;                 /* the thread that began it */
};

/* Whether scopes of this name may end on another thread: "gloo:all_reduce". */
bool torch_exchanges_has_name(const char *name);
/* Keeps what has begun, by the address of its at::RecordFunction. Where the table is full it is
 * forgotten, and a note says so. */
void torch_exchanges_begin(const void *function, const struct torch_exchange *exchange);
/* Takes what has ended out of the table; false: it is not there. */
bool torch_exchanges_take(const void *function, struct torch_exchange *exchange);

#endif
