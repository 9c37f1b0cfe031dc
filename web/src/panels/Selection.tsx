/* SPDX-License-Identifier: Apache-2.0 */
/* Selection.tsx - what happened in a stretch of time on the chosen lanes. */
import type { NAME_TABLES, Selection as Table } from "../data/protocol";
import { tr } from "../lang";
import { zoomToRange } from "../state/actions";
import { chooseAll, selectNothing, selectScreen, windowOf } from "../state/selection";
import { useStore } from "../state/store";
import { tableOfSelection } from "../state/table";
import { count, duration } from "../timeline/units";
import { Metrics } from "./Metrics";
import { NameRows } from "./NameRows";
import { SelectedDevices } from "./SelectedDevices";
import { SelectedThreads } from "./SelectedThreads";

/** What the query language calls the spans of a table, too. */
const TITLES: [(typeof NAME_TABLES)[number], string, string][] = [["kernels", tr("Device work"), "work"], ["calls", tr("Calls"), "api"], ["ranges", tr("Ranges"), "range"], ["operators", tr("Operators"), "op"], ["functions", tr("Functions"), "kind:call"],
	["os", tr("OS calls"), "os"]];

/** Nothing of what is listed here happened. */
const isBare = (table: Table): boolean => !table.devices.length && !table.counters.length && !table.threads.length && !table.samples.count && TITLES.every(([key]) => !table[key].count);

function Happened({ trace, table }: { trace: number; table: Table }) {
	return <>
		<SelectedDevices table={table} />
		<Metrics trace={trace} metrics={table.counters} title={tr("Counters")} leads />
		{TITLES.map(([key, title, kind]) => <NameRows key={key} trace={trace} title={title} kind={kind} table={table[key]} whole={table.to - table.from} />)}
		<SelectedThreads trace={trace} table={table} />
		{isBare(table) && <p class="empty">{tr("Nothing happened there.")}</p>}
	</>;
}

export function Selection() {
	const range = useStore((s) => s.range);
	const chosen = useStore((s) => s.chosen);
	const intervals = useStore((s) => s.intervals);
	const traces = useStore((s) => s.traces);
	if (!range && !chosen.size)
		return <div class="interval"><p class="empty">{tr("Drag on the ruler, or with Shift anywhere, to select time. Ctrl + click on titles of lanes chooses lanes, Ctrl + drag over lanes selects both.")}</p>
			<div class="buttons"><button onClick={() => void selectScreen()} title="(r)">{tr("select what is on the screen")}</button></div></div>;
	return <div class="interval"><h2>{range ? duration(range.to - range.from) : tr("The whole recording")}{chosen.size > 0 && <small> {tr(chosen.size === 1 ? "on {n} chosen lane" : "on {n} chosen lanes", { n: count(chosen.size) })}</small>}</h2>
		<div class="buttons">{range && <button onClick={zoomToRange} title={tr("zoom to the selected time")}>{tr("zoom to it")}</button>}
			{chosen.size > 0 && <button onClick={() => void chooseAll()} title="(X)">{tr("all lanes")}</button>}
			<button onClick={() => tableOfSelection()} title={tr("all of its spans (T)")}>{tr("as a table")}</button>
			<button onClick={() => void selectNothing()}>{tr("select nothing")}</button></div>
		{!intervals.length && <p class="empty" role="status">{tr("Counting…")}</p>}
		{intervals.map((table, i) => <div key={i}>{traces.length > 1 && <h2>{i ? "B" : "A"}</h2>}
			{table ? <Happened trace={i} table={table} /> : <p class="empty">{windowOf(i) === null ? tr("Nothing of it was recorded then.") : chosen.size ? tr("None of its lanes is chosen.") : tr("No answer.")}</p>}</div>)}
	</div>;
}
