/* python_lines.c - reads CPython's line tables.
 *
 * Formats: 3.10's co_linetable (PEP 626) is pairs of bytes: how many bytes of code, and the line's change
 * (-128: these have no line). From 3.11 on (Objects/locations.md) an entry is a head byte, 1cccc lll: form
 * and number of 2-byte code units less one, and what the form says; numbers have 6 bits a byte, the seventh
 * says that more follow, signed ones have their sign in the lowest bit. 3.9 and older are not recorded.
 */
#include "ingest/python_lines.h"

enum { NO_LINE = -128, VERSION_311 = 0x030b0000 };
enum { FORM_ONE_LINE = 10, FORM_NO_COLUMNS = 13, FORM_LONG = 14, FORM_NONE = 15 };

static int line_310(const struct rec_code *code, int32_t offset)
{
	int64_t line = code->first_line;
	int64_t end = 0;
	for (uint32_t at = 0; at + 1 < code->table_length; at += 2) {
		int change = (int8_t)code->table[at + 1];
		end += code->table[at];
		if (change != NO_LINE)
			line += change;
		if (offset < end)
			return change == NO_LINE || line <= 0 || line > INT32_MAX ? 0 : (int)line;
	}
	return 0;
}

struct table {
	const uint8_t *at, *end;
};

static uint32_t python_lines_number(struct table *table)
{
	uint32_t value = 0;
	for (unsigned shift = 0; table->at < table->end; shift += 6) {
		uint8_t byte = *table->at++;
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
	table->at = table->end - table->at < bytes ? table->end : table->at + bytes;
}

static int line_311(const struct rec_code *code, int32_t offset)
{
	struct table table = {code->table, code->table + code->table_length};
	int64_t line = code->first_line;
	int64_t end = 0;
	while (table.at < table.end) {
		uint8_t head = *table.at++;
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

int python_line(const struct rec_code *code, int32_t offset)
{
	if (code->table_length == 0)
		return offset; /* the line itself */
	if (offset < 0)
		return code->first_line;
	return code->python >= VERSION_311 ? line_311(code, offset) : line_310(code, offset);
}
