/* SPDX-License-Identifier: Apache-2.0 */
/* NameRows.tsx - names by time in the selection: how often, how long in all, on average and at most. A press leads to the spans of the name. */
import { useState } from "preact/hooks";
import { LOOK_NAMES, type NameTable } from "../data/protocol";
import { spanName } from "../data/span_names";
import { tr } from "../lang";
import { openName, openNames } from "../state/selection";
import { plain, shorten } from "../timeline/text";
import { count, duration, percent } from "../timeline/units";

const AT_FIRST = 6;

/** `kind`: what the query language calls these spans. */
export function NameRows({ trace, title, kind, table, whole }: { trace: number; title: string; kind: string; table: NameTable; whole: number }) {
	const [all, setAll] = useState(false);
	if (!table.count)
		return null;
	const rows = all ? table.rows : table.rows.slice(0, AT_FIRST);
	const longest = Math.max(1, ...table.rows.map((r) => r.total));
	const nameOf = (r: NameTable["rows"][number]): string => plain(spanName(r.name, r.look)) || tr(LOOK_NAMES[r.look] ?? "");
	return <section><h3>{title} <small>{tr(table.names === 1 ? "{count} of {names} name, {time}" : "{count} of {names} names, {time}", { count: count(table.count), names: count(table.names), time: duration(table.total) })}</small></h3>
		<table class="rows names"><thead><tr><th>{tr("name")}</th><th>{tr("count")}</th><th>{tr("total")}</th><th>{tr("mean")}</th><th>{tr("max")}</th></tr></thead><tbody>{rows.map((r) => <tr key={`${r.name_id} ${r.look}`}>
			<td class="bar-cell"><span class="bar" style={{ width: `${r.total / longest * 100}%` }} />
				<button class="lead text" title={`${nameOf(r)}\n${tr("{share} of the time selected. Find its spans.", { share: percent(r.total / whole) })}\n${tr("mean")} ${duration(r.total / r.count)}${tr(", ")}${tr("max")} ${duration(r.max)}`} onClick={() => openName(trace, kind, r.name)}>{shorten(nameOf(r))}</button></td>
			<td class="n">{count(r.count)}</td><td class="n">{duration(r.total)}</td><td class="n">{duration(r.total / r.count)}</td><td class="n">{duration(r.max)}</td></tr>)}</tbody></table>
		{table.rows.length > AT_FIRST && <button class="more" aria-expanded={all} onClick={() => setAll(!all)}>{all ? tr("fewer") : tr("{n} more", { n: count(Math.min(table.names, table.rows.length) - AT_FIRST) })}</button>}
		{all && table.names > table.rows.length && <p><small>{tr("These {n} take most of the time.", { n: count(table.rows.length) })} <button class="more" onClick={() => openNames(trace, kind)}>{tr("all {n} in the table", { n: count(table.names) })}</button></small></p>}
	</section>;
}
