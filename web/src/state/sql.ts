/* SPDX-License-Identifier: Apache-2.0 */
/* sql.ts - questions in SQL about a run, answered by a process of their own (docs/view-protocol.md, "sql"). */
import type { SpanDetails } from "../data/protocol";
import { tr } from "../lang";
import { search, select, show } from "./actions";
import { source } from "./page";
import { selectRange } from "./selection";
import { set, state } from "./store";

export type Cell = number | string | null;
export interface SqlAnswer { columns?: string[]; rows?: Cell[][]; cut: boolean; error?: string }
export interface Question { name: string; about: string; text: string }

let running: AbortController | null = null;

/** Whether the ids of an answer, of which this is the first row, are of spans: steps and gaps have an id and a start, too. */
async function nameSpans(trace: number, columns: string[], row: Cell[]): Promise<boolean> {
	const [span, id, start] = [row[columns.indexOf("span")], row[columns.indexOf("id")], timeOf(row[columns.indexOf("start")], trace)];
	if (start === null || typeof span === "number")
		return start !== null;
	return typeof id === "number" && (await source.get<SpanDetails>(`span?t=${trace}&id=${id}`).catch(() => null))?.start === start;
}

export async function runSql(text: string, trace = state.sql.trace): Promise<void> {
	running?.abort();
	running = new AbortController();
	const { signal } = running;
	set({ dock: "sql", sql: { ...state.sql, text, trace, error: "", running: true } });
	const fail = (error: string): void => set({ sql: { ...state.sql, error, running: false } });
	if (source.inline)
		return fail(tr("SQL needs the recording: open it with headway view."));
	try {
		const answer = await source.get<SqlAnswer>(`sql?t=${trace}&q=${encodeURIComponent(text)}`, signal);
		if (signal.aborted)
			return;
		if (!answer || answer.error || !answer.columns)
			return fail(answer ? answer.error ?? tr("The query has no result.") : tr("The diagnosis is not ready yet: ask again in a moment."));
		const { columns, rows = [], cut } = answer;
		const areSpans = await nameSpans(trace, columns, rows[0] ?? []);
		if (!signal.aborted)
			set({ sql: { ...state.sql, answer: { columns, rows, cut, trace, areSpans }, error: "", running: false } });
	} catch (e) {
		if (!signal.aborted)
			fail(e instanceof Error ? e.message : tr("no answer"));
	}
}

/** The ready questions of `headway sql -f`. */
export const questions = async (): Promise<Question[]> => (source.inline ? [] : await source.get<Question[]>("questions").catch(() => null) ?? []);

const at = (name: string): number => state.sql.answer?.columns.indexOf(name) ?? -1;
const idColumn = (): number => (at("span") >= 0 ? at("span") : at("id"));

/** Times of SQL are on the recording's clock; those of the page count from its origin. */
function timeOf(value: Cell | undefined, trace: number): number | null {
	const origin = state.traces[trace]?.info.origin ?? "0";
	return value == null || !/^-?\d+$/.test(String(value)) ? null : Number(BigInt(value) - BigInt(origin));
}

/** Whether rows lead anywhere: they have the id of a span, or a time. */
export const leads = (): boolean => idColumn() >= 0 || at("start") >= 0;

/** Goes to the span of a row; where its id is of something else (a step), to its time. */
export async function goToSqlRow(row: Cell[]): Promise<void> {
	const trace = state.sql.answer?.trace ?? 0;
	const [id, start, dur] = [row[idColumn()], timeOf(row[at("start")], trace), row[at("duration")]];
	const span = typeof id === "number" ? await source.get<SpanDetails>(`span?t=${trace}&id=${id}`).catch(() => null) : null;
	if (span && (start === null || span.start === start))
		return select(trace, span.id, true, true);
	if (start === null)
		return;
	const { shift } = state.traces[trace]!;
	const length = typeof dur === "number" && dur > 0 ? dur : 1000;
	show(start - shift - length * 0.2, start - shift + length * 1.2);
	await selectRange(start - shift, start - shift + length, false);
}

const MOST_QUERY = 4000, MOST_MARKED = 1000;

/** The first spans of the result, as many as a query can name: a query that marks them on the timeline, and their number. The query would mark
 * others in a second run. */
export function markQuery(): { query: string; n: number } {
	const column = idColumn();
	let [query, n] = ["", 0];
	if (column < 0 || !state.sql.answer?.areSpans || state.traces.length > 1)
		return { query, n };
	for (const row of state.sql.answer.rows) {
		const next = `${query ? `${query},` : "id:"}${row[column]}`;
		if (typeof row[column] !== "number" || next.length > MOST_QUERY || n === MOST_MARKED)
			break;
		query = next;
		n++;
	}
	return { query, n };
}
export const markRows = (): Promise<void> => search(markQuery().query, false);
