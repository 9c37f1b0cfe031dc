/* SPDX-License-Identifier: Apache-2.0 */
/* path_job.c - see path_job.h. */
#include "cli/path_job.h"

#include <inttypes.h>

#include "base/json_fields.h"
#include "base/lang.h"
#include "base/say.h"
#include "cli/kit/cli.h"
#include "cli/kit/table.h"

/* Of a path through steps the mean of a step is shown, else the whole. */
static int64_t shown_time(const struct hwy_job_path *path, int64_t time)
{
	return path->n_steps > 0 ? time / path->n_steps : time;
}

static void print_classes(FILE *out, const struct hwy_job_path *path)
{
	struct table classes = {.columns = 3, .indent = "  "};
	for (int class = 0; class < PATH_CLASSES; class ++) {
		if (path->classes[class] == 0)
			continue;
		table_cell(&classes, "%s", path_class_word(path_class_names[class]));
		table_time(&classes, shown_time(path, path->classes[class]));
		table_percent(&classes, path->classes[class], path->length);
	}
	table_print(&classes, out);
}

static void path_job_ranks(FILE *out, const struct hwy_job_path *path)
{
	enum { MOST_RANKS = 16 };
	uint32_t shown = 0;
	struct table ranks = {.columns = 3,
			      .heads = 1,
			      .colour = cli_colour(out),
			      .indent = "  ",
			      .align = "rrr"};
	table_row(&ranks, (const char *[]){"rank", hwy_tr("time"), hwy_tr("share")});
	for (uint32_t r = 0; r < path->n_ranks && shown < MOST_RANKS; r++) {
		if (path->ranks[r].time == 0)
			continue;
		table_cell(&ranks, "%" PRId64, path->ranks[r].rank);
		table_time(&ranks, shown_time(path, path->ranks[r].time));
		table_percent(&ranks, path->ranks[r].time, path->length);
		shown++;
	}
	table_print(&ranks, out);
}

static void print_contributors(FILE *out, const struct hwy_job_path *path, uint64_t rows)
{
	enum { NUMBERS = 38, DEFAULT_WIDTH = 100, LEAST_ROOM = 40 }; /* widths in columns */
	int width = cli_width(out);
	int room = (width ? width : DEFAULT_WIDTH) - NUMBERS;
	room = room < LEAST_ROOM ? LEAST_ROOM : room;
	struct table table = {.columns = 6,
			      .heads = 1,
			      .colour = cli_colour(out),
			      .indent = "  ",
			      .align = "rlrrrl"};
	table_row(&table, (const char *[]){"rank", hwy_tr("what"), hwy_tr("time"), hwy_tr("share"),
					   hwy_tr_word(HWY_KEY("head|times")), hwy_tr("where")});
	for (uint32_t i = 0; i < path->n && i < rows; i++) {
		const struct job_path_link *link = &path->links[i];
		char name[512];
		snprintf(name, sizeof name,
			 hwy_tr(link->class == PATH_CPU ? "%s: before %s" : "%s: %s"),
			 path_class_word(path_class_names[link->class]), link->name);
		table_cell(&table, "%" PRId64, link->rank);
		table_cut_text(&table, name, room / 2);
		table_time(&table, shown_time(path, link->time));
		table_percent(&table, link->time, path->length);
		table_count(&table, path->n_steps > 0 ? link->count / path->n_steps : link->count);
		table_cut_text(&table, link->place, room - room / 2);
	}
	table_print(&table, out);
}

void path_job_text(FILE *out, const struct hwy_job_path *path, uint64_t rows)
{
	const char *per_step = hwy_tr(path->n_steps > 0 ? ", a step:" : ":");
	if (path->n_steps > 0)
		fprintf(out,
			hwy_tr("%s for %u steady step%s of %u ranks: the chain across ranks that decides it%s\n\n"),
			hwy_say_time4(path->length).text, path->n_steps,
			path->n_steps == 1 ? "" : "s", path->n_ranks, per_step);
	else
		fprintf(out, hwy_tr("%s for %u ranks: the chain across ranks that decides it\n\n"),
			hwy_say_time4(path->length).text, path->n_ranks);
	print_classes(out, path);
	fprintf(out,
		hwy_tr("\nWhose time it is (the path goes %u time%s from one rank to another)%s\n\n"),
		path->n_crossings, path->n_crossings == 1 ? "" : "s", per_step);
	path_job_ranks(out, path);
	fprintf(out, hwy_tr("\nThe largest contributors%s\n\n"), per_step);
	print_contributors(out, path, rows);
	fprintf(out,
		hwy_tr("\nJoined by %u collective%s and %u message%s. Waiting for another rank is never on the "
		       "path: what that rank did is.\n"),
		path->n_meetings, path->n_meetings == 1 ? "" : "s", path->n_messages,
		path->n_messages == 1 ? "" : "s");
}

static const struct json_field job_link_fields[] = {
	{JSON_FIELD_INT(struct job_path_link, rank, "rank")},
	{JSON_FIELD_ENUM(struct job_path_link, class, "class", path_class_names, PATH_CLASSES)},
	{JSON_FIELD_TEXT(struct job_path_link, name, "name")},
	{JSON_FIELD_TEXT(struct job_path_link, place, "place")},
	{JSON_FIELD_INT(struct job_path_link, time, "time_ns")},
	{JSON_FIELD_INT(struct job_path_link, count, "count")},
};

static const struct json_field job_rank_fields[] = {
	{JSON_FIELD_INT(struct job_path_rank, rank, "rank")},
	{JSON_FIELD_INT(struct job_path_rank, time, "time_ns")},
};

static const struct json_field job_path_fields[] = {
	{JSON_FIELD_INT(struct hwy_job_path, n_steps, "steps")},
	{JSON_FIELD_INT(struct hwy_job_path, length, "length_ns")},
	{JSON_FIELD_NAMED_INTS(struct hwy_job_path, classes, "classes", path_class_names)},
	{JSON_FIELD_ARRAY(struct hwy_job_path, ranks, n_ranks, "ranks", job_rank_fields)},
	{JSON_FIELD_INT(struct hwy_job_path, n_crossings, "crossings")},
	{JSON_FIELD_INT(struct hwy_job_path, n_meetings, "collectives")},
	{JSON_FIELD_INT(struct hwy_job_path, n_messages, "messages")},
	{JSON_FIELD_ARRAY(struct hwy_job_path, links, n, "contributors", job_link_fields)},
};

void path_job_json(FILE *out, const struct hwy_job_path *path, uint64_t rows)
{
	struct hwy_json json = {.out = out, .pretty = true};
	struct hwy_job_path shown = *path;
	shown.n = rows < path->n ? (uint32_t)rows : path->n;
	json_put_object(&json, JSON_FIELDS(job_path_fields), &shown);
	fputc('\n', out);
}
