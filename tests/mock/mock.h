/* SPDX-License-Identifier: Apache-2.0 */
/* mock.h - what a test asks of the mock libcupti beyond CUPTI's own functions (tests/mock/cupti.c). */
#ifndef HWY_TESTS_MOCK_H
#define HWY_TESTS_MOCK_H

#include <stddef.h>
#include <stdint.h>

struct mock_launched { /* a launch of a kernel, which takes 'ns' on the device */
	const char *symbol;
	uint32_t grid[3], block[3], shared;
	int64_t ns;
};
/* The counters' side (cupti_profiler.c): a kernel ran. */
void mock_profiler_ran(const struct mock_launched *launched);

/* X(result, name, parameters) */
#define MOCK_FUNCTIONS(X)                                                                            \
	/* The recording MOCK_CUPTI_DATA, one thread for each of its buffers. */                     \
	X(void, mock_replay, (void))                                                                 \
	/* A call of so many ns on this thread, with its callbacks and its record; a driver call   \
	 * inside it where 'inner' is not 0. Gives its correlation id. */ \
	X(uint32_t, mock_call, (uint32_t domain, uint32_t cbid, int64_t ns, uint32_t inner))         \
	/* A call that waits for, or records, these (0: it has none), and returns 'result'. */       \
	X(uint32_t, mock_sync,                                                                       \
	  (uint32_t domain, const char *name, uint64_t stream, uint64_t event, uint32_t result,      \
	   uint32_t inner))                                                                          \
	X(uint32_t, mock_number, (uint32_t domain, const char *name)) /* cbid by name */             \
	/* A launch with its callbacks, its kernel and its records. */                               \
	X(void, mock_launch, (const struct mock_launched *launched))                                 \
	X(void, mock_module, (const char *cubin, size_t bytes)) /* a module is loaded */             \
	/* A kernel that ran at 'start' (0: untimed). */                                             \
	X(void, mock_kernel, (uint32_t correlation, const char *name, int64_t start, int64_t ns))    \
	/* A kernel of a launched graph: node 'index' of the instantiated graph 'graph'. */          \
	X(void, mock_graph_kernel,                                                                   \
	  (uint32_t correlation, const char *name, int64_t start, int64_t ns, uint32_t graph,        \
	   uint32_t index))                                                                          \
	/* A node of a graph is made; it runs after another one; a graph is instantiated. */         \
	X(void, mock_node, (uint32_t graph, uint32_t index))                                         \
	X(void, mock_node_after, (uint32_t graph, uint32_t index, uint32_t before))                  \
	X(void, mock_instantiate, (uint32_t graph, uint32_t nodes, uint32_t exec))                   \
	X(void, mock_drop, (uint32_t records))                                                       \
	X(int, mock_is_enabled, (uint32_t kind))                                                     \
	X(int, mock_is_watched, (uint32_t domain, uint32_t cbid))                                    \
	X(int, mock_is_final, (void)) /* detached, and not called since */

#endif
