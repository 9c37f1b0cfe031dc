/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_digest.c - headway digest: what each rank's report says in a few kB, written beside it;
 * and many digests as one file.
 *
 * Restartable: a report whose digest is fresh is left alone, and each digest appears complete or
 * not at all. Exit status 1 where some rank of the operands has no digest in the end.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/path.h"
#include "base/say.h"
#include "base/shell_word.h"
#include "cli/commands.h"
#include "cli/opened_job.h"
#include "digest/digest_file.h"
#include "digest/digest_set.h"
#include "job/job.h"
#include "run/job_identity.h"

/* Of 'n' processes that divide the reports, this is number 'i'. n is 0 where all reports are
 * asked for. */
struct share {
	uint32_t i, n;
};

struct options {
	struct cli_texts files;
	const char *output;
	bool force, check, quiet;
	struct share share;
};

/* Behind a launcher only if that is asked for: a training script's rank 0 that calls 'headway
 * digest' has the launcher's variables too, and wants all digests. */
static struct share share_of_launcher(const struct cli_command *command)
{
	struct ranks ranks = ranks_of_environment();
	/* A batch script of Slurm has the variables of a job's first task, and is none. */
	if (job_is_rank(&ranks) && ranks.rank < ranks.world)
		return (struct share){(uint32_t)ranks.rank, (uint32_t)ranks.world};
	if (ranks.rank != 0 || ranks.world != 1)
		cli_misuse(command,
			   "--share auto: no launcher (srun, mpirun, ...) tells which of how "
			   "many processes this is; --share I/N does");
	return (struct share){0, 1};
}

static void read_share(const struct cli_value *value)
{
	struct share *share = value->field;
	char *slash, *end;
	if (strcmp(value->text, "auto") == 0) {
		*share = share_of_launcher(value->command);
		return;
	}
	unsigned long i = strtoul(value->text, &slash, 10);
	unsigned long n = *slash == '/' ? strtoul(slash + 1, &end, 10) : 0;
	if (!isdigit((unsigned char)value->text[0]) || *slash != '/' ||
	    !isdigit((unsigned char)slash[1]) || *end || n > INT32_MAX || i >= n)
		cli_misuse(value->command,
			   "--share is I/N with I from 0 to N-1, or 'auto'; not '%s'", value->text);
	*share = (struct share){(uint32_t)i, (uint32_t)n};
}

static const struct cli_option option_table[] = {
	CLI_OUTPUT_HELP("also write all digests, sorted by job and rank, to this one file"),
	{'f', "force", NULL, "make fresh digests again, and overwrite the file of -o", CLI_BOOLEAN,
	 CLI_AT(force)},
	{0, "check", NULL, "make nothing: only say which reports have no fresh digest", CLI_SWITCH,
	 CLI_AT(check)},
	{0, "share", "I/N",
	 "only each N-th report, from number I (0 to N-1) on; 'auto' takes I and N from srun, mpirun or another launcher",
	 CLI_READ, CLI_AT(share), .read = read_share},
	{'q', "quiet", NULL, "say only what is missing", CLI_SWITCH, CLI_AT(quiet)},
	CLI_END_OF_OPTIONS,
};

struct digesting {
	const struct options *options;
	uint32_t listed, n, made, fresh, missing;
	struct digest_set set;
};

/* ---- reports --------------------------------------------------------------------------------- */

/* Makes the digest of one report, unless a fresh one is there. */
static void digest_report(struct digesting *d, const char *report)
{
	struct hwy_err err;
	d->n++;
	if (!d->options->force && digest_is_fresh(report)) {
		d->fresh++;
	} else if (d->options->check) {
		cli_say("%s: has no fresh digest", report);
		d->missing++;
	} else if (digest_write_beside(report, &err)) {
		d->made++;
	} else {
		cli_say("no digest: %s", err.text);
		d->missing++;
	}
}

/* Whether the next report of the operands is in this process's share. */
static bool share_has_next(struct digesting *d)
{
	const struct share *share = &d->options->share;
	return share->n == 0 || d->listed++ % share->n == share->i;
}

/* Makes the digest of a report, and reads it. */
static void digest_and_add(struct digesting *d, const char *report)
{
	struct hwy_err err;
	digest_report(d, report);
	char *file = digest_path_of(report);
	if (digest_file_is(file) && !digest_set_add(&d->set, file, &err)) {
		cli_say("left out: %s", err.text);
		d->missing++;
	}
	free(file);
}

/* Of a share only its own digests are read: those of the others may be made at this moment. */
static void digest_folder(struct digesting *d, const char *folder)
{
	struct job_files files = {0};
	struct hwy_err err;
	bool is_share = d->options->share.n > 0;
	bool has_reports = job_files_add(&files, folder, &err);
	if (!has_reports && digest_set_count(folder) == 0)
		cli_die("%s", err.text);
	for (uint32_t i = 0; i < files.n; i++) {
		hwy_tell(cli_progress(), "digesting", i, files.n);
		if (!is_share)
			digest_report(d, files.files[i].name);
		else if (share_has_next(d))
			digest_and_add(d, files.files[i].name);
	}
	cli_progress_end();
	job_files_free(&files);
	if (!is_share && digest_set_count(folder) > 0 && !digest_set_add(&d->set, folder, &err))
		cli_die("%s", err.text);
}

static void digest_operand(struct digesting *d, const char *path)
{
	struct hwy_err err;
	if (opened_job_is(path)) {
		digest_folder(d, path);
	} else if (!digest_file_is(path)) {
		if (share_has_next(d))
			digest_and_add(d, path);
	} else if (!digest_set_add(&d->set, path, &err)) {
		cli_die("%s", err.text);
	}
}

/* ---- what is missing ------------------------------------------------------------------------- */

static void say_problems(struct digesting *d)
{
	for (uint32_t i = 0; i < d->set.n_problems; i++)
		cli_say("left out: %s", d->set.problems[i]);
	d->missing += d->set.n_problems;
	for (uint32_t i = 0; i < d->set.n; i++)
		if (d->set.ranks[i].is_stale && !d->options->check) {
			cli_say("rank %" PRId64 ": its digest is of an earlier report than %s",
				d->set.ranks[i].digest.rank, d->set.ranks[i].digest.report);
			d->missing++;
		}
}

/* Names the ranks of each job that have no digest. The set is settled. */
static void say_missing(struct digesting *d)
{
	for (uint32_t i = 0, n; i < d->set.n; i += n) {
		const struct digest_of_rank *first = &d->set.ranks[i];
		int64_t world = 0, absent = 0;
		for (n = 0; i + n < d->set.n &&
			    strcmp(d->set.ranks[i + n].digest.job, first->digest.job) == 0;
		     n++)
			world = first[n].digest.world > world ? first[n].digest.world : world;
		int64_t *ranks = hwy_array((size_t)(world > 0 ? world : 0), sizeof *ranks);
		for (int64_t rank = 0, at = 0; rank < world; rank++) {
			while (at < n && first[at].digest.rank < rank)
				at++;
			if (at == n || first[at].digest.rank != rank)
				ranks[absent++] = rank;
		}
		if (absent > 0) {
			char *list = job_rank_list(ranks, (uint32_t)absent);
			cli_say("%" PRId64 " of %" PRId64 " ranks%s%s have no digest here: %s",
				absent, world, hwy_tr(*first->digest.job ? " of job " : ""),
				first->digest.job, list);
			free(list);
			d->missing += (uint32_t)absent;
		}
		free(ranks);
	}
}

/* ---- the command ----------------------------------------------------------------------------- */

static void say_done(const struct digesting *d)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < d->set.n; i++)
		bytes += d->set.ranks[i].record.n;
	struct hwy_words mean = hwy_say_bytes3(d->set.n ? bytes / d->set.n : 0);
	cli_say("%u digest%s: %u made, %u fresh; %s each  %s  next: headway analyze %s", d->set.n,
		d->set.n == 1 ? "" : "s", d->made, d->fresh, mean.text, cli_utf8() ? "\u00b7" : "-",
		hwy_shell_word(d->options->output ? d->options->output : d->options->files.texts[0])
			.text);
}

static int run_digest(int argc, char **argv)
{
	struct options options = {0};
	struct hwy_err err;
	cli_read(&cmd_digest, argc, argv, &options);
	if (options.files.n == 0)
		cli_misuse(&cmd_digest, "which file, or which folder?");
	if (options.check && options.output)
		cli_misuse(&cmd_digest, "--check writes nothing; -o does");
	if (options.share.n && options.output)
		cli_misuse(&cmd_digest,
			   "--share makes some digests; -o is for all, in a command behind it");
	struct digesting d = {.options = &options};
	bool has_folder = false;
	for (uint32_t i = 0; i < options.files.n; i++) {
		has_folder |= opened_job_is(options.files.texts[i]);
		if (options.output && !options.force)
			cli_keep_input(options.files.texts[i], options.output);
		digest_operand(&d, options.files.texts[i]);
	}
	digest_set_settle(&d.set);
	say_problems(&d);
	if ((has_folder && !options.share.n) || options.output)
		say_missing(&d);
	bool is_idle = options.share.n && d.n == 0; /* more processes than reports */
	if (d.set.n == 0 && !is_idle)
		cli_die("nothing has a digest%s",
			hwy_tr(d.missing ? ", for the reasons above" : ""));
	if (options.output && !digest_set_write(&d.set, options.output, options.force, &err))
		cli_die("%s", err.text);
	if (!options.quiet && !is_idle)
		say_done(&d);
	digest_set_free(&d.set);
	free(options.files.texts);
	return d.missing > 0;
}

const struct cli_command cmd_digest = {
	.name = "digest",
	.summary = "each rank's report in a few kB, so that thousands can be read at once",
	.usage = "headway digest [options] FILE|FOLDER…",
	.about =
		"Writes a digest beside each report: rank3.hwd for rank3.hwy. A digest has the rank's steps, states, findings, kernels, "
		"exchanges and clocks; 'headway analyze' of a job of many ranks reads digests and opens only the reports that an answer "
		"needs. Reports whose digest is fresh are left alone, so the command "
		"can be repeated, run on each host for its own ranks, and divided among processes (--share). Digests, and files of digests, become one file with -o, in any "
		"order and in any number of turns. Exit status 0: all have a digest, 1: some have none, and are named, 2: none has.",
	.options = option_table,
	.footer =
		"Examples:\n"
		"  headway digest job1                      the reports of a folder\n"
		"  headway digest -o job.hwd job1           and all digests as one file, to carry away\n"
		"  srun headway digest --share auto job1    each task makes its share\n"
		"  headway digest -o all.hwd a.hwd b.hwd    joins what was joined before\n"
		"  headway analyze job.hwd                  what holds the job back\n",
	.operands = CLI_FILES,
	.operands_offset = offsetof(struct options, files),
	.status = "Some report or rank has no digest.",
	.run = run_digest,
};
