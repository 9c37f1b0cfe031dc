/* SPDX-License-Identifier: Apache-2.0 */
/* StepsPlot.tsx - every step as a bar: how long it took, of it how much the GPU was busy. A press goes there. */
import { OUTLIER, WARM_UP, type Step } from "../data/protocol";
import { tr } from "../lang";
import { showStep } from "../state/actions";
import { useStore, type Trace } from "../state/store";
import { duration } from "../timeline/units";

const WIDE = 346;
const TALL = 60;
const LEAST_BAR = 3;

/** Steps that share a bar: their means, what most of them are, the first to go to. */
function barsOf(steps: Step[]): { first: number; last: number; took: number; busy: number; flags: number }[] {
	const each = Math.max(1, Math.ceil(steps.length * LEAST_BAR / WIDE));
	const bars = [];
	for (let first = 0; first < steps.length; first += each) {
		const part = steps.slice(first, first + each);
		const mean = (of: (s: Step) => number): number => part.reduce((sum, s) => sum + of(s), 0) / part.length;
		bars.push({
			first, last: first + part.length - 1, took: mean((s) => s[1] - s[0]), busy: mean((s) => s[4]),
			flags: [OUTLIER, WARM_UP].reduce((flags, one) => flags | (part.filter((s) => s[5] & one).length > part.length / 2 ? one : 0), 0),
		});
	}
	return bars;
}

/** What nearly all stay under: start-up and a hiccup must not flatten the others. */
function scaleOf(bars: ReturnType<typeof barsOf>): number {
	const steady = bars.filter((b) => !(b.flags & WARM_UP));
	const sorted = (steady.length ? steady : bars).map((b) => b.took).sort((a, b) => a - b);
	const usual = sorted[Math.floor(sorted.length * 0.9)] ?? 1;
	return Math.max(1, Math.min(sorted.at(-1) ?? 1, usual * 1.25));
}

export function StepsPlot({ trace, index }: { trace: Trace; index: number }) {
	const shown = useStore((s) => s.step);
	const phase = trace.steps?.phases[trace.steps.main];
	if (!phase || phase.steps.length < 2)
		return null;
	const bars = barsOf(phase.steps);
	const most = scaleOf(bars);
	const wide = WIDE / bars.length;
	const tall = (ns: number): number => Math.min(TALL, ns / most * TALL);
	const each = bars[0]!.last - bars[0]!.first + 1;
	return <section class="plot steps-plot"><h3>{tr("Steps one by one")} <small>{each > 1 ? tr("{n} a bar; ", { n: each }) : ""}{tr("filled: the GPU is busy")}</small></h3>
		<figure><figcaption><small>{duration(most)}</small></figcaption>
			<svg viewBox={`0 0 ${WIDE} ${TALL}`} preserveAspectRatio="none" role="img" aria-label={tr("how long each step took")}>{bars.map((b) =>
				<g key={b.first} class={`${b.flags & WARM_UP ? "warm-up" : ""} ${b.flags & OUTLIER ? "outlier" : ""} ${shown >= b.first && shown <= b.last ? "shown" : ""}`}
					onClick={() => showStep(b.first, index)}>
					<title>{tr("step {k}: {time}, GPU busy {busy}", { k: phase.steps[b.first]![6] || b.first, time: duration(b.took), busy: duration(b.busy) })}</title>
					<rect class="back" x={b.first / each * wide} y={0} width={wide} height={TALL} />
					<rect class="took" x={b.first / each * wide} y={TALL - tall(b.took)} width={Math.max(1, wide - 1)} height={tall(b.took)} />
					<rect class="busy" x={b.first / each * wide} y={TALL - tall(b.busy)} width={Math.max(1, wide - 1)} height={tall(b.busy)} /></g>)}
			</svg></figure>
	</section>;
}
