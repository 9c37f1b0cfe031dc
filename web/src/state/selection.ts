/* SPDX-License-Identifier: Apache-2.0 */
/* selection.ts - a stretch of time (state.range) and chosen lanes (state.chosen): together they are the selection.
 *
 * Without chosen lanes it is of all lanes; lanes without a stretch are of the whole recording. */
import { writeLanes } from "../data/lane_list";
import { HARDWARE, VIRTUAL, type Group, type Selection } from "../data/protocol";
import { tr } from "../lang";
import { laneKey, type Row } from "../timeline/layout";
import { bounds, laneInView, recorded } from "./actions";
import { exactName } from "./kin";
import { source } from "./page";
import { set, state } from "./store";
import { groupTable, showTable } from "./table";

let tabulating: AbortController | null = null;

/** Whether anything is selected. */
export const hasSelection = (): boolean => state.range !== null || state.chosen.size > 0;

/** The chosen lanes of a trace. */
export const chosenLanes = (trace: number): number[] =>
	[...state.chosen].map((key) => key.split("/").map(Number)).filter(([t]) => t === trace).map(([, lane]) => lane!);

/** The time of the selection as a request names it: the part of it in which this trace was recorded. What is not recorded is not idle. Null: none
 * of it; a second run may be shorter than the first. */
export function windowOf(trace: number): string | null {
	const { shift, info } = state.traces[trace]!;
	const { from, to } = state.range ?? bounds();
	const begin = Math.max(info.start, Math.floor(from + shift));
	const end = Math.min(Math.max(info.end, info.start + 1), Math.ceil(to + shift));
	return begin < end ? `from=${begin}&to=${end}` : null;
}

/** The time and the lanes of the selection as a request names them; null where none of the trace's time or lanes is selected. */
export function selectionOf(trace: number): string | null {
	const lanes = chosenLanes(trace);
	const window = windowOf(trace);
	if (window === null || (state.chosen.size && !lanes.length))
		return null;
	return `${window}${lanes.length ? `&lanes=${writeLanes(lanes)}` : ""}`;
}

/** Asks what happened in the selection. */
async function tabulate(): Promise<void> {
	tabulating?.abort();
	tabulating = new AbortController();
	const { signal } = tabulating;
	set({ intervals: [] });
	if (!hasSelection())
		return;
	const intervals = await Promise.all(state.traces.map((_, t) => {
		const request = selectionOf(t);
		return request === null ? null : source.get<Selection>(`selection?t=${t}&${request}`, signal).catch(() => null);
	}));
	if (!signal.aborted)
		set({ intervals });
}

/** Selects what of a stretch of time was recorded. Whole ns: what the table is of is what the address holds. */
export async function selectRange(from: number, to: number, open = true): Promise<void> {
	const range = recorded(from, to);
	set({ range, ...(range ? {} : { message: tr("Nothing was recorded then: no time is selected.") }), ...(open ? { panel: "selection" as const } : {}) });
	await tabulate();
}

/** Selects a stretch of time on lanes. */
export async function selectBox(from: number, to: number, chosen: string[]): Promise<void> {
	set({ chosen: new Set(chosen) });
	await selectRange(from, to);
}

/** All lanes of a group and of the groups inside. */
const lanesInside = (group: Group): number[] => [...group.lanes.filter((n) => n < VIRTUAL || n >= HARDWARE), ...group.groups.flatMap(lanesInside)];

/** The lanes that a row stands for. */
export function lanesOfRow(row: Row): string[] {
	if (row.kind === "lane" || row.kind === "counter")
		return row.lane ? [laneKey(row.trace, row.lane.of ?? row.lane.lane)] : [];
	return row.group ? lanesInside(row.group).map((lane) => laneKey(row.trace, lane)) : [];
}

/** Chooses lanes besides those that are, or no longer where all of them were. */
export async function choose(lanes: string[], open = true): Promise<void> {
	const chosen = new Set(state.chosen);
	const all = lanes.every((key) => chosen.has(key));
	lanes.forEach((key) => (all ? chosen.delete(key) : chosen.add(key)));
	set({ chosen, ...(open ? { panel: "selection" as const } : {}) });
	await tabulate();
}

/** Chooses these lanes and no others. */
export async function chooseOnly(lanes: string[], open = true): Promise<void> {
	set({ chosen: new Set(lanes), ...(open ? { panel: "selection" as const } : {}) });
	await tabulate();
}

/** All lanes again. */
export const chooseAll = (): Promise<void> => chooseOnly([], false);

/** Chooses the lane of the span that is selected, or no longer. */
export async function chooseOfSpan(): Promise<void> {
	const { selected } = state;
	if (selected)
		await choose([laneKey(selected.trace, selected.span.lane)]);
}

/** Selects the time of the span that is selected. */
export async function selectSpanTime(): Promise<void> {
	const { selected } = state;
	if (!selected)
		return;
	const start = selected.span.start - state.traces[selected.trace]!.shift;
	await selectRange(start, start + Math.max(1, selected.span.dur));
}

export const selectScreen = (): Promise<void> => selectRange(state.from, state.to);

/** Nothing is selected: no time, no lanes. */
export async function selectNothing(): Promise<void> {
	set({ range: null, chosen: new Set() });
	await tabulate();
}

/** Takes back a part of the selection: the time first, then the lanes. */
export async function dropPart(): Promise<void> {
	set(state.range ? { range: null } : { chosen: new Set() });
	await tabulate();
}

/** Where a row of the selection's tables leads: to the table of the spans of that name and kind, inside the selection. */
export const openName = (trace: number, kind: string, name: string): void => showTable(`${kind} ${exactName(name)}`, trace, true);

/** All names of a kind inside the selection, in the table. */
export function openNames(trace: number, kind: string): void {
	showTable(kind, trace, true);
	groupTable("name");
}

/** Where a row that is of a lane leads. */
export const openLane = (trace: number, lane: number): void => laneInView(trace, lane);

/** The chosen lanes for the address: 0:4-9,12;1:3. */
export const writeChosen = (): string =>
	state.traces.map((_, t) => chosenLanes(t)).flatMap((lanes, t) => (lanes.length ? [`${t}:${writeLanes(lanes)}`] : [])).join(";");

/** The lanes that an address names, of those that there are. */
export function readChosen(text: string): Set<string> {
	const chosen = new Set<string>();
	for (const part of text.split(";")) {
		const [t, list = ""] = part.split(":");
		const known = state.traces[Number(t)]?.lanes.lanes ?? [];
		for (const run of list.split(",").filter(Boolean)) {
			const [first = NaN, last = first] = run.split("-").map(Number);
			known.filter((l) => l.lane >= first && l.lane <= last).forEach((l) => chosen.add(laneKey(Number(t), l.lane)));
		}
	}
	return chosen;
}
