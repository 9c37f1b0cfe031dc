/* SPDX-License-Identifier: Apache-2.0 */
/* Table.tsx - spans as a table: what a query asks for, sorted and grouped, with its sums; to copy or to save. */
import { useMemo, useRef, useState } from "preact/hooks";
import { phrase, tr } from "../lang";
import { LaneFacts } from "../query/fits";
import { copyText, saveText } from "../state/files";
import { hasSelection } from "../state/selection";
import { set, state, useStore } from "../state/store";
import { allLines, askTable, backToGroups, chooseTableTrace, GROUPS, groupTable, limitTable, MOST_COPIED } from "../state/table";
import { laneTitle } from "../timeline/lane_title";
import { count, duration } from "../timeline/units";
import { asCsv, asJson, GROUP_COLUMNS, ROW_COLUMNS, type Around } from "./table_columns";
import { TableGrid } from "./TableGrid";

const WAIT_MS = 220;

function useAround(): Omit<Around, "names"> {
	const trace = useStore((s) => s.traces[s.table.trace]);
	const total = useStore((s) => s.table.sums?.total ?? 0);
	// Many threads have a lane of the same name. Files call lanes as queries do.
	const titlesBy = (name: (title: string) => string): Map<number, string> => {
		const facts = trace && new LaneFacts(trace.lanes);
		return new Map(trace?.lanes.lanes.map((l) => [l.lane, l.thread === undefined ? name(l.title) : `${name(l.title)} · ${facts!.threadOf(l.lane)}`]));
	};
	const titles = useMemo(() => titlesBy((title) => title), [trace?.lanes]);
	const shown = useMemo(() => titlesBy(laneTitle), [trace?.lanes]);
	return { trace: trace!, total, titles, shown };
}

/** Copies or saves the whole of the table, not only what is on the screen. */
function Take({ around }: { around: Omit<Around, "names"> }) {
	// Not "disabled", which would take the keyboard away from the button that was pressed.
	const [busy, setBusy] = useState(false);
	const lines = useStore((s) => s.table.sums?.lines ?? 0);
	const take = async (how: "csv" | "json" | "save"): Promise<void> => {
		if (busy || !lines)
			return;
		setBusy(true);
		const page = await allLines();
		const columns = state.table.group ? GROUP_COLUMNS : ROW_COLUMNS;
		const text = how === "json" ? asJson(columns, page, around) : asCsv(columns, page, around);
		const n = lines > page.lines.length ? tr("{n} of {all}", { n: count(page.lines.length), all: count(lines) }) : count(page.lines.length);
		if (how === "save")
			saveText("spans.csv", "text/csv", text);
		const done = how === "save" || await copyText(text);
		set({ message: done ? (how === "save" ? tr("{n} rows saved.", { n }) : tr("{n} rows copied as {form}.", { n, form: how.toUpperCase() })) : tr("The browser does not let this page use the clipboard: download instead.") });
		setBusy(false);
	};
	const hint = lines > MOST_COPIED ? tr("the first {n} rows", { n: count(MOST_COPIED) }) : tr("all rows");
	return <span class="group">
		<button aria-disabled={busy || !lines} title={tr("copy {rows} as {form}", { rows: hint, form: "CSV" })} onClick={() => void take("csv")}>{tr("copy CSV")}</button>
		<button aria-disabled={busy || !lines} title={tr("copy {rows} as {form}", { rows: hint, form: "JSON" })} onClick={() => void take("json")}>JSON</button>
		<button aria-disabled={busy || !lines} title={tr("save {rows} as a CSV file", { rows: hint })} onClick={() => void take("save")}>{tr("download")}</button>
	</span>;
}

function Sums() {
	const sums = useStore((s) => s.table.sums);
	const group = useStore((s) => s.table.group);
	if (!sums)
		return <output class="sums">{tr("counting…")}</output>;
	return <output class="sums">{group !== "" && phrase("{n} groups of ", { n: <b>{count(sums.lines)}</b> })}{phrase(sums.rows === 1 ? "{n} span" : "{n} spans", { n: <b>{count(sums.rows)}</b> })}
		{sums.rows > 0 && <> · {phrase("{total} in all · mean {mean} · {min} to {max}", { total: <b>{duration(sums.total)}</b>, mean: duration(sums.total / sums.rows), min: duration(sums.min), max: duration(sums.max) })}</>}</output>;
}

export function Table() {
	const table = useStore((s) => s.table);
	const traces = useStore((s) => s.traces);
	const has = useStore(hasSelection);
	const around = useAround();
	const timer = useRef(0);
	return <div class="table-panel">
		<div class="table-bar">
			{table.from && <button onClick={backToGroups} title={tr("back to the groups by {what}", { what: tr(table.from.group) })}>‹ {tr(table.from.group)}</button>}
			{traces.length > 1 && <span class="group" role="group" aria-label={tr("run")}>{traces.map((_, t) => <button key={t} class={t === table.trace ? "on" : ""} aria-pressed={t === table.trace} onClick={() => chooseTableTrace(t)}>{t ? "B" : "A"}</button>)}</span>}
			<input type="text" class="query" value={table.text} aria-label={tr("filter of the table")} aria-invalid={table.error !== ""} aria-describedby="table-error" placeholder='kernel name~gemm dur>50us step:12' spellcheck={false}
				onInput={(e) => {
					const text = e.currentTarget.value;
					clearTimeout(timer.current);
					// What is typed stays when an answer draws the field again.
					set({ table: { ...state.table, text } });
					timer.current = window.setTimeout(() => state.table.text === text && askTable(text), WAIT_MS);
				}} onKeyDown={(e) => {
					if (e.key !== "Enter")
						return;
					clearTimeout(timer.current);
					askTable(e.currentTarget.value);
				}} />
			<label>{tr("by")} <select value={table.group} aria-label={tr("group by")} onChange={(e) => groupTable(e.currentTarget.value)}><option value="">{tr("rows")}</option>{GROUPS.map((g) => <option key={g} value={g}>{tr(g)}</option>)}</select></label>
			<label class={has ? "" : "faint"}><input type="checkbox" checked={table.inSelection} disabled={!has && !table.inSelection} onChange={(e) => limitTable(e.currentTarget.checked)} /> {tr("in the selection")}</label>
			<Sums />
			<Take around={around} />
		</div>
		{table.error && <p class="error" id="table-error" role="alert">{table.error}</p>}
		<TableGrid around={around} />
	</div>;
}
