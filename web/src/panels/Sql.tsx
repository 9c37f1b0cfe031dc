/* SPDX-License-Identifier: Apache-2.0 */
/* Sql.tsx - questions in SQL: an editor, ready questions, and the answer as a table whose rows go to their spans. */
import { useEffect, useRef, useState } from "preact/hooks";
import { phrase, tr } from "../lang";
import { copyText } from "../state/files";
import { source } from "../state/page";
import { goToSqlRow, leads, markQuery, markRows, questions, runSql, type Cell, type Question } from "../state/sql";
import { set, state, useStore } from "../state/store";
import { plain } from "../timeline/text";
import { count, duration, withPrefix } from "../timeline/units";

const FIRST_ROWS = 200;
/** Columns whose numbers are names: they are typed and compared, not read. */
const NAMES = /(^|_)(id|pid|tid|line|stream|device|context|correlation|rank|step|phase|address|link)$/i;
const MANY = 10_000;
const isAmount = (column: string, cell: Cell | undefined): cell is number => typeof cell === "number" && !NAMES.test(column);

/** Large numbers have their digits in groups. */
const show = (cell: Cell | undefined, column: string): string =>
	(cell == null ? "" : isAmount(column, cell) && Number.isInteger(cell) && Math.abs(cell) >= MANY ? count(cell) : plain(String(cell), 400));

/** What a number stands for by the name of its column: SQL counts in ns and bytes. */
function tipOf(cell: Cell, column: string): string | undefined {
	if (typeof cell === "string")
		return plain(cell, 4096);
	if (!isAmount(column, cell))
		return undefined;
	return /duration|_ns$|^start$|^end$|latency/i.test(column) ? duration(cell) : /bytes/i.test(column) ? withPrefix(cell, "B") : undefined;
}

function Answer() {
	const answer = useStore((s) => s.sql.answer);
	const [most, setMost] = useState(FIRST_ROWS);
	useEffect(() => setMost(FIRST_ROWS), [answer]);
	if (!answer)
		return null;
	const goes = leads();
	const press = (row: Cell[]) => (e: Event): void => {
		if (e instanceof KeyboardEvent && e.key !== "Enter")
			return;
		void goToSqlRow(row);
	};
	return <div class="roofline-table sql-rows" tabIndex={0} aria-label={tr("answer")}><table>
		<thead><tr>{answer.columns.map((c, i) => <th key={i} class={typeof answer.rows[0]?.[i] === "number" ? "" : "text"}>{plain(c)}</th>)}</tr></thead>
		<tbody>{answer.rows.slice(0, most).map((row, r) => <tr key={r} tabIndex={goes ? 0 : undefined} onClick={goes ? press(row) : undefined} onKeyDown={goes ? press(row) : undefined}>
			{row.map((cell, i) => <td key={i} class={typeof cell === "number" ? "n" : "text"} title={tipOf(cell, answer.columns[i] ?? "")}>{show(cell, answer.columns[i] ?? "")}</td>)}</tr>)}</tbody></table>
		{answer.rows.length > most && <button class="more" onClick={() => setMost(answer.rows.length)}>{tr("show all {n} rows", { n: count(answer.rows.length) })}</button>}</div>;
}

/** All rows of the answer as CSV. */
function asCsv(columns: string[], rows: Cell[][]): string {
	const quote = (cell: Cell): string => (/[",\n\r]/.test(String(cell)) ? `"${String(cell).replaceAll("\"", "\"\"")}"` : String(cell ?? ""));
	return [columns, ...rows].map((row) => `${row.map(quote).join()}\n`).join("");
}

export function Sql() {
	const sql = useStore((s) => s.sql);
	const traces = useStore((s) => s.traces);
	const [ready, setReady] = useState<Question[]>([]);
	const box = useRef<HTMLTextAreaElement>(null);
	useEffect(() => void questions().then(setReady), []);
	if (source.inline)
		return <p class="empty sql-none">{phrase("SQL needs the recording itself: open it with {command}.", { command: <code>headway view</code> })}</p>;
	const run = (): void => void runSql(box.current?.value ?? "");
	const { answer } = sql;
	const marked = answer ? markQuery().n : 0;
	return <div class="table-panel">
		<div class="table-bar sql-bar">
			<textarea ref={box} rows={3} class="query" value={sql.text} aria-label="SQL" aria-invalid={sql.error !== ""} aria-describedby="sql-error" spellcheck={false} onInput={(e) => set({ sql: { ...state.sql, text: e.currentTarget.value } })} placeholder="select name, count(*), sum(duration) from kernel group by name order by 3 desc"
				onKeyDown={(e) => {
					if (e.key !== "Enter" || !(e.ctrlKey || e.metaKey))
						return;
					e.preventDefault();
					run();
				}} />
			<span class="sql-buttons">
				<select aria-label={tr("ready questions")} value="" onChange={(e) => {
					const found = ready.find((q) => q.name === e.currentTarget.value);
					if (found)
						void runSql(found.text);
				}}><option value="">{tr("ready questions …")}</option>{ready.map((q) => <option key={q.name} value={q.name} title={tr(q.about)}>{q.name}: {tr(q.about)}</option>)}</select>
				<button title={tr("what there is to ask; .schema TABLE tells the columns of one")} onClick={() => void runSql(".tables")}>{tr("tables")}</button>
				{traces.length > 1 && <span class="group" role="group" aria-label={tr("run")}>{traces.map((_, t) => <button key={t} class={t === sql.trace ? "on" : ""} aria-pressed={t === sql.trace} onClick={() => set({ sql: { ...sql, trace: t } })}>{t ? "B" : "A"}</button>)}</span>}
				<button disabled={sql.running} title="(Ctrl + Enter)" onClick={run}>{sql.running ? tr("running …") : tr("run")}</button>
				{answer && <output class="sums">{phrase("{n} rows", { n: <b>{count(answer.rows.length)}</b> })}{answer.cut && tr(", and more")}</output>}
				{marked > 0 && answer && <button title={tr("find these spans: marked on the timeline, Enter goes from one to the next")} onClick={() => void markRows()}>{marked < answer.rows.length ? tr("mark the first {n}", { n: count(marked) }) : tr("mark them")}</button>}
				{answer && <button onClick={() => void copyText(asCsv(answer.columns, answer.rows)).then((done) => set({ message: done ? tr("{n} rows copied as {form}.", { n: count(answer.rows.length), form: "CSV" }) : tr("The browser does not let this page use the clipboard.") }))}>{tr("copy CSV")}</button>}
			</span>
		</div>
		{sql.error && <p class="error" id="sql-error" role="alert">{sql.error}</p>}
		<Answer />
	</div>;
}
