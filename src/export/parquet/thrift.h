/* SPDX-License-Identifier: Apache-2.0 */
/* thrift.h - writes Thrift's compact protocol, in which Parquet's page headers and footers are.
 *
 *   struct hwy_bytes out = {0};
 *   struct thrift t = thrift_begin(&out);
 *   thrift_i32(&t, 1, 2);
 *   thrift_list(&t, 2, THRIFT_STRUCT, 1);
 *   thrift_element(&t);
 *   thrift_text(&t, 4, "start");
 *   thrift_end(&t); // of the element
 *   thrift_end(&t); // of the whole
 *   hwy_bytes_free(&out);
 *
 * Fields of a struct must be written in ascending order of their ids.
 */
#ifndef HWY_EXPORT_PARQUET_THRIFT_H
#define HWY_EXPORT_PARQUET_THRIFT_H

#include "base/bytes.h"

enum { THRIFT_I32 = 5, THRIFT_I64 = 6, THRIFT_BINARY = 8, THRIFT_LIST = 9, THRIFT_STRUCT = 12 };
enum { THRIFT_DEPTH = 12 }; /* structs inside structs; Parquet's footer needs 6 */

struct thrift {
	struct hwy_bytes *out;
	int last[THRIFT_DEPTH]; /* by open struct: the id of the field that was written last */
	unsigned depth;         /* of the innermost open struct */
};

/* Begins the outermost struct. */
struct thrift thrift_begin(struct hwy_bytes *out);
/* Ends the innermost open struct. */
void thrift_end(struct thrift *t);

void thrift_bool(struct thrift *t, int id, bool value);
void thrift_i8(struct thrift *t, int id, int8_t value);
void thrift_i32(struct thrift *t, int id, int32_t value);
void thrift_i64(struct thrift *t, int id, int64_t value);
void thrift_binary(struct thrift *t, int id, const void *bytes, size_t n);
void thrift_text(struct thrift *t, int id, const char *text);
/* Begins a struct that is a field. */
void thrift_struct(struct thrift *t, int id);
/* Begins a list of n elements: structs, each begun by thrift_element, or numbers
 * (thrift_number). */
void thrift_list(struct thrift *t, int id, int type, uint32_t n);
void thrift_element(struct thrift *t);
void thrift_number(struct thrift *t, int64_t value);
/* An element of a list of texts. */
void thrift_word(struct thrift *t, const char *text);

#endif
