/* SPDX-License-Identifier: Apache-2.0 */
/* python_lines.c - reads CPython's line tables.
 *
 * Python 3.10 (co_linetable, PEP 626): pairs of bytes. The first is a number of bytes of code, the
 * second is by how much the line changes there; -128 says that this code has no line. Python 3.11
 * and later (Objects/locations.md): entries that begin with a head byte, 1cccclll. cccc is the form
 * of the entry, lll + 1 is the number of 2-byte code units; what follows depends on the form.
 * Numbers have 6 bits a byte, the seventh bit says that more bytes follow; signed numbers have
 * their sign in the lowest bit. Recordings have no frames of Python 3.9 and older.
 */
#include "ingest/python_lines.h"

enum { NO_LINE = -128, VERSION_311 = 0x030b0000 };
enum { FORM_ONE_LINE = 10, FORM_NO_COLUMNS = 13, FORM_LONG = 14, FORM_NONE = 15 };

static int line_310(const struct rec_code *code, int32_t offset)
{
	int64_t line = code->first_line;
	int64_t end = 0;
	for (uint32_t i = 0; i + 1 < code->table_length; i += 2) {
		int change = (int8_t)code->table[i + 1]; /* NOLINT(bugprone-signed-char-misuse) */
		end += code->table[i];
		if (change != NO_LINE)
			line += change;
		if (offset < end)
			return change == NO_LINE || line <= 0 || line > INT32_MAX ? 0 : (int)line;
	}
	return 0;
}

struct table {
	const uint8_t *next, *end;
};

static uint32_t python_lines_number(struct table *table)
{
	uint32_t value = 0;
	for (unsigned shift = 0; table->next < table->end; shift += 6) {
		uint8_t byte = *table->next++;
		if (shift < 32)
			value |= (uint32_t)(byte & 63) << shift;
		if (!(byte & 64))
			break;
	}
	return value;
}

static int signed_number(struct table *table)
{
	uint32_t value = python_lines_number(table);
	return value & 1 ? -(int)(value >> 1) : (int)(value >> 1);
}

static void skip(struct table *table, int bytes)
{
	table->next = table->end - table->next < bytes ? table->end : table->next + bytes;
}

static int line_311(const struct rec_code *code, int32_t offset)
{
	struct table table = {code->table, code->table + code->table_length};
	int64_t line = code->first_line;
	int64_t end = 0;
	while (table.next < table.end) {
		uint8_t head = *table.next++;
		int form = head >> 3 & 15;
		end += ((head & 7) + 1) * 2;
		if (form < FORM_ONE_LINE) {
			skip(&table, 1);
		} else if (form < FORM_NO_COLUMNS) {
			line += form - FORM_ONE_LINE;
			skip(&table, 2);
		} else if (form != FORM_NONE) {
			line += signed_number(&table);
			for (int i = 0; form == FORM_LONG && i < 3; i++)
				python_lines_number(&table);
		}
		if (offset < end)
			return form == FORM_NONE || line <= 0 || line > INT32_MAX ? 0 : (int)line;
	}
	return 0;
}

int python_lines_find(const struct rec_code *code, int32_t offset)
{
	if (code->table_length == 0)
		/* The code object has no line table: the recorder wrote the line instead of the
		 * offset. */
		return offset;
	if (offset < 0)
		return code->first_line;
	return code->python >= VERSION_311 ? line_311(code, offset) : line_310(code, offset);
}
