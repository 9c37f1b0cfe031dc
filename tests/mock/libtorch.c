/* SPDX-License-Identifier: Apache-2.0 */
/* libtorch.c - the observer interface of PyTorch 2.11, in C: its symbols, its calls and its layout of at::RecordFunction.
 *
 * Debian has PyTorch 1.13, on which tests record for real; the later interface takes names as std::variant, and its
 * object is laid out otherwise. HEADWAY_MOCK_TORCH makes it a version that nobody knows: "silent" never calls the
 * end callback, "elsewhere" passes the object behind another argument. "profiled" has an observer of the program's own.
 *
 * mock_torch_run(n) runs operators: each of n is "aten::outer" with "aten::inner" inside. mock_torch_exchange(n) runs n
 * collectives as gloo does: the scope begins inside of an operator, and ends on another thread when all have begun.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT(symbol) __asm__(symbol) __attribute__((visibility("default")))

struct callback {
	void **(*start)(void **context, const void *function);
	void (*end)(const void *function, void *context);
	double probability;
	bool scopes[10], needs_inputs, needs_outputs, needs_ids;
};
struct text {
	size_t length;
	const char *text;
	uint64_t alternative;
};
struct function { /* at::RecordFunction, 344 bytes */
	void *vtable;
	char pairs[80]; /* ends at byte 88 */
	uint64_t thread;
	uint8_t scope;
	bool needs[3], began;
	char name[95];
	uint32_t spare;
	int64_t sequence;
	char rest[136];
};
_Static_assert(offsetof(struct function, scope) == 96 &&
		       offsetof(struct function, sequence) == 200 && sizeof(struct function) == 344,
	       "as in PyTorch 2.11");

static struct callback observer;
static bool is_observed;

static const char *mode(void)
{
	const char *text = getenv("HEADWAY_MOCK_TORCH");
	return text ? text : "";
}

bool has_callbacks(void) EXPORT("_ZN2at12hasCallbacksEv");
bool has_callbacks(void)
{
	return is_observed || strcmp(mode(), "profiled") == 0;
}

uint64_t add(struct callback callback)
	EXPORT("_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE");
uint64_t add(struct callback callback)
{
	observer = callback;
	is_observed = true;
	return 1;
}

void drop(uint64_t handle) EXPORT("_ZN2at14removeCallbackEm");
void drop(uint64_t handle)
{
	is_observed &= handle != 1;
}

const char *name(const struct function *function) EXPORT("_ZNK2at14RecordFunction4nameEv");
const char *name(const struct function *function)
{
	return function->name;
}

void construct(struct function *function, uint8_t scope)
	EXPORT("_ZN2at14RecordFunctionC1ENS_11RecordScopeE");
void construct(struct function *function, uint8_t scope)
{
	memset(function, 0, sizeof *function);
	function->thread = 1;
	function->scope = scope;
	function->sequence = -1;
}

void before(struct function *function, struct text text, int64_t sequence) EXPORT(
	"_ZN2at14RecordFunction6beforeESt7variantIJSt17basic_string_viewIcSt11char_traitsIcEE"
	"St17reference_wrapperIKN3c1014FunctionSchemaEEEEl");
void before(struct function *function, struct text text, int64_t sequence)
{
	void *context = &context;
	memcpy(function->name, text.text, text.length);
	function->sequence = sequence;
	if (!is_observed || !observer.scopes[function->scope])
		return;
	function->began = true;
	if (observer.start(&context, strcmp(mode(), "elsewhere") == 0 ? (void *)&context
								      : function) != &context ||
	    context)
		abort(); /* a std::unique_ptr comes back by its address, and holds nothing */
}

void destroy(struct function *function) EXPORT("_ZN2at14RecordFunctionD1Ev");
void destroy(struct function *function)
{
	if (function->began && is_observed && strcmp(mode(), "silent") != 0)
		observer.end(function, NULL);
	function->began = false;
}

static void begin(struct function *function, const char *text, int64_t sequence)
{
	construct(function, 0);
	before(function, (struct text){strlen(text), text, 0}, sequence);
}

void mock_torch_run(int n) EXPORT("mock_torch_run");
void mock_torch_run(int n)
{
	for (int i = 0; i < n; i++) {
		struct function outer, inner;
		begin(&outer, "aten::outer", i);
		begin(&inner, "aten::inner", -1);
		destroy(&inner);
		destroy(&outer);
	}
}

static void begin_scope(struct function *function, const char *text)
{
	construct(function, 7); /* at::RecordScope::USER_SCOPE */
	before(function, (struct text){strlen(text), text, 0}, -1);
}

struct exchanges {
	struct function *functions;
	int n;
};

static void *end_exchanges(void *context)
{
	struct exchanges *all = context;
	for (int i = 0; i < all->n; i++)
		destroy(&all->functions[i]);
	return NULL;
}

void mock_torch_exchange(int n) EXPORT("mock_torch_exchange");
void mock_torch_exchange(int n)
{
	struct exchanges all = {calloc((size_t)n, sizeof *all.functions), n};
	pthread_t thread;
	for (int i = 0; i < n; i++) {
		struct function outer;
		begin(&outer, "c10d::allreduce_", -1);
		begin_scope(&all.functions[i], "gloo:all_reduce");
		destroy(&outer);
	}
	if (pthread_create(&thread, NULL, end_exchanges, &all) == 0)
		pthread_join(thread, NULL);
	free(all.functions);
}
