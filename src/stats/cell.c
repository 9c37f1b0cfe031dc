/* SPDX-License-Identifier: Apache-2.0 */
/* cell.c - the cells of reports, and their numbers as text, to the last digit as nsys prints
 * them.
 *
 * Means are doubles with one decimal, and an exact half goes up: 11764.25 is 11764.3. (13101.65
 * is not a half: the nearest double lies below it, and it becomes 13101.6.) Megabytes are 10^6
 * bytes, three decimals, rounded as printf does it. Times in other units than ns keep every
 * digit.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stats/report_run.h"

static const char *const unit_names[] = {"ns", "us", "ms", "s"};

/* The length of the text that snprintf, which returned n, has left in a buffer of this size. */
static size_t length_written(int n, size_t size)
{
	return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

struct stats_cell cell_pid(const struct hwy_trace *trace, uint32_t lane)
{
	int64_t process = trace->lanes[lane].process;
	return process >= 0 && process < trace->n_processes
		       ? cell_number_or_empty(trace->processes[process].pid)
		       : cell_empty();
}

struct stats_cell cell_tid(const struct hwy_trace *trace, uint32_t lane)
{
	const struct hwy_thread *thread = report_lane_thread(trace, lane);
	return thread ? cell_number_or_empty(thread->tid) : cell_empty();
}

static size_t one_decimal(double value, char *text, size_t size)
{
	/* A double can hold exact halves of a tenth only as .25 and .75; printf rounds .25 down
	 * and .75 up. */
	double quarters = value * 4;
	if (fabs(quarters) < 0x1p52 && quarters == floor(quarters) && fmod(quarters, 2) != 0)
		value = nextafter(value, value > 0 ? INFINITY : -INFINITY);
	return length_written(snprintf(text, size, "%.1f", value), size);
}

/* Writes an integer without snprintf, which would take most of the time of a table with a row
 * for each span. */
static size_t integer_text(int64_t value, char *text)
{
	char digits[24];
	char *at = digits + sizeof digits;
	uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	*--at = 0;
	do
		*--at = (char)('0' + rest % 10);
	while (rest /= 10);
	if (value < 0)
		*--at = '-';
	size_t length = (size_t)(digits + sizeof digits - 1 - at);
	memcpy(text, at, length + 1);
	return length;
}

static size_t time_text(int64_t ns, enum stats_time_unit unit, char *text, size_t size)
{
	static const int64_t scales[] = {1, 1000, 1000000, 1000000000};
	if (unit == STATS_NS)
		return integer_text(ns, text);
	uint64_t scale = (uint64_t)scales[unit];
	uint64_t size_ns = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	return length_written(snprintf(text, size, "%s%" PRIu64 ".%0*" PRIu64, ns < 0 ? "-" : "",
				       size_ns / scale, (int)unit * 3, size_ns % scale),
			      size);
}

/* Megabytes with three decimals, in integers where that gives what printf would: printf decides
 * exact halves. */
static size_t megabytes_text(int64_t bytes, char *text)
{
	if (bytes < 0 || bytes > INT64_C(1000000000000000) || bytes % 1000 == 500)
		return length_written(
			snprintf(text, STATS_NUMBER_BYTES, "%.3f", (double)bytes / 1e6),
			STATS_NUMBER_BYTES);
	int64_t kilobytes = (bytes + 499) / 1000;
	size_t length = integer_text(kilobytes / 1000, text);
	text += length;
	*text++ = '.';
	for (int64_t digit = 100; digit; digit /= 10)
		*text++ = (char)('0' + kilobytes / digit % 10);
	*text = 0;
	return length + 4;
}

static size_t mean_time_text(double ns, enum stats_time_unit unit, char *text, size_t size)
{
	static const double scales[] = {1, 1e3, 1e6, 1e9};
	if (unit == STATS_NS)
		return one_decimal(ns, text, size);
	return length_written(snprintf(text, size, "%.*f", (int)unit * 3, ns / scales[unit]), size);
}

size_t stats_number(const struct stats_column *column, const struct stats_cell *cell,
		    enum stats_time_unit unit, char text[STATS_NUMBER_BYTES])
{
	enum { SIZE = STATS_NUMBER_BYTES };
	text[0] = 0;
	if (cell->empty)
		return 0;
	switch (column->type) {
	case STATS_TEXT:
	case STATS_WORD: return 0;
	case STATS_COUNT:
	case STATS_ID: return integer_text(cell->number, text);
	case STATS_TIME:
	case STATS_MOMENT: return time_text(cell->number, unit, text, SIZE);
	case STATS_TIME_MEAN: return mean_time_text(cell->real, unit, text, SIZE);
	case STATS_BYTES:
	case STATS_RATE: return megabytes_text(cell->number, text);
	case STATS_BYTES_MEAN:
		return length_written(snprintf(text, SIZE, "%.3f", cell->real / 1e6), SIZE);
	case STATS_PERCENT:
	case STATS_MEAN: return one_decimal(cell->real, text, SIZE);
	case STATS_REAL: return length_written(snprintf(text, SIZE, "%.3f", cell->real), SIZE);
	}
	return 0;
}

void stats_heading(const struct stats_column *column, enum stats_time_unit unit, char *text,
		   size_t size)
{
	const char *name = NULL;
	switch (column->type) {
	case STATS_TIME:
	case STATS_MOMENT:
	case STATS_TIME_MEAN: name = unit_names[unit]; break;
	case STATS_BYTES:
	case STATS_BYTES_MEAN: name = "MB"; break;
	case STATS_RATE: name = "MB/s"; break;
	case STATS_PERCENT: name = "%"; break;
	case STATS_TEXT:
	case STATS_WORD:
	case STATS_COUNT:
	case STATS_ID:
	case STATS_MEAN:
	case STATS_REAL: break;
	}
	snprintf(text, size, name ? "%s (%s)" : "%s", column->name, name);
}
