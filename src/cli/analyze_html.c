/* analyze_html.c - the diagnosis as one page that needs nothing else: no network, no script.
 *
 * The order is that of the text: what, where, what it is worth, what to do, what is innocent; with plots where
 * the text has a line. Whatever comes from the recording goes through html_text, also where analyze_words.c
 * has put it together.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analyze.h"
#include "cli/analyze_plots.h"
#include "cli/cli.h"
#include "cli/html.h"

/* Other phases than the longest that get plots and findings; characters of a name. */
enum { OTHER_PHASES = 7, NAME = 200 };

/* ---- words of others, escaped ---------------------------------------------------------------------- */

struct memory {
	FILE *file;
	char *text;
	size_t size;
};

static struct memory *memory_open(struct memory *memory)
{
	*memory = (struct memory){0};
	memory->file = open_memstream(&memory->text, &memory->size);
	if (!memory->file)
		cli_die("out of memory");
	return memory;
}

static void memory_put(struct memory *memory, FILE *out, uint32_t most)
{
	fclose(memory->file);
	html_text(out, memory->text, most);
	free(memory->text);
}

static void put_place(FILE *out, const struct hwy_place *place)
{
	struct memory memory;
	analyze_put_place(memory_open(&memory)->file, place);
	fputs("<code>", out);
	memory_put(&memory, out, NAME);
	fputs("</code>", out);
}

static void put_steps(FILE *out, const struct analyze_run *run, const struct hwy_phase *phase)
{
	struct memory memory;
	analyze_put_steps(memory_open(&memory)->file, run, phase);
	memory_put(&memory, out, NAME);
}

/* ---- the head -------------------------------------------------------------------------------------- */

static void put_devices(FILE *out, const struct analyze_run *run)
{
	const struct hwy_flow *flow = &run->analysis.flow;
	const char *before = "";
	if (flow->n_devices > 1)
		fprintf(out, "%" PRIu32 " GPUs · ", flow->n_devices);
	for (uint32_t d = 0; d < flow->n_devices; d++) {
		int64_t device = flow->devices[d].device;
		const char *name = device == HWY_NONE
					   ? ""
					   : hwy_str(run->trace, run->trace->devices[device].name);
		if (!*name || strcmp(name, before) == 0)
			continue;
		html_text(out, name, NAME);
		fputs(" · ", out);
		before = name;
	}
}

static void put_runs(FILE *out, const struct analyze_view *view)
{
	if (view->n < 2)
		return;
	fprintf(out, "<details open><summary>%" PRIu32 " %s</summary><table>", view->n,
		view->are_ranks ? "ranks of one run" : "runs of one program");
	for (uint32_t i = 0; i < view->n; i++) {
		const struct hwy_phase *phase = analyze_main(&view->runs[i]);
		fputs("<tr><td><code>", out);
		html_text(out, view->runs[i].path, NAME);
		fputs("</code></td><td class=\"n\">", out);
		if (view->runs[i].rank != HWY_NONE)
			fprintf(out, "rank %" PRId64, view->runs[i].rank);
		fprintf(out, "</td><td class=\"n\">%s</td><td>%s</td></tr>\n",
			phase ? analyze_time(phase->mean).at : "",
			i == view->shown ? "this page" : "");
	}
	fputs("</table></details>\n", out);
}

static void put_head(FILE *out, const struct analyze_view *view)
{
	const struct analyze_run *run = &view->runs[view->shown];
	const struct hwy_phase *phase = analyze_main(run);
	uint64_t lost = analyze_lost(run->trace);
	fputs("<header><h1><bdi>", out);
	html_text(out, analyze_program(run), NAME);
	fputs("</bdi></h1>\n<p class=\"soft\">", out);
	put_devices(out, run);
	if (phase) {
		put_steps(out, run, phase);
		fputs(" · ", out);
	}
	if (lost)
		fprintf(out, "%" PRIu64 " records lost", lost);
	else
		fputs("nothing lost", out);
	fputs("</p>\n", out);
	put_runs(out, view);
	fputs("</header>\n<main>\n", out);
}

/* ---- a phase's numbers ------------------------------------------------------------------------------ */

static void put_tile(FILE *out, const char *number, const char *about)
{
	fprintf(out, "<div class=\"tile\"><b>%s</b><span>%s</span></div>\n", number, about);
}

/* "headway 57.4 ms: the CPU is 6 steps ahead" as a number and what it means. */
static void put_headway_tile(FILE *out, const struct analyze_run *run, uint32_t phase)
{
	struct memory memory;
	analyze_put_headway(memory_open(&memory)->file, run, phase);
	fclose(memory.file);
	char *text = memory.text, *about = strstr(text, ": ");
	if (about)
		*about = '\0';
	if (strncmp(text, "headway ", 8) == 0)
		put_tile(out, text + 8, about ? about + 2 : "headway: how far the CPU is ahead");
	free(memory.text);
}

static void put_tiles(FILE *out, const struct analyze_run *run, uint32_t index)
{
	const struct hwy_phase *phase = &run->analysis.phases.phases[index];
	const struct hwy_verdict *verdict = &run->diagnosis.verdicts[index];
	uint32_t n;
	struct gap_states states = analyze_states(run, index, &n);
	char about[256];
	fputs("<div class=\"tiles\">\n", out);
	snprintf(about, sizeof about, "%s; median %s, p10 to p90 %s to %s%s",
		 phase->source == PHASE_ONE ? "in all" : "a step", analyze_time(phase->median).at,
		 analyze_time(phase->p10).at, analyze_time(phase->p90).at,
		 phase->is_bursty ? ": bursty" : "");
	put_tile(out, analyze_time(phase->mean).at, about);
	if (states.window > 0)
		put_tile(out, analyze_percent((double)states.busy / (double)states.window).at,
			 "of the time the GPU is busy");
	put_headway_tile(out, run, index);
	for (uint32_t i = 0; i < run->diagnosis.n; i++) {
		const struct hwy_finding *first = &run->diagnosis.findings[i];
		if (first->phase != index)
			continue;
		snprintf(about, sizeof about, "of the step: %s", first->kind->title);
		put_tile(out, analyze_percent(first->share).at, about);
		break;
	}
	fputs("</div>\n", out);
	if (phase->is_first_told_apart && phase->first_steady == 1)
		fputs("<p class=\"soft\">Start-up is told apart: the first step is not counted.</p>\n",
		      out);
	else if (phase->is_first_told_apart)
		fprintf(out,
			"<p class=\"soft\">Start-up is told apart: the first %" PRIu32
			" steps are not counted.</p>\n",
			phase->first_steady);
	if (verdict->is_healthy && verdict->is_known) {
		fputs("<p class=\"verdict\">", out);
		analyze_put_health(out, verdict);
		fputs("</p>\n", out);
	}
}

/* ---- findings --------------------------------------------------------------------------------------- */

/* Lines that begin with two spaces are code, the others points. */
static void put_advice(FILE *out, const char *advice)
{
	bool code = false, list = false;
	while (*advice) {
		size_t n = strcspn(advice, "\n");
		bool is_code = n > 2 && advice[0] == ' ' && advice[1] == ' ';
		char *line = strndup(advice + (is_code ? 2 : 0), n - (is_code ? 2 : 0));
		if (!line)
			cli_die("out of memory");
		if (code && !is_code)
			fputs("</pre>", out);
		if (list && is_code)
			fputs("</ul>", out);
		if (is_code && !code)
			fputs("<pre>", out);
		if (!is_code && !list)
			fputs("<ul>", out);
		fputs(is_code ? (code ? "\n" : "") : "<li>", out);
		html_text(out, line, 0);
		fputs(is_code ? "" : "</li>", out);
		code = is_code;
		list = !is_code;
		free(line);
		advice += n + (advice[n] == '\n');
	}
	fputs(code ? "</pre>\n" : list ? "</ul>\n" : "", out);
}

static void put_gain(FILE *out, const struct hwy_predicted *predicted)
{
	if (!predicted->is_known)
		return;
	fprintf(out, "<p class=\"gain\"><b>%s → %s</b> a step when fixed, %.2f×",
		analyze_time(predicted->before).at, analyze_time(predicted->step).at,
		predicted->speedup);
	if (predicted->p10 < predicted->p90)
		fprintf(out, " (%s to %s)", analyze_time(predicted->p10).at,
			analyze_time(predicted->p90).at);
	if (predicted->bound && *predicted->bound) {
		fputs("; then bound by ", out);
		html_text(out, predicted->bound, NAME);
	}
	fputs(".<br><span class=\"soft\">Replayed without the profiler: <code>headway whatif --apply ",
	      out);
	html_text(out, predicted->edits ? predicted->edits : "", NAME);
	fputs("</code></span></p>\n", out);
}

static void put_places(FILE *out, const struct hwy_finding *finding)
{
	if (finding->n_places == 0)
		return;
	bool ranges = false;
	for (uint32_t i = 0; i < finding->n_places; i++)
		ranges |= *finding->places[i].at.file && *finding->places[i].at.range;
	fprintf(out,
		"<table><tr><th>where</th>%s<th class=\"n\">times</th>"
		"<th class=\"n\">a step</th></tr>\n",
		ranges ? "<th>in</th>" : "");
	for (uint32_t i = 0; i < finding->n_places; i++) {
		const struct hwy_finding_place *place = &finding->places[i];
		fputs("<tr><td>", out);
		put_place(out, &place->at);
		if (ranges) {
			fputs("</td><td><bdi>", out);
			html_text(out, *place->at.file ? place->at.range : "", NAME);
			fputs("</bdi>", out);
		}
		fprintf(out, "</td><td class=\"n\">%" PRIu64 "</td><td class=\"n\">%s</td></tr>\n",
			place->count, place->cost ? analyze_time(place->cost).at : "");
	}
	fputs("</table>\n", out);
}

static void put_evidence(FILE *out, const struct hwy_finding *finding)
{
	fprintf(out,
		"<details><summary>Confidence %s; where it is explained, and the spans that "
		"prove it</summary>\n<p><code>docs/findings/%s.md</code>",
		hwy_confidence_names[finding->confidence], finding->kind->id);
	for (uint32_t i = 0; i < finding->n_evidence; i++)
		fprintf(out, "%s%" PRIu32, i ? ", " : "; spans ", finding->evidence[i]);
	fputs("</p></details>\n", out);
}

static void put_finding(FILE *out, const struct analyze_run *run, const struct hwy_finding *finding,
			uint32_t number)
{
	const struct hwy_phase *phase = &run->analysis.phases.phases[finding->phase];
	fprintf(out,
		"<article><header><span class=\"number\">%" PRIu32 "</span><h3>%s</h3>"
		"<span class=\"soft\">%s</span><span class=\"cost\">%s of %s (%s)</span></header>\n<p>",
		number, finding->kind->id, finding->kind->title, analyze_time(finding->cost).at,
		analyze_time(phase->mean).at, analyze_percent(finding->share).at);
	html_text(out, finding->says, 0);
	fputs("</p>\n", out);
	put_gain(out, &finding->predicted);
	put_places(out, finding);
	put_advice(out, finding->advice);
	put_evidence(out, finding);
	fputs("</article>\n", out);
}

static void put_findings(FILE *out, const struct analyze_run *run, uint32_t phase)
{
	const struct hwy_diagnosis *diagnosis = &run->diagnosis;
	uint32_t n = 0;
	for (uint32_t i = 0; i < diagnosis->n; i++) {
		if (diagnosis->findings[i].phase != phase)
			continue;
		if (n++ == 0)
			fputs("<h2>What holds it back</h2>\n", out);
		put_finding(out, run, &diagnosis->findings[i], n);
	}
	const struct hwy_verdict *verdict = &diagnosis->verdicts[phase];
	if (n == 0 && !verdict->is_healthy)
		fprintf(out,
			"<p>The GPU idles %s of the time, but nothing that repeats explains it.</p>\n",
			analyze_percent(verdict->reachable).at);
}

static void put_worth(FILE *out, const struct hwy_finding *finding, const struct hwy_phase *phase)
{
	struct memory memory;
	analyze_put_worth(memory_open(&memory)->file, finding, phase);
	fputs(" <span class=\"soft\">", out);
	memory_put(&memory, out, NAME);
	fputs("</span>", out);
}

static void put_acquitted(FILE *out, const struct analyze_run *run, uint32_t phase)
{
	const struct hwy_diagnosis *diagnosis = &run->diagnosis;
	uint32_t n = 0;
	for (uint32_t i = 0; i < diagnosis->n_acquitted; i++) {
		const struct hwy_finding *finding = &diagnosis->acquitted[i];
		if (finding->phase != phase)
			continue;
		if (n++ == 0)
			fputs("<h2>Looked at, not guilty</h2>\n<article><ul class=\"free\">\n",
			      out);
		fprintf(out, "<li><b>%s</b> ", finding->kind->id);
		if (finding->n_places)
			put_place(out, &finding->places[0].at);
		if (finding->predicted.is_known)
			put_worth(out, finding, &run->analysis.phases.phases[phase]);
		fputs("<br>", out);
		html_text(out, finding->says, 0);
		if (finding->predicted.tipping)
			fprintf(out, " It starts to cost above ≈ %s of GPU work a step.",
				analyze_time(finding->predicted.tipping).at);
		fputs("</li>\n", out);
	}
	if (n)
		fputs("</ul></article>\n", out);
}

static void put_kernels(FILE *out, const struct hwy_verdict *verdict)
{
	if (verdict->n_kernels == 0)
		return;
	fputs("<h2>Inside the kernels</h2>\n<article><table><tr><th>kernel</th>"
	      "<th class=\"n\">of their time</th><th class=\"n\">a step</th></tr>\n",
	      out);
	for (uint32_t i = 0; i < verdict->n_kernels; i++) {
		fputs("<tr><td><code>", out);
		html_text(out, verdict->kernels[i].name, NAME);
		fprintf(out, "</code></td><td class=\"n\">%s</td><td class=\"n\">%s</td></tr>\n",
			analyze_percent(verdict->kernels[i].share).at,
			analyze_time(verdict->kernels[i].ns).at);
	}
	fputs("</table>\n", out);
	if (*verdict->ncu && verdict->is_healthy && verdict->is_known) {
		fputs("<p>What is left is in there:</p><pre>", out);
		html_text(out, verdict->ncu, 0);
		fputs("</pre>\n", out);
	}
	fputs("</article>\n", out);
}

/* ---- the page --------------------------------------------------------------------------------------- */

static void put_outliers(FILE *out, const struct analyze_run *run, uint32_t phase)
{
	const struct hwy_verdict *verdict = &run->diagnosis.verdicts[phase];
	if (verdict->n_outliers == 0)
		return;
	fputs("<h2>Steps unlike the rest</h2>\n<article><table><tr><th>step</th>"
	      "<th class=\"n\">took</th><th>more of</th><th class=\"n\">by</th></tr>\n",
	      out);
	for (uint32_t i = 0; i < verdict->n_outliers; i++) {
		const struct hwy_outlier *outlier = &verdict->outliers[i];
		const struct phase_step *step =
			&run->analysis.phases.phases[phase].steps[outlier->step];
		const char *name = hwy_str(run->trace, step->name);
		fprintf(out, "<tr><td>%" PRIu32 "%s<bdi>", outlier->step, *name ? ", " : "");
		html_text(out, name, NAME);
		fprintf(out, "</bdi></td><td class=\"n\">%s</td><td>%s%s<bdi>",
			analyze_time(outlier->ns).at, outlier->part, *outlier->name ? ", " : "");
		html_text(out, outlier->name, NAME);
		fprintf(out, "</bdi></td><td class=\"n\">%s</td></tr>\n",
			analyze_time(outlier->excess).at);
	}
	fputs("</table></article>\n", out);
}

static void put_phase(FILE *out, const struct analyze_run *run, uint32_t phase)
{
	put_tiles(out, run, phase);
	plot_typical(out, run, phase);
	fputs("<div class=\"pair\">\n", out);
	plot_states(out, run, phase);
	plot_causes(out, run, phase);
	fputs("</div>\n", out);
	plot_headway(out, run, phase);
	plot_steps(out, run, phase);
	put_findings(out, run, phase);
	put_acquitted(out, run, phase);
	put_outliers(out, run, phase);
	put_kernels(out, &run->diagnosis.verdicts[phase]);
}

static void put_trust(FILE *out, const struct analyze_run *run)
{
	uint32_t n = run->diagnosis.n_cannot;
	for (unsigned i = 0; i < HWY_LACKS; i++)
		n += run->analysis.trust.lacks[i].count > 0;
	fputs("<h2>How far to trust this</h2>\n<article>", out);
	if (n == 0)
		fputs("<p>The recording lacks nothing that these numbers need.</p>", out);
	else
		fputs("<ul>\n", out);
	for (unsigned i = 0; i < HWY_LACKS; i++) {
		const struct hwy_lack *lack = &run->analysis.trust.lacks[i];
		if (lack->count == 0)
			continue;
		fprintf(out, "<li>%" PRIu64 " of %" PRIu64 " ", lack->count, lack->of);
		html_text(out, lack->what, 0);
		fputs(". ", out);
		html_text(out, lack->says, 0);
		fputs("</li>\n", out);
	}
	for (uint32_t i = 0; i < run->diagnosis.n_cannot; i++) {
		fputs("<li>Cannot tell: ", out);
		html_text(out, run->diagnosis.cannot[i].what, 0);
		fputs(", because ", out);
		html_text(out, run->diagnosis.cannot[i].because, 0);
		fputs(".</li>\n", out);
	}
	if (n)
		fputs("</ul>", out);
	uint32_t main = run->analysis.phases.main;
	if (main < run->analysis.phases.n && run->diagnosis.verdicts[main].own_cost != HWY_NONE)
		fprintf(out,
			"<p>Headway's own cost, %s a step, is part of the times seen; predictions are "
			"without it.</p>",
			analyze_time(run->diagnosis.verdicts[main].own_cost).at);
	fputs("</article>\n", out);
}

static void put_other_phases(FILE *out, const struct analyze_run *run)
{
	const struct hwy_phases *phases = &run->analysis.phases;
	uint32_t shown = 0;
	for (uint32_t i = 0; i < phases->n && shown < OTHER_PHASES; i++) {
		if (i == phases->main || phases->phases[i].n_steady == 0)
			continue;
		shown++;
		fputs("<h2>Another phase: ", out);
		put_steps(out, run, &phases->phases[i]);
		fputs("</h2>\n", out);
		put_phase(out, run, i);
	}
}

void analyze_print_html(FILE *out, const struct analyze_view *view)
{
	const struct analyze_run *run = &view->runs[view->shown];
	html_begin(out, analyze_program(run), "headway analyze");
	put_head(out, view);
	if (analyze_main(run)) {
		put_phase(out, run, run->analysis.phases.main);
		put_other_phases(out, run);
	} else {
		fputs("<p>No device work in this recording (no kernel, copy, fill or graph): nothing to "
		      "diagnose.</p>\n",
		      out);
	}
	put_trust(out, run);
	fputs("</main>\n<footer>Made from <code>", out);
	html_text(out, run->path, NAME);
	fputs("</code> by <code>headway analyze --format html</code>. Next: <code>headway show ",
	      out);
	html_text(out, run->path, NAME);
	fputs("</code></footer>\n", out);
	html_end(out);
}
