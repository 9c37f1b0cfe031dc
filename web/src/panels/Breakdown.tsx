/* SPDX-License-Identifier: Apache-2.0 */
/* Breakdown.tsx - where a step's GPU time goes, all devices together: what it works on, and why it is idle. The parts add up. */
import { CAUSES, Look, type Diagnosis } from "../data/protocol";
import { phrase, tr } from "../lang";
import { useDark } from "./dark";
import { css, Palette } from "../timeline/theme";
import { duration, percent } from "../timeline/units";

interface Part { name: string; ns: number; colour: string; idle: boolean }

/** What a cause of idle time means. */
export const CAUSE_WORDS: Record<string, string> = {
	blocked: tr("after a wait"), launch: tr("launched too slowly"), input: tr("the next batch is late"), os: tr("the CPU is in the OS"), cpu: tr("the CPU runs other code"),
	dependency: tr("between work"), alloc: tr("allocating, freeing"), module: tr("loading kernels"), drain: tr("outside any step"), unknown: tr("no launch recorded"), "first-use": tr("compiling, loading, capturing"), missing: tr("records missing"), comm: tr("the CPU talks to other ranks"), gc: tr("Python collects garbage"), gil: tr("waiting for the GIL"),
};
/** Smaller parts are in the bar, not in the list. */
const LEAST = 0.005;

function partsOf({ gpu }: Diagnosis, palette: Palette): Part[] {
	const sum = (of: (device: Diagnosis["gpu"][number]) => number): number => gpu.filter((d) => d.busy_ns > 0).reduce((all, d) => all + of(d), 0);
	const look = (kind: number): string => css(palette.look(kind));
	const parts: Part[] = [
		{ name: tr("compute"), ns: sum((d) => d.states.compute_ns), colour: look(Look.kernel), idle: false },
		{ name: tr("communication, exposed"), ns: sum((d) => d.states.exposed_comm_ns), colour: look(Look.comm), idle: false },
		{ name: tr("copies, exposed"), ns: sum((d) => d.states.exposed_copy_ns), colour: look(Look.copy), idle: false },
		{ name: tr("fills"), ns: sum((d) => d.states.fill_ns), colour: look(Look.fill), idle: false },
		...CAUSES.map((cause, i) => ({ name: cause, ns: sum((d) => d.causes[cause] ?? 0), colour: css(palette.cause(i)), idle: true })).sort((a, b) => b.ns - a.ns)];
	return parts.filter((p) => p.ns > 0);
}

export function Breakdown({ diagnosis }: { diagnosis: Diagnosis }) {
	const palette = new Palette(useDark());
	const parts = partsOf(diagnosis, palette);
	const whole = parts.reduce((all, p) => all + p.ns, 0);
	if (!whole)
		return null;
	const step = diagnosis.summary.step_ns;
	return <section class="breakdown"><h3>{tr("What the GPU does with a step")}</h3>
		<div class="stack-bar" role="img" aria-label={tr("the list below as a bar")}>{parts.map((p) =>
			<i key={p.name} class={p.idle ? "idle" : ""} title={`${p.idle ? tr("idle, {cause}", { cause: tr(p.name) }) : p.name}${tr(": ")}${percent(p.ns / whole)}`} style={{ flexGrow: p.ns / whole, backgroundColor: p.colour }} />)}</div>
		<table class="rows"><tbody>{parts.filter((p) => p.ns / whole >= LEAST).map((p) => <tr key={p.name} title={p.idle ? CAUSE_WORDS[p.name] : ""}>
			<td class="part"><i class={p.idle ? "idle" : ""} style={{ backgroundColor: p.colour }} />{p.idle ? <>{phrase("idle: {cause}", { cause: <b>{tr(p.name)}</b> })} <small>{CAUSE_WORDS[p.name]}</small></> : p.name}</td>
			<td class="n">{duration(p.ns / whole * step)}</td><td class="n short">{percent(p.ns / whole)}</td></tr>)}</tbody></table>
	</section>;
}
