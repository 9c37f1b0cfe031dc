/* Findings.tsx - the diagnosis: what holds the program back, ranked, with what a fix would be worth, and what is innocent. */
import type { Diagnosis, Finding } from "../data/protocol";
import { light, predict, showPanel } from "../state/actions";
import { titleOf, useStore, type Trace } from "../state/store";
import { duration, percent } from "../timeline/units";
import { Legend } from "./Legend";

function Places({ finding }: { finding: Finding }) {
	return <ul class="places">{finding.places.filter((p) => p.file || p.range || p.api).slice(0, 4).map((p, i) => <li key={i}>
		<b>{p.file ? `${p.file}${p.line ? `:${p.line}` : ""}` : p.range || p.api}</b> <small>{p.file || p.range ? p.api : ""}{p.count ? ` × ${p.count}` : ""}</small>
	</li>)}</ul>;
}

/** What a fix is worth: replayed, or what the finding costs. */
function Gain({ trace, finding, note }: { trace: number; finding: Finding; note: string }) {
	const p = finding.predicted;
	return <p class="gain"><span class="bar" style={{ width: `${Math.min(100, finding.share * 100)}%` }} />
		{p ? <><b>{duration(p.before_ns)} → {duration(p.step_ns)}</b> a step <em>{p.speedup.toFixed(2)}×</em></>
			: <><b>{duration(finding.cost_ns_per_step)}</b> of every step</>}
		{p && trace === 0 && <button class="try" title="see the step as it would be" onClick={(e) => {
			e.stopPropagation();
			showPanel("whatif");
			void predict(p.edits);
		}}>what if</button>}
		<small>{percent(finding.share)}, {finding.confidence} confidence{p && `, ${duration(p.p10_ns)} to ${duration(p.p90_ns)}`}{note}</small></p>;
}

interface CardProps { trace: number; index: number; finding: Finding; diagnosis: Diagnosis; innocent: boolean }

function Card({ trace, index, finding, diagnosis, innocent }: CardProps) {
	const lit = useStore((s) => s.lit?.trace === trace && s.lit.finding === index);
	const elsewhere = finding.phase !== (diagnosis.summary.phase ?? 0);
	const phase = diagnosis.phases[finding.phase]?.name || String(finding.phase);
	return <div class={`finding ${lit ? "lit" : ""} ${innocent ? "innocent" : ""}`} tabIndex={0} role="button" data-finding={finding.id}
		onClick={() => void light(trace, index)} onKeyDown={(e) => e.key === "Enter" && void light(trace, index)}>
		<h3><span class="rank">{innocent ? "✓" : index + 1}</span> {finding.title} <code>{finding.id}</code></h3>
		{!innocent && <Gain trace={trace} finding={finding} note={elsewhere ? `, phase ${phase}` : ""} />}
		<p>{finding.says}</p>
		<Places finding={finding} />
		{finding.advice && lit && <pre>{finding.advice}</pre>}
	</div>;
}

function Trust({ trust }: { trust: Diagnosis["trust"] }) {
	if (!trust.length)
		return null;
	return <ul class="trust">{trust.map((t, i) => <li key={i} class={t.effect ?? "forbids"}>
		<b>{t.check ?? t.cannot_tell}</b> {t.says ?? t.because}</li>)}</ul>;
}

function Run({ trace, index }: { trace: Trace; index: number }) {
	const d = trace.diagnosis;
	if (!d)
		return <p class="empty">{trace.failed ? `No diagnosis: ${trace.failed}` : trace.info.diagnosis === "none" ? "No diagnosis was asked for." : "Diagnosing…"}</p>;
	const step = d.summary.step_ns;
	return <>
		<p class="summary"><span><b>{duration(step)}</b> a step</span><span><b>{percent(d.summary.busy)}</b> GPU busy</span>
			<span><b>{d.summary.steps}</b> steps</span></p>
		<Trust trust={d.trust} />
		{!d.findings.length && <p class={d.summary.healthy ? "healthy" : "empty"}>{d.summary.healthy ? "✓ Nothing starves the GPU."
			: "No finding. Idle time is shown by its cause in the timeline."}</p>}
		{d.findings.map((f, i) => <Card key={i} trace={index} index={i} finding={f} diagnosis={d} innocent={false} />)}
		{d.acquitted.length > 0 && <h3 class="heading">Looked at, not guilty</h3>}
		{d.acquitted.map((f, i) => <Card key={i} trace={index} index={d.findings.length + i} finding={f} diagnosis={d} innocent />)}
	</>;
}

export function Findings() {
	const traces = useStore((s) => s.traces);
	return <div class="findings">{traces.map((t, i) => <section key={i}>
		{traces.length > 1 && <h2>{i ? "B" : "A"} {titleOf(t)}</h2>}<Run trace={t} index={i} /></section>)}<Legend /></div>;
}
