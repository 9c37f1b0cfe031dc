/* SPDX-License-Identifier: Apache-2.0 */
/* arrow_consumer.c - a receiver of the Arrow C data interface, written from its specification alone.
 *
 * Loaded by python_check.py, which hands it the pointers in the capsules. Prints a line for each column: its name, format,
 * length, nulls, the sum of its numbers or the first and the last text. What breaks a rule of the interface ends the
 * process with a message.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ArrowSchema {
	const char *format;
	const char *name;
	const char *metadata;
	int64_t flags;
	int64_t n_children;
	struct ArrowSchema **children;
	struct ArrowSchema *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};

struct ArrowArray {
	int64_t length;
	int64_t null_count;
	int64_t offset;
	int64_t n_buffers;
	int64_t n_children;
	const void **buffers;
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
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

static void rule(bool holds, const char *text)
{
	if (holds)
		return;
	fprintf(stderr, "broken rule of Arrow: %s\n", text);
	exit(1);
}

static bool is_set(const struct ArrowArray *array, int64_t row)
{
	const uint8_t *bits = array->buffers[0];
	return !bits || (bits[row / 8] >> row % 8 & 1);
}

static void print_word(const struct ArrowArray *array, int64_t index)
{
	const struct ArrowArray *words = array->dictionary;
	const int64_t *offsets = words->buffers[1];
	rule(index >= 0 && index < words->length, "an index is inside its dictionary");
	rule(offsets[index] <= offsets[index + 1] && offsets[0] == 0, "offsets never fall");
	int64_t length = offsets[index + 1] - offsets[index];
	printf(" '%.*s'", (int)(length < 20 ? length : 20),
	       (const char *)words->buffers[2] + offsets[index]);
}

static void look_at_column(const struct ArrowSchema *schema, const struct ArrowArray *array)
{
	bool is_real = strcmp(schema->format, "g") == 0;
	rule(is_real || strcmp(schema->format, "l") == 0, "a column is of format l or g");
	rule(array->n_buffers == 2 && array->buffers[1] && array->offset == 0,
	     "a column has two buffers");
	rule(!schema->dictionary == !array->dictionary, "schema and array agree on a dictionary");
	rule(array->null_count == 0 || (schema->flags & 2), "only a nullable column has nulls");
	const int64_t *numbers = array->buffers[1];
	const double *reals = array->buffers[1];
	int64_t nulls = 0, sum = 0;
	double real_sum = 0;
	for (int64_t row = 0; row < array->length; row++) {
		nulls += !is_set(array, row);
		sum = (int64_t)((uint64_t)sum +
				(uint64_t)(is_set(array, row) && !is_real ? numbers[row] : 0));
		real_sum += is_set(array, row) && is_real ? reals[row] : 0;
	}
	rule(nulls == array->null_count, "null_count counts the bits");
	printf("%s %s %" PRId64 " %" PRId64, schema->name,
	       schema->dictionary ? "words" : schema->format, array->length, nulls);
	if (array->dictionary) {
		rule(strcmp(schema->dictionary->format, "U") == 0, "words are large texts");
		rule(array->dictionary->n_buffers == 3, "texts have three buffers");
		if (array->length && is_set(array, 0))
			print_word(array, numbers[0]);
	} else if (is_real) {
		printf(" %.6g", real_sum);
	} else {
		printf(" %" PRId64, sum);
	}
	putchar('\n');
}

/* Takes both structs, as a receiver does: moves them, and leaves a struct without a release function behind. */
int arrow_take(struct ArrowSchema *given_schema, struct ArrowArray *given_array)
{
	struct ArrowSchema schema = *given_schema;
	struct ArrowArray array = *given_array;
	rule(schema.release && array.release, "what is handed out can be released");
	given_schema->release = NULL;
	given_array->release = NULL;
	if (strcmp(schema.format, "+s") == 0) {
		rule(array.n_buffers == 1 && schema.n_children == array.n_children,
		     "a struct has one buffer, and children as its schema says");
		for (int64_t i = 0; i < array.n_children; i++) {
			rule(array.children[i]->length == array.length,
			     "children are as long as their struct");
			look_at_column(schema.children[i], array.children[i]);
		}
	} else {
		look_at_column(&schema, &array);
	}
	/* A receiver may keep a child beyond its parent. */
	struct ArrowArray kept = {0};
	if (array.n_children) {
		kept = *array.children[0];
		array.children[0]->release = NULL;
	}
	schema.release(&schema);
	array.release(&array);
	rule(!schema.release && !array.release, "release marks a struct as released");
	if (kept.release) {
		const int64_t *numbers = kept.buffers[1];
		printf("kept %" PRId64 "\n", kept.length ? numbers[kept.length - 1] : 0);
		kept.release(&kept);
	}
	fflush(stdout);
	return 0;
}

/* Takes a stream: the number of its batches. */
int arrow_take_stream(struct ArrowArrayStream *given)
{
	struct ArrowArrayStream stream = *given;
	struct ArrowSchema schema;
	struct ArrowArray array;
	int batches = 0;
	given->release = NULL;
	for (;; batches++) {
		rule(stream.get_next(&stream, &array) == 0, "the next batch comes");
		if (!array.release)
			break;
		rule(stream.get_schema(&stream, &schema) == 0,
		     "the schema comes as often as asked");
		arrow_take(&schema, &array);
	}
	rule(stream.get_last_error(&stream) == NULL, "there is no error where none happened");
	stream.release(&stream);
	rule(!stream.release, "release marks a stream as released");
	return batches;
}
