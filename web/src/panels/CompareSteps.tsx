/* SPDX-License-Identifier: Apache-2.0 */
/* CompareSteps.tsx - the step times of both runs as distributions on top of each other, and a control that lays step k of A over step k of B. */
import { phrase, tr } from "../lang";
import { showStep } from "../state/actions";
import { phaseOf, stepTimes } from "../state/compare";
import { useStore } from "../state/store";
import { stepTitle } from "../timeline/text";
import { duration, roundStep } from "../timeline/units";

const WIDE = 360;
const TALL = 110;
const EDGE = { left: 30, right: 8, top: 6, bottom: 18 };
const MOST_LONG = 1.35;

const at = (sorted: number[], share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

/** The share of steps that took at most so long, as a path. Long ones beyond the plot end it below the top. */
function pathOf(sorted: number[], x: (ns: number) => number, y: (share: number) => number, most: number): string {
	let path = `M${EDGE.left},${y(0)}`;
	sorted.forEach((ns, i) => {
		if (ns <= most)
			path += `H${x(ns).toFixed(1)}V${y((i + 1) / sorted.length).toFixed(1)}`;
	});
	return `${path}H${WIDE - EDGE.right}`;
}

function Plot({ times }: { times: number[][] }) {
	const sorted = times.map((list) => [...list].sort((a, b) => a - b));
	const least = Math.min(...sorted.map((s) => s[0]!));
	const most = Math.min(Math.max(...sorted.map((s) => s.at(-1)!)), Math.max(...sorted.map((s) => at(s, 0.95))) * MOST_LONG);
	const pad = Math.max((most - least) * 0.06, 1);
	const [from, to] = [Math.max(0, least - pad), most + pad];
	const x = (ns: number): number => EDGE.left + (ns - from) / (to - from) * (WIDE - EDGE.left - EDGE.right);
	const y = (share: number): number => TALL - EDGE.bottom - share * (TALL - EDGE.top - EDGE.bottom);
	const step = roundStep((to - from) / 4);
	const ticks = Array.from({ length: 8 }, (_, i) => Math.ceil(from / step) * step + i * step).filter((t) => t <= to);
	return <svg class="compare-plot" viewBox={`0 0 ${WIDE} ${TALL}`} role="img" aria-label={sorted.map((s, i) => tr("{run}: median {median}, from {least} to {most}", { run: i ? "B" : "A", median: duration(at(s, 0.5)), least: duration(s[0]!), most: duration(s.at(-1)!) })).join(tr("; "))}>
		{[0, 0.5, 1].map((share) => <g key={share}><line x1={EDGE.left} x2={WIDE - EDGE.right} y1={y(share)} y2={y(share)} /><text x={EDGE.left - 4} y={y(share) + 3.5} text-anchor="end">{share * 100}%</text></g>)}
		{ticks.map((t) => <text key={t} x={x(t)} y={TALL - 5} text-anchor="middle">{duration(t)}</text>)}
		{sorted.map((s, i) => <g key={i} class={i ? "of-b" : "of-a"}><path d={pathOf(s, x, y, to)} /><circle cx={x(at(s, 0.5))} cy={y(0.5)} r="3.5"><title>{tr("{run}: median {median}", { run: i ? "B" : "A", median: duration(at(s, 0.5)) })}</title></circle></g>)}
	</svg>;
}

/** Step k of both runs, and how long each took. */
function StepControl() {
	const step = useStore((s) => s.step);
	const phases = [phaseOf(0), phaseOf(1)];
	const last = Math.max(...phases.map((p) => (p?.steps.length ?? 0) - 1));
	const k = step >= 0 ? step : phases[0]?.first_steady ?? 0;
	const names = phases.map((p) => p?.steps[k] && stepTitle(p.steps[k][6], k));
	const same = names[0] !== undefined && names[0] === names[1];
	const go = (to: number): void => showStep(Math.min(last, Math.max(0, to)), (phases[0]?.steps.length ?? 0) > to ? 0 : 1);
	return <p class="compare-step"><span class="group">
		<button aria-label={tr("previous step of both runs")} title={tr("previous step ([)")} disabled={k <= 0} onClick={() => go(k - 1)}>‹</button>
		<button class={step >= 0 ? "on" : ""} title={tr("lay this step of B over that of A")} onClick={() => go(k)}>{same ? names[0] : tr("step {k} of {all}", { k: k + 1, all: last + 1 })}</button>
		<button aria-label={tr("next step of both runs")} title={tr("next step (])")} disabled={k >= last} onClick={() => go(k + 1)}>›</button></span>
		{phases.map((p, i) => {
			const one = p?.steps[k];
			return <span key={i}><b class={i ? "of-b" : "of-a"}>{i ? "B" : "A"}</b> {one ? <>{!same && `${names[i]} `}{duration(one[1] - one[0])}</> : tr("has no such step")}</span>;
		})}</p>;
}

export function CompareSteps() {
	const times = [stepTimes(0), stepTimes(1)];
	return <section><h3>{tr("Step times")} <small>{phrase("share of steady steps that took at most so long; {a} and {b}", { a: <b class="of-a">A</b>, b: <b class="of-b">B</b> })}</small></h3>
		{times.every((t) => t.length) ? <Plot times={times} /> : <p class="empty">{tr("The steps are not known yet.")}</p>}
		<StepControl /></section>;
}
