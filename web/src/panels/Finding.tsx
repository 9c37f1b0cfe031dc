/* SPDX-License-Identifier: Apache-2.0 */
/* Finding.tsx - one finding, or one that was acquitted: a press lights up its evidence. */
import type { Diagnosis, Finding as Item } from "../data/protocol";
import { light, nextEvidence, predict } from "../state/actions";
import { showPanel } from "../state/layout";
import { useStore } from "../state/store";
import { tableOfFinding } from "../state/table";
import { count, duration, percent } from "../timeline/units";
import { inner } from "../timeline/text";
import { Advice } from "./Advice";

const MOST_PLACES = 4;

function Places({ finding }: { finding: Item }) {
	return <ul class="places">{finding.places.filter((p) => p.file || p.range || p.api).slice(0, MOST_PLACES).map((p, i) => <li key={i} title={p.range}>
		<b>{p.file ? `${p.file}${p.line ? `:${p.line}` : ""}` : inner(p.range) || p.api}</b>{p.module ? ` in ${p.module}` : ""} <small>{p.file || p.range ? p.api : ""}{p.count ? ` ×\u00a0${count(p.count)}` : ""}</small>
	</li>)}</ul>;
}

/** What a fix is worth: replayed, or what the finding costs. */
function Gain({ trace, finding, note }: { trace: number; finding: Item; note: string }) {
	const p = finding.predicted;
	return <div class="gain"><span class="bar" style={{ width: `${Math.min(100, finding.share * 100)}%` }} />
		<span>{p ? <><b>{duration(p.before_ns)} → {duration(p.step_ns)}</b> a step <em>{p.speedup.toFixed(2)}×</em></>
			: <><b>{duration(finding.cost_ns_per_step)}</b> of every step</>}</span>
		{p && <button class="try" title="see the step as it would be" onClick={(e) => {
			e.stopPropagation();
			showPanel("whatif");
			void predict(p.edits, trace);
		}}>what if</button>}
		<small>{percent(finding.share)} of it, {finding.confidence} confidence{p && `; ${duration(p.p10_ns)} to ${duration(p.p90_ns)}${p.bound && `, then bound by ${p.bound}`}`}{note}</small></div>;
}

/** Why it is innocent: removing it gains nothing. */
function Worth({ finding }: { finding: Item }) {
	const p = finding.predicted;
	return p ? <p><small>Without it {duration(p.before_ns)} → {duration(p.step_ns)} a step.
		{p.tipping_ns ? ` It starts to cost above ≈ ${duration(p.tipping_ns)} of GPU work a step.` : ""}</small></p> : null;
}

/** Which piece of evidence is on the screen, of how many that are shown, of how many there are. */
function Evidence() {
	const lit = useStore((s) => s.lit);
	if (!lit)
		return null;
	if (!lit.spans.length)
		return <p class="evidence"><small>No single span proves it.</small></p>;
	const step = (by: 1 | -1) => (e: Event): void => {
		e.stopPropagation();
		nextEvidence(by);
	};
	return <p class="evidence"><button title="previous (N)" aria-label="previous piece of evidence" onClick={step(-1)}>‹</button>
		<span>evidence {lit.at + 1} of {lit.spans.length}{lit.total > lit.spans.length && <small>, picked from {count(lit.total)}; others of the same kind keep their colour</small>}</span>
		<button title="next (n)" aria-label="next piece of evidence" onClick={step(1)}>›</button>
		<button title="a table of its evidence" onClick={(e) => {
			e.stopPropagation();
			tableOfFinding(lit.trace, lit.finding);
		}}>table</button></p>;
}

interface Props { trace: number; index: number; finding: Item; diagnosis: Diagnosis; innocent: boolean }

export function Finding({ trace, index, finding, diagnosis, innocent }: Props) {
	const lit = useStore((s) => s.lit?.trace === trace && s.lit.finding === index);
	const elsewhere = finding.phase !== (diagnosis.summary.phase ?? 0);
	const phase = diagnosis.phases[finding.phase]?.name || String(finding.phase);
	return <div class={`finding ${lit ? "lit" : ""} ${innocent ? "innocent" : ""}`} data-finding={finding.id} title="show the evidence"
		onClick={() => lit || void light(trace, index)}>
		<h3><button class="show" aria-pressed={lit} onClick={(e) => {
			e.stopPropagation();
			void light(trace, index);
		}}><span class="rank">{innocent ? "✓" : index + 1}</span> {finding.title}</button> <code>{finding.id}</code></h3>
		{lit && <Evidence />}
		{!innocent && <Gain trace={trace} finding={finding} note={elsewhere ? `; phase ${phase}` : ""} />}
		<p>{finding.says}</p>
		{innocent && <Worth finding={finding} />}
		<Places finding={finding} />
		{finding.advice && <Advice text={finding.advice} code={lit} />}
	</div>;
}
