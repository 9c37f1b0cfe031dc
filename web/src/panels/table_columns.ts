/* SPDX-License-Identifier: Apache-2.0 */
/* table_columns.ts - the columns of the table of spans, and of its groups: what a cell shows, and what it is in a file. */
import { LOOK_NAMES, type EventGroup, type EventRow } from "../data/protocol";
import { spanName } from "../data/span_names";
import { keys, tr } from "../lang";
import type { Trace } from "../state/store";
import type { Line, Page } from "../state/table";
import { plain, shorten } from "../timeline/text";
import { count, duration, exact, percent, withPrefix } from "../timeline/units";

/** What cells need besides their line. */
export interface Around { names: string[]; trace: Trace; total: number;
	/** Of lanes, by number: in files, and on the screen. */
	titles: Map<number, string>; shown: Map<number, string> }

export interface Column {
	/** What it is sorted by in requests. */
	id: string; title: string; hint: string; width: string; text?: boolean; fixed?: boolean;
	show: (line: Line, around: Around) => string;
	/** The whole of it, where `show` cuts. */
	full?: (line: Line, around: Around) => string;
	/** In a file: numbers in ns and bytes. */
	value: (line: Line, around: Around) => number | string | null;
}

const row = (line: Line): EventRow => line as EventRow;
const group = (line: Line): EventGroup => line as EventGroup;
const known = (value: number | null, show: (n: number) => string): string => (value === null ? "" : show(value));
const rateOf = (r: EventRow): number | null => (r[8] !== null && r[5] > 0 ? r[8] / r[5] * 1e9 : null);
const nameOf = (line: Line, a: Around): string => a.names[row(line)[3]] ?? "";
const shownName = (line: Line, a: Around): string => spanName(nameOf(line, a), row(line)[2]);
const startOf = (line: Line, a: Around): number => row(line)[4] - a.trace.info.start;

/** Titles are names of columns in files, too: they are translated where they are shown. */
keys("name", "kind", "start", "duration", "lane", "step", "latency", "bytes", "rate", "line", "group", "count", "total", "share", "mean", "min", "p50", "p90", "p99", "max", "sd");

export const ROW_COLUMNS: Column[] = [
	{ id: "name", title: "name", hint: tr("what it is called"), width: "minmax(140px, 3fr)", text: true, show: (l, a) => shorten(plain(shownName(l, a))), full: (l, a) => plain(shownName(l, a), 4096), value: nameOf },
	{ id: "kind", title: "kind", hint: tr("what it is"), width: "84px", text: true, show: (l) => tr(LOOK_NAMES[row(l)[2]] ?? ""), value: (l) => LOOK_NAMES[row(l)[2]] ?? "" },
	{ id: "start", title: "start", hint: tr("after the first event"), width: "118px", show: (l, a) => exact(startOf(l, a)), value: startOf },
	{ id: "dur", title: "duration", hint: tr("how long it took"), width: "78px", show: (l) => duration(row(l)[5]), full: (l) => exact(row(l)[5]), value: (l) => row(l)[5] },
	{ id: "lane", title: "lane", hint: tr("the stream or thread it stands on"), width: "minmax(160px, 2.4fr)", text: true, show: (l, a) => plain(a.shown.get(row(l)[1]) ?? String(row(l)[1])), full: (l, a) => plain(a.shown.get(row(l)[1]) ?? ""), value: (l, a) => a.titles.get(row(l)[1]) ?? "" },
	{ id: "step", title: "step", hint: tr("the step it belongs to"), width: "46px", show: (l) => known(row(l)[6], String), value: (l) => row(l)[6] },
	{ id: "latency", title: "latency", hint: tr("from the begin of its launch to its start"), width: "78px", show: (l) => known(row(l)[7], duration), full: (l) => known(row(l)[7], exact), value: (l) => row(l)[7] },
	{ id: "bytes", title: "bytes", hint: tr("size of the copy, the fill or the allocation"), width: "78px", show: (l) => known(row(l)[8], (n) => withPrefix(n, "B")), full: (l) => known(row(l)[8], (n) => tr("{n} bytes", { n: count(n) })), value: (l) => row(l)[8] },
	{ id: "rate", title: "rate", hint: tr("bytes a second"), width: "80px", show: (l) => known(rateOf(row(l)), (n) => withPrefix(n, "B/s")), value: (l) => known(rateOf(row(l)), (n) => String(Math.round(n))) || null },
	{ id: "line", title: "line", hint: tr("where in the program it was called or launched"), width: "minmax(94px, 1fr)", text: true, show: (l) => plain(row(l)[9]), full: (l) => plain(row(l)[9]), value: (l) => row(l)[9] },
];

const time = (id: string, title: string, hint: string, at: number): Column => ({ id, title, hint, width: "78px", show: (l) => duration(Number(l[at])), full: (l) => exact(Number(l[at])), value: (l) => Number(l[at]) });

export const GROUP_COLUMNS: Column[] = [
	{ id: "name", title: "group", hint: tr("what its spans have in common"), width: "minmax(180px, 3fr)", text: true, show: (l) => shorten(plain(spanName(group(l)[0]))) || tr("(none)"), full: (l) => plain(spanName(group(l)[0]), 4096), value: (l) => group(l)[0] },
	{ id: "count", title: "count", hint: tr("how many spans"), width: "84px", show: (l) => count(group(l)[2]), value: (l) => group(l)[2] },
	time("total", "total", tr("all durations added up"), 3),
	{ id: "share", title: "share", hint: tr("of the total of all groups"), width: "64px", fixed: true, show: (l, a) => (a.total ? percent(group(l)[3] / a.total) : ""), value: (l, a) => (a.total ? group(l)[3] / a.total : null) },
	time("mean", "mean", tr("of the durations"), 6), time("min", "min", tr("the shortest"), 4), time("p50", "p50", tr("half of them are shorter"), 7), time("p90", "p90", tr("a tenth of them are longer"), 8),
	time("p99", "p99", tr("a hundredth of them are longer"), 9), time("max", "max", tr("the longest"), 5), time("sd", "sd", tr("standard deviation"), 10),
];

/** A table as CSV (RFC 4180). */
export function asCsv(columns: Column[], page: Page, around: Omit<Around, "names">): string {
	const quote = (value: number | string | null): string => {
		const text = value === null ? "" : String(value);
		return /[",\n\r]/.test(text) ? `"${text.replaceAll("\"", "\"\"")}"` : text;
	};
	const unit = (c: Column): string => (/^(start|dur|latency|total|mean|min|max|p50|p90|p99|sd)$/.test(c.id) ? `${c.title}_ns` : c.title);
	return [columns.map(unit), ...page.lines.map((l) => columns.map((c) => quote(c.value(l, { ...around, names: page.names }))))].map((cells) => `${cells.join()}\n`).join("");
}

export const asJson = (columns: Column[], page: Page, around: Omit<Around, "names">): string =>
	JSON.stringify(page.lines.map((l) => Object.fromEntries([...columns.map((c) => [c.title, c.value(l, { ...around, names: page.names })]), ...typeof l[0] === "number" ? [["id", l[0]]] : []])), null, 1);
