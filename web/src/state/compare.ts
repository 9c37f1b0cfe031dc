/* SPDX-License-Identifier: Apache-2.0 */
/* compare.ts - what changed from the first run to the second, and the ways from there into both timelines. */
import type { Comparison } from "../data/compare";
import { CAUSES, findingsOf, type Phase } from "../data/protocol";
import { tr } from "../lang";
import { light, select, show } from "./actions";
import { source } from "./page";
import { set, state } from "./store";

export interface CompareState { answer: Comparison | null; error: string; asking: boolean }
const COMPARE_AT_FIRST: CompareState = { answer: null, error: "", asking: false };

const PENDING_MS = 400;
const PIXELS = 4096;

/** Asks until the comparison is there; the first request starts it. */
export async function askCompare(): Promise<void> {
	if (state.compare.answer || state.compare.asking)
		return;
	set({ compare: { ...COMPARE_AT_FIRST, asking: true } });
	try {
		for (;;) {
			const answer = await source.get<Comparison>("compare");
			if (answer || source.inline)
				return set({ compare: { answer: answer && !answer.error ? answer : null, error: answer ? answer.error ?? "" : tr("The comparison was left out of this page."), asking: false } });
			await new Promise((done) => setTimeout(done, PENDING_MS));
		}
	} catch (e) {
		set({ compare: { answer: null, error: e instanceof Error ? e.message : tr("no answer"), asking: false } });
	}
}

/** The phase that is compared: the one whose marks the comparison names, else the main one. */
export function phaseOf(trace: number): Phase | undefined {
	const side = state.compare.answer?.[trace ? "after" : "before"];
	const steps = state.traces[trace]?.steps;
	return steps?.phases.find((p) => side && p.name === side.marks && p.n_steady === side.steady_steps) ?? steps?.phases[steps.main];
}

/** The lengths of the steady steps, in order. */
export function stepTimes(trace: number): number[] {
	const phase = phaseOf(trace);
	return phase ? phase.steps.slice(phase.first_steady, phase.first_steady + phase.n_steady).map(([from, to]) => to - from) : [];
}

export const goToRow = (trace: number, span: number): Promise<void> => select(trace, span, true, true);

export function lightFinding(trace: number, id: string): void {
	const at = findingsOf(state.traces[trace]?.diagnosis).findIndex((f) => f.id === id);
	if (at >= 0)
		void light(trace, at);
	else
		set({ message: tr("Run {run} does not have this finding.", { run: trace ? "B" : "A" }) });
}

/** Shows the longest idle time of a cause in the compared steps. */
export async function goToIdle(trace: number, cause: string): Promise<void> {
	const phase = phaseOf(trace);
	const { shift } = state.traces[trace]!;
	const pieces = phase && await source.pieces("gaps", trace, phase.from, phase.to, PIXELS).catch(() => null);
	const mine = (pieces ?? []).filter((p) => CAUSES[p.cause] === cause && p.to > phase!.from && p.from < phase!.to);
	const longest = mine.reduce<typeof mine[number] | null>((most, p) => (!most || (p.to - p.from) * p.share > (most.to - most.from) * most.share ? p : most), null);
	if (!longest)
		return set({ message: tr("Run {run} has no idle time of this cause in its steady steps.", { run: trace ? "B" : "A" }) });
	const margin = (longest.to - longest.from) * 1.5;
	set({ gaps: true, message: "" });
	show(longest.from - shift - margin, longest.to - shift + margin);
}
