/* SPDX-License-Identifier: Apache-2.0 */
/* measured_join.c - see measured_join.h. */
#include "analyze/measured_join.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"

/* ---- names ----------------------------------------------------------------------------------- */

static bool is_name_byte(char byte)
{
	return isalnum((unsigned char)byte) || byte == '_';
}

/* The length of a cast before a number at 'at': 5 for "(int)4"; 0 where there is none. */
static size_t cast_length(const char *at)
{
	size_t n = 1;
	if (*at != '(')
		return 0;
	while (isalpha((unsigned char)at[n]) || at[n] == ' ' || at[n] == '_' || at[n] == ':')
		n++;
	bool is_number = isdigit((unsigned char)at[n + (at[n] == ')')]) || at[n + 1] == '-';
	return n > 1 && at[n] == ')' && is_number ? n + 1 : 0;
}

/* Copies one piece of a name and yields how long the piece was: a word, a number without its
 * suffix, or one byte. */
static size_t copy_piece(const char *at, bool after_word, char **to)
{
	static const struct {
		const char *from, *to;
	} pieces[] = {{"(anonymous namespace)", "?"},
		      {"<unnamed>", "?"},
		      {"{anonymous}", "?"},
		      {"true", "1"},
		      {"false", "0"}};
	for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
		size_t n = strlen(pieces[i].from);
		if (!after_word && strncmp(at, pieces[i].from, n) == 0 && !is_name_byte(at[n])) {
			*to = stpcpy(*to, pieces[i].to);
			return n;
		}
	}
	size_t n = 0;
	if (!after_word && isdigit((unsigned char)*at)) {
		while (isdigit((unsigned char)at[n]))
			*(*to)++ = at[n++];
		while (at[n] == 'u' || at[n] == 'U' || at[n] == 'l' || at[n] == 'L')
			n++;
		return n;
	}
	*(*to)++ = *at;
	return 1;
}

/* "{lambda(float)#1}" of one demangler is "[lambda(float) (instance 1)]" of another: copies its
 * number. Yields the length of the lambda at 'at', 0 where there is none. */
static size_t copy_lambda(const char *at, char **to)
{
	bool is_gnu = strncmp(at, "{lambda(", 8) == 0;
	if (!is_gnu && strncmp(at, "[lambda(", 8) != 0)
		return 0;
	const char *end = strchr(at, is_gnu ? '}' : ']');
	const char *number = is_gnu ? "#" : "instance ", *found = NULL;
	for (const char *next = at; end && (next = strstr(next, number)) && next < end; next++)
		found = next + strlen(number);
	if (!end || !found)
		return 0;
	*(*to)++ = '@';
	for (; isdigit((unsigned char)*found) && found < end; found++)
		*(*to)++ = *found;
	return (size_t)(end - at) + 1;
}

char *measured_join_name(const char *name)
{
	char *text = hwy_alloc(strlen(name) + 1), *to = text;
	int depth = 0;
	if (strncmp(name, "void ", 5) == 0)
		name += 5;
	for (const char *at = name; *at;) {
		size_t cast = depth > 0 ? cast_length(at) : 0;
		bool is_unnamed = strncmp(at, "(anonymous namespace)", 21) == 0;
		/* ncu writes at::native::f as at::f. */
		if (strncmp(at, "at::native::", 12) == 0) {
			to = stpcpy(to, "at::");
			at += 12;
			continue;
		}
		size_t lambda = copy_lambda(at, &to);
		if (lambda) {
			at += lambda;
			continue;
		}
		if (depth == 0 && *at == '(' && !is_unnamed && at > name)
			break; /* the parameters */
		if (cast || *at == ' ') {
			at += cast ? cast : 1;
			continue;
		}
		depth += *at == '<' && strncmp(at, "<unnamed>", 9) != 0;
		depth -= *at == '>' && depth > 0;
		at += copy_piece(at, at > name && is_name_byte(at[-1]), &to);
	}
	*to = '\0';
	return text;
}

/* The function's own name in a name that measured_join_name made: without namespaces and
 * template arguments. */
static struct hwy_text own_name(const char *name)
{
	size_t n = strcspn(name, "<");
	const char *at = name + n;
	while (at > name && at[-1] != ':')
		at--;
	return (struct hwy_text){at, (uint32_t)(name + n - at)};
}

/* ---- kernels of the recording ---------------------------------------------------------------- */

struct join_kernel {
	struct join_key {
		int64_t name, symbol, shape; /* symbol and shape as the columns have them */
	} key;
	char *names[3]; /* its names without what differs; NULL where it has fewer */
};

struct join {
	struct hwy_trace *report;
	struct join_kernel *kernels;
	uint32_t n, cap;
	struct hwy_index by_key;
};

static void find_kernels(struct join *join, const struct hwy_strip *strip)
{
	const struct hwy_trace *report = join->report;
	for (uint32_t row = 0; row < strip->rows; row++) {
		struct join_key key = {hwy_get(strip, HWY_NAME, row),
				       hwy_get(strip, HWY_SYMBOL, row),
				       hwy_get(strip, HWY_SHAPE, row)};
		bool fresh;
		uint32_t *at =
			hwy_index_put_element(&join->by_key, join->kernels, sizeof *join->kernels,
					      &key, sizeof key, &fresh);
		if (!fresh)
			continue;
		HWY_GROW(join->kernels, join->n, join->cap);
		struct join_kernel *kernel = &join->kernels[join->n];
		*kernel = (struct join_kernel){.key = key};
		*at = join->n++;
		const struct hwy_symbol *symbol = hwy_get_symbol(report, strip, row);
		kernel->names[0] = measured_join_name(hwy_str(report, key.name));
		if (symbol) {
			kernel->names[1] = measured_join_name(hwy_str(report, symbol->demangled));
			kernel->names[2] = measured_join_name(hwy_str(report, symbol->mangled));
		}
	}
}

static bool has_shape(const struct join *join, const struct join_kernel *kernel,
		      const struct hwy_shape *shape)
{
	uint32_t index;
	return shape && hwy_ref_to_index(kernel->key.shape, &index) &&
	       memcmp(&join->report->shapes[index].grid_x, &shape->grid_x, 6 * sizeof(int64_t)) ==
		       0;
}

static bool has_name(const struct join_kernel *kernel, const char *name)
{
	for (int i = 0; i < 3; i++)
		if (kernel->names[i] && *kernel->names[i] && strcmp(kernel->names[i], name) == 0)
			return true;
	return false;
}

static bool has_own_name(const struct join_kernel *kernel, const char *name)
{
	struct hwy_text own = own_name(name), other = own_name(kernel->names[0]);
	return own.length > 0 && own.length == other.length &&
	       memcmp(own.at, other.at, own.length) == 0;
}

/* The kernel that was measured: by its whole name and its shape, where a shape is known; else
 * the only one with its own name and the shape. NULL where none fits. */
static const struct join_kernel *find_kernel(const struct join *join, const char *name,
					     const struct hwy_shape *shape)
{
	const struct join_kernel *named = NULL, *similar = NULL;
	uint32_t n_similar = 0;
	for (uint32_t i = 0; i < join->n; i++) {
		const struct join_kernel *kernel = &join->kernels[i];
		bool fits = has_shape(join, kernel, shape);
		if (has_name(kernel, name)) {
			if (fits)
				return kernel;
			named = named ? named : kernel;
		} else if (fits && has_own_name(kernel, name)) {
			n_similar += !similar || similar->key.name != kernel->key.name;
			similar = kernel;
		}
	}
	if (named)
		return shape ? NULL : named; /* launches of another shape do other work */
	return n_similar == 1 ? similar : NULL;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Takes out the rows that 'keep' does not name, and their measures. */
static void drop_measured(struct hwy_trace *trace, const bool *keep)
{
	uint32_t *now = hwy_array(trace->n_measured, sizeof *now), n = 0, left = 0;
	for (uint32_t i = 0; i < trace->n_measured; i++) {
		now[i] = n;
		if (keep[i])
			trace->measured[n++] = trace->measured[i];
	}
	for (uint32_t i = 0; i < trace->n_measures; i++) {
		struct hwy_measure row = trace->measures[i];
		if (row.measured < 0 || row.measured >= trace->n_measured || !keep[row.measured])
			continue;
		row.measured = now[row.measured];
		trace->measures[left++] = row;
	}
	trace->n_measured = n;
	trace->n_measures = left;
	free(now);
}

static uint32_t text_in(struct hwy_trace *report, const struct hwy_trace *from, int64_t id)
{
	struct hwy_text text = hwy_text(from, id);
	return hwy_intern(&report->strings, text.at, text.length);
}

static void copy_measures(struct hwy_trace *report, const struct hwy_trace *from,
			  const int64_t *place)
{
	for (uint32_t i = 0; i < from->n_measures; i++) {
		struct hwy_measure row = from->measures[i];
		if (row.measured < 0 || row.measured >= from->n_measured ||
		    place[row.measured] == HWY_NONE)
			continue;
		row.measured = place[row.measured];
		row.metric = text_in(report, from, row.metric);
		HWY_GROW(report->measures, report->n_measures, report->cap_measures);
		report->measures[report->n_measures++] = row;
	}
}

static void join_row(struct join *join, const struct hwy_trace *from, uint32_t i, int64_t *place,
		     struct joined_counters *joined)
{
	struct hwy_trace *report = join->report;
	struct hwy_measured row = from->measured[i];
	const struct hwy_shape *shape = row.shape == HWY_NONE ? NULL : &from->shapes[row.shape];
	char *name = measured_join_name(hwy_str(from, row.kernel));
	const struct join_kernel *kernel = find_kernel(join, name, shape);
	free(name);
	joined->kernels++;
	if (!kernel) {
		place[i] = HWY_NONE;
		if (!*joined->missing)
			snprintf(joined->missing, sizeof joined->missing, "%.100s",
				 hwy_str(from, row.kernel));
		return;
	}
	joined->found++;
	row.kernel = kernel->key.name;
	uint32_t index;
	row.shape =
		shape && hwy_ref_to_index(kernel->key.shape, &index) ? (int64_t)index : HWY_NONE;
	row.device = row.device >= 0 && row.device < report->n_devices ? row.device : 0;
	row.source = text_in(report, from, row.source);
	HWY_GROW(report->measured, report->n_measured, report->cap_measured);
	place[i] = report->n_measured;
	report->measured[report->n_measured++] = row;
}

/* Takes out rows below 'old' that a row from 'old' on measures again. */
static void drop_repeated(struct hwy_trace *report, uint32_t old)
{
	bool *keep = hwy_array(report->n_measured, sizeof *keep);
	for (uint32_t i = 0; i < report->n_measured; i++) {
		const struct hwy_measured *row = &report->measured[i];
		keep[i] = true;
		for (uint32_t k = old; i < old && k < report->n_measured && keep[i]; k++)
			keep[i] = row->kernel != report->measured[k].kernel ||
				  row->shape != report->measured[k].shape ||
				  row->source != report->measured[k].source;
	}
	drop_measured(report, keep);
	free(keep);
}

bool measured_join(struct hwy_trace *report, const struct hwy_trace *from,
		   struct joined_counters *joined, struct hwy_err *err)
{
	struct join join = {.report = report};
	*joined = (struct joined_counters){0};
	uint64_t columns = HWY_COL_BIT(HWY_NAME) | HWY_COL_BIT(HWY_SYMBOL) | HWY_COL_BIT(HWY_SHAPE);
	if (!hwy_need(report, HWY_KIND_BIT(HWY_KERNEL), columns, err))
		return false;
	for (uint32_t s = 0; s < report->n_strips; s++)
		if (report->strips[s].kind == HWY_KERNEL)
			find_kernels(&join, &report->strips[s]);
	uint32_t old = report->n_measured;
	int64_t *place = hwy_array(from->n_measured, sizeof *place);
	for (uint32_t i = 0; i < from->n_measured; i++)
		join_row(&join, from, i, place, joined);
	copy_measures(report, from, place);
	drop_repeated(report, old);
	/* Texts were added: what was derived from the old ones is too short now. */
	free(report->roles);
	free(report->comm);
	report->roles = report->comm = NULL;
	for (uint32_t i = 0; i < join.n; i++)
		for (int k = 0; k < 3; k++)
			free(join.kernels[i].names[k]);
	free(join.kernels);
	free(place);
	hwy_index_free(&join.by_key);
	return true;
}
