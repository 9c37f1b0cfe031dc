/* SPDX-License-Identifier: Apache-2.0 */
/* store.ts - everything the page knows and shows, and who is told when it changes.
 *
 * One object, replaced field by field with set(); components read it with useStore(). Only actions.ts and load.ts write. */
import { useEffect, useState } from "preact/hooks";
import type { Roofline } from "../data/roofline";
import type { Diagnosis, Edits, Headway, Info, Interval, Lanes, Search, Span, SpanDetails, Steps, TraceInfo, WhatIf } from "../data/protocol";

export interface Trace {
	info: TraceInfo; lanes: Lanes; steps: Steps | null; headway: Headway | null; diagnosis: Diagnosis | null; edits: Edits | null;
	roofline: Roofline | null;
	failed: string;
	/** Added to the view's time to get this trace's: two runs are aligned by step. */
	shift: number;
}
const IS_RECORDING = /\.(hwy|sqlite|json|gz|nsys-rep)$/;

/** The program's name: the diagnosis knows it better than the process's name does; else the file's. */
export function titleOf(trace: Trace): string {
	const program = trace.diagnosis?.summary.program ?? "";
	return program && !IS_RECORDING.test(program) ? program : IS_RECORDING.test(trace.info.title) ? trace.info.file : trace.info.title;
}

/** Zero on the ruler: the first event of the first run. */
export const beginOf = (s: State): number => (s.traces[0] ? s.traces[0].info.start - s.traces[0].shift : 0);

export type Panel = "findings" | "details" | "interval" | "search" | "whatif" | "roofline";
export type Theme = "auto" | "light" | "dark";
/** The evidence of a finding: spans, those of their kind (same name and lane), which one is on the screen, and how many there are in all. */
export interface Lit { trace: number; finding: number; spans: Span[]; at: number; total: number; names: Set<string>; lanes: Set<number>; looks: Set<number> }

export interface State {
	info: Info | null; traces: Trace[]; from: number; to: number; cursor: number | null;
	folded: Set<string>; pinned: Set<string>; filter: string;
	/** Lanes (laneKey) that show all their levels, however many. */
	deep: Set<string>;
	/** Groups that were moved, in the order they stand in among their siblings. */
	order: string[];
	selected: { trace: number; span: SpanDetails } | null;
	range: { from: number; to: number } | null;
	intervals: (Interval | null)[];
	query: string; found: (Search | null)[];
	/** The hit that was gone to: which one of how many. */
	hit: { number: number; hits: number } | null;
	lit: Lit | null; gaps: boolean; path: boolean; step: number;
	/** Edits that are switched on, as `headway whatif --apply` takes them, and what they would do. */
	edits: string[]; whatIfTrace: number; whatIf: WhatIf | null; whatIfError: string; asking: boolean;
	rooflineTrace: number;
	panel: Panel | null; theme: Theme; help: boolean; message: string; gone: boolean;
}

export const state: State = {
	info: null, traces: [], from: 0, to: 1, cursor: null, folded: new Set(), pinned: new Set(), deep: new Set(), filter: "", order: [], selected: null, range: null,
	intervals: [], query: "", found: [], hit: null, lit: null, gaps: true, path: false, step: -1, edits: [], whatIfTrace: 0, whatIf: null, whatIfError: "", asking: false, rooflineTrace: 0, panel: "findings", theme: "auto", help: false,
	message: "", gone: false,
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
