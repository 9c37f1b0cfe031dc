/* SPDX-License-Identifier: Apache-2.0 */
/* digest_code.c - a digest as a record of bytes, and back; see digest.h.
 *
 * A record is sections, compressed as one: id, version and length of each as varints, then its
 * fields. Fields are appended, never changed: a reader ignores what a section has behind the
 * fields that it knows, and sections that it does not know. A section of a higher version cannot
 * be read by an older reader at all.
 *
 * Everything that is read is checked against what the record still has before it is allocated.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "digest/digest.h"
#include "digest/digest_file.h"
#include "trace/codec.h"

enum {
	SECTION_WHO = 1,
	SECTION_STEPS,
	SECTION_PHASE,
	SECTION_TABLES,
	SECTION_FINDINGS,
	SECTION_EXCHANGES,
	SECTION_DEVICE,
	SECTION_LACKS,
	SECTION_NEWEST = 1, /* the version of every section */
};
/* Records are compressed once and read often: the level with the smallest result that is still
 * made in a moment. */
enum { RECORD_LEVEL = 19 };
#define MILLION 1e6
/* Values are summed over thousands of ranks: none may be so large that such a sum overflows. */
#define MOST_VALUE (INT64_C(1) << 50)
#define MOST_SUM (INT64_C(1) << 58)

/* ---- one description for both directions ----------------------------------------------------- */

/* Fields are written and read by the same functions, in the same order: 'from' is NULL while
 * writing. */
struct record {
	struct hwy_bytes *to;
	struct hwy_bytes_reader *from;
	struct rank_digest *digest;
};

/* A number; HWY_NONE is 0. */
static void field_number(struct record *r, int64_t *value)
{
	if (!r->from) {
		hwy_bytes_put_varint(r->to, *value == HWY_NONE ? 0 : hwy_zigzag(*value) + 1);
		return;
	}
	uint64_t stored = hwy_bytes_read_varint(r->from);
	*value = stored ? hwy_unzigzag(stored - 1) : HWY_NONE;
}

/* A time, size or count: not negative, and not so large that sums of it overflow. */
static void field_amount(struct record *r, int64_t *value)
{
	if (!r->from)
		hwy_bytes_put_varint(r->to, *value < 0            ? 0
					    : *value > MOST_VALUE ? (uint64_t)MOST_VALUE
								  : (uint64_t)*value);
	else
		*value = (int64_t)hwy_bytes_read_count(r->from, (uint64_t)MOST_VALUE);
}

static void field_unsigned(struct record *r, uint64_t *value)
{
	int64_t amount = r->from || *value > (uint64_t)MOST_VALUE ? MOST_VALUE : (int64_t)*value;
	field_amount(r, &amount);
	*value = (uint64_t)amount;
}

static void field_u32(struct record *r, uint32_t *value, uint32_t most)
{
	if (!r->from)
		hwy_bytes_put_varint(r->to, *value);
	else
		*value = (uint32_t)hwy_bytes_read_count(r->from, most);
}

static void field_bits(struct record *r, uint64_t *value)
{
	if (!r->from)
		hwy_bytes_put_little(r->to, *value, 8);
	else
		*value = hwy_bytes_read_little(r->from, 8);
}

/* A share or ratio, in millionths. */
static void field_share(struct record *r, double *value)
{
	int64_t stored = r->from ? 0 : (int64_t)(*value * MILLION + (*value < 0 ? -0.5 : 0.5));
	field_number(r, &stored);
	if (r->from && (stored > MOST_VALUE || stored < -MOST_VALUE))
		r->from->is_bad = true;
	*value = (double)stored / MILLION;
}

static void field_bool(struct record *r, bool *value)
{
	uint32_t stored = r->from ? 0 : *value;
	field_u32(r, &stored, 1);
	*value = stored;
}

static void field_text(struct record *r, const char **text)
{
	if (!r->from) {
		const char *cut = digest_keep(r->digest, *text);
		size_t length = strlen(cut);
		hwy_bytes_put_varint(r->to, length);
		hwy_bytes_put(r->to, cut, length);
		return;
	}
	uint64_t length = hwy_bytes_read_count(r->from, DIGEST_TEXT_BYTES);
	const uint8_t *bytes = hwy_bytes_take(r->from, length);
	char *copy = hwy_arena_text(&r->digest->arena, bytes ? (const char *)bytes : "",
				    bytes ? length : 0);
	/* A 0 inside would make texts that differ look equal. */
	r->from->is_bad |= bytes && memchr(bytes, 0, length) != NULL;
	*text = copy;
}

/* The number of elements of a list, and its memory when it is read. */
static void *list(struct record *r, void *array, uint32_t *n, uint32_t most, size_t element)
{
	field_u32(r, n, most);
	return r->from ? hwy_arena_array(&r->digest->arena, *n, element) : array;
}

/* ---- the sections ---------------------------------------------------------------------------- */

static void code_who(struct record *r)
{
	struct rank_digest *d = r->digest;
	field_text(r, &d->job);
	field_bool(r, &d->is_named);
	field_number(r, &d->rank);
	field_number(r, &d->local_rank);
	field_number(r, &d->world);
	field_text(r, &d->host);
	field_number(r, &d->node);
	field_text(r, &d->topology);
	field_text(r, &d->uuid);
	field_number(r, &d->started);
	field_text(r, &d->version);
	field_text(r, &d->report);
	field_unsigned(r, &d->report_bytes);
	field_bits(r, &d->report_identity);
	field_text(r, &d->summary.program);
	field_text(r, &d->summary.command);
	field_text(r, &d->summary.gpu);
	field_u32(r, &d->summary.n_gpus, UINT16_MAX);
	field_text(r, &d->summary.driver);
	field_text(r, &d->summary.cuda);
	field_text(r, &d->summary.format);
	field_text(r, &d->summary.traces);
	field_text(r, &d->summary.graph_mode);
	field_amount(r, &d->summary.clock_hz);
	field_unsigned(r, &d->summary.lost);
}

static void code_series(struct record *r, int64_t *values, uint32_t n, int64_t unit)
{
	int64_t before = 0;
	for (uint32_t i = 0; i < n; i++) {
		int64_t change = r->from ? 0 : values[i] / unit - before;
		if (!r->from)
			hwy_bytes_put_zigzag(r->to, change);
		else
			change = hwy_bytes_read_zigzag(r->from);
		if (__builtin_add_overflow(before, change, &before) || before > MOST_VALUE / unit ||
		    before < -MOST_VALUE / unit) {
			before = 0;
			if (r->from)
				r->from->is_bad = true;
		}
		values[i] = before * unit;
	}
}

static int64_t common_divisor(int64_t a, int64_t b)
{
	while (b) {
		int64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a < 0 ? -a : a;
}

/* All values are multiples of one unit, which digest_fill_buckets has rounded them to. */
static int64_t unit_of_series(const struct digest_steps *steps)
{
	int64_t unit = 0;
	for (uint32_t i = 0; i < steps->n_buckets; i++)
		unit = common_divisor(common_divisor(unit, steps->step[i]), steps->own[i]);
	return unit > 0 ? unit : 1;
}

static void code_steps(struct record *r)
{
	struct digest_steps *s = &r->digest->steps;
	uint32_t numbers = s->numbers;
	int64_t unit = r->from ? 1 : unit_of_series(s);
	field_u32(r, &numbers, DIGEST_NUMBERS - 1);
	s->numbers = numbers;
	field_amount(r, &s->first);
	field_u32(r, &s->n, UINT32_MAX / 2);
	field_u32(r, &s->shift, 31);
	field_u32(r, &s->n_buckets, DIGEST_BUCKETS);
	field_number(r, &s->wall);
	field_number(r, &s->mean_own);
	field_amount(r, &unit);
	field_amount(r, &r->digest->window);
	field_amount(r, &r->digest->comm);
	if (r->from) {
		int64_t last = s->first + s->n - 1;
		uint32_t buckets =
			s->n ? (uint32_t)((last >> s->shift) - (s->first >> s->shift) + 1) : 0;
		r->from->is_bad |= buckets != s->n_buckets || unit < 1 ||
				   s->mean_own > MOST_VALUE || s->mean_own < -MOST_VALUE;
		unit = unit > 0 ? unit : 1;
		s->step = hwy_arena_array(&r->digest->arena, s->n_buckets, sizeof *s->step);
		s->own = hwy_arena_array(&r->digest->arena, s->n_buckets, sizeof *s->own);
	}
	code_series(r, s->step, s->n_buckets, unit);
	code_series(r, s->own, s->n_buckets, unit);
	for (uint32_t b = 0; r->from && b < s->n_buckets; b++) {
		/* The steps of a bucket are added up later. */
		int64_t most = MOST_SUM / (digest_bucket_steps(s, b) + 1);
		r->from->is_bad |= s->step[b] > most || s->step[b] < 0 || s->own[b] > most ||
				   s->own[b] < -most;
	}
}

/* Arrays whose length may grow with versions have it before them; elements that are not known
 * are skipped. */
static void code_amounts(struct record *r, int64_t *values, uint32_t n)
{
	uint32_t stored = n;
	field_u32(r, &stored, UINT8_MAX);
	for (uint32_t i = 0; i < stored; i++) {
		int64_t skipped;
		field_amount(r, i < n ? &values[i] : &skipped);
	}
}

static void code_phase(struct record *r)
{
	struct rank_digest *d = r->digest;
	if (r->from) {
		d->summary.phases = hwy_arena_array(&d->arena, 1, sizeof *d->summary.phases);
		d->summary.n = 1;
	}
	struct compare_phase *p = &d->summary.phases[0];
	int64_t *times[] = {&p->step,  &p->p10,     &p->p50,       &p->p90,
			    &p->p99,   &p->longest, &p->kernel_ns, &p->busy_clock_hz,
			    &p->plain, &d->hidden,  &d->threads};
	field_text(r, &p->name);
	field_bool(r, &p->repeats);
	field_u32(r, &p->n_steps, UINT32_MAX / 2);
	field_u32(r, &p->n_steady, UINT32_MAX / 2);
	field_u32(r, &p->n_devices, UINT16_MAX);
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		field_amount(r, times[i]);
	code_amounts(r, p->parts, PARTS);
	code_amounts(r, p->counts, COUNTS);
}

/* Every digest has a verdict; a phase only those with device work. */
static void code_verdict(struct record *r)
{
	struct rank_digest *d = r->digest;
	uint32_t word = d->word, n = VERDICTS;
	double skipped;
	field_u32(r, &word, VERDICTS - 1);
	d->word = word;
	field_u32(r, &n, UINT8_MAX);
	for (uint32_t i = 0; i < n; i++)
		field_share(r, i < VERDICTS ? &d->shares[i] : &skipped);
}

static void code_tables(struct record *r)
{
	struct compare_phase *p = &r->digest->summary.phases[0];
	uint32_t n = TABLES;
	field_u32(r, &n, TABLES);
	for (uint32_t t = 0; t < n; t++) {
		struct compare_table *table = &p->tables[t];
		table->rows = list(r, table->rows, &table->n, COMPARE_KERNELS, sizeof *table->rows);
		field_u32(r, &table->left_out, UINT32_MAX / 2);
		for (uint32_t i = 0; i < table->n; i++) {
			struct compare_row *row = &table->rows[i];
			int64_t deviation = (int64_t)row->deviation;
			field_text(r, &row->name);
			field_unsigned(r, &row->count);
			field_amount(r, &row->ns);
			field_amount(r, &deviation);
			field_share(r, &row->place);
			row->deviation = (double)deviation;
		}
	}
}

static void code_findings(struct record *r)
{
	struct rank_digest *d = r->digest;
	struct compare_phase *p = &d->summary.phases[0];
	p->findings = list(r, p->findings, &p->n_findings, DIGEST_FINDINGS, sizeof *p->findings);
	if (r->from) {
		d->says = hwy_arena_array(&d->arena, p->n_findings, sizeof *d->says);
		d->words = hwy_arena_array(&d->arena, p->n_findings, sizeof *d->words);
	}
	for (uint32_t i = 0; i < p->n_findings; i++) {
		struct compare_finding *f = &p->findings[i];
		uint32_t word = d->words[i];
		field_text(r, &f->id);
		field_text(r, &f->place);
		field_text(r, &d->says[i]);
		field_u32(r, &word, VERDICTS);
		d->words[i] = (uint8_t)word;
		field_amount(r, &f->cost);
		field_share(r, &f->share);
		field_bool(r, &f->is_inside);
		field_bool(r, &f->predicted.is_known);
		field_text(r, &f->predicted.edits);
		field_amount(r, &f->predicted.before);
		field_amount(r, &f->predicted.step);
		field_amount(r, &f->predicted.p10);
		field_amount(r, &f->predicted.p90);
		field_share(r, &f->predicted.speedup);
		const struct hwy_finding_kind *kind = hwy_finding_kind(f->id);
		f->title = kind ? kind->title : "";
	}
}

static void code_exchanges(struct record *r)
{
	struct rank_digest *d = r->digest;
	d->exchanges =
		list(r, d->exchanges, &d->n_exchanges, DIGEST_EXCHANGES, sizeof *d->exchanges);
	for (uint32_t i = 0; i < d->n_exchanges; i++) {
		struct digest_exchange *e = &d->exchanges[i];
		uint32_t way = e->way;
		field_text(r, &e->library);
		field_text(r, &e->operation);
		field_text(r, &e->group);
		field_bits(r, &e->key);
		field_number(r, &e->size);
		field_number(r, &e->peer);
		field_u32(r, &way, DIGEST_GOT);
		e->way = (uint8_t)way;
		field_unsigned(r, &e->count);
		field_unsigned(r, &e->bytes);
		field_amount(r, &e->ns);
		field_unsigned(r, &e->large);
		field_unsigned(r, &e->large_bytes);
		field_unsigned(r, &e->typical_rate);
		field_unsigned(r, &e->fastest_rate);
	}
}

static void code_device(struct record *r)
{
	struct rank_digest *d = r->digest;
	uint32_t n = CLOCK_LIMITS;
	field_amount(r, &d->clock_median_hz);
	field_amount(r, &d->clock_least_hz);
	field_amount(r, &d->clock_most_hz);
	field_amount(r, &d->power_median_mw);
	field_amount(r, &d->temperature_most_mc);
	field_u32(r, &n, UINT8_MAX);
	for (uint32_t i = 0; i < n; i++) {
		int64_t skipped;
		field_number(r, i < CLOCK_LIMITS ? &d->held_down[i] : &skipped);
	}
}

static void code_lacks(struct record *r)
{
	uint32_t n = HWY_LACKS;
	field_unsigned(r, &r->digest->dropped);
	field_u32(r, &n, UINT8_MAX);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t skipped = 0;
		field_unsigned(r, i < HWY_LACKS ? &r->digest->lacks[i] : &skipped);
	}
}

static void code_device_and_verdict(struct record *r)
{
	code_verdict(r);
	code_device(r);
}

static const struct {
	uint32_t id;
	void (*put)(struct record *r);
	bool needs_phase;
} sections[] = {
	{SECTION_WHO, code_who, false},
	{SECTION_STEPS, code_steps, false},
	{SECTION_PHASE, code_phase, false},
	{SECTION_TABLES, code_tables, true},
	{SECTION_FINDINGS, code_findings, true},
	{SECTION_EXCHANGES, code_exchanges, false},
	{SECTION_DEVICE, code_device_and_verdict, false},
	{SECTION_LACKS, code_lacks, false},
};
enum { N_SECTIONS = sizeof sections / sizeof *sections };

/* ---- writing --------------------------------------------------------------------------------- */

struct digest_bytes digest_encode(const struct rank_digest *digest)
{
	struct hwy_bytes plain = {0}, section = {0};
	/* Fields are read and written by the same functions; writing changes nothing but the
	 * arena. */
	struct rank_digest copy = *digest;
	copy.arena = (struct hwy_arena){0};
	struct record r = {.to = &section, .digest = &copy};
	for (unsigned i = 0; i < N_SECTIONS; i++) {
		bool is_of_phase = sections[i].needs_phase || sections[i].id == SECTION_PHASE;
		if (is_of_phase && digest->summary.n == 0)
			continue;
		section.n = 0;
		sections[i].put(&r);
		hwy_bytes_put_varint(&plain, sections[i].id);
		hwy_bytes_put_varint(&plain, SECTION_NEWEST);
		hwy_bytes_put_varint(&plain, section.n);
		hwy_bytes_put(&plain, section.bytes, section.n);
	}
	hwy_arena_free(&copy.arena);
	struct codec *codec = codec_new();
	size_t stored = 0;
	const void *packed = codec_compress(codec, RECORD_LEVEL, plain.bytes, plain.n, &stored);
	struct hwy_bytes record = {0};
	hwy_bytes_put_varint(&record, plain.n);
	if (packed)
		hwy_bytes_put(&record, packed, stored);
	codec_free(codec);
	hwy_bytes_free(&plain);
	hwy_bytes_free(&section);
	return (struct digest_bytes){record.bytes, record.n};
}

/* ---- reading --------------------------------------------------------------------------------- */

static void clear(struct rank_digest *digest)
{
	*digest = (struct rank_digest){.rank = HWY_NONE,
				       .local_rank = HWY_NONE,
				       .world = HWY_NONE,
				       .node = HWY_NONE,
				       .started = HWY_NONE};
	digest->job = digest->host = digest->topology = digest->uuid = digest->version =
		digest->report = "";
	digest->summary.program = digest->summary.command = digest->summary.gpu =
		digest->summary.driver = digest->summary.cuda = digest->summary.format =
			digest->summary.traces = digest->summary.graph_mode = digest->summary.file =
				"";
	digest->steps.wall = HWY_NONE;
	digest->word = VERDICT_CANNOT_TELL;
	for (unsigned i = 0; i < CLOCK_LIMITS; i++)
		digest->held_down[i] = HWY_NONE;
}

static bool read_section(struct rank_digest *digest, uint64_t id, uint64_t version,
			 const uint8_t *bytes, uint64_t length, struct hwy_err *err)
{
	struct hwy_bytes_reader reader = hwy_bytes_reader(bytes, length);
	struct record r = {.from = &reader, .digest = digest};
	for (unsigned i = 0; i < N_SECTIONS; i++) {
		if (sections[i].id != id)
			continue;
		if (version > SECTION_NEWEST)
			return hwy_fail(err, "section %u is of version %u, made by a newer headway",
					(unsigned)id, (unsigned)version);
		if (sections[i].needs_phase && digest->summary.n == 0)
			return hwy_fail(err, "section %u is out of order", (unsigned)id);
		sections[i].put(&r);
		return !reader.is_bad ||
		       hwy_fail(err, "section %u has values that cannot be", (unsigned)id);
	}
	return true;
}

static bool read_sections(struct rank_digest *digest, const uint8_t *plain, size_t n,
			  struct hwy_err *err)
{
	struct hwy_bytes_reader all = hwy_bytes_reader(plain, n);
	uint64_t last = 0;
	while (all.next < all.end) {
		uint64_t id = hwy_bytes_read_varint(&all), version = hwy_bytes_read_varint(&all);
		uint64_t length = hwy_bytes_read_varint(&all);
		const uint8_t *bytes = hwy_bytes_take(&all, length);
		/* In order, and each once: so a digest has one form. */
		if (all.is_bad || id <= last)
			return hwy_fail(err, "its sections are damaged");
		last = id;
		if (!read_section(digest, id, version, bytes, length, err))
			return false;
	}
	return (digest->rank >= 0 && digest->rank <= UINT32_MAX) ||
	       hwy_fail(err, "it does not tell its rank");
}

bool digest_decode(struct rank_digest *digest, const void *bytes, size_t n, struct hwy_err *err)
{
	struct hwy_bytes_reader reader = hwy_bytes_reader(bytes, n);
	uint64_t length = hwy_bytes_read_count(&reader, DIGEST_MOST_BYTES);
	clear(digest);
	if (reader.is_bad || length == 0)
		return hwy_fail(err, "its length cannot be");
	struct codec *codec = codec_new();
	uint8_t *plain = hwy_alloc(length);
	const char *reason = codec_decompress(codec, reader.next,
					      (size_t)(reader.end - reader.next), plain, length);
	bool done = !reason ? read_sections(digest, plain, length, err)
			    : hwy_fail(err, "it cannot be unpacked (%s)", reason);
	free(plain);
	codec_free(codec);
	if (!done)
		digest_free(digest);
	return done;
}
