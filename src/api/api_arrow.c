/* SPDX-License-Identifier: Apache-2.0 */
/* api_arrow.c - columns as the structs of the Arrow C data interface.
 *
 * Buffers are those of the columns (api_columns.c): nothing is copied. Every struct that is
 * handed out, a child too, keeps the trace, since a receiver may move children out of their
 * parent. Texts are dictionaries: their index is the column's number, their words the trace's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_trace.h"

/* As the specification has them; the two structs are the interface, and never change. */
struct ArrowSchema {
	const char *format, *name, *metadata;
	int64_t flags, n_children;
	struct ArrowSchema **children, *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};

struct ArrowArray {
	int64_t length, null_count, offset, n_buffers, n_children;
	const void **buffers;
	struct ArrowArray **children, *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};

struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
	int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
	const char *(*get_last_error)(struct ArrowArrayStream *);
	void (*release)(struct ArrowArrayStream *);
	void *private_data;
};

enum { ARROW_FLAG_NULLABLE = 2, MOST_BUFFERS = 3 };

/* What a struct that was handed out holds on to. */
struct schema_part {
	struct headway_trace *trace;
	char *name;
};

struct array_part {
	struct headway_trace *trace;
	const void *buffers[MOST_BUFFERS];
};

/* ---- schema ---------------------------------------------------------------------------------- */

static void schema_release(struct ArrowSchema *schema)
{
	for (int64_t i = 0; i < schema->n_children; i++) {
		if (schema->children[i]->release)
			schema->children[i]->release(schema->children[i]);
		free(schema->children[i]);
	}
	free(schema->children);
	if (schema->dictionary && schema->dictionary->release)
		schema->dictionary->release(schema->dictionary);
	free(schema->dictionary);
	struct schema_part *part = schema->private_data;
	api_trace_leave(part->trace);
	free(part->name);
	free(part);
	schema->release = NULL;
}

static void schema_begin(struct ArrowSchema *schema, struct headway_trace *trace,
			 const char *format, const char *name)
{
	struct schema_part *part = hwy_alloc(sizeof *part);
	*part = (struct schema_part){trace, hwy_copy(name, strlen(name) + 1)};
	api_trace_use(trace);
	*schema = (struct ArrowSchema){.format = format,
				       .name = part->name,
				       .release = schema_release,
				       .private_data = part};
}

static void schema_of_column(struct ArrowSchema *schema, struct headway_trace *trace,
			     const struct headway_column *column)
{
	schema_begin(schema, trace, column->type == HEADWAY_REALS ? "g" : "l", column->name);
	schema->flags = column->present ? ARROW_FLAG_NULLABLE : 0;
	if (column->words) {
		schema->dictionary = hwy_alloc(sizeof *schema->dictionary);
		schema_begin(schema->dictionary, trace, "U", "");
	}
}

/* ---- array ----------------------------------------------------------------------------------- */

static void array_release(struct ArrowArray *array)
{
	for (int64_t i = 0; i < array->n_children; i++) {
		if (array->children[i]->release)
			array->children[i]->release(array->children[i]);
		free(array->children[i]);
	}
	free(array->children);
	if (array->dictionary && array->dictionary->release)
		array->dictionary->release(array->dictionary);
	free(array->dictionary);
	struct array_part *part = array->private_data;
	api_trace_leave(part->trace);
	free(part);
	array->release = NULL;
}

static struct array_part *array_begin(struct ArrowArray *array, struct headway_trace *trace,
				      uint64_t length, int64_t buffers)
{
	struct array_part *part = hwy_zalloc(sizeof *part);
	part->trace = trace;
	api_trace_use(trace);
	*array = (struct ArrowArray){.length = (int64_t)length,
				     .n_buffers = buffers,
				     .buffers = part->buffers,
				     .release = array_release,
				     .private_data = part};
	return part;
}

static void array_of_words(struct ArrowArray *array, struct headway_trace *trace,
			   const struct headway_words *words)
{
	struct array_part *part = array_begin(array, trace, words->n, 3);
	part->buffers[1] = words->offsets;
	part->buffers[2] = words->bytes;
}

static void array_of_column(struct ArrowArray *array, struct headway_trace *trace,
			    const struct headway_column *column)
{
	struct array_part *part = array_begin(array, trace, column->rows, 2);
	part->buffers[0] = column->present;
	part->buffers[1] = column->values;
	array->null_count = (int64_t)column->absent;
	if (column->words) {
		array->dictionary = hwy_alloc(sizeof *array->dictionary);
		array_of_words(array->dictionary, trace, column->words);
	}
}

/* ---- both ------------------------------------------------------------------------------------ */

/* Makes a struct of all columns of a kind; nothing is left where one cannot be read. */
static bool arrow_export_all(struct headway_trace *trace, const char *kind,
			     struct ArrowSchema *schema, struct ArrowArray *array, char *why,
			     size_t why_size)
{
	uint32_t n = 0;
	while (headway_column_name(trace, kind, n))
		n++;
	schema_begin(schema, trace, "+s", "");
	array_begin(array, trace, 0, 1);
	schema->children = hwy_zarray(n, sizeof *schema->children);
	array->children = hwy_zarray(n, sizeof *array->children);
	for (uint32_t i = 0; i < n; i++) {
		const struct headway_column *column = headway_trace_column(
			trace, kind, headway_column_name(trace, kind, i), why, why_size);
		if (!column) {
			schema->release(schema);
			array->release(array);
			return false;
		}
		schema->children[i] = hwy_alloc(sizeof *schema->children[i]);
		array->children[i] = hwy_alloc(sizeof *array->children[i]);
		schema_of_column(schema->children[i], trace, column);
		array_of_column(array->children[i], trace, column);
		schema->n_children = array->n_children = i + 1;
		array->length = (int64_t)column->rows;
	}
	return true;
}

bool headway_arrow_export(struct headway_trace *trace, const char *kind, const char *name,
			  struct ArrowSchema *schema, struct ArrowArray *array, char *why,
			  size_t why_size)
{
	if (!name && !headway_column_name(trace, kind, 0)) {
		api_put_reason(why, why_size, "no such kind of span");
		return false;
	}
	if (!name)
		return arrow_export_all(trace, kind, schema, array, why, why_size);
	const struct headway_column *column =
		headway_trace_column(trace, kind, name, why, why_size);
	if (!column)
		return false;
	schema_of_column(schema, trace, column);
	array_of_column(array, trace, column);
	return true;
}

/* ---- a stream of one batch ------------------------------------------------------------------- */

/* What a stream still has to give. */
struct stream_part {
	struct headway_trace *trace;
	char *kind; /* NULL: all spans */
	bool is_over;
	char why[256];
};

static int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *schema)
{
	struct stream_part *part = stream->private_data;
	struct ArrowArray array;
	if (!headway_arrow_export(part->trace, part->kind, NULL, schema, &array, part->why,
				  sizeof part->why))
		return EIO;
	array.release(&array);
	return 0;
}

static int stream_next(struct ArrowArrayStream *stream, struct ArrowArray *array)
{
	struct stream_part *part = stream->private_data;
	struct ArrowSchema schema;
	*array = (struct ArrowArray){0}; /* an array without a release function ends the stream */
	if (part->is_over)
		return 0;
	if (!headway_arrow_export(part->trace, part->kind, NULL, &schema, array, part->why,
				  sizeof part->why))
		return EIO;
	schema.release(&schema);
	part->is_over = true;
	return 0;
}

static const char *stream_error(struct ArrowArrayStream *stream)
{
	const struct stream_part *part = stream->private_data;
	return part->why[0] ? part->why : NULL;
}

static void stream_release(struct ArrowArrayStream *stream)
{
	struct stream_part *part = stream->private_data;
	api_trace_leave(part->trace);
	free(part->kind);
	free(part);
	stream->release = NULL;
}

bool headway_arrow_stream(struct headway_trace *trace, const char *kind,
			  struct ArrowArrayStream *stream, char *why, size_t why_size)
{
	if (!headway_column_name(trace, kind, 0)) {
		api_put_reason(why, why_size, "no such kind of span");
		return false;
	}
	struct stream_part *part = hwy_zalloc(sizeof *part);
	part->trace = trace;
	part->kind = kind ? hwy_copy(kind, strlen(kind) + 1) : NULL;
	api_trace_use(trace);
	*stream = (struct ArrowArrayStream){.get_schema = stream_schema,
					    .get_next = stream_next,
					    .get_last_error = stream_error,
					    .release = stream_release,
					    .private_data = part};
	return true;
}
