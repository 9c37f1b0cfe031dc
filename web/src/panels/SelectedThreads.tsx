/* SPDX-License-Identifier: Apache-2.0 */
/* SelectedThreads.tsx - what the threads of a selection did: their states, who woke whom, where samples found them. */
import type { Selection } from "../data/protocol";
import { spanName } from "../data/span_names";
import { tr } from "../lang";
import { openLane } from "../state/selection";
import { useStore } from "../state/store";
import { plain, shorten } from "../timeline/text";
import { css, Palette } from "../timeline/theme";
import { count, duration, percent } from "../timeline/units";
import { useDark } from "./dark";

const AT_FIRST = 8;

function States({ trace, table }: { trace: number; table: Selection }) {
	const palette = new Palette(useDark());
	if (!table.threads.length)
		return null;
	const whole = table.to - table.from;
	return <section><h3>{tr("Threads")} {table.thread_count > table.threads.length && <small>{tr("the first {n} of {all}", { n: table.threads.length, all: count(table.thread_count) })}</small>}</h3>
		{table.threads.map((t) => <div key={t.lane} class="thread-states">
			<button class="lead" title={tr("go to its lane")} onClick={() => openLane(trace, t.lane)}>{plain(t.title)}</button>
			<div class="stack-bar" role="img" aria-label={t.states.map((s) => `${plain(spanName(s.name, s.look))} ${percent(s.total / whole)}`).join(tr(", "))}>{t.states.map((s, i) =>
				<i key={s.name} title={`${plain(spanName(s.name, s.look))}${tr(": ")}${duration(s.total)}`} style={{ flexGrow: s.total / whole, backgroundColor: css(palette.look(s.look)), opacity: 1 - 0.18 * Math.min(4, i) }} />)}</div>
			<ul class="causes">{t.states.slice(0, 4).map((s) => <li key={s.name}>{plain(spanName(s.name, s.look))} <b>{duration(s.total)}</b></li>)}</ul></div>)}
	</section>;
}

function Wakes({ trace, wakes }: { trace: number; wakes: Selection["wakes"] }) {
	const lanes = useStore((s) => s.traces[trace]!.lanes.lanes);
	if (!wakes?.length)
		return null;
	const laneOf = (thread: number): number | undefined => lanes.find((l) => l.thread === thread && (l.type === "state" || l.type === "os"))?.lane;
	return <section><h3>{tr("Who woke whom")}</h3><table class="rows"><tbody>{wakes.slice(0, AT_FIRST).map((w) => <tr key={`${w.from_thread} ${w.to_thread}`}>
		<td><button class="lead" title={tr("go to the thread that was woken")} onClick={() => {
			const lane = laneOf(w.to_thread);
			if (lane !== undefined)
				openLane(trace, lane);
		}}>{plain(w.from)} → {plain(w.to)}</button></td><td class="n">{count(w.count)}×</td></tr>)}</tbody></table></section>;
}

function Samples({ trace, samples }: { trace: number; samples: Selection["samples"] }) {
	const lanes = useStore((s) => s.traces[trace]!.lanes.lanes);
	if (!samples.count)
		return null;
	const lane = lanes.find((l) => l.type === "samples")?.lane;
	return <section><h3>{tr("Samples")} <small>{tr("{n}, by the function in which they were taken", { n: count(samples.count) })}</small></h3>
		<table class="rows"><tbody>{samples.rows.slice(0, AT_FIRST).map((r) => <tr key={`${r.function} ${r.module}`}>
			<td class="bar-cell"><span class="bar" style={{ width: `${r.count / samples.count * 100}%` }} />
				<button class="lead text" title={`${plain(r.function) || tr("unknown")}\n${plain(r.module)}`} onClick={() => lane !== undefined && openLane(trace, lane)}>{shorten(plain(r.function)) || tr("unknown")} <small>{plain(r.module.slice(r.module.lastIndexOf("/") + 1))}</small></button></td>
			<td class="n">{count(r.count)}</td><td class="n short">{percent(r.count / samples.count)}</td></tr>)}</tbody></table></section>;
}

export function SelectedThreads({ trace, table }: { trace: number; table: Selection }) {
	return <><States trace={trace} table={table} /><Samples trace={trace} samples={table.samples} /><Wakes trace={trace} wakes={table.wakes} /></>;
}
