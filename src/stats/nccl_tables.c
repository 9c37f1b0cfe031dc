/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_tables.c - what NCCL and RCCL exchanged, by operation and size: time, bandwidth, waiting
 * for ranks apart from moving data.
 *
 * The size of an operation and the two bandwidths are those of nccl-tests: the algorithm's is
 * the size over the time, the bus's is what a link has to carry for it, by a factor of operation
 * and ranks, and is compared with the link's peak. The time is that of the kernel (or of its
 * part in a kernel that does several operations): a rank that comes early waits inside of it.
 * Where all ranks of a collective are in the recording, the waiting for the last one (skew) is
 * told apart, and the transfer has a bandwidth of its own.
 */
#include <stdio.h>
#include <stdlib.h>

#include "analyze/collectives.h"
#include "analyze/device_metrics.h"
#include "base/index.h"
#include "base/lang.h"
#include "stats/families.h"
#include "stats/sums.h"

enum nccl_column {
	SHARE,
	TOTAL,
	INSTANCES,
	AVERAGE,
	MEDIAN,
	LEAST,
	MOST,
	OPERATION,
	BYTES,
	ALGORITHM_RATE,
	BUS_RATE,
	LINK,
	PEAK,
	OF_PEAK,
	SKEW,
	TRANSFER,
	TRANSFER_RATE,
	WAIT_GPU,
	WAIT_PEER,
	WAIT_NETWORK,
	RANKS,
	ALGORITHM,
	PROTOCOL,
	CHANNELS,
	DATATYPE,
	COMMUNICATOR,
	COLUMNS
};
static const struct stats_column columns[COLUMNS] = {
	[SHARE] = {"Time", STATS_PERCENT},
	[TOTAL] = {"Total Time", STATS_TIME},
	[INSTANCES] = {"Instances", STATS_COUNT},
	[AVERAGE] = {"Avg", STATS_TIME_MEAN},
	[MEDIAN] = {"Med", STATS_TIME_MEAN},
	[LEAST] = {"Min", STATS_TIME},
	[MOST] = {"Max", STATS_TIME},
	[OPERATION] = {"Operation", STATS_TEXT},
	[BYTES] = {"Bytes", STATS_COUNT},
	[ALGORITHM_RATE] = {"Algorithm GB/s", STATS_REAL},
	[BUS_RATE] = {"Bus GB/s", STATS_REAL},
	[LINK] = {"Link", STATS_WORD},
	[PEAK] = {"Peak GB/s", STATS_REAL},
	[OF_PEAK] = {"Of Peak", STATS_PERCENT},
	[SKEW] = {"Skew", STATS_TIME_MEAN},
	[TRANSFER] = {"Transfer", STATS_TIME_MEAN},
	[TRANSFER_RATE] = {"Transfer Bus GB/s", STATS_REAL},
	[WAIT_GPU] = {"Wait GPU", STATS_TIME_MEAN},
	[WAIT_PEER] = {"Wait Peer", STATS_TIME_MEAN},
	[WAIT_NETWORK] = {"Wait Network", STATS_TIME_MEAN},
	[RANKS] = {"Ranks", STATS_COUNT},
	[ALGORITHM] = {"Algorithm", STATS_TEXT},
	[PROTOCOL] = {"Protocol", STATS_TEXT},
	[CHANNELS] = {"Channels", STATS_COUNT},
	[DATATYPE] = {"Datatype", STATS_TEXT},
	[COMMUNICATOR] = {"Communicator", STATS_TEXT},
};

struct exchange_line {
	struct exchange_key { /* texts are ids of the trace's texts; HWY_NONE: not known */
		int64_t operation, bytes, communicator, ranks;
		int64_t algorithm, protocol, channels, datatype;
	} key;
	int64_t instances;
	int64_t total; /* ns of those that have times */
	/* index of the device; HWY_NONE: not known, or several of different kinds */
	int64_t device;
	/* ns: of meetings whose ranks are all known, and how many parts they have. */
	int64_t skew, transfer, met;
	int64_t waits[3],
		waited;  /* ns for the GPU, the peer and the network; of how many instances */
	uint32_t number; /* of its group in 'sums' */
};
struct exchange_lines {
	struct report_run *run;
	struct hwy_index by_key;
	struct exchange_line *lines;
	uint32_t n, cap;
	uint32_t *line_of; /* by message: its line; UINT32_MAX: it does not count */
	struct sums sums;
};

/* ---- one message ----------------------------------------------------------------------------- */

static bool is_nccl(const struct hwy_trace *trace, const struct hwy_message *m)
{
	const char *library = m->library == HWY_NONE ? "" : hwy_str(trace, m->library);
	return strcmp(library, "NCCL") == 0 || strcmp(library, "RCCL") == 0;
}

static const struct hwy_group *communicator_of(const struct hwy_trace *trace,
					       const struct hwy_message *m)
{
	return m->group >= 0 && m->group < trace->n_groups ? &trace->groups[m->group] : NULL;
}

static bool has_times(const struct hwy_message *m)
{
	return m->start != HWY_NONE && m->end != HWY_NONE && m->end >= m->start;
}

/* What nccl-tests calls the size: of gathers and scatters it is the whole, not the part of one
 * rank. Where only one side is known it is the size if both sides are alike. */
static int64_t tested_size(const struct hwy_trace *trace, const struct hwy_message *m)
{
	const char *name = hwy_str(trace, m->name);
	bool is_half_known = m->sent == HWY_NONE || m->received == HWY_NONE;
	if (is_half_known && (strstr(name, "Gather") || strstr(name, "Scatter")))
		return HWY_NONE;
	return m->sent > m->received ? m->sent : m->received;
}

static bool exchange_is_kept(const struct report_run *run, const struct hwy_message *m)
{
	const struct hwy_trace *trace = run->trace;
	int64_t span = m->span != HWY_NONE ? m->span : m->asked;
	uint32_t row;
	if (!filter_is_on(&run->filter))
		return true;
	if (span < 0 || span >= trace->n_spans)
		return false;
	const struct hwy_strip *strip = hwy_strip_of(trace, (uint32_t)span, &row);
	return filter_keeps(&run->filter, trace, strip, row);
}

static int64_t exchange_device(const struct hwy_trace *trace, const struct hwy_message *m)
{
	uint32_t row;
	if (m->span < 0 || m->span >= trace->n_spans)
		return HWY_NONE;
	return trace->lanes[hwy_strip_of(trace, (uint32_t)m->span, &row)->lane].device;
}

static void note_message(struct exchange_lines *lines, uint32_t index)
{
	const struct hwy_trace *trace = lines->run->trace;
	const struct hwy_message *m = &trace->messages[index];
	const struct hwy_group *group = communicator_of(trace, m);
	struct exchange_key key = {.operation = m->name,
				   .bytes = tested_size(trace, m),
				   .communicator = group ? group->name : HWY_NONE,
				   .ranks = group ? group->size : HWY_NONE,
				   .algorithm = m->algorithm,
				   .protocol = m->protocol,
				   .channels = m->channels,
				   .datatype = m->datatype};
	bool fresh;
	uint32_t *at = hwy_index_put(&lines->by_key, &key, sizeof key, &fresh);
	if (fresh) {
		*at = lines->n;
		HWY_GROW(lines->lines, lines->n, lines->cap);
		lines->lines[lines->n++] = (struct exchange_line){
			.key = key, .device = exchange_device(trace, m), .number = *at};
	}
	lines->line_of[index] = *at;
	struct exchange_line *line = &lines->lines[*at];
	line->instances++;
	if (m->wait_gpu != HWY_NONE) {
		hwy_add_saturating(&line->waits[0], m->wait_gpu);
		hwy_add_saturating(&line->waits[1], m->wait_peer);
		hwy_add_saturating(&line->waits[2], m->wait_network);
		line->waited++;
	}
	if (has_times(m)) {
		hwy_add_saturating(&line->total, m->end - m->start);
		sums_expect(&lines->sums, *at, 1);
	}
}

/* ---- several ranks --------------------------------------------------------------------------- */

/* When the last rank of a collective began, and when the first one ended; false where one of
 * them has no times. */
static bool meeting_times(const struct hwy_trace *trace, const struct hwy_collectives *met,
			  const struct hwy_meeting *meeting, struct hwy_interval *together)
{
	*together = (struct hwy_interval){INT64_MIN, INT64_MAX};
	for (uint32_t i = 0; i < meeting->n; i++) {
		uint32_t index = met->parts[meeting->first + i].message;
		if (index >= trace->n_messages || !has_times(&trace->messages[index]))
			return false;
		const struct hwy_message *m = &trace->messages[index];
		together->from = m->start > together->from ? m->start : together->from;
		together->to = m->end < together->to ? m->end : together->to;
	}
	return true;
}

/* Takes the skew and the transfer of one collective, if all its ranks are known. One that ended
 * on a rank before it began on another (an operation with a root) has neither. */
static void note_meeting(struct exchange_lines *lines, const struct hwy_collectives *met,
			 const struct hwy_meeting *meeting)
{
	const struct hwy_trace *trace = lines->run->trace;
	struct hwy_interval together;
	if (!meeting_times(trace, met, meeting, &together) || together.to < together.from)
		return;
	for (uint32_t i = 0; i < meeting->n; i++) {
		uint32_t index = met->parts[meeting->first + i].message;
		uint32_t at = lines->line_of[index];
		if (at == UINT32_MAX || lines->lines[at].key.ranks != meeting->n)
			continue;
		struct exchange_line *line = &lines->lines[at];
		hwy_add_saturating(&line->skew, together.from - trace->messages[index].start);
		hwy_add_saturating(&line->transfer, trace->messages[index].end - together.from);
		line->met++;
	}
}

/* The times of a recording with several ranks are on one clock already. */
static bool note_meetings(struct exchange_lines *lines, struct hwy_err *err)
{
	struct hwy_trace *trace = lines->run->trace;
	struct collectives_rank *ranks = hwy_array(trace->n_processes, sizeof *ranks);
	uint8_t *has_messages = hwy_zarray(trace->n_processes, 1);
	struct hwy_collectives met = {0};
	uint32_t n = 0;
	for (uint32_t i = 0; i < trace->n_messages; i++)
		if (lines->line_of[i] != UINT32_MAX && trace->messages[i].process >= 0 &&
		    trace->messages[i].process < trace->n_processes)
			has_messages[trace->messages[i].process] = 1;
	for (uint32_t p = 0; p < trace->n_processes; p++)
		if (has_messages[p])
			ranks[n++] = (struct collectives_rank){
				.process = p, .trace = trace, .clock = &exchange_same_clock};
	bool ok = n < 2 || collectives_match(&met, ranks, n, err);
	for (uint32_t i = 0; i < met.n && ok; i++)
		note_meeting(lines, &met, &met.meetings[i]);
	if (n >= 2)
		collectives_free(&met);
	free(ranks);
	free(has_messages);
	return ok;
}

/* ---- links ----------------------------------------------------------------------------------- */

/* How many times the size a link has to carry: nccl-tests' PERFORMANCE.md. */
static double bus_factor(const char *operation, int64_t ranks)
{
	double others = ranks > 0 ? (double)(ranks - 1) / (double)ranks : -1;
	if (strcmp(operation, "Broadcast") == 0 || strcmp(operation, "Reduce") == 0 ||
	    strcmp(operation, "Send") == 0 || strcmp(operation, "Receive") == 0 ||
	    strcmp(operation, "SendReceive") == 0)
		return 1;
	return strcmp(operation, "AllReduce") == 0 ? 2 * others : others;
}

/* How many hosts a communicator spans; 0: not known. */
static int64_t nodes_of(const struct hwy_trace *trace, const struct exchange_key *key)
{
	char name[64];
	if (key->communicator == HWY_NONE)
		return 0;
	snprintf(name, sizeof name, "nccl.%.40s.nodes", hwy_str(trace, key->communicator));
	const char *told = hwy_property(trace, name);
	return told ? strtol(told, NULL, 10) : 0;
}

/* The link that the ranks of a communicator share, and its bytes a second in one direction; 0:
 * not known. */
static const char *link_of(const struct hwy_trace *trace, const struct exchange_line *line,
			   double *peak)
{
	int64_t nodes = nodes_of(trace, &line->key), device = line->device;
	*peak = 0;
	if (line->key.ranks == 1)
		return HWY_KEY("none: one rank");
	if (nodes > 1)
		return HWY_KEY("network");
	if (nodes < 1 || device < 0 || device >= trace->n_devices)
		return HWY_KEY("not known");
	const struct hwy_device *one = &trace->devices[device];
	double nvlink = metric_nvlink_rate(one);
	bool is_card = strstr(hwy_str(trace, one->name), "PCIe") != NULL;
	*peak = nvlink > 0 && !is_card ? nvlink : metric_pcie_rate(one);
	return nvlink > 0 && !is_card ? "NVLink" : "PCIe";
}

/* ---- rows ------------------------------------------------------------------------------------ */

static struct stats_cell text_or_empty(const struct hwy_trace *trace, int64_t text)
{
	return text == HWY_NONE ? cell_empty() : cell_from_text(hwy_text(trace, text));
}

static struct stats_cell mean_or_empty(int64_t sum, int64_t n)
{
	return n ? cell_real((double)sum / (double)n) : cell_empty();
}

/* Bytes a second as GB/s. */
static struct stats_cell rate_cell(double bytes, double ns, double factor)
{
	return bytes >= 0 && ns > 0 && factor >= 0 ? cell_real(bytes / ns * factor) : cell_empty();
}

static void put_rates(const struct hwy_trace *trace, const struct exchange_line *line,
		      const struct sums_result *times, struct stats_cell *cells)
{
	double bytes = line->key.bytes == HWY_NONE ? -1 : (double)line->key.bytes, peak;
	double factor = bus_factor(hwy_str(trace, line->key.operation), line->key.ranks);
	cells[LINK] = cell_from_textz(link_of(trace, line, &peak));
	cells[PEAK] = peak > 0 ? cell_real(peak / 1e9) : cell_empty();
	cells[ALGORITHM_RATE] = rate_cell(bytes, times->mean, 1);
	cells[BUS_RATE] = rate_cell(bytes, times->mean, factor);
	cells[OF_PEAK] = peak > 0 && !cells[BUS_RATE].empty
				 ? cell_real(100 * cells[BUS_RATE].real * 1e9 / peak)
				 : cell_empty();
	cells[SKEW] = mean_or_empty(line->skew, line->met);
	cells[TRANSFER] = mean_or_empty(line->transfer, line->met);
	cells[TRANSFER_RATE] =
		line->met ? rate_cell(bytes, (double)line->transfer / (double)line->met, factor)
			  : cell_empty();
}

static void put_exchange_line(struct exchange_lines *lines, const struct exchange_line *line,
			      int64_t all)
{
	const struct hwy_trace *trace = lines->run->trace;
	const struct exchange_key *key = &line->key;
	struct stats_cell cells[COLUMNS];
	struct sums_result times = {0};
	if (line->number < lines->sums.n)
		times = sums_get(&lines->sums, line->number);
	bool timed = times.count > 0;
	cells[SHARE] = cell_share(line->total, all);
	cells[TOTAL] = timed ? cell_number(line->total) : cell_empty();
	cells[INSTANCES] = cell_number(line->instances);
	cells[AVERAGE] = timed ? cell_real(times.mean) : cell_empty();
	cells[MEDIAN] = timed ? cell_real(times.median) : cell_empty();
	cells[LEAST] = timed ? cell_number(times.min) : cell_empty();
	cells[MOST] = timed ? cell_number(times.max) : cell_empty();
	cells[OPERATION] = text_or_empty(trace, key->operation);
	cells[BYTES] = cell_number_or_empty(key->bytes);
	put_rates(trace, line, &times, cells);
	for (int i = 0; i < 3; i++)
		cells[WAIT_GPU + i] = mean_or_empty(line->waits[i], line->waited);
	cells[RANKS] = cell_number_or_empty(key->ranks);
	cells[ALGORITHM] = text_or_empty(trace, key->algorithm);
	cells[PROTOCOL] = text_or_empty(trace, key->protocol);
	cells[CHANNELS] = cell_number_or_empty(key->channels);
	cells[DATATYPE] = text_or_empty(trace, key->datatype);
	cells[COMMUNICATOR] = text_or_empty(trace, key->communicator);
	report_row(lines->run, cells);
}

static int by_total(const void *left, const void *right)
{
	const struct exchange_line *a = left, *b = right;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

/* Reads all messages; 'line_of' then leads to a line of each. */
static void note_messages(struct exchange_lines *lines)
{
	const struct hwy_trace *trace = lines->run->trace;
	for (uint32_t i = 0; i < trace->n_messages; i++) {
		const struct hwy_message *m = &trace->messages[i];
		lines->line_of[i] = UINT32_MAX;
		if (is_nccl(trace, m) && exchange_is_kept(lines->run, m))
			note_message(lines, i);
	}
	sums_open(&lines->sums);
	for (uint32_t i = 0; i < trace->n_messages; i++)
		if (lines->line_of[i] != UINT32_MAX && has_times(&trace->messages[i]))
			sums_put(&lines->sums, lines->line_of[i],
				 trace->messages[i].end - trace->messages[i].start);
}

bool make_nccl_sum(struct report_run *run, struct hwy_err *err)
{
	struct hwy_trace *trace = run->trace;
	uint32_t kinds = HWY_KIND_BIT(HWY_KERNEL) | HWY_KIND_BIT(HWY_CALL) | HWY_KIND_BIT(HWY_API) |
			 HWY_KIND_BIT(HWY_RANGE) | HWY_KIND_BIT(HWY_OP);
	if (!hwy_need(trace, kinds, filter_columns(&run->filter), err))
		return false;
	report_columns(run, columns, COLUMNS);
	struct exchange_lines lines = {.run = run,
				       .line_of = hwy_array(trace->n_messages, sizeof(uint32_t))};
	note_messages(&lines);
	bool ok = note_meetings(&lines, err);
	if (lines.n)
		qsort(lines.lines, lines.n, sizeof *lines.lines, by_total);
	int64_t all = 0;
	for (uint32_t i = 0; i < lines.n; i++)
		hwy_add_saturating(&all, lines.lines[i].total);
	for (uint32_t i = 0; i < lines.n && ok; i++)
		put_exchange_line(&lines, &lines.lines[i], all);
	hwy_index_free(&lines.by_key);
	sums_free(&lines.sums);
	free(lines.lines);
	free(lines.line_of);
	return ok;
}
