/* SPDX-License-Identifier: Apache-2.0 */
/* gate_print.c - prints the result of a gate: as text, as Markdown for a job's summary, as JUnit
 * XML and as JSON. */
#include <string.h>

#include "base/json_fields.h"
#include "base/lang.h"
#include "cli/compare_print.h"
#include "cli/kit/cli.h"
#include "cli/kit/html.h"
#include "cli/kit/table.h"

static uint32_t gate_print_count(const struct compare_gate *gate, enum gate_verdict verdict)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < gate->n; i++)
		n += gate->checks[i].verdict == verdict;
	return n;
}

/* Writes the result: "fails: 3 of 4 checks hold, 1 does not". What cannot be told is no pass,
 * though it lets the run pass. */
static void put_result(FILE *out, const struct compare_gate *gate)
{
	uint32_t bad = gate_print_count(gate, GATE_FAIL),
		 doubt = gate_print_count(gate, GATE_CANNOT_TELL);
	fprintf(out,
		hwy_tr(gate->failed ? HWY_KEY("fails: %u of %u checks hold")
		       : doubt      ? HWY_KEY("cannot tell: %u of %u checks hold")
				    : HWY_KEY("passes: %u of %u checks hold")),
		gate->n - bad - doubt, gate->n);
	if (bad)
		fprintf(out, hwy_tr(bad == 1 ? ", %u does not" : ", %u do not"), bad);
	if (doubt)
		fprintf(out,
			hwy_tr(gate->strict
				       ? HWY_KEY(", %u cannot be told")
				       : HWY_KEY(", %u cannot be told (a warning; --strict lets it fail)")),
			doubt);
}

void gate_print_text(FILE *out, const struct compare_gate *gate)
{
	struct table table = {.columns = 5, .heads = 1, .colour = cli_colour(out), .indent = "  "};
	table_row(&table, (const char *[]){hwy_tr("check"), hwy_tr("value"), hwy_tr("limit"),
					   hwy_tr("verdict"), ""});
	for (uint32_t i = 0; i < gate->n; i++) {
		const struct gate_check *check = &gate->checks[i];
		table_row(&table, (const char *[]){check->metric, check->value, check->limit,
						   hwy_tr(gate_verdict_names[check->verdict]),
						   check->is_stable ? hwy_tr("stable") : ""});
	}
	if (gate->diff)
		compare_put_notes(out, gate->diff);
	table_print(&table, out);
	for (uint32_t i = 0; i < gate->n; i++)
		if (*gate->checks[i].says) {
			fprintf(out, hwy_tr("  %s: "), gate->checks[i].metric);
			cli_put(out, gate->checks[i].says, strlen(gate->checks[i].says));
			fputc('\n', out);
		}
	if (gate->diff && gate_is_explained(gate)) {
		fprintf(out, hwy_tr("  a step is %s: "),
			compare_verdict_word(gate->diff->step.verdict));
		compare_put_cause(out, gate->diff);
		fputc('\n', out);
	}
	if (gate->diff && *compare_new_finding(gate->diff).text) {
		fputs("  ", out);
		cli_put(out, compare_new_finding(gate->diff).text,
			strlen(compare_new_finding(gate->diff).text));
		fputc('\n', out);
	}
	if (gate->diff) {
		fputs(hwy_tr("  verdict: "), out);
		compare_put_verdicts(out, gate->diff);
		fputc('\n', out);
	}
	fputs("\n  ", out);
	put_result(out, gate);
	fputc('\n', out);
}

/* ---- Markdown -------------------------------------------------------------------------------- */

/* What a verdict's word says to a reviewer who has not read docs/verdict.md. */
static const char *const verdict_meanings[VERDICTS] = {
	[VERDICT_GPU] = HWY_KEY("the device works nearly all of a step"),
	[VERDICT_INPUT] = HWY_KEY("the device waits for data that the CPU prepares"),
	[VERDICT_LAUNCH] = HWY_KEY("the CPU cannot launch as fast as the device works"),
	[VERDICT_SYNC] =
		HWY_KEY("the CPU stops to wait for the device, and launches late after that"),
	[VERDICT_CPU] = HWY_KEY("the device waits while the CPU does other work"),
	[VERDICT_COPY] = HWY_KEY("copies run beside which nothing is computed"),
	[VERDICT_COMM] = HWY_KEY("communication runs beside which nothing is computed"),
	[VERDICT_ALLOC] = HWY_KEY("the device waits while memory is allocated and released"),
	[VERDICT_FIRST_USE] = HWY_KEY("code is loaded, compiled, tuned or captured"),
	[VERDICT_CANNOT_TELL] = HWY_KEY("records are missing, or no cause could be found"),
	[VERDICT_NO_DEVICE_WORK] = HWY_KEY("hardly anything ran on a device"),
};

void gate_print_markdown(FILE *out, const struct compare_gate *gate)
{
	static const char *const marks[] = {"✅", "⚠️", "❌"};
	bool doubt = gate_print_count(gate, GATE_CANNOT_TELL) > 0;
	fprintf(out, "### headway gate %s", !gate->failed && doubt ? "⚠️ " : "");
	put_result(out, gate);
	if (gate->diff && *compare_new_finding(gate->diff).text) {
		fputs(hwy_tr("; "), out);
		cli_put_markdown(out, compare_new_finding(gate->diff).text);
	}
	fputc('\n', out);
	for (uint32_t i = 0; gate->diff && i < gate->diff->n_notes; i++) {
		const struct diff_note *note = &gate->diff->notes[i];
		fprintf(out, hwy_tr("%s- ⚠️ %s: "), i ? "" : "\n", hwy_tr(note->what));
		cli_put_markdown(out, note->before);
		fputs(" → ", out);
		cli_put_markdown(out, note->after);
		if (*note->so)
			fprintf(out, hwy_tr(": %s"), hwy_tr(note->so));
		fputc('\n', out);
	}
	struct table table = {.format = TABLE_MARKDOWN, .columns = 5, .align = "lrrll", .heads = 1};
	table_row(&table, (const char *[]){hwy_tr("check"), hwy_tr("value"), hwy_tr("limit"),
					   hwy_tr("verdict"), hwy_tr("stable")});
	for (uint32_t i = 0; i < gate->n; i++) {
		const struct gate_check *check = &gate->checks[i];
		table_cell(&table, "%s", check->metric);
		table_cell(&table, "%s", check->value);
		table_cell(&table, "%s", check->limit);
		table_cell(&table, *check->says ? hwy_tr("%s %s: %s") : "%s %s%s",
			   marks[check->verdict], hwy_tr(gate_verdict_names[check->verdict]),
			   check->says);
		table_cell(&table, "%s", check->is_stable ? hwy_tr("yes") : "");
	}
	table_print(&table, out);
	if (gate->diff && gate_is_explained(gate)) {
		fprintf(out, hwy_tr("\nA step is %s: "),
			compare_verdict_word(gate->diff->step.verdict));
		compare_put_cause(out, gate->diff);
		fprintf(out, "%s\n", hwy_tr("."));
	}
	if (gate->diff) {
		fputs(hwy_tr("\nVerdict: "), out);
		compare_put_verdicts(out, gate->diff);
		fprintf(out, hwy_tr(": %s.\n"),
			hwy_tr(verdict_meanings[summary_verdict(side_phase(gate->diff->after))]));
	}
	fputc('\n', out);
}

/* ---- JUnit ----------------------------------------------------------------------------------- */

static void put_case(FILE *out, const struct compare_gate *gate, const struct gate_check *check)
{
	bool fails =
		check->verdict == GATE_FAIL || (check->verdict == GATE_CANNOT_TELL && gate->strict);
	fputs("    <testcase classname=\"headway\" name=\"", out);
	html_text(out, check->name, 0);
	fputs("\">\n", out);
	if (check->verdict != GATE_PASS) {
		fprintf(out, "      <%s message=\"", fails ? "failure" : "skipped");
		html_text(out, check->metric, 0);
		fputc(' ', out);
		html_text(out, check->value, 0);
		fputs(hwy_tr(", limit "), out);
		html_text(out, check->limit, 0);
		fputs(*check->says ? hwy_tr("; ") : "", out);
		html_text(out, check->says, 0);
		fputs("\"/>\n", out);
	}
	fputs("      <system-out>", out);
	html_text(out, check->value, 0);
	fputs("</system-out>\n    </testcase>\n", out);
}

void gate_print_junit(FILE *out, const struct compare_gate *gate)
{
	uint32_t bad = gate_print_count(gate, GATE_FAIL),
		 doubt = gate_print_count(gate, GATE_CANNOT_TELL);
	uint32_t failures = bad + (gate->strict ? doubt : 0);
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuites>\n  <testsuite name=\"headway gate\" tests=\"%u\" failures=\"%u\" errors=\"0\" "
		"skipped=\"%u\">\n",
		gate->n, failures, gate->strict ? 0 : doubt);
	for (uint32_t i = 0; i < gate->n; i++)
		put_case(out, gate, &gate->checks[i]);
	fputs("  </testsuite>\n</testsuites>\n", out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static const struct json_field check_fields[] = {
	{JSON_FIELD_TEXT(struct gate_check, metric, "metric")},
	{JSON_FIELD_TEXT(struct gate_check, name, "check")},
	{JSON_FIELD_TEXT(struct gate_check, value, "value")},
	{JSON_FIELD_TEXT(struct gate_check, limit, "limit")},
	{JSON_FIELD_REAL(struct gate_check, number, "number", 6)},
	{JSON_FIELD_REAL(struct gate_check, limit_number, "limit_number", 6)},
	{JSON_FIELD_ENUM(struct gate_check, verdict, "verdict", gate_verdict_names, GATE_FAIL + 1)},
	{JSON_FIELD_BOOL(struct gate_check, is_stable, "stable")},
	{JSON_FIELD_TEXT(struct gate_check, says, "says")},
};

void gate_print_json(FILE *out, const struct compare_gate *gate)
{
	struct hwy_json json = {.out = out, .pretty = true};
	json_begin_object(&json);
	json_put_bool(&json, "passes", !gate->failed);
	if (gate->diff)
		json_put_text(&json, "step_verdict",
			      verdict_words[summary_verdict(side_phase(gate->diff->after))]);
	json_put_text(&json, "file", gate->subject);
	json_put_text(&json, "against", gate->against);
	json_put_bool(&json, "strict", gate->strict);
	if (gate->diff) {
		json_put_text(&json, "step", statistics_verdict_names[gate->diff->step.verdict]);
		compare_json_notes(&json, gate->diff);
	}
	json_key(&json, "checks");
	json_put_array(&json, JSON_FIELDS(check_fields), gate->checks, gate->n,
		       sizeof *gate->checks);
	json_end_object(&json);
	fputc('\n', out);
}
