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
 * The members come out in the order of the table. The macros take the struct's type, the member and the key; they
 * find the member's place and size, and do not compile for a member of another type. What a table cannot say is put
 * by a function of the caller (JSON_FIELD_CALL), or by the caller between two tables. A row of the table may go on
 * after the macro: {JSON_FIELD_INT(struct row, ns, "ns"), .when = row_is_timed}.
 */
#ifndef HWY_BASE_JSON_FIELDS_H
#define HWY_BASE_JSON_FIELDS_H

#include "base/json.h"
#include "base/json_read.h"

enum json_field_type {
	JSON_AS_INT,      /* signed, of 'size' bytes */
	JSON_AS_UNSIGNED, /* likewise unsigned; above INT64_MAX it is written as a negative number */
	JSON_AS_OPTIONAL_INT, /* int64_t; INT64_MIN (HWY_NONE) is null */
	JSON_AS_BOOL,
	JSON_AS_REAL,    /* double or float; NaN and infinities are null */
	JSON_AS_TEXT,    /* char *; NULL is null */
	JSON_AS_CHARS,   /* char[size] */
	JSON_AS_ENUM,    /* an integer of 'size' bytes, written as names[integer] */
	JSON_AS_OBJECT,  /* a struct inside the struct: an object by 'fields' */
	JSON_AS_POINTER, /* a pointer to a struct: likewise; NULL is null */
	JSON_AS_MEMBERS, /* a struct inside the struct, whose members are put beside the others: no key */
	JSON_AS_ARRAY,      /* structs of 'size' bytes: an array of objects by 'fields' */
	JSON_AS_INT_ARRAY,  /* int64_t */
	JSON_AS_TEXT_ARRAY, /* char * */
	JSON_AS_NAMED_INTS, /* int64_t[n_names]: an object with names[i] as the key of the i-th */
	JSON_AS_CALL,       /* what 'put' writes and 'get' reads */
};

struct json_field {
	const char *key;
	enum json_field_type type;
	bool is_null_when_empty; /* texts: "" is written as null */
	/* Objects, also those of an array, and arrays of integers and texts stand on one line each, though the rest is
	 * written on many. */
	bool on_one_line;
	int decimals; /* of a real */
	size_t offset, size;
	size_t count_offset; /* arrays: where the struct has the number of elements, a uint32_t */
	size_t n_names, n_fields;
	const char *const *names;
	const struct json_field *fields;
	/* Where it is set: the member is left out unless this is true of the struct. Reading ignores it. */
	bool (*when)(const void *object);
	/* Writes the value (the key is written already) of the member, or of the whole struct where offset is 0.
	 * What else the function needs, the caller leaves in json->context. */
	void (*put)(struct hwy_json *json, const void *member);
	/* Reads the value (NULL: the object has no such key) into the member. NULL: the member is not read. */
	void (*get)(void *member, const struct json_value *value, struct hwy_arena *arena);
	int64_t most; /* reading: an integer below 0 or above this is taken as 0; 0: any that fits the member */
};

/* ---- writing ---------------------------------------------------------------------------------------- */

#define JSON_FIELDS(table) (table), sizeof(table) / sizeof *(table)

/* The members alone: for a caller who begins and ends the object and may add members before and after. */
void json_put_fields(struct hwy_json *json, const struct json_field *fields, size_t n_fields,
		     const void *object);
/* A whole object: { members }. */
void json_put_object(struct hwy_json *json, const struct json_field *fields, size_t n_fields,
		     const void *object);
/* An array of objects; 'size' is that of one struct. */
void json_put_array(struct hwy_json *json, const struct json_field *fields, size_t n_fields,
		    const void *first, size_t count, size_t size);

/* ---- reading ---------------------------------------------------------------------------------------- */

/* Sets every member that the table names, and no other. What is not there, or is of another type, becomes 0, "",
 * false, names[0], INT64_MIN for an optional integer, an empty array, a NULL pointer. So does an integer that does
 * not fit the member, or is outside 0 … most. Texts and arrays are copied into the arena. The result is true where
 * 'value' is an object. */
bool json_get_fields(const struct json_value *value, const struct json_field *fields,
		     size_t n_fields, void *object, struct hwy_arena *arena);

/* ---- rows of a table --------------------------------------------------------------------------------- */

/* clang-format off: version 14 breaks the lines of _Generic in the wrong places. */

/* 'of' is the struct's type everywhere below. JSON_FIELD_INT takes any integer but a bit field. */
#define JSON_FIELD_INT(of, member, name)                                                           \
	.key = (name), .type = JSON_INTEGER_TYPE(JSON_MEMBER(of, member)), JSON_PLACE(of, member)
/* An int64_t; INT64_MIN (HWY_NONE) is null. */
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
/* A double or a float, with so many digits after the point. */
#define JSON_FIELD_REAL(of, member, name, digits)                                                  \
	.key = (name), .decimals = (digits), JSON_PLACE(of, member),                               \
	.type = _Generic(JSON_MEMBER(of, member), double                                           \
			 : JSON_AS_REAL, float                                                     \
			 : JSON_AS_REAL)
/* A char * or a char[]; NULL is null. */
#define JSON_FIELD_TEXT(of, member, name)                                                          \
	.key = (name), .type = JSON_TEXT_TYPE(JSON_MEMBER(of, member)), JSON_PLACE(of, member)
/* A char * or a char[]; NULL and "" are null. */
#define JSON_FIELD_TEXT_OR_NULL(of, member, name)                                                  \
	JSON_FIELD_TEXT(of, member, name), .is_null_when_empty = true
/* An enum, or an integer that holds one; texts[number] is written, null where there are only n_texts of them. */
#define JSON_FIELD_ENUM(of, member, name, texts, n_texts)                                          \
	.key = (name), .type = JSON_AS_ENUM, .names = (texts), .n_names = (n_texts),               \
	JSON_PLACE(of, member)
/* A struct inside the struct, by a table of its own. */
#define JSON_FIELD_OBJECT(of, member, name, table)                                                 \
	.key = (name), .type = JSON_AS_OBJECT, JSON_TABLE(table), JSON_PLACE(of, member)
/* A pointer to a struct. */
#define JSON_FIELD_POINTER(of, member, name, table)                                                \
	.key = (name), .type = JSON_AS_POINTER, JSON_TABLE(table), JSON_POINTER_PLACE(of, member)
/* The members of a struct inside the struct, beside the others. */
#define JSON_FIELD_MEMBERS(of, member, table)                                                      \
	.type = JSON_AS_MEMBERS, JSON_TABLE(table), JSON_PLACE(of, member)
/* A pointer to 'count' structs; 'count' is a member too, a uint32_t. */
#define JSON_FIELD_ARRAY(of, member, count, name, table)                                           \
	.key = (name), .type = JSON_AS_ARRAY, JSON_TABLE(table), JSON_POINTER_PLACE(of, member),   \
	JSON_COUNT(of, count)
/* A pointer to 'count' int64_t. */
#define JSON_FIELD_INT_ARRAY(of, member, count, name)                                              \
	.key = (name), JSON_POINTER_PLACE(of, member), JSON_COUNT(of, count), \
	.type = _Generic(JSON_MEMBER(of, member), \
		int64_t *: JSON_AS_INT_ARRAY, const int64_t *: JSON_AS_INT_ARRAY)
/* A pointer to 'count' char *. */
#define JSON_FIELD_TEXT_ARRAY(of, member, count, name)                                             \
	.key = (name), JSON_POINTER_PLACE(of, member), JSON_COUNT(of, count), \
	.type = _Generic(JSON_MEMBER(of, member), \
		char **: JSON_AS_TEXT_ARRAY, const char **: JSON_AS_TEXT_ARRAY, \
		char *const *: JSON_AS_TEXT_ARRAY, const char *const *: JSON_AS_TEXT_ARRAY)
/* An int64_t[], as an object whose keys are 'texts', one for each element. */
#define JSON_FIELD_NAMED_INTS(of, member, name, texts)                                             \
	.key = (name), .names = (texts), JSON_PLACE(of, member),                                   \
	.n_names = sizeof JSON_MEMBER(of, member) / sizeof(int64_t),                               \
	.type = _Generic(&JSON_MEMBER(of, member)[0], int64_t *                                    \
			 : JSON_AS_NAMED_INTS)
/* What 'function' makes of the member: function(json, &object->member). */
#define JSON_FIELD_CALL(of, member, name, function)                                                \
	.key = (name), .type = JSON_AS_CALL, .put = (function), JSON_PLACE(of, member)
/* What 'function' makes of the whole struct: function(json, object). */
#define JSON_FIELD_CALL_OBJECT(name, function)                                                     \
	.key = (name), .type = JSON_AS_CALL, .put = (function)

/* Parts of the macros above. */
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
/* The first choice refuses what is no text; the second tells pointers (whose address is a char **) from arrays. */
#define JSON_TEXT_TYPE(member)                                                                     \
	_Generic((member), char * : JSON_TEXT_PLACE(member), const char * : JSON_TEXT_PLACE(member))
#define JSON_TEXT_PLACE(member)                                                                    \
	_Generic(&(member), char **: JSON_AS_TEXT, const char **: JSON_AS_TEXT, \
		char *const *: JSON_AS_TEXT, const char *const *: JSON_AS_TEXT, \
		default: JSON_AS_CHARS)

/* clang-format on */

#endif
