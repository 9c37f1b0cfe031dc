/* SPDX-License-Identifier: Apache-2.0 */
/* CompareRows.tsx - kernels, calls, ranges and modules of a step that changed, the largest change first. Each leads to its longest span in both runs. */
import { useState } from "preact/hooks";
import { TABLES, type Comparison, type CompareRow, type TableName } from "../data/compare";
import { tr } from "../lang";
import { goToRow } from "../state/compare";
import { plain, shorten } from "../timeline/text";
import { count, duration } from "../timeline/units";
import { signedTime } from "./CompareSplit";

const MOST_CHARACTERS = 90;
const nameOf = (name: string): string => {
	const short = shorten(plain(name));
	return short.length > MOST_CHARACTERS ? `${short.slice(0, MOST_CHARACTERS)}…` : short;
};
const often = (n: number): string => count(Math.round(n * 100) / 100);

function Row({ row }: { row: CompareRow }) {
	const change = row.after_ns_per_step - row.before_ns_per_step;
	const name = row.before ?? row.after ?? "";
	const spans = [row.before_span, row.after_span];
	return <tr>
		<td class="text" title={plain(row.renamed ? `${row.before} → ${row.after}` : name, 400)}>{nameOf(name)}{row.renamed && <small> → {nameOf(row.after ?? "")}</small>}</td>
		<td class="text short">{tr(row.change)}</td>
		<td>{row.before === null ? "–" : often(row.before_count_per_step)}</td><td>{row.after === null ? "–" : often(row.after_count_per_step)}</td>
		<td>{row.before === null ? "–" : duration(row.before_ns_per_step)}</td><td>{row.after === null ? "–" : duration(row.after_ns_per_step)}</td>
		<td class={change > 0 ? "grew" : change < 0 ? "shrank" : ""}>{signedTime(change)}</td>
		<td class="ways">{spans.map((span, t) => span !== null && <button key={t} aria-label={tr("the longest {name} in run {run}", { name: shorten(plain(name)).slice(0, 60), run: t ? "B" : "A" })} onClick={() => void goToRow(t, span)}>{t ? "B" : "A"}</button>)}</td></tr>;
}

export function CompareRows({ answer }: { answer: Comparison }) {
	const there = TABLES.filter((t) => answer[t].length);
	const [wanted, setWanted] = useState<TableName>("kernels");
	const table = there.includes(wanted) ? wanted : there[0];
	if (!table)
		return <section><h3>{tr("Kernels, calls, ranges")}</h3><p class="empty">{tr("None takes another time or runs another number of times than before.")}</p></section>;
	return <section><h3>{tr("What changed in a step")} <span class="group" role="group" aria-label={tr("table")}>{there.map((t) =>
		<button key={t} class={t === table ? "on" : ""} aria-pressed={t === table} onClick={() => setWanted(t)}>{tr(t)} {answer[t].length}</button>)}</span></h3>
		<table class="compare-table"><thead><tr><th class="text">{tr("name")}</th><th class="text short">{tr("change")}</th><th class="few">{tr("times A")}</th><th class="few">{tr("times B")}</th><th>{tr("time A")}</th><th>{tr("time B")}</th><th>{tr("change")}</th><th>{tr("show")}</th></tr></thead>
			<tbody>{answer[table].map((row, i) => <Row key={i} row={row} />)}</tbody></table>
	</section>;
}
