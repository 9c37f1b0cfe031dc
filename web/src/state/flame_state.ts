/* SPDX-License-Identifier: Apache-2.0 */
/* flame_state.ts - what the flame panel shows, as part of the state. */
import type { FlameAnswer, FlameKind } from "../data/flame";

export const SCOPES = ["all", "steps", "selection"] as const;
export const VIEWS = ["down", "up", "sandwich"] as const;

export interface FlameState {
	/** null: what the recording has most to tell about. */
	kind: FlameKind | null; scope: typeof SCOPES[number]; view: typeof VIEWS[number]; shown: "graph" | "table";
	/** Which weight, as in the answer; "": the first. */
	weight: string;
	/** 0 and 1: a run; 2: what changed from the first to the second, by share or by step. */
	run: 0 | 1 | 2; by: "share" | "step";
	/** A group of lanes (`t/id`), "": all. */
	group: string;
	/** Functions that are not Python are listed, too, or are not; null: as is usual for the kind. */
	python: boolean | null;
	query: string;
	/** The function of the sandwich (keyOf). */
	focus: string;
	answers: (FlameAnswer | null)[]; asking: boolean; error: string;
}

export const FLAME_AT_FIRST: FlameState = {
	kind: null, scope: "all", view: "down", shown: "graph", weight: "", run: 0, by: "share", group: "", python: null, query: "", focus: "", answers: [], asking: false, error: "",
};
