/* SPDX-License-Identifier: Apache-2.0 */
/* table.ts - the table of spans under the timeline: what it asks for. Rows are asked for page by page, by who shows them (panels/TableGrid.tsx). */
import { findingsOf, type EventGroups, type EventRow, type EventGroup, type EventTable, type Lane } from "../data/protocol";
import { keys, tr } from "../lang";
import { queryError } from "../query/parse";
import { select } from "./actions";
import { source } from "./page";
import { selectionOf } from "./selection";
import { set, state, type TableState } from "./store";

/** By what spans can be grouped. */
export const GROUPS = keys("name", "kind", "lane", "thread", "gpu", "rank", "step", "line");
export const PAGE_ROWS = 100;
/** The most rows that are copied or saved. */
export const MOST_COPIED = 100_000;
const COPY_PAGE = 10_000;

/** Changes the table; what it shows is asked for again. */
function change(to: Partial<TableState>): void {
	set({ table: { ...state.table, active: 0, sums: null, ...to, version: state.table.version + 1 } });
}

/** Takes a query; one that is wrong changes nothing but the sentence under the field. */
export function askTable(text: string): void {
	const error = queryError(text);
	if (error)
		set({ table: { ...state.table, text, error } });
	else
		change({ text, q: text.trim(), error: "", from: null });
}

/** Opens the table of what a query asks for. */
export function showTable(q: string, trace = 0, inSelection = false): void {
	set({ dock: "table" });
	change({ trace, text: q, q, error: "", from: null, group: "", sort: "start", down: false, inSelection });
}
export const tableOfSearch = (): void => showTable(state.query, state.selected?.trace ?? 0);
export const tableOfSelection = (trace = 0): void => showTable("", trace, true);
/** The spans of a lane; those of a union are the work of its device or rank. */
export function tableOfLane(trace: number, lane: Lane): void {
	showTable(lane.type !== "hardware" ? `lane:#${lane.lane}` : lane.rank !== undefined ? `work rank:${lane.rank}` : `work gpu:${gpuOf(trace, lane)}`, trace);
}
const gpuOf = (trace: number, lane: Lane): number => state.traces[trace]?.lanes.lanes.find((l) => l.device === lane.device && l.gpu !== undefined)?.gpu ?? 0;
/** Those like the selected span. */
export function tableOfSpan(): void {
	const at = state.selected;
	if (at)
		showTable(`name="${at.span.name.replace(/["\\]/g, "\\$&")}" lane:#${at.span.lane}`, at.trace);
}
/** All of the evidence of a finding. */
export function tableOfFinding(trace: number, finding: number): void {
	const item = findingsOf(state.traces[trace]?.diagnosis)[finding];
	if (item?.evidence.length)
		showTable(`id:${item.evidence.slice(0, 500).join()}`, trace);
}

export function sortTable(sort: string, down: boolean): void {
	change({ sort, down });
}
export function groupTable(group: string): void {
	change({ group, from: null, sort: group ? "total" : "start", down: group !== "" });
}
export const limitTable = (inSelection: boolean): void => change({ inSelection });
export const chooseTableTrace = (trace: number): void => change({ trace });
export const setActive = (active: number): void => set({ table: { ...state.table, active } });

/** Opens a group into its rows. */
export function openGroup(term: string): void {
	const { q, group, sort, down } = state.table;
	const text = `${q} ${term}`.trim();
	change({ text, q: text, error: "", group: "", sort: "dur", down: true, from: { q, group, sort, down } });
}
export function backToGroups(): void {
	const { from } = state.table;
	if (from)
		change({ ...from, text: from.q, error: "", from: null });
}

export const goToRow = (row: EventRow): Promise<void> => select(state.table.trace, row[0], true, true);

/** The request for a page; null where the selection has none of the trace's lanes. */
function requestOf(t: TableState, skip: number, n: number): string | null {
	const scope = t.inSelection ? selectionOf(t.trace) : "";
	return scope === null ? null
		: `table?t=${t.trace}&q=${encodeURIComponent(t.q)}${scope && `&${scope}`}&sort=${t.sort}&dir=${t.down ? -1 : 1}${t.group && `&group=${t.group}`}&skip=${skip}&n=${n}`;
}

export type Line = EventRow | EventGroup;
export interface Page { lines: Line[]; names: string[] }

/** A page of the table as it is now; null where there is none. Sets the sums. */
export async function tablePage(skip: number, n: number, signal?: AbortSignal): Promise<Page | null> {
	const asked = state.table;
	const request = requestOf(asked, skip, n);
	if (request === null) {
		set({ table: { ...asked, sums: { rows: 0, total: 0, min: 0, max: 0, lines: 0 } } });
		return null;
	}
	try {
		const answer = await source.get<EventTable | EventGroups>(request, signal);
		if (!answer || state.table.version !== asked.version)
			return null;
		const { rows, total, min, max } = answer;
		const lines = "groups" in answer ? answer.groups : rows;
		if (state.table.sums?.lines !== lines || state.table.sums.total !== total)
			set({ table: { ...state.table, error: "", sums: { rows, total, min, max, lines } } });
		return { lines: answer.list, names: "names" in answer ? answer.names : [] };
	} catch (e) {
		if (!signal?.aborted && state.table.version === asked.version)
			set({ table: { ...state.table, error: e instanceof Error ? e.message : tr("no answer"), sums: state.table.sums ?? { rows: 0, total: 0, min: 0, max: 0, lines: 0 } } });
		return null;
	}
}

/** All lines, up to MOST_COPIED. */
export async function allLines(): Promise<Page> {
	const all: Page = { lines: [], names: [] };
	const { version } = state.table;
	const most = Math.min(MOST_COPIED, state.table.sums?.lines ?? 0);
	for (let skip = 0; skip < most; skip += COPY_PAGE) {
		const page = await tablePage(skip, Math.min(COPY_PAGE, most - skip));
		if (!page || state.table.version !== version)
			break;
		const base = all.names.length;
		all.names.push(...page.names);
		// A page counts its own names.
		for (const line of page.lines)
			all.lines.push(state.table.group ? line : ([...line.slice(0, 3), base + Number(line[3]), ...line.slice(4)] as EventRow));
	}
	return all;
}

/** The table in a link: run, selection only, groups, order, query. */
export function writeTable(): string {
	const { trace, inSelection, group, sort, down, q } = state.table;
	return [trace, inSelection ? 1 : 0, group, `${down ? "-" : ""}${sort}`, q].join(";");
}
export function readTable(text: string): void {
	const [trace, selected, group = "", sort = "", ...rest] = text.split(";");
	const q = rest.join(";");
	if (!state.traces[Number(trace)] || !sort || text === writeTable() || queryError(q))
		return;
	change({ trace: Number(trace), inSelection: selected === "1", group: GROUPS.find((g) => g === group) ?? "", sort: sort.replace("-", ""), down: sort.startsWith("-"), text: q, q, error: "", from: null });
}
