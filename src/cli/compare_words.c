/* compare_words.c - numbers that changed, as people read them; see compare.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/compare.h"
#include "diagnose/words.h"

struct compare_text compare_time(int64_t ns)
{
	struct compare_text text;
	snprintf(text.at, sizeof text.at, "%s%s", ns < 0 ? "−" : "",
		 ns == 0 ? "0" : words_time(ns < 0 ? -ns : ns).at);
	return text;
}

struct compare_text compare_change(int64_t ns)
{
	struct compare_text text = {"0"};
	if (ns)
		snprintf(text.at, sizeof text.at, "%s%s", ns > 0 ? "+" : "−",
			 words_time(ns < 0 ? -ns : ns).at);
	return text;
}

struct compare_text compare_percent(double share)
{
	struct compare_text text;
	double percent = fabs(100 * share);
	const char *sign = percent < 0.05 ? "" : share < 0 ? "−" : "+";
	snprintf(text.at, sizeof text.at, "%s%.*f %%", sign, percent < 9.95 ? 1 : 0, percent);
	return text;
}

struct compare_text compare_number(double number)
{
	struct compare_text text;
	double whole = round(number);
	int decimals = fabs(number - whole) < 0.005 || number >= 100 ? 0 : number >= 10 ? 1 : 2;
	snprintf(text.at, sizeof text.at, "%.*f", decimals, number);
	return text;
}

void compare_put_cause(FILE *out, const struct compare_diff *diff)
{
	/* Parts that go the way of the change, down to a tenth of it; two say it. */
	int64_t limit = llabs(diff->change) / 10;
	const char *before = "";
	for (unsigned i = 0, told = 0; i < PARTS && told < 2; i++) {
		unsigned part = diff->order[i];
		bool along = (diff->parts[part] > 0) == (diff->change > 0);
		if (diff->parts[part] == 0 || llabs(diff->parts[part]) < limit)
			break;
		if (!along)
			continue;
		fprintf(out, "%s%s %s", before, part_name(part),
			compare_change(diff->parts[part]).at);
		before = ", ";
		told++;
	}
}

bool compare_count_text(const struct diff_count *count, struct compare_count_text *text)
{
	static const char *const labels[COUNTS] = {
		[COUNT_WAITS] = "waits",
		[COUNT_WAITED] = "CPU waits for",
		[COUNT_LAUNCHES] = "launches",
		[COUNT_GRAPH_LAUNCHES] = "graph launches",
		[COUNT_KERNELS] = "kernels",
		[COUNT_COPIES] = "copies",
		[COUNT_FILLS] = "fills",
		[COUNT_ALLOCS] = "allocations",
		[COUNT_H2D_BYTES] = "to the GPU",
		[COUNT_D2H_BYTES] = "from the GPU",
		[COUNT_PAGEABLE_BYTES] = "pageable",
	};
	enum compare_count which = count->count;
	if (!labels[which] || (count->before <= 0 && count->after <= 0))
		return false;
	text->label = labels[which];
	text->before = compare_number(count->before);
	text->after = compare_number(count->after);
	if (which == COUNT_WAITED) {
		text->before = compare_time((int64_t)count->before);
		text->after = compare_time((int64_t)count->after);
	}
	if (which == COUNT_H2D_BYTES || which == COUNT_D2H_BYTES || which == COUNT_PAGEABLE_BYTES) {
		snprintf(text->before.at, sizeof text->before.at, "%s",
			 words_bytes((uint64_t)count->before).at);
		snprintf(text->after.at, sizeof text->after.at, "%s",
			 words_bytes((uint64_t)count->after).at);
	}
	return true;
}

void compare_prediction(const struct diff_finding *finding, char *text, size_t size)
{
	*text = '\0';
	if (!(finding->predicted > 0))
		return;
	int n = snprintf(text, size, "predicted %.2f× (%.2f – %.2f)", finding->predicted,
			 finding->low, finding->high);
	if (finding->grade != GRADE_NONE && n > 0 && (size_t)n < size)
		snprintf(text + n, size - (size_t)n, ", measured %.2f×%s: %s", finding->measured,
			 finding->without_recorder ? " without the recorder's cost" : "",
			 grade_names[finding->grade]);
}
