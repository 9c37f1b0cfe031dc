/* SPDX-License-Identifier: Apache-2.0 */
/* nsys_payload.c - decodes the payloads of NVTX ranges that have a schema: NCCL tells bytes,
 * ranks and communicators so.
 *
 * NVTX_PAYLOAD_SCHEMA_ENTRIES says which fields a payload of a schema has. The column binaryData
 * of a range begins with 32 bytes: domain, schema (both 32 bits of 64), size of the payload,
 * size of all. A payload whose sizes do not agree is not decoded. Fields that are numbers become
 * a JSON object, by their names; others (arrays, texts, structs, enumerations) are left out.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/search.h"
#include "import/nsys/nsys.h"

enum { HEADER_BYTES = 32, MOST_BYTES = 1 << 16 };

struct payload_entry {
	uint64_t schema; /* domain << 32 | schema, the key of the entries of a schema */
	int64_t index, type, offset;
	uint32_t name; /* text of the trace */
};

struct nsys_payloads {
	struct payload_entry *entries; /* sorted by schema and index */
	uint32_t n, cap;
	struct hwy_bytes text;
	unsigned char bytes[MOST_BYTES]; /* of a payload that is stored as hexadecimal digits */
};

/* Numbers of NVTX's types of fields: signed and unsigned ones of a size, and floating ones. */
static bool field_type(int64_t type, uint32_t *size, char *kind)
{
	static const struct {
		uint8_t size;
		char kind;
	} types[] = {
		[1] = {1, 'i'},  [2] = {1, 'u'},  [3] = {2, 'i'},  [4] = {2, 'u'},  [5] = {4, 'i'},
		[6] = {4, 'u'},  [7] = {8, 'i'},  [8] = {8, 'u'},  [9] = {8, 'i'},  [10] = {8, 'u'},
		[11] = {1, 'i'}, [12] = {1, 'u'}, [13] = {2, 'i'}, [14] = {2, 'u'}, [15] = {4, 'i'},
		[16] = {4, 'u'}, [17] = {8, 'i'}, [18] = {8, 'u'}, [19] = {4, 'f'}, [20] = {8, 'f'},
		[22] = {8, 'u'}, [23] = {8, 'u'},
	};
	if (type <= 0 || type >= (int64_t)(sizeof types / sizeof *types) || !types[type].size)
		return false;
	*size = types[type].size;
	*kind = types[type].kind;
	return true;
}

static uint64_t schema_key(int64_t domain, int64_t schema)
{
	return (uint64_t)(uint32_t)domain << 32 | (uint32_t)schema;
}

static int by_schema_and_index(const void *left, const void *right)
{
	const struct payload_entry *a = left, *b = right;
	if (a->schema != b->schema)
		return a->schema < b->schema ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

void nsys_payloads_open(struct nsys *n)
{
	struct nsys_query q;
	/* Fields that are no plain number have flags: pointers, arrays, texts. */
	if (!nsys_select(n, &q, "NVTX_PAYLOAD_SCHEMA_ENTRIES",
			 "~domainId ~schemaId ~idx type name offset flags", NULL))
		return;
	struct nsys_payloads *all = n->payloads = hwy_zalloc(sizeof *all);
	while (nsys_next(&q)) {
		if (nsys_int(&q, 6) != 0)
			continue;
		HWY_GROW(all->entries, all->n, all->cap);
		all->entries[all->n++] = (struct payload_entry){
			.schema = schema_key(nsys_int(&q, 0), nsys_int(&q, 1)),
			.index = nsys_int(&q, 2),
			.type = nsys_int(&q, 3),
			.name = nsys_text(&q, 4),
			.offset = nsys_int(&q, 5),
		};
	}
	if (all->n > 0)
		qsort(all->entries, all->n, sizeof *all->entries, by_schema_and_index);
}

void nsys_payloads_close(struct nsys *n)
{
	if (!n->payloads)
		return;
	free(n->payloads->entries);
	hwy_bytes_free(&n->payloads->text);
	free(n->payloads);
	n->payloads = NULL;
}

/* Bytes that are stored as hexadecimal digits; 0: they are not. */
static size_t unhex(unsigned char *to, const unsigned char *from, size_t length)
{
	if (length % 2 != 0 || length / 2 > MOST_BYTES)
		return 0;
	for (size_t i = 0; i < length; i++) {
		if (!isxdigit(from[i]))
			return 0;
		int digit = isdigit(from[i]) ? from[i] - '0' : tolower(from[i]) - 'a' + 10;
		to[i / 2] = (unsigned char)(i % 2 ? to[i / 2] << 4 | digit : digit);
	}
	return length / 2;
}

static void put_field(struct hwy_bytes *text, const char *name, const unsigned char *at,
		      uint32_t size, char kind)
{
	char number[40];
	uint64_t whole = 0;
	double real = 0;
	float single;
	memcpy(&whole, at, size);
	if (kind == 'f' && size == 4) {
		memcpy(&single, at, sizeof single);
		real = single;
	} else if (kind == 'f') {
		memcpy(&real, at, sizeof real);
	}
	int shift = 64 - 8 * (int)size;
	if (kind == 'f')
		snprintf(number, sizeof number, "%.17g", real);
	else if (kind == 'i')
		snprintf(number, sizeof number, "%" PRId64, (int64_t)(whole << shift) >> shift);
	else
		snprintf(number, sizeof number, "%" PRIu64, whole);
	if (kind == 'f' && !(real - real == 0)) /* JSON has no infinity */
		return;
	hwy_bytes_put(text, text->n ? ",\"" : "{\"", 2);
	for (; *name; name++)
		if ((unsigned char)*name >= ' ' && *name != '"' && *name != '\\')
			hwy_bytes_put(text, name, 1);
	hwy_bytes_put(text, "\":", 2);
	hwy_bytes_put(text, number, strlen(number));
}

/* Writes the fields of a payload of 'size' bytes to all->text. */
static void put_fields(struct nsys *n, uint64_t schema, const unsigned char *payload, size_t size)
{
	struct nsys_payloads *all = n->payloads;
	all->text.n = 0;
	uint32_t first = HWY_FIRST(k, 0u, all->n, all->entries[k].schema >= schema);
	for (uint32_t i = first; i < all->n && all->entries[i].schema == schema; i++) {
		const struct payload_entry *entry = &all->entries[i];
		uint32_t bytes;
		char kind;
		/* A report of several processes has the entries of each. */
		bool is_repeated = i > 0 && by_schema_and_index(entry, entry - 1) == 0;
		if (is_repeated || entry->offset < 0 || !field_type(entry->type, &bytes, &kind) ||
		    (uint64_t)entry->offset + bytes > size || !entry->name)
			continue;
		put_field(&all->text, hwy_str(n->trace, entry->name), payload + entry->offset,
			  bytes, kind);
	}
	if (all->text.n)
		hwy_bytes_put(&all->text, "}", 1);
}

uint32_t nsys_payload_args(struct nsys_query *q, int column)
{
	struct nsys *n = q->nsys;
	if (!n->payloads || nsys_null(q, column))
		return 0;
	const unsigned char *bytes = sqlite3_value_blob(q->values[column]);
	size_t length = (size_t)sqlite3_value_bytes(q->values[column]);
	size_t decoded = bytes ? unhex(n->payloads->bytes, bytes, length) : 0;
	if (decoded) {
		bytes = n->payloads->bytes;
		length = decoded;
	}
	uint32_t domain, schema;
	uint64_t size, whole;
	if (!bytes || length < HEADER_BYTES)
		return 0;
	memcpy(&domain, bytes, sizeof domain);
	memcpy(&schema, bytes + 8, sizeof schema);
	memcpy(&size, bytes + 16, sizeof size);
	memcpy(&whole, bytes + 24, sizeof whole);
	if (size > length - HEADER_BYTES || whole != size + HEADER_BYTES)
		return 0;
	put_fields(n, schema_key(domain, schema), bytes + HEADER_BYTES, (size_t)size);
	struct hwy_bytes *text = &n->payloads->text;
	return text->n ? hwy_text_id_n(n->b, (const char *)text->bytes, text->n) : 0;
}
