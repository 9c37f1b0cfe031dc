/* SPDX-License-Identifier: Apache-2.0 */
/* edit_places.ts - where an edit can be made, as far as the diagnosis knows; and which edits change something at all. */
import type { Applicable, Diagnosis } from "../data/protocol";
import { source } from "./page";
import { set, state, type Trace } from "./store";

/** A question to the server has room for about a thousand characters; the begin of a name is enough to find it. */
const MOST_NAME = 240;

const asked = new Set<number>();

/** Asks once for each trace which edits its main phase has something to change for. */
export async function askApplicable(trace: number): Promise<void> {
	if (source.inline || asked.has(trace))
		return;
	asked.add(trace);
	const answer = await source.get<Applicable>(`applicable?t=${trace}`).catch(() => null);
	const { edits } = state.traces[trace] ?? {};
	if (!answer?.edits || !edits)
		return void asked.delete(trace);
	const why = new Map(answer.edits.map((e) => [e.id, e.why]));
	state.traces[trace]!.edits = { ...edits, edits: edits.edits.map((e) => ({ ...e, why: why.get(e.id) ?? null })) };
	set({ traces: [...state.traces] });
}

/** Of a path of ranges the innermost; "step_7" stands for every step. */
const rangeOf = (path: string): string => (path.split(" > ").at(-1) ?? "").replace(/\d+$/, "");

const unique = (texts: string[]): string[] => [...new Set(texts.filter(Boolean).map((t) => t.slice(0, MOST_NAME)))];
const placesOf = (diagnosis: Diagnosis): Diagnosis["findings"][number]["places"] => [...diagnosis.findings, ...diagnosis.acquitted].flatMap((f) => f.places);

/** Lines, ranges and calls: where the findings are, then the selected span. */
export function editPlaces({ diagnosis }: Trace): string[] {
	const here = state.selected?.span.place;
	return unique([...(diagnosis ? placesOf(diagnosis) : []), ...(here ? [here] : [])]
		.flatMap((p) => [p.file && p.line ? `${p.file.split("/").at(-1)!}:${p.line}` : "", rangeOf(p.range), p.api]));
}

/** The kernels that take most time, and the selected one. */
export function editKernels({ diagnosis }: Trace): string[] {
	const here = state.selected?.span;
	return unique([...(diagnosis?.summary.top_kernels ?? []).map((k) => k.name), here?.kind === "kernel" ? here.name : ""]);
}

/** Ranges of the program that findings are in, and the selected one. */
export function editRanges({ diagnosis }: Trace): string[] {
	const here = state.selected?.span;
	return unique([...(diagnosis ? placesOf(diagnosis) : []).map((p) => rangeOf(p.range)), here?.kind === "range" ? rangeOf(here.name) : ""]);
}
