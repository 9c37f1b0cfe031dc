/* SPDX-License-Identifier: Apache-2.0 */
/* Findings.tsx - the diagnosis in the order of `headway analyze`: what, where, what it is worth, what to do, what is innocent. */
import type { Diagnosis } from "../data/protocol";
import { keys, tr } from "../lang";
import { showDock } from "../state/layout";
import { runTitle, useStore, type Trace } from "../state/store";
import { duration, percent } from "../timeline/units";
import { Breakdown } from "./Breakdown";
import { Finding } from "./Finding";
import { Headline } from "./Headline";
import { HeadwayPlot } from "./HeadwayPlot";
import { Job } from "./Job";
import { StepsPlot } from "./StepsPlot";
import { plain, sentence, shorten, stepTitle } from "../timeline/text";

keys("memory (DRAM)", "memory (L2)", "memory (L1)");

/** Judged steps that cover less of the recording than this are told so, as `headway analyze` does. */
const COVERS_LITTLE = 0.5;

function Verdict({ diagnosis }: { diagnosis: Diagnosis }) {
	const { summary } = diagnosis;
	const little = summary.phase !== null && summary.coverage < COVERS_LITTLE;
	const well = summary.verdict === "gpu" && !summary.verdict_opaque;
	return <p class={well ? "verdict healthy" : "verdict"}>{well ? "✓ " : ""}{sentence(summary.verdict_says)}
		{little && <small> {tr("The judged steps are {share} of the recording.", { share: summary.coverage < 0.0005 ? tr("less than 0.1 %") : percent(summary.coverage) })}</small>}</p>;
}

function Outliers({ diagnosis }: { diagnosis: Diagnosis }) {
	const outliers = diagnosis.phases[diagnosis.summary.phase ?? -1]?.outliers ?? [];
	if (!outliers.length)
		return null;
	return <section><h3>{tr("Steps unlike the rest")}</h3><table class="rows"><tbody>{outliers.map((o) => <tr key={o.step}>
		<td>{stepTitle(o.name ?? "", o.step)}: <small>{o.differs_by === "busy" ? tr("busy") : tr("idle, {cause}", { cause: tr(o.differs_by) })} {plain(o.because_of ?? "")}, + {duration(o.excess_ns)}</small></td>
		<td class="n">{duration(o.step_ns)}</td></tr>)}</tbody></table></section>;
}

function Kernels({ summary }: { summary: Diagnosis["summary"] }) {
	if (!summary.top_kernels.length)
		return null;
	return <section><h3>{tr("Inside the kernels")}</h3><table class="rows"><tbody>{summary.top_kernels.map((k) => <tr key={k.name}>
		<td class="bar-cell"><span class="bar" style={{ width: `${k.share_of_kernels * 100}%` }} /><span class="text" title={plain(k.name)}>{shorten(plain(k.name))}</span>
			{k.bound && <small class="text"> {tr(k.bound)}{k.of_roof != null && tr(", {share} of the roof", { share: percent(k.of_roof) })}</small>}</td>
		<td class="n">{duration(k.ns_per_step)}</td><td class="n short">{percent(k.share_of_kernels)}</td></tr>)}</tbody></table>
		<p class="buttons"><button onClick={() => showDock("roofline")} title={tr("kernels under the roofs of the device (6)")}>{tr("roofline")}</button></p>
		{summary.kernels_command && <div class="advice"><pre class="wraps">{sentence(summary.kernels_command)}</pre></div>}</section>;
}

/** Several files were compared: whose diagnosis this is. */
function Runs({ runs }: { runs: Diagnosis["summary"]["runs"] }) {
	if (runs.length < 2)
		return null;
	return <section><h3>{runs.some((r) => r.rank !== runs[0]!.rank) ? tr("Ranks of one run") : tr("Runs of one program")}</h3><table class="rows"><tbody>{runs.map((r) =>
		<tr key={r.file} class={r.shown ? "shown" : ""}><td>{r.rank !== null && <b>{tr("rank {rank}", { rank: r.rank })} </b>}<small>{plain(r.file.slice(r.file.lastIndexOf("/") + 1))}</small></td>
			<td class="n">{r.step_ns !== null && duration(r.step_ns)}</td><td class="n short">{r.shown && tr("this one")}</td></tr>)}</tbody></table></section>;
}

function Trust({ diagnosis: { trust, summary } }: { diagnosis: Diagnosis }) {
	return <section><h3>{tr("How far to trust this")}</h3>
		{trust.length ? <ul class="trust">{trust.map((t, i) => <li key={i} class={t.effect ?? "forbids"}>
			<b>{t.check ?? tr("cannot tell: {what}", { what: t.cannot_tell ?? "" })}</b> {sentence(t.says ?? t.because ?? "")}</li>)}</ul>
			: <p><small>{tr("The recording lacks nothing that these numbers need.")}</small></p>}
		{summary.own_cost_ns_per_step !== null && <p><small>{tr("Headway's own cost, {time} of CPU time a step, is part of the times seen; predictions are without it.", { time: duration(summary.own_cost_ns_per_step) })}</small></p>}</section>;
}

function Run({ trace, index }: { trace: Trace; index: number }) {
	const d = trace.diagnosis;
	if (!d)
		return <p class="empty">{trace.failed ? tr("No diagnosis: {why}", { why: trace.failed }) : trace.info.diagnosis === "none" ? tr("No diagnosis was asked for.") : tr("Diagnosing…")}</p>;
	if (d.job)
		return <><Job trace={index} job={d.job} /><Trust diagnosis={d} /></>;
	return <>
		<Headline diagnosis={d} />
		<Breakdown diagnosis={d} />
		<Verdict diagnosis={d} />
		{d.findings.length > 0 && <h3 class="heading">{d.summary.healthy ? tr("What is left") : tr("What holds it back")}</h3>}
		{d.findings.map((f, i) => <Finding key={i} trace={index} index={i} finding={f} diagnosis={d} innocent={false} />)}
		{d.acquitted.length > 0 && <h3 class="heading">{tr("Looked at, not guilty")}</h3>}
		{d.acquitted.map((f, i) => <Finding key={i} trace={index} index={d.findings.length + i} finding={f} diagnosis={d} innocent />)}
		<StepsPlot trace={trace} index={index} />
		<HeadwayPlot trace={trace} />
		<Outliers diagnosis={d} />
		<Kernels summary={d.summary} />
		<Runs runs={d.summary.runs} />
		<Trust diagnosis={d} />
	</>;
}

export function Findings() {
	const traces = useStore((s) => s.traces);
	return <div class="findings">{traces.map((t, i) => <section key={i} class="of-run">
		{traces.length > 1 && <h2><b class={i ? "ab of-b" : "ab of-a"}>{i ? "B" : "A"}</b> {runTitle(t)}</h2>}<Run trace={t} index={i} /></section>)}</div>;
}
