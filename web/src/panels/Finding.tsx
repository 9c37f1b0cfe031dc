/* SPDX-License-Identifier: Apache-2.0 */
/* Finding.tsx - one finding, or one that was acquitted: a press lights up its evidence. */
import type { Diagnosis, Finding as Item, Predicted } from "../data/protocol";
import { keys, phrase, tr } from "../lang";
import { light, nextEvidence, predict } from "../state/actions";
import { showPanel } from "../state/layout";
import { useStore } from "../state/store";
import { tableOfFinding } from "../state/table";
import { count, duration, percent } from "../timeline/units";
import { folded, inner, plain, sentence } from "../timeline/text";
import { Advice } from "./Advice";

const MOST_PLACES = 4;

function Places({ finding }: { finding: Item }) {
	return <ul class="places">{finding.places.filter((p) => p.file || p.range || p.api).slice(0, MOST_PLACES).map((p, i) => <li key={i} title={plain(p.range)}>
		<b>{p.file ? `${plain(p.file)}${p.line ? `:${p.line}` : ""}` : plain(inner(p.count === undefined || p.count === 1 ? p.range : folded(p.range))) || plain(p.api)}</b>{p.module ? ` ${tr("in {module}", { module: plain(p.module) })}` : ""} <small>{p.file || p.range ? plain(p.api) : ""}{p.count ? ` ×\u00a0${count(p.count)}` : ""}</small>
	</li>)}</ul>;
}

keys("low", "medium", "high");

const rangeText = ({ p10_ns, p90_ns, bound }: Predicted): string =>
	tr("{least} to {most}", { least: duration(p10_ns), most: duration(p90_ns) }) + (bound && tr(", then bound by {bound}", { bound: tr(bound) }));

/** Leads to the panel What if, with the edits of a fix on. */
export function TryButton({ trace, predicted }: { trace: number; predicted: Predicted }) {
	return <button class="try" title={tr("see the step as it would be")} onClick={(e) => {
		e.stopPropagation();
		showPanel("whatif");
		void predict(predicted.edits, trace);
	}}>{tr("what if")}</button>;
}

/** What a fix is worth: replayed, or what the finding costs. */
function Gain({ trace, finding, once, note }: { trace: number; finding: Item; once: boolean; note: string }) {
	const p = finding.predicted;
	return <div class="gain"><span class="bar" style={{ width: `${Math.min(100, finding.share * 100)}%` }} />
		<span>{p ? <>{phrase("{time} a step", { time: <b>{duration(p.before_ns)} → {duration(p.step_ns)}</b> })} <em>{p.speedup.toFixed(2)}×</em></>
			: phrase(once ? "{time} of the only step" : "{time} of every step", { time: <b>{duration(finding.cost_ns_per_step)}</b> })}</span>
		{p && <TryButton trace={trace} predicted={p} />}
		<small>{tr("{share} of it, {confidence} confidence", { share: percent(finding.share), confidence: tr(finding.confidence) })}{p && tr("; ") + rangeText(p)}{note}</small></div>;
}

/** Why it is innocent: removing it gains nothing. */
function Worth({ finding }: { finding: Item }) {
	const p = finding.predicted;
	return p ? <p><small>{tr("Without it {before} → {after} a step.", { before: duration(p.before_ns), after: duration(p.step_ns) })}
		{p.tipping_ns ? ` ${tr("It starts to cost above ≈ {time} of GPU work a step.", { time: duration(p.tipping_ns) })}` : ""}</small></p> : null;
}

/** Which piece of evidence is on the screen, of how many that are shown, of how many there are. */
export function Evidence() {
	const lit = useStore((s) => s.lit);
	if (!lit)
		return null;
	if (!lit.spans.length)
		return <p class="evidence"><small>{tr("No single span proves it.")}</small></p>;
	const step = (by: 1 | -1) => (e: Event): void => {
		e.stopPropagation();
		nextEvidence(by);
	};
	return <p class="evidence"><button title={tr("previous (N)")} aria-label={tr("previous piece of evidence")} onClick={step(-1)}>‹</button>
		<span>{tr("evidence {n} of {all}", { n: lit.at + 1, all: lit.spans.length })}</span>
		<button title={tr("next (n)")} aria-label={tr("next piece of evidence")} onClick={step(1)}>›</button>
		<button title={tr("a table of its evidence")} onClick={(e) => {
			e.stopPropagation();
			tableOfFinding(lit.trace, lit.finding);
		}}>{tr("table")}</button>
		{lit.total > lit.spans.length && <small>{tr("picked from {total}; others of the same kind keep their colour", { total: count(lit.total) })}</small>}</p>;
}

interface Props { trace: number; index: number; finding: Item; diagnosis: Diagnosis; innocent: boolean }

export function Finding({ trace, index, finding, diagnosis, innocent }: Props) {
	const lit = useStore((s) => s.lit?.trace === trace && s.lit.finding === index);
	const elsewhere = finding.phase !== (diagnosis.summary.phase ?? 0);
	const phase = diagnosis.phases[finding.phase]?.name || String(finding.phase);
	return <div class={`finding ${lit ? "lit" : ""} ${innocent ? "innocent" : ""}`} data-finding={finding.id} title={tr("show the evidence")}
		onClick={() => lit || void light(trace, index)}>
		<h3><button class="show" aria-pressed={lit} onClick={(e) => {
			e.stopPropagation();
			void light(trace, index);
		}}><span class="rank">{innocent ? "✓" : index + 1}</span> {plain(finding.title)}</button> <code>{finding.id}</code></h3>
		{lit && <Evidence />}
		{!innocent && <Gain trace={trace} finding={finding} once={diagnosis.phases[finding.phase]?.steady_steps === 1} note={elsewhere ? tr("; phase {phase}", { phase }) : ""} />}
		<p>{sentence(finding.says)}</p>
		{innocent && <Worth finding={finding} />}
		<Places finding={finding} />
		{finding.advice && <Advice text={finding.advice} code={lit} />}
	</div>;
}
