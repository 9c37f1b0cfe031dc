/* SPDX-License-Identifier: Apache-2.0 */
/* cublas.c - the shapes of cuBLAS's and cuBLASLt's matrix products.
 *
 * The libraries tell name and time of their calls through NVTX, but no arguments; their loggers
 * write pages of text, some to stdout. So the functions that multiply matrices are replaced
 * (sibling/wrapped.h) by ones that record the shape, in front of the range that the library then
 * makes of the call. Layouts of cuBLASLt are asked for by its own function.
 */
#include <stdio.h>
#include <string.h>

#include "collect/lock.h"
#include "collect/sibling/wrapped.h"

enum { NOT_SUPPORTED = 15 }; /* what cuBLAS returns where it cannot go on */
enum { NONE = 255 };

struct function {
	struct wrapped wrapped;
	uint8_t is_wide;    /* sizes have 64 bits */
	uint8_t batch;      /* argument that is the number of products; NONE: one product */
	uint8_t type;       /* argument that is the type of A; NONE: the name tells it */
	const char *letter; /* the type by the name: "S"; NULL: 'type' tells */
};

/* cudaDataType_t of the common types. */
static const char *data_type_name(word type)
{
	static const struct {
		int number;
		const char *name;
	} types[] = {{0, "float32"},   {1, "float64"},      {2, "float16"},
		     {3, "int8"},      {4, "complex64"},    {5, "complex128"},
		     {14, "bfloat16"}, {28, "float8_e4m3"}, {29, "float8_e5m2"}};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (types[i].number == (int)type)
			return types[i].name;
	return "?";
}

static const char *type_of_letter(char letter)
{
	return letter == 'S'   ? "float32"
	       : letter == 'D' ? "float64"
	       : letter == 'H' ? "float16"
	       : letter == 'C' ? "complex64"
			       : "complex128";
}

/* ---- texts of shapes ------------------------------------------------------------------------- */

/* Programs repeat shapes, and writing a text takes longer than the rest. So texts are kept by
 * what they are made of: words of a call, or the layouts of cuBLASLt. Guarded by the lock; who
 * does not get it makes the text anew. */
enum { SHAPES = 256, KEY_BYTES = 128, MOST_TEXT = 128 };
static struct shape {
	char key[KEY_BYTES];
	char text[MOST_TEXT];
} shapes[SHAPES];
static struct lock lock;

static struct shape *shape_place(const char *key)
{
	uint64_t hash = 0, part;
	for (size_t i = 0; i < KEY_BYTES; i += sizeof part) {
		memcpy(&part, key + i, sizeof part);
		hash = (hash ^ part) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
	}
	return &shapes[hash % SHAPES];
}

static bool shape_is_kept(const char *key, char text[MOST_TEXT])
{
	const struct shape *shape = shape_place(key);
	if (!lock_try(&lock))
		return false;
	bool is_kept = shape->text[0] && memcmp(shape->key, key, KEY_BYTES) == 0;
	if (is_kept)
		strcpy(text, shape->text);
	lock_give(&lock);
	return is_kept;
}

static void shape_keep(const char *key, const char *text)
{
	struct shape *shape = shape_place(key);
	if (!lock_try(&lock))
		return;
	memcpy(shape->key, key, KEY_BYTES);
	strcpy(shape->text, text);
	lock_give(&lock);
}

/* Records the arguments of the call that begins. */
static void put_args(const char *name, const char *text)
{
	int saved = errno;
	uint32_t function = collect_string_z(name), args = collect_string_z(text);
	struct rec_call *record = collect_reserve(REC_CALL, 1);
	if (record) {
		record->head.flags = REC_CALL_ARGUMENTS;
		record->head.value = function;
		record->start = collect_now();
		record->args = args;
		collect_publish(record);
	}
	errno = saved;
}

static bool cublas_records(void)
{
	return !wrapped_inside && collect_is_on(REC_TRACE_CUBLAS_SHAPES) && !*sibling_is_sealed;
}

/* ---- cuBLAS: handle, transa, transb, m, n, k, … ---------------------------------------------- */

static long long gemm_size(const struct function *function, word w)
{
	return function->is_wide ? (long long)w : (int)w;
}

static void gemm_describe(const struct function *function, const word *w, char text[MOST_TEXT])
{
	static const char *const ways[] = {"N", "T", "C", "?"};
	int n = snprintf(
		text, MOST_TEXT,
		"{\"m\":%lld,\"n\":%lld,\"k\":%lld,\"a\":\"%s\",\"b\":\"%s\",\"type\":\"%s\"",
		gemm_size(function, w[3]), gemm_size(function, w[4]), gemm_size(function, w[5]),
		ways[w[1] & 3], ways[w[2] & 3],
		function->letter ? type_of_letter(*function->letter)
				 : data_type_name(w[function->type]));
	if (n < MOST_TEXT && function->batch != NONE)
		n += snprintf(text + n, MOST_TEXT - (size_t)n, ",\"batch\":%lld",
			      gemm_size(function, w[function->batch]));
	if (n < MOST_TEXT - 1)
		strcpy(text + n, "}");
	else
		strcpy(text, "{}");
}

static int gemm_call(struct function *function, const word *w, const void *caller)
{
	void *real = wrapped_real(&function->wrapped, caller);
	if (!real)
		return NOT_SUPPORTED;
	if (cublas_records()) {
		char text[MOST_TEXT];
		word key[KEY_BYTES / sizeof(word)] = {(word)function,
						      w[1],
						      w[2],
						      w[3],
						      w[4],
						      w[5],
						      function->batch == NONE ? 0
									      : w[function->batch],
						      function->letter ? 0 : w[function->type]};
		if (!shape_is_kept((const char *)key, text)) {
			gemm_describe(function, w, text);
			shape_keep((const char *)key, text);
		}
		put_args(function->wrapped.name, text);
	}
	return wrapped_forward(real, w);
}

#define GEMM(id, n, wide, batch_at, type_at, of)                                                   \
	WRAPPED_EXPORT int id(WRAPPED_P##n);                                                       \
	WRAPPED_EXPORT int id(WRAPPED_P##n)                                                        \
	{                                                                                          \
		static struct function function = {.wrapped.name = #id,                            \
						   .is_wide = wide,                                \
						   .batch = batch_at,                              \
						   .type = type_at,                                \
						   .letter = of};                                  \
		word w[WRAPPED_WORDS] = {WRAPPED_A##n};                                            \
		return gemm_call(&function, w, __builtin_return_address(0));                       \
	}
#define GEMM_BOTH(id, n, batch_at, type_at, of)                                                    \
	GEMM(id, n, 0, batch_at, type_at, of)                                                      \
	GEMM(id##_64, n, 1, batch_at, type_at, of)
#define GEMMS(letter)                                                                              \
	GEMM_BOTH(cublas##letter##gemmBatched, 15, 14, NONE, #letter)                              \
	GEMM_BOTH(cublas##letter##gemmStridedBatched, 18, 17, NONE, #letter)

GEMM_BOTH(cublasSgemm_v2, 14, NONE, NONE, "S")
GEMM_BOTH(cublasDgemm_v2, 14, NONE, NONE, "D")
GEMM_BOTH(cublasCgemm_v2, 14, NONE, NONE, "C")
GEMM_BOTH(cublasZgemm_v2, 14, NONE, NONE, "Z")
GEMM_BOTH(cublasHgemm, 14, NONE, NONE, "H")
GEMMS(S)
GEMMS(D)
GEMMS(C)
GEMMS(Z)
GEMMS(H)
GEMM_BOTH(cublasGemmEx, 19, NONE, 8, NULL)
GEMM_BOTH(cublasGemmBatchedEx, 20, 17, 8, NULL)
GEMM_BOTH(cublasGemmStridedBatchedEx, 23, 20, 8, NULL)

/* ---- cuBLASLt -------------------------------------------------------------------------------- */

/* Attributes of a layout. A layout is a struct of 64 bytes, which the program holds. */
enum { LAYOUT_TYPE = 0, LAYOUT_ROWS = 2, LAYOUT_COLUMNS = 3, LAYOUT_BATCH = 5 };
enum { LAYOUT_BYTES = 64 };
struct layout {
	uint64_t rows, columns;
	uint32_t type;
	int32_t batch;
};

static bool layout_read(void *ask, word layout, struct layout *is)
{
	int (*get)(word, int, void *, size_t, size_t *);
	size_t written;
	*(void **)&get = ask;
	*is = (struct layout){.batch = 1};
	return get(layout, LAYOUT_ROWS, &is->rows, sizeof is->rows, &written) == 0 &&
	       get(layout, LAYOUT_COLUMNS, &is->columns, sizeof is->columns, &written) == 0 &&
	       get(layout, LAYOUT_TYPE, &is->type, sizeof is->type, &written) == 0 &&
	       get(layout, LAYOUT_BATCH, &is->batch, sizeof is->batch, &written) == 0;
}

static bool shape_ask(void *ask, word a_layout, word d_layout, char text[MOST_TEXT])
{
	struct layout a, d;
	bool was_inside = sibling_set_inside(true);
	bool is_known = layout_read(ask, a_layout, &a) && layout_read(ask, d_layout, &d);
	sibling_set_inside(was_inside);
	if (!is_known)
		return false;
	/* Transposed or not, A has m × k elements, and D m × n. */
	unsigned long long k = d.rows ? a.rows * a.columns / d.rows : 0;
	snprintf(text, MOST_TEXT,
		 "{\"m\":%llu,\"n\":%llu,\"k\":%llu,\"type\":\"%s\",\"to\":\"%s\",\"batch\":%d}",
		 (unsigned long long)d.rows, (unsigned long long)d.columns, k,
		 data_type_name(a.type), data_type_name(d.type), (int)d.batch);
	return true;
}

static bool shape_find(void *ask, word a_layout, word d_layout, char text[MOST_TEXT])
{
	char key[KEY_BYTES];
	static_assert(KEY_BYTES == 2 * LAYOUT_BYTES, "two layouts");
	memcpy(key, (const void *)a_layout, LAYOUT_BYTES);
	memcpy(key + LAYOUT_BYTES, (const void *)d_layout, LAYOUT_BYTES);
	if (shape_is_kept(key, text))
		return true;
	if (!shape_ask(ask, a_layout, d_layout, text))
		return false;
	shape_keep(key, text);
	return true;
}

/* handle, desc, alpha, A, Adesc, B, Bdesc, beta, C, Cdesc, D, Ddesc, algorithm, workspace, its
 * size, stream */
WRAPPED_EXPORT int cublasLtMatmul(WRAPPED_P16);
WRAPPED_EXPORT int cublasLtMatmul(WRAPPED_P16)
{
	enum { A_LAYOUT = 4, D_LAYOUT = 11 };
	static struct wrapped function = {.name = "cublasLtMatmul"},
			      attribute = {.name = "cublasLtMatrixLayoutGetAttribute"};
	word w[WRAPPED_WORDS] = {WRAPPED_A16};
	const void *caller = __builtin_return_address(0);
	void *real = wrapped_real(&function, caller), *ask;
	char text[MOST_TEXT];
	if (!real)
		return NOT_SUPPORTED;
	if (cublas_records() && w[A_LAYOUT] && w[D_LAYOUT] &&
	    (ask = wrapped_real(&attribute, caller)) &&
	    shape_find(ask, w[A_LAYOUT], w[D_LAYOUT], text))
		put_args(function.name, text);
	return wrapped_forward(real, w);
}

static __attribute__((constructor)) void cublas_begin(void)
{
	sibling_connect();
}
