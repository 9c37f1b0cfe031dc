/* SPDX-License-Identifier: Apache-2.0 */
/* Interval.tsx - the table of a stretch of time: busy, idle by cause, what took longest. */
import type { Interval as Table, TableRow } from "../data/protocol";
import { useStore } from "../state/store";
import { zoomToRange } from "../timeline/input";
import { plain, shorten } from "../timeline/text";
import { Metrics } from "./Metrics";
import { count, duration, percent } from "../timeline/units";

function Rows({ title, rows, whole }: { title: string; rows: TableRow[]; whole: number }) {
	if (!rows.length)
		return null;
	return <section><h3>{title}</h3><table class="rows"><tbody>{rows.map((r) => <tr key={r.name_id}>
		<td class="bar-cell"><span class="bar" style={{ width: `${Math.min(100, r.total / whole * 100)}%` }} /><span class="text" title={plain(r.name)}>{shorten(plain(r.name))}</span></td>
		<td class="n">{count(r.count)}×</td><td class="n">{duration(r.total)}</td></tr>)}</tbody></table></section>;
}

function Devices({ table }: { table: Table }) {
	const whole = table.to - table.from;
	return <>{table.devices.map((d) => <section key={d.device}><h3>{d.title}</h3>
		<p class="summary"><span><b>{percent(d.busy / whole)}</b> busy</span><span><b>{duration(d.compute)}</b> compute</span>
			{d.comm > 0 && <span><b>{duration(d.comm)}</b> communication</span>}
			{d.memory > 0 && <span><b>{duration(d.memory)}</b> memory</span>}<span><b>{duration(d.idle)}</b> idle</span></p>
		{d.causes && <ul class="causes">{Object.entries(d.causes).filter(([, ns]) => ns > 0).sort((a, b) => b[1] - a[1]).map(([cause, ns]) =>
			<li key={cause}>{cause} <b>{duration(ns)}</b></li>)}</ul>}
	</section>)}</>;
}

export function Interval() {
	const range = useStore((s) => s.range);
	const intervals = useStore((s) => s.intervals);
	const traces = useStore((s) => s.traces);
	if (!range)
		return <p class="empty">Drag on the ruler, or with Shift anywhere, to choose an interval.</p>;
	return <div class="interval"><h2>{duration(range.to - range.from)}</h2>
		<div class="buttons"><button onClick={zoomToRange} title="zoom to the interval">zoom to it</button></div>
		{intervals.map((table, i) => table ? <div key={i}>
			{traces.length > 1 && <h2>{i ? "B" : "A"}</h2>}
			<Devices table={table} />
			<Metrics trace={i} metrics={table.metrics} title="GPU metrics" />
			<Rows title="Device work" rows={table.kernels} whole={table.to - table.from} />
			<Rows title="Calls" rows={table.calls} whole={table.to - table.from} />
			<Rows title="Ranges" rows={table.ranges} whole={table.to - table.from} /></div>
			: <p key={i} class="empty">No answer.</p>)}
	</div>;
}
