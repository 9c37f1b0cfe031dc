/* SPDX-License-Identifier: Apache-2.0 */
/* SelectedDevices.tsx - the devices of a selection: busy, idle by cause, how far ahead the CPU was, what was copied. */
import type { DeviceTimes, Lead, Selection } from "../data/protocol";
import { endName } from "../data/span_names";
import { phrase, tr } from "../lang";
import { duration, count, percent, withPrefix } from "../timeline/units";

const leadText = ({ count: n, work }: Lead): string => (n ? tr(n === 1 ? "{n} operation, {time}" : "{n} operations, {time}", { n: count(n), time: duration(work) }) : tr("nothing"));

/** So much more than the idle time is no rounding: ranks that share a GPU have each their own idle time. */
const ROUNDING = 0.01;

/** Idle time by cause. Causes are known in the judged steps only: what lies outside of them stands by itself, so that the parts add up. */
function Causes({ causes, idle }: { causes: Record<string, number>; idle: number }) {
	const known = Object.entries(causes).filter(([, ns]) => ns > 0).sort((a, b) => b[1] - a[1]);
	const rest = idle - known.reduce((sum, [, ns]) => sum + ns, 0);
	return <ul class="causes">{known.map(([cause, ns]) => <li key={cause}>{tr(cause)} <b>{duration(ns)}</b></li>)}
		{rest > 0 && <li>{tr("outside of the judged steps")} <b>{duration(rest)}</b></li>}
		{rest < -idle * ROUNDING && <li>{tr("of each rank on this GPU, added up")}</li>}</ul>;
}

function Device({ device: d, whole }: { device: DeviceTimes; whole: number }) {
	return <section><h3>{d.title}{!d.whole && <small> {tr("only the chosen streams")}</small>}</h3>
		<p class="summary"><span>{phrase("{share} busy", { share: <b>{percent(d.busy / whole)}</b> })}</span><span>{phrase("{time} compute", { time: <b>{duration(d.compute)}</b> })}</span>
			{d.comm > 0 && <span>{phrase("{time} communication", { time: <b>{duration(d.comm)}</b> })}</span>}
			{d.memory > 0 && <span>{phrase("{time} memory", { time: <b>{duration(d.memory)}</b> })}</span>}<span>{phrase("{time} idle", { time: <b>{duration(d.idle)}</b> })}</span></p>
		{d.causes && d.whole && <Causes causes={d.causes} idle={d.idle} />}
		{d.headway && <table class="fields headway"><tbody>
			<tr><th>{tr("headway at the begin")}</th><td>{leadText(d.headway.begin)}</td></tr>
			<tr><th>{tr("at the end")}</th><td>{leadText(d.headway.end)}</td></tr>
			{d.headway.least && <tr><th>{tr("at the least")}</th><td>{leadText(d.headway.least)}</td></tr>}</tbody></table>}
	</section>;
}

function Copies({ copies }: { copies: Selection["copies"] }) {
	if (!copies.length)
		return null;
	const bytes = copies.reduce((sum, c) => sum + c.bytes, 0);
	return <section><h3>{tr("Copies")} <small>{tr("{bytes} in all", { bytes: withPrefix(bytes, "B") })}</small></h3>
		<table class="rows copies"><tbody>{copies.map((c) => <tr key={c.direction}><td class="text" title={endName(c.direction)}>{endName(c.direction)}</td><td class="n">{count(c.count)}×</td><td class="n">{withPrefix(c.bytes, "B")}</td>
			<td class="n">{c.total > 0 && withPrefix(c.bytes / c.total * 1e9, "B/s")}</td></tr>)}</tbody></table></section>;
}

export function SelectedDevices({ table }: { table: Selection }) {
	const { launches, waits } = table;
	return <>{table.devices.map((d) => <Device key={d.device} device={d} whole={table.to - table.from} />)}
		{(launches.count > 0 || waits.count > 0) && <p class="summary calls">{launches.count > 0 && <span>{phrase(launches.count === 1 ? "{n} launch" : "{n} launches", { n: <b>{count(launches.count)}</b> })} <small>{duration(launches.total)}</small></span>}
			{waits.count > 0 && <span>{phrase(waits.count === 1 ? "{n} wait" : "{n} waits", { n: <b>{count(waits.count)}</b> })} <small>{duration(waits.total)}</small></span>}</p>}
		<Copies copies={table.copies} /></>;
}
