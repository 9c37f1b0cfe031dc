/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_measure.c - see kernels_measure.h: a report's kernels into an order, what was found
 * into rows.
 *
 * The launches of one kernel become one row, with the mean of each counter. Nothing of the
 * report is changed before the program has run and something was measured.
 */
#include "cli/kernels_measure.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/lang.h"
#include "base/mem.h"
#include "base/say.h"
#include "base/secrets.h"
#include "base/shell_word.h"
#include "cli/kit/cli.h"
#include "whatif/kernel_choice.h"

#define SOURCE "headway"

struct measuring {
	struct hwy_trace *trace;
	const struct kernels_options *options;
	struct kernels_outcome *outcome;
	struct kernel_choices choices;
	struct kernels_target *targets; /* parallel to choices.list */
	const char **metrics;
	uint32_t n_metrics;
	uint32_t compute[16]; /* compute capabilities of the devices, 0 at the end */
	struct inherited inherited;
	struct kernels_found found;
};

static void outcome_note(struct kernels_outcome *outcome, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void outcome_note(struct kernels_outcome *outcome, const char *format, ...)
{
	char text[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, hwy_tr(format), args);
	va_end(args);
	outcome->notes = hwy_resize(outcome->notes, outcome->n_notes + 1u, sizeof *outcome->notes);
	outcome->notes[outcome->n_notes++] = hwy_copy(text, strlen(text) + 1);
}

/* ---- the order ------------------------------------------------------------------------------- */

static void list_devices(struct measuring *m)
{
	enum { MOST = sizeof m->compute / sizeof *m->compute - 1 };
	uint32_t n = 0;
	for (uint32_t i = 0; i < m->trace->n_devices && n < MOST; i++) {
		const struct hwy_device *device = &m->trace->devices[i];
		if (device->compute_major > 0 && device->compute_major < 1000)
			m->compute[n++] =
				(uint32_t)(device->compute_major * 10 +
					   (device->compute_minor > 0 ? device->compute_minor : 0));
	}
}

static bool is_among(const char *const *names, uint32_t n, const char *name)
{
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static void list_metrics(struct measuring *m)
{
	uint32_t cap = 0;
	const char *const *lists[] = {kernels_metrics, m->options->metrics};
	for (int l = 0; l < 2; l++)
		for (uint32_t i = 0; lists[l] && lists[l][i]; i++) {
			if (is_among(m->metrics, m->n_metrics, lists[l][i]) ||
			    (l == 0 && m->options->roofline &&
			     !kernels_metric_is_of_roofline(lists[l][i])))
				continue;
			HWY_GROW(m->metrics, m->n_metrics, cap);
			m->metrics[m->n_metrics++] = lists[l][i];
		}
}

static uint32_t dimension(int64_t value)
{
	return value > 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
}

static void list_targets(struct measuring *m)
{
	m->targets = hwy_zarray(m->choices.n, sizeof *m->targets);
	for (uint32_t i = 0; i < m->choices.n; i++) {
		const struct kernel_choice *choice = &m->choices.list[i];
		const struct hwy_shape *shape = &m->trace->shapes[choice->shape];
		m->targets[i] = (struct kernels_target){
			.symbol = choice->symbol,
			.grid = {dimension(shape->grid_x), dimension(shape->grid_y),
				 dimension(shape->grid_z)},
			.block = {dimension(shape->block_x), dimension(shape->block_y),
				  dimension(shape->block_z)},
			.shared = dimension(shape->dynamic_shared),
			.ordinals = choice->ordinals,
			.n_ordinals = choice->n_ordinals,
			.talks = choice->talks,
			.plain = choice->plain,
		};
	}
}

static bool choose(struct measuring *m, struct hwy_err *err)
{
	const struct kernels_options *options = m->options;
	struct kernel_choice_options wish = {
		.step = options->step,
		.name = options->name,
		.most = options->most_kernels ? options->most_kernels : KERNELS_MOST,
		.launches = options->launches ? options->launches : KERNELS_LAUNCHES,
		.launches_apart = KERNELS_LAUNCHES_APART,
	};
	if (options->replay == KERNELS_REPLAY_APPLICATION)
		wish.launches = wish.launches_apart;
	if (!kernel_choice_make(&m->choices, m->trace, &wish, err))
		return false;
	m->outcome->chosen = m->choices.n;
	if (m->choices.graph_ns > 0)
		outcome_note(
			m->outcome,
			"%.0f %% of the kernels' time is inside CUDA graphs, whose kernels are "
			"not measured",
			100.0 * (double)m->choices.graph_ns / (double)m->choices.ns);
	if (m->choices.endless != HWY_NONE)
		outcome_note(
			m->outcome,
			"%s runs for most of the time in one launch and may wait for the CPU, which "
			"would never end while it is measured: it is measured only when -k names it",
			hwy_str(m->trace, m->choices.endless));
	if (m->choices.n > 0)
		return true;
	if (options->name)
		return hwy_fail(err, "no kernel of the steady steps has '%s' in its name",
				options->name);
	return hwy_fail(err, "no kernel to measure: %s",
			m->outcome->n_notes
				? m->outcome->notes[m->outcome->n_notes - 1]
				: hwy_tr("the report has no kernels with launch shapes"));
}

/* ---- the rows -------------------------------------------------------------------------------- */

static bool is_chosen(const struct measuring *m, const struct hwy_measured *row)
{
	for (uint32_t i = 0; i < m->choices.n; i++)
		if (m->choices.list[i].name == row->kernel &&
		    m->choices.list[i].shape == row->shape)
			return strcmp(hwy_str(m->trace, row->source), SOURCE) == 0;
	return false;
}

/* Removes what headway measured before of the chosen kernels. */
static void remove_old_rows(struct measuring *m)
{
	struct hwy_trace *t = m->trace;
	int64_t *moved = hwy_array(t->n_measured, sizeof *moved);
	uint32_t n = 0, n_measures = 0;
	for (uint32_t i = 0; i < t->n_measured; i++) {
		bool stays = !is_chosen(m, &t->measured[i]);
		moved[i] = stays ? n : HWY_NONE;
		if (stays)
			t->measured[n++] = t->measured[i];
	}
	for (uint32_t i = 0; i < t->n_measures; i++) {
		struct hwy_measure row = t->measures[i];
		if (row.measured < 0 || row.measured >= t->n_measured ||
		    moved[row.measured] == HWY_NONE)
			continue;
		row.measured = moved[row.measured];
		t->measures[n_measures++] = row;
	}
	t->n_measured = n;
	t->n_measures = n_measures;
	free(moved);
}

/* The mean of a counter over the launches of a target that have it; not a number where none has. */
static double mean_of_launches(const struct measuring *m, uint32_t target, uint32_t metric)
{
	double sum = 0;
	uint32_t n = 0;
	for (uint32_t i = 0; i < m->found.n_launches; i++) {
		const struct kernels_launch *launch = &m->found.launches[i];
		if (launch->target != target || isnan(launch->values[metric]))
			continue;
		sum += launch->values[metric];
		n++;
	}
	return n ? sum / n : NAN;
}

/* Adds the counters of the last row of 'measured', which is of this target. */
static void add_measures(struct measuring *m, uint32_t target)
{
	struct hwy_trace *t = m->trace;
	double *means = hwy_array(m->n_metrics, sizeof *means);
	for (uint32_t i = 0; i < m->n_metrics; i++)
		means[i] = mean_of_launches(m, target, i);
	kernels_metrics_complete(m->metrics, m->n_metrics, means);
	for (uint32_t i = 0; i < m->n_metrics; i++) {
		int64_t bits;
		if (isnan(means[i]))
			continue;
		memcpy(&bits, &means[i], sizeof bits);
		HWY_GROW(t->measures, t->n_measures, t->cap_measures);
		t->measures[t->n_measures++] = (struct hwy_measure){
			.measured = t->n_measured - 1,
			.metric = hwy_intern_z(&t->strings, m->metrics[i]),
			.value = bits,
		};
	}
	free(means);
}

static void add_measured_rows(struct measuring *m)
{
	struct hwy_trace *t = m->trace;
	for (uint32_t i = 0; i < m->choices.n; i++) {
		uint64_t first = UINT64_MAX;
		uint32_t n = 0;
		for (uint32_t l = 0; l < m->found.n_launches; l++)
			if (m->found.launches[l].target == i) {
				n++;
				if (m->found.launches[l].ordinal < first)
					first = m->found.launches[l].ordinal;
			}
		if (n == 0)
			continue;
		HWY_GROW(t->measured, t->n_measured, t->cap_measured);
		t->measured[t->n_measured++] = (struct hwy_measured){
			.kernel = m->choices.list[i].name,
			.shape = m->choices.list[i].shape,
			.device = m->choices.list[i].device,
			.ordinal = (int64_t)first,
			.launches = n,
			.source = hwy_intern_z(&t->strings, SOURCE),
		};
		add_measures(m, i);
		m->outcome->measured++;
	}
}

/* ---- source lines ---------------------------------------------------------------------------- */

static int64_t name_of_symbol(const struct measuring *m, const char *symbol)
{
	for (uint32_t i = 0; i < m->choices.n; i++)
		if (strcmp(m->choices.list[i].symbol, symbol) == 0)
			return m->choices.list[i].name;
	return HWY_NONE;
}

static void add_lines(struct measuring *m)
{
	struct hwy_trace *t = m->trace;
	uint32_t n = 0;
	for (uint32_t i = 0; i < t->n_stalled_lines; i++) {
		bool again = false;
		for (uint32_t k = 0; k < m->choices.n; k++)
			again |= m->choices.list[k].name == t->stalled_lines[i].kernel;
		if (!again)
			t->stalled_lines[n++] = t->stalled_lines[i];
	}
	t->n_stalled_lines = n;
	for (uint32_t i = 0; i < m->found.n_lines; i++) {
		const struct kernels_line *line = &m->found.lines[i];
		int64_t kernel = name_of_symbol(m, line->symbol);
		if (kernel == HWY_NONE)
			continue;
		HWY_GROW(t->stalled_lines, t->n_stalled_lines, t->cap_stalled_lines);
		t->stalled_lines[t->n_stalled_lines++] = (struct hwy_stalled_line){
			.kernel = kernel,
			.file = line->file ? hwy_intern_z(&t->strings, line->file) : HWY_NONE,
			.line = line->file ? (int64_t)line->line : HWY_NONE,
			.reason = hwy_intern_z(&t->strings, line->reason),
			.samples = (int64_t)line->samples,
		};
	}
	m->outcome->lines = t->n_stalled_lines;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Says how the program ended where it did not end well; false where it did, or where we ended
 * it, which was said. */
static bool note_bad_end(struct measuring *m)
{
	int status = m->found.status;
	if (!m->found.ran || m->found.was_ended || status == 0)
		return false;
	if (WIFSIGNALED(status))
		outcome_note(m->outcome, "the program ended by signal %d while it was measured",
			     WTERMSIG(status));
	else
		outcome_note(m->outcome, "the program ended with status %d while it was measured",
			     WEXITSTATUS(status));
	return true;
}

/* Why nothing was measured: the last thing that went wrong, and how the program ended where the
 * last note says so. */
static bool say_nothing(const struct kernels_outcome *outcome, bool is_bad, struct hwy_err *err)
{
	uint32_t n = outcome->n_notes;
	if (n == 0)
		return hwy_fail(err,
				"nothing was measured: the program made none of the launches that "
				"the report has; is it the same program?");
	if (is_bad && n > 1)
		return hwy_fail(err, "nothing was measured: %s; %s", outcome->notes[n - 2],
				outcome->notes[n - 1]);
	return hwy_fail(err, "nothing was measured: %s", outcome->notes[n - 1]);
}

static bool run_and_add(struct measuring *m, char *const *program, struct hwy_err *err)
{
	struct kernels_order order = {
		.targets = m->targets,
		.n_targets = m->choices.n,
		.metrics = m->metrics,
		.n_metrics = m->n_metrics,
		.compute = m->compute,
		.cupti = hwy_property(m->trace, "cupti.path"),
		.replay = m->options->replay,
		.source = m->options->source,
		.program = program,
		.inherited = &m->inherited,
	};
	bool done = kernels_run(&order, &m->found, err);
	struct kernels_outcome *outcome = m->outcome;
	outcome->ran = m->found.ran;
	outcome->runs = m->found.runs;
	for (uint32_t i = 0; i < m->found.n_notes; i++)
		outcome_note(outcome, "%s", m->found.notes[i]);
	if (!done)
		return false;
	bool is_bad = note_bad_end(m);
	if (m->found.n_launches == 0 && m->found.n_lines == 0)
		return say_nothing(outcome, is_bad, err);
	free(m->trace->roles);
	free(m->trace->comm);
	/* These caches are by text, and texts are added now. */
	m->trace->roles = m->trace->comm = NULL;
	if (m->found.n_launches) {
		remove_old_rows(m);
		add_measured_rows(m);
	}
	if (m->options->source)
		add_lines(m);
	return true;
}

bool kernels_measure(struct hwy_trace *report, const struct kernels_options *options,
		     char *const *program, struct kernels_outcome *outcome, struct hwy_err *err)
{
	*outcome = (struct kernels_outcome){0};
	struct measuring m = {.trace = report, .options = options, .outcome = outcome};
	m.inherited.ignored = *cli_ignored_at_start();
	inherited_take(&m.inherited);
	list_devices(&m);
	list_metrics(&m);
	bool done = choose(&m, err);
	if (done) {
		list_targets(&m);
		done = run_and_add(&m, program, err);
	}
	kernels_found_free(&m.found);
	kernel_choice_free(&m.choices);
	free(m.targets);
	free(m.metrics);
	return done;
}

void kernels_outcome_free(struct kernels_outcome *outcome)
{
	for (uint32_t i = 0; i < outcome->n_notes; i++)
		free(outcome->notes[i]);
	free(outcome->notes);
	*outcome = (struct kernels_outcome){0};
}

char *kernels_say_measure(const struct hwy_trace *trace, const char *path)
{
	char *text = NULL;
	const char *command = hwy_property(trace, "command");
	/* Counters can be added to a report. The page shows other recordings by a report that it
	 * made of them. */
	bool is_readable =
		access(path, R_OK) == 0; /* not where folders were left out of the path */
	bool is_report = is_readable ? cli_is_report(path) : trace->file != NULL;
	bool can_run = command && *command && !strstr(command, SECRETS_MASK) && is_report;
	if (asprintf(&text, "headway kernels %s%s%s", hwy_shell_word(path).text,
		     is_report ? "" : " --write kernels.hwy",
		     can_run ? " --run" : " -- PROGRAM [arguments]") < 0)
		cli_die("out of memory");
	return text;
}
