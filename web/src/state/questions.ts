/* SPDX-License-Identifier: Apache-2.0 */
/* questions.ts - what people ask most, as one command each: where the longest idle gap is, which step is slowest and why, which kernel varies, which line costs. */
import { CAUSES, type Phase, type Piece } from "../data/protocol";
import { tr } from "../lang";
import { plain, stepTitle } from "../timeline/text";
import { duration } from "../timeline/units";
import { select, show, showStep } from "./actions";
import { source } from "./page";
import { selectRange } from "./selection";
import { set, state } from "./store";
import { groupTable, showTable, sortTable } from "./table";

/** As many pixels as a request may name. */
const PIXELS = 8192;
const MOST_LOOKS = 64;

const mainPhase = (trace = 0): Phase | null => {
	const steps = state.traces[trace]?.steps;
	return steps?.phases[steps.main] ?? null;
};
export const hasSteps = (): boolean => (mainPhase()?.steps.length ?? 0) > 0;

/** Selects a stretch of a trace's time and shows it with some room around. */
async function selectAround(trace: number, from: number, to: number, room: number): Promise<void> {
	const { shift } = state.traces[trace]!;
	const margin = (to - from) * room;
	show(from - shift - margin, to - shift + margin);
	await selectRange(from - shift, to - shift);
}

/** The longest gap of a run's steps. Gaps that share a pixel come as one piece; as long as such a piece is the longest, it is looked at more closely. */
async function longestGapOf(trace: number): Promise<Piece | null> {
	const ask = async (from: number, to: number): Promise<Piece[]> => await source.pieces("gaps", trace, Math.floor(from), Math.ceil(to), PIXELS) ?? [];
	const pieces = (await Promise.all((state.traces[trace]?.steps?.phases ?? []).map((phase) => ask(phase.from, phase.to)))).flat();
	for (let looked = 0; looked < MOST_LOOKS; looked++) {
		pieces.sort((a, b) => b.to - b.from - (a.to - a.from));
		const [first] = pieces;
		if (!first || first.count === 1)
			break;
		const closer = await ask(first.from, first.to);
		if (closer.some((p) => p.count === first.count))
			break;
		pieces.splice(0, 1, ...closer);
	}
	return pieces[0] ?? null;
}

async function longestGap(): Promise<{ trace: number; gap: Piece } | null> {
	const all = await Promise.all(state.traces.map(async (_, trace) => ({ trace, gap: await longestGapOf(trace) })));
	return all.flatMap(({ trace, gap }) => (gap ? [{ trace, gap }] : [])).sort((a, b) => b.gap.to - b.gap.from - (a.gap.to - a.gap.from))[0] ?? null;
}

export async function goToLongestGap(): Promise<void> {
	const best = await longestGap();
	if (!best)
		return set({ message: tr("No idle time of a GPU is known inside the steady steps.") });
	const { trace, gap } = best;
	if (gap.span >= 0)
		await select(trace, gap.span, false, true);
	await selectAround(trace, gap.from, gap.to, 1.5);
	set({ message: tr("Longest idle gap inside the steady steps: {time}, {cause}.", { time: duration(gap.to - gap.from), cause: tr(CAUSES[gap.cause] ?? "unknown") }) });
}

const medianOf = (values: number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

/** What a step does longer than others: the diagnosis knows it of steps unlike the rest; else whether the GPU works or idles longer. */
function reasonOf(phase: Phase, k: number): string {
	const { diagnosis } = state.traces[0]!;
	const outlier = diagnosis?.phases[state.traces[0]!.steps!.main]?.outliers.find((o) => o.step === k);
	if (outlier)
		return `${outlier.differs_by === "busy" ? tr("the GPU works longer") : tr("idle, {cause}", { cause: tr(outlier.differs_by) })}${outlier.because_of ? `${tr(", ")}${plain(outlier.because_of)}` : ""}${tr(": ")}+ ${duration(outlier.excess_ns)}`;
	const steady = phase.steps.slice(phase.first_steady, phase.first_steady + phase.n_steady);
	const idleOf = (s: Phase["steps"][number]): number => s[1] - s[0] - s[4];
	const idle = idleOf(phase.steps[k]!) - medianOf(steady.map(idleOf));
	const busy = phase.steps[k]![4] - medianOf(steady.map((s) => s[4]));
	return idle > busy ? tr("the GPU idles {time} longer than in most", { time: duration(idle) }) : tr("the GPU works {time} longer than in most", { time: duration(busy) });
}

/** The slowest of the steps that are judged: warm-up is slow and says nothing. */
export async function goToSlowestStep(): Promise<void> {
	const phase = mainPhase();
	if (!phase)
		return;
	const steady = phase.steps.map((step, k) => ({ k, dur: step[1] - step[0], name: step[6] })).slice(phase.first_steady, phase.first_steady + phase.n_steady);
	const slowest = steady.sort((a, b) => b.dur - a.dur)[0];
	if (!slowest)
		return;
	showStep(slowest.k);
	await selectStep();
	set({ message: tr("Slowest step: {step}, {time}; the median is {median}: {reason}.", { step: stepTitle(slowest.name, slowest.k), time: duration(slowest.dur), median: duration(phase.median), reason: reasonOf(phase, slowest.k) }) });
}

/** Selects the time of the step that was gone to, else of the one in the middle of the screen. */
export async function selectStep(): Promise<void> {
	const phase = mainPhase();
	const { shift } = state.traces[0]!;
	const middle = (state.from + state.to) / 2 + shift;
	const step = phase?.steps[state.step >= 0 ? state.step : phase.steps.findIndex((s) => s[0] <= middle && middle < s[1])];
	if (step)
		await selectRange(step[0] - shift, step[1] - shift);
}

/** Kernels by name, the one whose durations differ most first. */
export function tableOfVarying(): void {
	showTable("kernel");
	groupTable("name");
	sortTable("sd", true);
}

/** Device work by the line that launched it, the costliest line first. */
export function tableOfLines(): void {
	showTable("work");
	groupTable("line");
}
