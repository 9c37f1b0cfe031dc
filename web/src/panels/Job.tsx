/* SPDX-License-Identifier: Apache-2.0 */
/* Job.tsx - the answer of `headway analyze` about a job: what holds it back, what each rank does with a step, who is late when, and the findings of all ranks. */
import { Look, type Job as Answer, type JobFinding, type JobRank } from "../data/protocol";
import { phrase, tr } from "../lang";
import { css, Palette } from "../timeline/theme";
import { plain, sentence } from "../timeline/text";
import { count, duration, percent } from "../timeline/units";
import { light } from "../state/actions";
import { useStore } from "../state/store";
import { Advice } from "./Advice";
import { useDark } from "./dark";
import { Evidence, TryButton } from "./Finding";

const MOST_RANKS = 32, MOST_CELLS = 64;
/** From which share of a step on a rank is late by a little, by much …: as `headway analyze` draws it. */
const DEGREES = [0.02, 0.05, 0.15, 0.3];

function ranksOf(ranks: number[], all: number): string {
	if (ranks.length === all)
		return tr("all ranks");
	const few = ranks.slice(0, 8).join(tr(", "));
	if (ranks.length > 8)
		return tr("ranks {ranks} and {n} more", { ranks: few, n: ranks.length - 8 });
	return tr(ranks.length === 1 ? "rank {rank}" : "ranks {rank}", { rank: few });
}

interface Part { name: string; ns: number; colour: string; idle: boolean }

function partsOf(rank: JobRank, palette: Palette): Part[] {
	const look = (kind: number): string => css(palette.look(kind));
	return [{ name: tr("compute"), ns: rank.compute_ns, colour: look(Look.kernel), idle: false },
		{ name: tr("communication"), ns: rank.transfer_ns, colour: look(Look.comm), idle: false },
		{ name: tr("waits for other ranks"), ns: rank.wait_ns + rank.start_ns, colour: look(Look.comm), idle: true },
		{ name: tr("copies"), ns: rank.copy_ns, colour: look(Look.copy), idle: false },
		{ name: tr("idle"), ns: rank.idle_ns, colour: "var(--line)", idle: false }];
}

function Ranks({ job }: { job: Answer }) {
	const palette = new Palette(useDark());
	const ranks = job.ranks.filter((r) => r.judged);
	const longest = Math.max(...ranks.map((r) => r.step_ns), 1);
	if (!ranks.length || !job.steps)
		return null;
	return <section class="job-ranks"><h3>{tr("A step of each rank")}</h3><table class="rows"><tbody>{ranks.slice(0, MOST_RANKS).map((r) => {
		const parts = partsOf(r, palette).filter((p) => p.ns > 0);
		return <tr key={r.rank} class={job.lateness.kind === "repeats" && job.lateness.ranks.includes(r.rank) ? "shown" : ""}>
			<td class="short">{tr("rank {rank}", { rank: r.rank })}</td>
			<td><div class="stack-bar" role="img" aria-label={parts.map((p) => `${p.name} ${duration(p.ns)}`).join(tr(", "))} style={{ width: `${r.step_ns / longest * 100}%` }}>{parts.map((p) =>
				<i key={p.name} class={p.idle ? "idle" : ""} title={`${p.name}${tr(": ")}${duration(p.ns)}${tr(", ")}${percent(p.ns / r.step_ns)}`} style={{ flexGrow: p.ns / r.step_ns, backgroundColor: p.colour }} />)}</div></td>
			<td class="n short" title={tr("steps in which it is late")}>{r.late_steps ? tr("late {n}", { n: count(r.late_steps) }) : ""}</td></tr>;
	})}</tbody></table>{ranks.length > MOST_RANKS && <p><small>{tr("and {n} more: headway analyze -v", { n: ranks.length - MOST_RANKS })}</small></p>}
	<ul class="causes">{partsOf(ranks[0]!, palette).map((p) => <li key={p.name} class="part"><i class={p.idle ? "idle" : ""} style={{ backgroundColor: p.colour }} />{p.name}</li>)}</ul></section>;
}

/** The latest of neighbouring steps, so that a long run fits. */
function cellsOf(late: number[]): number[] {
	const group = Math.ceil(late.length / MOST_CELLS);
	return Array.from({ length: Math.ceil(late.length / group) }, (_, i) => Math.max(...late.slice(i * group, (i + 1) * group)));
}

function LateMap({ job }: { job: Answer }) {
	const rows = job.late_ns.map((late, i) => ({ rank: job.ranks[i]!.rank, cells: cellsOf(late) })).slice(0, MOST_RANKS);
	if (!job.steps || !rows.some((r) => r.cells.some((ns) => ns >= DEGREES[0]! * job.step_ns)))
		return null;
	return <section class="late-map"><h3>{tr("How late each rank is, step by step")}</h3>{rows.map((r) => <div key={r.rank} class="late-row"><small>{r.rank}</small>{r.cells.map((ns, i) =>
		<i key={i} class={`late-${DEGREES.filter((d) => ns >= d * job.step_ns).length}`} title={tr("rank {rank}: {time} late", { rank: r.rank, time: duration(ns) })} />)}</div>)}</section>;
}

/** Cost and bar are of the rank that it costs most; what a fix is worth has the base of the replay, as on the command line. */
function Gain({ trace, finding, job }: { trace: number; finding: JobFinding; job: Answer }) {
	const p = finding.predicted;
	const range = finding.least_ns < finding.most_ns ? tr("{least} to {most}", { least: duration(finding.least_ns), most: duration(finding.most_ns) }) : duration(finding.most_ns);
	const share = finding.most_ns / job.step_ns;
	return <div class="gain"><span class="bar" style={{ width: `${Math.min(100, share * 100)}%` }} />
		<span>{p ? <>{phrase("{time} a step", { time: <b>{duration(p.before_ns)} → {duration(p.step_ns)}</b> })} <em>{p.speedup.toFixed(2)}×</em></>
			: phrase("{time} of every step", { time: <b>{range}</b> })}</span>
		{p && <TryButton trace={trace} predicted={p} />}
		<small>{ranksOf(finding.ranks, job.ranks.length)}{!p && tr(", {share} of a step", { share: percent(share) })}</small></div>;
}

function Finding({ trace, finding, index, job }: { trace: number; finding: JobFinding; index: number; job: Answer }) {
	const lit = useStore((s) => s.lit?.trace === trace && s.lit.finding === index);
	const shows = finding.evidence.length > 0;
	const show = (e: Event): void => {
		e.stopPropagation();
		void light(trace, index);
	};
	const head = <><span class="rank">{index + 1}</span> {finding.title}</>;
	return <div class={`finding ${shows ? "" : "still"} ${lit ? "lit" : ""}`} data-job-finding={finding.id} title={shows ? tr("show the evidence") : undefined} onClick={(e) => shows && !lit && show(e)}>
		<h3>{shows ? <button class="show" aria-pressed={lit} onClick={show}>{head}</button> : head} <code>{finding.id}</code></h3>
		{lit && <Evidence />}
		<Gain trace={trace} finding={finding} job={job} />
		{finding.says !== job.says && <p>{sentence(finding.says)}</p>}
		{finding.file && <ul class="places"><li><b>{plain(finding.file)}{finding.line ? `:${finding.line}` : ""}</b> <small>{plain(finding.function)}</small></li></ul>}
		{finding.advice && <Advice text={finding.advice} code={lit || index === 0} />}
	</div>;
}

export function Job({ trace, job }: { trace: number; job: Answer }) {
	return <>
		<p class={job.verdict === "gpu" ? "verdict healthy" : "verdict"}>{job.verdict === "gpu" ? "✓ " : ""}{sentence(job.says)}</p>
		{job.lateness.says && job.lateness.says !== job.says && <p>{sentence(job.lateness.says)}</p>}
		<Ranks job={job} />
		<LateMap job={job} />
		{job.findings.length > 0 && <h3 class="heading">{tr("What holds the job back")}</h3>}
		{job.findings.map((f, i) => <Finding key={i} trace={trace} finding={f} index={i} job={job} />)}
		{job.problems.length > 0 && <ul class="trust">{job.problems.map((text, i) => <li key={i}>{sentence(text)}</li>)}</ul>}
	</>;
}
