/* SPDX-License-Identifier: Apache-2.0 */
/* thrift.c - see thrift.h. A field is a byte with the distance of its id from the last one and its
 * type (or the type and the whole id), then the value; a 0 byte ends a struct. */
#include "export/parquet/thrift.h"

#include <assert.h>

enum { TYPE_TRUE = 1, TYPE_FALSE = 2, TYPE_I8 = 3 };

struct thrift thrift_begin(struct hwy_bytes *out)
{
	return (struct thrift){.out = out};
}

static void thrift_head(struct thrift *t, int id, int type)
{
	int *last = &t->last[t->depth], distance = id - *last;
	assert(distance > 0);
	if (distance < 16) {
		hwy_bytes_put_byte(t->out, (uint8_t)(distance << 4 | type));
	} else {
		hwy_bytes_put_byte(t->out, (uint8_t)type);
		hwy_bytes_put_zigzag(t->out, id);
	}
	*last = id;
}

static void thrift_open(struct thrift *t)
{
	assert(t->depth + 1 < THRIFT_DEPTH);
	t->last[++t->depth] = 0;
}

void thrift_end(struct thrift *t)
{
	hwy_bytes_put_byte(t->out, 0);
	if (t->depth > 0)
		t->depth--;
}

void thrift_bool(struct thrift *t, int id, bool value)
{
	thrift_head(t, id, value ? TYPE_TRUE : TYPE_FALSE);
}

void thrift_i8(struct thrift *t, int id, int8_t value)
{
	thrift_head(t, id, TYPE_I8);
	hwy_bytes_put_byte(t->out, (uint8_t)value);
}

void thrift_i32(struct thrift *t, int id, int32_t value)
{
	thrift_head(t, id, THRIFT_I32);
	hwy_bytes_put_zigzag(t->out, value);
}

void thrift_i64(struct thrift *t, int id, int64_t value)
{
	thrift_head(t, id, THRIFT_I64);
	hwy_bytes_put_zigzag(t->out, value);
}

void thrift_binary(struct thrift *t, int id, const void *bytes, size_t n)
{
	thrift_head(t, id, THRIFT_BINARY);
	hwy_bytes_put_varint(t->out, n);
	hwy_bytes_put(t->out, bytes, n);
}

void thrift_text(struct thrift *t, int id, const char *text)
{
	thrift_binary(t, id, text, strlen(text));
}

void thrift_struct(struct thrift *t, int id)
{
	thrift_head(t, id, THRIFT_STRUCT);
	thrift_open(t);
}

void thrift_list(struct thrift *t, int id, int type, uint32_t n)
{
	thrift_head(t, id, THRIFT_LIST);
	hwy_bytes_put_byte(t->out, (uint8_t)((n < 15 ? n : 15) << 4 | (unsigned)type));
	if (n >= 15)
		hwy_bytes_put_varint(t->out, n);
}

void thrift_element(struct thrift *t)
{
	thrift_open(t);
}

void thrift_number(struct thrift *t, int64_t value)
{
	hwy_bytes_put_zigzag(t->out, value);
}

void thrift_word(struct thrift *t, const char *text)
{
	hwy_bytes_put_varint(t->out, strlen(text));
	hwy_bytes_put(t->out, text, strlen(text));
}
