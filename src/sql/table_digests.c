/* SPDX-License-Identifier: Apache-2.0 */
/* table_digests.c - the digests of a job's ranks (digest/digest.h): ranks, their steps in order,
 * findings and exchanges. They need no report, so that a question about thousands of ranks reads
 * a few kB of each. Without digests the tables are empty. */
#include "sql/sql_tables.h"

#include "digest/digest_set.h"

static const struct rank_digest *digest_at(const struct sql_source *source, uint32_t rank)
{
	return &source->digests->ranks[rank].digest;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

enum {
	DIGEST_JOB,
	DIGEST_RANK,
	DIGEST_LOCAL_RANK,
	DIGEST_WORLD,
	DIGEST_HOST,
	DIGEST_TOPOLOGY,
	DIGEST_GPU,
	DIGEST_STARTED,
	DIGEST_VERDICT,
	DIGEST_STEADY,
	DIGEST_STEP,
	DIGEST_OWN,
	DIGEST_P10,
	DIGEST_MEDIAN,
	DIGEST_P90,
	DIGEST_COMPUTE,
	DIGEST_COMM,
	DIGEST_HIDDEN,
	DIGEST_COPY,
	DIGEST_IDLE,
	DIGEST_CLOCK,
	DIGEST_DROPPED,
	DIGEST_REPORT,
	DIGEST_STALE
};
static const struct sql_column digest_columns[] = {
	[DIGEST_JOB] = {"job", SQL_TEXT, .description = "what tells the job from others"},
	[DIGEST_RANK] = {"rank", SQL_NUMBER, .description = "the rank's number"},
	[DIGEST_LOCAL_RANK] = {"local_rank", SQL_NUMBER, .description = "its number on its host"},
	[DIGEST_WORLD] = {"world", SQL_NUMBER, .description = "how many ranks the job had"},
	[DIGEST_HOST] = {"host", SQL_TEXT, .description = "where it ran"},
	[DIGEST_TOPOLOGY] = {"topology", SQL_TEXT,
			     .description = "switches and host, outermost first"},
	[DIGEST_GPU] = {"gpu", SQL_TEXT, .description = "the uuid of its first GPU"},
	[DIGEST_STARTED] = {"started", SQL_NUMBER,
			    .description = "when its recording began, ns since 1970"},
	[DIGEST_VERDICT] = {"verdict", SQL_TEXT, .description = "what holds the rank back"},
	[DIGEST_STEADY] = {"steps", SQL_NUMBER, .description = "how many steady steps it has"},
	[DIGEST_STEP] = {"step", SQL_DURATION, .description = "a steady step, mean"},
	[DIGEST_OWN] = {"own", SQL_DURATION,
			.description = "a step without the time that the rank only communicates"},
	[DIGEST_P10] = {"p10", SQL_DURATION, .description = "a tenth of the steps are shorter"},
	[DIGEST_MEDIAN] = {"median", SQL_DURATION, .description = "half of the steps are shorter"},
	[DIGEST_P90] = {"p90", SQL_DURATION, .description = "a tenth of the steps are longer"},
	[DIGEST_COMPUTE] = {"compute", SQL_DURATION, .description = "the device computes, a step"},
	[DIGEST_COMM] = {"exposed_comm", SQL_DURATION,
			 .description = "the device only communicates, a step"},
	[DIGEST_HIDDEN] = {"hidden_comm", SQL_DURATION,
			   .description = "communication beside compute, a step"},
	[DIGEST_COPY] = {"copy", SQL_DURATION, .description = "the device only copies, a step"},
	[DIGEST_IDLE] = {"idle", SQL_DURATION, .description = "the device is idle, a step"},
	[DIGEST_CLOCK] = {"clock_hz", SQL_NATURAL,
			  .description = "the median clock of the GPU's multiprocessors"},
	[DIGEST_DROPPED] = {"dropped", SQL_NUMBER, .description = "records that were lost"},
	[DIGEST_REPORT] = {"report", SQL_TEXT, .description = "the report's file"},
	[DIGEST_STALE] = {"stale", SQL_FLAG,
			  .description = "the report has changed since the digest was made"},
};

static bool digests_make(struct sql_source *source, uint32_t *rows, struct hwy_err *err)
{
	(void)err;
	*rows = source->digests ? source->digests->n : 0;
	return true;
}

static struct hwy_cell digest_time_cell(const struct rank_digest *digest, uint32_t column)
{
	const struct compare_phase *phase = digest_phase(digest);
	int64_t idle = 0;
	switch (column) {
	case DIGEST_STEADY: return sql_int(digest->steps.n);
	case DIGEST_STEP: return digest->steps.n ? sql_int(digest_step_of(digest)) : sql_none();
	case DIGEST_OWN: return digest->steps.n ? sql_int(digest->steps.mean_own) : sql_none();
	case DIGEST_HIDDEN: return phase ? sql_int(digest->hidden) : sql_none();
	default: break;
	}
	if (!phase)
		return sql_none();
	for (unsigned cause = 0; cause < GAP_CAUSES; cause++)
		idle += phase->parts[PART_IDLE + cause];
	switch (column) {
	case DIGEST_P10: return sql_int(phase->p10);
	case DIGEST_MEDIAN: return sql_int(phase->p50);
	case DIGEST_P90: return sql_int(phase->p90);
	case DIGEST_COMPUTE: return sql_int(phase->parts[PART_COMPUTE]);
	case DIGEST_COMM: return sql_int(phase->parts[PART_COMM]);
	case DIGEST_COPY: return sql_int(phase->parts[PART_COPY] + phase->parts[PART_FILL]);
	default: return sql_int(idle);
	}
}

static struct hwy_cell digest_cell(struct sql_source *source, uint32_t row, uint32_t column)
{
	const struct rank_digest *digest = digest_at(source, row);
	switch (column) {
	case DIGEST_JOB: return sql_textz(digest->job);
	case DIGEST_RANK: return sql_known(digest->rank);
	case DIGEST_LOCAL_RANK: return sql_known(digest->local_rank);
	case DIGEST_WORLD: return sql_known(digest->world);
	case DIGEST_HOST: return sql_textz(digest->host);
	case DIGEST_TOPOLOGY: return sql_textz(digest->topology);
	case DIGEST_GPU: return sql_textz(digest->uuid);
	case DIGEST_STARTED: return sql_known(digest->started);
	case DIGEST_VERDICT: return sql_textz(verdict_words[digest->word]);
	case DIGEST_CLOCK:
		return digest->clock_median_hz > 0 ? sql_int(digest->clock_median_hz) : sql_none();
	case DIGEST_DROPPED: return sql_int((int64_t)digest->dropped);
	case DIGEST_REPORT: return sql_textz(digest->report);
	case DIGEST_STALE: return sql_int(source->digests->ranks[row].is_stale);
	default: return digest_time_cell(digest, column);
	}
}

const struct sql_table table_digests = {.name = "digests",
					.about =
						"a rank of the job, by its digest (docs/digest.md)",
					SQL_COLUMNS(digest_columns),
					.make = digests_make,
					.cell = digest_cell};

/* ---- what a rank has several of -------------------------------------------------------------- */

/* Lists the rows of a table: for each row the rank that it belongs to, and its number among that
 * rank's. */
static bool list_parts(struct sql_source *source, struct sql_digest_parts *parts,
		       uint32_t (*count)(const struct rank_digest *), uint32_t *rows)
{
	uint32_t n = source->digests && parts->n == 0 ? source->digests->n : 0;
	for (uint32_t r = 0; r < n; r++)
		for (uint32_t i = 0; i < count(digest_at(source, r)); i++) {
			HWY_GROW(parts->items, parts->n, parts->cap);
			parts->items[parts->n++] = (struct sql_digest_part){r, i};
		}
	*rows = parts->n;
	return true;
}

static struct hwy_cell digest_of_part(const struct sql_source *source,
				      const struct sql_digest_part *part, uint32_t column)
{
	const struct rank_digest *digest = digest_at(source, part->rank);
	switch (column) {
	case 0: return sql_int(part->rank);
	case 1: return sql_textz(digest->job);
	default: return sql_known(digest->rank);
	}
}
/* The columns that all of these tables begin with. */
enum { OF_DIGEST, OF_JOB, OF_RANK, OF_COLUMNS };
#define OF_WHOM                                                                                    \
	[OF_DIGEST] = {"digest_id", SQL_ROW, .description = "digests.id"},                         \
	[OF_JOB] = {"job", SQL_TEXT, .description = "what tells the job from others"},             \
	[OF_RANK] = {"rank", SQL_NUMBER, .description = "the rank's number"}

enum { STEPS_FIRST = OF_COLUMNS, STEPS_COUNT, STEPS_STEP, STEPS_OWN };
static const struct sql_column steps_columns[] = {
	OF_WHOM,
	[STEPS_FIRST] = {"number", SQL_NUMBER, .description = "the first step in the bucket"},
	[STEPS_COUNT] = {"steps", SQL_NUMBER, .description = "how many of the rank's steps it has"},
	[STEPS_STEP] = {"step", SQL_DURATION, .description = "a step of the bucket, mean"},
	[STEPS_OWN] = {"own", SQL_DURATION,
		       .description = "without the time that the rank only communicates"},
};

static uint32_t count_buckets(const struct rank_digest *digest)
{
	return digest->steps.n_buckets;
}

static bool steps_make(struct sql_source *source, uint32_t *rows, struct hwy_err *err)
{
	(void)err;
	return list_parts(source, &source->digest_buckets, count_buckets, rows);
}

static struct hwy_cell steps_cell(struct sql_source *source, uint32_t row, uint32_t column)
{
	const struct sql_digest_part *part = &source->digest_buckets.items[row];
	const struct digest_steps *steps = &digest_at(source, part->rank)->steps;
	int64_t bucket = (steps->first >> steps->shift) + part->number;
	switch (column) {
	case STEPS_FIRST: return sql_int(part->number ? bucket << steps->shift : steps->first);
	case STEPS_COUNT: return sql_int(digest_bucket_steps(steps, part->number));
	case STEPS_STEP: return sql_int(steps->step[part->number]);
	case STEPS_OWN: return sql_int(steps->own[part->number]);
	default: return digest_of_part(source, part, column);
	}
}

const struct sql_table table_digest_steps = {
	.name = "digest_steps",
	.about = "some neighbouring steps of a rank, by its digest",
	SQL_COLUMNS(steps_columns),
	.make = steps_make,
	.cell = steps_cell};

enum { FOUND_FINDING = OF_COLUMNS, FOUND_PLACE, FOUND_COST, FOUND_SHARE, FOUND_AFTER, FOUND_SAYS };
static const struct sql_column found_columns[] = {
	OF_WHOM,
	[FOUND_FINDING] = {"finding", SQL_TEXT, .description = "its id, as in docs/findings"},
	[FOUND_PLACE] = {"place", SQL_TEXT, .description = "where in the program"},
	[FOUND_COST] = {"cost", SQL_DURATION, .description = "what it costs a step"},
	[FOUND_SHARE] = {"share", SQL_REAL, .description = "the same as a share of a step, 0 … 1"},
	[FOUND_AFTER] = {"step_after", SQL_DURATION,
			 .description = "the rank's step without it, as predicted"},
	[FOUND_SAYS] = {"says", SQL_TEXT, .description = "what was seen"},
};

static uint32_t count_findings(const struct rank_digest *digest)
{
	const struct compare_phase *phase = digest_phase(digest);
	return phase ? phase->n_findings : 0;
}

static bool found_make(struct sql_source *source, uint32_t *rows, struct hwy_err *err)
{
	(void)err;
	return list_parts(source, &source->digest_findings, count_findings, rows);
}

static struct hwy_cell found_cell(struct sql_source *source, uint32_t row, uint32_t column)
{
	const struct sql_digest_part *part = &source->digest_findings.items[row];
	const struct rank_digest *digest = digest_at(source, part->rank);
	const struct compare_finding *one = &digest_phase(digest)->findings[part->number];
	switch (column) {
	case FOUND_FINDING: return sql_textz(one->id);
	case FOUND_PLACE: return sql_textz(one->place);
	case FOUND_COST: return sql_int(one->cost);
	case FOUND_SHARE: return sql_real(one->share);
	case FOUND_AFTER:
		return one->predicted.is_known ? sql_int(one->predicted.step) : sql_none();
	case FOUND_SAYS: return digest->says ? sql_textz(digest->says[part->number]) : sql_none();
	default: return digest_of_part(source, part, column);
	}
}

const struct sql_table table_digest_findings = {.name = "digest_findings",
						.about = "a finding of a rank, by its digest",
						SQL_COLUMNS(found_columns),
						.make = found_make,
						.cell = found_cell};

enum {
	EXCHANGE_LIBRARY = OF_COLUMNS,
	EXCHANGE_OPERATION,
	EXCHANGE_GROUP,
	EXCHANGE_PEER,
	EXCHANGE_WAY,
	EXCHANGE_COUNT,
	EXCHANGE_BYTES,
	EXCHANGE_NS,
	EXCHANGE_RATE
};
static const struct sql_column exchange_columns[] = {
	OF_WHOM,
	[EXCHANGE_LIBRARY] = {"library", SQL_TEXT, .description = "NCCL, MPI, gloo …"},
	[EXCHANGE_OPERATION] = {"operation", SQL_TEXT, .description = "AllReduce, Send …"},
	[EXCHANGE_GROUP] = {"communicator", SQL_TEXT, .description = "its name"},
	[EXCHANGE_PEER] = {"peer", SQL_NUMBER, .description = "the other rank of messages"},
	[EXCHANGE_WAY] = {"way", SQL_TEXT, .description = "collective, sent or received"},
	[EXCHANGE_COUNT] = {"count", SQL_NUMBER, .description = "how many"},
	[EXCHANGE_BYTES] = {"bytes", SQL_BYTES, .description = "what they moved"},
	[EXCHANGE_NS] = {"duration", SQL_DURATION, .description = "how long they took, added up"},
	[EXCHANGE_RATE] = {"fastest_rate", SQL_NUMBER,
			   .description =
				   "bytes a second that the fastest tenth of the large ones reach"},
};

static uint32_t count_exchanges(const struct rank_digest *digest)
{
	return digest->n_exchanges;
}

static bool exchanges_make(struct sql_source *source, uint32_t *rows, struct hwy_err *err)
{
	(void)err;
	return list_parts(source, &source->digest_exchanges, count_exchanges, rows);
}

static struct hwy_cell exchange_cell(struct sql_source *source, uint32_t row, uint32_t column)
{
	const struct sql_digest_part *part = &source->digest_exchanges.items[row];
	const struct digest_exchange *one = &digest_at(source, part->rank)->exchanges[part->number];
	switch (column) {
	case EXCHANGE_LIBRARY: return sql_textz(one->library);
	case EXCHANGE_OPERATION: return sql_textz(one->operation);
	case EXCHANGE_GROUP: return sql_textz(one->group);
	case EXCHANGE_PEER: return sql_known(one->peer);
	case EXCHANGE_WAY: return sql_textz(digest_way_names[one->way]);
	case EXCHANGE_COUNT: return sql_int((int64_t)one->count);
	case EXCHANGE_BYTES: return sql_int((int64_t)one->bytes);
	case EXCHANGE_NS: return sql_int(one->ns);
	case EXCHANGE_RATE: return one->large ? sql_int((int64_t)one->fastest_rate) : sql_none();
	default: return digest_of_part(source, part, column);
	}
}

const struct sql_table table_digest_exchanges = {
	.name = "digest_exchanges",
	.about = "what a rank exchanged in one communicator or with one rank, by its digest",
	SQL_COLUMNS(exchange_columns),
	.make = exchanges_make,
	.cell = exchange_cell};
