/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_schemas.c - see nvtx_schemas.h.
 *
 * Programs repeat payloads: a loop gives the same sizes in every turn. So equal payloads of a
 * process are decoded once.
 *
 * Read are: numbers, enumerations, texts (inside the payload, registered, or copied by the
 * collector), arrays of fixed length or with their length in another entry, texts up to their 0
 * byte, structs in structs, and unions whose member another entry selects. What is not read is
 * left out of the arguments.
 */
#include "ingest/nvtx_schemas.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

enum {
	MOST_DEPTH = 4,
	/* Of one payload: schemas that contain each other could have any number of entries. */
	MOST_ENTRIES = 1024,
	MOST_ELEMENTS = 64, /* of an array; the others are left out */
	SCHEMA_DYNAMIC = 2,
	SCHEMA_UNION = 3,
	TYPE_CHAR = 1,
	TYPE_CHAR8 = 25,
	TYPE_ADDRESS = 23,
	ARRAY_FIXED = 1 << 4,
	ARRAY_ZERO = 2 << 4,
	ARRAY_INDEX = 3 << 4,
	FLAG_HIDE = 1 << 9,
};

/* A definition is found by this; it is a key, and has no padding. */
struct definition_key {
	uint64_t id;
	uint32_t domain, what;
};
struct nvtx_schemas {
	struct hwy_index
		decoded_of; /* maps process, domain, schema and bytes to an index into 'decoded' */
	struct nvtx_decoded **decoded;
	uint32_t n, cap;
};

/* ---- definitions ----------------------------------------------------------------------------- */

void nvtx_schemas_note(struct ingest_process *process, const struct rec_nvtx_definition *record)
{
	/* The first record of a definition in several records is the one that is found. */
	struct definition_key key = {record->id, record->domain, record->head.flags};
	bool fresh;
	uint32_t *ref = hwy_index_put(&process->nvtx_definition_of, &key, sizeof key, &fresh);
	bool is_first = record->head.flags >= REC_NVTX_COUNTER || record->scope == 0;
	if (fresh || is_first)
		*ref = hwy_ref32(process->nvtx_definitions.n);
	ingest_list_add(&process->nvtx_definitions, record);
}

const struct rec_nvtx_definition *nvtx_definition(struct ingest *in, uint32_t process,
						  enum rec_nvtx_defined what, uint32_t domain,
						  uint64_t id, struct ingest_process **owner)
{
	struct definition_key key = {id, domain, what};
	struct ingest_process *image = &in->processes[process];
	/* A process cannot have more ancestors than there are processes. */
	for (uint32_t i = 0; image && i <= in->n_processes; i++, image = target_parent(in, image)) {
		const uint32_t *ref = hwy_index_get(&image->nvtx_definition_of, &key, sizeof key);
		if (!ref || !hwy_ref32_is_set(*ref))
			continue;
		*owner = image;
		return image->nvtx_definitions.items[hwy_ref32_index(*ref)];
	}
	return NULL;
}

uint32_t nvtx_entries(const struct rec_nvtx_definition *definition,
		      const struct rec_nvtx_entry **entries)
{
	*entries = (const void *)(definition + 1); /* spools.c has checked that they are there */
	return definition->count;
}

/* ---- decoding -------------------------------------------------------------------------------- */

struct decoder {
	struct ingest *in;
	uint32_t process, domain;
	struct ingest_process *image;
	const uint8_t *bytes;
	uint32_t size;
	const uint32_t *texts; /* string ids of the texts that the outermost schema points to */
	uint32_t n_texts, next_text;
	struct hwy_json json;
	struct nvtx_decoded *decoded;
	int depth;
	uint32_t entries; /* how many were read */
};

/* A schema that is being read: where its data begins, and the whole numbers that its entries
 * have. */
struct level {
	const struct rec_nvtx_definition *schema;
	struct ingest_process *owner; /* whose texts the schema names */
	const struct rec_nvtx_entry *entries;
	uint32_t n, base;
	uint32_t at; /* behind the entry that was read last */
	int64_t numbers[REC_NVTX_ENTRIES];
};

static bool decode_schema(struct decoder *d, const struct rec_nvtx_definition *schema,
			  struct ingest_process *owner, uint32_t base, uint32_t *end);

static const struct rec_nvtx_definition *find(struct decoder *d, enum rec_nvtx_defined what,
					      uint64_t id, struct ingest_process **owner)
{
	return id < 1 << 24 ? NULL : nvtx_definition(d->in, d->process, what, d->domain, id, owner);
}

static bool is_char(uint64_t type)
{
	return type == TYPE_CHAR || type == TYPE_CHAR8;
}

static bool is_text_type(uint64_t type)
{
	return type >= REC_NVTX_TYPE_CSTRING && type <= REC_NVTX_TYPE_CSTRING_LAST;
}

static bool holds(const struct decoder *d, uint64_t at, uint64_t size)
{
	return at <= d->size && size <= d->size - at;
}

static void put_scalar(struct decoder *d, struct nvtx_scalar scalar)
{
	char digits[40];
	if (scalar.is == NVTX_REAL && isfinite(scalar.real)) {
		snprintf(digits, sizeof digits, "%.12g", scalar.real);
		json_number(&d->json, digits);
	} else if (scalar.is == NVTX_REAL || scalar.is == NVTX_NOT_SCALAR) {
		json_null(&d->json);
	} else if (scalar.is == NVTX_UNSIGNED) {
		snprintf(digits, sizeof digits, "%llu", (unsigned long long)scalar.whole);
		json_number(&d->json, digits);
	} else {
		json_int(&d->json, scalar.whole);
	}
}

/* The name of an enumeration's value as a text of the trace; 0: the value has no name. */
static uint32_t name_of_value(struct decoder *d, const struct rec_nvtx_definition *first,
			      struct ingest_process *owner, uint64_t value)
{
	for (uint32_t i = 0; i < owner->nvtx_definitions.n; i++) {
		const struct rec_nvtx_definition *part = owner->nvtx_definitions.items[i];
		if (part->head.flags != REC_NVTX_ENUM || part->id != first->id ||
		    part->domain != first->domain)
			continue;
		const struct rec_nvtx_entry *entries;
		uint32_t n = nvtx_entries(part, &entries);
		for (uint32_t e = 0; e < n; e++)
			if (entries[e].type == value)
				return ingest_text(d->in, owner, entries[e].name);
	}
	return 0;
}

/* A text by its string id, which the process may have from a process that it was forked from. */
static uint32_t inherited_text(struct decoder *d, uint32_t id)
{
	uint32_t text = 0;
	struct ingest_process *image = d->image;
	for (uint32_t i = 0; !text && image && i <= d->in->n_processes; i++) {
		text = ingest_text(d->in, image, id);
		image = target_parent(d->in, image);
	}
	return text;
}

/* A number, an address or a registered text. */
static void put_own_type(struct decoder *d, uint64_t type, struct nvtx_scalar scalar,
			 uint32_t *text)
{
	if (type == TYPE_ADDRESS) {
		char hex[24];
		snprintf(hex, sizeof hex, "0x%llx", (unsigned long long)scalar.whole);
		json_textz(&d->json, hex);
	} else if (type == REC_NVTX_TYPE_REGISTERED) {
		*text = inherited_text(d, (uint32_t)scalar.whole);
		json_textz(&d->json, hwy_str(d->in->trace, *text));
	} else {
		put_scalar(d, scalar);
	}
}

static uint32_t decode_enum(struct decoder *d, const struct rec_nvtx_definition *named,
			    struct ingest_process *owner, uint32_t at, int64_t *number,
			    uint32_t *text)
{
	static const uint8_t types[] = {[1] = 12, [2] = 14, [4] = 16, [8] = 18};
	uint32_t size = named->of < sizeof types && types[named->of] ? (uint32_t)named->of : 4;
	if (!holds(d, at, size))
		return 0;
	struct nvtx_scalar scalar = nvtx_scalar(types[size], d->bytes + at);
	*number = scalar.whole;
	*text = name_of_value(d, named, owner, (uint64_t)scalar.whole);
	if (*text)
		json_textz(&d->json, hwy_str(d->in->trace, *text));
	else
		put_scalar(d, scalar);
	return size;
}

/* One value that is a number, an enumeration or a struct. Yields its size, 0: it cannot be read. */
static uint32_t decode_element(struct decoder *d, uint64_t type, uint32_t at, int64_t *number,
			       uint32_t *text)
{
	struct ingest_process *owner;
	uint32_t size = rec_nvtx_type_size(type);
	*text = 0;
	if (size) {
		if (!holds(d, at, size))
			return 0;
		struct nvtx_scalar scalar = nvtx_scalar(type, d->bytes + at);
		*number = scalar.is == NVTX_REAL ? 0 : scalar.whole;
		put_own_type(d, type, scalar, text);
		return size;
	}
	const struct rec_nvtx_definition *named = find(d, REC_NVTX_ENUM, type, &owner);
	if (named)
		return decode_enum(d, named, owner, at, number, text);
	const struct rec_nvtx_definition *nested = find(d, REC_NVTX_SCHEMA, type, &owner);
	uint32_t end;
	if (!nested || !decode_schema(d, nested, owner, at, &end))
		return 0;
	return nested->of ? (uint32_t)nested->of : end - at;
}

static void put_inside_text(struct decoder *d, uint32_t at, uint64_t length, uint32_t *text)
{
	const char *bytes = (const char *)d->bytes + at;
	size_t n = strnlen(bytes, length);
	*text = hwy_text_id_n(d->in->b, bytes, n);
	json_text(&d->json, bytes, n);
}

/* The number of elements of an array, or of bytes of a text, that lies inside the payload;
 * UINT64_MAX: not known. */
static uint64_t array_length(const struct decoder *d, const struct level *level,
			     const struct rec_nvtx_entry *entry, uint32_t at)
{
	switch (entry->flags & REC_NVTX_FLAG_ARRAY) {
	case 0:
	case ARRAY_FIXED: return entry->detail;
	case ARRAY_INDEX:
		return entry->detail < level->n && level->numbers[entry->detail] >= 0
			       ? (uint64_t)level->numbers[entry->detail]
			       : UINT64_MAX;
	case ARRAY_ZERO:
		return holds(d, at, 1) ? strnlen((const char *)d->bytes + at, d->size - at) + 1
				       : UINT64_MAX;
	default: return UINT64_MAX;
	}
}

/* An array or a text. Yields its size in bytes, 0: it cannot be read. */
static uint32_t decode_array(struct decoder *d, const struct level *level,
			     const struct rec_nvtx_entry *entry, uint32_t at, uint32_t *text)
{
	uint64_t length = array_length(d, level, entry, at);
	if (length == 0 || length > d->size)
		return 0;
	if (is_text_type(entry->type) || is_char(entry->type)) {
		if (entry->type > REC_NVTX_TYPE_CSTRING + 1 || !holds(d, at, length))
			return 0; /* UTF-16 and UTF-32 are not read */
		put_inside_text(d, at, length, text);
		return (uint32_t)length;
	}
	if ((entry->flags & REC_NVTX_FLAG_ARRAY) == ARRAY_ZERO)
		return 0;
	json_begin_array(&d->json);
	uint32_t from = at, unused;
	int64_t number;
	for (uint64_t i = 0; i < length; i++) {
		uint32_t size = i < MOST_ELEMENTS
					? decode_element(d, entry->type, at, &number, &unused)
					: (at - from) / MOST_ELEMENTS;
		if (!size)
			break;
		at += size;
	}
	json_end_array(&d->json);
	return at - from;
}

/* The member of a union that another entry of the schema selects. */
static uint32_t decode_union(struct decoder *d, const struct level *level,
			     const struct rec_nvtx_entry *entry, uint32_t at)
{
	struct ingest_process *owner;
	const struct rec_nvtx_definition *members = find(d, REC_NVTX_SCHEMA, entry->type, &owner);
	const struct rec_nvtx_entry *entries = NULL;
	uint32_t n = members ? nvtx_entries(members, &entries) : 0, unused;
	int64_t number, member = entry->detail < level->n ? level->numbers[entry->detail] : -1;
	if (member < 0 || member >= n)
		return 0;
	uint32_t size = decode_element(d, entries[member].type, at, &number, &unused);
	return size && members->of ? (uint32_t)members->of : size;
}

/* A text that the collector copied from where the entry points to. */
static uint32_t decode_pointer(struct decoder *d, uint32_t *text)
{
	uint32_t id = d->next_text < d->n_texts ? d->texts[d->next_text++] : 0;
	*text = id ? ingest_text(d->in, d->image, id) : 0;
	if (!*text)
		return 0;
	json_textz(&d->json, hwy_str(d->in->trace, *text));
	return sizeof(char *);
}

static uint32_t decode_value(struct decoder *d, struct level *level, uint32_t i, uint32_t at,
			     uint32_t *text)
{
	const struct rec_nvtx_entry *entry = &level->entries[i];
	struct ingest_process *owner;
	if (rec_nvtx_points_to_text(entry->type, entry->flags, entry->detail, entry->offset,
				    i == 0))
		return d->depth == 1 ? decode_pointer(d, text) : 0;
	if (entry->flags & (REC_NVTX_FLAG_POINTER | REC_NVTX_FLAG_FROM))
		return 0;
	if ((entry->flags & REC_NVTX_FLAG_ARRAY) || is_text_type(entry->type))
		return decode_array(d, level, entry, at, text);
	const struct rec_nvtx_definition *nested = find(d, REC_NVTX_SCHEMA, entry->type, &owner);
	if (nested && nested->type == SCHEMA_UNION)
		return decode_union(d, level, entry, at);
	return decode_element(d, entry->type, at, &level->numbers[i], text);
}

/* How the compiler aligns a value of a type, in bytes. */
static uint32_t alignment_of(struct decoder *d, uint64_t type, int depth)
{
	struct ingest_process *owner;
	const struct rec_nvtx_entry *entries = NULL;
	uint32_t size = rec_nvtx_type_size(type), most = 1;
	if (size || is_text_type(type))
		return size ? size : 1;
	const struct rec_nvtx_definition *type_of = find(d, REC_NVTX_ENUM, type, &owner);
	if (type_of)
		return type_of->of == 1 || type_of->of == 2 || type_of->of == 8
			       ? (uint32_t)type_of->of
			       : 4;
	type_of = depth < 2 ? find(d, REC_NVTX_SCHEMA, type, &owner) : NULL;
	uint32_t n = type_of ? nvtx_entries(type_of, &entries) : 0;
	for (uint32_t i = 0; i < n && most < 8; i++) {
		uint32_t one = alignment_of(d, entries[i].type, depth + 1);
		most = one > most ? one : most;
	}
	return most;
}

/* Where an entry that tells no offset begins. */
static uint32_t aligned(struct decoder *d, const struct level *level,
			const struct rec_nvtx_entry *entry)
{
	uint32_t align = alignment_of(d, entry->type, 0);
	if (level->schema->type == SCHEMA_DYNAMIC)
		align = 1;
	if (level->schema->pack && align > level->schema->pack)
		align = level->schema->pack;
	uint32_t at = level->at - level->base;
	return level->base + (at + align - 1) / align * align;
}

/* Keeps a field of the outermost schema for those who look for it by its name. */
static void keep_field(struct decoder *d, uint32_t name, const struct rec_nvtx_entry *entry,
		       int64_t number, uint32_t text)
{
	struct nvtx_decoded *decoded = d->decoded;
	if (d->depth != 1)
		return;
	if ((entry->flags & 3 << 10) == REC_NVTX_FLAG_MESSAGE && text)
		decoded->message = text;
	if (decoded->n_fields < NVTX_MOST_FIELDS)
		decoded->fields[decoded->n_fields++] = (struct nvtx_field){name, text, number};
}

static void decode_entry(struct decoder *d, struct level *level, uint32_t i, bool *goes_on)
{
	const struct rec_nvtx_entry *entry = &level->entries[i];
	bool is_told = entry->offset || i == 0;
	uint32_t text = 0, name = ingest_text(d->in, level->owner, entry->name);
	if (is_told && entry->offset > d->size)
		return;
	uint32_t at = is_told ? level->base + (uint32_t)entry->offset : aligned(d, level, entry);
	/* Without the size of an entry the next one is found only if it tells its offset. */
	if ((!is_told && !*goes_on) || !holds(d, at, 1))
		return;
	char number[24];
	snprintf(number, sizeof number, "%u", i);
	const char *key = hwy_str(d->in->trace, name);
	json_key(&d->json, *key ? key : number);
	uint32_t size = decode_value(d, level, i, at, &text);
	if (d->json.after_key) /* nothing was written */
		json_null(&d->json);
	if (size && !(entry->flags & FLAG_HIDE))
		keep_field(d, name, entry, level->numbers[i], text);
	*goes_on = size > 0;
	level->at = at + size;
}

/* Writes a schema's data as a JSON object; *end: where it ends. */
static bool decode_schema(struct decoder *d, const struct rec_nvtx_definition *schema,
			  struct ingest_process *owner, uint32_t base, uint32_t *end)
{
	if (d->depth == MOST_DEPTH)
		return false;
	d->depth++;
	struct level *level = hwy_zalloc(sizeof *level);
	*level = (struct level){.schema = schema, .owner = owner, .base = base, .at = base};
	level->n = nvtx_entries(schema, &level->entries);
	if (level->n > REC_NVTX_ENTRIES)
		level->n = REC_NVTX_ENTRIES;
	bool goes_on = true;
	json_begin_object(&d->json);
	for (uint32_t i = 0; i < level->n && d->entries < MOST_ENTRIES; i++, d->entries++)
		decode_entry(d, level, i, &goes_on);
	json_end_object(&d->json);
	*end = level->at;
	free(level);
	d->depth--;
	return true;
}

/* ---- payloads -------------------------------------------------------------------------------- */

static struct nvtx_decoded *decode_payload(struct ingest *in, uint32_t process,
					   const struct rec_nvtx_payload *payload, uint32_t texts)
{
	struct decoder d = {
		.in = in,
		.process = process,
		.domain = payload->head.value,
		.image = &in->processes[process],
		.bytes = (const uint8_t *)(payload + 1),
		.size = payload->bytes,
		.texts = (const void *)((const char *)(payload + 1) +
					((size_t)payload->bytes + 7) / 8 * 8),
		.n_texts = texts,
		.decoded = hwy_zalloc(sizeof *d.decoded),
	};
	struct ingest_process *owner;
	const struct rec_nvtx_definition *schema =
		find(&d, REC_NVTX_SCHEMA, payload->schema, &owner);
	char *text = NULL;
	size_t length = 0;
	uint32_t end, unused;
	int64_t number;
	d.json.out = open_memstream(&text, &length);
	if (!d.json.out)
		return d.decoded;
	if (schema) {
		decode_schema(&d, schema, owner, 0, &end);
	} else if (rec_nvtx_type_size(payload->schema)) {
		json_begin_object(&d.json);
		json_key(&d.json, "payload");
		if (!decode_element(&d, payload->schema, 0, &number, &unused))
			json_null(&d.json);
		json_end_object(&d.json);
	}
	fclose(d.json.out);
	d.decoded->args = length ? hwy_text_id_n(in->b, text, length) : 0;
	free(text);
	return d.decoded;
}

const struct nvtx_decoded *nvtx_decode(struct ingest *in, uint32_t process,
				       const struct rec_nvtx_payload *payload)
{
	if (!in->schemas)
		in->schemas = hwy_zalloc(sizeof *in->schemas);
	struct nvtx_schemas *schemas = in->schemas;
	size_t padded = ((size_t)payload->bytes + 7) / 8 * 8;
	uint32_t texts = payload->texts;
	if (payload->bytes > REC_NVTX_MOST_BYTES || texts > REC_NVTX_POINTERS)
		return NULL;
	struct {
		uint64_t schema;
		uint32_t process, domain;
		uint32_t bytes, texts;
		char data[REC_NVTX_MOST_BYTES + 4 * REC_NVTX_POINTERS];
	} key = {payload->schema, process, payload->head.value, payload->bytes, texts, ""};
	size_t data = padded + texts * sizeof(uint32_t);
	memcpy(key.data, payload + 1, data);
	bool fresh;
	uint32_t *index = hwy_index_put(&schemas->decoded_of, &key,
					(size_t)(key.data - (char *)&key) + data, &fresh);
	if (fresh) {
		*index = schemas->n;
		HWY_GROW(schemas->decoded, schemas->n, schemas->cap);
		schemas->decoded[schemas->n++] = NULL;
		struct nvtx_decoded *made = decode_payload(in, process, payload, texts);
		schemas->decoded[schemas->n - 1] = made;
		return made;
	}
	return schemas->decoded[*index];
}

bool nvtx_field(const struct ingest *in, const struct nvtx_decoded *decoded, const char *name,
		int64_t *value)
{
	for (uint32_t i = 0; i < decoded->n_fields; i++)
		if (strcmp(hwy_str(in->trace, decoded->fields[i].name), name) == 0) {
			*value = decoded->fields[i].value;
			return true;
		}
	return false;
}

void nvtx_schemas_free(struct ingest *in)
{
	struct nvtx_schemas *schemas = in->schemas;
	if (!schemas)
		return;
	for (uint32_t i = 0; i < schemas->n; i++)
		free(schemas->decoded[i]);
	free(schemas->decoded);
	hwy_index_free(&schemas->decoded_of);
	free(schemas);
	in->schemas = NULL;
}
