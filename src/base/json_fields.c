/* SPDX-License-Identifier: Apache-2.0 */
/* json_fields.c - see json_fields.h. */
#include "base/json_fields.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static uint64_t field_load_unsigned(const char *from, size_t size)
{
	uint8_t small;
	uint16_t medium;
	uint32_t large;
	uint64_t largest;
	switch (size) {
	case 1: memcpy(&small, from, 1); return small;
	case 2: memcpy(&medium, from, 2); return medium;
	case 4: memcpy(&large, from, 4); return large;
	default:
		assert(size == 8);
		memcpy(&largest, from, 8);
		return largest;
	}
}

static void field_store_integer(char *to, size_t size, int64_t value)
{
	uint8_t small = (uint8_t)value;
	uint16_t medium = (uint16_t)value;
	uint32_t large = (uint32_t)value;
	switch (size) {
	case 1: memcpy(to, &small, 1); break;
	case 2: memcpy(to, &medium, 2); break;
	case 4: memcpy(to, &large, 4); break;
	default: assert(size == 8); memcpy(to, &value, 8);
	}
}

static int64_t field_load_signed(const char *from, size_t size)
{
	unsigned unused = 64 - 8 * (unsigned)size;
	return (int64_t)(field_load_unsigned(from, size) << unused) >> unused;
}

static const void *field_load_pointer(const char *from)
{
	const void *pointer;
	memcpy(&pointer, from, sizeof pointer);
	return pointer;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void field_put_text(struct hwy_json *json, const struct json_field *field, const char *text)
{
	json_textz(json, text && (*text || !field->is_null_when_empty) ? text : NULL);
}

/* Ends an array or object and restores 'pretty', the way of writing before the container began. */
static void field_end_container(struct hwy_json *json, bool is_array, bool pretty)
{
	if (is_array)
		json_end_array(json);
	else
		json_end_object(json);
	json->pretty = pretty;
}

static bool field_begin_container(struct hwy_json *json, bool is_array, bool on_one_line)
{
	bool pretty = json->pretty;
	if (is_array)
		json_begin_array(json);
	else
		json_begin_object(json);
	json->pretty = pretty && !on_one_line;
	return pretty;
}

static void field_put_struct(struct hwy_json *json, const struct json_field *field,
			     const void *object)
{
	if (!object) {
		json_null(json);
		return;
	}
	bool pretty = field_begin_container(json, false, field->on_one_line);
	json_put_fields(json, field->fields, field->n_fields, object);
	field_end_container(json, false, pretty);
}

static void field_put_elements(struct hwy_json *json, const struct json_field *field,
			       const char *first, uint32_t count)
{
	bool is_flat = field->type != JSON_AS_ARRAY;
	bool pretty = field_begin_container(json, true, is_flat && field->on_one_line);
	for (uint32_t i = 0; i < count; i++) {
		const char *element = first + i * field->size;
		if (field->type == JSON_AS_ARRAY)
			field_put_struct(json, field, element);
		else if (field->type == JSON_AS_INT_ARRAY)
			json_int(json, field_load_signed(element, sizeof(int64_t)));
		else
			field_put_text(json, field, field_load_pointer(element));
	}
	field_end_container(json, true, pretty);
}

static void field_put_named_ints(struct hwy_json *json, const struct json_field *field,
				 const char *first)
{
	bool pretty = field_begin_container(json, false, field->on_one_line);
	for (size_t i = 0; i < field->n_names; i++)
		json_put_int(json, field->names[i],
			     field_load_signed(first + i * sizeof(int64_t), sizeof(int64_t)));
	field_end_container(json, false, pretty);
}

static void field_put_enum(struct hwy_json *json, const struct json_field *field,
			   const char *member)
{
	uint64_t number = field_load_unsigned(member, field->size);
	json_textz(json, number < field->n_names ? field->names[number] : NULL);
}

static void field_put_real(struct hwy_json *json, const struct json_field *field,
			   const char *member)
{
	float small;
	double value;
	if (field->size == sizeof small) {
		memcpy(&small, member, sizeof small);
		value = (double)small;
	} else {
		memcpy(&value, member, sizeof value);
	}
	json_real(json, value, field->decimals);
}

static void field_put_integer(struct hwy_json *json, const struct json_field *field,
			      const char *member)
{
	int64_t value = field->type == JSON_AS_UNSIGNED
				? (int64_t)field_load_unsigned(member, field->size)
				: field_load_signed(member, field->size);
	if (field->type == JSON_AS_OPTIONAL_INT && value == INT64_MIN)
		json_null(json);
	else
		json_int(json, value);
}

static void field_put_value(struct hwy_json *json, const struct json_field *field,
			    const void *object)
{
	const char *member = (const char *)object + field->offset;
	switch (field->type) {
	case JSON_AS_INT:
	case JSON_AS_UNSIGNED:
	case JSON_AS_OPTIONAL_INT: field_put_integer(json, field, member); break;
	case JSON_AS_BOOL: json_bool(json, field_load_unsigned(member, sizeof(bool)) != 0); break;
	case JSON_AS_REAL: field_put_real(json, field, member); break;
	case JSON_AS_TEXT: field_put_text(json, field, field_load_pointer(member)); break;
	case JSON_AS_CHARS: field_put_text(json, field, member); break;
	case JSON_AS_ENUM: field_put_enum(json, field, member); break;
	case JSON_AS_OBJECT: field_put_struct(json, field, member); break;
	case JSON_AS_POINTER: field_put_struct(json, field, field_load_pointer(member)); break;
	case JSON_AS_ARRAY:
	case JSON_AS_INT_ARRAY:
	case JSON_AS_TEXT_ARRAY:
		field_put_elements(
			json, field, field_load_pointer(member),
			(uint32_t)field_load_unsigned((const char *)object + field->count_offset,
						      sizeof(uint32_t)));
		break;
	case JSON_AS_NAMED_INTS: field_put_named_ints(json, field, member); break;
	case JSON_AS_CALL: field->put(json, member); break;
	case JSON_AS_MEMBERS: break; /* JSON_AS_MEMBERS has no value of its own */
	}
}

void json_put_fields(struct hwy_json *json, const struct json_field *fields, size_t n_fields,
		     const void *object)
{
	for (size_t i = 0; i < n_fields; i++) {
		const struct json_field *field = &fields[i];
		if (field->when && !field->when(object))
			continue;
		if (field->type == JSON_AS_MEMBERS) {
			json_put_fields(json, field->fields, field->n_fields,
					(const char *)object + field->offset);
			continue;
		}
		json_key(json, field->key);
		field_put_value(json, field, object);
	}
}

void json_put_object(struct hwy_json *json, const struct json_field *fields, size_t n_fields,
		     const void *object)
{
	json_begin_object(json);
	json_put_fields(json, fields, n_fields, object);
	json_end_object(json);
}

void json_put_array(struct hwy_json *json, const struct json_field *fields, size_t n_fields,
		    const void *first, size_t count, size_t size)
{
	json_begin_array(json);
	for (size_t i = 0; i < count; i++)
		json_put_object(json, fields, n_fields, (const char *)first + i * size);
	json_end_array(json);
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool field_fits(const struct json_field *field, int64_t value)
{
	if (field->most && (value < 0 || value > field->most))
		return false;
	if (field->size == sizeof(int64_t))
		return field->type != JSON_AS_UNSIGNED || value >= 0;
	int64_t range = INT64_C(1) << 8 * field->size;
	return field->type == JSON_AS_UNSIGNED ? value >= 0 && value < range
					       : value >= -range / 2 && value < range / 2;
}

static void field_get_integer(const struct json_field *field, const struct json_value *value,
			      char *member)
{
	int64_t otherwise = field->type == JSON_AS_OPTIONAL_INT ? INT64_MIN : 0;
	int64_t number = json_as_int(value, otherwise);
	if (number != otherwise && !field_fits(field, number))
		number = otherwise;
	field_store_integer(member, field->size, number);
}

static void field_get_real(const struct json_field *field, const struct json_value *value,
			   char *member)
{
	double number = value && value->type == JSON_NUMBER ? strtod(value->text, NULL) : 0;
	float small = (float)number;
	if (field->size == sizeof small)
		memcpy(member, &small, sizeof small);
	else
		memcpy(member, &number, sizeof number);
}

static const char *field_text_of_value(const struct json_value *value)
{
	return value && value->type == JSON_TEXT ? value->text : "";
}

static void field_get_text(const struct json_value *value, char *member, struct hwy_arena *arena)
{
	const char *text = field_text_of_value(value);
	char *copy = hwy_arena_text(arena, text, strlen(text));
	memcpy(member, &copy, sizeof copy);
}

static void field_get_chars(const struct json_field *field, const struct json_value *value,
			    char *member)
{
	const char *text = field_text_of_value(value);
	size_t n = hwy_utf8_cut_bytes(text, strlen(text), field->size - 1);
	memset(member, 0, field->size);
	memcpy(member, text, n);
}

static void field_get_enum(const struct json_field *field, const struct json_value *value,
			   char *member)
{
	const char *text = field_text_of_value(value);
	size_t number = 0;
	while (number < field->n_names &&
	       !(field->names[number] && strcmp(field->names[number], text) == 0))
		number++;
	field_store_integer(member, field->size, number < field->n_names ? (int64_t)number : 0);
}

static void field_get_pointer(const struct json_field *field, const struct json_value *value,
			      char *member, struct hwy_arena *arena)
{
	void *object = NULL;
	if (value && value->type == JSON_OBJECT) {
		object = hwy_arena_array(arena, 1, field->size);
		json_get_fields(value, field->fields, field->n_fields, object, arena);
	}
	memcpy(member, &object, sizeof object);
}

static void field_get_elements(const struct json_field *field, const struct json_value *value,
			       void *object, struct hwy_arena *arena)
{
	uint32_t n = value && value->type == JSON_ARRAY ? value->n : 0;
	char *first = hwy_arena_array(arena, n, field->size), *element = first;
	const struct json_field number = {
		.type = JSON_AS_INT, .size = sizeof(int64_t), .most = field->most};
	for (const struct json_value *one = n ? value->first : NULL; one;
	     one = one->next, element += field->size) {
		if (field->type == JSON_AS_ARRAY)
			json_get_fields(one, field->fields, field->n_fields, element, arena);
		else if (field->type == JSON_AS_INT_ARRAY)
			field_get_integer(&number, one, element);
		else
			field_get_text(one, element, arena);
	}
	memcpy((char *)object + field->offset, &first, sizeof first);
	memcpy((char *)object + field->count_offset, &n, sizeof n);
}

static void field_get_named_ints(const struct json_field *field, const struct json_value *value,
				 char *first)
{
	const struct json_field number = {
		.type = JSON_AS_INT, .size = sizeof(int64_t), .most = field->most};
	for (size_t i = 0; i < field->n_names; i++)
		field_get_integer(&number, json_get(value, field->names[i]),
				  first + i * sizeof(int64_t));
}

static void field_get_value(const struct json_value *value, const struct json_field *field,
			    void *object, struct hwy_arena *arena)
{
	char *member = (char *)object + field->offset;
	switch (field->type) {
	case JSON_AS_INT:
	case JSON_AS_UNSIGNED:
	case JSON_AS_OPTIONAL_INT: field_get_integer(field, value, member); break;
	case JSON_AS_BOOL:
		field_store_integer(member, sizeof(bool), value && value->type == JSON_TRUE);
		break;
	case JSON_AS_REAL: field_get_real(field, value, member); break;
	case JSON_AS_TEXT: field_get_text(value, member, arena); break;
	case JSON_AS_CHARS: field_get_chars(field, value, member); break;
	case JSON_AS_ENUM: field_get_enum(field, value, member); break;
	case JSON_AS_OBJECT:
	case JSON_AS_MEMBERS:
		json_get_fields(value, field->fields, field->n_fields, member, arena);
		break;
	case JSON_AS_POINTER: field_get_pointer(field, value, member, arena); break;
	case JSON_AS_ARRAY:
	case JSON_AS_INT_ARRAY:
	case JSON_AS_TEXT_ARRAY: field_get_elements(field, value, object, arena); break;
	case JSON_AS_NAMED_INTS: field_get_named_ints(field, value, member); break;
	case JSON_AS_CALL:
		if (field->get)
			field->get(member, value, arena);
		break;
	}
}

bool json_get_fields(const struct json_value *value, const struct json_field *fields,
		     size_t n_fields, void *object, struct hwy_arena *arena)
{
	for (size_t i = 0; i < n_fields; i++)
		field_get_value(fields[i].key ? json_get(value, fields[i].key) : value, &fields[i],
				object, arena);
	return value && value->type == JSON_OBJECT;
}
