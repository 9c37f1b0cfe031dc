/* SPDX-License-Identifier: Apache-2.0 */
/* json_fields.h - structs written as JSON objects, and read back, by a table of their fields.
 *
 *   struct row {
 *           const char *name;
 *           uint32_t count;
 *           int64_t ns;
 *           double share;
 *   };
 *   static const struct json_field row_fields[] = {
 *           {JSON_FIELD_TEXT(struct row, name, "name")},
 *           {JSON_FIELD_INT(struct row, count, "count")},
 *           {JSON_FIELD_OPTIONAL_INT(struct row, ns, "time_ns")},
 *           {JSON_FIELD_REAL(struct row, share, "share", 4)},
 *   };
 *   struct row row = {"gemm", 12, INT64_MIN, 0.25};
 *   json_put_object(json, JSON_FIELDS(row_fields), &row);
 *
 * writes {"name":"gemm","count":12,"time_ns":null,"share":0.2500}.
 *
 * The members come out in the order of the table. The macros take the struct's type, the member and
 * the key; they find the member's place and size, and do not compile for a member of another type.
 * What a table cannot say is put by a function of the caller (JSON_FIELD_CALL), or by the caller
 * between two tables. A row of the table may go on after the macro: {JSON_FIELD_INT(struct row, ns,
 * "ns"), .when = row_is_timed}.
 */
#ifndef HWY_BASE_JSON_FIELDS_H
#define HWY_BASE_JSON_FIELDS_H

#include "base/json.h"
#include "base/json_read.h"

enum json_field_type {
	JSON_AS_INT, /* a signed integer of 'size' bytes */
	/* an unsigned integer; above INT64_MAX it is written as a negative number */
	JSON_AS_UNSIGNED,
	JSON_AS_OPTIONAL_INT, /* an int64_t; INT64_MIN (HWY_NONE) is written as null */
	JSON_AS_BOOL,
	JSON_AS_REAL,  /* a double or a float; NaN and infinities are written as null */
	JSON_AS_TEXT,  /* a char *; NULL is written as null */
	JSON_AS_CHARS, /* a char[size] */
	JSON_AS_ENUM,  /* an integer of 'size' bytes, written as names[integer] */
	/* a struct inside the struct: written as an object, by the table 'fields' */
	JSON_AS_OBJECT,
	/* a pointer to a struct: written as an object, by 'fields'; NULL as null */
	JSON_AS_POINTER,
	/* a struct inside the struct: its members are written without a key of their own */
	JSON_AS_MEMBERS,
	JSON_AS_ARRAY, /* structs of 'size' bytes: written as an array of objects, by 'fields' */
	JSON_AS_INT_ARRAY,  /* an array of int64_t */
	JSON_AS_TEXT_ARRAY, /* an array of char * */
	/* int64_t[n_names]: an object in which names[i] is the key of element i */
	JSON_AS_NAMED_INTS,
	JSON_AS_CALL, /* a value that the function 'put' writes and 'get' reads */
};

struct json_field {
	const char *key;
	enum json_field_type type;
	bool is_null_when_empty; /* an empty text is written as null */
	/* Objects, also those of an array, and arrays of integers and texts stand on one line each,
	 * though the rest is written on many. */
	bool on_one_line;
	int decimals; /* digits after the point of a real number */
	size_t offset, size;
	/* Arrays: the offset of the member that holds the number of elements, a uint32_t. */
	size_t count_offset;
	size_t n_names, n_fields;
	const char *const *names;
	const struct json_field *fields;
	/* NULL, or a condition: writing leaves the member out where it is false for the struct.
	 * Reading ignores it. */
	bool (*when)(const void *object);
	/* Writes the value (the key is written already) of the member, or of the whole struct where
	 * offset is 0. What else the function needs, the caller leaves in json->context. */
	void (*put)(struct hwy_json *json, const void *member);
	/* Reads the value (NULL where the object has no such key) into the member. Where 'get' is
	 * NULL, the member is not read. */
	void (*get)(void *member, const struct json_value *value, struct hwy_arena *arena);
	/* Reading takes an integer below 0 or above 'most' as 0. Where 'most' is 0, every integer
	 * that fits is taken. */
	int64_t most;
};

/* ---- writing --------------------------------------------------------------------------------- */

#define JSON_FIELDS(table) (table), sizeof(table) / sizeof *(table)

/* Writes the members only: the caller begins and ends the object and may add members before and
 * after. */
void json_put_fields(struct hwy_json *json, const struct json_field *fields, size_t n_fields,
		     const void *object);
/* Writes a whole object: { members }. */
void json_put_object(struct hwy_json *json, const struct json_field *fields, size_t n_fields,
		     const void *object);
/* Writes an array of objects; 'size' is the size of one struct in bytes. */
void json_put_array(struct hwy_json *json, const struct json_field *fields, size_t n_fields,
		    const void *first, size_t count, size_t size);

/* ---- reading --------------------------------------------------------------------------------- */

/* Sets every member that the table names, and no other. What is not there, or is of another type,
 * becomes 0, "", false, names[0], INT64_MIN for an optional integer, an empty array, a NULL
 * pointer. So does an integer that does not fit the member, or is outside 0 … most. Texts and
 * arrays are copied into the arena. The result is true where 'value' is an object. */
bool json_get_fields(const struct json_value *value, const struct json_field *fields,
		     size_t n_fields, void *object, struct hwy_arena *arena);

/* ---- rows of a table ------------------------------------------------------------------------- */

/* clang-format off: version 14 breaks the lines of _Generic in the wrong places. */

/* In all macros below 'of' is the struct's type. JSON_FIELD_INT takes any integer except a bit
 * field. */
#define JSON_FIELD_INT(of, member, name)                                                           \
	.key = (name), .type = JSON_INTEGER_TYPE(JSON_MEMBER(of, member)), JSON_PLACE(of, member)
/* A field of type int64_t; INT64_MIN (HWY_NONE) is written as null. */
#define JSON_FIELD_OPTIONAL_INT(of, member, name)                                                  \
	.key = (name),                                                                             \
	.type = _Generic(JSON_MEMBER(of, member), int64_t                                          \
			 : JSON_AS_OPTIONAL_INT),                                                  \
	JSON_PLACE(of, member)
#define JSON_FIELD_BOOL(of, member, name)                                                          \
	.key = (name),                                                                             \
	.type = _Generic(JSON_MEMBER(of, member), bool                                             \
			 : JSON_AS_BOOL),                                                          \
	JSON_PLACE(of, member)
/* A field of type double or float, written with 'decimals' digits after the point. */
#define JSON_FIELD_REAL(of, member, name, digits)                                                  \
	.key = (name), .decimals = (digits), JSON_PLACE(of, member),                               \
	.type = _Generic(JSON_MEMBER(of, member), double                                           \
			 : JSON_AS_REAL, float                                                     \
			 : JSON_AS_REAL)
/* A field of type char * or char[]; NULL is written as null. */
#define JSON_FIELD_TEXT(of, member, name)                                                          \
	.key = (name), .type = JSON_TEXT_TYPE(JSON_MEMBER(of, member)), JSON_PLACE(of, member)
/* A field of type char * or char[]; NULL and "" are written as null. */
#define JSON_FIELD_TEXT_OR_NULL(of, member, name)                                                  \
	JSON_FIELD_TEXT(of, member, name), .is_null_when_empty = true
/* A field that holds an enum's value: texts[value] is written, or null where value is not below
 * n_texts. */
#define JSON_FIELD_ENUM(of, member, name, texts, n_texts)                                          \
	.key = (name), .type = JSON_AS_ENUM, .names = (texts), .n_names = (n_texts),               \
	JSON_PLACE(of, member)
/* A field that is a struct, written as an object by a table of its own. */
#define JSON_FIELD_OBJECT(of, member, name, table)                                                 \
	.key = (name), .type = JSON_AS_OBJECT, JSON_TABLE(table), JSON_PLACE(of, member)
/* A field that points to a struct, written as an object by a table of its own. */
#define JSON_FIELD_POINTER(of, member, name, table)                                                \
	.key = (name), .type = JSON_AS_POINTER, JSON_TABLE(table), JSON_POINTER_PLACE(of, member)
/* A field that is a struct; its members are written beside the other members, without a key. */
#define JSON_FIELD_MEMBERS(of, member, table)                                                      \
	.type = JSON_AS_MEMBERS, JSON_TABLE(table), JSON_PLACE(of, member)
/* A field that points to 'count' structs; 'count' is also a member, a uint32_t. */
#define JSON_FIELD_ARRAY(of, member, count, name, table)                                           \
	.key = (name), .type = JSON_AS_ARRAY, JSON_TABLE(table), JSON_POINTER_PLACE(of, member),   \
	JSON_COUNT(of, count)
/* A field that points to 'count' values of type int64_t. */
#define JSON_FIELD_INT_ARRAY(of, member, count, name)                                              \
	.key = (name), JSON_POINTER_PLACE(of, member), JSON_COUNT(of, count), \
	.type = _Generic(JSON_MEMBER(of, member), \
		int64_t *: JSON_AS_INT_ARRAY, const int64_t *: JSON_AS_INT_ARRAY)
/* A field that points to 'count' texts of type char *. */
#define JSON_FIELD_TEXT_ARRAY(of, member, count, name)                                             \
	.key = (name), JSON_POINTER_PLACE(of, member), JSON_COUNT(of, count), \
	.type = _Generic(JSON_MEMBER(of, member), \
		char **: JSON_AS_TEXT_ARRAY, const char **: JSON_AS_TEXT_ARRAY, \
		char *const *: JSON_AS_TEXT_ARRAY, const char *const *: JSON_AS_TEXT_ARRAY)
/* A field of type int64_t[], written as an object: texts[i] is the key of element i. */
#define JSON_FIELD_NAMED_INTS(of, member, name, texts)                                             \
	.key = (name), .names = (texts), JSON_PLACE(of, member),                                   \
	.n_names = sizeof JSON_MEMBER(of, member) / sizeof(int64_t),                               \
	.type = _Generic(&JSON_MEMBER(of, member)[0], int64_t *                                    \
			 : JSON_AS_NAMED_INTS)
/* A field that 'function' writes: function(json, &object->member). */
#define JSON_FIELD_CALL(of, member, name, function)                                                \
	.key = (name), .type = JSON_AS_CALL, .put = (function), JSON_PLACE(of, member)
/* A value that 'function' writes from the whole struct: function(json, object). */
#define JSON_FIELD_CALL_OBJECT(name, function)                                                     \
	.key = (name), .type = JSON_AS_CALL, .put = (function)

/* Internal parts of the macros above. */
#define JSON_MEMBER(of, member) (((of *)0)->member)
#define JSON_PLACE(of, member)                                                                     \
	.offset = offsetof(of, member), .size = sizeof JSON_MEMBER(of, member)
#define JSON_POINTER_PLACE(of, member)                                                             \
	.offset = offsetof(of, member), .size = sizeof *JSON_MEMBER(of, member)
#define JSON_COUNT(of, count)                                                                      \
	.count_offset = _Generic(JSON_MEMBER(of, count), uint32_t : offsetof(of, count))
#define JSON_TABLE(table) .fields = (table), .n_fields = sizeof(table) / sizeof *(table)
#define JSON_INTEGER_TYPE(member)                                                                  \
	_Generic((member), signed char                                                             \
		 : JSON_AS_INT, short                                                              \
		 : JSON_AS_INT, int                                                                \
		 : JSON_AS_INT, long                                                               \
		 : JSON_AS_INT, long long                                                          \
		 : JSON_AS_INT, unsigned char                                                      \
		 : JSON_AS_UNSIGNED, unsigned short                                                \
		 : JSON_AS_UNSIGNED, unsigned                                                      \
		 : JSON_AS_UNSIGNED, unsigned long                                                 \
		 : JSON_AS_UNSIGNED, unsigned long long                                            \
		 : JSON_AS_UNSIGNED)
/* The first _Generic refuses members that are no text; the second tells a pointer (its address is a
 * char **) from an array. */
#define JSON_TEXT_TYPE(member)                                                                     \
	_Generic((member), char * : JSON_TEXT_PLACE(member), const char * : JSON_TEXT_PLACE(member))
#define JSON_TEXT_PLACE(member)                                                                    \
	_Generic(&(member), char **: JSON_AS_TEXT, const char **: JSON_AS_TEXT, \
		char *const *: JSON_AS_TEXT, const char *const *: JSON_AS_TEXT, \
		default: JSON_AS_CHARS)

/* clang-format on */

#endif
