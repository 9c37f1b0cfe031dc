/* SPDX-License-Identifier: Apache-2.0 */
/* store.ts - everything the page knows and shows, and who is told when it changes.
 *
 * One object, replaced field by field with set(); components read it with useStore(). Only files of state/ write. */
import { useEffect, useState } from "preact/hooks";
import type { Roofline } from "../data/roofline";
import type { CompareState } from "./compare";
import { FLAME_AT_FIRST, type FlameState } from "./flame_state";
import type { Diagnosis, Edits, Headway, Info, Lanes, Search, Selection, SpanDetails, Steps, TraceInfo, WhatIf } from "../data/protocol";
import type { Gone } from "./connection";
import type { NotesState } from "./notes";

export interface Trace {
	info: TraceInfo; lanes: Lanes; steps: Steps | null; headway: Headway | null; diagnosis: Diagnosis | null; edits: Edits | null;
	roofline: Roofline | null;
	failed: string;
	/** Added to the view's time to get this trace's: two runs are aligned by step. */
	shift: number;
}
const IS_RECORDING = /\.(hwy|sqlite|json|gz|nsys-rep)$/;

/** Whether nothing was recorded. A file of ncu has no spans either, but counters of kernels. */
export const isEmpty = (trace: Trace): boolean => trace.info.spans === 0 && trace.lanes.lanes.length === 0 && !trace.info.source.startsWith("ncu");

/** The program's name: the diagnosis knows it better than the process's name does; else the file's. */
export function titleOf(trace: Trace): string {
	const program = trace.diagnosis?.summary.program ?? "";
	return program && !IS_RECORDING.test(program) ? program : IS_RECORDING.test(trace.info.title) ? trace.info.file : trace.info.title;
}

/** What a run is called beside another one: two of the same program by their files. */
export const runTitle = (trace: Trace, all = state.traces): string =>
	(all.some((one) => one !== trace && titleOf(one) === titleOf(trace)) ? trace.info.file.replace(/^.*\//, "") : titleOf(trace));

/** Zero on the ruler: the first event of the first run. */
export const beginOf = (s: State): number => (s.traces[0] ? s.traces[0].info.start - s.traces[0].shift : 0);

/** Panels beside the timeline, and under it (panels/registry.ts). */
export const PANELS = [
	"findings",
	"details",
	"selection",
	"search",
	"whatif",
	"notes",
] as const;
export const DOCKS = [
	"compare",
	"flame",
	"table",
	"sql",
	"roofline",
	"prediction",
	"legend",
] as const;
export type Panel = typeof PANELS[number];
export type Dock = typeof DOCKS[number];
/** How large parts of the page were made, in pixels; null: as large as the page makes them. */
export interface Sizes { lanes: number | null; side: number | null; dock: number | null }
export const THEMES = ["auto", "light", "dark"] as const;
export type Theme = typeof THEMES[number];
/** The evidence of a finding: spans, those of their kind (same name and lane), which one is on the screen, and how many there are in all. */
export interface Lit { trace: number; finding: number; spans: SpanDetails[]; at: number; total: number; names: Set<string>; lanes: Set<number>; looks: Set<number> }

/** The table under the timeline (state/table.ts): what it asks for, and how it is sorted. */
export interface TableState {
	trace: number;
	/** What stands in its field; the query in force; what is wrong. */
	text: string; q: string; error: string;
	/** Only what touches the selection. */
	inSelection: boolean;
	group: string; sort: string; down: boolean;
	/** The groups that it was opened from: back goes there. */
	from: { q: string; group: string; sort: string; down: boolean } | null;
	/** Counts up where the rows must be asked for again. */
	version: number;
	/** What was found, without rows; null: not asked yet. */
	sums: { rows: number; total: number; min: number; max: number; lines: number } | null;
	/** The row that the keyboard is at. */
	active: number;
}
const NO_TABLE: TableState = { trace: 0, text: "", q: "", error: "", inSelection: false, group: "", sort: "start", down: false, from: null, version: 0, sums: null, active: 0 };
/** Spans that are lit beside the selected one: all of its name, or its chain. `query` names them for the server, where spans are summed up. */
export interface Kin { trace: number; query: string; name: string | null; ids: Set<number>; title: string;
	/** The span whose chain it is; null: all of a name. */
	of: number | null }

export interface State {
	info: Info | null; traces: Trace[]; from: number; to: number; cursor: number | null;
	folded: Set<string>; pinned: Set<string>; filter: string;
	/** Lanes (laneKey) that show all their levels, however many. */
	deep: Set<string>;
	/** Groups that were moved, in the order they stand in among their siblings. */
	order: string[];
	selected: { trace: number; span: SpanDetails } | null;
	range: { from: number; to: number } | null;
	/** Lanes (laneKey) that the selection is of; none: of all lanes. */
	chosen: Set<string>;
	/** What happened in the selection, by trace. */
	intervals: (Selection | null)[];
	/** The row of the timeline (its key) that the keyboard is at; null: that of the selected span. */
	focus: string | null;
	/** What stands in the field in which one asks, and what is wrong with it. The query in force is the last one that was right. */
	ask: { text: string; error: string };
	query: string; found: (Search | null)[];
	table: TableState;
	/** The question in SQL, and the last answer. */
	/** The answer is of its own run, whichever is asked next; `areSpans`: its rows name spans, not rows of a table such as steps. */
	sql: { text: string; trace: number; answer: { columns: string[]; rows: (number | string | null)[][]; cut: boolean; trace: number; areSpans: boolean } | null; error: string; running: boolean };
	/** The hit that was gone to: which one of how many. */
	hit: { number: number; hits: number } | null;
	kin: Kin | null;
	/** Kernels, ranges, operators and functions have a colour by their name instead of by their kind. */
	byName: boolean;
	lit: Lit | null; gaps: boolean; path: boolean; step: number;
	/** Edits that are switched on, as `headway whatif --apply` takes them, and what they would do. */
	edits: string[]; whatIfTrace: number; whatIf: WhatIf | null; whatIfError: string; asking: boolean;
	rooflineTrace: number;
	panel: Panel | null; dock: Dock | null; sizes: Sizes; theme: Theme; help: boolean; palette: boolean; message: string; gone: Gone;
	notes: NotesState;
	flame: FlameState; compare: CompareState;
}

export const state: State = {
	info: null, traces: [], from: 0, to: 1, cursor: null, folded: new Set(), pinned: new Set(), deep: new Set(), filter: "", order: [], selected: null, range: null, chosen: new Set(),
	intervals: [], focus: null, ask: { text: "", error: "" }, table: NO_TABLE, sql: { text: "", trace: 0, answer: null, error: "", running: false }, query: "", found: [], hit: null, kin: null, byName: false, lit: null, gaps: true, path: false, step: -1, edits: [], whatIfTrace: 0, whatIf: null, whatIfError: "", asking: false, rooflineTrace: 0,
	panel: "findings", dock: null, sizes: { lanes: null, side: null, dock: null }, theme: "auto", help: false, palette: false, message: "", gone: "",
	notes: { all: [], at: null, writing: null, packed: "" },
	flame: FLAME_AT_FIRST, compare: { answer: null, error: "", asking: false },
};

type Listener = () => void;
const listeners = new Set<Listener>();

export function set(change: Partial<State>): void {
	Object.assign(state, change);
	for (const listener of listeners)
		listener();
}

export function subscribe(listener: Listener): () => void {
	listeners.add(listener);
	return () => listeners.delete(listener);
}

/** A part of the state; the component is drawn again when that part is another one. */
export function useStore<T>(part: (s: State) => T): T {
	const [, again] = useState<object>({});
	const value = part(state);
	useEffect(() => {
		let last = value;
		const look = (): void => {
			const now = part(state);
			if (now !== last) {
				last = now;
				again({});
			}
		};
		look(); // it may have changed since it was drawn
		return subscribe(look);
	});
	return value;
}
